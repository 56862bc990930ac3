"""A rule list for others to read and run: first as plain values, then written in some language."""

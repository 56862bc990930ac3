"""A model for others to read and run: plain values first, then written in some language, each in a file of its own."""

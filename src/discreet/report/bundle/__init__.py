"""A model with its papers: a folder that may leave, and what can be checked about one that arrived. Reads no records."""

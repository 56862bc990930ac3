"""A model as SQL or as Python."""

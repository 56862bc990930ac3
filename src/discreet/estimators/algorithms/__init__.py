"""The algorithms. They are handed doors to a vault, never records."""

"""Records as patterns: packed patterns of bins with their class counts."""

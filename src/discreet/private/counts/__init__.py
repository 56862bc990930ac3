"""Records as cells: packed patterns of bins with their class counts."""

"""What was learned, as values: rule lists, trees, and the files that hold them."""

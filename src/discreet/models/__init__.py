"""What was learned, as values: rule lists and the files that hold them."""

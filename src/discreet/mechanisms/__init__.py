"""What is released of exact counts, one file for each idea, each with its proof."""

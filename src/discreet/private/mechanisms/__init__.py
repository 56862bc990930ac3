"""What is released of exact counts, one file for each mechanism, with its proof; all of them are found in ``registry.py``."""

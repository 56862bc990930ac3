"""Sums over all trees up to a depth, and exact draws in proportion to their weights."""

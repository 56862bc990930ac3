"""Whole trees: sums over all trees of a depth, exactly, and draws in proportion to what they add up."""

"""Draws of whole lists by the exponential mechanism."""

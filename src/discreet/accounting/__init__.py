"""Prices and promises. Nothing here sees data."""

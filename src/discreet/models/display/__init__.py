"""A model as plain values to be shown, and its short form for notebooks."""

"""Drawing a whole labelled rule list in proportion to ``prior * exp(epsilon * records classified correctly)``."""

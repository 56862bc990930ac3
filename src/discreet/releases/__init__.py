"""Other releases than a model: cut points, noisy measurements of a model."""

"""Other releases than a model: cut points, a measured accuracy."""

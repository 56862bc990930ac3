"""How good are a model and a kind of models: noisy evaluations of models, and planning before anything is spent."""

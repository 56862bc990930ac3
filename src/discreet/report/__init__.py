"""What a model says about itself: plain values first, then renderers, each in a file of its own."""

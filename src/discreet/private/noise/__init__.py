"""Where randomness comes from, and the noises that are drawn from it, each with its proof."""

"""The operating system's randomness, from a seed: a private fit that can be repeated, for recordings."""

from discreet.private.noise import entropy, seeded


def seed_the_system(seed):
    """For the rest of this process. Each source of randomness that is made draws from a stream of its own."""
    made = iter(range(10**9))

    def start(self):
        seeded.SeededEntropy.__init__(self, [seed, next(made)])

    for name in ("_more", "bits", "uniform", "discrete_laplace", "permute_and_flip"):
        setattr(entropy.Entropy, name, getattr(seeded.SeededEntropy, name))
    entropy.Entropy.__init__ = start

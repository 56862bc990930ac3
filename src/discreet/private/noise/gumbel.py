"""Gumbel noise: the exponential mechanism as a noisy max.

``argmax (s_r + Gumbel)`` is r with probability ``exp(s_r) / sum_j exp(s_j)``. Its hazard rate
``e^-z / (exp(e^-z) - 1)`` grows to 1, so h = 1 in Theorem 5 of ``noisy_max``.
"""

import numpy as np

from .entropy import Array, Entropy


class Gumbel:
    """Gumbel(0, 1)."""

    hazard = 1.0

    def sample(self, entropy: Entropy, size: int) -> Array:
        """By inversion."""
        noise: Array = -np.log(-np.log(entropy.uniform(size)))
        return noise

    def log_pdf(self, z: Array) -> Array:
        """-z - e^-z."""
        with np.errstate(over="ignore"):
            log: Array = -z - np.exp(-z)
        return log

    def log_cdf(self, z: Array) -> Array:
        """-e^-z."""
        with np.errstate(over="ignore"):
            log: Array = -np.exp(-z)
        return log

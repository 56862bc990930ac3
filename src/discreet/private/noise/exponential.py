"""Exponential noise: density ``exp(-z)`` for z >= 0.

Its hazard rate is 1 for z >= 0 and 0 below, so h = 1 in Theorem 5 of ``noisy_max``.
"""

import numpy as np

from .entropy import Array, Entropy


class Exponential:
    """Exponential(1)."""

    hazard = 1.0

    def sample(self, entropy: Entropy, size: int) -> Array:
        """By inversion."""
        noise: Array = -np.log(entropy.uniform(size))
        return noise

    def log_pdf(self, z: Array) -> Array:
        """-z, and minus infinity below 0."""
        log: Array = np.where(z < 0.0, -np.inf, -z)
        return log

    def log_cdf(self, z: Array) -> Array:
        """log(1 - exp(-z)), and minus infinity below 0."""
        with np.errstate(divide="ignore"):
            log: Array = np.log(-np.expm1(-np.maximum(z, 0.0)))
        return log

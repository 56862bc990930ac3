"""Laplace noise: density ``exp(-|z|) / 2``.

Its hazard rate ``f / (1 - F)`` is 1 for z >= 0 and below 1 for z < 0, so h = 1 in Theorem 5 of ``noisy_max``.
"""

import numpy as np

from .entropy import Array, Entropy
from .noisy_max import Lines

# tangents, rounded up, of the function psi of Lemma 5a (docs/theory.md), from u = 0 to 1/2
LINES: Lines = (
    (0.0, 1.0),
    (0.0029, 0.9787),
    (0.0161, 0.9045),
    (0.0430, 0.7855),
    (0.0825, 0.6421),
    (0.1328, 0.4873),
    (0.1928, 0.3274),
    (0.2620, 0.1647),
    (0.3402, 0.0),
)


class Laplace:
    """Laplace(1)."""

    hazard = 1.0

    def sample(self, entropy: Entropy, size: int) -> Array:
        """By inversion."""
        u = entropy.uniform(size) - 0.5
        noise: Array = -np.sign(u) * np.log1p(-2.0 * np.abs(u))
        return noise

    def log_pdf(self, z: Array) -> Array:
        """-|z| - log 2."""
        log: Array = -np.abs(z) - np.log(2.0)
        return log

    def log_cdf(self, z: Array) -> Array:
        """z - log 2 below 0, log(1 - exp(-z)/2) above."""
        log: Array = np.where(z < 0.0, z - np.log(2.0), np.log1p(-0.5 * np.exp(-np.abs(z))))
        return log

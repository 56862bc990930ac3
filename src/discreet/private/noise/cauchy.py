"""Cauchy noise: density ``1 / (pi (1 + z^2))``, which is the paper's ``h(z) ~ 1 / (1 + |z|^gamma)`` with gamma = 2.

Its hazard rate is ``1 / ((1 + z^2) arctan(1/z))`` for z > 0, with a single maximum where its derivative
``1 - 2 z arctan(1/z)`` vanishes: 2 z arctan(1/z) = 1 at z = 0.42898, and the rate there is ``2z / (1 + z^2) = 0.72461``.
For z <= 0 it is at most 2/pi. So h <= 0.7247 in Theorem 5 of ``noisy_max``.
"""

import numpy as np

from .entropy import Array, Entropy


class Cauchy:
    """The standard Cauchy distribution."""

    hazard = 0.7247

    def sample(self, entropy: Entropy, size: int) -> Array:
        """By inversion."""
        noise: Array = np.tan(np.pi * (entropy.uniform(size) - 0.5))
        return noise

    def log_pdf(self, z: Array) -> Array:
        """-log(pi (1 + z^2))."""
        log: Array = -np.log(np.pi) - np.log1p(np.square(z))
        return log

    def log_cdf(self, z: Array) -> Array:
        """The angle between (-z, 1) and the axis, over pi: exact in both tails."""
        log: Array = np.log(np.arctan2(1.0, -z) / np.pi)
        return log

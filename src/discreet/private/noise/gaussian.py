"""Gaussian noise: density ``exp(-z^2 / 2) / sqrt(2 pi)``.

Its hazard rate grows without bound, so Theorem 5 of ``noisy_max`` says nothing; its density is log-concave, so Theorem 6
does. (That "noisy max inherits (eps, delta)" from the Gaussian mechanism, as the paper has it, is no theorem.)
"""

import math

import numpy as np
from scipy.special import log_ndtr, ndtri

from .entropy import Array, Entropy


class Gaussian:
    """The standard normal distribution."""

    hazard = math.inf

    def sample(self, entropy: Entropy, size: int) -> Array:
        """By inversion."""
        noise: Array = ndtri(entropy.uniform(size))
        return noise

    def log_pdf(self, z: Array) -> Array:
        """-z^2/2 - log sqrt(2 pi)."""
        log: Array = -0.5 * np.square(z) - 0.5 * math.log(2.0 * math.pi)
        return log

    def log_cdf(self, z: Array) -> Array:
        """The logarithm of the normal distribution function."""
        log: Array = log_ndtr(z)
        return log

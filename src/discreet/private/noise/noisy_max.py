"""Report noisy max: ``argmax_r (s_r + eta_r)`` with independent noise, of which only the index is released.

The theorems are numbered as in docs/theory.

**Theorem 5 (range and hazard).** Let the noise satisfy ``P(eta > t + rho) >= e^(-h rho) P(eta > t)`` for all t and all
rho >= 0. If, between neighbouring data sets, the changes of all scores lie in one interval of length at most rho, then
the choice is (h rho)-DP.

*Proof.* Fix an index r and the noise of all others. On D it wins iff ``eta_r > t := max_j (s_j + eta_j) - s_r``. On D'
the threshold is ``max_j (s'_j + eta_j) - s'_r <= t + max_j (s'_j - s_j) - (s'_r - s_r) <= t + rho``. So
``P'(r) >= P(eta_r > t + rho) >= e^(-h rho) P(eta_r > t)`` given the others' noise; integrate over it. The argument is
the same with D and D' exchanged. (Equal values have probability 0: the noise has a density.)  []

The noise must be added to the score that is *maximised*, and to every candidate, "no rule" included. A scale b that
depends on the data is covered by taking the scores ``s_r = v_r / b``. ``h`` is the supremum of the hazard rate
``f / (1 - F)``: 1 for Laplace(1), Gumbel(1) and Exponential(1), at most 0.7247 for the Cauchy distribution.
"""

from abc import ABC, abstractmethod

import numpy as np

from .entropy import Array, Entropy


class Noise(ABC):
    """A distribution with a density, its hazard, and its logarithms."""

    hazard: float  # the supremum of f / (1 - F); infinite where there is none

    @abstractmethod
    def from_uniform(self, u: Array) -> Array:
        """Draws, by inversion, from uniform numbers between 0 and 1."""

    @abstractmethod
    def log_pdf(self, z: Array) -> Array:
        """log f."""

    @abstractmethod
    def log_cdf(self, z: Array) -> Array:
        """log F."""

    def sample(self, entropy: Entropy, size: int) -> Array:
        """Independent draws."""
        return self.from_uniform(entropy.uniform(size))


class Exponential(Noise):
    """Density ``exp(-z)`` for z >= 0. Its hazard rate is 1 there and 0 below, so h = 1. What permute-and-flip is (mass.py)."""

    hazard = 1.0

    def from_uniform(self, u: Array) -> Array:
        """-log u, which has the same distribution as -log (1 - u)."""
        return np.asarray(-np.log(u))

    def log_pdf(self, z: Array) -> Array:
        """-z, and minus infinity below 0."""
        return np.where(z < 0.0, -np.inf, -z)

    def log_cdf(self, z: Array) -> Array:
        """log(1 - exp(-z)), and minus infinity below 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(-np.expm1(-np.maximum(z, 0.0))))


def choose(scores: Array, noise: Noise, entropy: Entropy) -> int:
    """The index of the noisy maximum."""
    return int(np.argmax(scores + noise.sample(entropy, len(scores))))

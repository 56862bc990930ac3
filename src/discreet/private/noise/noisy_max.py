"""Report noisy max: ``argmax_r (s_r + eta_r)`` with independent noise, of which only the index is released.

The theorems are numbered as in docs/theory.md.

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

import math
from abc import ABC, abstractmethod
from itertools import pairwise

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
        """-log u, which has the same law as -log (1 - u)."""
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


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_STEPS = np.concatenate([[0.0], 2.0 ** np.arange(-2.0, 42.0)])


def log_prob(scores: Array, noise: Noise) -> Array:
    """The exact logarithm of each index's probability, ``log I f(z - s_r) prod_{j != r} F(z - s_j) dz``, by quadrature.

    Gauss-Legendre on pieces that end at the scores (where a Laplace density has its kink) and grow away from them.
    """
    ends = np.unique(scores)
    edges = [ends[0] - _STEPS[::-1]]
    for a, b in pairwise(ends):
        if b - a <= 2000.0:  # the integrand may peak anywhere between
            edges.append(np.linspace(a, b, math.ceil(b - a) + 1))
        else:
            near = _STEPS[(b - a) / 2 > _STEPS]
            edges.append(np.concatenate([a + near, (b - near)[::-1]]))
    edges.append(ends[-1] + _STEPS)
    cuts = np.unique(np.concatenate(edges))
    half = np.diff(cuts)[:, None] / 2.0
    z = ((cuts[:-1, None] + half) + half * _NODES).ravel()
    log_weight = np.log((half * _WEIGHTS).ravel())
    distinct, index = np.unique(scores, return_inverse=True)  # equal scores have equal chances
    count = np.bincount(index)
    log_cdf = np.stack([noise.log_cdf(z - s) for s in distinct])
    log_pdf = np.stack([noise.log_pdf(z - s) for s in distinct])
    with np.errstate(invalid="ignore", over="ignore"):
        others = (count[:, None] * log_cdf).sum(0) - log_cdf
        terms = np.where(np.isneginf(log_cdf), -np.inf, others + log_pdf + log_weight)
    top = terms.max(1, keepdims=True)
    logs: Array = (top[:, 0] + np.log(np.exp(terms - top).sum(1)))[index]
    return logs

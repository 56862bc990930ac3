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

**Theorem 6 (log-concave noise, bounded scores).** Let the noise have a log-concave density. If all scores lie in an
interval of length w on every data set, and between neighbours the changes of all scores lie in one of length at most w,
the choice among R candidates is eps-DP with

    eps = log P(win | all scores equal) - log P(win | all others ahead by w) = -log R - log I f(z) F(z - w)^(R-1) dz.

*Proof.* Let ``W(x) = I f(z) prod_j F(z - x_j) dz`` be the probability that r wins when the others are ahead by x_j.
W falls in each x_j. Between neighbours each x_j moves by at most ``rho <= w``, the length of the interval of changes, so the
loss is at most
``L(x) = log W(x) - log W(x + rho)`` with ``x_j + rho <= w``. L grows in each x_k: ``-d log W / d x_k`` is the mean of
the falling function ``(f / F)(z - x_k)`` under the density proportional to ``f(z) prod_j F(z - x_j)``. At ``x + rho``,
substitute ``z -> z + rho``: the same function under the density proportional to ``f(z + rho) prod_j F(z - x_j)``. The
quotient ``f(z + rho) / f(z)`` falls in z, so this density puts more weight on small z, where the function is larger.
(``f / F`` falls because F, like f, is log-concave.) So the worst case is ``x_j + rho = w`` for all j, and by the same
monotonicity in rho it is rho = w. A candidate that is not there has x_j = -infinity, so fewer candidates lose less. []
"""

import math
from itertools import pairwise
from typing import Protocol

import numpy as np

from .entropy import Array, Entropy

# (c, s) such that the chance u <= 1/2 of any set of candidates grows at most by h (c + s u) for each unit by which
# its scores rise (docs/theory.md, Lemma 5a)
Lines = tuple[tuple[float, float], ...]
HAZARD_ONLY: Lines = ((0.0, 1.0),)


class Noise(Protocol):
    """A distribution with a density, its hazard, and its logarithms."""

    hazard: float  # the supremum of f / (1 - F); infinite where there is none

    def sample(self, entropy: Entropy, size: int) -> Array:
        """Independent draws."""

    def log_pdf(self, z: Array) -> Array:
        """log f."""

    def log_cdf(self, z: Array) -> Array:
        """log F."""


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


def price_of_bounded_scores(width: float, candidates: int, noise: Noise) -> float:
    """Theorem 6's epsilon for scores, and changes, in an interval of this length. Rounded up by 1e-12."""
    if candidates < 2:
        return 0.0
    loss = float(-np.log(candidates) - log_prob(np.append(np.full(candidates - 1, width), 0.0), noise)[-1])
    return max(0.0, loss) + 1e-12

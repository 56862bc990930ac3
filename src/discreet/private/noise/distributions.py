"""The exact distribution of a noisy maximum, and the noises of the published ways to choose, each with the hazard rate that
Theorem 5 of ``noisy_max.py`` asks for.

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

import numpy as np
from scipy.special import log_ndtr, ndtri

from .entropy import Array
from .noisy_max import Noise

# (c, s) such that the chance u <= 1/2 of any set of candidates grows at most by h (c + s u) for each unit by which
# its scores rise (docs/theory/published.md, Lemma 5a)
Lines = tuple[tuple[float, float], ...]
HAZARD_ONLY: Lines = ((0.0, 1.0),)
# tangents, rounded up, of the function psi of Lemma 5a (docs/theory/published.md), from u = 0 to 1/2
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


class Laplace(Noise):
    """Density ``exp(-|z|) / 2``. Its hazard rate is 1 for z >= 0 and below 1 for z < 0, so h = 1."""

    hazard = 1.0

    def from_uniform(self, u: Array) -> Array:
        """On either side of 0, an exponential number."""
        centred = u - 0.5
        return np.asarray(-np.sign(centred) * np.log1p(-2.0 * np.abs(centred)))

    def log_pdf(self, z: Array) -> Array:
        """-|z| - log 2."""
        return np.asarray(-np.abs(z) - np.log(2.0))

    def log_cdf(self, z: Array) -> Array:
        """z - log 2 below 0, log(1 - exp(-z)/2) above."""
        return np.where(z < 0.0, z - np.log(2.0), np.log1p(-0.5 * np.exp(-np.abs(z))))


class Gumbel(Noise):
    """Gumbel(0, 1): the exponential mechanism as a noisy max.

    ``argmax (s_r + Gumbel)`` is r with probability ``exp(s_r) / sum_j exp(s_j)``. The hazard rate ``e^-z / (exp(e^-z) - 1)``
    grows to 1, so h = 1.
    """

    hazard = 1.0

    def from_uniform(self, u: Array) -> Array:
        """-log(-log u)."""
        return np.asarray(-np.log(-np.log(u)))

    def log_pdf(self, z: Array) -> Array:
        """-z - e^-z."""
        with np.errstate(over="ignore"):
            return np.asarray(-z - np.exp(-z))

    def log_cdf(self, z: Array) -> Array:
        """-e^-z."""
        with np.errstate(over="ignore"):
            return np.asarray(-np.exp(-z))


class Cauchy(Noise):
    """Density ``1 / (pi (1 + z^2))``, which is the paper's ``h(z) ~ 1 / (1 + |z|^gamma)`` with gamma = 2.

    Its hazard rate is ``1 / ((1 + z^2) arctan(1/z))`` for z > 0, with a single maximum where its derivative
    ``1 - 2 z arctan(1/z)`` vanishes: 2 z arctan(1/z) = 1 at z = 0.42898, and the rate there is ``2z / (1 + z^2) = 0.72461``.
    For z <= 0 it is at most 2/pi. So h <= 0.7247.
    """

    hazard = 0.7247

    def from_uniform(self, u: Array) -> Array:
        """The tangent of an angle."""
        return np.asarray(np.tan(np.pi * (u - 0.5)))

    def log_pdf(self, z: Array) -> Array:
        """-log(pi (1 + z^2))."""
        return np.asarray(-np.log(np.pi) - np.log1p(np.square(z)))

    def log_cdf(self, z: Array) -> Array:
        """The angle between (-z, 1) and the axis, over pi: exact in both tails."""
        return np.asarray(np.log(np.arctan2(1.0, -z) / np.pi))


class Gaussian(Noise):
    """Density ``exp(-z^2 / 2) / sqrt(2 pi)``: log-concave, for Theorem 6; the hazard rate grows without bound.

    (That "noisy max inherits (eps, delta)" from the Gaussian mechanism, as the paper has it, is no theorem.)
    """

    hazard = math.inf

    def from_uniform(self, u: Array) -> Array:
        """Of the normal distribution."""
        return np.asarray(ndtri(u))

    def log_pdf(self, z: Array) -> Array:
        """-z^2/2 - log sqrt(2 pi)."""
        return np.asarray(-0.5 * np.square(z) - 0.5 * math.log(2.0 * math.pi))

    def log_cdf(self, z: Array) -> Array:
        """The logarithm of the normal distribution function."""
        return np.asarray(log_ndtr(z))


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

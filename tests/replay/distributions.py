"""The distributions of noisy counts and choices, by formulas of their own: nothing here is computed by the package.

Logarithms of probabilities are ``Decimal`` numbers of ``DIGITS`` digits, from formulas without an integral where there are
such, and by quadrature in double precision for Gaussian and Cauchy noise. Of each distribution there is its ``kind`` and
``size``, which must be the same on both tables; ``log_prob`` of an answer; an answer that is ``drawn`` from it; one that is
drawn from all alike (``any``); and the one that tells most between two tables: with the largest log P_D / P_D', or the smallest
(``telling``).
"""

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import log_ndtr

DIGITS = 80
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def precise():
    """Arithmetic of ``DIGITS`` digits, in which nothing overflows."""
    return localcontext(Context(prec=DIGITS, Emin=-(10**12), Emax=10**12))


def decimal(number):
    """A float, an integer or a fraction, without error but that of the division."""
    exact = Fraction(number)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def log_sum(logs):
    """log(sum of exp(logs))."""
    top = max(logs)
    return top + sum((log - top).exp() for log in logs).ln()


def times(polynomial, a):
    """The coefficients of polynomial(x) * (1 - a x), the constant first."""
    longer = [*polynomial, Decimal(0)]
    for i in range(len(polynomial), 0, -1):
        longer[i] -= a * longer[i - 1]
    return longer


@dataclass(frozen=True)
class DiscreteLaplace:
    """Integers, each plus k with probability (1 - q) / (1 + q) q^|k|, q = exp(-1 / scale)."""

    values: tuple[int, ...]
    scale: float
    kind = "discrete Laplace"

    @property
    def size(self):
        return len(self.values)

    def log_prob(self, answers):
        rate = 1 / decimal(self.scale)
        q = (-rate).exp()
        return self.size * ((1 - q) / (1 + q)).ln() - rate * sum(
            abs(a - v) for a, v in zip(answers, self.values, strict=True)
        )

    def drawn(self, rng):
        p = -math.expm1(-1.0 / self.scale)
        return tuple(v + int(rng.geometric(p)) - int(rng.geometric(p)) for v in self.values)

    def any(self, rng):
        """All of them off in one direction, so that what a record does to each of them adds up."""
        sign = 1 if rng.random() < 0.5 else -1
        return tuple(v + sign * (10 + int(rng.integers(10))) for v in self.values)

    def telling(self, other, sign):
        """Beyond each value, on the side on which it is likelier here."""
        return tuple(v + (10 if sign * (v - w) > 0 else -10) for v, w in zip(self.values, other.values, strict=True))


@dataclass(frozen=True)
class DiscreteGaussian(DiscreteLaplace):
    """Integers, each plus k with probability in proportion to exp(-k^2 / (2 sigma^2)); ``scale`` is sigma."""

    kind = "discrete Gaussian"

    def log_prob(self, answers):
        twice = 2 * decimal(self.scale) ** 2
        squares = sum((a - v) ** 2 for a, v in zip(answers, self.values, strict=True))
        return -self.size * sum_of_gaussians(self.scale).ln() - squares / twice

    def drawn(self, rng):
        return tuple(v + _some_gaussian(self.scale, rng) for v in self.values)


def _some_gaussian(sigma, rng):
    """The integer next to a normal number of a little more variance, kept as often as it should be (sqrt(e) times at most)."""
    wider = math.hypot(sigma, 0.5)
    while True:
        z = rng.normal(0, wider)
        if math.log(rng.random()) < (z / wider) ** 2 / 2 - (round(z) / sigma) ** 2 / 2 - 0.5:
            return round(z)


@lru_cache(maxsize=64)
def sum_of_gaussians(sigma):
    """Of exp(-k^2 / (2 sigma^2)), over all integers k: for large sigma the integral (by Poisson, but for 10^-300)."""
    twice = 2 * decimal(sigma) ** 2
    if sigma > 6:
        return (PI * twice).sqrt()
    return 1 + 2 * sum((-k * k / twice).exp() for k in range(1, int(20 * sigma) + 20))


class Choice:
    """One of several alternatives, by their number."""

    def any(self, rng):
        return int(rng.integers(self.size))

    def telling(self, other, sign):
        return max(range(self.size), key=lambda i: sign * (self.log_prob(i) - other.log_prob(i)))


@dataclass(frozen=True)
class PermuteAndFlip(Choice):
    """One of the alternatives by their losses.

    They are looked at in random order, and the coin of one with p = exp((smallest loss - loss) / scale) is flipped; the first to
    come up is chosen. With alternative j at a uniform time t_j, and r at t, nobody came before r with probability

        product over j of (1 - t p_j),   so that   P(r) = p_r * integral from 0 to 1 of that product dt,

    in which the alternative of p = 1 makes sure that somebody is chosen; and the integral of a polynomial is exact.
    """

    losses: tuple[int, ...]
    scale: float
    kind = "permute-and-flip"

    @property
    def size(self):
        return len(self.losses)

    def log_prob(self, chosen):
        best, scale = min(self.losses), decimal(self.scale)
        logs = [Decimal(best - loss) / scale for loss in self.losses]
        polynomial = [Decimal(1)]
        for j, log in enumerate(logs):
            if j != chosen:
                polynomial = times(polynomial, log.exp())
        return logs[chosen] + sum(c / (i + 1) for i, c in enumerate(polynomial)).ln()

    def drawn(self, rng):
        waiting = rng.exponential(size=self.size)
        return int(np.argmax(waiting - (np.array(self.losses) - min(self.losses)) / self.scale))


@dataclass(frozen=True)
class NoisyMax(Choice):
    """The alternative whose score is largest after noise, which is named."""

    scores: tuple[float, ...]
    noise: str

    @property
    def kind(self):
        return f"noisy max, {self.noise}"

    @property
    def size(self):
        return len(self.scores)

    def log_prob(self, chosen):
        shifted = [decimal(s) - decimal(max(self.scores)) for s in self.scores]
        mine, others = shifted[chosen], [*shifted[:chosen], *shifted[chosen + 1 :]]
        if self.noise == "Gumbel":  # the exponential mechanism
            return mine - log_sum(shifted)
        if self.noise == "Laplace":
            return _wins_with_laplace(mine, others).ln()
        return Decimal(_wins_by_quadrature(float(mine), [float(s) for s in others], *DENSITIES[self.noise]))

    def drawn(self, rng):
        noise = {
            "Gumbel": rng.gumbel,
            "Laplace": rng.laplace,
            "Gaussian": rng.normal,
            "Cauchy": lambda size: rng.standard_cauchy(size),
        }
        return int(np.argmax(np.array(self.scores) + noise[self.noise](size=self.size)))


def _wins_with_laplace(mine, others):
    """The integral over z of exp(-|z - mine|) / 2 times the product of F(z - s): without error.

    Between two neighbouring scores F(z - s) is exp(z - s) / 2 for those above and 1 - exp(s - z) / 2 for those below: so the
    integrand is a sum of exponentials of z.
    """
    edges, half, total = sorted({mine, *others}), Decimal("0.5"), Decimal(0)
    for low, high in pairwise([None, *edges, None]):
        above = [high is not None and s >= high for s in others]
        rises, factor = sum(above), Decimal(1)
        polynomial = [Decimal(1)]  # in exp(-z)
        for s, ahead in zip(others, above, strict=True):
            if ahead:
                factor *= half * (-s).exp()
            else:
                polynomial = times(polynomial, half * s.exp())
        before = high is not None and mine >= high
        factor *= half * (-mine if before else mine).exp()
        rises += 1 if before else -1
        for k, coefficient in enumerate(polynomial):
            total += factor * coefficient * _exponential_between(rises - k, low, high)
    return total


def _exponential_between(power, low, high):
    """The integral of exp(power z); no end is infinity, where the exponential vanishes."""
    if power == 0:
        return high - low
    ends = [Decimal(0) if end is None else (power * end).exp() for end in (low, high)]
    return (ends[1] - ends[0]) / power


DENSITIES = {
    "Gaussian": (lambda z: -z * z / 2 - math.log(2 * math.pi) / 2, log_ndtr),
    "Cauchy": (lambda z: -np.log(math.pi * (1 + z * z)), lambda z: np.log(np.arctan2(1.0, -z) / math.pi)),
}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
STEPS = np.concatenate([[0.0], 2.0 ** np.arange(-1, 41)])


def _wins_by_quadrature(mine, others, log_density, log_distribution):
    """The logarithm of the integral over z of f(z - mine) times the product of F(z - s), on pieces around each score."""
    cuts = np.unique(np.concatenate([s + sign * STEPS for s in {mine, *others} for sign in (-1, 1)]))
    half = np.diff(cuts)[:, None] / 2
    z = (cuts[:-1, None] + half + half * NODES).ravel()
    with np.errstate(divide="ignore"):
        logs = log_density(z - mine) + np.log((half * WEIGHTS).ravel())
        for s in others:
            logs = logs + log_distribution(z - s)
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).sum()))

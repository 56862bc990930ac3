"""How far off noisy counts are: the exact distribution of a discrete Laplace number, and of a sum of independent ones.

One number has the characteristic function ``((1 - q)^2 / (1 - 2 q cos t + q^2))`` with q = exp(-eps), so a sum of n has its n-th
power, and the probabilities come back by a Fourier transform on a lattice that is so long that nothing is left beyond it.
"""

import math
from functools import lru_cache

import numpy as np

from .entropy import Integers

LEVEL = 0.95  # of all intervals that are shown
FINEST = 1 / 256  # a smaller epsilon is computed as this one, and scaled: the lattice of integers is that fine then
FAR = 45.0  # exp(-45) is 3e-20, and in a float's rounding


def log_pmf(k: Integers, epsilon: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The exact logarithm of the probability of noise k: ``(1 - q) / (1 + q) q^|k|`` with q = exp(-eps)."""
    q = math.exp(-epsilon)
    return math.log1p(-q) - math.log1p(q) - epsilon * np.abs(k).astype(np.float64)


def tail(m: int, epsilon: float) -> float:
    """The probability that the noise is at least m >= 1: ``q^m / (1 + q)``."""
    q = math.exp(-epsilon)
    return math.exp(-epsilon * m) / (1.0 + q)


def at_least(m: int, epsilon: float) -> float:
    """The probability that the noise is at least m, of either sign."""
    return tail(m, epsilon) if m >= 1 else 1.0 - tail(1 - m, epsilon)


def margin(epsilon: float, bins: int = 1, level: float = LEVEL) -> int:
    """The smallest m such that a sum of so many noisy counts is off by at most m, with this probability.

    It is the exact one, but for several bins and an epsilon below 1/256, where it may be larger by a few thousandths.

    >>> margin(0.1), margin(0.1, bins=4), margin(1.0), margin(0.0001)
    (30, 57, 3, 29957)
    """
    if bins < 1:
        return 0
    if bins == 1:
        q = math.exp(-epsilon)
        found = max(0, math.floor(math.log(2 / ((1 - level) * (1 + q))) / epsilon))
        for m in range(max(0, found - 2), found + 2):  # the logarithm is rounded, the distribution decides
            if 2 * tail(m + 1, epsilon) <= 1 - level:
                return m
        return found + 2
    if epsilon < FINEST:
        return math.ceil(_margin(FINEST, bins, level) * FINEST / epsilon)
    return _margin(epsilon, bins, level)


@lru_cache(maxsize=1024)
def _margin(epsilon: float, bins: int, level: float) -> int:
    both = np.cumsum(sum_distribution(epsilon, bins) * np.where(np.arange(_limit(epsilon, bins) + 1) == 0, 1.0, 2.0))
    return int(np.searchsorted(both, level - 1e-12))


def sum_distribution(epsilon: float, bins: int) -> np.ndarray:
    """The probability of a sum of 0, 1, 2, ... (and of as much below 0), for as far as there is any.

    >>> float(sum_distribution(1.0, 1)[0] / sum_distribution(1.0, 1)[1]) / math.e
    1.0
    """
    limit = _limit(epsilon, bins)
    q, t = math.exp(-epsilon), np.pi * np.arange(limit + 1) / limit
    one = math.expm1(-epsilon) ** 2 / (math.expm1(-epsilon) ** 2 + 4 * q * np.sin(t / 2) ** 2)
    # it is even in t, so that the transform of one half is that of the whole
    return np.maximum(np.fft.hfft(one**bins, 2 * limit)[: limit + 1] / (2 * limit), 0.0)


def _limit(epsilon: float, bins: int) -> int:
    """A power of 2 that a sum practically never exceeds: tails fall as fast as those of a normal or of a single number."""
    spread = math.sqrt(bins * moments(epsilon)[0])
    return 1 << max(3, math.ceil(math.log2(12 * spread + FAR / epsilon + 1)))


def moments(epsilon: float) -> tuple[float, float]:
    """The variance of one discrete Laplace number, and its fourth cumulant: those of a sum are the sums of them.

    >>> [round(x, 6) for x in moments(1.0)]
    [1.841347, 12.013026]
    """
    q = math.exp(-epsilon)
    variance = 2 * q / math.expm1(-epsilon) ** 2
    fourth = 2 * q * (1 + 10 * q + q * q) / math.expm1(-epsilon) ** 4
    return variance, fourth - 3 * variance * variance

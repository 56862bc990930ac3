"""Rates from noisy counts, with intervals that cover both the noise and the sampling of records.

A rate is the share ``p`` of the records of some bins, ``a``, among them and those of others, ``w``. What is known are noisy sums
``A`` of m bins and ``W`` of n bins. For the right p, ``T = A (1 - p) - W p`` has mean 0, whatever the number of records, and

    variance(T) = (a + w) p (1 - p)  +  v (m (1 - p)^2 + n p^2),        v: of the noise of one bin

the first part from sampling records of which a share p is of the one kind, the second from the noise. The interval has all p
that T does not refute: Wilson's interval where there is no noise, Fieller's where there is nothing else. Laplace noise has
heavier tails than a normal law, so the bound on T is that of a law with its fourth moment (Cornish and Fisher); and as records
are whole, half a record is added where no noise smooths that. Nothing here is a proof: docs/evaluation.md has the coverage that
was measured (benchmarks/evaluation_coverage.py).

Sums and differences of independent rates get the intervals that follow from those of their parts (Zou and Donner, 2008):
distances add up as deviations do. Where a rate's own interval reaches 0 or 1 its distance is no deviation, and is added as it is.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..private.noise.sums import LEVEL, margin, moments

Numbers = npt.NDArray[np.float64]
HALVINGS = 50


class Sum(NamedTuple):
    """A noisy number of records, the sum of so many bins; an array of them for as many releases."""

    noisy: npt.ArrayLike
    bins: int


class Interval(NamedTuple):
    """A value, and from where to where it lies."""

    value: Numbers
    low: Numbers
    high: Numbers


def rate(of: Sum, rest: Sum, epsilon: float, level: float = LEVEL) -> Interval:
    """The share of the first among both, where each bin has noise of this epsilon. Without any bins it is 0 or 1, for sure."""
    if not of.bins or not rest.bins:
        certain = np.zeros(np.shape(of.noisy)) + (1.0 if of.bins else 0.0)
        return Interval(certain, certain, certain)
    # A number of records is not below 0. With 0 in its place, T is nearer to 0 for every p, so the interval only grows
    a, w = np.maximum(np.asarray(of.noisy, float), 0.0), np.maximum(np.asarray(rest.noisy, float), 0.0)
    variance, fourth = moments(epsilon)
    z = NormalDist().inv_cdf((1 + level) / 2)
    half_record = 0.5 / (1 + 12 * variance * min(of.bins, rest.bins))

    def is_possible(p: Numbers) -> npt.NDArray[np.bool_]:
        spread = (a + w) * p * (1 - p) + variance * (of.bins * (1 - p) ** 2 + rest.bins * p**2)
        heavier = fourth * (of.bins * (1 - p) ** 4 + rest.bins * p**4) / np.maximum(spread, 1e-300) ** 2
        bound = (z + (z**3 - 3 * z) / 24 * heavier) * np.sqrt(spread) + half_record
        possible: npt.NDArray[np.bool_] = np.abs(a * (1 - p) - w * p) <= bound
        return possible

    def furthest(end: float) -> Numbers:
        inside, outside = value, np.full_like(value, end)
        reaches = is_possible(outside)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            possible = is_possible(middle)
            inside, outside = np.where(possible, middle, inside), np.where(possible, outside, middle)
        return np.where(reaches, end, inside)

    value = np.where(a + w > 0, a / np.maximum(a + w, 1.0), 0.5)
    return Interval(value, furthest(0.0), furthest(1.0))


def is_too_small(of: Sum, rest: Sum, epsilon: float) -> bool:
    """Whether the noise may be half of what the rate is about."""
    bins = of.bins + rest.bins
    return float(np.asarray(of.noisy) + np.asarray(rest.noisy)) < 2 * margin(epsilon, bins)


def mean_rate(rates: Sequence[tuple[Sum, Sum]], epsilon: float) -> Interval:
    """The mean of rates that share no bin: a balanced accuracy."""
    return _combined(rates, [1 / len(rates)] * len(rates), epsilon)


def difference(one: tuple[Sum, Sum], other: tuple[Sum, Sum], epsilon: float) -> Interval:
    """The first rate minus the second. They share no bin."""
    return _combined([one, other], [1.0, -1.0], epsilon)


def _combined(rates: Sequence[tuple[Sum, Sum]], weights: Sequence[float], epsilon: float) -> Interval:
    """A weighted sum of rates.

    Of k parts all but one may be at an end, where they cannot be missed, and then a miss of each is one of the whole: each may
    miss with a k-th of what the whole may.
    """
    usual = [rate(*parts, epsilon) for parts in rates]
    careful = usual if len(rates) <= 2 else [rate(*p, epsilon, 1 - 2 * (1 - LEVEL) / len(rates)) for p in rates]
    value = np.asarray(sum(w * part.value for w, part in zip(weights, usual, strict=True)))
    return Interval(
        value, value - _distance(usual, careful, weights, -1), value + _distance(usual, careful, weights, 1)
    )


def _distance(usual: list[Interval], careful: list[Interval], weights: Sequence[float], sign: int) -> Numbers:
    """How far the sum of rates may be above (or, with sign -1, below) its value."""
    squares, squares_if_careful, added = (np.zeros(np.shape(usual[0].value)) for _ in range(3))
    at_an_end = np.zeros(np.shape(usual[0].value), bool)
    for weight, part, wider in zip(weights, usual, careful, strict=True):
        up = weight * sign > 0
        reaches = part.high >= 1.0 if up else part.low <= 0.0
        far, further = (abs(weight) * (one.high - one.value if up else one.value - one.low) for one in (part, wider))
        squares = squares + np.where(reaches, 0.0, far**2)
        squares_if_careful = squares_if_careful + np.where(reaches, 0.0, further**2)
        added = added + np.where(reaches, far, 0.0)
        at_an_end = at_an_end | reaches
    return np.asarray(added + np.sqrt(np.where(at_an_end, squares_if_careful, squares)))

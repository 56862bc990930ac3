"""The worth of trees by the *range* of their labels, from the lowest to the highest rank: what monotone columns need.

Whether two branches may stand side by side under a test about a monotone column depends on their labels alone, and of these on
the lowest and the highest (rules/limits.py). So the worth of a part is not one number but one for each range, in a last
axis, and two branches are put together range by range. For two classes there are three ranges: all of the first, all of the
second, both.

Every sum here has positive terms only; nothing is subtracted.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ....rules.limits import Flags, Limits
from ...counts.cells import Array
from .worth import SMALLEST, Sum, Worth

Numbers = npt.NDArray[np.intp]


class Way(NamedTuple):
    """The ranges of two branches, that of both together, and for which tests they may stand side by side."""

    true: int
    other: int
    both: int
    allowed: Flags


class Ranges:
    """All ranges of the ranks of labels, and all ways to put two of them together."""

    def __init__(self, limits: Limits) -> None:
        n = len(limits.labels)
        self.pairs = [(low, high) for low in range(n) for high in range(low, n)]
        place = {pair: i for i, pair in enumerate(self.pairs)}
        self.of_one = [place[rank, rank] for rank in range(n)]  # the range of each single label
        self.labels = limits.labels
        self.possible = range(limits.lowest, limits.highest + 1)
        self.ways = []
        for (i, (a, b)), (j, (c, d)) in product(enumerate(self.pairs), repeat=2):
            allowed = (~limits.not_above | (b <= c)) & (~limits.not_below | (d <= a))
            if allowed.any():
                self.ways.append(Way(i, j, place[min(a, c), max(b, d)], allowed))
        singles = set(self.of_one)
        self.ways_of_leaves = [way for way in self.ways if way.true in singles and way.other in singles]
        self.ways_of_rules = [way for way in self.ways if way.true in singles]


class Ranged(Worth):
    """Worth by ranges, whether it is added up or the largest is taken."""

    ranges: Ranges

    def by(self, limits: Limits) -> Self:
        """With the ranges that limits are about."""
        self.ranges = Ranges(limits)
        self.shape = (len(self.ranges.pairs),)
        return self

    @property
    def most_choices(self) -> int:
        """How many things can be chosen at a node for each test."""
        return len(self.ranges.ways) + len(self.ranges.pairs)

    @abstractmethod
    def of_label(self, counts: Array) -> Array:
        """The worth of leaves, by their label in the first axis."""

    @abstractmethod
    def put_together(self, worths: Array) -> Array:
        """Of several kinds of trees, along the first axis."""

    def channels(self, counts: Array) -> Array:
        """The classes by their ranks."""
        return counts[list(self.ranges.labels)]

    def leaf(self, counts: Array) -> Array:
        """Of each single label that may be given; no leaf has two."""
        worths = self.of_label(counts)
        found = np.full((*worths.shape[1:], *self.shape), -np.inf)
        for rank in self.ranges.possible:
            found[..., self.ranges.of_one[rank]] = worths[rank]
        return found

    def joined(self, true: Array, other: Array, tests: Numbers, ways: Sequence[Way]) -> Array:
        """Of both branches of tests, by the ways that there are. ``tests`` has, or is broadcast to, all axes but the last."""
        terms: dict[int, list[Array]] = {}
        for way in ways:
            both = true[..., way.true] + other[..., way.other]
            terms.setdefault(way.both, []).append(np.where(way.allowed[tests], both, -np.inf))
        found = np.full((*next(iter(terms.values()))[0].shape, *self.shape), -np.inf)
        for place, worths in terms.items():
            found[..., place] = worths[0] if len(worths) == 1 else self.put_together(np.stack(worths))
        return found

    def whole(self, worths: Array) -> float:
        """Of all ranges together."""
        return float(self.put_together(worths))


class RangedSum(Ranged, Sum):
    """The sum over all trees whose labels have a range: for each of them."""

    def error(self, counts: Array) -> float:
        """Four times as much: there is one more kind of sums, and they begin further down (docs/theory.md, Theorem 28a)."""
        return 4.0 * super().error(counts)

    def of_label(self, counts: Array) -> Array:
        """All labels are alike in the prior."""
        worths: Array = self.rate * counts - math.log(len(counts))
        return worths

    def put_together(self, worths: Array) -> Array:
        """The logarithm of the sum of exponentials; -inf where there is nothing else."""
        top = worths.max(0)
        there = np.isfinite(top)
        exponents = np.maximum(worths - np.where(there, top, 0.0), SMALLEST)
        total: Array = np.where(there, top + np.log(np.exp(exponents).sum(0)), -np.inf)
        return total

    def over_tests(self, worths: Array, axis: int) -> Array:
        """By the prior of tests."""
        shape = [1] * worths.ndim
        shape[axis] = -1
        return self.put_together(np.moveaxis(worths + self.log_tests.reshape(shape), axis, 0))

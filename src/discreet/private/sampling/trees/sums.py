"""The worth of all trees up to a depth, for every part of the records that a way of tests can lead to.

    Z(A, 0) = leaf(A)
    Z(A, r) = (1 - split) Z(A, 0)  +  split * sum over tests j of w_j * Z(A and j, r - 1) * Z(A and not j, r - 1)

A part A is a *set* of tests with a side each, in whatever order they were asked; a tree of depth d needs Z(A, r) for all sets of
up to d - r tests. Nearly all of the work is Z(A, 1) for the sets of d - 1 tests. It needs counts of sets of d tests:

- Only sets of tests that are all true are counted (from cells in on_cells.py, from tuples in on_tuples.py). What is true of some
  and not of others follows by differences: "f and not g" is "f" minus "f and g".
- A test that was asked before splits a part into itself and nothing. Nothing is worth a factor of 1, so that the sum over j is
  over all tests, and each needs no case of its own where counts are at hand.

``tables[r][k]`` has the logarithm of Z for every set of k tests: an axis of sets in lexicographic order, then an axis of two
sides (0: not true, 1: true) for each test of the set.
"""

from collections.abc import Callable, Mapping
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from ...counts.cells import Array
from ...counts.secret import Secret
from ..deadline import Deadline
from .problem import Counted, Posed, Prefix
from .subsets import numbers_of, subsets
from .worth import Worth

BLOCK = 1 << 15  # numbers looked at together: they should stay in the processor's cache


class TreeSums(Secret):
    """Tables of the worth of parts, for trees up to ``depth`` (at least 1)."""

    def __init__(
        self,
        problem: Posed,
        depth: int,
        worth: Worth,
        deadline: Deadline | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self.depth, self.n_tests, self.worth = depth, problem.n_tests, worth
        self._deadline, self._progress = deadline or Deadline(), progress
        counted = problem.sets(worth)
        self.leaf, self.one = (
            [np.empty((comb(self.n_tests, k), *(2,) * k, *worth.shape)) for k in range(depth)] for _ in range(2)
        )
        # of shorter prefixes than the longest: (channels, tests + 1, tests + 1)
        self.counts: dict[Prefix, Counted] = {}
        for size in range(max(1, depth - 1)):  # differences need all shorter sets first
            block = _Block(self, size, counted.n_channels, counted.kind) if size + 1 < depth else None
            for prefix, counts in counted.prefixes(size, longest=size == max(0, depth - 2)):
                self._look_at(prefix, counts, block)
            if block is not None:
                block.finish()
        self.counts.clear()
        self.tables = [self.leaf, self.one]
        for r in range(2, depth + 1):
            self.tables.append([self._deeper(r, k) for k in range(depth - r + 1)])

    def below(self, part: Mapping[int, bool], r: int) -> Array:
        """What is below each test in one part, with trees of depth r - 1 there; r is at least 2."""
        tests = sorted(part)
        sides = tuple(int(part[test]) for test in tests)
        below: Array = self._below(np.array([tests], np.intp).reshape(1, -1), r)[0]
        for side in sides:
            below = below[:, side]
        return below

    def one_split(self, total: Array, inside: Array, k: int, place: slice) -> Array:
        """Of all ways to split a part once, for some sets of k tests: those at this place."""
        return self.worth.one_split(total, inside)

    def over_tests(self, below: Array, sets: npt.NDArray[np.intp]) -> Array:
        """Of all tests after each of these sets, given what is below each of them: in the second axis."""
        return self.worth.over_tests(below, axis=1)

    def joined(self, true: Array, other: Array, tests: npt.NDArray[np.intp]) -> Array:
        """Of both branches of tests together; there is a row for each test."""
        joined: Array = other + true
        return joined

    def _look_at(self, prefix: Prefix, counted: Counted, block: "_Block | None") -> None:
        """What was counted where a prefix of tests is true."""
        self._deadline.check()
        m, first = self.n_tests, prefix[-1] + 1 if prefix else 0
        if len(prefix) < self.depth - 2:
            self.counts[prefix] = counted
        if not prefix:
            total = counted[:, -1, -1].astype(np.float64)
            self.leaf[0][()] = leaf = self.worth.leaf(total)
            self.one[0][()] = self.worth.either(leaf, self.one_split(total, counted[:, -1, :-1], 0, slice(1)))
        if block is not None:
            block.add(prefix, counted[:, -(m - first + 1) :])
        self._progress(1)

    def _deeper(self, r: int, k: int) -> Array:
        """Z(A, r) for all sets of k tests."""
        sets = subsets(self.n_tests, k)
        step = max(1, BLOCK // (self.n_tests << k))
        worth = np.empty((len(sets), *(2,) * k, *self.worth.shape))
        for low in range(0, len(sets), step):
            some = slice(low, low + step)
            splits = self.over_tests(self._below(sets[some], r), sets[some])
            worth[some] = self.worth.either(self.leaf[k][some], splits)
        return worth

    def _below(self, sets: npt.NDArray[np.intp], r: int) -> Array:
        """(sets, tests, 2, ..., 2): the worth of both branches of each test together, with trees of depth r - 1."""
        m, (n, k) = self.n_tests, sets.shape
        below = np.empty((n, m, *(2,) * k, *self.worth.shape))
        rows = np.arange(n)[:, None]
        asked = np.zeros((n, m), bool)
        asked[rows, sets] = True
        same = self.tables[r - 1][k][numbers_of(sets, m)]
        for place in range(k):  # asked again: everything goes the same way, and the empty rest is worth nothing
            below[rows[:, 0], sets[:, place]] = same
        which, tests = np.nonzero(~asked)
        places = (sets[which] < tests[:, None]).sum(1)  # where the new test stands in the longer set
        longer = self.tables[r - 1][k + 1]
        for place in range(k + 1):
            here = places == place
            old = sets[which[here]]
            grown = np.concatenate([old[:, :place], tests[here, None], old[:, place:]], axis=1)
            both = longer[numbers_of(grown, m)]
            true, other = both.take(1, place + 1), both.take(0, place + 1)
            below[which[here], tests[here]] = self.joined(true, other, tests[here])
        return below


class _Block(Secret):
    """Sets of a prefix and one test more, with every side, put together until it pays to look at them."""

    def __init__(self, sums: TreeSums, size: int, channels: int, kind: Any) -> None:
        self._sums, self._size = sums, size
        self._room = max(1, BLOCK // (channels * (sums.n_tests + 1) << (size + 1)))
        # channels, a side for each test of the prefix, one for the last, sets, what is counted there (tests, and at last all)
        self._sides = np.empty((channels, *(2,) * size, 2, self._room, sums.n_tests + 1), kind)
        self._done = self._filled = 0

    def add(self, prefix: Prefix, counted: Counted) -> None:
        """The sets of a prefix and each later test: the rows of what is counted, of which the last is the prefix alone."""
        subsets = []
        for bits in np.ndindex((2,) * self._size):
            chosen = tuple(test for test, bit in zip(prefix, bits, strict=True) if bit)
            full = counted if len(chosen) == len(prefix) else self._sums.counts[chosen][:, -counted.shape[1] :]
            subsets.append(((slice(None), *bits), full))
        low, later = 0, counted.shape[1] - 1
        while low < later:
            high = min(later, low + self._room - self._filled)
            place = slice(self._filled, self._filled + high - low)
            for where, full in subsets:
                self._sides[(*where, 1, place)] = full[:, low:high]
                np.subtract(full[:, -1:], full[:, low:high], out=self._sides[(*where, 0, place)])
            self._filled, low = place.stop, high
            if self._filled == self._room:
                self.finish()

    def finish(self) -> None:
        """Look at what has been put together: as leaves, and split once."""
        sides, sums = self._sides[..., : self._filled, :], self._sums
        for axis in range(1, 1 + self._size):  # "not f" is everything minus "f"
            false, true = (tuple([slice(None)] * axis + [side]) for side in (0, 1))
            sides[false] -= sides[true]
        total = sides[..., -1].astype(np.float64)
        leaf = sums.worth.leaf(total)
        size, place = self._size + 1, slice(self._done, self._done + self._filled)
        one = sums.worth.either(leaf, sums.one_split(total, sides[..., :-1], size, place))
        sums.leaf[size][place] = np.moveaxis(leaf, size, 0)
        sums.one[size][place] = np.moveaxis(one, size, 0)
        self._done, self._filled = place.stop, 0

"""The worth of all trees up to a depth, for every part of the records that a way of tests can lead to; and from it to one tree.

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

**Limits** (rules/limits.py). Since a part is a set of tests, it is known which columns were used on the way to it, and with them
which tests may follow: the others have no weight there. With a monotone column, what is below two sides of a test is put together
range by range (ranges.py). A branch behind a test that was asked before is reached by no record, and is free of all limits: it is
left out of the model (``Tree.simplified``), has no range, and is worth a factor of 1 as ever.
"""

from collections.abc import Callable, Mapping
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ....rules.numbered_tree import Fork, Leaf, NumberedTree
from ...counts.cells import Array
from ...counts.secret import Secret
from ...noise.decisions import Choose
from ..deadline import Deadline
from .on_cells import TreeProblem
from .on_tuples import TupleTrees
from .worth import ACCURACY, Counted, Flags, Numbers, Part, Prefix, Worth

BLOCK = 1 << 15  # numbers looked at together: they should stay in the processor's cache
Posed = TreeProblem | TupleTrees  # what trees are drawn from, however it was counted


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
        self.depth, self.n_tests, self.worth, self.limits = depth, problem.n_tests, worth, problem.limits
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
        """Of all ways to split a part once that may be, for some sets of k tests: those at this place."""
        worth = self.worth
        if self.limits is None:
            return worth.one_split(total, inside)
        sets, tests = subsets(self.n_tests, k)[place], np.arange(self.n_tests)
        inside = inside.astype(np.float64)
        below = worth.joined(worth.leaf(inside), worth.leaf(total[..., None] - inside), tests, leaves=True)
        if worth.shape:
            whole = worth.leaf(total)
            for asked in sets.T:  # everything goes the same way
                below[..., np.arange(len(sets)), asked, :] = whole
        axis = below.ndim - 1 - len(worth.shape)
        allowed = self.limits.after_sets(sets) if k else self.limits.after_sets(sets)[0]
        below[..., ~allowed, *(slice(None) for _ in worth.shape)] = -np.inf
        return worth.over_tests(below, axis)

    def over_tests(self, below: Array, sets: Numbers) -> Array:
        """Of all tests that may follow each of these sets, given what is below each of them: in the second axis."""
        if self.limits is not None:
            below[~self.limits.after_sets(sets)] = -np.inf
        return self.worth.over_tests(below, axis=1)

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

    def _below(self, sets: Numbers, r: int) -> Array:
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
            rows = tests[here].reshape(-1, *(1,) * (true.ndim - 1 - len(self.worth.shape)))
            below[which[here], tests[here]] = self.worth.joined(true, other, rows)
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


class Choices(Secret):
    """From the worth of parts to a tree: from the root down, each choice by what all trees below it are worth.

    Choices are made in the ``order`` of the tests that were given, and with the branch first where such a test is true: so the
    same random numbers lead to the same tree, whatever was turned.
    """

    def __init__(
        self,
        problem: Posed,
        worth: Worth,
        sums: TreeSums | None,
        choose: Choose,
        order: Numbers | None = None,
        turned: Flags | None = None,
    ) -> None:
        self._problem, self._worth, self._sums, self._choose = problem, worth, sums, choose
        self._as_given = np.arange(problem.n_tests) if order is None else np.argsort(order, kind="stable")
        self._turned = np.zeros(problem.n_tests, bool) if turned is None else turned

    def tree(self, part: Part | None, depth: int) -> NumberedTree:
        """The tree of a part; None is the empty one, on the other side of a test that was asked before."""
        splits = depth > 0 and self._sums is not None
        if not splits and self._problem.score != ACCURACY:
            return Leaf()
        counts = self._problem.class_counts(part)
        if splits:
            leaf = self._worth.leaf(self._worth.channels(counts))
            below = self._below(part, counts, depth)
            logs = self._worth.weighed(below, leaf)
            place = self._choose(np.append(logs[self._as_given], logs[-1]))
            if place < self._problem.n_tests:
                test = int(self._as_given[place])
                first = not self._turned[test]
                one, other = (self.tree(side_of(part, test, side), depth - 1) for side in (first, not first))
                return Fork(test, *((one, other) if first else (other, one)))
        if self._problem.score != ACCURACY:
            return Leaf()
        return Leaf(self._choose(self._problem.rate * counts))

    def _below(self, part: Part | None, counts: Array, depth: int) -> Array:
        assert self._sums is not None
        if part is None:
            return np.zeros(self._problem.n_tests)
        if depth > 1:
            below = self._sums.below(part, depth)
        else:
            inside = self._problem.inside(part, self._worth)
            below = self._worth.leaf(inside) + self._worth.leaf(self._worth.channels(counts)[:, None] - inside)
        return np.where(self._allowed(part), below, -np.inf) if self._problem.limits is not None else below

    def _allowed(self, part: Part) -> Flags:
        """Which tests may follow in a part, where there are limits."""
        assert self._problem.limits is not None
        (allowed,) = self._problem.limits.after_sets(np.array([list(part)], np.intp).reshape(1, -1))
        return np.asarray(allowed, bool)


def side_of(part: Part | None, test: int, side: bool) -> Part | None:
    """What is on one side of a test in a part; None if that is empty because the test was asked before."""
    if part is None or part.get(test, side) != side:
        return None
    return {**part, test: side}


def subsets(m: int, size: int) -> Numbers:
    """All subsets of a size, one a row, ascending.

    >>> subsets(4, 2).tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    flat = np.fromiter((x for s in combinations(range(m), size) for x in s), np.intp, comb(m, size) * size)
    return flat.reshape(comb(m, size), size)


def numbers_of(sets: Numbers, m: int) -> Numbers:
    """The number of each subset among those of its size.

    >>> numbers_of(subsets(5, 3), 5).tolist() == list(range(10))
    True
    """
    size = sets.shape[1]
    number = np.full(len(sets), comb(m, size) - 1, np.intp)
    for place in range(size):
        # those that agree up to this place and have a larger test there
        larger = np.array([comb(m - 1 - test, size - place) for test in range(m)], np.intp)
        number -= larger[sets[:, place]]
    return number

"""The worth of all trees up to a depth, for every part of the records that a way of tests can lead to.

    Z(A, 0) = leaf(A)
    Z(A, r) = (1 - split) Z(A, 0)  +  split * sum over tests j of w_j * Z(A and j, r - 1) * Z(A and not j, r - 1)

A part A is a *set* of tests with a side each, in whatever order they were asked; a tree of depth d needs Z(A, r) for all sets of
up to d - r tests. Nearly all of the work is Z(A, 1) for the sets of d - 1 tests. It needs counts of sets of d tests:

- Only sets of tests that are all true are counted, from the cells in which the first d - 2 of them are true, by a product of
  matrices. What is true of some and not of others follows by differences: "f and not g" is "f" minus "f and g". Tests are
  turned before (problem.py) so that each is true in fewer cells than not, and rare ones come first: their sets are small.
- A test that was asked before splits a part into itself and nothing. Nothing is worth a factor of 1, so that the sum over j is
  over all tests, and each needs no case of its own where counts are at hand.

``tables[r][k]`` has the logarithm of Z for every set of k tests: an axis of sets in lexicographic order, then an axis of two sides
(0: not true, 1: true) for each test of the set.
"""

from collections.abc import Callable, Mapping
from math import comb

import numpy as np
import numpy.typing as npt

from ...cells.cells import Array
from ...cells.secret import Secret
from ..speed.deadline import Deadline
from .problem import TreeProblem
from .subsets import numbers_of, subsets
from .worth import Worth

EXACT_IN_FLOAT32 = 2**24
BLOCK = 1 << 17  # numbers looked at together: they should stay in the processor's cache
Counted = npt.NDArray[np.floating]
Prefix = tuple[int, ...]


class TreeSums(Secret):
    """Tables of the worth of parts, for trees up to ``depth`` (at least 1). """

    def __init__(
        self,
        problem: TreeProblem,
        depth: int,
        worth: Worth,
        deadline: Deadline | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self.depth, self.n_tests, self._worth = depth, problem.n_tests, worth
        self._deadline, self._progress = deadline or Deadline(), progress
        channels = worth.channels(problem.counts)
        whole = bool((channels == np.rint(channels)).all())
        small = bool(np.abs(channels).sum(1).max(initial=0.0) < EXACT_IN_FLOAT32)
        kind = np.float32 if whole and small else np.float64
        # one column for each test, and a last one that is always true
        truth = np.ones((problem.truth.shape[1], self.n_tests + 1), kind)
        truth[:, :-1] = problem.truth.T
        self._leaf = [np.empty((comb(self.n_tests, k), *(2,) * k)) for k in range(depth)]
        self._one = [np.empty((comb(self.n_tests, k), *(2,) * k)) for k in range(depth)]
        self._counts: dict[Prefix, Counted] = {}  # of shorter prefixes than the longest: (channels, tests + 1, tests + 1)
        self._visit((), truth, channels.T.astype(kind))
        self._counts.clear()
        self.tables = [self._leaf, self._one]
        for r in range(2, depth + 1):
            self.tables.append([self._deeper(r, k) for k in range(depth - r + 1)])

    def below(self, part: Mapping[int, bool], r: int) -> Array:
        """What is below each test in one part, with trees of depth r - 1 there; r is at least 2."""
        tests = sorted(part)
        sides = tuple(int(part[test]) for test in tests)
        of_part: Array = self._below(np.array([tests], np.intp).reshape(1, -1), r)[(0, slice(None), *sides)]
        return of_part

    def _visit(self, prefix: Prefix, truth: Counted, channels: Counted) -> None:
        """Count what a prefix of tests, all true, leads to; then what each longer one does."""
        self._deadline.check()
        m, first = self.n_tests, prefix[-1] + 1 if prefix else 0
        longest = len(prefix) == max(0, self.depth - 2)
        of_interest = truth[:, first:] if longest else truth
        counted = np.stack([truth.T @ (of_interest * channel[:, None]) for channel in channels.T])
        if not longest:
            self._counts[prefix] = counted
        self._look_at(prefix, counted[:, :, -(m - first + 1) :])
        self._progress(1)
        if longest:
            return
        for test in range(first, m):
            true = truth[:, test] > 0
            self._visit((*prefix, test), truth[true], channels[true])

    def _look_at(self, prefix: Prefix, counted: Counted) -> None:
        """The worth of sets of the prefix and one test more, with every side, as leaves and split once."""
        m, k = self.n_tests, len(prefix)
        width = counted.shape[2]  # later tests, and the one that is always true
        step = max(1, BLOCK // ((m + 1) << (k + 1)))
        start = 0 if k == 0 else int(numbers_of(np.array([[*prefix, prefix[-1] + 1]]), m)[0]) if width > 1 else 0
        for low in range(0, width, step):
            high = min(low + step, width)
            columns = np.append(np.arange(low, high), width - 1) if high < width else np.arange(low, high)
            sides = self._signed(prefix, counted, columns)
            nothing = sides[..., -1:]  # of the prefix alone
            if high == width and k == 0:  # the whole
                self._leaf[0][0] = self._worth.leaf(nothing[:, -1, 0])
                splits = self._worth.one_split(nothing[:, -1], nothing[:, :-1])
                self._one[0][0] = self._worth.either(self._leaf[0][0], splits[0])
            n = min(high, width - 1) - low
            if n <= 0 or k + 1 >= self.depth:
                continue
            both = np.stack([nothing - sides[..., :n], sides[..., :n]], axis=-2)
            leaf = self._worth.leaf(both[:, -1])
            one = self._worth.either(leaf, self._worth.one_split(both[:, -1], both[:, :-1]))
            place = slice(start + low, start + low + n)
            self._leaf[k + 1][place] = np.moveaxis(leaf, -1, 0)
            self._one[k + 1][place] = np.moveaxis(one, -1, 0)

    def _signed(self, prefix: Prefix, counted: Counted, columns: npt.NDArray[np.intp]) -> Array:
        """(channels, tests + 1, a side for each test of the prefix, columns): by differences of what is counted."""
        k, m = len(prefix), self.n_tests
        shift = m + 1 - counted.shape[2]
        sides = np.empty((len(counted), m + 1, *(2,) * k, len(columns)))
        for bits in np.ndindex((2,) * k):
            chosen = tuple(test for test, bit in zip(prefix, bits, strict=True) if bit)
            if len(chosen) == k:
                sides[(slice(None), slice(None), *bits)] = counted[:, :, columns]
            else:
                sides[(slice(None), slice(None), *bits)] = self._counts[chosen][:, :, columns + shift]
        for axis in range(2, 2 + k):
            false, true = (tuple([slice(None)] * axis + [side]) for side in (0, 1))
            sides[false] -= sides[true]
        return sides

    def _deeper(self, r: int, k: int) -> Array:
        """Z(A, r) for all sets of k tests."""
        sets = subsets(self.n_tests, k)
        step = max(1, (BLOCK * 8) // (self.n_tests << k))
        worth = np.empty((len(sets), *(2,) * k))
        for low in range(0, len(sets), step):
            some = slice(low, low + step)
            splits = self._worth.over_tests(self._below(sets[some], r), axis=1)
            worth[some] = self._worth.either(self._leaf[k][some], splits)
        return worth

    def _below(self, sets: npt.NDArray[np.intp], r: int) -> Array:
        """(sets, tests, 2, ..., 2): the worth of both branches of each test together, with trees of depth r - 1."""
        m, (n, k) = self.n_tests, sets.shape
        below = np.empty((n, m, *(2,) * k))
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
            below[which[here], tests[here]] = both.take(0, place + 1) + both.take(1, place + 1)
        return below

"""Sums over the trees that keep to public limits (rules/limits.py), and the choices that lead to one of them.

A part is a set of tests, so which columns were used on the way to it is known, and with it which tests may follow: the others
have no weight there. With a monotone column, what is below two sides of a test is put together range by range (ranges.py).

A branch behind a test that was asked before is reached by no record, and is free of all limits: it is left out of the model
(``Tree.simplified``), has no range, and is worth a factor of 1 as ever.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ....rules.limits import Limits
from ....rules.numbered_tree import Fork, Leaf, NumberedTree
from ...counts.cells import Array
from ...noise.decisions import Choose
from ..deadline import Deadline
from .choosing import Choices, side_of
from .problem import Numbers, Part, Posed
from .ranges import Ranged, RangedSum, Ranges
from .subsets import numbers_of, subsets
from .sums import TreeSums
from .worth import Sum, Worth, sum_for, what_counts


class LimitedSums(TreeSums):
    """Tables of the worth of parts, of trees that keep to limits."""

    def __init__(
        self,
        problem: Posed,
        depth: int,
        worth: Worth,
        deadline: Deadline | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        assert problem.limits is not None
        self.limits: Limits = problem.limits
        super().__init__(problem, depth, worth, deadline, progress)

    def one_split(self, total: Array, inside: Array, k: int, place: slice) -> Array:
        """Of all ways to split a part once that may be."""
        sets, tests = subsets(self.n_tests, k)[place], np.arange(self.n_tests)
        inside = inside.astype(np.float64)
        first, second = self.worth.leaf(inside), self.worth.leaf(total[..., None] - inside)
        if not isinstance(self.worth, Ranged):
            below = first + second
        else:
            below = self.worth.joined(first, second, tests, self.worth.ranges.ways_of_leaves)
            whole = self.worth.leaf(total)
            for asked in sets.T:  # everything goes the same way
                below[..., np.arange(len(sets)), asked, :] = whole
        axis = below.ndim - 1 - len(self.worth.shape)
        allowed = self.limits.after_sets(sets) if k else self.limits.after_sets(sets)[0]
        below[..., ~allowed, *(slice(None) for _ in self.worth.shape)] = -np.inf
        return self.worth.over_tests(below, axis)

    def over_tests(self, below: Array, sets: Numbers) -> Array:
        """Of all tests that may be."""
        below[~self.limits.after_sets(sets)] = -np.inf
        return self.worth.over_tests(below, axis=1)

    def joined(self, true: Array, other: Array, tests: Numbers) -> Array:
        """Of both branches together, range by range if there are ranges."""
        if not isinstance(self.worth, Ranged):
            return super().joined(true, other, tests)
        rows = tests.reshape(-1, *(1,) * (true.ndim - 2))
        return self.worth.joined(true, other, rows, self.worth.ranges.ways)

    def of(self, part: Part, r: int) -> Array:
        """(ranges,): the worth of one part, with trees of depth r."""
        tests = sorted(part)
        number = int(numbers_of(np.array([tests], np.intp).reshape(1, -1), self.n_tests)[0])
        worths: Array = self.tables[r][len(part)][(number, *(int(part[test]) for test in tests))]
        return worths

    def branches(self, part: Part, r: int) -> tuple[Array, Array]:
        """(tests, ranges): what is below each side of each test, with trees of depth r - 1; of tests asked before, nothing."""
        new = np.array([test for test in range(self.n_tests) if test not in part], np.intp)
        tests = np.column_stack([np.tile(np.array(list(part), np.intp), (len(new), 1)), new])
        order = np.argsort(tests, axis=1)
        numbers = numbers_of(np.take_along_axis(tests, order, 1), self.n_tests)
        table, found = self.tables[r - 1][len(part) + 1], []
        for side in (1, 0):
            sides = np.tile(np.array([*part.values(), side], np.intp), (len(new), 1))
            worths = np.full((self.n_tests, *self.worth.shape), -np.inf)
            worths[new] = table[(numbers, *np.take_along_axis(sides, order, 1).T)]
            found.append(worths)
        return found[0], found[1]


class LimitedChoices(Choices):
    """From the worth of parts to a tree that uses no columns together which are forbidden."""

    def _below(self, part: Part | None, counts: Array, depth: int) -> Array:
        below = super()._below(part, counts, depth)
        if part is not None:
            below = np.where(allowed_after(self._problem, part), below, -np.inf)
        return below


class RangedChoices(Choices):
    """From the worth of parts by ranges to a tree. Which ranges two branches have is chosen together with the test above them.

    A tree has one range, and so has each of its branches: there is one way only to each tree.
    """

    def __init__(
        self,
        problem: Posed,
        worth: Ranged,
        sums: LimitedSums | None,
        choose: Choose,
        order: Numbers | None = None,
        turned: npt.NDArray[np.bool_] | None = None,
        free: Worth | None = None,
    ) -> None:
        """``free``: the worth of branches that no record reaches."""
        super().__init__(problem, worth, sums, choose, order, turned)
        assert problem.limits is not None
        self._by_range, self._tables = worth, sums
        self._free = Choices(problem, free or sum_for(problem), sums, choose, order, turned)
        self._ranges = Ranges(problem.limits.turned(np.arange(problem.n_tests), self._turned))  # as tests were given

    def tree(self, part: Part | None, depth: int, among: int | None = None) -> NumberedTree:
        """The tree of a part: of one range, or of any if that is None."""
        if part is None:
            return self._free.tree(None, depth)
        of_one = self._ranges.of_one
        ranks = [rank for rank in self._ranges.possible if among in (None, of_one[rank])]
        leaves = self._by_range.leaf(self._by_range.channels(self._problem.class_counts(part)))
        logs = leaves[[of_one[rank] for rank in ranks]]
        if not depth or self._tables is None:
            return self._leaf(ranks[self._choose(logs) if len(ranks) > 1 else 0])
        forks, ways = self._forks(part, depth, leaves, among)
        place = self._choose(np.append(forks.ravel(), self._by_range.stopped(logs)))
        if place >= forks.size:
            return self._leaf(ranks[place - forks.size])
        way, number = divmod(place, self._problem.n_tests)
        test = int(self._as_given[number])
        first = not self._turned[test]
        one = self.tree(side_of(part, test, first), depth - 1, ways[way][0])
        other = self.tree(side_of(part, test, not first), depth - 1, ways[way][1])
        return Fork(test, *((one, other) if first else (other, one)))

    def _leaf(self, rank: int) -> Leaf:
        return Leaf(self._ranges.labels[rank])

    def _forks(self, part: Part, depth: int, leaves: Array, among: int | None) -> tuple[Array, list[tuple[int, int]]]:
        """(ways, tests): what can be chosen beside a leaf, tests as they were given; and the ranges of both sides, by way."""
        assert self._tables is not None
        if depth > 1:
            (true, other), same = self._tables.branches(part, depth), self._tables.of(part, depth - 1)
        else:
            inside = self._problem.inside(part, self._by_range)
            total = self._by_range.channels(self._problem.class_counts(part))
            true, other, same = self._by_range.leaf(inside), self._by_range.leaf(total[:, None] - inside), leaves
        true, other = (np.where(self._turned[:, None], b, a) for a, b in ((true, other), (other, true)))
        again = np.isin(np.arange(self._problem.n_tests), list(part))
        rows, ways = [], []
        for way in self._ranges.ways:
            if among in (None, way.both):
                both = true[:, way.true] + other[:, way.other]
                rows.append(np.where(way.allowed & ~again, both, -np.inf))
                ways.append((way.true, way.other))
        for place in range(len(self._ranges.pairs)) if len(part) else ():
            if among in (None, place):  # asked again: everything goes the same way, and the rest is free
                rows.append(np.where(again, same[place], -np.inf))
                ways.append((place, place))
        below = np.where(allowed_after(self._problem, part), np.array(rows), -np.inf)
        return self._by_range.forked(below)[:, self._as_given], ways


def allowed_after(problem: Posed, part: Part) -> npt.NDArray[np.bool_]:
    """Which tests may follow in a part."""
    assert problem.limits is not None
    (allowed,) = problem.limits.after_sets(np.array([list(part)], np.intp).reshape(1, -1))
    return np.asarray(allowed, bool)


def sums_for(
    problem: Posed, depth: int, worth: Worth, deadline: Deadline | None, progress: Callable[[int], None]
) -> TreeSums | None:
    """All trees that can be drawn, added up; None if there is nothing but leaves."""
    if not depth or not problem.n_tests:
        return None
    kind = TreeSums if problem.limits is None else LimitedSums
    return kind(problem, depth, worth, deadline, progress)


def choices_for(
    problem: Posed,
    worth: Worth,
    sums: TreeSums | None,
    choose: Choose,
    order: Numbers | None = None,
    turned: npt.NDArray[np.bool_] | None = None,
    free: Worth | None = None,
) -> Choices:
    """From what was added up to a tree. ``free``: the worth of what no record reaches, if not that of a sum."""
    if problem.limits is None:
        return Choices(problem, worth, sums, choose, order, turned)
    if not isinstance(worth, Ranged):
        return LimitedChoices(problem, worth, sums, choose, order, turned)
    assert sums is None or isinstance(sums, LimitedSums)
    return RangedChoices(problem, worth, sums, choose, order, turned, free)


def sum_of(problem: Posed) -> Sum:
    """How all trees that can be drawn are added up."""
    if problem.limits is None or not problem.limits.are_about_labels:
        return sum_for(problem)
    return RangedSum(*what_counts(problem)).by(problem.limits)


def worth_of_all(problem: Posed, worth: Worth, sums: TreeSums | None) -> float:
    """The worth of all trees together."""
    worths = worth.leaf(worth.channels(problem.total())) if sums is None else sums.tables[sums.depth][0][0]
    return worth.whole(worths) if isinstance(worth, Ranged) else float(worths)

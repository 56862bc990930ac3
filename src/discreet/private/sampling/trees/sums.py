"""Weights of all trees up to a depth together, for every part of the records that a path can lead to; and from them to a tree.

    Z(A, 0) = leaf(A)
    Z(A, r) = (1 - split) Z(A, 0)  +  split * sum over tests j of w_j * Z(A and j, r - 1) * Z(A and not j, r - 1)

A part A is a *set* of tests with a side each, in whatever order they were asked; a tree of depth d needs Z(A, r) for all sets of
up to d - r tests. Nearly all of the work is Z(A, 1) for the sets of d - 1 tests, which needs counts of sets of d tests.

A test that was asked before splits a part into itself and an empty part, which has the weight 1. So the sum over j is over all
tests, without special cases where counts are at hand (problems.py).

``tables[r][k]`` has the logarithm of Z for every set of k tests: an axis of sets in lexicographic order, then an axis of two
sides (0: not true, 1: true) for each test of the set. Trees that keep to limits have less to choose from: ranges.py.
"""

from collections.abc import Callable
from math import comb

import numpy as np

from ....rules.candidates import NumberedFork, NumberedLeaf, NumberedTree
from ...counts.patterns import Array
from ...counts.secret import Secret
from ...noise.decisions import Choose
from .log_weights import ACCURACY, Flags, Numbers, Part, SumProduct
from .problems import BLOCK, DrawProblem, numbers_of, subsets


class TreeSums(Secret):
    """Tables of log weights of parts, for trees up to ``depth``; without tests, a tree is a leaf."""

    def __init__(self, problem: DrawProblem, depth: int, log_weights: SumProduct, seen: Callable[[], None]) -> None:
        """``seen`` is called as the work goes on: it may show progress, or give up."""
        self.depth, self.n_tests, self.log_weights = depth if problem.n_tests else 0, problem.n_tests, log_weights
        self.leaf, self.one = (
            [np.empty((comb(self.n_tests, k), *(2,) * k, *log_weights.shape)) for k in range(max(1, self.depth))]
            for _ in range(2)
        )
        self.leaf[0][0] = log_weights.leaf(log_weights.channels(problem.class_counts({})))
        for k, place, counted in problem.parts(log_weights).up_to(self.depth, seen) if self.depth else ():
            total = counted[..., -1].astype(np.float64)
            leaf = log_weights.leaf(total)
            one = log_weights.either(leaf, self.one_split(total, counted[..., :-1], k, place))
            self.leaf[k][place], self.one[k][place] = (np.moveaxis(logs, k, 0) for logs in (leaf, one))
        self.tables = [self.leaf, self.one][: self.depth + 1]
        for r in range(2, self.depth + 1):
            self.tables.append([self._deeper(r, k) for k in range(self.depth - r + 1)])

    @property
    def log_whole(self) -> float:
        """The log weight of all trees together."""
        return self.log_weights.whole(self.tables[self.depth][0][0])

    def branches(self, part: Part, r: int) -> tuple[Array, Array]:
        """Log weights of both sides of each test in a part, with trees of depth r there.

        For a test that was asked before, those of the part itself and of an empty part.
        """
        n, asked = self.n_tests, np.array(sorted(part), np.intp)
        new = np.setdiff1d(np.arange(n), asked)
        sets = np.sort(np.column_stack([np.tile(asked, (len(new), 1)), new]), axis=1)
        side, found = np.zeros(n, np.intp), np.zeros((2, n, *self.log_weights.shape))
        side[asked] = [part[test] for test in asked.tolist()]
        found[side[asked], asked] = self.tables[r][len(asked)][(*numbers_of(asked[None], n), *side[asked])]
        for way in (0, 1):
            side[new] = way
            found[way, new] = self.tables[r][len(asked) + 1][(numbers_of(sets, n), *side[sets].T)]
        return found[1], found[0]

    def one_split(self, total: Array, inside: Array, k: int, place: slice) -> Array:
        """Of all ways to split a part once, for some sets of k tests: those at this place."""
        return self.log_weights.one_split(total, inside)

    def allowed(self, part: Part, logs: Array) -> Array:
        """Log weights of the tests that may follow, in the last axis: all of them, unless there are limits (ranges.py)."""
        return logs

    def over_tests(self, below: Array, sets: Numbers) -> Array:
        """Of all tests that may follow each of these sets, given what is below each of them: in the second axis."""
        return self.log_weights.over_tests(below, axis=1)

    def _deeper(self, r: int, k: int) -> Array:
        """Z(A, r) for all sets of k tests."""
        sets = subsets(self.n_tests, k)
        step = max(1, BLOCK // (self.n_tests << k))
        log_weight = np.empty((len(sets), *(2,) * k, *self.log_weights.shape))
        for low in range(0, len(sets), step):
            some = slice(low, low + step)
            splits = self.over_tests(self._below(sets[some], r), sets[some])
            log_weight[some] = self.log_weights.either(self.leaf[k][some], splits)
        return log_weight

    def _below(self, sets: Numbers, r: int) -> Array:
        """(sets, tests, 2, ..., 2): log weights of both branches of each test together, with trees of depth r - 1."""
        m, (n, k) = self.n_tests, sets.shape
        below = np.empty((n, m, *(2,) * k, *self.log_weights.shape))
        rows = np.arange(n)[:, None]
        asked = np.zeros((n, m), bool)
        asked[rows, sets] = True
        same = self.tables[r - 1][k][numbers_of(sets, m)]
        for place in range(k):  # asked again: everything goes the same way, and the rest is empty
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
            rows = tests[here].reshape(-1, *(1,) * (true.ndim - 1 - len(self.log_weights.shape)))
            below[which[here], tests[here]] = self.log_weights.joined(true, other, rows)
        return below


class TreeChoices(Secret):
    """From log weights of parts to a tree: from the root down, each choice by the weight of all trees below it.

    Choices are made in the ``order`` of the tests that were given, and with the branch first where such a test is true: so the
    same random numbers lead to the same tree, whatever was flipped. The tree has the tests that were given.
    """

    def __init__(self, problem: DrawProblem, sums: TreeSums, order: Numbers, flipped: Flags, choose: Choose) -> None:
        self._problem, self._sums, self._order, self._flipped, self._choose = problem, sums, order, flipped, choose
        self._as_given = np.argsort(order, kind="stable")

    def tree(self, part: Part | None, depth: int) -> NumberedTree:
        """The tree of a part; None is the empty one, on the other side of a test that was asked before."""
        if depth:
            log_weights = self._sums.log_weights
            below, leaf = np.zeros(self._problem.n_tests), np.zeros(())  # an empty part has the weight 1
            if part is not None:
                true, other = self.branches(part, depth)
                below = self._sums.allowed(part, true + other)
                leaf = log_weights.leaf(log_weights.channels(self._problem.class_counts(part)))
            place = self._choose(np.append(log_weights.forked(below)[self._as_given], log_weights.stopped(leaf)))
            if place < self._problem.n_tests:
                return self.fork(part, depth, place)
        if self._problem.score != ACCURACY:
            return NumberedLeaf()
        return NumberedLeaf(self._choose(self._problem.rate * self._problem.class_counts(part)))

    def fork(self, part: Part | None, depth: int, place: int, *given: tuple[int, int]) -> NumberedFork:
        """A part that is split by the test at this place. Of what is ``given``, each side gets its own."""
        test = int(self._as_given[place])
        sides = enumerate((not self._flipped[test], bool(self._flipped[test])))
        both = (self.tree(side_of(part, test, side), depth - 1, *(own[i] for own in given)) for i, side in sides)
        return NumberedFork(int(self._order[test]), *both)

    def branches(self, part: Part, depth: int) -> tuple[Array, Array]:
        """Log weights of both sides of each test in a part."""
        if depth > 1:
            return self._sums.branches(part, depth - 1)
        log_weights = self._sums.log_weights
        inside, total = self._problem.inside(part, log_weights), log_weights.channels(self._problem.class_counts(part))
        return log_weights.leaf(inside), log_weights.leaf(total[:, None] - inside)


def side_of(part: Part | None, test: int, side: bool) -> Part | None:
    """What is on one side of a test in a part; None if that is empty because the test was asked before."""
    if part is None or part.get(test, side) != side:
        return None
    return {**part, test: side}

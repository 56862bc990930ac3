"""From the root down, each choice by what all trees below it are worth."""

import numpy as np
import numpy.typing as npt

from ....rules.numbered_tree import Fork, Leaf, NumberedTree
from ...counts.cells import Array
from ...counts.secret import Secret
from ...noise.decisions import Choose
from .problem import ACCURACY, Numbers, Part, Posed
from .sums import TreeSums
from .worth import Worth


class Choices(Secret):
    """From the worth of parts to a tree.

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
        turned: npt.NDArray[np.bool_] | None = None,
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
            return self._sums.below(part, depth)
        inside = self._problem.inside(part, self._worth)
        worth: Array = self._worth.leaf(inside) + self._worth.leaf(self._worth.channels(counts)[:, None] - inside)
        return worth


def side_of(part: Part | None, test: int, side: bool) -> Part | None:
    """What is on one side of a test in a part; None if that is empty because the test was asked before."""
    if part is None or part.get(test, side) != side:
        return None
    return {**part, test: side}

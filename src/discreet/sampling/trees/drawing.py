"""One tree in proportion to its weight, or the best one: from the root down, each choice by what all trees below it are worth."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ...cells.cells import Array
from ...cells.secret import Secret
from ...conditions.numbered_tree import Fork, Leaf, NumberedTree, leaves_of
from ...noise.entropy import Entropy
from ..law.choices import pick
from ..speed.deadline import Deadline
from .problem import ACCURACY, TreeProblem
from .sums import TreeSums
from .worth import Worth, best_for, sum_for

Part = Mapping[int, bool]  # tests, and on which side of each
Numbers = npt.NDArray[np.intp]


def no_progress(done: int) -> None:
    """Show nothing."""


def draw_tree(
    problem: TreeProblem,
    depth: int,
    entropy: Entropy,
    deadline: Deadline | None = None,
    progress: Callable[[int], None] = no_progress,
) -> NumberedTree:
    """A tree of at most this depth, in proportion to ``prior * exp(rate * score)``; with the score "mass" without labels.

    **Identity.** Z is a sum of products (sums.py). To draw one term of a sum in proportion to its size, and then within each of
    its factors in the same way, is to draw a tree in proportion to its weight: the probabilities multiply to weight / Z(root).
    """
    turned, order, was_turned = problem.turned()
    with np.errstate(all="ignore"):  # weights may underflow, and whether they do depends on the records
        worth = sum_for(turned)
        sums = TreeSums(turned, depth, worth, deadline, progress) if depth and turned.n_tests else None
        tree = _Choices(turned, worth, sums, lambda logs: pick(logs, float(entropy.uniform(1)[0]))).tree({}, depth)
    return _turned_back(tree, order, was_turned)


def best_tree(
    problem: TreeProblem,
    depth: int,
    deadline: Deadline | None = None,
    progress: Callable[[int], None] = no_progress,
) -> tuple[NumberedTree, float]:
    """The tree of the largest score, of those one with the fewest splits; and by the tables, the score that none exceeds.

    Scores of accuracy are whole numbers, and all splits of a tree together cost less than a record. Masses may differ by less
    than the price of a split; there the tree is the best one up to what all splits cost, and the bound allows for that.
    """
    turned, order, was_turned = problem.turned()
    whole = problem.score == ACCURACY
    price = 2.0 ** -(depth + 2) if whole else 1e-9
    worth = best_for(turned, price)
    sums = TreeSums(turned, depth, worth, deadline, progress) if depth and turned.n_tests else None
    choices = _Choices(turned, worth, sums, lambda logs: int(np.argmax(logs)))
    tree = choices.tree({}, depth)
    splits = sum(1 for _ in leaves_of(tree)) - 1 if whole else 2**depth - 1
    return _turned_back(tree, order, was_turned), choices.whole(depth) + worth.left_out(problem.counts) + splits * price


class _Choices(Secret):
    """From the worth of parts to a tree."""

    def __init__(
        self, problem: TreeProblem, worth: Worth, sums: TreeSums | None, choose: Callable[[Array], int]
    ) -> None:
        self._problem, self._worth, self._sums, self._choose = problem, worth, sums, choose

    def whole(self, depth: int) -> float:
        """The worth of all trees together."""
        if self._sums is None:
            return float(self._worth.leaf(self._worth.channels(self._problem.counts).sum(1)))
        return float(self._sums.tables[depth][0][0])

    def tree(self, part: Part | None, depth: int) -> NumberedTree:
        """The tree of a part; None is the empty one, on the other side of a test that was asked before."""
        cells = np.zeros(0, np.intp) if part is None else np.flatnonzero(self._problem.inside(part.items()))
        counts = self._problem.counts[:, cells].sum(1)
        if depth and self._sums is not None:
            leaf = self._worth.leaf(self._worth.channels(counts))
            logs = self._worth.weighed(self._below(part, cells, depth), float(leaf))
            test = self._choose(logs)
            if test < self._problem.n_tests:
                return Fork(test, *(self.tree(self._side(part, test, side), depth - 1) for side in (True, False)))
        if self._problem.score != ACCURACY:
            return Leaf()
        return Leaf(self._choose(self._problem.rate * counts))

    def _below(self, part: Part | None, cells: Numbers, depth: int) -> Array:
        assert self._sums is not None
        if part is None:
            return np.zeros(self._problem.n_tests)
        if depth > 1:
            return self._sums.below(part, depth)
        channels = self._worth.channels(self._problem.counts[:, cells])
        inside = channels @ self._problem.truth[:, cells].T
        worth: Array = self._worth.leaf(inside) + self._worth.leaf(channels.sum(1)[:, None] - inside)
        return worth

    def _side(self, part: Part | None, test: int, side: bool) -> Part | None:
        if part is None or part.get(test, side) != side:
            return None
        return {**part, test: side}


def _turned_back(tree: NumberedTree, order: Numbers, turned: npt.NDArray[np.bool_]) -> NumberedTree:
    """The tree with the tests that were given."""
    if isinstance(tree, Leaf):
        return tree
    true, other = _turned_back(tree.true, order, turned), _turned_back(tree.other, order, turned)
    return Fork(int(order[tree.test]), *((other, true) if turned[tree.test] else (true, other)))

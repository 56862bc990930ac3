"""The best tree, by the same sums with a maximum in place of each sum. It is for learners that promise nothing."""

from collections.abc import Callable

import numpy as np

from ....rules.numbered_tree import NumberedTree, leaves_of
from ...counts.cells import Array
from ..speed.deadline import Deadline
from .drawing import no_progress, turned_back
from .limited import choices_for, sums_for, worth_of_all
from .problem import ACCURACY, Posed
from .ranges import Ranged
from .worth import Worth, by_difference, leaf_mass, what_counts


def best_tree(
    problem: Posed,
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
    with np.errstate(invalid="ignore"):
        sums = sums_for(turned, depth, worth, deadline, progress)
        free = (TwoClassBest if by_difference(turned) else Best)(*what_counts(turned), price)
        tree = choices_for(turned, worth, sums, lambda logs: int(np.argmax(logs)), free=free).tree({}, depth)
    splits = sum(1 for _ in leaves_of(tree)) - 1 if whole else 2**depth - 1
    bound = worth_of_all(turned, worth, sums) + worth.left_out(problem.total()) + splits * price
    return turned_back(tree, order, was_turned), bound


class Best(Worth):
    """The best tree: its score, and of equally good trees the one with fewest splits. ``price`` of a split is below any gain."""

    def __init__(self, rate: float, tests: Array, split: float, accuracy: bool, price: float) -> None:
        super().__init__(rate, tests, split, accuracy)
        self._price = price

    def leaf(self, counts: Array) -> Array:
        """With the best label."""
        worth: Array = counts.max(0) if self.accuracy else -leaf_mass(counts)
        return worth

    def one_split(self, total: Array, inside: Array) -> Array:
        """The best of them."""
        inside = inside.astype(np.float64)
        best: Array = (self.leaf(inside) + self.leaf(total[..., None] - inside)).max(-1)
        return best

    def over_tests(self, worths: Array, axis: int) -> Array:
        """The best of them."""
        best: Array = worths.max(axis)
        return best

    def either(self, leaf: Array, splits: Array) -> Array:
        """A split must be worth its price."""
        best: Array = np.maximum(leaf, splits - self._price)
        return best

    def forked(self, below: Array) -> Array:
        """A split has its price."""
        return below - self._price

    def stopped(self, leaf: Array) -> Array:
        """A leaf has none."""
        return leaf


class TwoClassBest(Best):
    """The same for accuracy and two classes, by |x|, the difference of the class counts: |y| + |x - y| = max(|x|, |2 y - x|)."""

    def channels(self, counts: Array) -> Array:
        """The difference."""
        return counts[:1] - counts[1:]

    def left_out(self, counts: Array) -> float:
        """Half of all records."""
        return 0.5 * float(counts.sum())

    def leaf(self, counts: Array) -> Array:
        """|x| / 2."""
        worth: Array = 0.5 * np.abs(counts[0])
        return worth

    def one_split(self, total: Array, inside: Array) -> Array:
        """By the identity."""
        a = 2 * inside[0]
        a -= total[0].astype(a.dtype)[..., None]
        np.abs(a, out=a)
        best: Array = 0.5 * np.maximum(a.max(-1), np.abs(total[0]))
        return best


class RangedBest(Ranged, Best):
    """The best tree whose labels have a range: for each of them."""

    def of_label(self, counts: Array) -> Array:
        """How many records have it."""
        return counts

    def put_together(self, worths: Array) -> Array:
        """The best of them."""
        best: Array = worths.max(0)
        return best


def best_for(problem: Posed, price: float) -> Best:
    """The best tree."""
    if problem.limits is not None and problem.limits.are_about_labels:
        return RangedBest(*what_counts(problem), price).by(problem.limits)
    return (TwoClassBest if by_difference(problem) else Best)(*what_counts(problem), price)

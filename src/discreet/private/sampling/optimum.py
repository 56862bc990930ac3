"""The best list and the best tree, without noise: for learners without privacy. A private fit shows nothing of them.

**Lists**: branch and bound over sets of rules, level by level. What a prefix leaves depends on the set of its rules, not on their
order, so of all orders of a set only the best is kept. A set is given up if ``its score + what can follow (bounds.py)`` is not
above the best list found so far. When nothing is left, no list is better: that is the certificate.

**Trees, and lists that keep to limits**: by the same sums as a draw, with a maximum in place of each sum.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...rules.candidates import NumberedFork, NumberedLeaf, NumberedTree, leaves_of
from ...rules.prior import Prior
from ..counts.patterns import Array
from .bounds import Bounds, best_split
from .deadline import Deadline
from .limited_lists import LimitedListSums
from .list_sums import Numbers
from .problem import Problem, Sets, blocks
from .thresholds import climb, greedily
from .trees.log_weights import ACCURACY, Flags, SumProduct, leaf_mass
from .trees.problems import DrawProblem
from .trees.ranges import Ranged, kinds_for, sum_for


def best_list(problem: Problem, deadline: Deadline) -> tuple[list[int], float]:
    """The groups of a list with the largest score, of those one with fewest rules; and a bound on all that was given up."""
    best, ceiling = float(problem.counts.sum(1).max(initial=0.0)), -np.inf
    found: list[int] = []
    if problem.longest == 0:
        return [], best
    bounds = Bounds(problem, deadline)
    for groups in (_climb(problem, bounds, k, deadline) for k in range(1, problem.longest + 1)):
        if (score := _score(problem, groups)) > best:
            best, found = score, groups
    orders, scores = np.zeros((1, 0), np.int32), np.zeros(1)  # of each set the best, and what its parts score
    for t in range(problem.longest):
        s = problem.longest - t - 1
        pieces: list[tuple[Sets, Array]] = []
        for rows in blocks(len(orders)):
            deadline.check()
            sets = np.sort(orders[rows], axis=1)
            alive, used_up = problem.alive(sets), _used_up(problem, sets)
            captured = problem.captured(alive)
            score = scores[rows, None] + captured.max(0)
            stop = score + (problem.left(alive)[:, :, None] - captured).max(0)
            stop[used_up] = -np.inf
            top = float(stop.max(initial=-np.inf))
            if top > best or (top == best and t + 1 < len(found)):
                row, rule = divmod(int(stop.argmax()), problem.n_groups)
                best, found = top, [*orders[rows][row].tolist(), rule]
            if s:
                bound = score + bounds.after_next(sets, alive, s, captured)
                bound[used_up] = -np.inf
                keep = bound >= best if t + 2 < len(found) else bound > best
                ceiling = max(ceiling, float(bound[~keep].max(initial=-np.inf)))
                kept, rules = np.nonzero(keep)
                pieces.append((np.column_stack([orders[rows][kept], rules.astype(np.int32)]), score[kept, rules]))
        if not sum(len(longer) for longer, _ in pieces):
            break
        orders, scores = _best_orders(problem, *(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
    return found, ceiling


def _best_orders(problem: Problem, orders: Sets, scores: Array) -> tuple[Sets, Array]:
    """Of all orders of a set, the best one: sets in the order of their keys."""
    keys = np.zeros(len(orders), np.int64)
    for column in np.sort(orders, axis=1).T:
        keys = keys * problem.n_groups + column
    by_key = np.lexsort((-scores, keys))
    first = by_key[np.flatnonzero(np.diff(keys[by_key], prepend=-1))]
    return orders[first], scores[first]


def _used_up(problem: Problem, sets: Sets) -> npt.NDArray[np.bool_]:
    """(rows, groups): where all members of a group are in the set already."""
    return np.isneginf(problem.log_free(sets))


def _score(problem: Problem, groups: list[int]) -> float:
    return sum(float(problem.left(part).max()) for part in problem.parts_of(np.array([groups], np.intp)))


def _climb(problem: Problem, bounds: Bounds, length: int, deadline: Deadline) -> list[int]:
    """A good list of this many rules: greedily by the bound, then one rule exchanged at a time while that helps."""

    def bound_of(sets: Sets) -> Array:
        alive = problem.alive(sets)
        captured = problem.captured(alive)
        bound: Array = captured.max(0) + bounds.after_next(sets, alive, problem.longest - sets.shape[1] - 1, captured)
        bound[_used_up(problem, sets)] = -np.inf
        return bound

    first = greedily(np.zeros((1, 0), np.int32), length - 1, bound_of)
    groups: list[int] = climb(problem, first, partial(_with_best_last, problem), deadline)[0][0].tolist()
    last = [(_score(problem, [*groups, g]), -g) for g in range(problem.n_groups)]
    return [*groups, -max(last)[1]]


def _with_best_last(problem: Problem, lists: Sets) -> Array:
    """The score of each list with the best rule added at its end; -inf where a list uses a rule too often."""
    score, rows, parts = np.zeros(len(lists)), np.arange(len(lists)), problem.parts_of(lists)
    for i, groups in enumerate(lists.T):
        score += problem.left(next(parts)).max(0)
        score[_used_up(problem, lists[:, :i])[rows, groups]] = -np.inf
    score += best_split(problem, next(parts))
    return score


def best_tree(problem: DrawProblem, depth: int, seen: Callable[[], None] = lambda: None) -> tuple[NumberedTree, float]:
    """The tree of the largest score, of those one with the fewest splits; and by the tables, the score that none exceeds.

    Scores of accuracy are whole numbers, and all splits of a tree together cost less than a record. Masses may differ by less
    than the price of a split; there the tree is the best one up to what all splits cost, and the bound allows for that.
    """
    flipped, order, was_flipped = problem.flipped()
    whole = problem.score == ACCURACY
    price = 2.0 ** -(depth + 2) if whole else 1e-9
    kind, choices = kinds_for(flipped)
    with np.errstate(invalid="ignore"):
        sums = kind(flipped, depth, sum_for(flipped, (MaxProduct, MaxProduct, RangedMaxProduct), price), seen)
        as_they_are = np.arange(sums.n_tests), np.zeros(sums.n_tests, bool)
        tree = choices(flipped, sums, *as_they_are, lambda logs: int(np.argmax(logs))).tree({}, sums.depth)
    splits = sum(1 for _ in leaves_of(tree)) - 1 if whole else 2**depth - 1
    return _flipped_back(tree, order, was_flipped), sums.log_whole + splits * price


def _flipped_back(tree: NumberedTree, order: Numbers, flipped: Flags) -> NumberedTree:
    """The tree with the tests that were given."""
    if isinstance(tree, NumberedLeaf):
        return tree
    true, other = _flipped_back(tree.true, order, flipped), _flipped_back(tree.other, order, flipped)
    return NumberedFork(int(order[tree.test]), *((other, true) if flipped[tree.test] else (true, other)))


class MaxProduct(SumProduct):
    """The best tree: its score, and of equally good trees the one with fewest splits. ``price`` of a split is below any gain."""

    def __init__(self, rate: float, tests: Array, split: float, accuracy: bool, price: float) -> None:
        super().__init__(rate, tests, split, accuracy)
        self.log_tests, self.log_split, self.log_stop = np.zeros(len(tests)), -price, 0.0

    def leaf(self, counts: Array) -> Array:
        """With the best label."""
        log_weight: Array = counts.max(0) if self.accuracy else -leaf_mass(counts)
        return log_weight

    def over_tests(self, logs: Array, axis: int) -> Array:
        """The best of them."""
        best: Array = logs.max(axis)
        return best

    def either(self, leaf: Array, splits: Array) -> Array:
        """A split must gain more than its price."""
        best: Array = np.maximum(leaf, self.log_split + splits)
        return best


class RangedMaxProduct(Ranged, MaxProduct):
    """The best tree whose labels have a range: for each of them."""

    def of_label(self, counts: Array) -> Array:
        """How many records have it."""
        return counts

    def put_together(self, logs: Array) -> Array:
        """The best of them."""
        best: Array = logs.max(0)
        return best


class BestLimitedList(LimitedListSums):
    """The list that classifies most records correctly, of those that keep to limits."""

    PRICE = 2.0**-4  # of a rule: all of them together cost less than a record

    def _log_weights_by(self, rate: float, weights: Array, order: Numbers) -> Any:
        return RangedMaxProduct(rate, np.ones(len(weights)), 0.5, True, 0.0).by(self._limits_of(order))

    def _lengths_by(self, prior: Prior, weights: Array) -> Array:
        return -self.PRICE * np.arange(float(len(super()._lengths_by(prior, weights))))

    def found(self) -> tuple[list[int], list[int], float]:
        """Rules, labels, and how many records no list classifies correctly more of."""
        rules, labels = self.draw_by(lambda logs: int(np.argmax(logs)))
        return rules, labels, max(float(logs.max()) for logs in self._logs) + self.PRICE * len(rules)

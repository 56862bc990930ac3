"""Trees and lists that keep to public limits (rules/limits.py): which tests may follow, and log weights of trees by the *range*
of their labels, from the lowest to the highest rank, which monotonic columns need.

Whether two branches may stand side by side under a test about a monotonic column depends only on their lowest and highest
labels. So a part has a log weight for each range, in a last axis, and two branches are combined range by range. For two classes
there are three ranges: all of the first, all of the second, both.

No record reaches a branch behind a test that was asked before, and limits do not apply to it: it is left out of the model
(``Tree.simplified``), has no range, and has the weight 1.

Every sum here has positive terms only; nothing is subtracted.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np

from ....rules.candidates import NumberedLeaf, NumberedTree
from ....rules.limits import Flags, Limits
from ...counts.patterns import Array
from .log_weights import ACCURACY, SMALLEST, Numbers, Part, SumProduct, TwoClassSumProduct
from .problems import DrawProblem, subsets
from .sums import TreeChoices, TreeSums


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


class Ranged(SumProduct):
    """Log weights by ranges, for sums and for maxima."""

    ranges: Ranges

    def by(self, limits: Limits) -> Self:
        """With the ranges that limits are about."""
        self.ranges = Ranges(limits)
        self.shape, self.more_choices = (len(self.ranges.pairs),), len(self.ranges.ways) + len(self.ranges.pairs)
        return self

    @abstractmethod
    def of_label(self, counts: Array) -> Array:
        """Log weights of leaves, by their label in the first axis."""

    @abstractmethod
    def put_together(self, logs: Array) -> Array:
        """Of several kinds of trees, along the first axis."""

    def channels(self, counts: Array) -> Array:
        """The classes by their ranks."""
        return counts[list(self.ranges.labels)]

    def leaf(self, counts: Array) -> Array:
        """Of each single label that may be given; no leaf has two."""
        logs = self.of_label(counts)
        found = np.full((*logs.shape[1:], *self.shape), -np.inf)
        for rank in self.ranges.possible:
            found[..., self.ranges.of_one[rank]] = logs[rank]
        return found

    def joined(self, true: Array, other: Array, tests: Numbers, leaves: bool = False) -> Array:
        """Range by range."""
        return self.joined_by(self.ranges.ways_of_leaves if leaves else self.ranges.ways, true, other, tests)

    def joined_by(self, ways: Sequence[Way], true: Array, other: Array, tests: Numbers) -> Array:
        """By these ways only."""
        terms: dict[int, list[Array]] = {}
        for way in ways:
            both = true[..., way.true] + other[..., way.other]
            terms.setdefault(way.both, []).append(np.where(way.allowed[tests], both, -np.inf))
        found = np.full((*next(iter(terms.values()))[0].shape, *self.shape), -np.inf)
        for place, logs in terms.items():
            found[..., place] = logs[0] if len(logs) == 1 else self.put_together(np.stack(logs))
        return found

    def whole(self, logs: Array) -> float:
        """Of all ranges together."""
        return float(self.put_together(logs))


class RangedSumProduct(Ranged, SumProduct):
    """The sum over all trees whose labels have a range: for each of them."""

    def error(self, counts: Array) -> float:
        """Four times as much: there is one kind of sums more, and they begin deeper (docs/theory/rounding.md, Theorem 28a)."""
        return 4.0 * super().error(counts)

    def of_label(self, counts: Array) -> Array:
        """All labels are alike in the prior."""
        logs: Array = self.rate * counts - math.log(len(counts))
        return logs

    def put_together(self, logs: Array) -> Array:
        """The logarithm of the sum of exponentials; -inf where there is nothing else."""
        top = logs.max(0)
        there = np.isfinite(top)
        exponents = np.maximum(logs - np.where(there, top, 0.0), SMALLEST)
        total: Array = np.where(there, top + np.log(np.exp(exponents).sum(0)), -np.inf)
        return total

    def over_tests(self, logs: Array, axis: int) -> Array:
        """By the prior of tests."""
        shape = [1] * logs.ndim
        shape[axis] = -1
        return self.put_together(np.moveaxis(logs + self.log_tests.reshape(shape), axis, 0))


class LimitedSums(TreeSums):
    """The same of trees that keep to limits.

    Since a part is a set of tests, it is known which columns were used on the way to it, and with them which tests may follow:
    the others have no weight there.
    """

    def __init__(self, problem: DrawProblem, *given: Any) -> None:
        assert problem.limits is not None
        self._limits = problem.limits
        super().__init__(problem, *given)

    def one_split(self, total: Array, inside: Array, k: int, place: slice) -> Array:
        """Of those that may be."""
        log_weights, inside = self.log_weights, inside.astype(np.float64)
        sets, tests = subsets(self.n_tests, k)[place], np.arange(self.n_tests)
        below = log_weights.joined(
            log_weights.leaf(inside), log_weights.leaf(total[..., None] - inside), tests, leaves=True
        )
        if log_weights.shape:
            whole = log_weights.leaf(total)
            for asked in sets.T:  # everything goes the same way
                below[..., np.arange(len(sets)), asked, :] = whole
        axis = below.ndim - 1 - len(log_weights.shape)
        forbidden: Any = ~self._limits.after_sets(sets)
        below[..., forbidden, *(slice(None) for _ in log_weights.shape)] = -np.inf
        return log_weights.over_tests(below, axis)

    def allowed(self, part: Part, logs: Array) -> Array:
        """Of those that may follow."""
        return np.where(self._limits.after_sets(np.array(list(part), np.intp)), logs, -np.inf)

    def over_tests(self, below: Array, sets: Numbers) -> Array:
        """Of those that may follow."""
        below[~self._limits.after_sets(sets)] = -np.inf
        return super().over_tests(below, sets)


class RangedChoices(TreeChoices):
    """From log weights by ranges to a tree. Which ranges two branches have is chosen together with the test above them.

    A tree has one range, and so has each of its branches: there is one way only to each tree.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        assert self._problem.limits is not None
        assert isinstance(self._sums.log_weights, Ranged)
        self._log_weights = self._sums.log_weights
        # as tests were given
        self._ranges = Ranges(self._problem.limits.flipped(np.arange(self._problem.n_tests), self._flipped))

    def tree(self, part: Part | None, depth: int, among: int | None = None) -> NumberedTree:
        """The tree of a part: of one range, or of any if that is None. What no record reaches is free."""
        if part is None:
            return super().tree(None, depth)
        of_one = self._ranges.of_one
        ranks = [rank for rank in self._ranges.possible if among in (None, of_one[rank])]
        leaves = self._log_weights.leaf(self._log_weights.channels(self._problem.class_counts(part)))
        logs = leaves[[of_one[rank] for rank in ranks]]
        if not depth:
            place = self._choose(logs) if len(ranks) > 1 else 0
        else:
            forks, ways = self._forks(part, depth, among)
            place = self._choose(np.append(forks.ravel(), self._log_weights.stopped(logs)))
            if place < forks.size:
                way, number = divmod(place, self._problem.n_tests)
                return self.fork(part, depth, number, ways[way])
            place -= forks.size
        return NumberedLeaf(self._ranges.labels[ranks[place]])

    def _forks(self, part: Part, depth: int, among: int | None) -> tuple[Array, list[tuple[int, int]]]:
        """(ways, tests): what can be chosen beside a leaf, tests as they were given; and the ranges of both sides, by way."""
        sides = self.branches(part, depth)
        same = next((sides[not side][test] for test, side in part.items()), ())
        true, other = (np.where(self._flipped[:, None], b, a) for a, b in (sides, sides[::-1]))
        again = np.isin(np.arange(self._problem.n_tests), list(part))
        rows, ways = [], []
        for way in self._ranges.ways:
            if among in (None, way.both):
                both = true[:, way.true] + other[:, way.other]
                rows.append(np.where(way.allowed & ~again, both, -np.inf))
                ways.append((way.true, way.other))
        for place, log_weight in enumerate(same):
            if among in (None, place):  # asked again: everything goes the same way, and the rest is free
                rows.append(np.where(again, log_weight, -np.inf))
                ways.append((place, place))
        return self._log_weights.forked(self._sums.allowed(part, np.array(rows)))[:, self._as_given], ways


def kinds_for(problem: DrawProblem) -> tuple[type[TreeSums], type[TreeChoices]]:
    """How all trees that can be drawn are laid out, and drawn from."""
    if problem.limits is None:
        return TreeSums, TreeChoices
    return LimitedSums, RangedChoices if problem.limits.are_about_labels else TreeChoices


SUMS = SumProduct, TwoClassSumProduct, RangedSumProduct


def sum_for(problem: DrawProblem, kinds: tuple[Any, Any, Any] = SUMS, *more: float) -> Any:
    """How all trees that can be drawn become one number: by the third of these kinds where labels have ranges, by the second
    where the difference of two classes is all that counts, else by the first."""
    accuracy = problem.score == ACCURACY
    given = problem.rate, problem.prior.tests, problem.prior.split, accuracy, *more
    if problem.limits is not None and problem.limits.are_about_labels:
        return kinds[2](*given).by(problem.limits)
    return kinds[accuracy and len(problem.class_counts({})) == 2](*given)

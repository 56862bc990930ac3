"""Doors without noise, for learners that promise nothing. What they answer is not private."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...rules.candidates import Candidates
from ...rules.column_parts import WHOLE, ColumnParts, Weights
from ...rules.limits import Limits
from ...rules.numbered_tree import Leaf, NumberedTree, Path, with_leaves
from ...rules.prior import Prior
from ...rules.tree_prior import TreePrior
from ..counts.cells import Array, Cells
from ..counts.counting import CellCounter
from ..counts.division import Division, column_numbers, divided_by
from ..counts.totals import ByTotal, totals_of, weighed
from ..counts.tuples import tuples_of
from ..mechanisms.impurity import mass, side_mass
from ..noise.entropy import Integers
from ..sampling.deadline import Deadline
from ..sampling.optimum import BestLimitedList, best_list, best_tree
from ..sampling.problem import make_problem, rules_on_cells
from ..sampling.trees.drawing import no_progress
from ..sampling.trees.on_cells import TreeProblem
from ..sampling.trees.worth import MASS

TOLERANCE = 1e-9  # of the number of records: masses this close count as equal


class ExactDoors:
    """The doors of a vault, open: the exact answers to what a learner may ask."""

    def __init__(self, cells: Cells, candidates: Candidates, min_support: float = 0.0) -> None:
        self._counter = CellCounter(cells, candidates)
        self._n_records = float(cells.counts.sum())
        self._min_support = math.floor(min_support * self._n_records) if min_support < 1 else min_support

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """Whether at least ``min_support`` records (if below 1: that share of them, rounded down) are left."""
        return bool(self._counter.left(prefix).sum() >= self._min_support)

    def select(self, prefix: Sequence[int]) -> int | None:
        """The candidate of lowest Gini impurity, or None if no candidate improves on adding no rule.

        Among equals it is the one that captures fewest records, then the earliest.
        """
        left, captured = self._counter.counts(prefix)
        tolerance = TOLERANCE * self._n_records
        size, split = captured.sum(0), mass(left, captured)
        split[size == 0] = np.inf
        best = split.min(initial=np.inf)
        if best >= side_mass(left) - 2 * tolerance:
            return None
        ties = np.flatnonzero(split <= best + tolerance)
        return int(ties[size[ties].argmin()])

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Class counts of what a rule captures after a prefix; without a rule, of all that is left."""
        return tuple(self._counter.part(prefix, rule).tolist())


class ExactCardDoors:
    """The doors to score cards, open (see ``CardDoors``)."""

    def __init__(self, cells: Cells, tests: Candidates, parts: Sequence[ColumnParts]) -> None:
        self._cells, self._tests, self._parts = cells, tests, tuple(parts)
        self._columns, self._division = tests.columns, Division()

    def grow(self, depth: int) -> NumberedTree:
        """The tree of least impurity mass."""
        tree, _ = find_best_tree(self._cells, self._tests, depth, MASS)
        if not isinstance(tree, Leaf):
            self._division = divided_by(tree, self._tests, column_numbers(self._columns, self._tests))
        return tree

    def choose(self, how_many: int) -> list[list[int]]:
        """The columns whose parts have the least impurity mass; of equals the first."""
        every = range(len(self._parts))
        masses = [[self._mass(i, leaf) for i in every] for leaf in range(self._division.n_parts)]
        return [sorted(every, key=own.__getitem__)[:how_many] for own in masses]

    def count(self, columns: Sequence[Sequence[int]], weights: Weights | None = None) -> list[list[Array]]:
        """Class counts by the parts of each column, or sums of weights, leaf by leaf."""
        if weights is None:
            return [[self._exact(i, leaf).astype(np.float64) for i in own] for leaf, own in enumerate(columns)]
        division = self._by_total(weights.cards, weights.limits, apart=True)
        counts = {i: totals_of(self._cells, self._columns, division, i) for own in columns for i in own}
        return [
            [self._parts[i].by_part(weighed(counts[i], weights, leaf)) / WHOLE for i in own]
            for leaf, own in enumerate(columns)
        ]

    def count_totals(self, cards: Sequence[tuple[float, Mapping[int, Array]]], limits: Sequence[float]) -> Integers:
        """Class counts by the range of the total."""
        return totals_of(self._cells, self._columns, self._by_total(cards, limits))

    def _by_total(
        self, cards: Sequence[tuple[float, Mapping[int, Array]]], limits: Sequence[float], apart: bool = False
    ) -> ByTotal:
        by_bin = [(s, {i: points[self._parts[i].part_of_bin] for i, points in card.items()}) for s, card in cards]
        return ByTotal.of(self._division.boxes, by_bin, limits, apart)

    def _mass(self, column: int, leaf: int) -> float:
        return float(side_mass(self._exact(column, leaf).astype(np.float64)).sum())

    def _exact(self, column: int, leaf: int) -> Integers:
        division = self._division if self._division.boxes else None
        counted = tuples_of(self._cells, self._columns, 1, division).of_column(column, leaf)
        return self._parts[column].by_part(counted.astype(np.int64))


class Optimum(NamedTuple):
    """How many records the best list classifies correctly, and what no list exceeds."""

    correct: float
    bound: float

    @property
    def gap(self) -> float:
        """0: the best possible minus what was found."""
        return self.bound - self.correct


class BestList(NamedTuple):
    """Rules, and labels and exact class counts with the default's last."""

    rules: list[int]
    labels: list[int]
    counts: list[tuple[float, ...]]
    optimum: Optimum


class BestScore(NamedTuple):
    """The score of the best tree, counted on the records, and what no tree exceeds."""

    score: float
    bound: float

    @property
    def gap(self) -> float:
        """0, but for rounding: the best possible minus what was found."""
        return self.bound - self.score


def find_best_tree(
    cells: Cells,
    tests: Candidates,
    depth: int,
    criterion: str,
    time_limit: float | None = None,
    progress: Callable[[int], None] = no_progress,
    limits: Limits | None = None,
) -> tuple[NumberedTree, BestScore]:
    """The tree of the largest score, of those that keep to limits, with its exact class counts."""
    truth, counts = rules_on_cells(cells, tests)
    prior = TreePrior(0.5, np.full(len(tests), 1.0 / len(tests)))
    problem = TreeProblem(truth, counts, prior, 1.0, criterion, limits)
    tree, bound = best_tree(problem, depth, Deadline(time_limit), progress)
    found = 0.0

    def counted(path: Path, leaf: Leaf) -> NumberedTree:
        nonlocal found
        own = counts[:, problem.cells_in(path)].sum(1)
        found += float(-side_mass(own) if leaf.label is None else own[leaf.label])
        return Leaf(int(own.argmax()) if leaf.label is None else leaf.label, tuple(own.tolist()))

    return with_leaves(tree, counted), BestScore(found, bound)


def find_optimum(
    cells: Cells,
    candidates: Candidates,
    max_rules: int,
    time_limit: float | None = None,
    limits: Limits | None = None,
) -> BestList:
    """The list of at most ``max_rules`` rules that classifies most records correctly, of those that keep to limits."""
    uniform = Prior((1.0,) * (max_rules + 1), np.ones(len(candidates)))
    if limits is not None:
        tuples = tuples_of(cells, candidates.columns, max(1, max_rules))
        every = np.ones(cells.n_classes)
        sums = BestLimitedList(tuples, candidates, uniform, every, 1.0, Deadline(time_limit), limits=limits)
        rules, labels, bound = sums.found()
        counted = [tuple(part.tolist()) for part in sums.parts_of(rules)]
        correct = float(sum(part[label] for part, label in zip(counted, labels, strict=True)))
        return BestList(rules, labels, counted, Optimum(correct, bound))
    truth, counts = rules_on_cells(cells, candidates)
    problem = make_problem(truth, counts, uniform, rate=1.0)
    groups, ceiling = best_list(problem, Deadline(time_limit))
    rules = []
    for group in groups:  # of rules that say the same of these records, the first that is not in the list yet
        rules.append(next(int(rule) for rule in problem.members[group] if rule not in rules))
    alive, parts = np.ones(truth.shape[1], bool), []
    for rule in rules:
        parts.append(alive & truth[rule])
        alive = alive & ~truth[rule]
    parts.append(alive)
    labels = [int(counts[:, part].sum(1).argmax()) for part in parts]
    correct = float(sum(counts[label, part].sum() for label, part in zip(labels, parts, strict=True)))
    bound = max(correct, ceiling + float(counts.min(0).sum()))  # what make_problem took off every list's score
    return BestList(rules, labels, [tuple(counts[:, part].sum(1).tolist()) for part in parts], Optimum(correct, bound))

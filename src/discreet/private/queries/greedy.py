"""Greedy rule lists and trees: one choice at a node after the other, by one mechanism, and class counts of what was made.

Each query is charged first, and then answered with noise. In a tree it is charged once for a whole level: a record is at one
node of a level, or at none (``counts/division.py`` ensures that for any nodes). So of two neighbouring tables all nodes but one
have the same records, and all of them cost what one costs (docs/theory/greedy.md, Theorem 21a). The reservation limits how many
rules or levels there are.
"""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...rules.candidates import Candidates, NumberedLeaf, NumberedTree, Path, leaves_of, with_leaves
from ..counts.counting import NodeCounts, counts_by_part
from ..counts.counts import Counts
from ..counts.division import column_numbers, in_boxes, path_as_box
from ..counts.patterns import Array
from ..mechanisms.base import GreedyBudget, GreedyMechanism
from ..mechanisms.impurity import mass, side_mass
from ..mechanisms.selector import Selector
from ..noise.entropy import Integers
from .base import Queries, as_row
from .list_parts import ListParts

TOLERANCE = 1e-9  # of the number of records: masses this close count as equal


class ChoiceQueries(Queries):
    """One choice at a node of a list or of a tree. The queries that inherit it charge for it.

    A ``min_support`` below 1 means that share of the records, and a ``delta`` of None means 1/n^2, as published: both then
    follow the private number n of records, and the fit's statement says so.
    """

    _noise: GreedyBudget

    def __init__(self, mechanism: GreedyMechanism, noise: GreedyBudget, candidates: int, all_records: Array) -> None:
        self._mechanism, self._noise, self._n_candidates = mechanism, noise, candidates
        self._records = float(all_records.sum())

    def _choose(self, node: NodeCounts) -> int:
        """The number of a candidate, or how many there are for no rule."""
        return self._selector.select(node, self._entropy)

    def _suffice(self, sizes: Integers, what: str) -> list[bool]:
        """Which numbers of records have, with noise, the minimum support and its margin: one charge for disjoint ones."""
        self._charge(self._noise.check_epsilon, what)
        threshold = self._noise.threshold(self._support)
        return [bool(noisy >= threshold) for noisy in self._noisy(sizes, self._noise.check_epsilon)]

    @cached_property
    def _support(self) -> int:
        given = self._noise.settings.min_support if self._mechanism.needs_support else 1
        return max(1, math.floor(given * self._records) if given < 1 else int(given))

    @cached_property
    def _selector(self) -> Selector:
        delta = float(self._noise.choice_delta)
        if self._mechanism.needs_delta and self._noise.settings.delta is None:
            delta *= 1.0 / max(self._records, 2.0) ** 2  # the budget was split for delta = 1
        return self._mechanism.selector(self._noise.choice_epsilon, delta, self._support, self._n_candidates)


class GreedyQueries(ChoiceQueries, ListParts):
    """The queries for a greedy list. A prefix is the rules chosen so far, by their candidate numbers."""

    def __init__(self, counts: Counts, candidates: Candidates, mechanism: GreedyMechanism, noise: GreedyBudget) -> None:
        self._counter, self._counts_together = counts.of_rules(candidates), mechanism.counts_together
        super().__init__(mechanism, noise, len(candidates), self._counter.left(()))

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """Whether the noisy number of records left reaches the minimum support and its margin. Without one nothing is charged."""
        if not self._mechanism.needs_support:
            return True
        return self._suffice(np.array([self._counter.left(prefix).sum()], np.int64), "support check")[0]

    def select(self, prefix: Sequence[int]) -> int | None:
        """A candidate that is not in the prefix yet, or None for no rule."""
        self._charge(self._noise.choice_epsilon, "choice of a rule", self._noise.choice_delta)
        node, remaining = self._counter.counts(prefix), np.arange(self._n_candidates)
        if prefix:
            remaining = np.delete(remaining, list(prefix))
            node = NodeCounts(node.left, node.captured[:, remaining])
        chosen = self._choose(node)
        return None if chosen == len(remaining) else int(remaining[chosen])

    def _part(self, prefix: Sequence[int], rule: int | None) -> Array:
        return self._counter.part(prefix, rule)


class ExactGreedyQueries(Queries):
    """The same without noise, for the paper's baseline GreedyRL: the best by Gini, of equals the one that captures fewest."""

    _noise = None

    def __init__(self, counts: Counts, candidates: Candidates, min_support: float = 0.0) -> None:
        self._counter = counts.of_rules(candidates)
        self._n_records = float(self._counter.left(()).sum())
        self._min_support = math.floor(min_support * self._n_records) if min_support < 1 else min_support

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """Whether at least ``min_support`` records (if below 1: that share of them, rounded down) are left."""
        return bool(self._counter.left(prefix).sum() >= self._min_support)

    def select(self, prefix: Sequence[int]) -> int | None:
        """The candidate of lowest Gini impurity, or None if no candidate improves on adding no rule."""
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


class GreedyTreeQueries(ChoiceQueries):
    """The queries for a greedy tree. A node is given by its path; ``tests`` are single literals."""

    def __init__(self, counts: Counts, tests: Candidates, mechanism: GreedyMechanism, noise: GreedyBudget) -> None:
        self._counts, self._tests, self._columns = counts, tests, tests.schema.used
        self._numbers = column_numbers(self._columns, tests)
        self._domains = [self._columns[column].domain for column in self._numbers]  # of each literal
        self._counted: dict[Path, NodeCounts] = {}
        super().__init__(mechanism, noise, len(tests), self._count([()])[0].left)

    def exceed(self, nodes: Sequence[Path]) -> list[bool]:
        """Which nodes have, with noise, the minimum support and its margin. Without a minimum support nothing is charged."""
        if not self._mechanism.needs_support:
            return [True] * len(nodes)
        sizes = np.array([node.left.sum() for node in self._count(nodes)], np.int64)
        return self._suffice(sizes, "support checks of a level")

    def select(self, nodes: Sequence[Path]) -> list[int | None]:
        """For each node a test that its path does not decide, or None for no split."""
        self._charge(self._noise.choice_epsilon, "choices of a level", self._noise.choice_delta)
        return [self._select(path, node) for path, node in zip(nodes, self._count(nodes), strict=True)]

    def count(self, tree: NumberedTree) -> NumberedTree:
        """The tree with noisy class counts of its leaves."""
        self._charge(self._noise.counts_epsilon, "class counts")
        exact = np.stack([node.left for node in self._count([path for path, _ in leaves_of(tree)])]).astype(np.int64)
        rows = iter(self._noisy(exact, self._noise.counts_epsilon))
        return with_leaves(tree, lambda _, leaf: NumberedLeaf(leaf.label, as_row(next(rows))))

    def _select(self, path: Path, node: NodeCounts) -> int | None:
        tests = self._undecided(path)
        chosen = self._choose(NodeCounts(node.left, node.captured[:, tests]))
        return None if chosen == len(tests) else tests[chosen]

    def _undecided(self, path: Path) -> list[int]:
        """The tests that may still be true or not at a node, by its path and the schema. No record is looked at."""
        box, kept = path_as_box(path, self._tests, self._numbers), []
        for test, literal in enumerate(self._tests.members[:, 0]):
            possible = self._domains[literal] & box.get(self._numbers[literal], True)
            true = self._tests.truths[literal] & possible
            if true.any() and not (true == possible).all():
                kept.append(test)
        return kept

    def _count(self, nodes: Sequence[Path]) -> list[NodeCounts]:
        """Exact counts of nodes of one division of the records. Those of the last one are kept: a level is asked about twice."""
        different = set(nodes)
        if len(different) == len(nodes) and self._counted.keys() >= different:
            return [self._counted[path] for path in nodes]
        # each record is given to one node, or to none; so of a node that is asked about twice, nothing is left the second time
        division = in_boxes([path_as_box(path, self._tests, self._numbers) for path in nodes])
        counted = counts_by_part(self._counts.joint(self._columns, 1, division), self._tests, self._numbers)
        self._counted = dict(zip(nodes, counted, strict=True))
        return counted

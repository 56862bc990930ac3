"""Score cards: a tree, columns, class counts by column, class counts by total.

Queries come in this order, for the leaves of the one tree that was drawn (or for all records, if none was): no record is in two
leaves, so one charge is enough for all of them. Each comes once, except the counts by column: columns may be counted one after
the other, each by what the card so far leaves to explain. Proof: private/mechanisms/score_cards.py.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates, NumberedLeaf, NumberedTree
from ...rules.column_parts import WHOLE, ColumnParts, Weights
from ...rules.prior import TreePrior
from ..counts.counts import Counts
from ..counts.division import Division, divided_by
from ..counts.marginals import MarginalTables
from ..counts.patterns import Array
from ..counts.totals import ByTotal, Cards, weighed
from ..mechanisms.impurity import side_mass
from ..mechanisms.mass import LARGEST, UNITS, side_units
from ..mechanisms.score_cards import CardBudget
from ..noise.discrete_laplace import release, scale_for
from ..noise.entropy import Entropy, Integers
from ..sampling.trees.log_weights import GINI
from .base import Queries
from .best import BestTreeQueries
from .trees import TreeQueries


class CardQueries(Queries):
    """What a score card is made of. ``parts`` are those of the columns of ``tests``; a tree of this ``depth`` comes first."""

    def __init__(
        self,
        counts: Counts,
        tests: Candidates,
        parts: Sequence[ColumnParts],
        noise: CardBudget | None,
        depth: int = 0,
        time_limit: float | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._counts, self._tests, self._parts, self._noise = counts, tests, tuple(parts), noise
        self._columns = tests.columns
        self._division: Division | None = None
        self._trees: TreeQueries | None = None
        if depth:
            prior, weights = TreePrior.of(None, 0.5, tests), np.ones(len(counts.classes))
            drawn = prior, weights, GINI, [depth], None, time_limit, progress
            if noise is None:
                self._trees = BestTreeQueries(counts, tests, *drawn)
            else:
                self._trees = TreeQueries(counts, tests, noise.of_tree, *drawn)
        self._left = ["tree", "columns", "counts", "totals"]  # what was not queried yet

    def prepare(self) -> Self:
        """Count by column, or weigh all trees: before anything is booked."""
        if self._trees is None:
            self._counts.joint(self._columns, 1)
        else:
            self._trees.prepare()
        return self

    def open(self, reservation: Reservation, entropy: Entropy) -> Self:
        """From now on, answers are charged to this reservation."""
        if self._trees is not None:
            self._trees.open(reservation, entropy)
        return super().open(reservation, entropy)

    def grow(self, depth: int) -> NumberedTree:
        """A tree, drawn by impurity mass. Later queries are about its leaves."""
        self._ask("tree")
        if self._trees is None:
            raise AssertionError("a tree was not prepared: this is a bug in the learner")
        if isinstance(self._trees, BestTreeQueries):
            tree, _ = self._trees.find_best(depth)
        else:
            tree = self._trees.grow(NumberedLeaf(), depth)
        if not isinstance(tree, NumberedLeaf):
            self._division = divided_by(tree, self._tests, self._columns)
        return tree

    def choose(self, how_many: int) -> list[list[int]]:
        """For each leaf, the numbers of the columns that divide its records best: likely those whose parts are purest."""
        self._ask("columns")
        for _ in range(0 if self.is_exact else how_many):
            self._charge(self._noise.choice_epsilon, "choice of a column")
        return [self._chosen(leaf, how_many) for leaf in range(self._marginals.n_parts)]

    def count(self, columns: Sequence[Sequence[int]], weights: Weights | None = None) -> list[list[Array]]:
        """For each leaf, noisy class counts by the parts of each of its columns: (classes, parts).

        With ``weights``, a record counts for as much as they say of its class and total, which is 1 at most.
        """
        self._ask("counts", again=True)
        if len(columns) != self._marginals.n_parts or any(len(set(own)) < len(own) for own in columns):
            raise AssertionError("columns of other leaves, or one of them twice: this is a bug in the learner")
        for _ in range(0 if self.is_exact else max(map(len, columns))):  # leaves share no record: charged for as one
            self._charge(self._noise.column_epsilon, "class counts of a column")
        if weights is None:
            whole, exact = 1, [[self._exact(i, leaf) for i in own] for leaf, own in enumerate(columns)]
        else:
            whole, exact = WHOLE, self._weighed(columns, weights)
        found: list[list[Array]] = []
        # not a comprehension of comprehensions, which would be two frames more on the way to a random bit
        for tables in exact:
            found.append([])
            for table in tables:
                found[-1].append(self._with_noise(table, whole))
        return found

    def count_totals(self, cards: Cards, limits: Sequence[float]) -> Integers:
        """Noisy class counts by the range that a record's total is in: (classes, ranges).

        A card is where to start, and by the numbers of columns the points of each of their parts; there is one for each leaf.
        """
        self._ask("totals")
        if not self.is_exact:
            self._charge(self._noise.counts_epsilon, "class counts by total")
        exact = self._counts.totals(self._columns, self._by_total(cards, limits))
        return exact if self.is_exact else self._noisy(exact, self._noise.counts_epsilon)

    def _ask(self, question: str, again: bool = False) -> None:
        """Queries come in order; some may be left out, and none comes twice unless it may come ``again``."""
        if question not in self._left:
            raise AssertionError("a query of a score card comes twice, or too late: this is a bug in the learner")
        self._left = self._left[self._left.index(question) + (not again) :]

    def _by_total(self, cards: Cards, limits: Sequence[float], apart: bool = False) -> ByTotal:
        by_bin = [(s, {i: points[self._parts[i].part_of_bin] for i, points in card.items()}) for s, card in cards]
        boxes, parts = () if self._division is None else self._division.boxes, len(cards) if apart else 1
        return ByTotal(boxes, 0, parts * (len(limits) + 1), by_bin, limits, apart)

    def _weighed(self, columns: Sequence[Sequence[int]], weights: Weights) -> list[list[Integers]]:
        """For each leaf, and each of its columns, sums of weights, which are integers: (classes, parts)."""
        division = self._by_total(weights.cards, weights.limits, apart=True)
        counts = {i: self._counts.totals(self._columns, division, i) for own in columns for i in own}
        return [
            [self._parts[i].by_part(weighed(counts[i], weights, leaf)) for i in own] for leaf, own in enumerate(columns)
        ]

    @cached_property
    def _marginals(self) -> MarginalTables:
        """Class counts by column, in each leaf of the tree if there is one."""
        return self._counts.joint(self._columns, 1, self._division)

    def _exact(self, column: int, leaf: int) -> Integers:
        return self._parts[column].by_part(self._marginals.of_column(column, leaf).astype(np.int64))

    def _chosen(self, leaf: int, how_many: int) -> list[int]:
        left = list(range(len(self._parts)))
        tables = [self._exact(column, leaf).astype(np.float64) for column in left]
        if self.is_exact:  # of equals the first
            return sorted(left, key=lambda column: float(side_mass(tables[column]).sum()))[:how_many]
        # each part rounded down and the sum cut off: one record more still adds 0 to 1 (private/mechanisms/mass.py)
        masses = np.array([min(sum(side_units(table).tolist()), LARGEST) for table in tables], np.int64)
        scale = scale_for(self._noise.choice_epsilon / UNITS)  # in units of 2^-20
        return [left.pop(self._entropy.permute_and_flip(masses[left], scale)) for _ in range(how_many)]

    def _with_noise(self, exact: Integers, whole: int = 1) -> Array:
        """With noise for sums that a record changes by ``whole`` at most, which stands for one record."""
        counts = exact.ravel()
        noisy = counts if self.is_exact else release(counts, self._noise.column_epsilon / whole, self._entropy)
        return np.asarray(noisy.reshape(exact.shape) / whole)

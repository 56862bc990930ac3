"""The doors to score cards: a tree, columns, class counts by column, class counts by total. Each charges before it answers.

Questions come in this order, and are about the leaves of the one tree that was drawn (or about all records, if none was): no
record is in two leaves, so one charge is enough for all of them. Each comes once, but for the counts by column: columns may be
counted one after the other, each by what the card so far leaves to explain. Proof: private/mechanisms/score_cards.py.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates
from ...rules.column_parts import WHOLE, ColumnParts, Weights
from ...rules.numbered_tree import Leaf, NumberedTree
from ...rules.tree_prior import TreePrior
from ...schema.columns import Column
from ..counts.cells import Array
from ..counts.division import Division, column_numbers, divided_by
from ..counts.secret import Secret
from ..counts.totals import ByTotal, TotalsInProgress, totals_of, weighed
from ..counts.tuples import Tuples
from ..mechanisms.mass import LARGEST, UNITS, side_units
from ..mechanisms.score_cards import CardBudget
from ..noise.discrete_laplace import release, scale_for
from ..noise.entropy import Entropy, Integers
from ..sampling.trees.worth import MASS
from .summed_doors import SummedTreeDoors
from .tuple_vault import TupleVault, joint_counts
from .vault import Vault


def counts_by_total(vault: Vault, columns: Sequence[Column], division: ByTotal, beside: int | None = None) -> Integers:
    """Records of each class by the range of their total of points, and by the bins of a column: (classes, ranges[, bins])."""
    if not isinstance(vault, TupleVault):
        return totals_of(vault._cells, columns, division, beside)
    filling = TotalsInProgress(columns, len(vault.classes), division, beside)
    vault._source.add_to(filling)
    return filling.finish()


class CardDoors(Secret):
    """What a score card is made of."""

    def __init__(
        self,
        vault: Vault,
        tests: Candidates,
        parts: Sequence[ColumnParts],
        budget: CardBudget,
        depth: int = 0,
        time_limit: float | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        """``parts`` are those of the columns of ``tests``; a tree of this ``depth`` comes first."""
        self._vault, self._tests, self._parts, self._budget = vault, tests, tuple(parts), budget
        self._columns = tests.columns
        self._division: Division | None = None
        self._trees: SummedTreeDoors | None = None
        if depth:
            prior = TreePrior.of(None, 0.5, tests)
            alike = np.ones(len(vault.classes))
            given = vault, tests, budget.of_tree, prior, alike, MASS, [depth]
            self._trees = SummedTreeDoors(*given, time_limit, progress)
        else:  # counted now, before anything is booked
            joint_counts(vault, self._columns, 1)
        self._counted: Tuples | None = None
        self._left = ["tree", "columns", "counts", "totals"]  # questions that were not asked yet

    def open(self, reservation: Reservation, entropy: Entropy) -> "CardDoors":
        """Whatever is asked from now on is charged to this reservation."""
        self._reservation, self._entropy = reservation, entropy
        if self._trees is not None:
            self._trees.open(reservation, entropy)
        return self

    def grow(self, depth: int) -> NumberedTree:
        """A whole tree, drawn by impurity mass. What is asked next is about its leaves."""
        self._ask("tree")
        if self._trees is None:
            raise AssertionError("a tree is asked for that was not prepared: this is a bug in the learner")
        tree = self._trees.grow(Leaf(), depth)
        if not isinstance(tree, Leaf):
            self._division = divided_by(tree, self._tests, column_numbers(self._columns, self._tests))
        return tree

    def choose(self, how_many: int) -> list[list[int]]:
        """For each leaf, the numbers of the columns that divide its records best: likely those whose parts are purest."""
        self._ask("columns")
        for _ in range(how_many):
            self._reservation.draw(self._budget.choice_epsilon, Fraction(0), "choice of a column")
        return [self._chosen(leaf, how_many) for leaf in range(self._tuples.n_parts)]

    def count(self, columns: Sequence[Sequence[int]], weights: Weights | None = None) -> list[list[Array]]:
        """For each leaf, noisy class counts by the parts of each of its columns: (classes, parts).

        With ``weights``, a record counts for as much as they say of its class and total, which is 1 at most.
        """
        self._ask("counts", again=True)
        if len(columns) != self._tuples.n_parts or any(len(set(own)) < len(own) for own in columns):
            raise AssertionError("columns of other leaves, or one of them twice: this is a bug in the learner")
        for _ in range(max(map(len, columns))):  # leaves share no record: they are charged for as one
            self._reservation.draw(self._budget.column_epsilon, Fraction(0), "class counts of a column")
        if weights is None:
            each = [[self._noisy(self._exact(column, leaf)) for column in own] for leaf, own in enumerate(columns)]
        else:
            each = [[self._noisy(table, WHOLE) for table in own] for own in self._weighed(columns, weights)]
        return each

    def count_totals(self, cards: Sequence[tuple[float, Mapping[int, Array]]], limits: Sequence[float]) -> Integers:
        """Noisy class counts by the range that a record's total is in: (classes, ranges).

        A card is where to start, and by the numbers of columns the points of each of their parts; there is one for each leaf.
        """
        self._ask("totals")
        self._reservation.draw(self._budget.counts_epsilon, Fraction(0), "class counts by total")
        exact = counts_by_total(self._vault, self._columns, self._by_total(cards, limits))
        return release(exact.ravel(), self._budget.counts_epsilon, self._entropy).reshape(exact.shape)

    def _ask(self, question: str, again: bool = False) -> None:
        """Questions come in order; some may be left out, and none comes twice but one that may come ``again``."""
        if question not in self._left:
            raise AssertionError("a question of a score card comes twice, or too late: this is a bug in the learner")
        self._left = self._left[self._left.index(question) + (not again) :]

    def _by_total(
        self, cards: Sequence[tuple[float, Mapping[int, Array]]], limits: Sequence[float], apart: bool = False
    ) -> ByTotal:
        by_bin = [(s, {i: points[self._parts[i].part_of_bin] for i, points in card.items()}) for s, card in cards]
        return ByTotal.of(() if self._division is None else self._division.boxes, by_bin, limits, apart)

    def _weighed(self, columns: Sequence[Sequence[int]], weights: Weights) -> list[list[Integers]]:
        """For each leaf, and each of its columns, sums of weights, which are integers: (classes, parts)."""
        division = self._by_total(weights.cards, weights.limits, apart=True)
        counts = {i: counts_by_total(self._vault, self._columns, division, i) for own in columns for i in own}
        return [
            [self._parts[i].by_part(weighed(counts[i], weights, leaf)) for i in own] for leaf, own in enumerate(columns)
        ]

    @property
    def _tuples(self) -> Tuples:
        """Class counts by column, in each leaf."""
        if self._counted is None:
            self._counted = joint_counts(self._vault, self._columns, 1, self._division)
        return self._counted

    def _exact(self, column: int, leaf: int) -> Integers:
        return self._parts[column].by_part(self._tuples.of_column(column, leaf).astype(np.int64))

    def _chosen(self, leaf: int, how_many: int) -> list[int]:
        # each part rounded down and the sum cut off: one record more still adds 0 to 1 (private/mechanisms/mass.py)
        units = [sum(side_units(self._exact(i, leaf).astype(np.float64)).tolist()) for i in range(len(self._parts))]
        masses = np.array([min(mass, LARGEST) for mass in units], np.int64)
        left = list(range(len(self._parts)))
        return [left.pop(self._entropy.permute_and_flip(masses[left], self._scale)) for _ in range(how_many)]

    @property
    def _scale(self) -> float:
        """Of a choice, in units of 2^-20."""
        return scale_for(self._budget.choice_epsilon / UNITS)

    def _noisy(self, exact: Integers, whole: int = 1) -> Array:
        """With noise for sums that a record changes by ``whole`` at most, which stands for one record."""
        noisy = release(exact.ravel(), self._budget.column_epsilon / whole, self._entropy)
        return noisy.reshape(exact.shape) / whole

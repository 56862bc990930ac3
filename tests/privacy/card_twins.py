"""Broken versions of the queries of score cards (private/queries/cards.py), and of what is computed from their answers."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from unittest.mock import patch

import numpy as np

from discreet.audit.explorer import explored
from discreet.audit.learners import Pair, Subject
from discreet.audit.subjects import CARDS
from discreet.estimators import card_learner as cards
from discreet.private.mechanisms.score_cards import CardBudget
from discreet.private.queries.cards import CardQueries

from .summed_twins import Free

ExploredCards = explored(CARDS)


class Broken(ExploredCards):
    """Queries that are of another class once they are prepared."""

    kind = CardQueries

    def explore(self, queries):
        super().explore(queries)
        if isinstance(queries, CardQueries):
            queries.__class__ = self.kind


class NoiseOfOneColumn(CardQueries):
    """A record is in one bin of each column, and the noise is that of a single one."""

    def _with_noise(self, exact, whole=1):
        of_all = replace(self._noise, column_epsilon=self._noise.column_epsilon * self._noise.columns)
        with patch.object(self, "_noise", of_all):
            return super()._with_noise(exact, whole)


class NoiseOfOneUnit(CardQueries):
    """A record changes a sum of weights by up to 64 units, and the noise is that of one."""

    def _with_noise(self, exact, whole=1):
        return super()._with_noise(exact) / whole


class CountsOneByOneForFree(CardQueries):
    """Columns after the first are taken for part of the same answer."""

    def count(self, columns, weights=None):
        if weights is None:
            return super().count(columns)
        with patch.object(self, "_reservation", Free()):
            return super().count(columns, weights)


class HeavyRecords(CardQueries):
    """A record may count for three."""

    def _weighed(self, columns, weights):
        return [[3 * table for table in own] for own in super()._weighed(columns, weights)]


class WeighsByRecords(CardQueries):
    """The card so far is moved by how many records there really are."""

    def _weighed(self, columns, weights):
        there = int(self._marginals.of_column(0).sum())
        moved = [(start - 1_000.0 * (there % 2), points) for start, points in weights.cards]
        return super()._weighed(columns, replace(weights, cards=moved))


class ChoosesForFree(CardQueries):
    def choose(self, how_many):
        with patch.object(self, "_reservation", Free()):
            return super().choose(how_many)


class LoudChoice(CardQueries):
    """Every choice as if it were the only one, and had all of epsilon."""

    def choose(self, how_many):
        with patch.object(self, "_noise", replace(self._noise, choice_epsilon=self._noise.epsilon)):
            charge = self._reservation.draw
            with patch.object(self._reservation, "draw", lambda *_: charge(Fraction(1, 100), Fraction(0), "")):
                return super().choose(how_many)


class PicksTheBest(CardQueries):
    """The column of least mass, without noise."""

    def _chosen(self, leaf, how_many):
        masses = [float(cards_mass(self._exact(i, leaf))) for i in range(len(self._parts))]
        return sorted(range(len(masses)), key=masses.__getitem__)[:how_many]


class LeavesShareRecords(CardQueries):
    """Class counts of all records in each leaf."""

    def _exact(self, column, leaf):
        return sum(super(LeavesShareRecords, self)._exact(column, i) for i in range(self._marginals.n_parts))


class TotalsForFree(CardQueries):
    def count_totals(self, cards, limits):
        with patch.object(self, "_reservation", Free()):
            return super().count_totals(cards, limits)


class QuietTotals(CardQueries):
    """Half the noise that is paid for."""

    def count_totals(self, cards, limits):
        noise = self._entropy.discrete_laplace
        with patch.object(self._entropy, "discrete_laplace", lambda values, scale: noise(values, scale / 2)):
            return super().count_totals(cards, limits)


class KeepsExactCounts(CardQueries):
    """Hands on the exact counts beside the noisy ones."""

    def count(self, columns, weights=None):
        noisy = super().count(columns, weights)
        self.exact = [[self._exact(column, leaf) for column in own] for leaf, own in enumerate(columns)]
        return noisy


class RunsOtherwise:
    """Plans that make something else of the answers."""

    def _plan(self, *public):
        plan = super()._plan(*public)
        vars(plan)["run"] = partial(self._run, plan.run)
        return plan


class SmoothsByExactCounts(RunsOtherwise, Broken):
    """Points from noisy counts, but shrunk by how many records there really are."""

    kind = KeepsExactCounts

    def _run(self, run, queries):
        learned = run(queries)
        there = sum(int(counts.sum()) for own in queries.exact for counts in own)
        shrunk = [(start * (1 + there), points) for start, points in learned.cards]
        return replace(learned, cards=shrunk)


class LimitsByRecords(RunsOtherwise, Broken):
    """Ranges of totals begin where the first record is."""

    kind = KeepsExactCounts

    def _run(self, run, queries):
        with patch.object(cards, "limits_between", lambda low, high: [float(queries.exact[0][0].sum())]):
            return run(queries)


def cards_mass(counts):
    size = np.maximum(counts.sum(0), 1)
    return (counts.sum(0) - (counts**2).sum(0) / size).sum() / 2


def twin_of(kind):
    return type(kind.__name__, (Broken,), {"kind": kind})


class ForgetsTheShareOfChoices(RunsOtherwise, ExploredCards):
    """The choices are paid with what the points have already."""

    def _plan(self, *public):
        split = CardBudget.split

        def without(epsilon, share, columns, chooses, tree):
            sound, whole = split(epsilon, share, columns, chooses, tree), split(epsilon, share, columns, False, tree)
            return replace(whole, choice_epsilon=sound.choice_epsilon, epsilon=2 * epsilon)

        with patch.object(CardBudget, "split", without):
            return super()._plan(*public)

    def _run(self, run, queries):
        spend = queries._reservation.draw  # half of it, so that nothing is refused
        with patch.object(queries._reservation, "draw", lambda e, d, what: spend(e / 2, d, what)):
            return run(queries)


def card_fit_twins(pairs):
    """name, the sound subject, its broken twin, pairs to try."""
    two = Subject("two columns", CARDS, {"epsilon": 1.0, "counts_share": 0.2})
    one = Subject("one of two", CARDS, {"epsilon": 1.0, "max_columns": 1, "counts_share": 0.2})
    after = Subject("one after the other", CARDS, {"epsilon": 1.0, "sequential": True, "counts_share": 0.2})
    tree = Subject("after a tree", CARDS, {"epsilon": 1.0, "tree_depth": 1, "counts_share": 0.2})
    some = pairs[::4]
    # many records that the first column tells apart, and the second all but
    apart = [Pair(np.array([[100, 0], [0, 0], [0, 0], [0, 100]]), place) for place in ((1, 0), (1, 1), (2, 0), (2, 1))]
    for name, sound, twin, tried in (
        ("score cards: noise of one column instead of all", two, twin_of(NoiseOfOneColumn), some),
        ("score cards: noise of one column instead of all, one by one", after, twin_of(NoiseOfOneColumn), some),
        ("score cards: noise of a unit of weight instead of a record", after, twin_of(NoiseOfOneUnit), some),
        ("score cards: columns after the first that are not charged", after, twin_of(CountsOneByOneForFree), some),
        ("score cards: records that count for three", after, twin_of(HeavyRecords), some),
        ("score cards: weights by exact counts", after, twin_of(WeighsByRecords), apart),
        ("score cards: a choice that is not charged", one, twin_of(ChoosesForFree), apart),
        ("score cards: each choice with all of epsilon", one, twin_of(LoudChoice), apart),
        ("score cards: the best column, without noise", one, twin_of(PicksTheBest), apart),
        ("score cards: choices beside a budget that is spent", one, ForgetsTheShareOfChoices, apart),
        ("score cards: counts of leaves that share records", tree, twin_of(LeavesShareRecords), some),
        ("score cards: counts by total that are not charged", two, twin_of(TotalsForFree), some),
        ("score cards: half the noise in counts by total", two, twin_of(QuietTotals), some),
        ("score cards: smoothing by exact counts", two, SmoothsByExactCounts, some),
        ("score cards: limits of totals from exact counts", two, LimitsByRecords, some),
    ):
        yield name, sound, replace(sound, explored=twin), tried

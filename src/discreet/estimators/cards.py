"""The classifiers whose model is a score card: points that add up to a risk, with privacy and without."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..accounting.ledger import exact
from ..models.partition import Answer, Points
from ..models.score_card import Card, PointsTable, ScoreCard
from ..private.counts.counts import Counts, Patterns
from ..private.mechanisms.registry import SCORE_CARDS
from ..private.mechanisms.score_cards import CardBudget
from ..private.noise.discrete_laplace import scale_for
from ..private.queries.cards import CardQueries
from ..rules.candidates import Candidates, leaves_of
from ..rules.column_parts import ColumnParts, parts_of
from ..rules.limits import Limits, check_monotonic_cst
from ..rules.rules import Condition, truth
from ..schema import Schema
from ..sources.plan import Needs
from .base import Exact, Tested
from .card_learner import LearnedCard, Wanted, reachable_parts, score_card
from .feasibility import check_trees
from .parameters import CARDS, DP_CARDS, GINI
from .plans import Asked, FitPlan, tree_steps
from .private import PrivateClassifier

MANY_COLUMNS = 20  # with more, some are chosen unless said otherwise: measured (docs/cards.md)
DECIMALS = {"integers": 0, "decimals": 2}


@dataclass(eq=False, repr=False, kw_only=True)
class Cards(Tested):
    """What classifiers have in common whose model is a score card."""

    max_columns: int | None = None
    points: str = "integers"
    monotonic_cst: Any = None
    tree_depth: int = 0
    sequential: bool | None = None

    _kept = "card_"

    def _parts(self, candidates: Candidates) -> list[ColumnParts]:
        return [parts_of(column) for column in candidates.columns]

    def _wanted(self, candidates: Candidates, columns: int, scale: float, totals_scale: float | None) -> Wanted:
        return Wanted(
            *(len(self.classes_), columns, int(self.tree_depth), DECIMALS[self.points], scale, totals_scale),
            *(candidates, self._parts(candidates), self._signs(candidates), self.sequential),
        )

    def _columns(self, candidates: Candidates) -> int:
        """How many columns give points."""
        there = len(candidates.columns)
        return there if self.max_columns is None else min(int(self.max_columns), there)

    def _signs(self, candidates: Candidates) -> list[int]:
        """Of each column whether points for the second class have to rise, or to fall."""
        signs = check_monotonic_cst(self.monotonic_cst)
        if signs and len(self.classes_) != 2:
            raise ValueError(
                f"monotonic_cst needs two classes: points that rise are for one class against another, and there are "
                f"{len(self.classes_)}. Leave it out"
            )
        limits = Limits.of(self.monotonic_cst, (), candidates, self.classes_.tolist())
        # the schema may list the classes the other way round
        rises = 1 if limits is None or limits.labels[0] == 0 else -1
        return [rises * signs.get(column.name, 0) for column in candidates.columns]

    def _set_model(self, candidates: Candidates, learned: LearnedCard) -> None:
        parts, classes = self._parts(candidates), self.classes_.tolist()
        ways = [_condition(path, candidates) for path, _ in leaves_of(learned.tree)]
        reached = reachable_parts(learned.tree, candidates, parts)
        cards = [
            Card(
                _as_points(start),
                tuple(_table(parts[i], points[i], inside[i], candidates.schema) for i in sorted(points)),
                way,
            )
            for way, (start, points), inside in zip(ways, learned.cards, reached, strict=True)
            if all(some.any() for some in inside)  # of a leaf that no record can reach nothing is said
        ]
        cards[-1] = replace(cards[-1], condition=())
        if len(classes) == 2:
            counts = [None] * len(learned.risks) if learned.counts is None else learned.counts.T.tolist()
            by_range = zip(learned.risks, counts, strict=True)
            answers = [Answer(classes[int(risk > 0.5)], own, (round(1 - risk, 3), risk)) for risk, own in by_range]
        else:
            answers = [Answer(label) for label in classes]
        self.card_ = ScoreCard(tuple(cards), tuple(learned.limits), tuple(answers), tuple(classes), candidates.schema)


def _condition(path: Sequence[tuple[int, bool]], tests: Candidates) -> Condition:
    """The tests that are true on the way to a leaf (rules/partition.py), each once."""
    return tuple(dict.fromkeys(tests[test].antecedent[0] for test, side in path if side))


def _as_points(given: Any) -> Points:
    """A number, or one for each class."""
    return tuple(np.asarray(given, float).tolist()) if np.ndim(given) else float(given)


def _table(parts: ColumnParts, points: np.ndarray, reached: np.ndarray, schema: Schema) -> PointsTable:
    """The points of a column's parts, without the rows that make no difference to any record that can be there."""
    after = np.full((*points.shape[:-1], len(parts.part_of_bin)), np.nan)  # by bin, what the rows from here on give
    rows: list[tuple[Condition, Points]] = []
    for number in reversed(range(len(parts))):
        here = parts.part_of_bin == number
        given, last = points[..., number], not rows
        if not last and (not reached[number] or (after[..., here] == given[..., None]).all()):
            continue
        if last and not reached[number]:
            continue  # the row before it becomes the last one
        condition = () if last else parts.conditions[number]
        true = np.ones(after.shape[-1], bool) if last else truth(schema, *condition)
        after[..., true] = given[..., None]
        rows.append((condition, _as_points(given)))
    return PointsTable(parts.column, tuple(reversed(rows)))


@dataclass(eq=False, repr=False, kw_only=True)
class DPScoreCardClassifier(Cards, PrivateClassifier):
    """A score card learned with differential privacy: points for each answer, which add up to a risk.

    Noisy class counts by column say how much each value speaks for a class; everything else is computed from them. It has more
    different scores than a list or a tree, so that records can be ranked, and needs the least of a table: counts by each column.

    Parameters
    ----------
    max_columns : int, default=None
        How many columns give points. If there are more, a third of epsilon (of what ``counts_share`` leaves) chooses them, and
        the noise in the points grows with this number instead of that of all columns. None: all of them, if there are up to 20;
        else 8 times the square root of epsilon (per record), and at least 4.
    points : {"integers", "decimals"}, default="integers"
        Whether points are integers (10 of them double the odds), or have two decimals.
    monotonic_cst : dict, default=None
        Public columns, numeric or Boolean, in which points for the schema's second class rise (+1) or fall (-1):
        ``{"priors_count": +1}``. It costs nothing. Not with ``tree_depth``, nor with more than two classes.
    tree_depth : int, default=0
        1 or 2: first a whole tree of this depth is drawn with a quarter of epsilon (of what ``counts_share`` leaves), then there
        is a card in each of its leaves. For tables where columns interact.
    sequential : bool, default=None
        Whether columns are counted one after the other, each by what the card so far leaves to explain: most of what
        dependent columns say in common is then counted once. It costs nothing of epsilon, but a pass over the records for each
        column. False: all at once, each as if it were the only one. None: one after the other, unless there is too much
        noise. With more than two classes they are always counted at once.
    counts_share : float, default=0.1
        The share of epsilon that buys noisy class counts of each range of totals, which the risks are fitted to. With 0, risks
        follow from the points alone: 10 of them double the odds. With more than two classes that is always so, and all of epsilon
        goes to the points.
    epsilon, schema, infer_schema, exclude, records_per_person, ledger, random_state
        As in ``DPGreedyRuleListClassifier``.
    time_limit, verbose
        As in ``DPOptimalRuleListClassifier``; they are about the tree.

    Attributes
    ----------
    card_ : ScoreCard
        The model, with noisy class counts for each range of totals.
    privacy_ : PrivacyStatement
        What it promises.
    classes_ : array
        The classes, in the order of ``predict_proba``. With two, points count towards the second; with more, each has its own.

    Examples
    --------
    >>> from discreet import DPScoreCardClassifier
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = DPScoreCardClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    >>> print(clf.privacy_.proved)
    epsilon = 1
    >>> clf.score(data.data, data.target) > 0.6
    True
    """

    _parameters = DP_CARDS

    counts_share: float = 0.1
    time_limit: float | None = None
    verbose: bool = False

    def _plan(self, asked: Asked) -> "CardPlan":
        candidates = asked.candidates
        columns, depth = self._columns(candidates), int(self.tree_depth)
        chooses = columns < len(candidates.columns)
        budget = CardBudget.split(self._terms.record_price, self._share_for_totals, columns, chooses, depth > 0)
        if depth:
            check_trees(len(candidates), [depth], len(self.classes_), "tree_depth", GINI)
        limits = Limits.of(self.monotonic_cst, (), candidates, self.classes_.tolist())
        totals_scale = scale_for(budget.counts_epsilon) if budget.counts_epsilon else None
        return CardPlan(
            **self._proved(asked, SCORE_CARDS, budget, limits),
            budget=budget,
            wanted=self._wanted(candidates, columns, scale_for(budget.column_epsilon), totals_scale),
            time_limit=self.time_limit,
        )

    def _columns(self, candidates: Candidates) -> int:
        there = super()._columns(candidates)
        if self.max_columns is not None or there <= MANY_COLUMNS:
            return there
        return min(there, max(4, round(8 * math.sqrt(float(self._terms.record_price)))))

    @property
    def _share_for_totals(self) -> Fraction:
        """With more than two classes no totals are counted."""
        return exact("counts_share", self.counts_share) if len(self.classes_) == 2 else Fraction(0)

    def _needs(self, candidates: Candidates) -> Needs:
        sequential = len(self.classes_) == 2 and self.sequential is not False  # maybe: the first column tells
        again = self._columns(candidates) - 1 if sequential else 0
        passes = 1 + (self.tree_depth > 0) + again + (self._share_for_totals > 0)
        return Needs(together=2 if self.tree_depth else 1, parts=1 << int(self.tree_depth), passes=passes)


@dataclass(frozen=True, kw_only=True)
class CardPlan(FitPlan):
    """A score card, or one in each leaf of a tree."""

    budget: CardBudget
    wanted: Wanted
    time_limit: float | None

    def queries(self, counts: Counts) -> CardQueries:
        """A tree, columns, and their class counts."""
        self.bar.begin(*tree_steps("drawing", len(self.candidates), (self.wanted.depth,)))
        given = self.wanted.parts, self.budget, self.wanted.depth, self.time_limit, self.bar.advance
        return CardQueries(counts, self.candidates, *given)

    def run(self, queries: CardQueries) -> LearnedCard:
        """From noisy counts to points and risks."""
        return score_card(queries, self.wanted)


@dataclass(eq=False, repr=False, kw_only=True)
class ScoreCardClassifier(Cards, Exact):
    """A score card without privacy: what the private one would be without noise.

    Parameters
    ----------
    max_columns, points, monotonic_cst, tree_depth, sequential
        As in ``DPScoreCardClassifier``.
    schema, exclude
        As in ``GreedyRuleListClassifier``.

    Attributes
    ----------
    card_ : ScoreCard
        The model, with the class counts of each range of totals.
    classes_ : array
        The classes, in the order of ``predict_proba``. With two, points count towards the second; with more, each has its own.

    Examples
    --------
    >>> from discreet import ScoreCardClassifier
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = ScoreCardClassifier(max_columns=3, schema=data.schema).fit(data.data, data.target)
    >>> clf.card_.columns
    ('juv_other_count', 'juv_count', 'priors_count')
    """

    _parameters = CARDS

    def _learn(self, candidates: Candidates, counts: Patterns) -> LearnedCard:
        queries = CardQueries(counts, candidates, self._parts(candidates), None, int(self.tree_depth)).prepare()
        return score_card(queries, self._wanted(candidates, self._columns(candidates), 0.0, 0.0))

"""The complete law of what a learner returns, from the learner's own code.

The classifier is run as it is, on a vault that is filled from made-up cell counts, with another source of randomness: an
``Explorer``. Wherever noise would decide something (pass a check, choose a rule, draw a list) it takes one way, with the
probability that the mechanism gives it, and in the next run another one, until all ways have been taken. Noisy counts that are
released are not enumerated: given everything else they follow the discrete Laplace law around the exact counts, which is written
down and integrated in ``loss.py``. So what is checked is the code that real fits run: how it splits the budget, which records
it takes away, when it stops. Where all lists or trees are added up, each choice of the sampler is such a decision, too: its own
code is run, sums and all. What is *not* run here: the way from a table to counts, and the code that draws in other ways
(``select`` of mechanisms without exact coins, the envelope for lists, OpenDP). These are level 3's part.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from itertools import permutations, product
from typing import Any

import numpy as np

from .._utils.errors import PrivacyWarning
from ..accounting.ledger import Reservation
from ..estimators.base import Learned
from ..estimators.card_learner import LearnedCard
from ..estimators.cards import Cards, DPScoreCardClassifier
from ..estimators.optimal import DPOptimalRuleListClassifier
from ..estimators.plans import FitPlan
from ..estimators.trees import DPOptimalTreeClassifier
from ..private.counts.cells import Cells, Packing
from ..private.counts.counting import NodeCounts
from ..private.counts.counts import Counts, Marginals, Patterns
from ..private.counts.totals import TotalsInProgress
from ..private.counts.tuples import TuplesInProgress
from ..private.noise.entropy import Entropy
from ..private.queries.base import Queries
from ..private.queries.cards import CardQueries
from ..private.queries.greedy import Choices
from ..private.queries.lists import ListQueries, PatternLists
from ..private.queries.trees import TreeQueries
from ..private.sampling.problem import Problem
from ..private.sampling.reference import weighed
from ..rules.candidates import Candidates
from ..rules.numbered_tree import Fork, Leaf, NumberedTree, leaves_of
from ..schema import Schema
from ..sources.plan import TUPLES, Counting, plan_counting
from .explorer import CardExplorer, Decision, Explorer
from .loss import Array, Loss, shifted_counts

Key = tuple[Any, ...]


class Exploring:
    """A plan that is explored: its queries are asked as ever, and every decision in them is a fork."""

    def __init__(self, plan: FitPlan, learner: Any) -> None:
        self.plan, self._learner = plan, learner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)

    def queries(self, counts: Counts) -> Queries:
        """Those of the plan, prepared, with the explorer in the place of noise once they are opened."""
        explorer: Explorer = self._learner.explorer
        explorer.reservation = None
        queries = self.plan.queries(counts).prepare()
        self._learner.explore(queries)
        opened = queries.open

        def explored(reservation: Reservation, _: Entropy) -> Queries:
            explorer.reservation = reservation
            charge = reservation.draw

            def noted(epsilon: Fraction, delta: Fraction, what: str) -> None:
                charge(epsilon, delta, what)
                explorer.last_charge = float(epsilon)

            reservation.draw = noted  # type: ignore[method-assign]
            return opened(reservation, explorer)

        queries.open, queries.prepare = explored, lambda: queries  # type: ignore[method-assign,assignment]
        return queries


class Keeps:
    """A classifier that keeps what was learned as it was: tests of a tree that cannot matter are left out of its model."""

    learned: Any

    def _set_model(self, candidates: Candidates, learned: Any) -> None:
        self.learned = learned
        super()._set_model(candidates, learned)  # type: ignore[misc]


class _Explored(Keeps):
    """What turns a private classifier into one that is explored."""

    explorer: Explorer

    def filled(self, counts: Any) -> Counts:
        """The counts that it is tried on: of the classes in each pattern of Boolean columns."""
        clf: Any = self
        if not isinstance(self, _OnTuples):
            return vault_of(clf.schema, counts)
        clf.classes_ = np.arange(np.shape(counts)[1])
        candidates = clf._candidates(clf.schema)
        source: Any = _MadeUp(_cells_of(clf.schema, counts))
        classes, together = tuple(clf.classes_.tolist()), clf._needs(candidates).together
        return Marginals(clf.schema, classes, source, candidates.columns, together)

    def _plan(self, candidates: Candidates, counting: Counting, drafted: bool) -> Any:
        return Exploring(super()._plan(candidates, counting, drafted), self)  # type: ignore[misc]

    def explore(self, queries: Queries) -> None:
        """Make a fork of whatever is decided in prepared queries by other means than released noise. A twin breaks them here."""
        explorer = self.explorer
        if isinstance(queries, CardQueries) and queries._trees is not None:
            self.explore(queries._trees)
        elif isinstance(queries, Choices):
            queries._choose = partial(_choose, queries, explorer)  # type: ignore[method-assign]
        elif isinstance(queries, ListQueries | TreeQueries):
            replace_draw(_draw, queries)


@cache
def explored(classifier: type) -> Any:
    """The classifier with its noise explored."""
    return type(f"Explored{classifier.__name__}", (_Explored, classifier), {})


def _choose(queries: Choices, explorer: Explorer, node: NodeCounts) -> int:
    """A choice at a node: by coins, which the explorer flips (the selector's own code is run), or by its law."""
    selector = queries._selector
    if queries._mechanism.exact_choices:
        return int(selector.select(node, explorer))
    return explorer.fork(lambda: selector.log_prob(node))


def replace_draw(draw: Callable[..., Any], queries: Any) -> None:
    """Draw in this way from whatever the queries draw from: what is prepared, and what their class (maybe a twin's) makes."""

    def drawn(sums: Any) -> Any:
        sums.draw = partial(draw, sums)
        return sums

    queries._weighed = lambda *asked: drawn(type(queries)._weighed(queries, *asked))
    queries._first = queries._first and drawn(queries._first)


def _draw(sums: Any, explorer: Explorer) -> Any:
    """A list or a tree: each choice of the sampler that adds all up, or one of all lists where an envelope is drawn from."""
    if not isinstance(sums, PatternLists):
        return sums.draw_by(explorer.choose)
    rules, labels = explorer.fork_among(lambda: law_of_lists(sums.problem))
    return list(rules), list(labels)


class ListsByEnvelope(DPOptimalRuleListClassifier):
    """Draws whole lists as it would if they were longer, or their rules: however few there are, they are not added up."""

    def _is_summed(self, candidates: Candidates) -> bool:
        return False


class _OnTuples:
    """Counts joint counts of columns, however few patterns the schema allows, and counts them again for each draw."""

    def _counting(self, candidates: Candidates) -> Counting:
        needs = self._needs(candidates)  # type: ignore[attr-defined]
        return plan_counting(candidates, TUPLES, None, needs, len(self.classes_))  # type: ignore[attr-defined]


class ListsOnTuples(_OnTuples, DPOptimalRuleListClassifier):
    """Draws whole lists as on a wide table."""


class TreesOnTuples(_OnTuples, DPOptimalTreeClassifier):
    """Draws whole trees as on a wide table."""


class CardsOnTuples(_OnTuples, DPScoreCardClassifier):
    """Learns score cards as on a wide table."""


def law_of_lists(problem: Problem) -> tuple[list[tuple[tuple[int, ...], tuple[int, ...]]], Array]:
    """Every labelled list of concrete rules, and the logarithm of its probability, from what the samplers get."""
    group_of = {int(rule): group for group, rules in enumerate(problem.members) for rule in rules}
    truth = np.zeros((max(group_of, default=-1) + 1, len(problem.truth)), bool)
    for rule, group in group_of.items():
        truth[rule] = problem.truth[:, group] > 0
    log_priors = {
        rules: float(problem.log_length[length] + sum(problem.log_rule[group_of[rule]] for rule in rules))
        for length in np.flatnonzero(np.isfinite(problem.log_length)).tolist()
        for rules in permutations(sorted(group_of), length)
    }
    law = weighed(truth, problem.counts.astype(np.float64), log_priors, problem.rate)
    return law.lists, law.logs


@dataclass
class Output:
    """One output: its probability, the noisy counts that belong to it, and the most that was charged on the way to it."""

    log_p: float
    released: tuple[tuple[int, float], ...]
    charged: float
    decisions: tuple[Decision, ...] = ()
    paid_counts: tuple[float, ...] = ()  # what was charged in all, before each noisy count; these come last


@dataclass
class Law:
    """All outputs of a learner on one table. ``ways`` has the same before equal outputs are put together."""

    outputs: dict[Key, Output] = field(default_factory=dict)
    ways: dict[Key, Output] = field(default_factory=dict)


def explore(classifier: Any, vault: Counts) -> Law:
    """The complete law of an ``explored`` classifier on a vault."""
    classifier.explorer = explorer = CardExplorer() if isinstance(classifier, Cards) else Explorer()
    law = Law()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        for _ in explorer.paths():
            classifier.fit_vault(vault)
            key = key_of(classifier.learned)
            taken = explorer.decisions, tuple(explorer.paid_counts)
            new = Output(explorer.log_p, tuple(explorer.released), explorer.charged, *taken)
            law.ways[(*key, tuple(fork.arm for fork in explorer._forks))] = new
            if (old := law.outputs.get(key)) is None:
                law.outputs[key] = Output(new.log_p, new.released, new.charged)
                continue
            if old.released != new.released:
                raise RuntimeError("the same model with counts of other parts: this law cannot be written down")
            old.log_p, old.charged = float(np.logaddexp(old.log_p, new.log_p)), max(old.charged, new.charged)
    return law


def key_of(learned: Learned | NumberedTree | LearnedCard) -> Key:
    """What was learned but for its counts, as numbers that can be sorted; the second of two is None if no labels were drawn.

    Of a card, all of it: what was computed from counts has to be the same where these came out the same.
    """
    if isinstance(learned, LearnedCard):
        points = [(start, *((i, *p.tolist()) for i, p in card.items())) for start, card in learned.cards]
        return (_tests_of(learned.tree), *map(tuple, learned.columns), *points, *learned.limits, *learned.risks), None
    if isinstance(learned, Leaf | Fork):
        labels = tuple(leaf.label for _, leaf in leaves_of(learned))
        return _tests_of(learned), None if None in labels else labels
    return tuple(learned.chosen), None if learned.labels is None else tuple(learned.labels)


def _tests_of(tree: NumberedTree) -> Key:
    return () if isinstance(tree, Leaf) else (tree.test, _tests_of(tree.true), _tests_of(tree.other))


def losses(one: Law, other: Law) -> Loss:
    """The loss of every output of the first law against the second, with noisy counts in all cases that can be told apart."""
    masses, ratios = [], []
    for key, output in one.outputs.items():
        logs, extra, base = _against(output, other.outputs.get(key))
        masses.append(output.log_p + logs)
        ratios.append(base + extra)
    return Loss(np.concatenate(masses), np.concatenate(ratios))


def uncharged(one: Law, other: Law) -> float:
    """By how much the loss of a way through the learner exceeds what was charged for it, at any moment."""
    excess = -math.inf
    for key, way in one.ways.items():
        there = other.ways.get(key)
        _, extra, base = _against(way, there)
        excess = max(excess, base + float(extra.max()) - way.charged)
        if there is None or excess == math.inf:
            continue
        here, then = (np.cumsum([0.0, *(d.log_p for d in taken.decisions)]) for taken in (way, there))
        apart = np.cumsum([abs(a - b) / scale for (a, scale), (b, _) in zip(way.released, there.released, strict=True)])
        shown = np.append((here - then)[1:], here[-1] - then[-1] + apart)
        charged = [*(d.charged for d in way.decisions), *way.paid_counts]
        excess = max(excess, float((shown - charged).max(initial=-math.inf)))
    return excess


def unpaid_checks(one: Law, other: Law) -> float:
    """By how much the loss of a single check of the support exceeds what was charged for it, at most."""
    excess = -math.inf
    for key in one.ways.keys() & other.ways.keys():
        for here, there in zip(one.ways[key].decisions, other.ways[key].decisions, strict=True):
            if here.is_check:
                excess = max(excess, abs(here.log_p - there.log_p) - here.charge)
    return excess


def _against(output: Output, other: Output | None) -> tuple[Array, Array, float]:
    if other is None:
        return np.zeros(1), np.zeros(1), math.inf
    values, scales = np.array(output.released, float).reshape(-1, 2).T
    shifted, other_scales = np.array(other.released, float).reshape(-1, 2).T
    if len(scales) != len(other_scales) or (scales != other_scales).any():
        return np.zeros(1), np.zeros(1), math.inf  # the amount of noise itself follows the records
    logs, extra = shifted_counts(values, shifted, scales)
    return logs, extra, output.log_p - other.log_p


def schema_of_rules(n_rules: int, n_classes: int) -> Schema:
    """A table of Boolean columns, each of which is a candidate rule."""
    return Schema.of_booleans([f"r{i}" for i in range(n_rules)], classes=list(range(n_classes)))


def vault_of(schema: Schema, counts: Any) -> Patterns:
    """A vault with given class counts in each of the patterns of Boolean columns (the last column varies fastest)."""
    return Patterns(schema, tuple(range(np.shape(counts)[1])), _cells_of(schema, counts))


def _cells_of(schema: Schema, counts: Any) -> Cells:
    counts = np.asarray(counts)
    filled = counts.any(1)
    patterns = np.array(list(product([0, 1], repeat=len(schema.used))))[filled]
    packing = Packing([counts.shape[1], *(column.n_bins for column in schema.used)])
    keys = packing.pack([np.zeros(len(patterns), np.int64), *patterns.T], len(patterns))
    return Cells(tuple(schema.used), packing, packing.words(keys), counts[filled].astype(np.uint64))


@dataclass(frozen=True)
class _MadeUp:
    """A table that can be counted again and again."""

    cells: Cells

    def add_to(self, filling: TuplesInProgress | TotalsInProgress) -> None:
        """Count all of its records."""
        self.cells.add_to(filling)

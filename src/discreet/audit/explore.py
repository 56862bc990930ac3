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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import PrivacyWarning
from ..accounting.ledger import Reservation
from ..estimators.base import Learned
from ..estimators.card_learner import LearnedCard
from ..estimators.cards import DPScoreCardClassifier
from ..estimators.greedy import DPGreedyRuleListClassifier
from ..estimators.greedy_trees import DPGreedyTreeClassifier
from ..estimators.optimal import DPOptimalRuleListClassifier
from ..estimators.private import FitPlan
from ..estimators.trees import DPOptimalTreeClassifier
from ..private.counts.cells import Cells, Packing
from ..private.counts.counting import NodeCounts
from ..private.counts.counts import Counts, Marginals, Patterns
from ..private.counts.totals import TotalsInProgress
from ..private.counts.tuples import TuplesInProgress
from ..private.noise.discrete_laplace import tail
from ..private.noise.entropy import Entropy, Integers
from ..private.noise.exponential import Exponential
from ..private.noise.noisy_max import log_prob
from ..private.queries.base import Queries
from ..private.queries.cards import CardQueries
from ..private.queries.greedy import Choices
from ..private.queries.lists import ListQueries, PatternLists
from ..private.queries.trees import TreeQueries
from ..private.sampling.problem import Problem
from ..private.sampling.reference import weighed
from ..private.sampling.trees.drawing import WeighedTrees
from ..rules.candidates import Candidates
from ..rules.numbered_tree import Fork, Leaf, NumberedTree, leaves_of
from ..schema import Schema
from ..sources.plan import TUPLES, Counting, plan_counting
from .loss import Array, Loss, shifted_counts

Key = tuple[Any, ...]


@dataclass
class _Fork:
    logs: Array
    arm: int
    arms: Sequence[Any]
    is_check: bool
    charge: float  # what was charged last, before this was decided
    charged: float  # what was charged in all until then


class Explorer:
    """A source of randomness that takes every way, one after the other."""

    def __init__(self) -> None:
        self._forks: list[_Fork] = []
        self._depth = 0
        self.released: list[tuple[int, float]] = []  # exact value and scale of each noisy count
        self.paid_counts: list[float] = []  # what was charged in all, before each of them
        self.learned: Learned | NumberedTree | LearnedCard | None = None
        self.reservation: Reservation | None = None
        self.last_charge = 0.0

    def paths(self) -> Iterator[None]:
        """Once for each way through the learner."""
        while True:
            self._depth = 0
            self.released, self.paid_counts = [], []
            yield
            while self._forks and not self._next_arm(self._forks[-1]):
                self._forks.pop()
            if not self._forks:
                return

    @property
    def log_p(self) -> float:
        """The logarithm of the probability of the way just taken."""
        return float(sum(fork.logs[fork.arm] for fork in self._forks))

    @property
    def checks(self) -> tuple[tuple[float, float], ...]:
        """The checks on the way just taken: the logarithm of the probability, and what was charged for each."""
        return tuple((float(fork.logs[fork.arm]), fork.charge) for fork in self._forks if fork.is_check)

    @property
    def moments(self) -> "tuple[Moment, ...]":
        """Whenever something was decided or counted on the way just taken: what it showed until then, and what was charged."""
        logs = np.cumsum([fork.logs[fork.arm] for fork in self._forks]).tolist()
        decided = [Moment(log, fork.charged, 0) for log, fork in zip(logs, self._forks, strict=True)]
        last = logs[-1] if logs else 0.0  # counts come last
        return *decided, *(Moment(last, charged, i + 1) for i, charged in enumerate(self.paid_counts))

    @property
    def charged(self) -> float:
        """What was charged in all until now."""
        return 0.0 if self.reservation is None else float(self.reservation.spent_epsilon)

    def choose(self, logs: Array) -> int:
        """Take one of several ways, given the logarithms of their weights."""
        return self.fork(lambda: logs - np.logaddexp.reduce(logs))

    def fork(self, law: Callable[[], Array], is_check: bool = False) -> int:
        """Take one of several ways, given the logarithms of their probabilities."""

        def numbered() -> tuple[Sequence[Any], Array]:
            logs = law()
            return range(len(logs)), logs

        return int(self.fork_among(numbered, is_check))

    def fork_among(self, law: Callable[[], tuple[Sequence[Any], Array]], is_check: bool = False) -> Any:
        """The same for ways that have names."""
        if self._depth == len(self._forks):
            arms, logs = law()
            first = int(np.flatnonzero(np.isfinite(logs))[0])
            self._forks.append(_Fork(logs, first, arms, is_check, self.last_charge, self.charged))
        fork = self._forks[self._depth]
        self._depth += 1
        return fork.arms[fork.arm]

    @staticmethod
    def _next_arm(fork: _Fork) -> bool:
        """Go on to the next way that can be taken at all."""
        later = np.flatnonzero(np.isfinite(fork.logs[fork.arm + 1 :]))
        if later.size:
            fork.arm += 1 + int(later[0])
        return bool(later.size)

    def bits(self, size: int, more: bool = False) -> Any:
        """Nothing that is explored may draw such numbers."""
        raise RuntimeError("a mechanism that cannot be explored: its law is not known")

    def uniform(self, size: int) -> Array:
        """Nor such."""
        return np.asarray(self.bits(size))

    def discrete_laplace(self, values: Integers, scale: float) -> Any:
        """Counts that a learner may compare with a threshold (a fork), or release."""
        noisy = np.empty(len(values), object)
        noisy[:] = [_NoisyCount(self, int(value), scale) for value in values]
        return noisy

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """A fork by the exact law."""
        return self.fork(lambda: log_prob((losses.min() - losses) / scale, Exponential()))


@dataclass
class _NoisyCount:
    explorer: Explorer
    value: int
    scale: float

    def __ge__(self, threshold: int) -> bool:
        missing, a = int(threshold) - self.value, 1.0 / self.scale

        def law() -> Array:  # of failing, then of passing; the smaller chance first, for the sake of precision
            small = tail(missing if missing >= 1 else 1 - missing, a)
            with np.errstate(divide="ignore"):
                unlikely, likely = np.log(small), np.log1p(-small)
            return np.array([likely, unlikely] if missing >= 1 else [unlikely, likely])

        return bool(self.explorer.fork(law, is_check=True))

    def __float__(self) -> float:
        self.explorer.released.append((self.value, self.scale))
        self.explorer.paid_counts.append(self.explorer.charged)
        return float(self.value)


class Moment(NamedTuple):
    """One moment of a way through a learner."""

    log_p: float  # of everything that was decided until then
    charged: float  # for all of it
    counts: int  # noisy counts that were released until then


class CardExplorer(Explorer):
    """The same for a learner that goes on with what is computed from noisy counts: on every table these come out the same.

    Whatever they come out as, the exact counts and their scales are noted, and say how likely that was.
    """

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Numbers of no meaning, by their places alone; large ones, so that cards have points and records have weights."""
        first = len(self.released)
        self.released += [(int(value), scale) for value in values]
        self.paid_counts += [self.charged] * len(values)
        return np.array([50 * ((7 * i) % 11) + 10 for i in range(first, len(self.released))], np.int64)


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

    def run(self, queries: Any) -> Any:
        """As planned."""
        return self.plan.run(queries)


class _Explored:
    """What turns a private classifier into one that is explored."""

    make_explorer: type[Explorer] = Explorer
    explorer: Explorer

    def filled(self, counts: Any) -> Counts:
        """The counts that it is tried on: of the classes in each pattern of Boolean columns."""
        schema: Schema = self.schema  # type: ignore[attr-defined]
        return vault_of(schema, counts)

    def _plan(self, candidates: Candidates, counting: Counting, drafted: bool) -> Any:
        return Exploring(super()._plan(candidates, counting, drafted), self)  # type: ignore[misc]

    def explore(self, queries: Queries) -> None:
        """Make a fork of whatever is decided in prepared queries by other means than released noise. A twin breaks them here."""
        explorer = self.explorer
        if isinstance(queries, CardQueries) and queries._trees is not None:
            self.explore(queries._trees)
        elif isinstance(queries, Choices):
            queries._choose = partial(_choose, queries, explorer)  # type: ignore[method-assign]
        elif isinstance(queries, ListQueries):
            replace_draw(_draw_list, queries)
        elif isinstance(queries, TreeQueries):
            replace_draw(_draw_tree, queries)

    def _set_model(self, candidates: Candidates, learned: Any) -> None:
        self.explorer.learned = learned
        super()._set_model(candidates, learned)  # type: ignore[misc]


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


def _draw_list(lists: Any, explorer: Explorer) -> tuple[list[int], list[int]]:
    """A list: each choice of the sampler where all are added up, or one of all lists where an envelope is drawn from."""
    if not isinstance(lists, PatternLists):
        drawn: tuple[list[int], list[int]] = lists.draw_by(explorer.choose)
        return drawn
    rules, labels = explorer.fork_among(lambda: law_of_lists(lists.problem))
    return list(rules), list(labels)


def _draw_tree(weighed: WeighedTrees, explorer: Explorer) -> NumberedTree:
    """A tree: each choice of the sampler."""
    return weighed.draw_by(explorer.choose)


class ExploredGreedy(_Explored, DPGreedyRuleListClassifier):
    """The classifier that learns greedy lists, explored."""


class ExploredGreedyTrees(_Explored, DPGreedyTreeClassifier):
    """The classifier that learns greedy trees, explored."""


class ExploredOptimal(_Explored, DPOptimalRuleListClassifier):
    """The classifier that draws whole lists, explored."""


class ExploredTrees(_Explored, DPOptimalTreeClassifier):
    """The classifier that draws whole trees, explored."""


class ExploredCards(_Explored, DPScoreCardClassifier):
    """The classifier that learns score cards, explored."""

    make_explorer = CardExplorer


class _ByEnvelope:
    """Not all lists are added up, however few there are."""

    def _is_summed(self, candidates: Candidates) -> bool:
        return False


class ListsByEnvelope(_ByEnvelope, DPOptimalRuleListClassifier):
    """Draws whole lists as it would if they were longer, or their rules."""


class ExploredByEnvelope(_ByEnvelope, ExploredOptimal):
    """The same, explored."""


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


class _ExploredOnTuples(_OnTuples):
    def filled(self, counts: Any) -> Counts:
        clf: Any = self
        clf.classes_ = np.arange(np.shape(counts)[1])
        candidates = clf._candidates(clf.schema)
        source: Any = _MadeUp(_cells_of(clf.schema, counts))
        classes, together = tuple(clf.classes_.tolist()), clf._needs(candidates).together
        return Marginals(clf.schema, classes, source, candidates.columns, together)


class ExploredListsOnTuples(_ExploredOnTuples, ExploredOptimal):
    """The same, explored."""


class ExploredTreesOnTuples(_ExploredOnTuples, ExploredTrees):
    """The same, explored."""


class ExploredCardsOnTuples(_ExploredOnTuples, ExploredCards):
    """The same, explored."""


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
    checks: tuple[
        tuple[float, float], ...
    ] = ()  # of the support: the logarithm of how it went, and what was charged for it
    moments: tuple[Moment, ...] = ()


@dataclass
class Law:
    """All outputs of a learner on one table. ``ways`` has the same before equal outputs are put together."""

    outputs: dict[Key, Output] = field(default_factory=dict)
    ways: dict[Key, Output] = field(default_factory=dict)


def explore(classifier: Any, vault: Counts) -> Law:
    """The complete law of an explored classifier (``ExploredGreedy`` and so on) on a vault."""
    classifier.explorer = explorer = classifier.make_explorer()
    law = Law()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        for _ in explorer.paths():
            classifier.fit_vault(vault)
            learned = explorer.learned
            assert learned is not None
            assert explorer.reservation is not None
            key = key_of(learned)
            new = Output(
                *(explorer.log_p, tuple(explorer.released), explorer.charged, explorer.checks, explorer.moments)
            )
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
        apart = [abs(a - b) / scale for (a, scale), (b, _) in zip(way.released, there.released, strict=True)]
        for now, then in zip(way.moments, there.moments, strict=True):
            excess = max(excess, now.log_p - then.log_p + sum(apart[: now.counts]) - now.charged)
    return excess


def unpaid_checks(one: Law, other: Law) -> float:
    """By how much the loss of a single check of the support exceeds what was charged for it, at most."""
    excess = -math.inf
    for key, way in one.ways.items():
        if key in other.ways:
            for (log_p, charge), (log_q, _) in zip(way.checks, other.ways[key].checks, strict=True):
                excess = max(excess, abs(log_p - log_q) - charge)
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
        number = {column.name: i for i, column in enumerate(self.cells.columns)}
        filling.add_cells(self.cells, [number[column.name] for column in filling.columns])

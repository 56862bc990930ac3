"""A source of randomness that takes every way through a learner or a sampler, one after the other; and learners that use it.

The classifier is run as it is, on counts that are filled from a made-up table, with an ``Explorer`` in the place of noise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import permutations, product
from typing import Any

import numpy as np

from ..accounting.ledger import Reservation
from ..estimators.cards import DPScoreCardClassifier
from ..estimators.optimal import DPOptimalRuleListClassifier
from ..estimators.plans import Asked, FitPlan
from ..estimators.trees import DPOptimalTreeClassifier
from ..private.counts.counting import NodeCounts
from ..private.counts.counts import Counts, Marginals, Patterns
from ..private.counts.patterns import Array, Packing, PatternCounts
from ..private.noise.distributions import log_prob
from ..private.noise.entropy import Entropy, Integers
from ..private.noise.noisy_max import Exponential
from ..private.noise.sums import tail
from ..private.queries.base import Queries
from ..private.queries.cards import CardQueries
from ..private.queries.greedy import ChoiceQueries
from ..private.queries.lists import ListQueries
from ..private.queries.trees import TreeQueries
from ..private.sampling.envelope import PatternLists
from ..private.sampling.problem import Problem
from ..private.sampling.reference import weighed
from ..rules.candidates import Candidates
from ..schema import Schema
from ..sources.plan import MARGINALS, Counting, plan_counting


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision on a way through a learner: which of several arms was taken."""

    arms: Sequence[Any]
    logs: Array  # of their probabilities
    arm: int
    is_check: bool  # of the support
    charge: float  # what was charged last, before it
    charged: float  # what was charged in all until then


class Explorer(Entropy):
    """A source of randomness that takes every way, one after the other."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []  # on the way just taken
        self._depth = 0
        self.released: list[tuple[int, float]] = []  # exact value and scale of each noisy count
        self.paid_counts: list[float] = []  # what was charged in all, before each of them
        self.reservation: Reservation | None = None
        self.last_charge = 0.0

    def paths(self) -> Iterator[None]:
        """Once for each way through the learner."""
        while True:
            self._depth, self.released, self.paid_counts = 0, [], []
            yield
            while self.decisions:  # go on to the next arm that can be taken at all
                last = self.decisions.pop()
                later = np.flatnonzero(np.isfinite(last.logs[last.arm + 1 :]))
                if later.size:
                    self.decisions.append(replace(last, arm=last.arm + 1 + int(later[0])))
                    break
            else:
                return

    @property
    def log_p(self) -> float:
        """The logarithm of the probability of the way just taken."""
        return float(sum(d.logs[d.arm] for d in self.decisions))

    @property
    def charged(self) -> float:
        """What was charged in all until now."""
        return 0.0 if self.reservation is None else float(self.reservation.spent_epsilon)

    def choose(self, logs: Array) -> int:
        """Take one of several ways, given the logarithms of their weights."""
        return int(self.fork(lambda: logs - np.logaddexp.reduce(logs)))

    def fork(self, distribution: Callable[[], Array | tuple[Sequence[Any], Array]], is_check: bool = False) -> Any:
        """Take one of several ways, given the logarithms of their probabilities: its name if they have names, or its number."""
        if self._depth == len(self.decisions):
            found = distribution()
            arms, logs = found if isinstance(found, tuple) else (range(len(found)), found)
            first = int(np.flatnonzero(np.isfinite(logs))[0])
            self.decisions.append(Decision(arms, logs, first, is_check, self.last_charge, self.charged))
        decision = self.decisions[self._depth]
        self._depth += 1
        return decision.arms[decision.arm]

    def bits(self, size: int, more: bool = False) -> Any:
        """Nothing that is explored may draw such numbers."""
        raise RuntimeError("a mechanism that cannot be explored: its distribution is not known")

    uniform = bits

    def discrete_laplace(self, values: Integers, scale: float) -> Any:
        """Counts that a learner may compare with a threshold (a fork), or release."""
        noisy = np.empty(len(values), object)
        noisy[:] = [_NoisyCount(self, int(value), scale) for value in values]
        return noisy

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """A fork from the exact distribution."""
        return int(self.fork(lambda: log_prob((losses.min() - losses) / scale, Exponential())))


@dataclass
class _NoisyCount:
    explorer: Explorer
    value: int
    scale: float

    def __ge__(self, threshold: int) -> bool:
        missing, a = int(threshold) - self.value, 1.0 / self.scale

        def distribution() -> Array:  # of failing, then of passing; the smaller chance first, for the sake of precision
            small = tail(missing if missing >= 1 else 1 - missing, a)
            with np.errstate(divide="ignore"):
                unlikely, likely = np.log(small), np.log1p(-small)
            return np.array([likely, unlikely] if missing >= 1 else [unlikely, likely])

        return bool(self.explorer.fork(distribution, is_check=True))

    def __float__(self) -> float:
        self.explorer.released.append((self.value, self.scale))
        self.explorer.paid_counts.append(self.explorer.charged)
        return float(self.value)


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


# --- learners that are explored -----------------------------------------------------------------------------------------------


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
        if not isinstance(self, _OnMarginals):
            return private_counts_of(clf.schema, counts)
        clf.classes_ = np.arange(np.shape(counts)[1])
        candidates = clf._candidates(clf.schema)
        source = _patterns_of(clf.schema, counts)  # which can be counted again and again
        classes, together = tuple(clf.classes_.tolist()), clf._needs(candidates).together
        return Marginals(clf.schema, classes, source, candidates.columns, together)

    def _plan(self, asked: Asked) -> Any:
        plan: FitPlan = super()._plan(asked)  # type: ignore[misc]
        vars(plan)["queries"] = partial(self._queries, plan.queries)
        return plan

    def _queries(self, ask: Callable[[Counts], Queries], counts: Counts) -> Queries:
        """Those of a plan, prepared, with the explorer in the place of noise once they are opened."""
        explorer = self.explorer
        explorer.reservation = None
        queries = ask(counts).prepare()
        self.explore(queries)
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

    def explore(self, queries: Queries) -> None:
        """Make a fork of whatever is decided in prepared queries by other means than released noise. A twin breaks them here."""
        explorer = self.explorer
        if isinstance(queries, CardQueries) and queries._trees is not None:
            self.explore(queries._trees)
        elif isinstance(queries, ChoiceQueries):
            queries._choose = partial(_choose, queries, explorer)  # type: ignore[method-assign]
        elif isinstance(queries, ListQueries | TreeQueries):
            replace_draw(_draw, queries)


@cache
def explored(classifier: type) -> Any:
    """The classifier with its noise explored."""
    return type(f"Explored{classifier.__name__}", (_Explored, classifier), {})


def _choose(queries: ChoiceQueries, explorer: Explorer, node: NodeCounts) -> int:
    """A choice at a node: by coins, which the explorer flips (the selector's own code is run), or by its distribution."""
    selector = queries._selector
    if queries._mechanism.exact_choices:
        return int(selector.select(node, explorer))
    return int(explorer.fork(lambda: selector.log_prob(node)))


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
    rules, labels = explorer.fork(lambda: distribution_of_lists(sums.problem))
    return list(rules), list(labels)


class ListsByEnvelope(DPOptimalRuleListClassifier):
    """Draws rule lists as it would if they were longer, or their rules: however few there are, they are not added up."""

    def _is_summed(self, candidates: Candidates) -> bool:
        return False


class _OnMarginals:
    """Counts joint counts of columns, however few patterns the schema allows, and counts them again for each draw."""

    def _counting(self, candidates: Candidates) -> Counting:
        needs = self._needs(candidates)  # type: ignore[attr-defined]
        return plan_counting(candidates, MARGINALS, None, needs, len(self.classes_))  # type: ignore[attr-defined]


class ListsOnMarginals(_OnMarginals, DPOptimalRuleListClassifier):
    """Draws rule lists as on a wide table."""


class TreesOnMarginals(_OnMarginals, DPOptimalTreeClassifier):
    """Draws trees as on a wide table."""


class CardsOnMarginals(_OnMarginals, DPScoreCardClassifier):
    """Learns score cards as on a wide table."""


def distribution_of_lists(problem: Problem) -> tuple[list[tuple[tuple[int, ...], tuple[int, ...]]], Array]:
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
    distribution = weighed(truth, problem.counts.astype(np.float64), log_priors, problem.rate)
    return distribution.lists, distribution.logs


# --- made-up tables ---------------------------------------------------------------------------------------------------------


def schema_of_rules(n_rules: int, n_classes: int) -> Schema:
    """A table of Boolean columns, each of which is a candidate rule."""
    return Schema.of_booleans([f"r{i}" for i in range(n_rules)], classes=list(range(n_classes)))


def private_counts_of(schema: Schema, counts: Any) -> Patterns:
    """Private counts: given class counts in each of the patterns of Boolean columns (the last column varies fastest)."""
    return Patterns(schema, tuple(range(np.shape(counts)[1])), _patterns_of(schema, counts))


def _patterns_of(schema: Schema, counts: Any) -> PatternCounts:
    counts = np.asarray(counts)
    filled = counts.any(1)
    patterns = np.array(list(product([0, 1], repeat=len(schema.used))))[filled]
    packing = Packing([counts.shape[1], *(column.n_bins for column in schema.used)])
    keys = packing.pack([np.zeros(len(patterns), np.int64), *patterns.T], len(patterns))
    return PatternCounts(tuple(schema.used), packing, packing.words(keys), counts[filled].astype(np.uint64))

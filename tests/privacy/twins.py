"""Deliberately broken versions of the mechanisms and learners, and the level of the audit that must catch each.

Every twin is wrong in one way in which such code is wrong in practice. ``make twins`` prints the table of docs/audit.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet import DPGreedyRuleListClassifier, DPGreedyTreeClassifier, DPOptimalTreeClassifier
from discreet.audit import draws
from discreet.audit.choices import (
    distributions_of_inverse,
    noisy_max_distribution,
    worst_check,
    worst_choice,
    worst_count,
    worst_on_grid,
    worst_schema,
)
from discreet.audit.draws import list_distributions, list_distributions_by_problem, worst_draw
from discreet.audit.explore import worst_of
from discreet.audit.explorer import ListsByEnvelope, explored
from discreet.audit.learners import Compared, Pair, Subject, as_table, compare, excess, smallest_pairs
from discreet.audit.observed import best_event, lower_bound, outcomes, watch
from discreet.audit.subjects import GREEDY, GREEDY_TREES, TREES, leftover
from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.impurity import gini
from discreet.private.mechanisms.inverse import InverseSelector, largest_step, path_losses
from discreet.private.mechanisms.mass import UNITS, MassSelector, mass_units
from discreet.private.mechanisms.noisy_counts import NoisyCountsSelector
from discreet.private.noise.distributions import Laplace
from discreet.private.noise.entropy import Entropy
from discreet.private.noise.noisy_max import Exponential
from discreet.private.queries.greedy import GreedyQueries
from discreet.private.queries.lists import ListQueries
from discreet.private.queries.trees import TreeQueries
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees.log_weights import ACCURACY, GINI
from discreet.rules.candidates import NumberedLeaf, leaves_of, with_leaves
from tests.privacy import summed_twins
from tests.privacy.card_twins import card_fit_twins
from tests.privacy.greedy_tree_twins import greedy_tree_fit_twins
from tests.privacy.schema_twins import EachCloserHasAll, ForOneRecord, budget_of
from tests.privacy.summed_twins import (
    Free,
    WithQueries,
    summed_choice_twins,
    summed_fit_twins,
    summed_observed_twins,
    summed_tree_fit_twins,
)
from tests.support.selectors import selector

E = Fraction(2)


# -- level 1: one choice ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scored:
    """A selector from a function of the node."""

    scores: Any
    noise: Any


def louder(selector, factor=2.0):
    """The scale of the noise divided by a factor."""
    return Scored(lambda node: factor * selector.scores(node), selector.noise)


class NegativeExponential:
    """What ``argmin (M + Exponential)`` adds to the score that is maximised."""

    def log_pdf(self, z):
        return np.where(z > 0.0, -np.inf, z)

    def log_cdf(self, z):
        return np.minimum(z, 0.0)


class NegativeGumbel:
    """What ``argmin (G + Gumbel)`` adds to it."""

    def log_pdf(self, z):
        with np.errstate(over="ignore"):
            return z - np.exp(z)

    def log_cdf(self, z):
        with np.errstate(over="ignore"):
            return np.log(-np.expm1(-np.exp(z)))


def bare_no_rule(noise):
    """The authors' code: every rule gets noise, "no rule" does not."""

    def distribution(scores, copies):
        points, weights = np.polynomial.legendre.leggauss(200)
        no_rule, rules = scores[:, 2], scores[:, :2]
        with np.errstate(divide="ignore"):
            stays = noise.log_cdf(no_rule[:, None] - rules).sum(1)
        logs = np.full(scores.shape, -np.inf)
        logs[:, 2] = stays
        for r in range(2):  # rule r wins where its value is above no rule's, and the other rule's below it
            kinks = np.sort(np.stack([np.maximum(s, no_rule) for s in rules.T] + [no_rule]), axis=0)
            edges = np.concatenate([kinks, kinks[-1:] + np.array([1.0, 3.0, 8.0, 30.0])[:, None]])
            total = np.zeros(len(scores))
            for a, b in pairwise(edges):
                z = (a + b)[:, None] / 2 + (b - a)[:, None] / 2 * points
                density = noise.log_pdf(z - rules[:, r, None]) + noise.log_cdf(z - rules[:, 1 - r, None])
                total += (b - a) / 2 * (np.exp(density) * weights).sum(1)
            with np.errstate(divide="ignore"):
                logs[:, r] = np.log(total)
        return logs

    return distribution


def local_sensitivity(node):
    """Gini over 2n/(n+1)^2, by which *adding* a record moves it. Removing one moves it by more, and the scale, too."""
    n = max(1, int(node.left.sum()))
    captured = np.column_stack([node.captured, np.zeros_like(node.left)])
    return -gini(node.left, captured) * float(E) / (2.0 * n / (n + 1.0) ** 2)


def rounded(node):
    """Masses in integers, with ties that are broken by the exact mass: a trace of it in the fifteenth digit."""
    units = mass_units(node)
    return -float(E) * ((units // UNITS) + 1e-6 * (units / UNITS))


def tie_break(scores, copies):
    """Of equal whole masses the exactly smaller one is taken: only the best of them takes part in the draw."""
    whole, exact = np.round(scores / float(E)), scores
    hidden = scores.copy()
    for r in range(3):
        beaten = ((whole == whole[:, r : r + 1]) & (exact > exact[:, r : r + 1])).any(1)
        hidden[beaten, r] = -1e9
    return noisy_max_distribution(Exponential())(hidden, copies)


def choice_twins():
    """name, the broken selector, its distribution if it has one of its own, and what a choice may cost."""
    sound = {
        name: selector(name, E, 1e-3) for name in ("mass", "purity", "gl-laplace", "gl-exponential", "gl-gaussian")
    }
    sound |= {name: selector(name, E, 1e-6, 5) for name in ("sm-laplace", "sm-cauchy")}
    for name, one in sound.items():
        yield f"{name}: noise halved", louder(one), None, one.price
    mass, laplace, exponential = sound["mass"], sound["gl-laplace"], sound["gl-exponential"]
    wrong = Scored(mass.scores, NegativeExponential())
    yield "mass: argmin (M + Exponential), noise on the wrong side", wrong, None, mass.price
    wrong = Scored(exponential.scores, NegativeGumbel())
    yield "gl-exponential: argmin (G + Gumbel), noise on the wrong side", wrong, None, exponential.price
    yield "mass: exact tie-break released", Scored(rounded, Exponential()), tie_break, mass.price
    bare = bare_no_rule(Laplace())
    yield "gl-laplace: no rule left without noise (the authors' code)", laplace, bare, laplace.price
    yield "local Gini: sensitivity of adding only", Scored(local_sensitivity, Laplace()), None, laplace.price


def worst_of_twin(selector, distribution, price):
    found = list(worst_choice(selector, price, range(8), distribution=distribution))
    if distribution is None:
        found += worst_choice(selector, price, (3,), copies=((1, 30),))
    return worst_of(found)


class StepFromHere(InverseSelector):
    """The largest step from the table itself, wherever the path leads: a local sensitivity that is not made smooth."""

    @staticmethod
    def step(winner, loser, j):
        return largest_step(winner, loser, 0 * j)

    def at_nodes(self, left, captured):
        return path_losses(left, captured, self.step)


class HalfTheStep(StepFromHere):
    """Steps said to be half as long as they may be: a loss that changes by 2 for one record."""

    @staticmethod
    def step(winner, loser, j):
        return largest_step(winner, loser, j) // 2


class WithoutTheTwo(InverseSelector):
    """As if all losses rose and fell together, as masses do."""

    width = 1


def inverse_twins():
    """name, and the broken selector."""
    yield "inverse: no factor of two for losses that rise and fall", WithoutTheTwo(E)
    yield "inverse: steps half as long as they may be", HalfTheStep(E)
    yield "inverse: the longest step from here taken for all", StepFromHere(E)


def merged(problem):
    """Rules that agree on all records are merged, and their number is forgotten."""
    return replace(problem, members=tuple(m[:1] for m in problem.members))


def other_choice_twins():
    """name, and what finds it out; the claim is in the finding."""
    e = float(E)
    yield "released counts: noise halved", lambda: worst_count(2 * E, 1000)._replace(allowed=e)
    yield "support check: noise halved", lambda: worst_check(2 * E, 1000)._replace(allowed=e)
    for name, twin in (
        ("noise for one record of a person", ForOneRecord),
        ("shares of more than all", EachCloserHasAll),
    ):
        yield f"a schema: {name}", partial(worst_schema, budget_of(1, 1e-6, 2, 14, kind=twin))
    noisy = partial(worst_on_grid, NoisyCountsSelector(2 * E, 1).distributions([range(7)] * 4), e, "")
    yield "noisy-counts: noise halved", noisy
    for name, twin in inverse_twins():
        yield name, partial(worst_on_inverse_grid, twin)
    for name, distributions in (
        ("rule lists: noise halved", list_distributions(2 * 0.5)),
        ("rule lists: rules merged without their multiplicity", list_distributions_by_problem(0.5, merged)),
    ):
        yield name, partial(worst_drawn, 2, distributions, draws.LISTS)
    yield from summed_choice_twins()
    for name, score, distributions, most in tree_twins():
        yield name, partial(worst_drawn, most, distributions, draws.all_trees(score)[0])


def worst_on_inverse_grid(selector):
    """Nodes of up to two records of each kind; thirty rules like the second."""
    return worst_on_grid(distributions_of_inverse(selector, [0] * 8, 2, 30), float(E), "")


def worst_drawn(most, distributions, outcomes):
    return worst_of(worst_draw(0.5, most, distributions, outcomes))


def patterns_below(problem, path, leads=lambda true, side: true == side):
    """Which patterns lead to a leaf."""
    return np.all([np.ones(problem.truth.shape[1], bool), *(leads(problem.truth[j], side) for j, side in path)], axis=0)


def first_leaf_counted_twice(problem, depth):
    drawn, logs = distribution_of_trees(problem, depth)
    first = [next(leaves_of(tree)) for tree in drawn]
    again = [problem.counts[leaf.label, patterns_below(problem, path)].sum() for path, leaf in first]
    return drawn, logs + problem.rate * np.array(again)


def missing_in_both_branches(problem, depth):
    """The records of which no test is true have values that are missing, say; they go both ways."""
    missing = ~problem.truth.any(0)
    drawn, logs = distribution_of_trees(replace(problem, rate=0.0), depth)
    scores = [
        sum(
            problem.counts[leaf.label, patterns_below(problem, path, lambda true, side: (true == side) | missing)].sum()
            for path, leaf in leaves_of(tree)
        )
        for tree in drawn
    ]
    return drawn, logs + problem.rate * np.array(scores)


def best_labels(problem, depth):
    """Tests are drawn by the summed weights of all labels of their leaves; then each leaf gets its most frequent class."""

    def relabelled(path, leaf):
        return NumberedLeaf(int(problem.counts[:, patterns_below(problem, path)].sum(1).argmax()))

    drawn, logs = distribution_of_trees(problem, depth)
    return [with_leaves(tree, relabelled) for tree in drawn], logs


def frequent_tests_first(problem):
    """The prior prefers tests that are true of many records."""
    tests = 1.0 + problem.truth @ problem.counts.sum(0)
    return replace(problem, prior=replace(problem.prior, tests=tests / tests.sum()))


def tree_twins():
    """name, score, distributions, and up to how many records to look."""
    for score in (ACCURACY, GINI):
        yield f"trees by {score}: rate doubled", score, draws.tree_distributions(2 * 0.5, score), 2
    for name, weights in (
        ("trees: a leaf counted twice", first_leaf_counted_twice),
        ("trees: missing values in both branches", missing_in_both_branches),
        ("trees: the best label instead of a drawn one", best_labels),
    ):
        yield name, ACCURACY, draws.tree_distributions_by_problem(0.5, ACCURACY, weights=weights), 1
    for score in (ACCURACY, GINI):
        distributions = draws.tree_distributions_by_problem(0.5, score, frequent_tests_first)
        yield f"trees by {score}: a prior that depends on the table", score, distributions, 1


ExploredGreedy, ExploredByEnvelope, ExploredTrees = map(explored, (GREEDY, ListsByEnvelope, TREES))

# -- level 2: whole fits ----------------------------------------------------------------------------------------------


class Broken:
    """Queries that are of another class once they are prepared, or changed otherwise."""

    kind = None

    def explore(self, queries):
        self._break(queries)
        super().explore(queries)
        if self.kind is not None:
            queries.__class__ = self.kind
        if hasattr(queries, "_first"):
            queries._first = None  # it is weighed anew

    def _break(self, queries):
        pass


class UncheckedQueries(GreedyQueries):
    def exceeds(self, prefix):
        return True


class WithoutCheck(Broken, ExploredGreedy):
    """The minimum support is used in the scale of the noise, and whether it is there is not checked."""

    kind = UncheckedQueries


class ForgetfulQueries(GreedyQueries):
    """Answers without charging, to a learner that asks three times and takes the last answer it likes."""

    def select(self, prefix):
        reservation, self._reservation = self._reservation, Free()
        try:
            return super().select(prefix)
        finally:
            self._reservation = reservation


class Forgetful(Broken, ExploredGreedy):
    """Its queries forget to charge for a choice."""

    kind = ForgetfulQueries


class AskedTwice(ForgetfulQueries):
    def select(self, prefix):
        first, second = super().select(prefix), super().select(prefix)
        return second if first is None else first


class AsksTwice(Broken, ExploredGreedy):
    """And so nothing stops a learner that asks for every rule twice and prefers a rule to none."""

    kind = AskedTwice


class MinedQueries(GreedyQueries):
    def select(self, prefix):
        frequent = self._counter.counts([]).captured.sum(0) >= 2
        node = self._counter.counts(prefix)
        rules = [r for r in np.flatnonzero(frequent) if r not in prefix]
        self._charge(self._noise.choice_epsilon, "choice of a rule")
        chosen = self._choose(NodeCounts(node.left, node.captured[:, rules]))
        return None if chosen == len(rules) else int(rules[chosen])


class Mined(Broken, ExploredGreedy):
    """Candidates are the rules that at least two records satisfy: mined from the data."""

    kind = MinedQueries


class OverlappingQueries(GreedyQueries):
    def _part(self, prefix, rule):
        return self._counter.left([]) if rule is None else self._counter.counts([]).captured[:, rule]


class Overlapping(Broken, ExploredGreedy):
    """Class counts of all that a rule captures, earlier rules or not, at the price of disjoint parts."""

    kind = OverlappingQueries


class LouderMass(Broken, ExploredGreedy):
    """Choices with half the noise that is paid for."""

    def _break(self, queries):
        queries._selector = MassSelector(2 * queries._selector.epsilon)


class LouderInverse(Broken, ExploredGreedy):
    """Choices by inverse sensitivity without its factor of two."""

    def _break(self, queries):
        queries._selector = WithoutTheTwo(queries._selector.epsilon)


class LouderLists(Broken, ExploredByEnvelope):
    """A draw at twice the rate that is paid for."""

    kind = summed_twins.LouderLists


class CapturedAgain(ListQueries):
    def _part(self, prefix, rule):
        return ListQueries._weighed(self, (), (1.0,)).parts_of([] if rule is None else [rule])[0]


class ForgetsWhatWasCaptured(Broken, ExploredByEnvelope):
    """Class counts of all that a rule captures, earlier rules or not."""

    kind = CapturedAgain


class LouderTrees(Broken, ExploredTrees):
    """A draw at twice the rate that is paid for."""

    kind = summed_twins.LouderTrees


class WithAllOfEpsilon(TreeQueries):
    def _leaves(self, tree):
        with patch.object(
            self, "_noise", replace(self._noise, draw_epsilon=self._noise.epsilon - self._noise.counts_epsilon)
        ):
            return super()._leaves(tree)


class StagesDoNotShare(Broken, ExploredTrees):
    """Each stage is charged its share, and draws with what all of them have together."""

    kind = WithAllOfEpsilon


class LeavesShareRecords(Broken, ExploredTrees):
    """A later stage draws in each leaf from all records, for one charge."""

    kind = summed_twins.TreesOfAllRecords


class ByTheLastTest(TreeQueries):
    def count(self, tree):
        (root,) = self._leaves(NumberedLeaf())
        self._exact = {path: root.exact_counts(path[-1:]) for path, _ in leaves_of(tree)}
        return super().count(tree)


class OverlappingLeaves(Broken, ExploredTrees):
    """Class counts of all records that the last test on the way says so of, whatever was asked before: for one charge."""

    kind = ByTheLastTest


class QuietHistograms(GreedyQueries):
    def histogram(self, prefix, rule):
        with patch.object(self, "_entropy", Quiet(self._entropy)):
            return super().histogram(prefix, rule)


class Quiet:
    """Asks for half of the noise that it is asked for."""

    def __init__(self, explorer):
        self._explorer = explorer

    def discrete_laplace(self, values, scale):
        return self._explorer.discrete_laplace(values, scale / 2)


class QuietCounts(Broken, ExploredGreedy):
    """Class counts with half the noise that is paid for."""

    kind = QuietHistograms


class QuietTreeQueries(TreeQueries):
    def _noisy(self, exact, epsilon):
        return super()._noisy(exact, 2 * epsilon)


class QuietLeaves(Broken, ExploredTrees):
    """Class counts with half the noise that is paid for."""

    kind = QuietTreeQueries


def few_pairs(n_rules=2, n_classes=2):
    """Small tables, and some larger ones."""
    pairs = list(smallest_pairs(n_rules, n_classes, 1))[::3]
    for home, place in ((3, 1), (3, 0), (2, 3), (0, 3)):
        less = np.zeros((4, n_classes), int)
        less[home, 0] = 300
        pairs.append(Pair(less, (place, 1)))
    return pairs


def fit_twins():
    """name, the sound subject, its broken twin, pairs to try."""
    mass = Subject("mass", GREEDY, {"mechanism": "mass", "epsilon": 2.0, "max_length": 3})
    lists = Subject("optimal rule lists", ListsByEnvelope, {"epsilon": 1.0, "max_length": 2})
    later = Subject(
        "rule lists, rules_per_draw=1",
        ListsByEnvelope,
        {"epsilon": 1.0, "max_length": 3, "rules_per_draw": 1, "counts_share": 0.5},
    )
    smooth = Subject(
        "sm-laplace",
        GREEDY,
        {"mechanism": "sm-laplace", "epsilon": 4.0, "delta": 1e-6, "max_length": 3, "min_support": 250},
    )
    inverse = Subject("inverse", GREEDY, {"mechanism": "inverse", "epsilon": 2.0, "max_length": 2})
    # one record makes one rule better and another worse, which needs the factor of two
    rivals = [
        Pair(np.array([[2, 0], [0, 0], [2, 0], [1, 1]]), (2, 1)),
        Pair(np.array([[0, 4], [1, 0], [2, 0], [5, 0]]), (2, 1)),
    ]
    gl = Subject("gl-exponential", GREEDY, {"mechanism": "gl-exponential", "epsilon": 2.0, "max_length": 3})
    leftovers = [leftover(n) for n in (2, 5, 100, 5050)]
    pairs = few_pairs()
    yield (
        "sm-laplace: minimum support used without its check",
        smooth,
        replace(smooth, explored=WithoutCheck),
        leftovers,
    )
    yield "mass: a query that forgets to charge", mass, replace(mass, explored=Forgetful), pairs
    yield "mass: ... and a learner that asks it twice", mass, replace(mass, explored=AsksTwice), pairs
    yield "mass: candidates mined from the data", mass, replace(mass, explored=Mined), pairs
    yield "mass: class counts of parts that overlap", mass, replace(mass, explored=Overlapping), pairs
    yield "mass: noise of choices halved", mass, replace(mass, explored=LouderMass), pairs
    yield "mass: noise of class counts halved", mass, replace(mass, explored=QuietCounts), pairs
    yield "inverse: no factor of two in choices", inverse, replace(inverse, explored=LouderInverse), rivals
    yield "gl-exponential: noise of class counts halved", gl, replace(gl, explored=QuietCounts), pairs
    yield "rule lists: noise halved", lists, replace(lists, explored=LouderLists), pairs
    yield (
        "rule lists: class counts of parts that overlap",
        later,
        replace(later, explored=ForgetsWhatWasCaptured),
        pairs[:20],
    )
    yield from summed_fit_twins(pairs)
    yield from tree_fit_twins()
    yield from greedy_tree_fit_twins(pairs)
    yield from card_fit_twins(pairs)


def tree_fit_twins():
    """The same for trees."""
    pairs = few_pairs()[::2]
    whole = Subject("optimal trees", TREES, {"epsilon": 1.0, "max_depth": 1, "counts_share": 0.2})
    mass = Subject("by Gini", TREES, {"epsilon": 1.0, "max_depth": 2, "criterion": "gini", "counts_share": 0.5})
    staged = Subject("stages", TREES, {"epsilon": 1.0, "stages": (1, 1), "criterion": "gini", "counts_share": 0.1})
    # a hundred records of one class on each side of the first test, and a stranger that the second tells apart, or not
    apart = [Pair(np.array([[100, 0], [0, 0], [0, 100], [0, 0]]), place) for place in ((0, 1), (1, 0), (2, 0), (3, 1))]
    for name, sound, twin, tried in (
        ("trees: rate doubled", whole, LouderTrees, pairs),
        ("trees by Gini: rate doubled", mass, LouderTrees, [*pairs, *apart]),
        ("trees: stages that do not share epsilon", staged, StagesDoNotShare, [*pairs, *apart]),
        ("trees: a stage whose leaves share records", staged, LeavesShareRecords, [*pairs, *apart]),
        ("trees: class counts of leaves that overlap", mass, OverlappingLeaves, pairs),
        ("trees: noise of class counts halved", mass, QuietLeaves, pairs),
    ):
        yield name, sound, replace(sound, explored=twin), tried
    yield from summed_tree_fit_twins(pairs, apart)


def worst_fit(subject: Subject, promise, pairs) -> tuple[Compared, float]:
    """The pair that needs most, and the largest loss that was not charged."""
    found = [compare(subject, pair) for pair in pairs]
    return max(found, key=lambda c: excess(c, promise)), max(c.uncharged for c in found)


# -- level 3: observed ------------------------------------------------------------------------------------------------


class LoudSampler(summed_twins.LoudSampler, ListsByEnvelope):
    """Says and computes everything right, and then draws with half the noise: only fits can show it."""


class LoudTreeSampler(summed_twins.LoudSampler, DPOptimalTreeClassifier):
    """The same for trees."""


class QuietEntropy(Entropy):
    """Released counts with half the noise that was asked for."""

    def discrete_laplace(self, values, scale):
        return super().discrete_laplace(values, scale / 2)


class Quieted:
    def _plan(self, *public):
        return WithQueries(super()._plan(*public), self._quieted)

    @staticmethod
    def _quieted(queries):
        opened = queries.open
        queries.open = lambda reservation, entropy: opened(reservation, QuietEntropy())
        return queries


class QuietSampler(Quieted, DPGreedyRuleListClassifier):
    """Says and computes everything right, and then asks OpenDP for too little noise."""


class QuietTreeSampler(Quieted, DPGreedyTreeClassifier):
    """The same for greedy trees."""


def shared_generator(counts, fits, shared):
    """Two releases of the class counts, at epsilon 0.05 and 0.1: what both together say about the exact count.

    Noise from one generator, set back between the fits, is the same noise in two sizes: the exact count can be solved for.
    """
    X, y = as_table(counts)
    seen = []
    parameters = {"max_length": 1, "negations": False}
    for i in range(fits):
        first, second = (
            DPGreedyRuleListClassifier(epsilon=e, random_state=i if shared else None, **parameters).fit(X, y)
            for e in (0.05, 0.1)
        )
        a, b = (clf.rule_list_.default.counts[0] for clf in (first, second))
        seen.append(round(2 * b - a))  # with noise k and k/2 this is the exact count, nearly
    return seen


def observed_twins():
    """name, and what observes it: promised epsilon, hits on the likelier table, hits on the other, fits.

    So many fits that a miss is next to impossible.
    """
    lists = Subject("optimal rule lists", ListsByEnvelope, {"epsilon": 1.0, "max_length": 2, "counts_share": 0.0})
    counts = Subject("mass", GREEDY, {"mechanism": "mass", "epsilon": 1.0, "max_length": 1}, n_rules=1)
    less = np.zeros((4, 2), int)
    less[0, 0] = 1
    pair = Pair(less, (0, 1))
    yield (
        "rule lists: a sampler with half the noise of its distribution",
        partial(_hits, lists, LoudSampler, pair, 5_000),
    )
    yield from summed_observed_twins(_hits)
    single = Subject("leaf", TREES, {"epsilon": 1.0, "max_depth": 0, "counts_share": 0.0}, n_rules=1)
    pair = Pair(np.zeros((2, 2), int), (0, 0))
    yield (
        "trees: a sampler with half the noise of its distribution",
        partial(_hits, single, LoudTreeSampler, pair, 2_500),
    )
    yield "mass: OpenDP asked for half the noise", partial(_hits, counts, QuietSampler, pair, 1_000)
    leaf = Subject("leaf", GREEDY_TREES, {"mechanism": "mass", "epsilon": 1.0, "max_depth": 0}, n_rules=1)
    yield "greedy trees by mass: OpenDP asked for half the noise", partial(_hits, leaf, QuietTreeSampler, pair, 1_000)
    yield "mass: a generator shared by two fits", _hits_of_a_shared_generator


def _hits_of_a_shared_generator(fits=500):
    pair = Pair(np.array([[20, 0], [0, 0]]), (0, 0))
    hits = (sum(x >= 21 for x in shared_generator(table, fits, True)) for table in (pair.more, pair.less))
    return 0.15, *hits, fits


def _hits(subject, twin, pair, fits):
    """The event is chosen by the distributions of the sound version; any event would be a valid one."""
    seen = watch(subject, pair)
    event = best_event(seen.chances, fits)
    likelier, other = (pair.more, pair.less) if event.on_more else (pair.less, pair.more)
    broken = replace(subject, classifier=twin)
    return (
        subject.parameters["epsilon"],
        *(
            sum(n for x, n in outcomes(broken, seen, table, fits).items() if x in event.outcomes)
            for table in (likelier, other)
        ),
        fits,
    )


def main():
    """The table, with what each level says of the sound version."""
    print("| twin | level | claimed | found | |\n|---|---|---|---|---|")
    for name, broken, distribution, price in choice_twins():
        found = worst_of_twin(broken, distribution, price)
        print(f"| {name} | 1: one choice | {found.allowed:.4g} | {shown(found.loss)} | {found.pairs:,} pairs |")
    for name, find in other_choice_twins():
        found = find()
        print(f"| {name} | 1: one choice | {found.allowed:.4g} | {shown(found.loss)} | {found.pairs:,} pairs |")
    for name, sound, twin, pairs in fit_twins():
        promise = sound.promises()[0]
        found, uncharged = worst_fit(twin, promise, pairs)
        needed = found.epsilon(promise.delta)
        what = f"{shown(needed)}" if excess(found, promise) > 1 else f"{shown(uncharged)} more than was charged"
        print(f"| {name} | 2: whole fit | {promise.epsilon:.4g} | {what} | {len(pairs)} pairs |")
    for name, observe in observed_twins():
        epsilon, hits, other, fits = observe()
        print(
            f"| {name} | 3: observed | {epsilon:.4g} | at least {lower_bound(hits, other, fits):.3g} | {2 * fits:,} fits |"
        )


def shown(loss):
    return "no bound" if loss > 1e6 else f"{loss:.4g}"


if __name__ == "__main__":
    main()

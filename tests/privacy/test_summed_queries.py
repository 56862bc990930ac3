"""Lists and trees that are added up: their distribution through the queries, on all small tables with missing values and their
neighbours.

Every choice of the sampler is a fork of the audit's explorer, so that the distribution is multiplied out from the code that
draws.
"""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier, Numeric, Schema
from discreet.audit.explore import explore, key_of
from discreet.audit.explorer import (
    Explorer,
    ListsByEnvelope,
    ListsOnMarginals,
    TreesOnMarginals,
    explored,
    replace_draw,
    schema_of_rules,
)
from discreet.audit.learners import random_pairs
from discreet.datasets import load_compas
from discreet.private.counts.counts import Marginals, Patterns
from discreet.private.counts.division import column_numbers, joined
from discreet.private.counts.joint import _in_group
from discreet.private.counts.patterns import PatternsInProgress
from discreet.private.mechanisms.draws import DrawBudget
from discreet.private.queries import lists
from discreet.private.queries.lists import ListQueries
from discreet.private.queries.trees import TreeQueries
from discreet.private.sampling.list_sums import ListSums
from discreet.private.sampling.trees.problems import MarginalTrees
from discreet.rules.candidates import Candidates, NumberedFork, NumberedLeaf
from discreet.rules.prior import Prior, TreePrior
from discreet.schema.columns import Boolean

from ..support.slices import slow_but
from . import summed_twins

SCHEMA = Schema([Numeric("age", cuts=[1], missing=True), Boolean("ill", missing=True)], classes=[0, 1])
RULES = Candidates.of_schema(SCHEMA, negations=True).only([0, 3, 4, 5])  # age <= 1, age is not missing, ill, not ill
TESTS = Candidates.of_tests(SCHEMA).only([0, 2])  # age <= 1; ill
KINDS = list(product(range(3), range(3), range(2)))  # bins of both columns, the last of which is "missing"; class
RATE = 0.5
LISTS = np.ones(len(RULES))
PRIOR = TreePrior(0.5, np.array([0.3, 0.7]))


class MadeUp:
    """A table that can be counted again and again."""

    def __init__(self, records):
        self._records = np.array(records, int).reshape(-1, 3)

    def add_to(self, filling):
        filling.add(list(self._records[:, :2].T), self._records[:, 2])


class NoReservation:
    """So that queries are looked at without a ledger."""

    spent_epsilon = Fraction(0)

    def draw(self, epsilon, delta, what):
        pass


def marginals(records, candidates, size):
    return Marginals(SCHEMA, (0, 1), MadeUp(records), candidates.columns, size)


def patterns(records, candidates, size):
    filling = PatternsInProgress(SCHEMA.used, 2)
    MadeUp(records).add_to(filling)
    return Patterns(SCHEMA, (0, 1), filling.finish())


def multiplied_out(queries, learn, twin=None):
    """The probability of everything that can be learned. What is prepared before the first draw is the same on every way.

    ``twin``: the broken class that takes the place of that of the queries.
    """
    explorer, distribution = Explorer(), {}
    queries.__class__ = twin or queries.__class__
    replace_draw(lambda sums, _: sums.draw_by(explorer.choose), queries.prepare())
    first = queries._first
    for _ in explorer.paths():
        queries._first, queries._exact = first, {}
        key = key_of(learn(queries.open(NoReservation(), explorer)))
        distribution[key] = np.logaddexp(distribution.get(key, -math.inf), explorer.log_p)
    return distribution


def draws_at(rate, how_many):
    """A budget of so many draws, and no class counts."""
    return DrawBudget(Fraction(rate) * how_many, Fraction(0), Fraction(rate))


def plan_of_lists(draws, weights=(1.0, 1.0), rate=RATE):
    """Of draws of these rules, each of which costs ``rate``."""
    return replace(
        DPOptimalRuleListClassifier(schema=SCHEMA).plan(),
        candidates=RULES,
        budget=draws_at(rate, len(draws)),
        prior=Prior(tuple(draws[0]), LISTS),
        class_weights=np.array(weights),
        draws=draws,
    )


def distribution_of_lists(records, draws, weights=(1.0, 1.0), count=marginals, twin=None):
    """Of all draws of a list together."""
    plan = plan_of_lists(draws, weights)
    counts = count(records, RULES, max(1, *(len(lengths) - 1 for lengths in draws)))
    return multiplied_out(plan.queries(counts), plan.run, twin)


def distribution_of_trees(records, stages, score, weights=(1.0, 1.0), twin=None):
    """Of all stages together; each costs ``RATE``."""
    plan = replace(
        DPOptimalTreeClassifier(schema=SCHEMA).plan(),
        candidates=TESTS,
        budget=draws_at(RATE, len(stages)),
        prior=PRIOR,
        class_weights=np.array(weights),
        criterion=score,
        depths=stages,
    )
    return multiplied_out(plan.queries(marginals(records, TESTS, max(2, *stages))), plan.run, twin)


def worst_loss(distribution_of, kinds, tables):
    """The largest log-ratio between a table and the same with one record more, whatever comes out."""
    known = {}

    def distribution(records):
        if (records := tuple(sorted(records))) not in known:
            known[records] = distribution_of(records)
        return known[records]

    worst = 0.0
    for records in tables:
        here = distribution(records)
        assert np.logaddexp.reduce(list(here.values())) == pytest.approx(0.0, abs=1e-9)
        for kind in kinds:
            more = distribution((*records, kind))
            assert more.keys() == here.keys()
            worst = max(worst, *(abs(more[x] - here[x]) for x in here))
    return worst


def all_tables(kinds, most):
    return [c for n in range(most + 1) for c in combinations_with_replacement(kinds, n)]


PURE = [[(0, 1, 0)] * 30, [(2, 2, 1)] * 30]  # one class only; one of nothing but missing values
ONE_DRAW = [(1.0, 1.0, 1.0)]
THREE_RULES = [(1.0, 0.0, 0.0, 1.0)]
TWO_DRAWS = [(1.0, 1.0)] * 2
FEW = [KINDS[i] for i in (0, 3, 5, 10, 16, 17)]


@pytest.mark.parametrize(
    ("draws", "count"),
    slow_but(
        [(draws, count) for draws in (ONE_DRAW, THREE_RULES, TWO_DRAWS) for count in (marginals, patterns)],
        [(ONE_DRAW, marginals), (THREE_RULES, patterns)],
    ),
)
def test_no_list_becomes_likelier_by_more_than_epsilon_with_one_record(draws, count):
    kinds = KINDS if draws is ONE_DRAW else FEW
    tables = [*all_tables(kinds, 1), *PURE]
    loss = worst_loss(lambda records: distribution_of_lists(records, draws, count=count), kinds, tables)
    least = 0.5 if len(draws) == 1 else 0.45  # no record of so few is decisive for both draws
    assert least * RATE * len(draws) < loss <= RATE * len(draws) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [ONE_DRAW, TWO_DRAWS])
def test_no_list_becomes_likelier_with_any_of_up_to_three_records(draws):
    kinds = KINDS if draws is ONE_DRAW else FEW
    loss = worst_loss(lambda records: distribution_of_lists(records, draws), kinds, all_tables(kinds, 2))
    assert loss <= RATE * len(draws) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("stages", "score", "kinds"),
    [
        ((1,), "accuracy", KINDS),
        pytest.param((2,), "accuracy", FEW, marks=pytest.mark.slow),
        ((2,), "gini", KINDS),
        pytest.param((1, 1), "gini", KINDS, marks=pytest.mark.slow),
    ],
)
def test_no_tree_becomes_likelier_by_more_than_epsilon_with_one_record(stages, score, kinds):
    tables = [*all_tables(kinds, 1), *PURE]
    loss = worst_loss(lambda records: distribution_of_trees(records, stages, score), kinds, tables)
    assert 0.5 * RATE * len(stages) < loss <= RATE * len(stages) * (1 + 1e-9)


def test_leaves_share_no_record_whichever_tree_is_asked_about_first():
    """What was added up beforehand is about all records, and not for one of several leaves."""

    def distribution(records):
        asked = TESTS, draws_at(RATE, 1), PRIOR, np.ones(2), "accuracy", (1, 1)
        queries = TreeQueries(marginals(records, TESTS, 2), *asked)
        return multiplied_out(queries, lambda opened: opened.grow(NumberedFork(0, NumberedLeaf(), NumberedLeaf()), 1))

    assert worst_loss(distribution, FEW, [*all_tables(FEW, 1), *PURE]) <= RATE + 1e-9


def test_class_weights_of_at_most_one_keep_the_promise_and_larger_ones_do_not():
    tables = [*all_tables(FEW, 1), *PURE]

    def losses(weights):
        lists = worst_loss(lambda records: distribution_of_lists(records, ONE_DRAW, weights), FEW, tables)
        return lists, worst_loss(lambda records: distribution_of_trees(records, (1,), "accuracy", weights), FEW, tables)

    assert max(losses((1.0, 0.3))) <= RATE * (1 + 1e-9)
    assert min(losses((1.0, 3.0))) > 1.2 * RATE


def missing(counts, candidates, rule):
    """The bins of a rule's group in which the value that it is about is missing."""
    columns, groups = counts._marginals.columns, counts._marginals.groups.members
    column = column_numbers(columns, candidates)[candidates.members[rule, 0]]
    bins = [c.n_bins for c in columns]
    last = np.arange(bins[column]) == bins[column] - 1
    (group,) = (group for group in groups if column in group)
    return _in_group(last, column, group, bins)


class MissingOnBothSides(TreeQueries):
    """Where a value is missing, a record is in both branches of a test: labels are drawn from leaves that overlap."""

    def _leaves(self, tree):
        return [
            BothSides(**{name: getattr(leaf, name) for name in leaf.__dataclass_fields__})
            for leaf in super()._leaves(tree)
        ]


class BothSides(MarginalTrees):
    def class_counts(self, part):
        if part is None:
            return super().class_counts(part)
        counts = self.classes
        box = joined(
            (counts.group_of[test], (true if side else ~true) | missing(counts, self.tests, test))
            for test, side in part.items()
            for true in [counts.truth(test)]
        )
        return self.class_weights * counts.classes_in(box)


class MissingIsCapturedAndLeft(ListQueries):
    """A record whose value is missing is captured by a rule, and left for the rules after it."""

    def _weighed(self, prefix, lengths):
        sums = super()._weighed(prefix, lengths)
        sums.__class__ = CapturedAndLeft
        return sums


class CapturedAndLeft(ListSums):
    def parts_of(self, rules):
        counts, place = self._counts, {int(rule): i for i, rule in enumerate(self._order)}
        parts, before = [], []
        for rule in rules:
            group, true = counts.group_of[place[rule]], counts.truth(place[rule])
            either = missing(counts, RULES, rule)
            parts.append(counts.classes_in(joined([*before, (group, true | either)])))
            before.append((group, ~true | either))
        return [*parts, counts.classes_in(joined(before))]


def test_a_twin_with_missing_values_on_both_sides_of_a_test_is_caught():
    tables = [*PURE, *all_tables(FEW, 1)]
    loss = worst_loss(
        lambda records: distribution_of_lists(records, ONE_DRAW, twin=MissingIsCapturedAndLeft), FEW, tables
    )
    assert loss > 1.2 * RATE
    trees = worst_loss(
        lambda records: distribution_of_trees(records, (1,), "accuracy", twin=MissingOnBothSides), FEW, tables
    )
    assert trees > 1.2 * RATE


# -- one distribution, whatever was counted --------------------------------------------------------------------------------------


def same(one, other):
    return one.keys() == other.keys() and max(abs(one[x] - other[x]) for x in one) < 1e-9


SOME_TABLES = [(), *[tuple(KINDS[i] for i in np.random.default_rng(s).integers(0, 18, 9)) for s in range(4)]]


@pytest.mark.parametrize(
    ("twin", "draws"),
    [
        (summed_twins.DrawsOfAllRecords, TWO_DRAWS),
        pytest.param(summed_twins.ListsWithPartsTwice, TWO_DRAWS, marks=pytest.mark.slow),
        (summed_twins.LouderLists, ONE_DRAW),
        (summed_twins.HeavierLists, ONE_DRAW),
        (MissingIsCapturedAndLeft, ONE_DRAW),
    ],
)
def test_a_twin_of_lists_has_another_distribution(twin, draws):
    sound = [distribution_of_lists(records, draws) for records in SOME_TABLES]
    assert all(
        same(distribution, distribution_of_lists(t, draws, count=patterns))
        for distribution, t in zip(sound, SOME_TABLES, strict=True)
    )
    assert not all(
        same(distribution, distribution_of_lists(t, draws, twin=twin))
        for distribution, t in zip(sound, SOME_TABLES, strict=True)
    )


@pytest.mark.parametrize(
    "twin",
    [
        summed_twins.TreesOfAllRecords,
        summed_twins.TreesWithPartsTwice,
        summed_twins.LeavesOfTheFirstPart,
        summed_twins.LeavesThatOverlap,
        summed_twins.LouderTrees,
        summed_twins.HeavierTrees,
    ],
)
def test_a_twin_of_trees_has_another_distribution(twin):
    sound = [distribution_of_trees(records, (1, 1), "gini") for records in SOME_TABLES]
    broken = [distribution_of_trees(records, (1, 1), "gini", twin=twin) for records in SOME_TABLES]
    assert not all(same(one, other) for one, other in zip(sound, broken, strict=True))


def as_logs(distribution):
    return {key: output.log_p for key, output in distribution.outputs.items()}


@pytest.mark.parametrize(
    ("ways", "parameters"),
    [
        ((ListsByEnvelope, DPOptimalRuleListClassifier, ListsOnMarginals), {"max_length": 3}),
        pytest.param(
            (ListsByEnvelope, DPOptimalRuleListClassifier, ListsOnMarginals),
            {"max_length": 3, "rules_per_draw": 1},
            marks=pytest.mark.slow,
        ),
        (
            (ListsByEnvelope, DPOptimalRuleListClassifier, ListsOnMarginals),
            {"max_length": 2, "class_weight": {0: 1, 1: 4}},
        ),
        ((DPOptimalTreeClassifier, TreesOnMarginals), {"max_depth": 1}),
        ((DPOptimalTreeClassifier, TreesOnMarginals), {"stages": (1, 1), "criterion": "gini"}),
        (
            (DPOptimalTreeClassifier, TreesOnMarginals),
            {"max_depth": 2, "criterion": "gini", "class_weight": {0: 1, 1: 4}},
        ),
    ],
)
def test_whole_fits_have_one_distribution_and_count_the_same_whatever_way_is_taken(ways, parameters):
    """By envelope or tree by tree from what the samplers get; added up from patterns; added up from marginals, again."""
    rng = np.random.default_rng(3)
    for pair, _ in zip(random_pairs(rng, 2, 2, (3, 60)), range(2), strict=False):
        first, *others = (
            explore(clf, clf.filled(pair.more))
            for clf in (explored(way)(epsilon=0.8, schema=schema_of_rules(2, 2), **parameters) for way in ways)
        )
        for other in others:
            assert same(as_logs(first), as_logs(other))
            assert all(first.outputs[x].released == other.outputs[x].released for x in first.outputs)


# -- what a fit hands to the sampler ------------------------------------------------------------------------------------

X, Y = load_compas(binary=True, sensitive=False, return_X_y=True)
X, Y = X.astype(bool), np.asarray(Y)


@pytest.fixture
def added_up(monkeypatch):
    """What the queries hand to the sampler during a fit: marginals, prior, class weights and rate."""
    seen = []

    class Seen(ListSums):
        def __init__(self, marginals, candidates, prior, class_weights, rate, *more):
            seen.append((marginals, prior, class_weights, rate))
            super().__init__(marginals, candidates, prior, class_weights, rate, *more)

    monkeypatch.setattr(lists, "ListSums", Seen)
    return seen


@pytest.mark.parametrize(("rules_per_draw", "draws"), [(None, [4]), (1, [2, 2, 2]), (2, [3, 2])])
def test_by_default_a_draw_takes_all_lengths_alike_and_all_rules(added_up, rules_per_draw, draws):
    DPOptimalRuleListClassifier(rules_per_draw=rules_per_draw).fit(X, Y)
    assert [prior.lengths for _, prior, _, _ in added_up] == [(1.0,) * lengths for lengths in draws]
    assert set(added_up[0][1].rules) == {1.0}


@pytest.mark.parametrize("rules_per_draw", [None, 1, 2])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_the_rates_of_a_fit_add_up_to_its_epsilon(added_up, rules_per_draw, share):
    for epsilon in (0.1, 0.7, 3.0):
        added_up.clear()
        DPOptimalRuleListClassifier(epsilon=epsilon, rules_per_draw=rules_per_draw, counts_share=share).fit(X, Y)
        total = sum(Fraction(rate) for *_, rate in added_up) + Fraction(str(share)) * Fraction(str(epsilon))
        assert 0.999999 * epsilon < total <= Fraction(str(epsilon))


@pytest.mark.filterwarnings("ignore::discreet._utils.errors.PrivacyWarning")
def test_later_draws_see_what_is_left_and_no_rule_twice(added_up):
    clf = DPOptimalRuleListClassifier(epsilon=20.0, max_length=4, rules_per_draw=1, random_state=1).fit(X, Y)
    where = clf.rule_list_.captures(X)
    left = [np.bincount(Y), np.bincount(Y[where > 0]), np.bincount(Y[where > 1])]
    for (marginals, prior, _, _), expected, used in zip(added_up, left, (0, 1, 2), strict=True):
        assert (marginals.table(()) == expected).all()
        assert np.count_nonzero(prior.rules == 0.0) == used


def test_class_weights_of_a_fit_are_at_most_one(added_up):
    DPOptimalRuleListClassifier(class_weight={1: 50.0, 0: 10.0}).fit(X, Y)
    ((_, _, weights, _),) = added_up
    assert weights.tolist() == pytest.approx([0.2, 1.0])


@pytest.mark.parametrize(("n", "rate"), [(48_842, 0.09), (1_000_000, 0.009), (15_000_000, 0.09)])
def test_large_tables_lose_no_more(n, rate):
    """From the sums that the sampler works with: a record among millions is neither lost nor counted twice."""
    for extra in range(0, 60, 12):
        distributions = []
        for stranger in (0, 1):
            counts = {(0, 0, 0): 40, (1, 0, 1): n + extra, (0, 1, 1): 7 + stranger}
            distribution = distribution_of_counted(counts, rate)
            distributions.append(distribution)
        assert max(abs(distributions[0][x] - distributions[1][x]) for x in distributions[0]) <= rate * (1 + 1e-6)


def distribution_of_counted(counts, rate):
    """Of one draw of up to two rules, from records that come many times."""

    class Many(MadeUp):
        def __init__(self):
            pass

        def add_to(self, filling):
            for (age, ill, label), n in counts.items():
                filling.add([np.array([age]), np.array([ill])], np.array([label]), np.array([float(n)]))

    plan = plan_of_lists(ONE_DRAW, rate=rate)
    return multiplied_out(plan.queries(Marginals(SCHEMA, (0, 1), Many(), RULES.columns, 2)), plan.run)


def test_what_is_explored_here_is_what_a_user_runs():
    clf = DPOptimalRuleListClassifier(schema=SCHEMA)
    assert clf.plan().summed
    assert not clf.set_params(max_literals=2).plan().summed
    assert not clf.set_params(max_literals=1, max_length=5).plan().summed
    assert TreesOnMarginals(schema=SCHEMA).plan().counting.together == 3


@pytest.mark.filterwarnings("ignore::discreet._utils.errors.PrivacyWarning")
@pytest.mark.parametrize("names", [["r0"], ["r0", "r1"]])
@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (ListsOnMarginals, {}),
        (ListsOnMarginals, {"max_length": 6, "rules_per_draw": 3}),
        (ListsOnMarginals, {"max_length": 9, "rules_per_draw": 1}),  # more rules than there are
        (TreesOnMarginals, {}),
        (TreesOnMarginals, {"stages": (2, 2)}),
    ],
)
def test_fewer_columns_than_could_be_counted_together_are_no_error(kind, parameters, names):
    records, labels = np.random.default_rng(0).integers(0, 2, (2, 40, len(names))).astype(bool)
    schema = Schema.of_booleans(names, classes=[0, 1])
    plain = kind.__mro__[2]
    for seed in range(3):
        one, other = (
            clf(epsilon=0.7, schema=schema, random_state=seed, **parameters)
            .fit(records, labels[:, 0].astype(int))
            .model_
            for clf in (kind, plain)
        )
        assert one == other

"""From noisy counts to a card: what is computed, and what must hold of every card whatever came out of the noise."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Boolean, Categorical, DPScoreCardClassifier, Numeric, Schema, ScoreCardClassifier
from discreet.datasets import load_compas
from discreet.estimators.card_learner import limits_between, risks_of
from discreet.private.counts.totals import ByTotal
from discreet.private.mechanisms.score_cards import CardBudget
from discreet.private.queries.cards import CardQueries
from discreet.rules.column_parts import Weights, parts_of
from discreet.rules.rules import truth

from ..support.slices import examples

COLUMNS = [
    Numeric("age", cuts=[25, 40], missing=True),
    Numeric("fare", cuts=[5], ranges=[(2, 8), (6, 9)], low=0, high=10, outside="missing"),
    Numeric("once", cuts=[3]),
    Categorical("job", categories=["cook", "clerk", "nurse"], missing=True, outside="other"),
    Categorical("town", groups={"north": ["a", "b"], "south": ["c"]}, ungrouped="other", categories=["d"]),
    Boolean("member", missing=True),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_a_value_is_in_the_part_of_the_first_condition_that_is_true_of_it(column):
    parts, schema = parts_of(column), Schema([column])
    left = np.ones(column.n_bins, bool)
    for number, condition in enumerate(parts.conditions):
        true = left & np.logical_and.reduce([np.ones(column.n_bins, bool), *(truth(schema, x) for x in condition)])
        assert (parts.part_of_bin[true] == number).all()
        assert true.any()
        left &= ~true
    assert not left.any()
    assert parts.conditions[-1] == ()


def test_cuts_give_one_part_for_each_bin_and_their_order():
    parts = parts_of(Numeric("age", cuts=[1, 2, 3], missing=True))
    assert len(parts) == 5
    assert parts.ordered == (0, 1, 2, 4)  # the fourth one is of missing values


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(-40, 300), st.integers(-40, 300)), min_size=1, max_size=20),
    st.sampled_from([0.0, 5.0, 100.0]),
)
def test_risks_are_probabilities_that_never_fall_with_the_total_whatever_the_counts(counts, scale):
    limits = limits_between(-200, 5.0 * len(counts) - 82.5)[: len(counts) - 1]
    risks = risks_of(limits, np.array(counts[: len(limits) + 1]).T, scale)
    assert risks == sorted(risks)
    assert all(0 <= risk <= 1 for risk in risks)


def test_without_counts_ten_points_double_the_odds():
    limits = limits_between(-100, 100)
    risks = risks_of(limits)
    at = {limit + 2.5: risk for limit, risk in zip(limits, risks[1:], strict=True)}  # by the middle of a range
    for total in (-32.5, -12.5, 7.5):
        odds, more = (at[t] / (1 - at[t]) for t in (total, total + 10))
        assert more / odds == pytest.approx(2, rel=0.05)  # risks have three digits


def test_counts_that_say_otherwise_correct_overconfident_points():
    limits = limits_between(-60, 60)
    middles = np.array([limits[0] - 2.5, *(np.array(limits) + 2.5)])
    n = np.full(len(middles), 10_000)
    true = 1 / (1 + 2 ** (-middles / 20))  # half as sure as the points are
    counts = np.stack([n * (1 - true), n * true]).astype(int)
    assert np.abs(np.array(risks_of(limits, counts, 1.0)) - true).max() < 0.01
    assert risks_of(limits, counts, 1e9) == risks_of(limits)  # all of it may be noise


def test_points_never_fall_where_they_are_said_to_rise():
    data = load_compas()
    for seed in range(20):
        clf = DPScoreCardClassifier(
            epsilon=0.01, monotonic_cst={"priors_count": 1, "age": -1}, schema=data.schema, random_state=seed
        )
        card = clf.fit(data.data, data.target).card_.cards[0]
        points = {table.column: [p for _, p in table.rows] for table in card.tables}
        assert points.get("priors_count", [0]) == sorted(points.get("priors_count", [0]))
        assert points.get("age", [0]) == sorted(points.get("age", [0]), reverse=True)


def test_a_monotone_card_rises_for_every_two_records_that_differ_in_that_column_alone():
    data = load_compas(sensitive=False)
    clf = DPScoreCardClassifier(epsilon=0.05, monotonic_cst={"priors_count": 1}, schema=data.schema).fit(
        data.data, data.target
    )
    fewer = data.data.head(300).assign(priors_count=2)
    risks = [clf.predict_proba(fewer.assign(priors_count=n))[:, 1] for n in range(0, 40, 3)]
    assert (np.diff(risks, axis=0) >= 0).all()


def test_the_schema_says_which_class_is_the_second():
    data = load_compas(sensitive=False)
    turned = Schema(data.schema.columns, data.schema.target, classes=[1, 0])
    for schema, rises in ((data.schema, True), (turned, False)):
        clf = DPScoreCardClassifier(epsilon=0.05, monotonic_cst={"priors_count": 1}, schema=schema, random_state=0)
        card = clf.fit(data.data, data.target).card_.cards[0]
        own = next(([p for _, p in t.rows] for t in card.tables if t.column == "priors_count"), [0])
        assert own == sorted(own, reverse=not rises)


def test_totals_are_counted_as_the_model_adds_them_up():
    data = load_compas(sensitive=False)
    for depth in (0, 1, 2):
        clf = ScoreCardClassifier(tree_depth=depth, schema=data.schema).fit(data.data, data.target)
        found = clf.card_.captures(data.data)
        for number, answer in enumerate(clf.card_.answers):
            own = np.asarray(data.target)[found == number]
            assert answer.counts == ((own == 0).sum(), (own == 1).sum())


def doubled(rng, n=20_000):
    """Three columns that tell nearly as much of the class, of which the first two are the same."""
    y = rng.integers(0, 2, n)
    seen = [np.where(rng.random(n) < right, y, 1 - y).astype(bool) for right in (0.8, 0.75)]
    return pd.DataFrame({"a": seen[0], "again": seen[0], "b": seen[1]}), y


@pytest.mark.parametrize("epsilon", [None, 2.0])
def test_what_two_columns_say_in_common_is_largely_counted_once(epsilon):
    X, y = doubled(np.random.default_rng(0))
    schema = Schema.of_booleans(["a", "again", "b"], classes=[0, 1])

    def points(**parameters):
        private = epsilon is not None
        own = {"epsilon": epsilon, "random_state": 0} if private else {}
        clf = (DPScoreCardClassifier if private else ScoreCardClassifier)(schema=schema, **own, **parameters).fit(X, y)
        return {table.column: np.ptp([p for _, p in table.rows]) for table in clf.card_.cards[0].tables}

    once, twice = points(), points(sequential=False)
    single = 20 * np.log2(0.8 / 0.2)
    assert twice["a"] + twice["again"] == pytest.approx(2 * single, rel=0.1)
    assert 0.9 * single < once["a"] + once.get("again", 0.0) < 1.4 * single
    assert once["b"] == pytest.approx(20 * np.log2(0.75 / 0.25), rel=0.2)


def test_with_much_noise_columns_are_counted_at_once():
    X, y = doubled(np.random.default_rng(1), 200)
    schema = Schema.of_booleans(["a", "again", "b"], classes=[0, 1])
    asked = []
    count = CardQueries.count

    def watched(queries, columns, weights=None):
        asked.append((columns, weights is None))
        return count(queries, columns, weights)

    with patch.object(CardQueries, "count", watched):
        DPScoreCardClassifier(epsilon=0.1, schema=schema, random_state=0).fit(X, y)
    assert asked == [([[0]], True), ([[1, 2]], True)]


@pytest.mark.parametrize("weights", [[[0, 65]], [[-1, 64]], [[0.5, 1.0]], [[64]]])
def test_a_record_counts_for_a_whole_number_of_parts_of_one(weights):
    with pytest.raises(AssertionError, match="bug in the learner"):
        Weights([(0.0, {})], [0.0], np.array(weights))


def test_nothing_is_known_of_an_empty_table():
    schema = Schema.of_booleans(["a", "again", "b"], classes=[0, 1])
    empty = pd.DataFrame({name: np.zeros(0, bool) for name in schema.names})
    for seed in range(10):
        for depth in (0, 1):
            clf = DPScoreCardClassifier(epsilon=1.0, tree_depth=depth, schema=schema, random_state=seed)
            risks = clf.fit(empty, np.zeros(0, int)).predict_proba(empty.reindex(range(1), fill_value=True))
            assert 0.05 < risks[0, 1] < 0.95


def test_a_record_is_in_one_range_of_totals():
    division = ByTotal((), 0, 3, [(-1.0, {0: np.array([0.0, 2.0]), 1: np.array([0.0, 5.0, 1.0])})], [0.0, 4.0])
    bins = [np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])]
    assert division.find(bins, 4).tolist() == [0, 1, 2, 2]  # totals -1, 1, 4, 6


@pytest.mark.parametrize("share", [0, Fraction(1, 10), Fraction(9, 10)])
@pytest.mark.parametrize("chooses", [True, False])
@pytest.mark.parametrize("tree", [True, False])
def test_shares_add_up_to_epsilon_and_leave_something_for_the_points(share, chooses, tree):
    epsilon = Fraction(7, 3)
    budget = CardBudget.split(epsilon, Fraction(share), 3, chooses, tree)
    of_columns = 3 * (budget.choice_epsilon + budget.column_epsilon)
    assert budget.tree_epsilon + of_columns + budget.counts_epsilon == epsilon
    assert budget.column_epsilon > 0
    assert (budget.choice_epsilon > 0, budget.tree_epsilon > 0) == (chooses, tree)

"""Persons with several records: the exact loss when all of a person's records come or go."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from discreet import (
    DPGreedyRuleListClassifier,
    DPGreedyTreeClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    Ledger,
    Numeric,
    Schema,
    private_cuts,
)
from discreet.accounting.statement import Guarantee
from discreet.audit.explore import explore, losses
from discreet.audit.explorer import explored, private_counts_of, schema_of_rules
from tests.support.slices import slow_but

SCHEMA = schema_of_rules(2, 2)
GREEDY, WHOLE, TREES = map(explored, (DPGreedyRuleListClassifier, DPOptimalRuleListClassifier, DPOptimalTreeClassifier))
LEARNERS = {
    "mass": (GREEDY, {"max_length": 2, "negations": False}),
    "gl-laplace": (GREEDY, {"mechanism": "gl-laplace", "max_length": 2, "negations": False}),
    "optimal rule lists": (WHOLE, {"max_length": 2, "negations": False}),
    "optimal rule lists, no counts": (WHOLE, {"max_length": 2, "negations": False, "counts_share": 0.0}),
    "optimal trees": (TREES, {"max_depth": 1}),
    "optimal trees, no counts": (TREES, {"max_depth": 1, "counts_share": 0.0}),
    "optimal trees by Gini, two stages": (TREES, {"stages": (1, 1), "criterion": "gini"}),
}

FAST = {name for name in LEARNERS if name not in ("optimal rule lists", "optimal trees by Gini, two stages")}


def worst(make, parameters, records, **more):
    """The largest loss over some small tables and all that have so many records more."""
    classifier = make(schema=SCHEMA, **parameters, **more)
    rng = np.random.default_rng(0)
    largest = 0.0
    for less in [np.zeros((4, 2), int), *rng.integers(0, 4, (1, 4, 2))]:
        one = explore(classifier, private_counts_of(SCHEMA, less))
        for added in combinations_with_replacement(range(8), records):
            more_records = less + np.bincount(added, minlength=8).reshape(4, 2)
            other = explore(classifier, private_counts_of(SCHEMA, more_records))
            largest = max(largest, losses(one, other).largest, losses(other, one).largest)
    return largest


@pytest.mark.parametrize("name", slow_but(LEARNERS, FAST))
def test_a_person_with_two_records_gets_the_whole_epsilon_and_not_more(name):
    make, parameters = LEARNERS[name]
    assert worst(make, parameters, 2, epsilon=1.0, records_per_person=2) <= 1.0 + 1e-9


@pytest.mark.parametrize("name", ["mass", "optimal rule lists, no counts", "optimal trees, no counts"])
def test_a_twin_that_forgets_to_divide_is_caught(name):
    make, parameters = LEARNERS[name]
    assert worst(make, parameters, 2, epsilon=1.0, records_per_person=1) > 1.05


def test_a_person_with_more_records_than_was_said_is_promised_less():
    make, parameters = LEARNERS["optimal rule lists, no counts"]
    assert worst(make, parameters, 3, epsilon=1.0, records_per_person=2) > 1.05


@pytest.mark.parametrize(
    "classifier",
    [DPGreedyRuleListClassifier, DPGreedyTreeClassifier, DPOptimalRuleListClassifier, DPOptimalTreeClassifier],
)
def test_the_statement_and_the_ledger_are_about_a_person(classifier):
    X, y = np.zeros((20, 2), bool), np.arange(20) % 2
    ledger = Ledger(epsilon=1.5)
    clf = classifier(epsilon=1.0, records_per_person=4, ledger=ledger).fit(X, y)
    assert clf.privacy_.proved == Guarantee(1.0, 0.0)
    assert "up to 4 of them" in clf.privacy_.neighbours
    assert "more records than that" in str(clf.privacy_)
    assert ledger.remaining[0] == Fraction(1, 2)
    assert ledger.proved == (1.0, 0.0)
    assert 0 < ledger.entries[0].spent_epsilon <= 1
    one = classifier(epsilon=1.0).fit(X, y)
    assert "multiply epsilon by k" in one.privacy_.neighbours


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True, None])
def test_how_many_must_be_a_whole_number(value):
    with pytest.raises((ValueError, TypeError), match="records_per_person"):
        DPOptimalRuleListClassifier(records_per_person=value).fit(np.zeros((4, 2), bool), [0, 1, 0, 1])


def test_methods_with_a_delta_are_for_single_records():
    clf = DPGreedyRuleListClassifier(mechanism="sm-laplace", delta=1e-6, min_support=2, records_per_person=2)
    with pytest.raises(ValueError, match="records_per_person must be 1"):
        clf.fit(np.zeros((4, 2), bool), [0, 1, 0, 1])


def test_cut_points_count_for_each_record_of_a_person():
    X = np.arange(100.0)[:, None] % 50
    grid = Schema([Numeric("x", low=0, high=50, n_cuts=24)])
    ledger = Ledger(epsilon=3)
    schema = private_cuts(X, grid, {"x": 3}, epsilon=1.0, records_per_person=4, ledger=ledger)
    assert schema.cuts_epsilon == 0.25
    assert (ledger.entries[0].spent_epsilon, ledger.proved) == (1, (1.0, 0.0))
    same = DPOptimalRuleListClassifier(epsilon=1.0, schema=schema, records_per_person=4, ledger=ledger, max_length=2)
    assert same.fit(X, np.arange(100) % 2).privacy_.proved == Guarantee(2.0, 0.0)
    assert ledger.proved == (2.0, 0.0)  # the cuts are on it once
    other = Ledger(epsilon=3)
    same.set_params(ledger=other).fit(X, np.arange(100) % 2)
    assert other.proved == (2.0, 0.0)  # a ledger that does not know of the cuts books them
    assert other.entries[0].spent_epsilon == 2


def test_deltas_of_a_person_add_up_as_a_geometric_series():
    pair = Guarantee(0.5, 1e-6).for_person(3)
    assert pair.epsilon == 1.5
    assert pair.delta == pytest.approx(1e-6 * (1 + np.exp(0.5) + np.exp(1.0)))
    assert Guarantee(0.5, 1e-6).for_person(1) == Guarantee(0.5, 1e-6)
    assert Guarantee(1e9, 0.5).for_person(9).delta == 1.0

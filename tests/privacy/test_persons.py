"""Persons with several records: the exact loss when all of a person's records come or go."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPGreedyTreeClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    Ledger,
    RuleList,
    Schema,
    noisy_evaluation,
)
from discreet._utils.errors import SchemaError
from discreet._utils.parameters import as_written, least_float
from discreet.accounting.costs import for_person, pair
from discreet.accounting.statement import Guarantee
from discreet.audit.explore import explore, losses
from discreet.audit.explorer import explored, private_counts_of, schema_of_rules
from tests.support.paid_schemas import paid
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


@pytest.mark.parametrize("delta", [0, 1e-9])
def test_what_a_schema_cost_a_person_is_counted_as_it_stands_for_no_more_records(delta):
    X, y = np.zeros((4, 2), bool), [0, 1, 0, 1]
    schema = paid(Schema([Boolean("x0"), Boolean("x1")]), 0.7, delta, records=4)
    for records in (4, 3, 1):
        ledger = Ledger(epsilon=3, delta=1e-6)
        clf = DPOptimalRuleListClassifier(schema=schema, records_per_person=records, ledger=ledger, max_length=2)
        assert clf.fit(X, y).privacy_.proved == Guarantee(1.7, delta)
        assert clf.privacy_.for_schema == Guarantee(0.7, delta)
        assert ledger.proved == (1.7, delta)
        assert (ledger.entries[0].spent_epsilon, float(ledger.entries[0].spent_delta)) == (Fraction(17, 10), delta)


def test_a_fit_for_more_records_than_its_schema_was_found_for_is_refused_before_anything_is_booked():
    schema, ledger = paid(Schema([Boolean("a")], classes=[0, 1]), 0.5, records=2), Ledger(epsilon=3)
    clf = DPOptimalRuleListClassifier(schema=schema, records_per_person=3, ledger=ledger, max_length=2)
    rules = RuleList.parse("if a then 1 else 0", [0, 1], schema)
    given = {"records_per_person": 3, "ledger": ledger, "model_is_public": True}
    X = pd.DataFrame({"a": [True, False]})
    for ask in (
        clf.plan,
        lambda: clf.fit(X, [0, 1]),
        lambda: noisy_evaluation(rules, X, [0, 1], 1.0, **given),
    ):
        with pytest.raises(SchemaError, match=r"with up to 2 records .*'schema-1f3a'.* records_per_person is 3"):
            ask()
    assert ledger.n_entries == 0
    twice = paid(paid(schema, 0.5, name="b", records=5), 0.5, name="c", records=3)
    with pytest.raises(SchemaError, match="with up to 2 records"):
        clf.set_params(schema=twice).plan()
    assert clf.set_params(records_per_person=2).plan().statement.proved.epsilon == 1


def test_deltas_of_a_person_add_up_as_a_geometric_series():
    pair = Guarantee(0.5, 1e-6).for_person(3)
    assert pair.epsilon == 1.5
    assert pair.delta == pytest.approx(1e-6 * (1 + np.exp(0.5) + np.exp(1.0)))
    assert Guarantee(0.5, 1e-6).for_person(1) == Guarantee(0.5, 1e-6)
    assert Guarantee(1e9, 0.5).for_person(9).delta == 1.0


def test_a_statement_says_the_delta_of_a_person_that_the_ledger_counts_and_never_less_than_the_series():
    for epsilon, delta, records in product((0.013, 0.1, 0.7, 3.0), (1e-9, 3e-7, 1e-40), (2, 3, 7, 20)):
        said = Guarantee(epsilon, delta).for_person(records)
        (cost,) = for_person(pair(as_written(epsilon), as_written(delta)), records)
        assert said.delta == least_float(cost.delta)
        with localcontext() as precise:
            precise.prec = 60
            series = Decimal(str(delta)) * sum((i * Decimal(str(epsilon))).exp() for i in range(records))
            least = min(Decimal(1), series)
            assert Decimal(str(said.delta)) >= least
        assert said.delta == pytest.approx(float(least), rel=1e-12, abs=0)

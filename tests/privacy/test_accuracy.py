"""The noisy accuracy of a model: its exact loss, its distribution, and what it costs."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet import Boolean, GreedyRuleListClassifier, Ledger, Rule, RuleList, Schema, noisy_accuracy
from discreet._utils.errors import RuleError, SchemaError
from discreet.accounting.ledger import BudgetError, Reservation
from discreet.evaluation.measuring import right_or_wrong
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.queries import base
from discreet.private.queries.evaluation import EvaluationQueries, Grouping
from tests.support.counted import patterns_of

SCHEMA = Schema((Boolean("a"), Boolean("b")), classes=["no", "yes"])
MODEL = RuleList.parse("if a then yes\nelse if b then no\nelse yes", ["no", "yes"], SCHEMA)
X = pd.DataFrame({"a": [True, True, False, False, False], "b": [True, False, True, True, False]})
Y = np.array(["yes", "no", "no", "no", "yes"])  # right, wrong, right, right, right


class Noted:
    """Entropy that notes what would be released, and with which noise."""

    def discrete_laplace(self, values, scale):
        self.values, self.scale = values, scale
        return values


def exact_counts(X, y, epsilon=1.0, records=1):
    noted = Noted()
    reservation = Reservation(Fraction(10), Fraction(0), records=records)
    found = correct_and_wrong(patterns_of(X, y, SCHEMA), Fraction(epsilon), reservation, noted)
    return found, noted.scale, reservation.spent_epsilon


def correct_and_wrong(counts, epsilon, reservation, entropy):
    """As ``noisy_accuracy`` asks for them."""
    queries = EvaluationQueries(counts, MODEL, right_or_wrong(MODEL), 2, [Grouping()], epsilon)
    (found,) = queries.open(reservation, entropy).histograms()
    return tuple(found[0].tolist())


def test_counts_are_those_of_predict():
    assert (MODEL.predict(X) == Y).tolist() == [True, False, True, True, True]
    assert exact_counts(X, Y)[0] == (4, 1)
    unforeseen = np.array(["yes", "perhaps", None, "no", "yes"], dtype=object)
    assert exact_counts(X, unforeseen)[0] == (3, 0)


def loss(pair, other, scale):
    """Of independent discrete Laplace noise on both counts: the sum of what each differs, in scales."""
    return sum(abs(a - b) for a, b in zip(pair, other, strict=True)) / scale


def worst_loss(epsilon):
    more, scale, spent = exact_counts(X, Y, epsilon)
    assert spent == Fraction(epsilon)
    kept = [np.delete(np.arange(len(Y)), removed) for removed in range(len(Y))]
    return max(loss(more, exact_counts(X.iloc[k], Y[k], epsilon)[0], scale) for k in kept)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_no_neighbour_loses_more_than_epsilon(epsilon):
    assert worst_loss(epsilon) <= epsilon * (1 + 1e-12)


def test_twins_with_half_the_noise_or_a_record_in_both_counts_are_caught(monkeypatch):
    release = base.release
    monkeypatch.setattr(base, "release", lambda counts, epsilon, entropy: release(counts, 2 * epsilon, entropy))
    assert worst_loss(1.0) > 1.5
    monkeypatch.setattr(base, "release", lambda c, epsilon, entropy: release(c[0] + 0 * c, epsilon, entropy))
    assert worst_loss(1.0) > 1.5


@pytest.mark.parametrize(("twin", "is_right"), [(1, True), (2, False)])
def test_noise_has_the_scale_it_should(twin, is_right, monkeypatch):
    release = base.release
    monkeypatch.setattr(base, "release", lambda counts, epsilon, entropy: release(counts, twin * epsilon, entropy))
    entropy, counts = SeededEntropy(0), patterns_of(X, Y, SCHEMA)
    reservation = Reservation(Fraction(10_000), Fraction(0))
    drawn = [correct_and_wrong(counts, Fraction(1, 2), reservation, entropy) for _ in range(4_000)]
    q = math.exp(-0.5)
    expected = math.sqrt(2 * q) / (1 - q)  # the deviation of discrete Laplace noise
    assert bool((np.abs(np.std(drawn, axis=0) / expected - 1) < 0.1).all()) is is_right


def test_the_interval_covers():
    big = pd.concat([X] * 40), np.tile(Y, 40)
    found = [noisy_accuracy(MODEL, *big, 0.2, random_state=i) for i in range(400)]
    assert np.mean([f.low <= 0.8 <= f.high for f in found]) >= 0.95
    assert np.mean([f.high - f.low for f in found]) < 0.4
    assert all(f.low <= f.accuracy <= f.high for f in found)


def test_it_is_booked_and_refused():
    ledger = Ledger(epsilon=0.3)
    found = noisy_accuracy(MODEL, X, Y, 0.2, ledger=ledger, model_is_public=True)
    assert found.privacy.proved.epsilon == 0.2
    assert "accuracy" in str(found)
    with pytest.raises(BudgetError):
        noisy_accuracy(MODEL, X, Y, 0.2, ledger=ledger)
    assert len(ledger.entries) == 1
    for bad in (X[["a"]], X.rename(columns={"b": "c"})):
        with pytest.raises(SchemaError, match="'b'"):
            noisy_accuracy(MODEL, bad, Y, 0.05, ledger=ledger)
    with pytest.raises(ValueError, match="differ in length"):
        noisy_accuracy(MODEL, X, Y[:2], 0.05, ledger=ledger)
    assert len(ledger.entries) == 1


def test_a_person_pays_for_all_records():
    ledger = Ledger(epsilon=1)
    found = noisy_accuracy(MODEL, X, Y, 1.0, ledger=ledger, records_per_person=4, model_is_public=True)
    assert found.privacy.proved.epsilon == 1.0
    assert ledger.entries[0].spent_epsilon == 1
    assert exact_counts(X, Y, 0.25, records=4)[1:] == (4.0, 1)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", None])
def test_bad_parameters_are_named(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        noisy_accuracy(MODEL, X, Y, epsilon)


def test_a_model_is_needed():
    with pytest.raises(RuleError, match="model"):
        noisy_accuracy("if a then b", X, Y, 1.0)


def test_a_list_without_rules_and_a_schema_without_classes():
    ledger = Ledger(epsilon=2)
    default = RuleList((), Rule((), "yes"), ("no", "yes"), SCHEMA)
    assert 0 <= noisy_accuracy(default, X, Y, 0.5, ledger=ledger, model_is_public=True).accuracy <= 1
    bare = GreedyRuleListClassifier(schema=Schema((Boolean("a"), Boolean("b"))), max_length=2).fit(X, Y)
    assert bare.rule_list_.schema.classes is None
    assert 0 <= noisy_accuracy(bare, X, Y, 0.5, ledger=ledger, model_is_public=True).accuracy <= 1
    with pytest.raises(ValueError, match="differ in length"):
        noisy_accuracy(bare, X, np.arange(3), 0.5, ledger=ledger, model_is_public=True)
    assert len(ledger.entries) == 2


def test_a_model_of_some_of_the_classes_that_its_schema_has_labels_for():
    labels = {"x": "the first", "z": "the third"}
    schema = Schema([Boolean("a")], classes=["x", "y", "z"], class_labels=labels)
    rules = RuleList.parse("if a then x else y", ("x", "y"), schema)
    found = noisy_accuracy(rules, {"a": [True, False] * 500}, ["x", "y"] * 500, 10.0)
    assert found.accuracy > 0.9

"""A score card that was learned: its file, what it says of its noise, what is booked, and what is measured and released of it."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet import (
    Boolean,
    Card,
    DPScoreCardClassifier,
    Ledger,
    SavedModel,
    Schema,
    ScoreCard,
    ScoreCardClassifier,
    noisy_evaluation,
    verify_release,
    write_release,
)
from discreet._utils.errors import ModelError
from discreet.accounting.costs import BOUNDED_RANGE, DISCRETE_LAPLACE, PURE, Cost
from discreet.accounting.ledger import BudgetError
from discreet.datasets import load_compas
from discreet.models.partition import Answer
from discreet.private.mechanisms.score_cards import CHOICE_SHARE, TREE_SHARE
from discreet.private.noise.sums import margin

SHAPES = [
    {},
    {"max_columns": 2},
    {"tree_depth": 1},
    {"tree_depth": 2, "max_columns": 2, "points": "decimals"},
    {"counts_share": 0},
    {"monotonic_cst": {"priors_count": 1}},
]


@pytest.fixture(scope="module")
def data():
    return load_compas(sensitive=False)


def fitted(data, epsilon=1.0, **parameters):
    return DPScoreCardClassifier(epsilon=epsilon, schema=data.schema, **parameters).fit(data.data, data.target)


@pytest.mark.parametrize("parameters", SHAPES)
def test_the_file_holds_all_that_predicts(data, parameters, tmp_path):
    clf = fitted(data, **parameters)
    saved = SavedModel.of(clf)
    saved.save(tmp_path / "model.json")
    read = SavedModel.load(tmp_path / "model.json")
    assert read == saved
    assert isinstance(read.model, ScoreCard)
    assert read.learner == "DPScoreCardClassifier"
    assert read.privacy == clf.privacy_
    assert (read.predict(data.data) == clf.predict(data.data)).all()
    assert (read.predict_proba(data.data) == clf.predict_proba(data.data)).all()
    assert pickle.loads(pickle.dumps(saved)) == saved
    text = json.loads(saved.to_json())
    assert text["score_card"]["format"] == "discreet score card"
    assert {"random_state", "schema", "ledger", "verbose"}.isdisjoint(text["parameters"])
    with pytest.raises(ModelError):
        SavedModel.from_json(saved.to_json().replace('"start"', '"begin"'))


def test_the_intervals_of_counts_are_those_of_the_noise(data):
    """Each count by total has discrete Laplace noise of its share of epsilon."""
    for more, each in (
        ({}, 0.1),
        ({"counts_share": 0.3}, 0.3),
        ({"counts_share": 0.3, "records_per_person": 3}, 0.1),
        ({"tree_depth": 1, "max_columns": 2, "epsilon": 2.0}, 0.2),
    ):
        saved = SavedModel.of(fitted(data, **more))
        assert saved.counts_epsilon == pytest.approx(each)
        for answer, ends in zip(saved.model.answers, saved.count_intervals(), strict=True):
            for count, (low, high) in zip(answer.counts, ends, strict=True):
                assert high == max(0, count + margin(each))
                assert low in (0, count - margin(each))
    assert SavedModel.of(fitted(data, counts_share=0)).count_intervals() is None
    exact = ScoreCardClassifier(schema=data.schema).fit(data.data, data.target)
    assert SavedModel.of(exact).count_intervals() is None


def test_the_intervals_cover_the_exact_counts_as_often_as_they_say(data):
    """4,000 counts and more: the exact ones are found with the card itself."""
    covered = there = 0
    for _ in range(100):
        saved = SavedModel.of(fitted(data, 0.5))
        found = saved.model.captures(data.data)
        for number, ends in enumerate(saved.count_intervals()):
            for label, (low, high) in zip(saved.classes, ends, strict=True):
                exact = int(((found == number) & (data.target.to_numpy() == label)).sum())
                covered += low <= exact <= high
                there += 1
    assert there > 2_000
    assert covered / there > 0.94


def test_what_is_booked_and_what_it_costs(data, tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.json", epsilon=4.0)
    fitted(data, ledger=ledger)
    fitted(data, ledger=ledger, max_columns=3, tree_depth=1, counts_share=0.2)
    fitted(data, ledger=ledger, max_columns=3, counts_share=0, records_per_person=2)
    first, second, third = ledger.entries
    assert {entry.what for entry in ledger.entries} == {"DPScoreCardClassifier, score cards"}
    assert all(entry.epsilon == entry.spent_epsilon == entry.proved_epsilon == 1 for entry in ledger.entries)
    part = Fraction
    assert set(first.costs) == {Cost(DISCRETE_LAPLACE, part(9, 60), times=6), Cost(DISCRETE_LAPLACE, part(1, 10))}
    assert set(second.costs) == {
        Cost(BOUNDED_RANGE, part(4, 5) * TREE_SHARE),
        Cost(PURE, part(4, 5) * CHOICE_SHARE / 3, times=3),
        Cost(DISCRETE_LAPLACE, part(4, 5) * (1 - TREE_SHARE - CHOICE_SHARE) / 3, times=3),
        Cost(DISCRETE_LAPLACE, part(1, 5)),
    }
    for entry in (first, second, third):
        assert sum(cost.epsilon * cost.times for cost in entry.costs) == 1
    with pytest.raises(BudgetError):
        fitted(data, epsilon=1.5, ledger=ledger)
    assert len(ledger.entries) == 3


@pytest.mark.parametrize("parameters", [{}, {"tree_depth": 1, "max_columns": 2}])
def test_it_can_be_measured_with_privacy(data, parameters):
    saved = SavedModel.of(fitted(data, **parameters))
    ledger = Ledger(2.0)
    exact = (saved.predict(data.data) == data.target.to_numpy()).mean()
    measured = noisy_evaluation(saved, data.data, data.target, epsilon=1.0, ledger=ledger)
    assert measured.accuracy.value == pytest.approx(exact, abs=0.01)
    found = noisy_evaluation(saved, data.data, data.target, epsilon=1.0, ledger=ledger, by=["c_charge_degree"])
    assert found.accuracy.value == pytest.approx(exact, abs=0.02)
    assert ledger.remaining[0] == 0


@pytest.mark.parametrize("parameters", [{}, {"tree_depth": 1, "max_columns": 2}])
def test_a_release_of_it_holds(data, parameters, tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.json", epsilon=4.0)
    saved = SavedModel.of(fitted(data, ledger=ledger, **parameters))
    saved.save(tmp_path / "model.json")
    write_release(tmp_path / "model.json", tmp_path / "release", table_name="COMPAS", date="2026-11-17")
    checks = verify_release(tmp_path / "release")
    assert checks.ok
    assert {check.what for check in checks.checks if check.holds is None} <= {"code/model.onnx agrees with the model"}
    record = json.loads((tmp_path / "release" / "disclosure.json").read_text(encoding="utf-8"))
    assert "score cards" in json.dumps(record)
    assert "score card" in (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    space = {}
    exec((tmp_path / "release" / "code" / "model.py").read_text(encoding="utf-8"), space)
    few = data.data.head(50)
    records = few.astype(object).where(few.notna(), None).to_dict("records")
    assert [space["predict"](record) for record in records] == saved.predict(few).tolist()


def test_the_statement_names_the_mechanism_and_the_limits(data):
    clf = fitted(data, monotonic_cst={"priors_count": 1})
    assert clf.privacy_.mechanism == "score cards"
    assert clf.privacy_.proved.epsilon == 1
    assert clf.privacy_.proved.delta == 0
    assert any("priors_count rises" in limit for limit in clf.privacy_.limits)
    assert np.isclose(clf.predict_proba(data.data).sum(1), 1).all()


def test_an_evaluation_of_a_card_of_three_classes_shows_no_shares_that_the_card_does_not_have():
    card = ScoreCard(
        (Card((0, 1, 2), ()),), (), tuple(map(Answer, "abc")), tuple("abc"), Schema([Boolean("b")], "y", list("abc"))
    )
    found = noisy_evaluation(SavedModel(card), {"b": [True] * 9}, list("abc") * 3, 5.0)
    assert found.parts == ()
    assert "reliab" not in found.to_text().lower()

"""A model's file holds what was released and nothing more, is the same when read again, and is refused if it was changed."""

import json
import os
from fractions import Fraction

import numpy as np
import pytest

from discreet import (
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    GreedyRuleListClassifier,
    Ledger,
    OptimalRuleListClassifier,
    RuleList,
    SavedModel,
)
from discreet._utils.errors import ModelError
from discreet.accounting.ledger import LedgerSnapshot
from discreet.datasets import load_compas
from discreet.models.saved import checksum
from discreet.private.reminders import forget_all

DATA = load_compas(sensitive=False)


def fitted(learner=DPOptimalRuleListClassifier, **parameters):
    given = {"schema": DATA.schema, "max_length": 3} | parameters
    return learner(**given).fit(DATA.data, DATA.target)


def spoiled(model, **changes):
    """The file with other entries, and the checksum that it had."""
    return json.dumps(json.loads(model.to_json()) | changes)


def signed(model, **changes):
    """The file as a careful forger, or a later version, would write it."""
    data = json.loads(model.to_json()) | changes
    return json.dumps(data | {"checksum": checksum(data)})


MODEL = SavedModel.of(fitted(ledger=Ledger(epsilon=3.0), exclude=["sex"] if "sex" in DATA.schema.names else ()))


@pytest.mark.parametrize(
    "clf",
    [
        fitted(),
        fitted(DPGreedyRuleListClassifier, ledger=Ledger(epsilon=1.0)),
        fitted(DPGreedyRuleListClassifier, mechanism="sm-laplace", random_state=np.random.default_rng(0)),
        fitted(DPOptimalRuleListClassifier, class_weight={0: 1.0, 1: np.float64(2.5)}, prior=[1, 1, 2], counts_share=0),
        fitted(GreedyRuleListClassifier),
        fitted(OptimalRuleListClassifier, candidates=["priors_count > 2"], max_length=2),
        fitted(DPOptimalRuleListClassifier, schema=None, infer_schema=True),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_a_file_is_the_same_when_it_is_read_again_and_predicts_the_same(clf, tmp_path):
    path = tmp_path / "model.json"
    SavedModel.of(clf).save(path)
    model = SavedModel.load(path)
    assert model == SavedModel.of(clf)
    assert model.learner == type(clf).__name__
    assert model.privacy == getattr(clf, "privacy_", None)
    assert (model.predict(DATA.data) == clf.predict(DATA.data)).all()
    assert (model.predict_proba(DATA.data) == clf.predict_proba(DATA.data)).all()
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_file_holds_public_parameters_only():
    clf = fitted(
        DPGreedyRuleListClassifier, random_state=12345, candidates=["priors_count > 2", "juv_count > 0"], max_length=2
    )
    text = SavedModel.of(clf).to_json()
    assert "12345" not in text
    parameters = SavedModel.of(clf).parameters
    assert not {"ledger", "schema", "candidates", "random_state"} & set(parameters)
    assert parameters["epsilon"] == 1.0


def test_a_file_of_a_private_model_says_nothing_else_about_the_records():
    """Two fits that released the same list give the same file, however many records there were."""
    clf = fitted(counts_share=0)
    other = DPOptimalRuleListClassifier(schema=DATA.schema, max_length=3, counts_share=0)
    forget_all()  # as in a process of its own
    other.fit(DATA.data.head(50), DATA.target.head(50))
    other.rule_list_ = clf.rule_list_
    assert SavedModel.of(other).to_json() == SavedModel.of(clf).to_json()


def test_a_ledger_is_saved_without_what_depends_on_records():
    ledger = Ledger(epsilon=3.0, delta=1e-6)
    clf = fitted(DPGreedyRuleListClassifier, ledger=ledger, epsilon=0.5)
    snapshot = SavedModel.of(clf).ledger
    assert snapshot.spent == ledger.spent
    assert snapshot.remaining == (Fraction(5, 2), Fraction(1, 10**6))
    assert snapshot.proved == ledger.proved
    (entry,) = ledger.entries
    assert entry.spent_epsilon is not None, "the ledger itself keeps it"
    assert (snapshot.number, snapshot.release) == (1, entry.release)
    assert set(snapshot.to_dict()) == {
        *("epsilon", "delta", "entries", "spent", "proved", "unproved", "ledger", "number", "release"),
        *("rho", "rho_budget", "rho_delta", "records_per_person"),
    }
    assert entry.when[:10] not in str(snapshot.to_dict())
    assert LedgerSnapshot.from_dict(snapshot.to_dict()) == snapshot
    saved = SavedModel.of(clf)
    ledger.reserve(Fraction(1), Fraction(0), "later")
    assert saved.ledger == snapshot


def test_the_target_has_a_name_if_somebody_knows_it():
    assert MODEL.target == DATA.schema.target
    assert SavedModel.of(fitted(), target="charged again").target == "charged again"
    assert SavedModel.of(fitted(schema=None, infer_schema=True)).target is None


@pytest.mark.parametrize("clf", [GreedyRuleListClassifier(), object(), RuleList.parse("if a then 1 else 0")])
def test_what_is_not_fitted_cannot_be_saved(clf):
    with pytest.raises(ModelError, match="call fit first"):
        SavedModel.of(clf)


def changed_by_hand():
    data = json.loads(MODEL.to_json())
    rules = json.loads(json.dumps(data["rule_list"]))
    rules["default"]["then"] = 1 - rules["default"]["then"]
    privacy = json.loads(json.dumps(data["privacy"]))
    privacy["proved"]["epsilon"] = 0.01
    schema = json.loads(json.dumps(data["rule_list"]))
    schema["schema"]["columns"] = dict(reversed(schema["schema"]["columns"].items()))
    yield "a label", {"rule_list": rules}
    yield "the statement", {"privacy": privacy}
    yield "no statement", {"privacy": None}
    yield "the order of columns", {"rule_list": schema}
    yield "a parameter", {"parameters": {}}
    yield "the checksum", {"checksum": "sha256:0"}
    yield "a new entry", {"note": "checked by legal"}


@pytest.mark.parametrize(("what", "changes"), list(changed_by_hand()), ids=lambda x: x if isinstance(x, str) else "")
def test_a_file_that_was_changed_by_hand_is_refused(what, changes):
    with pytest.raises(ModelError, match=r"was changed after it was saved.* save the model again"):
        SavedModel.from_json(spoiled(MODEL, **changes))


def test_a_file_that_was_only_indented_in_another_way_is_read():
    assert SavedModel.from_json(json.dumps(json.loads(MODEL.to_json()), indent=4)) == MODEL


def test_a_newer_file_asks_for_a_newer_package():
    with pytest.raises(ModelError, match=r"another discreet \('9.0'\).*version 2.* reads 1; update discreet"):
        SavedModel.from_json(signed(MODEL, version=2, discreet="9.0"))


@pytest.mark.parametrize("version", [0, "1", None, True, 1.5])
def test_an_unknown_version_is_refused(version):
    with pytest.raises(ModelError, match="another discreet"):
        SavedModel.from_json(signed(MODEL, version=version))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_that_was_cut_off_is_refused(share, tmp_path):
    path = tmp_path / "model.json"
    text = MODEL.to_json()
    path.write_text(text[: int(share * len(text))])
    with pytest.raises(ModelError, match=r"model.json: .*cut off.*save the model again"):
        SavedModel.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "is not a discreet model"),
        ('{"name": "package"}', "is not a discreet model"),
        (MODEL.rule_list.to_json(), "is not a discreet model"),
        (MODEL.privacy.to_json(), "is not a discreet model"),
        ("a,b\n1,2\n", "not valid JSON"),
        ('{"format": NaN}', "not valid JSON"),
    ],
    ids=["list", "other", "rule list", "statement", "table", "NaN"],  # models differ from process to process
)
def test_something_else_is_refused(text, message):
    with pytest.raises(ModelError, match=message):
        SavedModel.from_json(text)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b"PAR1\xff\xfe\x00")
    with pytest.raises(ModelError, match="UTF-8"):
        SavedModel.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule_list": {"format": "discreet rule list", "version": 7}}, "rule list cannot be read: .*update it"),
        ({"privacy": {}}, "does not belong there"),
        ({"ledger": {"epsilon": "1", "delta": "0"}}, "does not belong there"),
        ({"learner": 1}, "does not belong there"),
        ({"target": 1}, "does not belong there"),
        ({"extra": 1}, "does not belong there"),
    ],
)
def test_content_with_a_fitting_checksum_is_checked_too(changes, message):
    with pytest.raises(ModelError, match=message):
        SavedModel.from_json(signed(MODEL, **changes))


OF_VERSION_0_5 = {
    "epsilon": "3",
    "delta": "1/1000",
    "entries": [
        {"what": "a", "epsilon": "1/2", "delta": "0", "when": "2024-05-06", "proved_epsilon": p, "proved_delta": d}
        for p, d in (("1/2", "0"), ("1/3", "1/2000"), (None, None))
    ],
}


def test_the_ledger_of_a_model_of_version_0_5_is_refused():
    with pytest.raises(ModelError, match="does not belong there"):
        SavedModel.from_json(signed(MODEL, ledger=OF_VERSION_0_5))


@pytest.mark.parametrize(
    "change",
    [
        *({"entries": -1}, {"entries": True}, {"number": 5}, {"number": 0}, {"unproved": 9}, {"spent": ["1"]}),
        *({"more": 1}, {"proved": ["-1", "0"]}, {"release": 5}, {"ledger": "x" * 300}, {"delta": "1"}),
    ],
)
def test_a_summary_of_a_ledger_that_cannot_be_is_refused(change):
    data = json.loads(MODEL.to_json())["ledger"] | change
    with pytest.raises(ModelError, match="does not belong there"):
        SavedModel.from_json(signed(MODEL, ledger=data))


def test_a_model_is_as_large_after_1000_releases_as_after_one():
    ledger = Ledger(epsilon=3.0)
    clf = fitted(DPGreedyRuleListClassifier, ledger=ledger, epsilon=0.5)
    first = SavedModel.of(clf).to_json()
    for _ in range(1000):
        ledger.reserve(Fraction(1, 1000), Fraction(0), "one of many")
    assert len(SavedModel.of(clf).to_json()) <= len(first) + 50


def test_a_model_has_no_number_in_a_ledger_that_it_was_not_booked_on():
    clf = fitted(DPGreedyRuleListClassifier, ledger=Ledger(epsilon=3.0))
    clf.ledger = Ledger(epsilon=3.0)
    assert SavedModel.of(clf).ledger.number is None


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    MODEL.save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        SavedModel.of(fitted()).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.json"]


def test_parameters_that_json_cannot_say_are_left_out():
    clf = fitted(time_limit=None)
    clf.time_limit, clf.prior, clf.class_weight, clf.rules_per_draw = (
        float("inf"),
        [object()],
        {"a": float("nan")},
        10**400,
    )
    parameters = SavedModel.of(clf).parameters
    assert not {"time_limit", "prior", "class_weight", "rules_per_draw"} & set(parameters)
    assert SavedModel.from_json(SavedModel.of(clf).to_json()) == SavedModel.of(clf)

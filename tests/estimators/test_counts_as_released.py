"""Counts on models are the noisy counts as released, whatever the label; a label is a decision, and the model says why."""

import csv
import sys

import duckdb
import numpy as np
import onnxruntime
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPGreedyTreeClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    Literal,
    Rule,
    RuleList,
    SavedModel,
    Schema,
    Split,
    Tree,
)
from discreet._utils.errors import RuleError
from discreet.cli import main
from discreet.models.display.summary import summarize
from discreet.models.display.wording import lines_in_labels, reason_for_label
from discreet.models.partition import Answer
from discreet.private.noise import discrete_laplace
from discreet.report.html import to_html

WEIGHTED = {"class_weight": {1: 100}}
LEARNERS = {
    "a list drawn whole": (DPOptimalRuleListClassifier, {"max_length": 3}),
    "a list drawn rule by rule": (DPOptimalRuleListClassifier, {"max_length": 3, "rules_per_draw": 1}),
    "a weighted list": (DPOptimalRuleListClassifier, {"max_length": 3, **WEIGHTED}),
    "a tree drawn whole": (DPOptimalTreeClassifier, {"max_depth": 2}),
    "a tree by Gini": (DPOptimalTreeClassifier, {"max_depth": 2, "criterion": "gini"}),
    "a weighted tree": (DPOptimalTreeClassifier, {"max_depth": 2, **WEIGHTED}),
    "a weighted tree by Gini": (DPOptimalTreeClassifier, {"max_depth": 2, "criterion": "gini", **WEIGHTED}),
    **{
        f"a greedy list by {m}": (DPGreedyRuleListClassifier, {"max_length": 3, "mechanism": m})
        for m in ("mass", "purity")
    },
    "a greedy list by inverse": (DPGreedyRuleListClassifier, {"max_length": 3, "mechanism": "inverse"}),
    "a greedy tree": (DPGreedyTreeClassifier, {"max_depth": 2}),
}


def records(n_classes, rare=False, n=600):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (n, 4)) == 1
    y = np.where(rng.random(n) < (0.03 + 0.05 * X[:, 0] if rare else 0.4 + 0.1 * X[:, 0]), 1, 0)
    y = np.where(rng.random(n) < 0.3, 2, y) if n_classes == 3 else y
    schema = Schema([Boolean(f"x{i}") for i in range(4)], "y", list(range(n_classes)))
    return X, y, schema


@pytest.fixture
def released(monkeypatch):
    """Every histogram that was given out."""
    seen, answer = [], discrete_laplace.release

    def listened(*given):
        noisy = answer(*given)
        seen.append(np.asarray(noisy, float).ravel())
        return noisy

    for name, module in list(sys.modules.items()):  # each module of queries has its own name of it
        if name.startswith("discreet.private.queries") and getattr(module, "release", None) is answer:
            monkeypatch.setattr(module, "release", listened)
    return seen


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_counts_are_those_that_the_noise_gave(name, n_classes, released):
    kind, parameters = LEARNERS[name]
    if n_classes == 3 and parameters.get("mechanism") == "purity":
        pytest.skip("purity is for two classes")
    X, y, schema = records(n_classes, rare="class_weight" in parameters)
    contradicted = 0
    for seed in range(4):
        released.clear()
        clf = kind(epsilon=0.3, schema=schema, random_state=seed, **parameters).fit(X, y)
        given = iter(np.concatenate(released).reshape(-1, n_classes).tolist())
        counts = [answer.counts for answer in clf.model_.answers]
        # in order; what no record can reach is left out of a model, and its counts with it
        assert all(list(numbers) in given for numbers in counts)
        summary = summarize(clf)
        assert summary.total == sum(max(0.0, c) for numbers in counts for c in numbers)
        contradicted += sum(bool(step.reason) for step in summary.steps)
    assert contradicted or "class_weight" not in parameters, "labels and counts agree: nothing was tried"


@pytest.mark.parametrize("kind", [DPOptimalRuleListClassifier, DPOptimalTreeClassifier])
def test_without_weights_the_label_has_the_largest_share_and_with_weights_shares_are_those_of_counts(kind):
    X, y, schema = records(3, rare=True)
    for seed in range(6):
        plain = kind(epsilon=0.1, schema=schema, random_state=seed).fit(X, y)
        proba = plain.predict_proba(X)
        assert (plain.classes_[proba.argmax(1)] == plain.predict(X)).all()
        assert np.allclose(proba.sum(1), 1)
    heavy = kind(epsilon=5.0, schema=schema, random_state=0, class_weight={1: 100}).fit(X, y)
    answers = [heavy.model_.answers[i] for i in heavy.model_.captures(X)]
    shares = [np.maximum(a.counts, 0) / np.maximum(a.counts, 0).sum() for a in answers]
    assert (heavy.predict_proba(X) == shares).all()
    assert (heavy.classes_[heavy.predict_proba(X).argmax(1)] != heavy.predict(X)).any()


ROOT = Split(Literal("a"), Answer("ill", (4155.0, 85.0)), Answer("well", (900.0, -3.0)))
LISTED = (Rule((Literal("a"),), "ill", (4155.0, 85.0)),), Rule((), "well", (900.0, -3.0)), ("well", "ill"), None
WEIGHTS = (1, 100)
MODELS = {
    "tree": Tree(ROOT, ("well", "ill"), class_weight=WEIGHTS),
    "list": RuleList(*LISTED, class_weight=WEIGHTS),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_exports_decide_by_the_label_and_give_the_share_of_the_counts(model):
    labels, share = ["ill", "well"], [85 / 4240, 0.0]
    assert model.predict({"a": [True, False]}).tolist() == labels
    assert model.predict_proba({"a": [True, False]})[:, 1].tolist() == share
    for of, expected in ((None, labels), ("ill", share)):
        made = {}
        exec(model.to_python("score", share_of=of), made)
        assert [made["score"]({"a": a}) for a in (True, False)] == expected
        said = duckdb.sql(f"SELECT {model.to_sql(share_of=of)} FROM (VALUES (true), (false)) t(a)").fetchall()
        assert [row[0] for row in said] == expected
    found = onnxruntime.InferenceSession(model.to_onnx()).run(None, {"a": np.array([[1.0], [0.0]])})
    assert found[0].tolist() == labels
    assert np.allclose(found[1][:, 1], share)
    pmml = model.to_pmml(as_tree=True)
    assert f'value="ill" recordCount="85.0" probability="{share[0]!r}"' in pmml
    assert 'score="ill"' in pmml


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_file_keeps_weights_and_counts_and_everything_says_the_reason(model):
    again = SavedModel.from_json(SavedModel(model).to_json()).model
    assert again == model
    assert again.class_weight == (1.0, 100.0)
    assert type(model).from_json(model.to_json()) == model
    said = "ill   (2 % of 4,240; a missed case counts 100 times)"
    assert sum(line.endswith(said) for line in lines_in_labels(model)) == 1
    for html in (to_html(SavedModel(model)), model._repr_html_()):
        assert html.count("a missed case counts 100 times") == 1
    assert summarize(SavedModel(model)).total == 5140
    bare = type(model).from_json(
        type(model)(*([ROOT, ("well", "ill")] if isinstance(model, Tree) else LISTED)).to_json()
    )
    assert bare.class_weight is None
    assert bare.predict_proba({"a": [True]}).tolist()[0] == pytest.approx([0.5, 0.5])
    assert bare.predict_proba({"a": [True]}).argmax() == 1
    assert (
        reason_for_label(bare, bare.answers[0], True) == f"drawn with the {bare.kind.split()[-1]}; the counts are noisy"
    )
    assert "raised" not in to_html(SavedModel(bare))


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(-50, 500), min_size=n, max_size=n),
            st.integers(0, n - 1),
            st.none() | st.lists(st.integers(1, 100), min_size=n, max_size=n),
        )
    )
)
def test_for_any_counts_and_label_the_counts_stay_and_shares_are_shares(drawn):
    counts, label, weights = drawn
    for model in (
        RuleList((), Rule((), label, counts), range(len(counts)), None, weights),
        Tree(Answer(label, counts), range(len(counts)), None, weights),
    ):
        (step,) = summarize(SavedModel.from_json(SavedModel(model).to_json())).steps
        assert step.counts == tuple(counts)
        assert step.support == sum(max(0, c) for c in counts)
        shares = model.shares_of(model.answers[0])
        assert shares.sum() == pytest.approx(1)
        if weights is None:
            assert shares.argmax() == label
        elif step.support:
            assert shares.tolist() == [max(0, c) / step.support for c in counts]
        assert bool(step.reason) == (max(0, counts[label]) < max(0, *counts))


def test_reasons_name_the_class_that_is_compared_with_where_there_are_several():
    model = RuleList((), Rule((), "c", (50, 10, 30)), ("a", "b", "c"), class_weight=(1, 1, 2.5))
    assert reason_for_label(model, model.answers[0], True) == "a missed case counts 2.5 times as much as one of a"
    light = RuleList((), Rule((), "c", (50, 10, 3)), ("a", "b", "c"), class_weight=(1, 1, 2.5))
    assert reason_for_label(light, light.answers[0], True) == "drawn with the list; the counts are noisy"
    assert reason_for_label(light, light.answers[0], False) == "chosen with the whole list"


@pytest.mark.parametrize("weights", [(1,), (1, 0), (1, -2), (1, float("nan"))])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(RuleError):
        RuleList((), "no", ("no", "yes"), class_weight=weights)


def test_the_command_line_prints_counts_that_are_true(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.random(20_000) < 0.2
    y = (rng.random(20_000) < np.where(a, 0.04, 0.002)).astype(int)
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([["a", "y"], *zip(np.where(a, "true", "false"), y, strict=True)])
    Schema([Boolean("a")], "y", [0, 1]).save(tmp_path / "s.toml")
    model = tmp_path / "m.json"
    options = ["--class-weight", "1=100", "--epsilon", "5", "--schema", str(tmp_path / "s.toml")]
    ran = CliRunner().invoke(main, ["fit", "tree", str(tmp_path / "t.csv"), *options, "--out", str(model)])
    assert ran.exit_code == 0, ran.output
    shown = " ".join(CliRunner().invoke(main, ["show", str(model)]).output.replace("│", " ").split())
    assert "a missed case counts 100 times" in shown
    saved = SavedModel.load(model)
    assert sum(c for answer in saved.model.answers for c in answer.counts) == pytest.approx(20_000, abs=200)
    assert saved.predict_proba({"a": [True]})[0, 1] == pytest.approx(0.04, abs=0.01)
    assert saved.predict({"a": [True]}).tolist() == [1]

"""A label is a decision; counts are what was released. Nothing raises a count to fit a label."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as d
from discreet._utils.errors import RuleError
from discreet.cli.show import coloured
from discreet.models.display.summary import summarize
from discreet.private.noise.seeded import SeededEntropy
from discreet.report.html import to_html

SCHEMA = d.Schema(
    [d.Numeric("age", cuts=[30, 50, 70]), d.Boolean("smoker"), d.Categorical("ward", categories=["a", "b"])],
    "outcome",
    ["well", "ill"],
)
THREE = d.Schema(SCHEMA.columns, "outcome", ["well", "ill", "dead"])
WEIGHTED = {"class_weight": {"ill": 100}}


def records(schema, n=3000, rare=0.02):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 90, n), "smoker": rng.random(n) < 0.3, "ward": rng.choice(["a", "b"], n)}
    )
    ill = rng.random(n) < rare * (1 + 2 * frame["smoker"])
    labels = np.where(ill, "ill", "well")
    if len(schema.classes) == 3:
        labels[rng.random(n) < 0.3] = "dead"
    return frame, labels


def learners():
    for schema in (SCHEMA, THREE):
        n = len(schema.classes)
        for more in ({}, WEIGHTED):
            yield pytest.param(d.DPOptimalRuleListClassifier, schema, more | {"max_length": 3}, id=f"list {n} {more}")
            yield pytest.param(d.DPOptimalTreeClassifier, schema, more | {"max_depth": 2}, id=f"tree {n} {more}")
        by_gini = WEIGHTED | {"max_depth": 2, "criterion": "gini"}
        yield pytest.param(d.DPOptimalTreeClassifier, schema, by_gini, id=f"by Gini {n}")
        yield pytest.param(d.DPGreedyTreeClassifier, schema, {"max_depth": 2}, id=f"greedy tree {n}")
        yield pytest.param(d.DPGreedyRuleListClassifier, schema, {"max_length": 3}, id=f"greedy list {n}")


@pytest.mark.parametrize("epsilon", [0.05, 2.0])
@pytest.mark.parametrize(("kind", "schema", "parameters"), [*learners()])
def test_counts_are_those_that_were_drawn(kind, schema, parameters, epsilon, monkeypatch):
    released, real = [], SeededEntropy.discrete_laplace

    def heard(self, values, scale):
        released.append(tuple(map(float, drawn := real(self, values, scale))))
        return drawn

    monkeypatch.setattr(SeededEntropy, "discrete_laplace", heard)
    for seed in range(5):
        released.clear()
        clf = kind(epsilon=epsilon, schema=schema, random_state=seed, **parameters).fit(*records(schema))
        every = [number for draw in released for number in draw]
        for answer in clf.model_.answers:
            n = len(answer.counts)
            assert any(tuple(every[i : i + n]) == answer.counts for i in range(len(every))), "no such draw"


@pytest.mark.parametrize("kind", [d.DPOptimalRuleListClassifier, d.DPOptimalTreeClassifier])
def test_with_weights_the_probability_is_the_share_and_the_label_a_decision(kind):
    frame, labels = records(SCHEMA)
    clf = kind(epsilon=5.0, schema=SCHEMA, random_state=0, **WEIGHTED).fit(frame, labels)
    captured, decided = clf.model_.captures(frame), 0
    for number, answer in enumerate(clf.model_.answers):
        counts, ill = np.maximum(answer.counts, 0), clf.model_.classes.index("ill")
        assert clf.predict_proba(frame[captured == number])[:1].tolist() == [(counts / counts.sum()).tolist()]
        exact = (labels[captured == number] == "ill").mean()
        assert abs(counts[ill] / counts.sum() - exact) < 0.02
        decided += answer.label == "ill" and counts[ill] < counts[1 - ill]
    assert decided, "with these weights some part is called ill though few of its records are"
    assert abs(summarize(clf).total - len(frame)) < 200


def test_without_weights_a_drawn_label_gets_as_much_as_the_most_frequent_class():
    rules = d.RuleList((), d.Rule((), "ill", (30, 10)), ("well", "ill"))
    assert rules.answers[0].counts == (30, 10)
    assert rules.shares_of(rules.answers[0]) == pytest.approx([0.5, 0.5], abs=1e-8)
    assert rules.shares_of(rules.answers[0]).argmax() == 1
    others = d.RuleList((), d.Rule((), "c", (30, 10, 0)), ("a", "b", "c"))
    three = others.shares_of(others.answers[0])
    assert three == pytest.approx([3 / 7, 1 / 7, 3 / 7], abs=1e-8)
    assert three.argmax() == 2


def decided():
    rules = (d.Rule((d.Literal("smoker", "is true"),), "ill", (4156, 85)),)
    return d.RuleList(rules, d.Rule((), "well", (900, 9)), ("well", "ill"), SCHEMA, class_weight=(1, 100))


def test_weights_are_kept_in_the_file_and_refused_if_they_are_none():
    for model in (
        decided(),
        d.Tree(d.Split(d.Literal("smoker", "is true"), "ill", "well"), ("well", "ill"), SCHEMA, (1, 9)),
    ):
        assert type(model).from_json(model.to_json()) == model
        assert type(model).from_json(model.to_json()).class_weight == model.class_weight
        for bad in ([1], [1, 0], [1, -2], [1, "x"], 7, [1, None]):
            changed = json.loads(model.to_json()) | {"class_weight": bad}
            with pytest.raises(RuleError):
                type(model).from_json(json.dumps(changed))
    assert d.RuleList.parse("if a then 1 else 0").class_weight is None


def test_exports_give_the_label_that_was_decided_and_the_share_that_was_counted():
    model, share = decided(), 85 / 4241
    made = {}
    exec(model.to_python("label") + "\n" + model.to_python("share", share_of="ill"), made)
    assert made["label"]({"smoker": True}) == "ill"
    assert made["share"]({"smoker": True}) == share
    query = f"SELECT {model.to_sql()}, {model.to_sql(share_of='ill')} FROM (SELECT true AS smoker)"
    assert duckdb.sql(query).fetchall() == [("ill", share)]
    assert 'recordCount="4156.0"' in model.to_pmml()
    assert f'probability="{share!r}"' in model.to_pmml(as_tree=True)


def test_onnx_gives_the_share_that_was_counted():
    onnxruntime = pytest.importorskip("onnxruntime")
    scorer = onnxruntime.InferenceSession(decided().to_onnx())
    label, shares = scorer.run(None, {"smoker": np.array([[1.0]])})
    assert label.tolist() == ["ill"]
    assert shares[0][1] == pytest.approx(85 / 4241)


def test_the_reason_is_said_where_label_and_counts_differ():
    model = d.SavedModel(decided())
    said = coloured(model.model).plain
    assert "2% of 4,241" in said
    assert "a missed case counts 100 times" in said
    assert said.count("counts 100 times") == 1  # the default's label is its most frequent class
    assert to_html(model).lower().count("a missed case counts 100 times") == 1
    assert "a missed case counts 100 times" in model.model._repr_html_()
    drawn = d.RuleList((), d.Rule((), "ill", (30, 10)), ("well", "ill"))
    assert "chosen with the whole list" in to_html(d.SavedModel(drawn)).lower()


@given(st.lists(st.integers(-50, 500), min_size=2, max_size=4), st.integers(0, 3), st.booleans())
def test_what_is_shown_is_what_was_given(counts, label, weighted):
    classes = tuple("abcd"[: len(counts)])
    weights = tuple(range(1, len(counts) + 1)) if weighted else None
    model = d.RuleList((), d.Rule((), classes[label % len(counts)], counts), classes, class_weight=weights)
    (step,) = summarize(d.SavedModel(model)).steps
    assert step.counts == model.answers[0].counts == tuple(counts)
    assert step.support == sum(max(0, c) for c in counts)
    if step.shares is not None:
        assert step.shares == pytest.approx([max(0, c) / step.support for c in counts])
    assert model.shares_of(model.answers[0]).sum() == pytest.approx(1)

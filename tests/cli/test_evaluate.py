"""``discreet evaluate --epsilon``: groups, options that go together, the page, and what it costs."""

import json

import numpy as np
import pandas as pd
import pytest

from discreet import Boolean, Categorical, Ledger, Literal, Numeric, Rule, RuleList, SavedModel, Schema

from .test_practitioner import flat, run

EVALUATE = ("evaluate", "m.json", "t.csv", "--model-is-public", "--epsilon")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with a table, a model that may not use the column sex, and a schema that describes it."""
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 400), "sex": rng.choice(["f", "m"], 400), "a=b": [True, False] * 200}
    )
    frame["ill"] = np.where(rng.random(400) < np.where(frame["age"] > 40, 0.8, 0.2), "yes", "no")
    frame.to_csv("t.csv", index=False)
    columns = Numeric("age", cuts=[30, 40, 50]), Categorical("sex", categories=["f", "m"]), Boolean("a=b")
    schema = Schema(columns, "ill", ["no", "yes"])
    (tmp_path / "s.toml").write_text(schema.to_toml(), encoding="utf-8")
    rules = RuleList.parse("if age > 40 then yes else no", ["no", "yes"], schema.exclude(["sex"]))
    SavedModel(rules, target="ill").save("m.json")
    return tmp_path


def test_everything_is_printed_and_paid_for_once(desk):
    run("ledger", "create", "l.json", "-e", "3")
    said = run(
        *EVALUATE, "2", "--by", "sex", "--by", "age=40", "-s", "s.toml", "--ledger", "l.json", "--report", "r.html"
    )
    for words in (
        "accuracy 0.",
        "balanced accuracy",
        "the noise and the sampling",
        "by sex",
        "by age",
        "<= 40",
        "minus the others",
    ):
        assert words in said
    assert len(Ledger.open("l.json").entries) == 1
    assert float(Ledger.open("l.json").remaining[0]) == 1
    page = (desk / "r.html").read_text(encoding="utf-8")
    assert "m.json, measured with privacy" in page
    assert "By <bdi" in page
    run(*EVALUATE, "2", "--ledger", "l.json", code=3)


def test_as_json_in_memory_and_in_an_engine(desk):
    pd.read_csv("t.csv").to_parquet("t.parquet")
    for table, *engine in (["t.csv"], ["t.parquet", "--engine", "duckdb"]):
        asked = ("evaluate", "m.json", table, *EVALUATE[3:], "1", "--by", "sex", "-s", "s.toml", "--json", *engine)
        found = json.loads(run(*asked))
        assert [group["group"] for group in found["groups"]] == ["f", "m"]
        assert found["low"] <= found["accuracy"] <= found["high"]
        assert found["proved"] is True
        assert found["epsilon"] == 1


def test_a_column_whose_name_has_a_sign_in_it(desk):
    found = json.loads(run(*EVALUATE, "1", "--by", "a=b", "--no-reliability", "--json"))
    assert [(group["column"], group["group"]) for group in found["groups"]] == [("a=b", "false"), ("a=b", "true")]
    assert found["reliability"] == []


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (("--by", "sex"), 1, "give another schema"),
        (("--by", "sax", "-s", "s.toml"), 1, "no column 'sax'; did you mean 'sex'?"),
        (("--by", "age=33"), 1, "no cut 33 in the schema, so groups cannot end there; near it are 30 and 40"),
        (("--by", "age", "--by", "age=33"), 2, "names 'age' twice"),
        (("--by", "age=x"), 2, "as in age=30,50"),
        (("--by", "ill"), 1, "ill"),
        (("--report", "t.csv"), 2, "needed for something else"),
    ],
)
def test_what_is_wrong_costs_nothing(desk, given, code, words):
    run("ledger", "create", "l.json", "-e", "3")
    assert words in flat(run(*EVALUATE, "1", "--ledger", "l.json", *given, code=code))
    assert not Ledger.open("l.json").entries


@pytest.mark.parametrize("option", [("--by", "age"), ("--report", "r.html"), ("--no-reliability",)])
def test_options_of_noisy_numbers_need_an_epsilon(desk, option):
    assert "go with --epsilon" in flat(run("evaluate", "m.json", "t.csv", "--public", *option, code=2))


# -- Labels ----------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def labelled(desk):
    """The same desk, with labels in both schemas."""
    columns = (
        Numeric("age", cuts=[30, 40, 50], label="Age in years"),
        Categorical("sex", categories=["f", "m"], label="Sex at birth", labels={"f": "female", "m": "male"}),
        Boolean("a=b", label="Insured", labels={"true": "has insurance", "false": "has none"}),
    )
    schema = Schema(columns, "ill", ["no", "yes"], class_labels={"no": "stays well", "yes": "falls ill"})
    (desk / "s.toml").write_text(schema.to_toml(), encoding="utf-8")
    older, rest = Rule((Literal("age", ">", 40),), "yes", (20, 80)), Rule((), "no", (80, 20))
    SavedModel(RuleList((older,), rest, ("no", "yes"), schema.exclude(["sex"])), target="ill").save("m.json")
    return desk


def test_people_read_labels_and_programs_names(labelled):
    called = ['"Age in years" > 40', "Sex at birth", "female", "Insured", "has insurance", "falls ill", "stays well"]
    by = ("--by", "sex", "--by", "a=b", "-s", "s.toml")
    said = run(*EVALUATE, "2", *by, "--report", "r.html")
    for words in called:
        assert words in said
    assert "predicted yes" not in said
    page = (labelled / "r.html").read_text(encoding="utf-8")
    for words in called[1:]:
        assert words in page
    assert "Age in years&quot; &gt; 40" in page
    found = json.loads(run(*EVALUATE, "2", *by, "--json"))
    assert found["classes"] == ["no", "yes"]
    assert found["class_labels"] == ["stays well", "falls ill"]
    groups = [(g["column"], g["group"], g["column_label"], g["group_label"]) for g in found["groups"]]
    assert groups[0] == ("sex", "f", "Sex at birth", "female")
    assert groups[3] == ("a=b", "true", "Insured", "has insurance")
    assert [part["condition"] for part in found["reliability"]] == ["age > 40", "all others"]
    assert found["reliability"][0]["condition_in_labels"] == '"Age in years" > 40'


def test_exact_numbers_have_labels_for_people_too(labelled):
    said = run("evaluate", "m.json", "t.csv", "--public")
    assert "falls ill" in said
    assert "stays well" in said
    assert set(json.loads(run("evaluate", "m.json", "t.csv", "--public", "--json"))["classes"]) == {"no", "yes"}


def test_exact_numbers_say_how_well_a_model_ranks(labelled):
    from sklearn.metrics import log_loss, roc_auc_score

    found = json.loads(run("evaluate", "m.json", "t.csv", "--public", "--json"))
    frame = pd.read_csv("t.csv")
    model = SavedModel.load("m.json")
    chances, ill = model.model.predict_proba(frame)[:, 1], frame[model.target] == "yes"
    assert found["area under the ROC curve"] == pytest.approx(roc_auc_score(ill, chances))
    assert found["log loss"] == pytest.approx(log_loss(ill, chances, labels=[False, True]), abs=1e-4)
    assert f"area under the ROC curve {found['area under the ROC curve']:.3f}" in run(
        "evaluate", "m.json", "t.csv", "--public"
    )
    frame[frame[model.target] == "no"].to_csv("t.csv", index=False)
    assert json.loads(run("evaluate", "m.json", "t.csv", "--public", "--json"))["area under the ROC curve"] is None
    assert "ROC" not in run("evaluate", "m.json", "t.csv", "--public")

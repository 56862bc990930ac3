"""Trees on the command line: the same path and the same promises as for lists, and options that go together."""

import json
import os

import click
import pandas as pd
import pytest

from discreet import Categorical, Ledger, Numeric, SavedModel, Schema, Split, Tree
from discreet.models.partition import Answer
from discreet.private.queries import trees
from discreet.rules.rules import Literal

from ..support.charges import late_from_charge
from ..support.streams_apart import runner
from .test_outputs import LONG_NAMES, SCHEMA
from .test_practitioner import FIT, desk, flat, hospital, main, read_by, run  # noqa: F401  (desk is a fixture)

TREE = ("fit", "tree", *FIT[2:])
GREEDY = ("fit", "greedy", *FIT[2:])


def parameters():
    return SavedModel.load("model.json").parameters


def test_from_a_csv_to_a_tree_a_report_and_scores(desk):  # noqa: F811
    run("ledger", "create", "ledger.json", "--epsilon", "6")
    said = run(*TREE, "--max-depth", "2", "--ledger", "ledger.json", "--report", "report.html")
    assert "if age <= 60" in said or "age" in said
    assert "epsilon = 5" in said
    assert "mechanism exact draw over all trees" in flat(run("show", "model.json", "--promise"))
    assert "1 of 6 left" in said
    assert "<html" in (desk / "report.html").read_text()
    model = SavedModel.load("model.json")
    assert isinstance(model.model, Tree)
    assert model.learner == "DPOptimalTreeClassifier"
    (entry,) = Ledger.open("ledger.json").entries
    assert entry.epsilon == entry.spent_epsilon == entry.proved_epsilon == 5
    run("predict", "model.json", "hospital.csv", "--out", "scores.csv", "--id", "age")
    scores = pd.read_csv("scores.csv")
    assert scores.columns.tolist() == ["age", "prediction", "share of no", "share of yes"]
    assert (scores.prediction == hospital().died).mean() > 0.8
    exact = json.loads(run("evaluate", "model.json", "hospital.csv", "--public", "--json"))
    assert exact["accuracy"] == (scores.prediction == hospital().died).mean()
    assert run("evaluate", "model.json", "hospital.csv", "-e", "1", "--ledger", "ledger.json").startswith("accuracy 0.")
    made = json.loads(run(*TREE, "--json", "--another-ledger"))
    assert made["tree"]["format"] == "discreet tree"
    assert made == {"model": "model.json", "report": None} | json.loads((desk / "model.json").read_text())


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--mechanism", "mass", "--counts-share", "0.2"],
        ["--mechanism", "sm-laplace", "--delta", "1e-6", "--min-support", "30"],
    ],
)
def test_a_greedy_tree_is_learned_by_any_mechanism(desk, options):  # noqa: F811
    run("ledger", "create", "ledger.json", "--epsilon", "6", "--delta", "1e-5")
    said = run(*GREEDY, "--tree", "--max-depth", "2", *options, "--ledger", "ledger.json", "--report", "report.html")
    assert "epsilon = 5" in said
    model = SavedModel.load("model.json")
    assert isinstance(model.model, Tree)
    assert model.learner == "DPGreedyTreeClassifier"
    assert model.parameters["max_depth"] == 2
    mechanism = model.parameters["mechanism"]
    assert f"mechanism {mechanism}" in flat(run("show", "model.json", "--promise"))
    assert Ledger.open("ledger.json").entries[0].what == f"DPGreedyTreeClassifier, {mechanism}"
    assert "<html" in (desk / "report.html").read_text()
    assert run("predict", "model.json", "hospital.csv", "--out", "scores.csv") is not None


def test_a_tree_is_shown_as_it_prints_itself(desk):  # noqa: F811
    run(*TREE, "--stages", "2,2", "--split", "0.95")
    model = SavedModel.load("model.json").model
    assert isinstance(model, Tree)
    shown = [line.strip(" │").partition("   ")[0] for line in run("show", "model.json").splitlines()]
    printed = [line.strip() for line in str(model).splitlines()]
    assert [line for line in shown if line in printed] == printed
    assert "if " in run("show", "model.json", "--format", "python")
    assert "CASE" in run("show", "model.json", "--format", "sql")
    assert "<html" in run("show", "model.json", "--format", "html")
    run("show", "model.json", "--out", "tree.txt")
    assert (desk / "tree.txt").read_text().startswith(f"{model}\n\n")


def test_the_code_of_a_fitted_tree_gives_the_scores(desk):  # noqa: F811
    import duckdb

    run(*TREE, "--stages", "2,2", "--split", "0.9")
    table = hospital().replace({"": None, "1.0": "1"})
    table = table.assign(cost=pd.to_numeric(table.cost), smoker=table.smoker.map({"yes": True, "no": False}))
    table.to_parquet("typed.parquet")
    scores = json.loads(run("predict", "model.json", "typed.parquet", "--json"))
    predicted = [row["prediction"] for row in scores]
    sql = run("show", "model.json", "--format", "sql")
    assert [x for (x,) in duckdb.sql(f"SELECT {sql} FROM 'typed.parquet'").fetchall()] == predicted
    space = {}
    exec(run("show", "model.json", "--format", "python"), space)
    plain = table.astype(object).where(table.notna(), None).to_dict("records")
    assert [space["predict"](record) for record in plain] == predicted


def test_the_parameters_of_trees(desk):  # noqa: F811
    run(*TREE)
    assert {name: parameters()[name] for name in ("max_depth", "stages", "criterion", "split", "prior")} == {
        "max_depth": 3,
        "stages": None,
        "criterion": "accuracy",
        "split": 0.5,
        "prior": None,
    }
    run(*TREE, "--stages", "2,2", "--criterion", "gini", "--split", "0.4", "--prior", "columns", "--time-limit", "60")
    found = parameters()
    assert (found["stages"], found["criterion"], found["split"], found["prior"]) == ([2, 2], "gini", 0.4, "columns")
    assert found["time_limit"] == 60
    run(*TREE, "--max-depth", "1", "--prior", "tests", "--counts-share", "0", "--records-per-person", "3", "-x", "age")
    found = parameters()
    assert (found["max_depth"], found["prior"], found["counts_share"], found["exclude"]) == (1, None, 0, ["age"])
    assert found["records_per_person"] == 3
    assert "age" not in SavedModel.load("model.json").model.used_columns
    for label in ("yes", "no"):
        run(*TREE, "--max-depth", "0", "--class-weight", f"{label}=1000")
        assert SavedModel.load("model.json").model.answers[0].label == label
    run(*FIT, "-k", "2")
    assert SavedModel.load("model.json").learner == "DPOptimalRuleListClassifier"


def test_how_long_it_may_take_is_said_when_asked_for(desk):  # noqa: F811
    told = (
        "The records are counted once, by 4 columns: at most 630 patterns, and never more than records\n"
        "Trees of up to depth 2, then 1, over 17 tests: less than a second for the sums, plus counting the records.\n"
    )
    for call, err in ((TREE, ""), ((*TREE, "--verbose"), told), ((*read_by("duckdb", TREE), "-v"), told)):
        assert runner().invoke(main, [*call, "--stages", "2,1"]).stderr == err


def test_a_stopped_draw_says_what_was_booked(desk, monkeypatch):  # noqa: F811
    def stopped(*_):
        raise KeyboardInterrupt

    run("ledger", "create", "l.json", "-e", "12")
    # while all trees are added up
    said = run(*TREE, "--time-limit", "1e-9", "--ledger", "l.json", code=1)
    assert "nothing was booked" in flat(said)
    assert "is booked" not in said
    with monkeypatch.context() as patched:
        patched.setattr(trees, "WeighedTrees", stopped)
        assert "Nothing was booked" in run(*TREE, "--ledger", "l.json", code=130)
    assert Ledger.open("l.json").entries == ()
    # in the second stage, and after it
    with monkeypatch.context() as patched:
        late_from_charge(patched, 2)
        said = run(*TREE, "--stages", "1,1", "--time-limit", "10", "--ledger", "l.json", code=1)
    assert "its budget stays spent" in flat(said)
    assert "Epsilon 5 is booked" in said
    monkeypatch.setattr(trees.TreeQueries, "count", stopped)
    assert "Epsilon 5 is booked" in run(*TREE, "--ledger", "l.json", code=130)
    assert not (desk / "model.json").exists()
    assert len(Ledger.open("l.json").entries) == 2
    assert "is booked" not in run(*TREE, "--ledger", "l.json", code=3)


def test_plan_says_what_to_expect_of_trees(desk):  # noqa: F811
    said = flat(run("plan", "tree", "--schema", "schema.toml", "--records", "10000", "-v"))
    assert "tree of the same depth" in said
    assert "Adult" in said
    deeper = json.loads(run("plan", "tree", "-s", "schema.toml", "-n", "10000", "--max-depth", "4", "--json"))
    shallow = json.loads(run("plan", "tree", "-s", "schema.toml", "-n", "10000", "--max-depth", "1", "--json"))
    for one, other in zip(deeper["expected"], shallow["expected"], strict=True):
        assert one["loss"] > other["loss"] > 0
    assert (deeper["model"], deeper["without privacy"]) == ("tree", None)
    measured = json.loads(
        run(
            "plan",
            "tree",
            "hospital.csv",
            "-s",
            "schema.toml",
            "--repeats",
            "2",
            "--max-depth",
            "2",
            "--json",
        )
    )
    assert measured["without privacy"] > 0.8
    assert measured["expected"][-1]["accuracy"] > 0.8
    assert all(e["loss"] is not None for e in measured["expected"])


@pytest.mark.parametrize("options", [["--stages", "1,1"], ["--criterion", "gini", "--max-depth", "1"]])
def test_plan_measures_where_there_is_no_bound(desk, options):  # noqa: F811
    how = ("-s", "schema.toml", *options)
    drawn = run("plan", "tree", *how, "--records", "1000", "--out", "plan.svg", code=2)
    assert "give a public stand-in table" in flat(drawn)
    alone = flat(run("plan", "tree", *how, "--records", "1000", "-v"))
    assert "Trees of up to depth 1" in alone, "how long it takes"
    assert ("correct on similar tables" in alone) == ("gini" in options)
    said = run("plan", "tree", "hospital.csv", *how, "--repeats", "2", "--out", "plan.svg")
    assert "accuracy, measured" in said
    assert "always the most frequent class: 0." in flat(said)
    assert "lost at most" not in said
    assert "accuracy on the stand-in" in (desk / "plan.svg").read_text()
    assert "Warning" not in said  # these records are public


def test_plan_refuses_what_does_not_go_together(desk):  # noqa: F811
    how = ("plan", "list", "-s", "schema.toml", "-n", "1000")
    assert "best list of the same length" in flat(run(*how, "--verbose"))
    Schema((Numeric("age", cuts=range(120)),), target="died", classes=["no", "yes"]).save("wide.toml")
    said = run("plan", "tree", "-s", "wide.toml", "-n", "1000", "--max-depth", "6", code=1)
    assert "max_depth is too large for 120 tests" in flat(said)


@pytest.mark.parametrize("schema", [SCHEMA, LONG_NAMES, Schema((Numeric("x", cuts=[1]),), classes=[0, 1])])
@pytest.mark.parametrize("depth", [0, 1, 7])
def test_the_space_that_is_reserved_is_enough(tmp_path, schema, depth):
    """A tree as deep and wide as it may be, of the longest tests there are."""
    from discreet import PrivacyStatement
    from discreet.accounting.statement import Guarantee
    from discreet.cli.ending import reserved

    column = max((c for c in schema.used if isinstance(c, Numeric | Categorical)), key=lambda c: len(c.name))
    is_number = isinstance(column, Numeric)
    test = Literal(column.name, "<=" if is_number else "=", (column.cuts if is_number else column.categories)[-1])
    node = Answer(max(schema.classes, key=lambda c: len(str(c))), [-123456789.12345678] * len(schema.classes))
    for _ in range(depth):
        node = Split(test, node, node)
    model = SavedModel(
        Tree(node, schema.classes, schema),
        PrivacyStatement("exact draw over all trees", None, Guarantee(1.0, 0.0), assumes=("x" * 500,) * 4),
        "DPOptimalTreeClassifier",
        {"exclude": [c.name for c in schema.columns], "stages": [1] * 8},
        schema.target,
        Ledger.open(tmp_path / "l.json", 99).snapshot(),
    )
    with click.Context(click.Command("fit")):
        place = reserved(tmp_path / "m.json", False, schema)
        assert len(model.to_json().encode()) < os.fstat(place.stream.fileno()).st_size


@pytest.mark.parametrize("model", ["list", "tree"])
def test_limits_are_kept_to_and_named(desk, model):  # noqa: F811
    limits = ("--monotonic-cst", "age:+1", "--monotonic-cst", "smoker:-1", "--forbid", "age,ward")
    run("fit", model, *FIT[2:], *limits)
    said = flat(run("show", "model.json", "--promise"))
    assert (
        "age rises: of two records that differ in it alone, the larger value never gets an earlier class of no, yes"
        in said
    )
    assert "no answer depends on both age and ward" in said
    assert parameters()["monotonic_cst"] == {"age": 1, "smoker": -1}
    assert parameters()["forbid"] == [["age", "ward"]]
    said = flat(run("fit", model, *FIT[2:], "--forbid", "age,wards", "--force", code=1))
    assert "forbid names 'wards', but there is no such column in the schema; did you mean 'ward'?" in said
    said = flat(run("plan", model, "-s", "schema.toml", "-n", "500", "--monotonic-cst", "ward:+1", code=1))
    assert "monotonic_cst names 'ward', but a categorical column has no order" in said
    assert "accuracy lost at most" in flat(run("plan", model, "-s", "schema.toml", "-n", "500", *limits))

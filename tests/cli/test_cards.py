"""Score cards on the command line: the same path and the same promises as for lists and trees, and options that go together."""

import json
import os
import re

import click
import numpy as np
import pandas as pd
import pytest

from discreet import Boolean, Categorical, Ledger, Literal, Numeric, SavedModel, Schema
from discreet.cli.ending import reserved
from discreet.cli.show import coloured
from discreet.models.partition import Answer
from discreet.models.score_card import Card, PointsTable, ScoreCard
from discreet.private.mechanisms.score_cards import CHOICE_SHARE, TREE_SHARE
from discreet.private.noise.sums import margin
from discreet.private.queries.cards import CardQueries

from ..support.streams_apart import runner
from .test_outputs import LONG_NAMES, SCHEMA
from .test_practitioner import FIT, desk, flat, hospital, main, read_by, run  # noqa: F401  (desk is a fixture)

CARD = ("fit", "card", *FIT[2:])


def parameters():
    return SavedModel.load("model.json").parameters


def typed():
    """The hospital's table with the types that SQL and Python expect."""
    table = hospital().replace({"": None, "1.0": "1"})
    return table.assign(cost=pd.to_numeric(table.cost), smoker=table.smoker.map({"yes": True, "no": False}))


def test_from_a_csv_to_a_card_a_report_and_scores(desk):  # noqa: F811
    run("ledger", "create", "ledger.json", "--epsilon", "7")
    said = run(*CARD, "--ledger", "ledger.json", "--report", "report.html")
    assert "start" in said
    assert "total below" in said
    assert "epsilon = 5" in said
    assert "mechanism score cards" in flat(run("show", "model.json", "--promise"))
    assert "2 of 7 left" in said
    assert "<html" in (desk / "report.html").read_text()
    model = SavedModel.load("model.json")
    assert isinstance(model.model, ScoreCard)
    assert model.learner == "DPScoreCardClassifier"
    (entry,) = Ledger.open("ledger.json").entries
    assert entry.what == "DPScoreCardClassifier, score cards"
    assert entry.epsilon == entry.spent_epsilon == entry.proved_epsilon == 5
    run("predict", "model.json", "hospital.csv", "--out", "scores.csv", "--id", "age")
    scores = pd.read_csv("scores.csv")
    assert scores.columns.tolist() == ["age", "prediction", "share of no", "share of yes"]
    assert (scores.prediction == hospital().died).mean() > 0.8
    exact = json.loads(run("evaluate", "model.json", "hospital.csv", "--public", "--json"))
    assert exact["accuracy"] == (scores.prediction == hospital().died).mean()
    for more in ([], ["--by", "smoker"]):
        said = run("evaluate", "model.json", "hospital.csv", "-e", "1", "--ledger", "ledger.json", *more)
        assert said.startswith("accuracy 0.")
    made = json.loads(run(*CARD, "--json", "--another-ledger"))
    assert made["score_card"]["format"] == "discreet score card"
    assert made == {"model": "model.json", "report": None} | json.loads((desk / "model.json").read_text())


def test_a_card_is_shown_as_a_table_with_risks_and_records(desk):  # noqa: F811
    run(*CARD, "--tree-depth", "1")
    saved = SavedModel.load("model.json")
    shown = [line.strip(" │") for line in run("show", "model.json").splitlines()]
    there = [" ".join(line.split()) for line in shown]
    tables, _, _ = str(saved.model).rpartition("\n\n")
    rows = [" ".join(line.replace('"', "").split()) for line in tables.splitlines() if line]
    assert [row for row in there if row in rows] == rows
    answer = saved.model.answers[-1]
    share = answer.shares[saved.model.classes.index(answer.label)]
    (last,) = [row for row in there if row.startswith("total ") and " or more " in row]
    assert f"{answer.label} {share:.0%}" in last, "the risk is what predict says, not the share of the counts"
    assert " records (" in last
    assert "CASE" in run("show", "model.json", "--format", "sql")
    assert "<html" in run("show", "model.json", "--format", "html")
    run("show", "model.json", "--out", "card.txt")
    assert (desk / "card.txt").read_text().startswith(f"{saved.model}\n\n")


def test_labels_are_shown_in_place_of_names():
    wards = Categorical("ward", categories=["A", "B"], label="The ward", labels={"A": "surgery"})
    labelled = Schema(
        (wards, Boolean("smoker", label="Smokes")), "died", ["no", "yes"], class_labels={"yes": "has died"}
    )
    tables = (
        PointsTable("ward", (((Literal("ward", "=", "A"),), 7), ((Literal("ward", "=", "B"),), 3), ((), 0))),
        PointsTable("smoker", (((Literal("smoker", "is true"),), 2), ((), 0))),
    )
    answers = (Answer("no", shares=(0.8, 0.2)), Answer("yes", shares=(0.4, 0.6)))
    cards = (Card(-9, tables, (Literal("ward", "=", "A"),)), Card(-5, tables))
    shown = coloured(ScoreCard(cards, (0,), answers, ("no", "yes"), labelled)).plain
    assert shown.startswith('if "The ward" = surgery:\nstart')
    assert "\nelse:\nstart" in shown
    assert all(word in shown for word in ("The ward", "surgery", "Smokes"))
    assert "ward =" not in shown.replace('"The ward" =', "")
    assert shown.splitlines()[-2:] == ["total below 0     no   80%", "total 0 or more   has died   60%"]


def test_the_code_of_a_fitted_card_gives_the_scores(desk):  # noqa: F811
    import duckdb

    run(*CARD)
    table = typed()
    table.to_parquet("typed.parquet")
    scores = json.loads(run("predict", "model.json", "typed.parquet", "--json"))
    predicted = [row["prediction"] for row in scores]
    sql = run("show", "model.json", "--format", "sql")
    assert [x for (x,) in duckdb.sql(f"SELECT {sql} FROM 'typed.parquet'").fetchall()] == predicted
    sql = run("show", "model.json", "--format", "sql", "--share-of", "yes")
    found = [x for (x,) in duckdb.sql(f"SELECT {sql} FROM 'typed.parquet'").fetchall()]
    assert np.allclose(found, [row["share of yes"] for row in scores])
    space = {}
    exec(run("show", "model.json", "--format", "python"), space)
    plain = table.astype(object).where(table.notna(), None).to_dict("records")
    assert [space["predict"](record) for record in plain] == predicted


def test_the_parameters_of_cards(desk):  # noqa: F811
    names = ("max_columns", "tree_depth", "points", "monotonic_cst", "counts_share")
    run(*CARD)
    assert {name: parameters()[name] for name in names} == {
        "max_columns": None,
        "tree_depth": 0,
        "points": "integers",
        "monotonic_cst": None,
        "counts_share": 0.1,
    }
    run(*CARD, "--max-columns", "2", "--tree-depth", "2", "--points", "decimals", "--time-limit", "60")
    found = parameters()
    assert [found[name] for name in names[:3]] == [2, 2, "decimals"]
    assert found["time_limit"] == 60
    run(*CARD, "--monotonic-cst", "age:+1", "--counts-share", "0", "--records-per-person", "3", "-x", "ward")
    found = parameters()
    assert (found["monotonic_cst"], found["counts_share"], found["exclude"]) == ({"age": 1}, 0, ["ward"])
    assert found["records_per_person"] == 3
    assert "ward" not in SavedModel.load("model.json").model.columns


def test_a_limit_is_named(desk):  # noqa: F811
    run(*CARD, "--monotonic-cst", "cost:-1")
    assert "cost falls: of two records that differ in it alone" in flat(run("show", "model.json", "--promise"))
    said = flat(run("plan", "card", "-s", "schema.toml", "-n", "500", "--monotonic-cst", "ward:+1", code=1))
    assert "monotonic_cst names 'ward', but a categorical column has no order" in said


def test_a_limit_is_kept_to(desk):  # noqa: F811
    run(*CARD, "--monotonic-cst", "cost:-1")
    model = SavedModel.load("model.json").model
    record = {"age": 50, "ward": "A", "smoker": True}
    table = pd.DataFrame([record | {"cost": cost} for cost in (1, 101, 1001, 10001)])
    assert (np.diff(model.predict_proba(table)[:, 1]) <= 0).all()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_how_the_records_are_counted_is_said_when_asked_for(desk, engine):  # noqa: F811
    said = runner().invoke(main, [*read_by(engine, CARD), "--verbose"]).stderr
    assert said == "The records are counted once, by 4 columns: at most 630 patterns, and never more than records\n"
    assert runner().invoke(main, [*read_by(engine, CARD)]).stderr == ""


def test_a_stopped_draw_says_what_was_booked(desk, monkeypatch):  # noqa: F811
    run("ledger", "create", "l.json", "-e", "6")

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CardQueries, "count_totals", stopped)
    assert "Epsilon 5 is booked" in run(*CARD, "--ledger", "l.json", code=130)
    assert not (desk / "model.json").exists()
    assert "is booked" not in run(*CARD, "--ledger", "l.json", code=3)


def test_plan_says_what_the_noise_of_a_card_is(desk):  # noqa: F811
    how = ("plan", "card", "-s", "schema.toml", "-n", "10000")
    said = flat(run(*how))
    assert "noise in a count" in said
    assert "lost at most" not in said

    def noise(*options):
        return {e["epsilon"]: (e["noise"], e["points"]) for e in json.loads(run(*how, *options, "--json"))["expected"]}

    every, two, shallow = noise(), noise("--max-columns", "2"), noise("--tree-depth", "2")
    chosen, tree = 0.9 * float(1 - CHOICE_SHARE), 0.9 * float(1 - TREE_SHARE)  # a tenth is for the totals
    for epsilon in (0.1, 1.0):
        assert every[epsilon][0] == margin(0.9 * epsilon / 4)
        assert two[epsilon][0] == margin(chosen * epsilon / 2)
        assert shallow[epsilon][0] == margin(tree * epsilon / 4)
        assert every[epsilon][1] == pytest.approx(10 / np.log(2) * margin(0.9 * epsilon / 4, 2) / 500)
        assert shallow[epsilon][1] == pytest.approx(10 / np.log(2) * margin(tree * epsilon / 4, 2) / 125)


def test_plan_knows_how_many_columns_a_wide_table_gets(desk):  # noqa: F811
    """By default their number follows from epsilon, if there are many."""
    Schema([Numeric(f"x{i}", cuts=[1]) for i in range(60)], "died", ["no", "yes"]).save("wide.toml")
    found = json.loads(run("plan", "card", "-s", "wide.toml", "-n", "5000", "--json"))["expected"]
    noise = {e["epsilon"]: e["noise"] for e in found}
    chosen = 0.9 * float(1 - CHOICE_SHARE)
    assert noise[0.1] == margin(chosen * 0.1 / 4)
    assert noise[1.0] == margin(chosen / 8)
    assert noise[3.0] == margin(chosen * 3 / 14)
    assert {e["epsilon"]: e["columns"] for e in found} == {0.01: 4, 0.03: 4, 0.1: 4, 0.3: 4, 1.0: 8, 3.0: 14, 10.0: 25}


def test_plan_measures_cards_and_counts_those_a_ledger_takes(desk):  # noqa: F811
    run("ledger", "create", "l.json", "-e", "6")
    how = ("-s", "schema.toml", "--max-columns", "2")
    assert "give a public stand-in table" in flat(run("plan", "card", *how, "-n", "500", "--out", "plan.svg", code=2))
    given = ("plan", "card", "hospital.csv", *how, "--repeats", "2", "--ledger", "l.json")
    said = flat(run(*given, "--out", "plan.svg"))
    assert "more cards" in said
    assert "accuracy on the stand-in" in (desk / "plan.svg").read_text()
    assert "Warning" not in said  # these records are public
    found = json.loads(run(*given, "--json"))
    assert found["without privacy"] > 0.8
    assert found["expected"][-1]["accuracy"] > 0.8
    assert found["ledger has room for"]["1.0"] == 6


def test_plan_recommends_a_model_an_epsilon_and_says_why(desk):  # noqa: F811
    for model in ([], ["list"], ["tree"], ["card"], ["greedy"]):
        first = run("plan", *model, "-s", "schema.toml", "-n", "1000").splitlines()[0]
        assert first.startswith("Recommended: a list at epsilon 1: about 7" if not model else "Recommended: ")
    how = ("plan", "-s", "schema.toml", "-n", "1000")
    assert "To rank records: " in flat(run(*how))
    assert "columns that give points: 4 at 0.01" in flat(run(*how, "--verbose"))
    found = json.loads(run(*how, "--json"))
    assert found["recommended"][:2] == [1.0, "list"]
    assert list(found["expected"]) == ["list", "tree", "tree in stages 2, 2", "card"]


def test_plan_compares_models_on_a_stand_in(desk):  # noqa: F811
    how = ("plan", "hospital.csv", "-s", "schema.toml", "--repeats", "2")
    run("ledger", "create", "l.json", "-e", "0.2")
    assert "epsilon 0.1: accuracy 0." in flat(run(*how, "--ledger", "l.json")), "there is no room for more"
    run("ledger", "create", "empty.json", "-e", "0.05")
    assert "The ledger has no room" in run("plan", "-s", "schema.toml", "-n", "900", "--ledger", "empty.json")
    found = json.loads(run(*how, "--class-weight", "yes=3", "--json"))
    assert list(found["expected"]) == ["list", "tree", "tree in stages 2, 2"], "a card has no class weights"
    epsilon, model, _ = found["recommended"]
    measured = {row["epsilon"]: row["measures"] for row in found["expected"][model]}
    assert measured[epsilon].keys() == {"accuracy", "balanced accuracy", "recall of no", "recall of yes"}
    assert measured[epsilon]["balanced accuracy"][0] > 0.7
    more = json.loads(run(*how, "-n", "28", "--json"))["expected"]["list"]  # a tenth of what is learned from there
    assert [row["accuracy"] is None for row in more] == [True, True, False, False, False, False, False]


def test_plan_says_what_class_weights_mean(desk):  # noqa: F811
    how = ("-s", "schema.toml", "--class-weight", "yes=4")
    said = flat(run("plan", "list", *how, "-n", "1000"))
    assert "yes is predicted from a share of about 20 % on, not 50 %" in said
    assert "No public table was measured with weights" in said
    assert "lost at most" not in said, "the bound is about accuracy"
    assert "give a public stand-in table" in flat(run("plan", "list", *how, "-n", "500", "--out", "plan.svg", code=2))
    said = flat(run("plan", "tree", "hospital.csv", *how, "--repeats", "2"))
    assert "balanced accuracy, measured" in said
    assert "recall of yes" in said
    assert "no class of the target" in run("plan", *how[:2], "-n", "1000", "--class-weight", "maybe=2", code=1)


def test_a_card_of_three_classes(desk):  # noqa: F811
    columns = (Numeric("age", cuts=[30, 50]), Numeric("cost", cuts=[100, 1000], missing=True))
    Schema(columns, target="ward", classes=["A", "B", "NA"]).save("schema.toml")
    said = flat(run(*CARD))
    assert "The class with the largest total" in said
    assert re.search(r"A B NA start \d+ \d+ \d+ ", said)
    assert run("show", "model.json").count("start") == 1
    run("predict", "model.json", "hospital.csv", "--out", "scores.csv")
    assert pd.read_csv("scores.csv", keep_default_na=False).prediction.isin(["A", "B", "NA"]).all()
    found = json.loads(run("plan", "card", "-s", "schema.toml", "-n", "1000", "--json"))
    assert found["expected"][4]["noise"] == margin(0.5), "no share is for totals"


@pytest.mark.parametrize("schema", [SCHEMA, LONG_NAMES, Schema((Numeric("x", cuts=[1]),), classes=[0, 1])])
@pytest.mark.parametrize("leaves", [1, 4])
def test_the_space_that_is_reserved_is_enough(tmp_path, schema, leaves):
    """A card with every row that there can be, and more ranges of totals than there can be."""
    from discreet import PrivacyStatement
    from discreet.accounting.statement import Guarantee
    from discreet.estimators.card_learner import limits_between
    from discreet.rules.column_parts import parts_of

    tables = []
    for column in schema.used:
        rows = tuple((condition, -1234.56) for condition in parts_of(column).conditions)
        tables.append(PointsTable(column.name, rows))
    longest = max((c for table in tables for c, _ in table.rows if c), key=lambda c: len(str(c[0])))
    limits = limits_between(-1e9, 1e9)
    number = -123456789.12345678
    answer = Answer(
        max(schema.classes, key=lambda c: len(str(c))), [number] * len(schema.classes), [0.123] * len(schema.classes)
    )
    cards = [Card(-1234.56, tuple(tables), longest * 2) for _ in range(leaves - 1)] + [Card(-1234.56, tuple(tables))]
    model = SavedModel(
        ScoreCard(tuple(cards), tuple(limits), (answer,) * (len(limits) + 1), schema.classes, schema),
        PrivacyStatement("score cards", None, Guarantee(1.0, 0.0), assumes=("x" * 500,) * 4),
        "DPScoreCardClassifier",
        {"exclude": [c.name for c in schema.columns], "monotonic_cst": {c.name: 1 for c in schema.columns}},
        schema.target,
        Ledger.open(tmp_path / "l.json", 99).snapshot(),
    )
    with click.Context(click.Command("fit")):
        place = reserved(tmp_path / "m.json", False, schema)
        assert len(model.to_json().encode()) < os.fstat(place.stream.fileno()).st_size


def test_how_columns_are_counted(desk):  # noqa: F811
    for counting, sequential in (("sequential", True), ("at-once", False)):
        run(*CARD, "--counting", counting)
        assert parameters()["sequential"] is sequential
    run(*CARD)
    assert parameters()["sequential"] is None

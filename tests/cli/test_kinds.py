"""What trees and score cards have in common on the command line: what is wrong is said before a record is read; engines."""

import pandas as pd
import pytest

from discreet import Ledger, Numeric, SavedModel, Schema, Tree
from discreet.estimators.feasibility import is_feasible
from discreet.models.score_card import ScoreCard
from discreet.sources import memory, urls

from .test_practitioner import FIT, desk, flat, hospital, read_by, run  # noqa: F401  (desk is a fixture)

WIDE = Schema((Numeric("age", cuts=range(120)),), target="died", classes=["no", "yes"])


def command(kind):
    return ("fit", kind, *FIT[2:])


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("tree", ["--stages", "2,2", "--max-depth", "2"], "leave --max-depth out, or --stages"),
        ("tree", ["--stages", "2,0"], "'--stages': must be up to 8 depths of at least 1"),
        ("tree", ["--stages", "2;2"], "as in 2,2"),
        ("tree", ["--stages", ""], "as in 2,2"),
        ("tree", ["--stages", "²"], "as in 2,2"),
        ("tree", ["--stages", "9" * 5000], "as in 2,2"),
        ("tree", ["--stages", "7,6"], "add up to at most 12"),
        ("tree", ["--stages", "1,1,1,1,1,1,1,1,1"], "up to 8 depths"),
        ("tree", ["--max-depth", "13"], "--max-depth"),
        ("tree", ["--max-depth", "-1"], "--max-depth"),
        ("tree", ["--criterion", "mass"], "--criterion"),
        (
            "tree",
            ["--monotonic-cst", "age"],
            "--monotonic-cst must be a column and +1 or -1, as in priors_count:+1, not 'age'",
        ),
        ("tree", ["--monotonic-cst", "age:+2"], "--monotonic-cst must be a column and +1 or -1"),
        (
            "tree",
            ["--monotonic-cst", "age:+1", "--monotonic-cst", "age:-1"],
            "--monotonic-cst names 'age' twice",
        ),
        (
            "tree",
            ["--forbid", "age"],
            "--forbid must be two or more columns, as in race,sex, not 'age'; one that may not",
        ),
        ("card", ["--tree-depth", "3"], "--tree-depth"),
        ("card", ["--max-columns", "0"], "--max-columns"),
        ("card", ["--points", "halves"], "--points"),
        ("card", ["--counting", "twice"], "--counting"),
    ],
)
def test_options_that_cannot_be_are_named_before_anything_is_read(desk, monkeypatch, kind, options, message):  # noqa: F811
    run("ledger", "create", "l.json", "-e", "9")
    monkeypatch.setattr(memory, "read_parts", lambda *_: pytest.fail("the table was read"))
    assert message in flat(run(*command(kind), *options, "--ledger", "l.json", code=2))
    assert Ledger.open("l.json").entries == ()
    assert not (desk / "model.json").exists()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("tree", ["--counts-share", "5"], "counts_share must be 0, or from 0.001 to 0.9"),
        ("tree", ["--criterion", "gini", "--counts-share", "0"], 'counts_share must be above 0 with criterion="gini"'),
        (
            "tree",
            ["--class-weight", "maybe=1"],
            "class_weight names 'maybe', which is no class of the target",
        ),
        ("tree", ["--split", "1"], "split must be a probability between 0 and 1"),
        ("tree", ["--split", "nan"], "split must be a finite number"),
        ("tree", ["--time-limit", "-1"], "time_limit must be None or a number of seconds above 0"),
        ("tree", ["--max-depth", "6"], "max_depth is too large for 120 tests: a draw of depth 6 would take"),
        ("tree", ["--stages", "1,6"], "stages is too large for 120 tests: stage 2, of depth 6,"),
        ("card", ["--counts-share", "0.95"], "counts_share must be 0, or from 0.001 to 0.9, not 0.95"),
        ("card", ["--time-limit", "-1"], "time_limit must be None or a number of seconds above 0"),
        (
            "card",
            ["--monotonic-cst", "age:+1", "--tree-depth", "1"],
            "monotonic_cst needs one card: between the leaves of a tree",
        ),
        ("card", ["--monotonic-cst", "wards:+1"], "monotonic_cst names 'wards', but there is no such column"),
        ("card", ["-x", "agee"], "agee"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_read(desk, monkeypatch, kind, options, message, engine):  # noqa: F811
    if kind == "tree":
        assert is_feasible(120, 4, 2)
        WIDE.save("schema.toml")
    run("ledger", "create", "l.json", "-e", "9")
    for place, name in ((memory, "read_parts"), (urls, "open_table")):
        monkeypatch.setattr(place, name, lambda *_, **__: pytest.fail("the table was read"))
    said = flat(run(*read_by(engine, command(kind)), *options, "--ledger", "l.json", code=1))
    assert message in said
    assert Ledger.open("l.json").entries == ()
    if "too large" in message:
        assert "set max_depth=" in said or "Set stages=(1, " in said


@pytest.mark.parametrize(
    ("kind", "options"), [("tree", ["--stages", "2,1"]), ("card", ["--max-columns", "2", "--tree-depth", "1"])]
)
def test_a_table_in_an_engine(desk, monkeypatch, kind, options):  # noqa: F811
    import duckdb

    table = hospital().replace({"": None}).assign(cost=pd.to_numeric(hospital().cost, errors="coerce"))
    with duckdb.connect("hospital.db") as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE patients AS SELECT * FROM given")
    url = "duckdb:///hospital.db?table=patients"
    run("ledger", "create", "l.json", "-e", "12")
    monkeypatch.setattr(memory, "read_parts", lambda *_: pytest.fail("it was read here"))
    said = run("fit", kind, url, *FIT[3:], *options, "--ledger", "l.json")
    assert "epsilon = 5" in flat(said)
    assert run("evaluate", "model.json", url, "-e", "1", "--ledger", "l.json").startswith("accuracy 0.")
    assert [entry.epsilon for entry in Ledger.open("l.json").entries] == [5, 1]


@pytest.mark.parametrize(("kind", "model"), [("tree", Tree), ("card", ScoreCard)])
def test_a_model_from_an_inferred_schema_promises_nothing(desk, kind, model):  # noqa: F811
    given = ("-t", "died", "-e", "5", "-o", "m.json", "--infer-schema", "-x", "patient")
    given += ("-x", "ward")  # whose values are secret here, and would be in the schema
    assert "NO PRIVACY IS PROVED" in flat(run("fit", kind, "hospital.csv", *given))
    assert isinstance(SavedModel.load("m.json").model, model)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--bounds", "age=0"], "--bounds must be a column and two numbers, as in age=0,120, not 'age=0'"),
        (["--bounds", "=0,1"], "--bounds must be"),
        (["--categories", "ward="], "--categories must be a column and categories"),
        (["--categories", "ward=A", "--categories", "ward=B"], "--categories names 'ward' twice"),
    ],
)
def test_what_is_public_about_columns_is_read_before_a_schema_is_paid_for(desk, given, message):  # noqa: F811
    run("ledger", "create", "l.json", "-e", "9", "--delta", "1e-6")
    find = ("schema", "hospital.csv", "--private", "-t", "died", "-e", "1", "--ledger", "l.json", "--out", "new.toml")
    assert message in flat(run(*find, *given, code=2))
    assert Ledger.open("l.json").entries == ()
    run(*find, "--bounds", "age=0,120", "--categories", "ward=A,B")
    assert len(Ledger.open("l.json").entries) == 1

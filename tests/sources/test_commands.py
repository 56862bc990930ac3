"""The commands on tables that stay where they are, and on large files: the same as on small ones, and nothing spent in vain."""

import json
import sys
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from discreet import (
    Categorical,
    Ledger,
    Numeric,
    RuleList,
    SavedModel,
    Schema,
    Vault,
    noisy_accuracy,
    open_table,
    private_cuts,
)
from discreet.errors import EngineError, SchemaError
from discreet.privacy.ledger import BudgetError

from ..test_practitioner import FIT, SCHEMA, desk, flat, hospital, run  # noqa: F401  (desk is a fixture)

pytest.importorskip("ibis")
import ibis

from .test_conformance import content

URL = "duckdb:///hospital.db?table=patients"


@pytest.fixture
def engine(desk):  # noqa: F811
    """The same records in a file of DuckDB, with types, and as CSV; a model."""
    table = hospital().replace({"": None, "1.0": "1"})
    table = table.assign(cost=pd.to_numeric(table.cost))
    with duckdb.connect("hospital.db") as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE patients AS SELECT * FROM given")
    run(*FIT)
    return desk


@pytest.fixture
def large(monkeypatch):
    """Every file is large now."""
    monkeypatch.setattr(sys.modules["discreet.cli.common"], "LARGE", 10)


def spied(monkeypatch, *ways):
    """The vaults that are filled from now on."""
    vaults = []
    for way in ways:
        fill = getattr(Vault, way)
        monkeypatch.setattr(Vault, way, lambda *a, fill=fill: vaults.append(fill(*a)) or vaults[-1])
    return vaults


@pytest.mark.parametrize("how", [{}, {"sep": ";"}, {"sep": "#"}, {"encoding": "utf-8-sig"}, {"lineterminator": "\r\n"}])
def test_a_large_csv_file_gives_the_same_cells(engine, monkeypatch, how):
    hospital().to_csv("table.csv", index=False, **how)
    more = ("--delimiter", "#") if how.get("sep") == "#" else ()
    vaults = spied(monkeypatch, "from_table", "filled_by")
    run("fit", "table.csv", *FIT[2:], *more)
    monkeypatch.setattr(sys.modules["discreet.cli.common"], "LARGE", 10)
    monkeypatch.setattr(sys.modules["discreet.cli.fit"], "read_records", lambda *_: pytest.fail("it was read"))
    said = run("fit", "table.csv", *FIT[2:], *more)
    assert "stays" not in said  # that would say that there are many records
    assert len(vaults) == 2
    assert content(vaults[0]) == content(vaults[1])


def test_a_large_csv_file_in_another_encoding_is_read_into_memory(engine, large):
    hospital().to_csv("latin.csv", index=False, encoding="latin-1")
    run("fit", "latin.csv", *FIT[2:], "--encoding", "latin-1")


def test_mistakes_with_large_files_are_told_as_for_small_ones(engine, large):
    run("ledger", "create", "l.json", "-e", "9")
    text = (engine / "hospital.csv").read_text()
    (engine / "cut.csv").write_text(text[: text.rindex(",")])
    (engine / "quote.csv").write_text(text + '"')
    assert "cut off" in flat(run("fit", "cut.csv", *FIT[2:], "--ledger", "l.json", code=1))
    assert "never ends" in run("fit", "quote.csv", *FIT[2:], "--ledger", "l.json", code=1)
    (engine / "typo.toml").write_text((engine / "schema.toml").read_text().replace("[columns.age]", "[columns.agee]"))
    said = run("fit", "hospital.csv", "-s", "typo.toml", "-e", "1", "-o", "m.json", "--ledger", "l.json", code=1)
    assert "did you mean 'age'?" in said
    assert Ledger.open("l.json").entries == ()


def test_scores_are_the_same(engine, monkeypatch):
    asked = [(), ("--id", "age"), ("--id", "ward", "--id", "cost")]
    expected = [run("predict", "model.json", "hospital.csv", *ids, "--out", f"{i}.csv") for i, ids in enumerate(asked)]
    said = run("predict", "model.json", URL, "--id", "age", "--out", "scores.csv")
    assert "leave their engine" in said
    assert "400 records" in said
    expected = [(engine / f"{i}.csv").read_text() for i in range(len(asked))]
    assert sorted((engine / "scores.csv").read_text().splitlines()) == sorted(expected[1].splitlines())
    assert len(json.loads(run("predict", "model.json", "hospital.csv", "--json"))) == 400
    assert "no column 'agee'" in run("predict", "model.json", URL, "--id", "agee", "--id", "age", code=1)
    monkeypatch.setattr(sys.modules["discreet.cli.common"], "LARGE", 10)
    monkeypatch.setattr(sys.modules["discreet.cli.predict"], "read_records", lambda *_: pytest.fail("it was read"))
    for ids, scores in zip(asked, expected, strict=True):
        run("predict", "model.json", "hospital.csv", *ids, "--out", "scores.csv", "--force")
        assert (engine / "scores.csv").read_text() == scores


def test_only_what_is_needed_is_fetched(engine, monkeypatch):
    from discreet.sources import engine as module

    asked, batches = [], module._batches
    monkeypatch.setattr(module, "_batches", lambda b, e: asked.append(b.compile(e)) or batches(b, e))
    run("predict", "model.json", URL, "--id", "smoker")
    (query,) = asked
    assert "patient" not in query.replace("patients", "")
    assert "died" not in query
    assert "smoker" in query


def test_half_of_the_scores_are_not_left_behind(engine, large):
    (engine / "ragged.csv").write_text((engine / "hospital.csv").read_text() + "1,2\n")
    assert "more or fewer fields" in flat(run("predict", "model.json", "ragged.csv", "--out", "scores.csv", code=1))
    assert not (engine / "scores.csv").exists()


def test_a_noisy_accuracy(engine, monkeypatch):
    vaults = spied(monkeypatch, "from_table", "filled_by")
    run("ledger", "create", "l.json", "-e", "3")
    run("evaluate", "model.json", "hospital.csv", "--epsilon", "1")
    found = json.loads(run("evaluate", "model.json", URL, "--epsilon", "1", "--ledger", "l.json", "--json"))
    assert 0.7 < found["accuracy"] <= 1
    assert content(vaults[0]) == content(vaults[1])
    monkeypatch.setattr(sys.modules["discreet.cli.common"], "LARGE", 10)
    run("evaluate", "model.json", "hospital.csv", "--epsilon", "1")
    assert content(vaults[0]) == content(vaults[2])
    assert len(Ledger.open("l.json").entries) == 1
    run("evaluate", "model.json", URL, "--epsilon", "2.5", "--ledger", "l.json", code=3)
    assert len(vaults) == 3
    assert "adds up" in run("evaluate", "model.json", URL, "--epsilon", "1", code=1)
    assert "give a file" in run("evaluate", "model.json", URL, "--public", code=2)
    said = run("evaluate", "model.json", "duckdb:///hospital.db?table=nobody", "--epsilon", "1", code=1)
    assert "no such table" in said
    assert "give a file" in run("check", URL, "--schema", "schema.toml", code=2)
    assert len(Ledger.open("l.json").entries) == 1


GRID = Schema([Numeric("x", low=0, high=100, n_cuts=99), Categorical("c", categories=["a"])], "y", [0, 1])


def test_cut_points(engine, monkeypatch):
    x = np.random.default_rng(0).normal(40, 10, 5000)
    frame = pd.DataFrame({"x": x, "c": "a", "y": 1, "not x": "no"})
    here = private_cuts(frame, GRID, {"x": 3}, epsilon=1.0, random_state=3)
    assert private_cuts(ibis.memtable(frame), GRID, {"x": 3}, epsilon=1.0, random_state=3) == here
    frame.to_csv("x.csv", index=False)
    assert private_cuts(open_table("x.csv"), GRID, {"x": 3}, epsilon=1.0, random_state=3) == here
    fine = [Numeric("age", low=0, high=100, n_cuts=49) if c.name == "age" else c for c in SCHEMA.columns]
    Schema(tuple(fine), target="died", classes=["no", "yes"]).save("fine.toml")
    run("ledger", "create", "l.json", "-e", "3")
    vaults = spied(monkeypatch, "from_table", "filled_by")
    cuts = ("-s", "fine.toml", "-e", "1", "-c", "age=3", "--force", "-o", "cut.toml")
    assert "age: " in run("cuts", URL, *cuts, "--ledger", "l.json")
    monkeypatch.setattr(sys.modules["discreet.cli.common"], "LARGE", 10)
    assert "age: " in run("cuts", "hospital.csv", *cuts)
    assert content(vaults[0]) == content(vaults[1])
    assert len(Ledger.open("l.json").entries) == 1


def test_nothing_is_spent_when_a_connection_is_lost():
    connection = ibis.duckdb.connect()
    table = connection.create_table("t", pd.DataFrame({"x": [1.0, 60.0], "c": ["a", "b"], "y": [0, 1]}))
    rules = RuleList.parse("if x <= 50 then 0 else 1", (0, 1), GRID)
    for problem, error in (("names", SchemaError), ("query", EngineError), ("budget", BudgetError)):
        ledger = Ledger(epsilon=0.5 if problem == "budget" else 3.0)
        asked = table.drop("x") if problem == "names" else table
        if problem == "query":
            connection.disconnect()  # and so it is for the budget, which is looked at before
        with pytest.raises(error):
            noisy_accuracy(rules, asked, None, 1.0, ledger)
        with pytest.raises(error):
            private_cuts(asked, GRID, {"x": 3}, epsilon=1.0, ledger=ledger)
        assert ledger.entries == ()


def test_scores_of_whole_numbers_that_are_missing(engine):
    with duckdb.connect("ids.db") as connection:
        connection.execute("CREATE TABLE t AS FROM (VALUES (9007199254740993, 40.0), (NULL, 70.0)) v (id, age)")
    saved = SavedModel.load("model.json")
    rules = RuleList.parse("if age <= 50 then no else yes", ("no", "yes"), saved.rule_list.schema)
    replace(saved, rule_list=rules).save("hand.json")
    run("predict", "hand.json", "duckdb:///ids.db?table=t", "--id", "id", "--out", "s.csv")
    assert pd.read_csv("s.csv", dtype=str).fillna("").values.tolist() == [
        ["9007199254740993", "no", "1.0", "0.0"],
        ["", "yes", "0.0", "1.0"],
    ]

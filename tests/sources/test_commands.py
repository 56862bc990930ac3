"""The commands on tables that stay where they are, and on files that DuckDB reads: as on others, and nothing spent in vain."""

import json
import os
import secrets
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from discreet import (
    Categorical,
    Ledger,
    Numeric,
    PrivateCounts,
    RuleList,
    SavedModel,
    Schema,
    noisy_evaluation,
)
from discreet._utils.errors import EngineError, SchemaError
from discreet.accounting.ledger import BudgetError
from discreet.cli import main
from discreet.private.noise import seeded
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.reminders import forget_all
from discreet.sources import memory
from discreet.sources.source import Source

from ..cli.test_practitioner import FIT, SCHEMA, desk, flat, hospital, run  # noqa: F401  (desk is a fixture)
from ..neighbours.fixed_draws import StoppedClock
from ..support.streams_apart import runner

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


DUCKDB = ("--engine", "duckdb")


def spied(monkeypatch):
    """The counts that are made from now on."""
    counts, count = [], Source.count
    monkeypatch.setattr(Source, "count", lambda *a: counts.append(count(*a)) or counts[-1])
    return counts


def test_mistakes_in_a_file_are_told_and_cost_nothing(engine):
    run("ledger", "create", "l.json", "-e", "9")
    text = (engine / "hospital.csv").read_text()
    (engine / "cut.csv").write_text(text[: text.rindex(",")])
    (engine / "quote.csv").write_text(text + '"')
    (engine / "typo.toml").write_text((engine / "schema.toml").read_text().replace("[columns.age]", "[columns.agee]"))
    for name, schema, message in (
        ("cut.csv", "schema.toml", "cut off"),
        ("quote.csv", "schema.toml", "never ends"),
        ("hospital.csv", "typo.toml", "did you mean 'age'?"),
    ):
        told = run("fit", "list", name, "-s", schema, "-e", "1", "-o", "m.json", "--ledger", "l.json", code=1)
        assert message in flat(told)
    assert Ledger.open("l.json").entries == ()


COMMANDS = {
    "fit list": (*FIT[3:], "--ledger", "l.json"),
    "fit greedy": (
        "-s",
        "no target.toml",
        "-t",
        "died",
        "-e",
        "1",
        "-o",
        "m.json",
        "-x",
        "age",
    ),
    "fit tree": (*FIT[3:], "--max-depth", "2", "--ledger", "l.json", "--report", "report.html"),
    "fit tree, in stages": (*FIT[3:], "--stages", "2,1", "--criterion", "gini", "-x", "age", "-v"),
    "evaluate": ("-e", "1", "--ledger", "l.json"),
    "predict": ("--id", "age", "--id", "ward", "-o", "scores.csv"),
}


def test_who_reads_a_file_shows_nowhere(desk, monkeypatch):  # noqa: F811
    """The same output, exit code and files, for the same draws."""
    monkeypatch.setattr(seeded, "Entropy", lambda: SeededEntropy(3))
    monkeypatch.setattr(secrets, "token_hex", lambda *_: "0123abcd")
    monkeypatch.setattr("discreet.accounting.budget_request.datetime", StoppedClock)
    replace(SCHEMA, target=None).save("no target.toml")
    run(*FIT)
    table = "table.parquet"
    typed = hospital().replace({"": None, "1.0": "1"})
    typed["cost"] = [None if c is None else Decimal(c) for c in typed.cost]
    typed["age"] = typed.age.astype("Int64").where(typed.age != 40)
    typed.to_parquet(table)
    before = {path.name: path.read_bytes() for path in desk.iterdir() if path.is_file()}
    for command, options in COMMANDS.items():
        model = ("model.json",) if command in ("evaluate", "predict") else ()
        seen = []
        for engine in ("memory", "duckdb"):
            forget_all()  # as in a process of its own
            run("ledger", "create", "l.json", "-e", "9")
            asked = [*command.split(",")[0].split(), *model, table, *options, "--engine", engine]
            result = runner().invoke(main, asked)
            made = {path.name: path.read_bytes() for path in desk.rglob("*") if path.is_file()}
            seen.append((result.exit_code, result.stdout, result.stderr, made))
            for name in made.keys() - before.keys():
                next(desk.rglob(name)).unlink()
            (desk / "model.json").write_bytes(before["model.json"])
        assert seen[0] == seen[1], command
        assert seen[0][0] == 0, seen[0]


def test_engines_are_for_files(engine):
    hospital().to_feather("table.feather")
    assert "goes to its engine" in flat(run("fit", "list", URL, *FIT[3:], "--engine", "memory", code=2))
    for table in ("table.feather", "hospital.csv"):
        assert "is for Parquet files" in flat(run("fit", "list", table, *FIT[3:], *DUCKDB, code=2))
    hospital().to_parquet("table.parquet")
    assert "give a file" in flat(run("evaluate", "model.json", "table.parquet", "--public", *DUCKDB, code=2))
    run("fit", "list", "table.feather", *FIT[3:], "--engine", "memory")


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_a_file_is_read_a_part_at_a_time(engine, ending, monkeypatch):
    table = pd.concat([hospital()] * 3)
    if ending == "csv":
        table.to_csv("table.csv", index=False)
    else:
        table = table.replace({"": None, "1.0": "1"}).assign(cost=pd.to_numeric(table.cost))
        table.to_parquet("table.parquet") if ending == "parquet" else table.reset_index(drop=True).to_feather(
            "table.feather"
        )
    whole = content(PrivateCounts.from_file(f"table.{ending}", SCHEMA))
    scores = run("predict", "model.json", f"table.{ending}", "--id", "smoker", "--id", "age")
    sizes = []
    monkeypatch.setattr(sys.modules["discreet.sources.files"], "ROWS_AT_A_TIME", 7)
    blocks_of = memory.blocks_of
    monkeypatch.setattr(memory, "blocks_of", lambda part, *more: sizes.append(len(part)) or blocks_of(part, *more))
    assert content(PrivateCounts.from_file(f"table.{ending}", SCHEMA)) == whole
    assert max(sizes) == 7
    assert sum(sizes) == len(table)
    assert run("predict", "model.json", f"table.{ending}", "--id", "smoker", "--id", "age") == scores


def test_scores_are_the_same(engine):
    asked = [(), ("--id", "age"), ("--id", "ward", "--id", "cost")]
    expected = [run("predict", "model.json", "hospital.csv", *ids, "--out", f"{i}.csv") for i, ids in enumerate(asked)]
    said = run("predict", "model.json", URL, "--id", "age", "--out", "scores.csv")
    assert "leave their engine" in said
    assert "400 records" in said
    expected = [(engine / f"{i}.csv").read_text() for i in range(len(asked))]
    assert sorted((engine / "scores.csv").read_text().splitlines()) == sorted(expected[1].splitlines())
    assert len(json.loads(run("predict", "model.json", "hospital.csv", "--json"))) == 400
    assert "no column 'agee'" in run("predict", "model.json", URL, "--id", "agee", "--id", "age", code=1)


def test_only_what_is_needed_is_fetched(engine, monkeypatch):
    from discreet.sources.engines.duckdb import DuckDB

    asked, batches = [], DuckDB.batches
    monkeypatch.setattr(
        DuckDB, "batches", lambda self, e, rows: asked.append(self.connection.compile(e)) or batches(self, e, rows)
    )
    run("predict", "model.json", URL, "--id", "smoker")
    (query,) = asked
    assert "patient" not in query.replace("patients", "")
    assert "died" not in query
    assert "smoker" in query


def test_half_of_the_scores_are_not_left_behind(engine):
    (engine / "ragged.csv").write_text((engine / "hospital.csv").read_text() + "1,2\n3,4\n")
    assert "more or fewer fields" in flat(run("predict", "model.json", "ragged.csv", "--out", "scores.csv", code=1))
    assert not (engine / "scores.csv").exists()


def test_a_noisy_evaluation(engine, monkeypatch):
    counts = spied(monkeypatch)
    run("ledger", "create", "l.json", "-e", "3")
    run("evaluate", "model.json", "hospital.csv", "--epsilon", "1")
    found = json.loads(run("evaluate", "model.json", URL, "--epsilon", "1", "--ledger", "l.json", "--json"))
    assert 0.7 < found["accuracy"] <= 1
    assert content(counts[0]) == content(counts[1])
    assert len(Ledger.open("l.json").entries) == 1
    run("evaluate", "model.json", URL, "--epsilon", "2.5", "--ledger", "l.json", code=3)
    assert len(counts) == 2
    assert "adds up" in run("evaluate", "model.json", URL, "--epsilon", "1", code=1)
    assert "give a file" in run("evaluate", "model.json", URL, "--public", code=2)
    said = run("evaluate", "model.json", "duckdb:///hospital.db?table=nobody", "--epsilon", "1", code=1)
    assert "no such table" in said
    assert "give a file" in run("check", URL, "--schema", "schema.toml", code=2)
    assert len(Ledger.open("l.json").entries) == 1


GRID = Schema([Numeric("x", low=0, high=100, n_cuts=99), Categorical("c", categories=["a"])], "y", [0, 1])


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
            noisy_evaluation(rules, asked, None, 1.0, ledger=ledger, model_is_public=True)
        assert ledger.entries == ()


def test_scores_of_whole_numbers_that_are_missing(engine):
    with duckdb.connect("ids.db") as connection:
        connection.execute("CREATE TABLE t AS FROM (VALUES (9007199254740993, 40.0), (NULL, 70.0)) v (id, age)")
    saved = SavedModel.load("model.json")
    rules = RuleList.parse("if age <= 50 then no else yes", ("no", "yes"), saved.rule_list.schema)
    replace(saved, model=rules).save("hand.json")
    run("predict", "hand.json", "duckdb:///ids.db?table=t", "--id", "id", "--out", "s.csv")
    assert pd.read_csv("s.csv", dtype=str).fillna("").values.tolist() == [
        ["9007199254740993", "no", "1.0", "0.0"],
        ["", "yes", "0.0", "1.0"],
    ]


@pytest.fixture
def in_places(engine):
    """The records as a file of DuckDB and in a folder, and the file that each is in."""
    (engine / "people").mkdir()
    with duckdb.connect("hospital.db", read_only=True) as connection:
        connection.table("patients").df().to_parquet("people/a.parquet")
    (engine / "link").symlink_to("people")
    (engine / "people" / "nowhere.parquet.old").symlink_to("nothing")
    return {
        URL: "hospital.db",
        "people": "people/a.parquet",
        "people/*.parquet": "link/a.parquet",
        f"file://{engine}/people/a.parquet": "people/a.parquet",
    }


def test_a_table_in_an_engines_files_is_not_written_over_even_by_force(in_places):
    for table, file in in_places.items():
        before = Path(file).read_bytes()
        assert "table itself" in flat(run("fit", "list", table, *FIT[3:7], "-o", file, "--force", code=2))
        assert "table itself" in flat(run("predict", "model.json", table, "-o", file, "--force", code=2))
        assert Path(file).read_bytes() == before
    run("ledger", "create", "l.json", "-e", "99")
    for table, file in in_places.items():
        run("fit", "list", table, *FIT[3:7], "-o", "new.json", "--force", "--ledger", "l.json")
        assert "learned from" in flat(run("show", "model.json", "-o", file, "--force", code=2))


def test_a_folder_is_known_by_every_name_for_it(in_places):
    run("ledger", "create", "l.json", "-e", "99")
    run("fit", "list", "people", *FIT[3:7], "-o", "new.json", "--ledger", "l.json")
    for name in ("link", "./people/../people", "people/"):
        assert "another-ledger" in run("fit", "list", name, *FIT[3:7], "-o", "second.json", code=1)


def test_a_folder_whose_name_is_no_text_is_known(in_places):
    run("ledger", "create", "l.json", "-e", "99")
    os.rename("people", "people\udcff")
    assert "unexpected error" not in run(
        "fit", "list", "people\udcff", *FIT[3:7], "-o", "n.json", "--ledger", "l.json", code=1
    )

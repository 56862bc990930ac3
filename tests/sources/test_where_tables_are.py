"""Folders, quoted names, large integers and casts: taken, or refused before anything is read, by causes that can be told."""

import os
from importlib.util import find_spec

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Boolean, Categorical, Ledger, Numeric, PrivateCounts, Schema, open_table
from discreet._utils.errors import EngineError, TableError
from discreet.sources.urls import UNKNOWN, cause_of

from ..support.marked_values import Heard

pytest.importorskip("ibis")
import ibis

from .test_conformance import content

SCHEMA = Schema(
    [
        Categorical("region", True, ["north", "a b", "south"], outside="other"),
        Numeric("year", cuts=[2020]),
        Boolean("b"),
    ],
    "y",
    [0, 1],
)


@pytest.mark.parametrize("ending", ["", "/", "/**/*.parquet", "/*/*/*.parquet"])
def test_folders_that_are_columns(tmp_path, ending):
    rows = {"region": [], "year": [], "b": [], "y": []}
    for i, (region, year) in enumerate([("north", "2020"), ("north", "2021"), ("a%20b", "2020"), ("west", "no")]):
        part = {"b": [True, False, None][: i + 1], "y": [i % 2] * min(i + 1, 3)}
        folder = tmp_path / f"region={region}" / f"year={year}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"b": pa.array(part["b"], pa.bool_()), "y": part["y"]}), folder / "part.parquet")
        for name, value in (("region", region.replace("%20", " ")), ("year", year)):
            rows[name] += [value] * len(part["y"])
        for name in ("b", "y"):
            rows[name] += part[name]
    expected = PrivateCounts.from_table({n: rows[n] for n in ("region", "year", "b")}, rows["y"], SCHEMA)
    assert content(PrivateCounts.from_source(open_table(f"{tmp_path}{ending}"), SCHEMA)) == content(expected)


def test_names_with_dots(tmp_path):
    with duckdb.connect(tmp_path / "people.db") as connection:
        connection.execute(
            'CREATE SCHEMA "my.schema"; CREATE TABLE "my.schema"."t.""x" AS SELECT 1 AS a; CREATE TABLE "t.x" AS SELECT 2 AS a'
        )
    for name, value in (('"my.schema"."t.""x"', 1), ('"t.x"', 2), ("t.x", 2), ('"main"."t.x"', 2)):
        table = open_table(f"duckdb:///{tmp_path}/people.db?table={name}")
        assert table.a.execute().tolist() == [value]
        table.get_backend().disconnect()


def test_whole_numbers_beyond_63_bits():
    values = [2**64 - 1, 2**63, 2**63 - 1, 1, None]
    table = pa.table({"x": pa.array(values, pa.uint64()), "y": [0, 1, 0, 1, 0]})
    schema = Schema([Categorical("x", True, [2**64 - 1, 2**63, 1, 2**70], outside="other")], "y", [0, 1])
    there = ibis.duckdb.connect().create_table("t", table)
    assert content(PrivateCounts.from_source(there, schema)) == content(
        PrivateCounts.from_table(table, table["y"], schema)
    )


CASTS = {
    "a text to a number": (lambda t: t.c.cast("int32"), False),
    "a text to a float": (lambda t: t.c.cast("float64"), False),
    "a text to a date": (lambda t: t.c.as_date("%Y").year(), False),
    "a large number to a small one": (lambda t: t.n.cast("int8"), False),
    "a float to an integer": (lambda t: t.f.cast("int64"), False),
    "a text to a number, if it is one": (lambda t: t.c.try_cast("int32"), True),
    "a number to a text": (lambda t: t.n.cast("string").length(), True),
    "an integer to a float": (lambda t: t.n.cast("float64"), True),
    "a small number to a large one": (lambda t: t.b.cast("int64"), True),
}


@pytest.mark.parametrize("name", CASTS)
def test_a_cast_that_a_value_could_stop_is_refused_before_anything_is_read(name):
    make, allowed = CASTS[name]
    made = pa.table({"c": ["1", "x"], "n": [1, 2], "f": [1.0, 2.0], "b": pa.array([1, 2], pa.int8()), "y": [0, 1]})
    table = ibis.duckdb.connect().create_table("t", made)
    schema = Schema([Numeric("x", cuts=[1])], "y", [0, 1])
    asked = table.mutate(x=make(table))
    if allowed:
        PrivateCounts.from_source(asked, schema)
        return
    with pytest.raises(TableError, match="try_cast"):
        PrivateCounts.from_source(asked, schema)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('IO Error: Failed to download extension "httpfs" at URL "http://x"', "not installed"),
        ("IO Error: No files found that match the pattern \"s3://Xyzzy/a\"", "no file of this name"),
        ("HTTP Error: HTTP GET error on 'https://Xyzzy/a' (HTTP 403)", "not accepted"),
        ("HTTP Error: HTTP GET error on 'https://Xyzzy/a' (HTTP 404)", "no file of this name"),
        ("IO Error: Could not set lock on file Xyzzy: Conflicting lock is held in python (PID 1)", "another process"),
        ('connection failed: FATAL:  password authentication failed for user "Xyzzy"', "not accepted"),
        ("[Errno -2] could not translate host name Xyzzy to address: Name or service not known", "no such host"),
        ('connection to server at "127.0.0.1", port 1 failed: Connection refused', "no server answers"),
        ('FATAL:  database "Xyzzy" does not exist', "no database"),
        ('permission denied for table Xyzzy', "may not read"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `Xyzzy` cannot be found", "no such table"),
        ("Invalid Input Error: No magic bytes found at end of file 'Xyzzy'", "damaged"),
        ("Xyzzy", UNKNOWN),
    ],
)  # fmt: skip
def test_each_cause_has_its_own_words(said, told):
    assert told in cause_of(Exception(said))
    assert "Xyzzy" not in cause_of(Exception(said))


def test_causes_on_this_machine(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    (tmp_path / "bad.parquet").write_text("Xyzzy" * 100)
    with duckdb.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE Xyzzy AS SELECT 1 AS a")
    found = {
        f"{tmp_path}/none/*.parquet": "no file",
        f"{tmp_path}/bad.parquet": "damaged",
        f"duckdb:///{tmp_path}/a.db?table=no": "no such table",
    }
    if find_spec("psycopg"):
        found["postgresql://Xyzzy@127.0.0.1:1/db?table=t"] = "no server answers"
    if os.geteuid():
        (tmp_path / "a.parquet").chmod(0)
        found[f"{tmp_path}/a.parquet"] = "may not read"
    for where, told in found.items():
        heard = Heard(lambda where=where: open_table(where))
        assert isinstance(heard.error, EngineError | TableError)
        assert told in str(heard.error), where
        assert "Xyzzy" not in heard.text


@pytest.mark.slow
def test_enums_of_postgresql_are_texts_or_refused_by_their_type(postgresql_engine):
    from .ibis_tables import connect

    postgresql_engine.connection.execute(
        "DROP TABLE IF EXISTS moods; DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('a', 'b'); "
        "CREATE TABLE moods (x mood, y int); INSERT INTO moods VALUES ('a', 0), ('b', 1), (NULL, 1)"
    )
    table = connect(postgresql_engine).table("moods")
    schema = Schema([Categorical("x", True, ["a", "b", "other"])], "y", [0, 1])
    ledger = Ledger(epsilon=1.0)
    expected = PrivateCounts.from_table({"x": ["a", "b", None]}, [0, 1, 1], schema)
    assert content(PrivateCounts.from_source(table, schema)) == content(expected)
    assert ledger.entries == ()

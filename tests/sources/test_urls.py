"""Tables by path and URL: what can be opened, what is refused, and that neither errors nor models repeat a secret."""

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import DPGreedyRuleListClassifier, PrivateCounts, SavedModel, open_table
from discreet._utils.errors import EngineError, TableError
from discreet.datasets import load_compas

from ..support.engines import spark_connect_server
from ..support.marked_values import Heard

pytest.importorskip("ibis")
from .test_conformance import content

DATA = load_compas()
TABLE = pa.Table.from_pandas(DATA.frame, preserve_index=False)


@pytest.fixture(scope="module")
def expected():
    return content(PrivateCounts.from_table(DATA.data, DATA.target, DATA.schema))


def test_parquet_files(tmp_path, expected):
    whole = tmp_path / "it's 100% é.parquet"
    pq.write_table(TABLE, whole)
    assert content(PrivateCounts.from_source(open_table(whole), DATA.schema)) == expected
    for i in range(3):
        pq.write_table(TABLE.slice(i * 3000, 3000), tmp_path / f"part{i}.pq")
    pq.write_table(TABLE.slice(0, 0), tmp_path / "part3.pq")
    assert content(PrivateCounts.from_source(open_table(f"{tmp_path}/part*.pq"), DATA.schema)) == expected


def test_a_file_of_duckdb(tmp_path, expected, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(tmp_path / "people.db") as connection:
        connection.register("given", TABLE)
        connection.execute(
            'CREATE SCHEMA s; CREATE TABLE "odd ""name" AS SELECT * FROM given; CREATE VIEW s.v AS FROM "odd ""name"'
        )
    before = (tmp_path / "people.db").read_bytes()
    for url in (
        'duckdb:///people.db?table=odd "name',
        "duckdb:///people.db?table=odd+%22name",
        f"duckdb:///{tmp_path}/people.db?table=s.v",
    ):
        assert content(PrivateCounts.from_source(open_table(url), DATA.schema)) == expected
    assert (tmp_path / "people.db").read_bytes() == before
    for name in ("nothing", "nothing.v"):
        with pytest.raises(EngineError, match="no such table"):
            open_table(f"duckdb:///people.db?table={name}")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("people", "a table is a path"),
        ("people.xlsx", "a table is a path"),
        ("people.CSV", "fit_file(path)"),
        ("mysql://host/people?table=t", "a table is a path"),
        ("nothing.parquet", "no file nothing.parquet"),
        ("duckdb:///nothing.db?table=t", "a path from here"),
        ("duckdb://host/nothing.db?table=t", "a path from here"),
        ("duckdb:///nothing.db", "which table"),
        ("postgresql://me@host/db", "which table"),
        ("postgresql://me@host/db?table=", "which table"),
        ("postgresql://me:Xyzzy@host/db?table=t", "PGPASSWORD"),
        ("postgresql://me@host/db?table=t&password=Xyzzy", "may not stand in a URL"),
        ("spark://host:7077", "which table"),
        (b"people.parquet", "named by a text"),
    ],
)
def test_what_cannot_be_opened(where, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    heard = Heard(lambda: open_table(where))
    assert isinstance(heard.error, TableError)
    assert message in str(heard.error)
    assert "Xyzzy" not in heard.text


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "a.parquet").write_text("Xyzzy")
    (tmp_path / "a.db").write_text("Xyzzy" * 1000)
    for where in (tmp_path / "a.parquet", f"duckdb:///{tmp_path}/a.db?table=t"):
        heard = Heard(lambda where=where: open_table(where))
        assert isinstance(heard.error, EngineError)
        assert "Xyzzy" not in heard.text


@pytest.mark.slow
def test_postgresql(postgresql_engine, expected, monkeypatch):
    postgresql_engine.load("people", TABLE)
    postgresql_engine.connection.execute(
        "CREATE SCHEMA IF NOT EXISTS other; DROP VIEW IF EXISTS other.v; CREATE VIEW other.v AS TABLE people; "
        'CREATE SCHEMA IF NOT EXISTS "my.own"; DROP VIEW IF EXISTS "my.own"."v.x"; CREATE VIEW "my.own"."v.x" AS TABLE people'
    )
    folder = postgresql_engine.connection.info.host
    monkeypatch.setenv("PGPASSWORD", "Xyzzy")
    for name in ("people", "other.v", '"my.own"."v.x"'):
        table = open_table(f"postgresql://tester@/postgres?host={folder}&table={name}")
        assert content(PrivateCounts.from_source(table, DATA.schema)) == expected
        clf = DPGreedyRuleListClassifier(schema=DATA.schema).fit_source(table)
        assert b"Xyzzy" not in pickle.dumps(clf)
        assert "tester" not in SavedModel.of(clf, DATA.schema.target).to_json()
        with pytest.raises(Exception, match="read-only"):
            table.get_backend().raw_sql("CREATE TABLE written (a int)")
        table.get_backend().disconnect()
    for url in (
        f"postgresql://Xyzzy@/postgres?host={folder}&table=t",
        f"postgresql://tester@/postgres?host={folder}&table=no",
    ):
        heard = Heard(lambda url=url: open_table(url))
        assert isinstance(heard.error, EngineError)
        assert "Xyzzy" not in heard.text


@pytest.mark.slow
def test_a_spark_session(spark_engine, expected):
    spark_engine.load("people", TABLE)
    assert content(PrivateCounts.from_source(open_table("spark://local?table=people"), DATA.schema)) == expected


SPARK_CONNECT = """
import sys, warnings
warnings.simplefilter("ignore")
import pandas as pd
from pyspark.sql import SparkSession
from discreet import PrivateCounts, open_table
from discreet.datasets import load_compas

data = load_compas()
session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
session.createDataFrame(data.frame).write.saveAsTable("people")
here = PrivateCounts.from_table(data.data, data.target, data.schema).patterns
there = PrivateCounts.from_source(open_table(sys.argv[1] + "?table=people"), data.schema).patterns
same = (here._words == there._words).all() and (here.counts == there.counts).all()
session.stop()
sys.exit(0 if same else 1)
"""


@pytest.mark.slow
def test_spark_connect(tmp_path, spark_installed):
    """In a process of its own: a program has either Spark or Spark Connect."""
    if find_spec("grpc") is None:
        pytest.skip("pyspark[connect] is not installed")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "PYSPARK"))}
    with spark_connect_server() as address:
        done = subprocess.run(
            [sys.executable, "-c", SPARK_CONNECT, address],
            capture_output=True,
            text=True,
            env=environment,
            timeout=300,
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr[-2000:]

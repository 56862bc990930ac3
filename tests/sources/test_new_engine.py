"""An engine is one class and its name in a registry: one that the package does not have goes from a URL to a model."""

import ast
import sqlite3
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest

import discreet
from discreet import Boolean, Categorical, DPGreedyRuleListClassifier, Numeric, PrivateCounts, Schema, open_table
from discreet._utils.errors import EngineError, SchemaError, TableError

pytest.importorskip("ibis")
from discreet.sources import engines, urls
from discreet.sources.engines.base import Cause, Engine, named
from discreet.sources.urls import local_place

from .test_conformance import content

SCHEMA = Schema(
    [Numeric("n", cuts=[0, 1.5], missing=True), Categorical("c", True, ["a", "b"], outside="other"), Boolean("b")],
    target="y",
    classes=["no", "yes"],
)
FRAME = pd.DataFrame(
    {"n": [-1.0, 0.5, None, 7.0], "c": ["a", "x", None, "b"], "b": [0, 1, 1, 0], "y": ["no", "yes", "no", "yes"]}
)


class SQLite(Engine):
    title = "SQLite"
    name_in_ibis = "sqlite"
    extra = "sqlite"
    schemes = ("sqlite",)
    url_forms = "sqlite:///FILE?table=NAME"
    is_server = False
    errors = {Cause.LOCKED: "database is busy"}  # noqa: RUF012

    @classmethod
    def open(cls, ibis, parts, table, options):
        return named(ibis.sqlite.connect(cls.local_path(parts.path)), table)

    @classmethod
    def local_path(cls, rest):
        return unquote(rest.partition("?")[0]).removeprefix("/")

    def is_nan(self, x, floating):
        return x.isnull()  # there is no NaN in SQLite, which takes it for NULL

    def check_column_name(self, name):
        if name.startswith("sqlite_"):
            raise SchemaError(f"SQLite keeps the name {name!r} for itself")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """The one line that the registry gets."""
    for module in (engines, urls):
        monkeypatch.setattr(module, "ENGINES", (*engines.ENGINES, SQLite))


@pytest.fixture
def url(tmp_path):
    with sqlite3.connect(tmp_path / "people.db") as connection:
        FRAME.to_sql("people", connection, index=False)
    connection.close()
    return f"sqlite:///{tmp_path}/people.db?table=people"


def test_a_table_gives_the_same_patterns_and_model(url):
    expected = PrivateCounts.from_table(FRAME.drop(columns="y"), FRAME.y, SCHEMA)
    assert content(PrivateCounts.from_source(open_table(url), SCHEMA)) == content(expected)
    clf = DPGreedyRuleListClassifier(epsilon=1.0, schema=SCHEMA, random_state=0)
    here = clf.fit(FRAME.drop(columns="y"), FRAME.y).rule_list_
    assert clf.fit_source(open_table(url)).rule_list_ == here


def test_its_urls_and_errors_are_known(url, tmp_path):
    assert local_place(url) == f"{tmp_path}/people.db"
    assert urls.cause_of(OSError("database is busy")) == Cause.LOCKED.value
    with pytest.raises(TableError, match="which table"):
        open_table(url.partition("?")[0])
    with pytest.raises(EngineError, match=r"SQLite cannot be opened.*no such table"):
        open_table(url.replace("=people", "=nobody"))
    with pytest.raises(SchemaError, match="for itself"):
        PrivateCounts.from_source(
            open_table(url).rename(sqlite_b="b"), Schema([Boolean("sqlite_b")], "y", ["no", "yes"])
        )


def test_nobody_outside_compares_names_of_engines():
    """But the command line and ``fit_file``, which say for a Parquet file whether DuckDB reads it."""
    home = Path(discreet.__file__).parent
    known = {name for engine in engines.ENGINES for name in (engine.name_in_ibis, *engine.schemes, engine.title)}
    assert {"duckdb", "postgres", "pyspark", "Spark"} <= known
    asked = set()
    for path in home.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
                asked |= {path.relative_to(home).as_posix()} if texts & known else set()
    assert asked == {"cli/common.py", "estimators/private.py", "sources/engines/spark.py"}

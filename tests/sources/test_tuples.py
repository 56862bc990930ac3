"""Joint counts of columns from an engine are those of the same table in memory, whatever the values, parts and batches."""

import math
import time
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet import Boolean, Categorical, Numeric, Schema
from discreet._utils.errors import EngineError
from discreet._utils.tables import as_table
from discreet.private.counts import groups as groups_module
from discreet.private.counts.division import OUTSIDE, Division, column_numbers, divided_by, left_by
from discreet.private.counts.marginals import MarginalsInProgress
from discreet.rules.candidates import Candidates, NumberedFork, NumberedLeaf
from discreet.sources.memory import blocks_of, class_numbers

from ..models.test_exports import run_with, stored_tables
from ..support.marked_values import NUMBER, TEXT, Heard, shows_a_mark
from ..support.small_tables import every_count
from ..support.strategies import _kept, schemas

pytest.importorskip("ibis")
import ibis

from discreet.sources import engine as engine_module
from discreet.sources.engine import EngineTable
from discreet.sources.engines.duckdb import CUT_OFF, DuckDB
from discreet.sources.urls import open_table

from ..support.slices import examples
from .ibis_tables import connect, stored
from .test_running import ENDLESS, ENDLESS_SPARK, SOON, ctrl_c_when, no_thread_is_left

COLUMNS = [
    Numeric("n", cuts=[1, 2, 3], low=0, high=4, outside="missing"),
    Categorical("c", categories=["a", "b"]),
    Boolean("b"),
    Numeric("m", ranges=[(0, 1)]),
]
SCHEMA = Schema(COLUMNS, "y", ["no", "yes", "maybe"])
TABLE = pa.table(
    {
        "n": pa.array([0.5, 1.0, 2.5, 9.0, -1.0, None, math.nan, 2.0, math.inf, 0.0] * 3, from_pandas=False),
        "c": ["a", "b", None, "d", "", "b"] * 5,
        "b": [True, False, None] * 10,
        "m": pa.array([0, 1, 2, None, -5] * 6, pa.int32()),
        "y": ["no", "yes", None, "maybe", "none of them", "no", "yes"] * 4 + ["no", "maybe"],
    }
)


@contextmanager
def small_parts(rows=3):
    """Answers in several batches."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ROWS", "RECORDS"):
            patch.setattr(engine_module, f"{name}_AT_A_TIME", rows)
        yield


@pytest.fixture(params=["records", "counts", "counts in parts"])
def from_duckdb(request, duckdb_engine, monkeypatch):
    """DuckDB, and DuckDB as if it ran elsewhere, or could not take long arrays."""
    monkeypatch.setattr(DuckDB, "runs_here", request.param == "records")
    if request.param == "counts in parts":
        monkeypatch.setattr(DuckDB, "most_places", 2)
    return duckdb_engine


def of_memory(table, schema, columns, size, division):
    filling = MarginalsInProgress(columns, len(schema.classes), size, division)
    labels = class_numbers(table["y"], schema.classes, len(table))
    for block in blocks_of(as_table(table), columns, labels):
        filling.add(*block)
    return every_count(filling.finish()).ravel().tolist()


def of_engine(there, schema, columns, size, division):
    filling = MarginalsInProgress(columns, len(schema.classes), size, division)
    EngineTable(there, schema, schema.classes).add_to(filling)
    return every_count(filling.finish()).ravel().tolist()


@pytest.fixture(autouse=True)
def every_column_by_itself(monkeypatch):
    """These columns have few bins, and would be put together in one group or two."""
    monkeypatch.setattr(groups_module, "LARGEST_GROUP", {1: 1, 2: 1, 3: 1})


def check_equal(there, table, schema, columns, size, division=None):
    found = of_engine(there, schema, columns, size, division)
    assert found == of_memory(table, schema, columns, size, division)
    return sum(found)


def divisions():
    """Those of a list and of a tree over the columns c and n, and others."""
    columns = [COLUMNS[1], COLUMNS[0], COLUMNS[3]]
    rules = Candidates.of_rules(SCHEMA, ["c = a and n > 1", "n > 2 and n <= 3", "c = a and c = b", "m in [0, 1]"])
    tests = Candidates.of_tests(Schema(COLUMNS[:2]))
    tree = NumberedFork(
        0,
        NumberedFork(1, NumberedLeaf(), NumberedFork(2, NumberedLeaf(), NumberedLeaf())),
        NumberedFork(3, NumberedLeaf(), NumberedLeaf()),
    )
    yes = np.array([True, False, False, True])
    return columns, {
        "all": Division(),
        "left by a list": left_by([0, 2, 3], rules, column_numbers(columns, rules)),
        "leaves of a tree": divided_by(tree, tests, columns),
        "one leaf": divided_by(NumberedLeaf(), tests, columns),
        "nothing": Division([({}, OUTSIDE)]),
        "the first box counts": Division([({0: yes}, 1), ({0: ~yes}, 0), ({}, OUTSIDE)], 0, 2),
    }


# --- equal to those in memory -------------------------------------------------------------------------------------------------


def check_divisions(engine):
    there = stored(engine, TABLE)
    columns, made = divisions()
    for how, division in made.items():
        for size in (1, 2, 3):
            with small_parts():
                total = check_equal(there, TABLE, SCHEMA, columns, size, division)
            assert (total == 0) == (how == "nothing")


def test_lists_trees_and_other_parts(engine):
    check_divisions(engine)


def test_lists_trees_and_other_parts_in_both_ways(from_duckdb):
    check_divisions(from_duckdb)


@st.composite
def any_division(draw, columns):
    n_parts = draw(st.integers(1, 3))
    part = st.integers(OUTSIDE, n_parts - 1)
    boxes = []
    for _ in range(draw(st.integers(0, 3))):
        which = draw(st.lists(st.integers(0, len(columns) - 1), unique=True, max_size=3))
        masks = [draw(st.lists(st.booleans(), min_size=columns[i].n_bins, max_size=columns[i].n_bins)) for i in which]
        boxes.append(({i: np.array(mask) for i, mask in zip(which, masks, strict=True)}, draw(part)))
    return Division(boxes, draw(part) if boxes else 0, n_parts)


def check_anything(engine, most):
    @settings(max_examples=most, suppress_health_check=list(HealthCheck))
    @given(schemas(max_columns=4).filter(lambda s: any(len(_kept(c)) for c in s.columns)), st.data())
    def check(schema, data):
        assume(schema.used and all(getattr(column, "outside", None) != "error" for column in schema.columns))
        table, _ = data.draw(stored_tables(schema))
        labels = st.sampled_from([*schema.classes, "none of them", None])
        drawn = data.draw(st.lists(labels, min_size=len(table), max_size=len(table)))
        table = table.append_column("y", pa.array(drawn, pa.string()))
        columns = data.draw(st.lists(st.sampled_from(schema.used), unique=True, min_size=1))
        division, size = data.draw(any_division(columns)), data.draw(st.integers(1, 3))
        with small_parts(data.draw(st.sampled_from([2, 1000]))):
            check_equal(stored(engine, table), table, schema, columns, size, division)

    check()


def test_any_schema_any_values_any_parts(engine):
    check_anything(engine, run_with(engine, 60))


def test_any_schema_any_values_any_parts_in_both_ways(from_duckdb):
    check_anything(from_duckdb, examples(40))


def test_nan_in_a_parquet_file_and_in_views_of_it(from_duckdb, tmp_path):
    """DuckDB believes what the file says of its largest number, which leaves NaN out."""
    x = pa.array([0.5, math.nan, None, 1.5] * 50, from_pandas=False)
    table = pa.table({"n": x, "m": pa.array([1] * 200), "y": ["no", "yes", "maybe", "yes"] * 50})
    schema = Schema([Numeric("n", cuts=[1, 9]), Numeric("m", cuts=[0.5, 7])], "y", ["no", "yes", "maybe"])
    pq.write_table(table, tmp_path / "x.parquet")
    there = open_table(str(tmp_path / "x.parquet"))
    some = Division([({0: np.array([True, True, True, False])}, 1)], 0, 2)
    for view in (there, there.filter(there.m > 0), there.mutate(n=there.n + 0)):
        for division in (Division(), some):
            check_equal(view, table, schema, schema.used, 2, division)


def test_a_table_without_records(engine):
    for division in divisions()[1].values():
        columns = divisions()[0]
        found = of_engine(stored(engine, TABLE.slice(0, 0)), SCHEMA, columns, 2, division)
        assert not any(found)


# --- how it is asked for ------------------------------------------------------------------------------------------------------


def queries(monkeypatch, there, size):
    asked, answer = [], EngineTable._answer

    def noted(self, expression, *args, **how):
        asked.append(ibis.to_sql(expression))
        return answer(self, expression, *args, **how)

    with monkeypatch.context() as patch:
        patch.setattr(EngineTable, "_answer", noted)
        of_engine(there, SCHEMA, COLUMNS, size, Division())
    return asked


def test_one_query_sees_one_state_of_the_table(from_duckdb, monkeypatch):
    """The table may change between two queries, and a statement says so where there are several."""
    there = stored(from_duckdb, TABLE)
    for size in (1, 2, 3):
        assert len(queries(monkeypatch, there, size)) == 1


def test_records_come_from_engines_in_this_process_alone(duckdb_engine, monkeypatch):
    there = stored(duckdb_engine, TABLE)
    for here in (True, False):
        monkeypatch.setattr(DuckDB, "runs_here", here)
        assert all(("COUNT(" in asked) != here for asked in queries(monkeypatch, there, 2))


@pytest.mark.slow
def test_servers_give_counts_alone(postgresql_engine, spark_engine, monkeypatch):
    for engine in (postgresql_engine, spark_engine):
        asked = queries(monkeypatch, stored(engine, TABLE), 2)
        assert asked
        assert all("COUNT(" in query and "GROUP BY" in query for query in asked)


# --- when it fails ------------------------------------------------------------------------------------------------------------

# DuckDB says which text it could not read
BROKEN = "CREATE OR REPLACE VIEW broken AS SELECT * REPLACE (CAST(c AS DOUBLE) AS n) FROM marked"
MARKED = pa.table({"n": [NUMBER], "c": [TEXT], "b": [True], "m": pa.array([1], pa.int32()), "y": ["no"]})


@pytest.mark.parametrize("how", ["all", "left by a list", "leaves of a tree", "one leaf"])
def test_an_error_shows_no_value_and_says_what_was_spent(from_duckdb, how):
    stored(from_duckdb, MARKED, "marked")
    from_duckdb.query(BROKEN)
    columns, made = divisions()
    broken = connect(from_duckdb).table("broken")
    heard = Heard(lambda: of_engine(broken, SCHEMA, columns, 2, made[how]))
    assert isinstance(heard.error, EngineError)
    assert "DuckDB stopped before the records were counted" in str(heard.error)
    assert ("nothing was spent" in str(heard.error)) == (how == "all")
    assert ("stays booked" in str(heard.error)) == (how != "all")
    assert not shows_a_mark(heard.text)


LONG = pa.table({"n": [0.5, 1.5] * 40_000, "c": ["a"] * 80_000, "b": [True] * 80_000, "m": [1] * 80_000})
LONG = LONG.append_column("y", pa.array(["no", "yes"] * 40_000))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_columns_that_are_put_together(engine, size, monkeypatch):
    monkeypatch.setattr(groups_module, "LARGEST_GROUP", {1: 1 << 12, 2: 1 << 6, 3: 1 << 4})
    columns, some = divisions()
    assert any(len(group) > 1 for group in MarginalsInProgress(columns, 3, size).groups.members)
    for division in some.values():
        check_equal(stored(engine, TABLE), TABLE, SCHEMA, columns, size, division)


def test_a_stream_that_somebody_cuts_off_is_an_error(duckdb_engine, monkeypatch):
    """DuckDB itself ends it as if there were no more records."""
    there, add = stored(duckdb_engine, LONG), MarginalsInProgress.add

    def use_the_connection(self, *args):
        duckdb_engine.query("SELECT 1")
        add(self, *args)

    with small_parts(rows=2048), monkeypatch.context() as patch:
        patch.setattr(MarginalsInProgress, "add", use_the_connection)
        with pytest.raises(EngineError, match="used the same connection") as caught:
            of_engine(there, SCHEMA, COLUMNS, 2, Division())
    assert str(caught.value) == f"{CUT_OFF}. {engine_module.UNSPENT}"
    assert check_equal(there, LONG, SCHEMA, COLUMNS, 1) == 4 * 80_000


def test_the_last_row_is_the_last_whatever_is_set(duckdb_engine):
    there = stored(duckdb_engine, LONG)
    duckdb_engine.query("SET preserve_insertion_order = false")
    try:
        with small_parts(rows=2048):
            assert check_equal(there, LONG, SCHEMA, COLUMNS, 1) == 4 * 80_000
        assert duckdb_engine.query("SELECT current_setting('preserve_insertion_order')") == [(False,)]
    finally:
        duckdb_engine.query("RESET preserve_insertion_order")


def test_whoever_counts_may_fail(duckdb_engine, monkeypatch):
    there = stored(duckdb_engine, LONG)

    def fail(self, bins, labels):
        time.sleep(0.3)  # more comes, until there is no place
        raise ArithmeticError("no")

    with small_parts(rows=2048), monkeypatch.context() as patch:
        patch.setattr(MarginalsInProgress, "add", fail)
        with pytest.raises(ArithmeticError):
            of_engine(there, SCHEMA, COLUMNS, 2, Division())
    assert no_thread_is_left()
    assert check_equal(there, LONG, SCHEMA, COLUMNS, 1)


ONE_COLUMN = Schema([Numeric("n", cuts=[1])], "y", ["no", "yes"])
SMALL = pa.table({"n": [0.0, 2.0], "y": ["no", "yes"]})


def stopped_by_ctrl_c(there, it_runs):
    with ctrl_c_when(it_runs) as sent, pytest.raises(KeyboardInterrupt):
        of_engine(there, ONE_COLUMN, ONE_COLUMN.used, 1, Division())
    assert time.monotonic() - sent[0] < SOON
    assert no_thread_is_left()


def test_ctrl_c_in_duckdb(from_duckdb):
    connection = connect(from_duckdb)
    connection.raw_sql(f"CREATE OR REPLACE VIEW endless AS {ENDLESS}")
    asked = (
        "SELECT name, value FROM duckdb_settings() UNION ALL SELECT table_name, sql FROM duckdb_tables() ORDER BY ALL"
    )
    before, start = from_duckdb.query(asked), time.monotonic()
    stopped_by_ctrl_c(connection.table("endless"), lambda: time.monotonic() > start + 0.7)
    assert from_duckdb.query(asked) == before
    check_equal(stored(from_duckdb, SMALL), SMALL, ONE_COLUMN, ONE_COLUMN.used, 1)


@pytest.mark.slow
def test_ctrl_c_in_postgresql(postgresql_engine):
    import psycopg

    postgresql_engine.load("records", SMALL)
    with psycopg.connect(postgresql_engine.connection.info.dsn, autocommit=True) as there:
        mine = f"FROM pg_stat_activity WHERE pid = {there.info.backend_pid}"
        connection = ibis.postgres.from_connection(there)
        slow = connection.sql("SELECT r.* FROM records r, (SELECT pg_sleep(60)) s")
        stopped_by_ctrl_c(slow, lambda: postgresql_engine.query(f"SELECT 1 {mine} AND wait_event = 'PgSleep'"))
        assert postgresql_engine.query(f"SELECT state {mine}") == [("idle",)]
        check_equal(connection.table("records"), SMALL, ONE_COLUMN, ONE_COLUMN.used, 1)


@pytest.mark.slow
def test_ctrl_c_in_spark(spark_engine):
    session = spark_engine.connection
    session.sql(ENDLESS_SPARK).createOrReplaceTempView("endless")
    jobs = session.sparkContext.statusTracker().getActiveJobsIds
    stopped_by_ctrl_c(connect(spark_engine).table("endless"), jobs)
    until = time.monotonic() + SOON
    while jobs() and time.monotonic() < until:
        time.sleep(0.1)  # the tracker is told a little later
    assert jobs() == []
    check_equal(stored(spark_engine, SMALL), SMALL, ONE_COLUMN, ONE_COLUMN.used, 1)

"""When a source fails: errors that depend on names and types alone, nothing spent, nothing shown, nothing left behind."""

import datetime
import threading
import time

import pyarrow as pa
import pytest

from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    Ledger,
    Numeric,
    PrivateCounts,
    Schema,
)
from discreet._utils.errors import EngineError, SchemaError
from discreet.accounting.ledger import BudgetError
from discreet.datasets import load_compas
from discreet.sources.source import Source

from ..support.marked_values import NUMBER, TEXT, Heard, shows_a_mark

pytest.importorskip("ibis")
import ibis

from .ibis_tables import connect, stored

SCHEMA = Schema([Numeric("n", cuts=[1]), Categorical("c", categories=["a", "b"]), Boolean("b")], "y", ["no", "yes"])
TABLE = pa.table({"n": [NUMBER, 2.0], "c": [TEXT, "b"], "b": [True, None], "y": ["no", TEXT]})
LEARNERS = [DPGreedyRuleListClassifier, DPOptimalRuleListClassifier]


def fresh():
    """A table in a DuckDB of its own, and how to break the connection."""
    connection = ibis.duckdb.connect()
    table = connection.create_table("records", TABLE)
    return table, connection


# DuckDB says which text it could not read
BROKEN = "CREATE VIEW broken AS SELECT * REPLACE (CAST(c AS DOUBLE) AS n) FROM records"

# --- before anything is read --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"c": None}, "'c', which the table does not have"),
        ({"y": None}, "the target of the schema is column 'y'"),
        ({"n": pa.array([datetime.date(1900, 1, 1)] * 2)}, "type date"),
        ({"c": pa.array([[TEXT]] * 2)}, "type array"),
        ({"b": pa.array([b"1"] * 2)}, "type binary"),
        ({"y": pa.array([datetime.datetime(1900, 1, 1)] * 2)}, "type timestamp"),
    ],
)
def test_errors_about_names_and_types(duckdb_engine, change, message):
    columns = {name: TABLE[name] for name in TABLE.column_names} | change
    table = pa.table({name: values for name, values in columns.items() if values is not None})
    there = stored(duckdb_engine, table)
    nothing = there.filter(ibis.literal(False))
    for learner in LEARNERS:
        ledger = Ledger(epsilon=3.0)
        clf = learner(schema=SCHEMA, ledger=ledger)
        heard = [Heard(lambda t=t, clf=clf: clf.fit_source(t)) for t in (there, nothing)]
        assert isinstance(heard[0].error, SchemaError)
        assert message in str(heard[0].error)
        assert heard[0].outcome == heard[1].outcome
        assert not shows_a_mark(heard[0].text)
        assert ledger.entries == ()


@pytest.mark.slow
@pytest.mark.parametrize("other", ["postgresql", "spark"])
def test_a_text_that_is_to_be_a_number_is_refused_elsewhere(other, request):
    table = TABLE.set_column(0, "n", pa.array(["1", TEXT]))
    with pytest.raises(SchemaError, match="Cast it in a view"):
        PrivateCounts.from_source(stored(request.getfixturevalue(f"{other}_engine"), table), SCHEMA)


def test_what_is_no_table_and_what_is_no_schema(duckdb_engine):
    there = stored(duckdb_engine, TABLE)
    for no_table in (TABLE, "records", None, there.n, TABLE.to_pandas()):
        with pytest.raises(TypeError, match="must be an ibis table"):
            PrivateCounts.from_source(no_table, SCHEMA)
    clf = DPGreedyRuleListClassifier
    with pytest.raises(SchemaError, match="needs a schema"):
        clf().fit_source(there)
    with pytest.raises(SchemaError, match=r"\[target\] name"):
        clf(schema=Schema(SCHEMA.columns, classes=["no", "yes"])).fit_source(there)
    with pytest.raises(SchemaError, match='outside = "error"'):
        PrivateCounts.from_source(there, Schema([Boolean("b", outside="error")], "y", ["no", "yes"]))
    with pytest.raises(TypeError, match="sample_weight"):
        clf(schema=SCHEMA).fit_source(there, sample_weight=[1])
    with pytest.raises(EngineError, match="the engine stopped"):
        clf(schema=SCHEMA).fit_source(
            ibis.table({"n": "float64", "c": "string", "b": "boolean", "y": "string"}, name="t")
        )


def test_names_that_differ_in_case(duckdb_engine):
    there = stored(duckdb_engine, TABLE.rename_columns(["N", "c", "b", "y"]))
    with pytest.raises(SchemaError, match="'n', which the table does not have"):
        PrivateCounts.from_source(there, SCHEMA)


@pytest.mark.slow
def test_two_names_that_differ_in_case(postgresql_engine, spark_engine):
    both = TABLE.append_column("N", pa.array([0.0, 0.0]))
    expected = PrivateCounts.from_table(TABLE, TABLE["y"], SCHEMA).patterns
    found = PrivateCounts.from_source(stored(postgresql_engine, both), SCHEMA).patterns
    assert found._words.tolist() == expected._words.tolist()
    with pytest.raises(SchemaError, match="differs in case"):
        PrivateCounts.from_source(stored(spark_engine, both), SCHEMA)


@pytest.mark.slow
def test_a_name_that_spark_would_replace(spark_engine):
    schema = Schema([Boolean("${env:HOME}")], "y", ["no", "yes"])
    there = ibis.table({"${env:HOME}": "boolean", "y": "string"}, name="t")
    from discreet.sources.bins import EngineColumn
    from discreet.sources.engines.spark import Spark

    column = schema.used[0]
    with pytest.raises(SchemaError, match="setting"):
        EngineColumn(Spark(spark_engine), column.name, there[column.name], column.value_bins, 3, 2)


def test_too_many_patterns_are_refused_from_public_numbers(duckdb_engine):
    there = stored(duckdb_engine, TABLE)
    n = 3 * 4 * 3  # with the bins of missing and of unlisted values
    whole = DPOptimalRuleListClassifier(max_length=2, schema=SCHEMA)
    assert whole.fit_source(there, max_patterns=n)
    with pytest.raises(SchemaError, match=f"allows {n} patterns.*fewer columns.*fewer cuts"):
        whole.fit_source(there, max_patterns=n - 1)
    with pytest.raises(SchemaError, match="more than max_patterns = 1"):
        DPGreedyRuleListClassifier(schema=SCHEMA).fit_source(there, max_patterns=1)
    with pytest.raises(ValueError, match="max_patterns must be an integer"):
        DPGreedyRuleListClassifier(schema=SCHEMA).fit_source(there, max_patterns=0)


# --- connections that are lost ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_closed_connection(learner):
    table, connection = fresh()
    connection.disconnect()
    ledger = Ledger(epsilon=3.0)
    heard = Heard(lambda: learner(schema=SCHEMA, ledger=ledger).fit_source(table))
    assert isinstance(heard.error, EngineError)
    assert "nothing was spent" in str(heard.error)
    assert not shows_a_mark(heard.text)
    assert ledger.entries == ()


def test_a_value_that_stops_the_engine_is_not_shown():
    _, connection = fresh()
    connection.raw_sql(BROKEN)
    heard = Heard(lambda: PrivateCounts.from_source(connection.table("broken"), SCHEMA))
    assert isinstance(heard.error, EngineError)
    assert not shows_a_mark(heard.text)


def test_a_budget_that_is_too_small_is_refused_before_the_query():
    table, connection = fresh()
    connection.disconnect()  # the query would fail
    ledger = Ledger(epsilon=0.5)
    with pytest.raises(BudgetError, match=r"epsilon 0\.5"):
        DPGreedyRuleListClassifier(epsilon=1.0, schema=SCHEMA, ledger=ledger).fit_source(table)
    assert ledger.entries == ()


def test_a_budget_that_another_spends_meanwhile_is_refused_after_the_query(monkeypatch):
    table, _ = fresh()
    ledger = Ledger(epsilon=1.0)
    count = Source.count

    def meanwhile(*args):
        ledger.reserve(1, 0, "another model").close()
        return count(*args)

    monkeypatch.setattr(Source, "count", meanwhile)
    clf = DPGreedyRuleListClassifier(epsilon=1.0, schema=SCHEMA, ledger=ledger)
    with pytest.raises(BudgetError):
        clf.fit_source(table)
    assert [entry.what for entry in ledger.entries] == ["another model"]
    assert not hasattr(clf, "rule_list_")


def test_records_are_counted_once_before_the_budget_is_reserved(monkeypatch):
    table, _ = fresh()
    ledger, seen, count = Ledger(epsilon=3.0), [], Source.count
    monkeypatch.setattr(Source, "count", lambda *a: (seen.append(len(ledger.entries)), count(*a))[1])
    for learner in LEARNERS:
        learner(epsilon=1.0, schema=SCHEMA, ledger=ledger).fit_source(table)
    assert seen == [0, 1]
    assert len(ledger.entries) == 2


def test_nothing_is_left_in_the_engine():
    table, connection = fresh()
    named = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
    connection.raw_sql(BROKEN)
    before = connection.raw_sql(named).fetchall()
    PrivateCounts.from_source(table, SCHEMA)
    assert connection.raw_sql(named).fetchall() == before
    with pytest.raises(EngineError):
        PrivateCounts.from_source(connection.table("broken"), SCHEMA)
    assert connection.raw_sql(named).fetchall() == before
    assert PrivateCounts.from_source(table, SCHEMA)  # and the connection is still good for another query


@pytest.mark.slow
def test_a_server_that_ends_the_connection_half_way(postgresql_engine, tmp_path):
    """pg_terminate_backend, while the query sleeps."""
    import psycopg

    postgresql_engine.load("records", TABLE)
    temporary = "SELECT count(*) FROM pg_class WHERE relpersistence = 't'"
    before = postgresql_engine.query(temporary)
    there = psycopg.connect(postgresql_engine.connection.info.dsn, autocommit=True)
    number = there.info.backend_pid
    connection = ibis.postgres.from_connection(there)
    slow = connection.sql("SELECT r.* FROM records r, (SELECT pg_sleep(30)) s")

    def end():
        until = time.monotonic() + 20
        while time.monotonic() < until:
            asked = f"SELECT 1 FROM pg_stat_activity WHERE pid = {number} AND wait_event = 'PgSleep'"
            if postgresql_engine.query(asked):
                postgresql_engine.query(f"SELECT pg_terminate_backend({number})")
                return
            time.sleep(0.05)

    ledger = Ledger.open(tmp_path / "ledger.json", epsilon=3.0)
    killer = threading.Thread(target=end)
    killer.start()
    start = time.monotonic()
    heard = Heard(lambda: DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger).fit_source(slow))
    killer.join()
    there.close()
    assert time.monotonic() - start < 25
    assert isinstance(heard.error, EngineError)
    assert "PostgreSQL stopped" in str(heard.error)
    assert "tester" not in heard.text  # who wanted in
    assert not shows_a_mark(heard.text)
    assert ledger.entries == ()
    assert postgresql_engine.query(temporary) == before
    assert DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger).fit_source(
        connect(postgresql_engine).table("records")
    )
    assert len(ledger.entries) == 1


def test_a_real_table_still_fits_after_all_that(duckdb_engine):
    data = load_compas()
    table = stored(duckdb_engine, pa.Table.from_pandas(data.frame, preserve_index=False))
    clf = DPGreedyRuleListClassifier(epsilon=1.0, schema=data.schema).fit_source(table)
    assert clf.feature_names_in_.tolist() == data.schema.names
    assert clf.score(data.data, data.target) > 0.5


@pytest.mark.slow
def test_a_spark_job_that_is_cancelled_half_way(spark_engine):
    """As it is when its last worker is lost; the session goes on."""
    session = spark_engine.connection
    endless = "SELECT id % 7.0D AS n, IF(id % 2 = 0, 'a', 'b') AS c, true AS b, 'no' AS y FROM range(1000000000000)"
    session.sql(endless).createOrReplaceTempView("endless")
    views = {table.name for table in session.catalog.listTables()}

    def cancel():
        until = time.monotonic() + 60
        while not session.sparkContext.statusTracker().getActiveJobsIds() and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(1)
        session.sparkContext.cancelAllJobs()

    ledger = Ledger(epsilon=3.0)
    killer = threading.Thread(target=cancel)
    killer.start()
    clf = DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger)
    heard = Heard(lambda: clf.fit_source(connect(spark_engine).table("endless")))
    killer.join()
    assert isinstance(heard.error, EngineError)
    assert "Spark stopped" in str(heard.error)
    assert ledger.entries == ()
    assert {table.name for table in session.catalog.listTables()} == views
    assert clf.fit_source(stored(spark_engine, TABLE))

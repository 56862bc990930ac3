"""Long queries: Ctrl-C, consumers that fail, servers that are killed. Nothing is spent, and nothing goes on in the engine."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from discreet import DPGreedyRuleListClassifier, Ledger, Numeric, PrivateCounts, Schema
from discreet._utils.errors import EngineError, LearningError
from discreet.private.counts.patterns import PatternsInProgress

from ..support.engines import (
    postgresql_folder,
    postgresql_programs,
    serving,
    spark_connect_server,
    spark_master,
    spark_worker,
)
from ..support.marked_values import Heard

pytest.importorskip("ibis")
import ibis

from discreet.sources import engine as engine_module
from discreet.sources.engines import base as running
from discreet.sources.engines import engine_of

from .ibis_tables import connect, stored

SCHEMA = Schema([Numeric("n", cuts=[1])], "y", ["no", "yes"])
ENDLESS = "SELECT CAST(range % 7 AS DOUBLE) AS n, 'no' AS y FROM range(1000000000000)"
ENDLESS_SPARK = "SELECT id % 7.0D AS n, 'no' AS y FROM range(0, 1000000000000, 1, 50)"
SMALL = pa.table({"n": [0.0, 2.0], "y": ["no", "yes"]})
SOON = 15  # seconds, on a machine that has much other work; alone it takes less than one


def no_thread_is_left():
    return not [thread for thread in threading.enumerate() if thread.name == "discreet-query"]


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "ledger.json", epsilon=3.0)


@contextlib.contextmanager
def ctrl_c_when(it_runs):
    """A real SIGINT, once the query runs; gives a list to which the time of it is added."""
    sent = []

    def send():
        until = time.monotonic() + 60
        while not it_runs() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest's workers ignore it
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield sent
    finally:
        sender.join()
        signal.signal(signal.SIGINT, before)


def stopped_by_ctrl_c(table, ledger, it_runs, **how):
    clf = DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger)
    with ctrl_c_when(it_runs) as sent, pytest.raises(KeyboardInterrupt):
        clf.fit_source(table, **how)
    assert time.monotonic() - sent[0] < SOON
    assert Ledger.open(ledger.path).entries == ledger.entries == ()
    assert not hasattr(clf, "rule_list_")
    assert no_thread_is_left()


# --- Ctrl-C -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verbose", [False, True])
def test_ctrl_c_in_duckdb(ledger, verbose, capfd):
    connection = ibis.duckdb.connect()
    small = connection.create_table("small", SMALL)
    connection.raw_sql(f"CREATE VIEW endless AS {ENDLESS}")
    asked = (
        "SELECT name, value FROM duckdb_settings() UNION ALL SELECT table_name, sql FROM duckdb_tables() ORDER BY ALL"
    )
    before = connection.raw_sql(asked).fetchall()
    start = time.monotonic()
    stopped_by_ctrl_c(connection.table("endless"), ledger, lambda: time.monotonic() > start + 0.7, verbose=verbose)
    assert connection.raw_sql(asked).fetchall() == before
    assert PrivateCounts.from_source(small, SCHEMA, verbose=verbose)
    said = "DuckDB counts the records once, by 1 column: at most 3 patterns, and never more than records\n"
    assert capfd.readouterr() == ("", said * verbose)  # how far it is, only terminals hear


def test_ctrl_c_on_the_command_line(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "people.db")) as made:
        made.execute(f"CREATE VIEW people AS {ENDLESS}")
    SCHEMA.save(tmp_path / "schema.toml")
    ledger = Ledger.open(tmp_path / "ledger.json", epsilon=3.0)
    command = [
        sys.executable,
        "-c",
        "from discreet.cli import main; main()",
        "fit",
        "list",
        "duckdb:///people.db?table=people",
        "--epsilon",
        "1",
    ]
    command += ["--schema", "schema.toml", "--ledger", "ledger.json", "--out", "model.json"]
    heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # pytest's workers ignore it
    env = os.environ | {"DISCREET_HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=env, **heed) as child:
        try:
            assert "DuckDB counts the records once, by 1 column" in child.stderr.readline()
            time.sleep(1.5)
            assert child.poll() is None
            child.send_signal(signal.SIGINT)
            assert child.wait(SOON + 2) == 130
            assert child.stderr.read() == "Stopped; no model was written. Nothing was booked.\n"
        finally:
            child.kill()
    assert Ledger.open(ledger.path).entries == ()
    assert not (tmp_path / "model.json").exists()


@pytest.mark.slow
def test_ctrl_c_in_postgresql(postgresql_engine, ledger):
    import psycopg

    postgresql_engine.load("records", SMALL)
    temporary = "SELECT count(*) FROM pg_class WHERE relpersistence = 't'"
    before = postgresql_engine.query(temporary)
    with psycopg.connect(postgresql_engine.connection.info.dsn, autocommit=True) as there:
        mine = f"FROM pg_stat_activity WHERE pid = {there.info.backend_pid}"
        connection = ibis.postgres.from_connection(there)
        slow = connection.sql("SELECT r.* FROM records r, (SELECT pg_sleep(60)) s")
        asleep = f"SELECT 1 {mine} AND wait_event = 'PgSleep'"
        stopped_by_ctrl_c(slow, ledger, lambda: postgresql_engine.query(asleep))
        assert postgresql_engine.query(f"SELECT state {mine}") == [("idle",)]
        assert there.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert postgresql_engine.query(temporary) == before
        assert PrivateCounts.from_source(connection.table("records"), SCHEMA)


@pytest.mark.slow
def test_ctrl_c_in_spark(spark_engine, ledger):
    session = spark_engine.connection
    session.sql(ENDLESS_SPARK).createOrReplaceTempView("endless")
    views, jobs = session.catalog.listTables(), session.sparkContext.statusTracker().getActiveJobsIds
    stopped_by_ctrl_c(connect(spark_engine).table("endless"), ledger, jobs, verbose=True)
    until = time.monotonic() + SOON
    while jobs() and time.monotonic() < until:
        time.sleep(0.1)  # the tracker is told a little later
    assert jobs() == []
    assert session.catalog.listTables() == views
    assert PrivateCounts.from_source(stored(spark_engine, SMALL), SCHEMA)


# --- a process of its own with Spark ------------------------------------------------------------------------------------------


class SparkChild:
    def __init__(self, process):
        self.process = process

    def told(self):
        return json.loads(self.process.stdout.readline() or "null")

    def stopped(self, by):
        """The query runs, then ``by`` happens; what the child tells of it."""
        assert self.told() == {"state": "running"}
        by()
        outcome = self.told()
        assert self.told() == {"running": [], "booked": 0, "threads": []}
        return outcome

    def used_again(self):
        return self.told() == {"state": "used again", "nothing_left": True}


@contextlib.contextmanager
def spark_child(address, ledger, rounds=1):
    command = [sys.executable, "-m", "tests.sources.spark_child", address, str(ledger.path), str(rounds)]
    with (
        open(os.devnull, "w") as nowhere,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=nowhere,
            text=True,
            cwd=Path(__file__).parents[2],
            env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        ) as process,
    ):
        watch = threading.Timer(600, process.kill)  # so that no test waits for ever
        watch.start()
        try:
            yield SparkChild(process)
        finally:
            watch.cancel()
            process.kill()


@pytest.mark.slow
def test_ctrl_c_in_spark_connect(spark_installed, ledger):
    with spark_connect_server() as address, spark_child(address, ledger) as child:
        sent = []
        outcome = child.stopped(lambda: (sent.append(time.time()), child.process.send_signal(signal.SIGINT)))
        assert outcome["error"] == "KeyboardInterrupt"
        assert outcome["at"] - sent[0] < SOON
        assert child.used_again()
    assert Ledger.open(ledger.path).entries == ()


def children_of(number):
    """The numbers of the processes that a process has started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(number)], capture_output=True, text=True).stdout
    return [int(line) for line in listed.split()]


def kill(*numbers):
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


@pytest.mark.slow
def test_a_spark_worker_that_is_killed(spark_installed, ledger):
    """First its executor, which is where records are counted; then the only worker, for which Spark itself would wait."""
    with spark_master() as address, spark_worker(address) as worker, spark_child(address, ledger, 2) as child:

        def kill_the_executor():
            executors = children_of(worker.pid)
            assert executors
            kill(*executors)

        outcome = child.stopped(kill_the_executor)
        assert outcome["error"] == "EngineError"
        assert "Spark stopped before the records were counted" in outcome["says"]
        assert "127.0.0.1" not in outcome["says"]
        assert child.used_again()  # by another executor of the same worker

        outcome = child.stopped(lambda: kill(worker.pid, *children_of(worker.pid)))
        worker.wait()
        assert outcome["error"] == "EngineError"
        assert "Spark stopped before the records were counted (WorkersLost)" in outcome["says"]
        with spark_worker(address):
            assert child.used_again()
    assert Ledger.open(ledger.path).entries == ()


# --- a PostgreSQL server that is killed ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_postgresql_server_that_is_killed(ledger):
    psycopg = pytest.importorskip("psycopg")
    if (programs := postgresql_programs()) is None:
        pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
    with postgresql_folder(programs) as folder:
        with serving(programs, folder) as (conninfo, server):
            with psycopg.connect(conninfo, autocommit=True) as other:
                other.execute("CREATE TABLE records AS SELECT 0.0::float8 AS n, 'no' AS y")
            there = psycopg.connect(conninfo, autocommit=True)
            slow = ibis.postgres.from_connection(there).sql("SELECT r.* FROM records r, (SELECT pg_sleep(60)) s")
            killed = []

            def kill_them_all():
                with psycopg.connect(conninfo, autocommit=True) as other:
                    until = time.monotonic() + 20
                    asked = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                    while not other.execute(asked).fetchall() and time.monotonic() < until:
                        time.sleep(0.05)
                numbers = [server.pid, *children_of(server.pid)]
                killed.append(time.monotonic())
                kill(*numbers)

            killer = threading.Thread(target=kill_them_all)
            killer.start()
            heard = Heard(lambda: DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger).fit_source(slow))
            took = time.monotonic() - killed[0]
            killer.join()
            there.close()
        assert server.returncode == -signal.SIGKILL
        assert isinstance(heard.error, EngineError)
        assert "PostgreSQL stopped before the records were counted" in str(heard.error)
        assert "tester" not in heard.text
        assert str(folder) not in str(heard.error)
        assert took < SOON
        assert Ledger.open(ledger.path).entries == ledger.entries == ()
        assert no_thread_is_left()
        with serving(programs, folder) as (again, _), psycopg.connect(again, autocommit=True) as there:
            temporary = "SELECT count(*) FROM pg_class WHERE relpersistence = 't'"
            assert there.execute(temporary).fetchall() == [(0,)]
            assert PrivateCounts.from_source(ibis.postgres.from_connection(there).table("records"), SCHEMA)


# --- whoever takes the answer, and what is shown ------------------------------------------------------------------------------


def test_a_consumer_that_fails(engine, monkeypatch):
    """In the middle of an answer, of which more has been fetched than was taken."""
    n = 100
    schema = Schema([Numeric(name, cuts=range(n)) for name in ("n", "m")], "y", ["no", "yes"])
    values = [float(i) for i in range(n)]
    table = pa.table({"n": values * n, "m": [v for v in values for _ in range(n)], "y": ["no"] * n**2})
    there = stored(engine, table)
    taken = []

    def fail(self, bins, labels, times):
        taken.append(len(labels))
        time.sleep(0.3)  # more comes, until there is no place
        raise ArithmeticError("no")

    monkeypatch.setattr(engine_module, "ROWS_AT_A_TIME", 1000)
    with monkeypatch.context() as patch:
        patch.setattr(PatternsInProgress, "add_counted", fail)
        with pytest.raises(LearningError, match=r"ArithmeticError.*Nothing was booked"):
            PrivateCounts.from_source(there, schema)
        assert taken[0] < n**2
        assert no_thread_is_left()
    if engine.dialect == "postgresql":
        assert engine.connection.info.transaction_status == 0  # idle
    assert PrivateCounts.from_source(there, schema).patterns.counts.sum() == n**2


@pytest.mark.parametrize(("workers", "lost"), [([0, 0, 0], False), ([1, 0, 1, 0], False), ([2, 1, 0, 0], True)])
def test_workers_that_were_there_and_are_gone(monkeypatch, workers, lost):
    clock = itertools.count(0, 40)
    monkeypatch.setattr(running.time, "monotonic", lambda: next(clock))
    there = iter(workers)
    check = running._patient(lambda: next(there))
    for _ in workers[:-1]:
        check()
    with pytest.raises(running.WorkersLost) if lost else contextlib.nullcontext():
        check()


def test_an_engine_that_nobody_knows_how_to_cancel():
    class Backend:
        name = "another"

    assert list(running.run(engine_of(Backend()), lambda: iter([1, 2]))) == [1, 2]


@pytest.mark.parametrize(("share", "said"), [(0.256, "26%, "), (None, "")])
def test_the_line_on_a_terminal(monkeypatch, capsys, share, said):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with running._line("DuckDB", lambda: share) as say:
        say()
        time.sleep(0.3)
    shown = capsys.readouterr()
    assert f"DuckDB counts the records: {said}0 s" in shown.err
    assert shown.out == ""


def test_how_far_duckdb_is(tmp_path):
    """It says so only while it is watched."""
    connection = ibis.duckdb.connect()
    seen = []
    query = engine_of(connection).query(watched=True, plain=True)
    connection.con.execute(f"COPY (SELECT range AS n FROM range(3000000)) TO '{tmp_path / 'n.parquet'}'")

    def work():
        with query.begun():
            connection.con.sql(
                f"SELECT md5(n::VARCHAR)[1:2], count(*) FROM '{tmp_path / 'n.parquet'}' GROUP BY ALL"
            ).fetchall()

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        seen.append(query.share())
        time.sleep(0.01)
    known = [share for share in seen if share is not None]
    assert known
    assert 0 <= min(known) <= max(known) <= 1
    assert query.share() is None

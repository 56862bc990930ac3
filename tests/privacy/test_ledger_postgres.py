"""The same ledger on PostgreSQL: contention, kills, a lost COMMIT, damage, and no password anywhere."""

import os
import pickle
import re
import signal
import time
from fractions import Fraction
from random import Random
from urllib.parse import quote

import pytest

from discreet import Ledger
from discreet.accounting.ledger import BudgetError, LedgerError
from discreet.accounting.postgres_ledger import PostgreSQLPlace

from ..cli.test_practitioner import desk as desk
from ..cli.test_practitioner import flat, run
from ..support import ledger_children as children
from ..support.engines import postgresql_folder, postgresql_programs, serving
from .test_ledger_processes import PROCESSES, Child

NOTHING = Fraction(0)


# --- addresses, which need no server ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:Xyzzy@host/db",
        "postgresql://me:Xy/zzy@host/db",
        "postgresql://me%3AXyzzy@host/db",
        "postgresql://host/db?password=Xyzzy",
        "postgresql://host/db?ledger=a&ledger=Xyzzy",
        "postgresql://host/db?host=me:Xyzzy@other",
        "postgresql://host/db#Xyzzy",
        "postgresql://host/db?options=-cXyzzy",
        "postgresql://host/db?ledger=Xyzzy;drop",
        "mysql://host/Xyzzy",
    ],
)
def test_an_address_with_a_secret_or_of_another_form_is_refused_and_not_repeated(desk, url):
    with pytest.raises(LedgerError) as caught:
        Ledger.open(url, epsilon=1.0)
    assert "Xyzzy" not in str(caught.value)
    for command in (("ledger", "show", url), ("ledger", "create", url, "--epsilon", "1")):
        assert "Xyzzy" not in run(*command, code=2)


def test_a_server_that_is_not_there_is_one_line_without_its_address():
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match="cannot be used: the server cannot be reached") as caught:
        Ledger.open("postgresql://somebody@127.0.0.1:1/db?connect_timeout=2")
    assert "\n" not in str(caught.value)
    assert caught.value.__context__ is None
    place = PostgreSQLPlace("postgresql://somebody@127.0.0.1:1/db?connect_timeout=2")
    assert "somebody" not in place.shown


# --- a server --------------------------------------------------------------------------------------------------------------

slow = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    """(what to connect to, a function that says how to open a ledger, the folder, the programs)."""
    pytest.importorskip("psycopg")
    if (programs := postgresql_programs()) is None:
        pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
    with postgresql_folder(programs) as folder, serving(programs, folder) as (conninfo, _):
        yield conninfo, folder, programs


@pytest.fixture
def connection(server):
    import psycopg

    with psycopg.connect(server[0], autocommit=True) as connection:
        yield connection


@pytest.fixture
def url(server, connection, request):
    """Of a ledger of its own, with a budget of 1."""
    name = re.sub("[^a-z0-9]", "_", request.node.name.lower())[:50].strip("_")
    connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
    url = f"postgresql://tester@/postgres?host={quote(server[1], safe='')}&ledger={name}"
    Ledger.open(url, epsilon=1.0)
    connection.execute(f"SET search_path TO {name}")
    return url


@slow
def test_a_ledger_on_a_server_is_the_same_as_one_in_a_file(url, tmp_path):
    ledgers = [Ledger.open(url), Ledger.open(tmp_path / "l.db", 1.0)]
    for ledger in ledgers:
        ledger.reserve(
            Fraction(1, 10), NOTHING, "a schema\0\udce4", release="s", pays_for={"c\0": (Fraction(1, 10), NOTHING)}
        ).close()
        ledger.reserve(
            Fraction(1, 10), NOTHING, "rests", release="b", rests_on={"d\0": (Fraction(1, 20), NOTHING)}, records=2
        )
        with pytest.raises(BudgetError):
            ledger.reserve(Fraction(9, 10), NOTHING, "too much")
    one, other = ([vars(e) | {"when": ""} for e in ledger.entries] for ledger in ledgers)
    assert one == other
    assert ledgers[0].remaining == ledgers[1].remaining == (Fraction(3, 4), 0)
    with pytest.raises(LedgerError, match="another epsilon"):
        Ledger.open(url, epsilon=2.0)
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(f"{url}_other")
    clf = children.fit(url, 0.25)
    assert clf.booked_.number == 3
    assert len(pickle.loads(pickle.dumps(Ledger.open(url))).entries) == 3


@slow
def test_fifteen_processes_make_and_spend_one_ledger(url, connection):
    """(A server has as many connections as it was told: here 20. Whoever finds none is refused, not granted.)"""
    new = f"{url}_new"
    start, report = PROCESSES.Barrier(15), PROCESSES.Queue()
    arguments = (new, 1, 8, Fraction(1, 40), start, report)
    workers = [PROCESSES.Process(target=children.reserve_many, args=arguments) for _ in range(15)]
    for worker in workers:
        worker.start()
    reports = [report.get(timeout=300) for _ in workers]
    for worker in workers:
        worker.join()
    assert [sum(column) for column in zip(*reports, strict=True)] == [40, 80]
    assert len(Ledger.open(new).entries) == 40


@slow
def test_children_that_are_killed_at_random_lose_no_reservation(url):
    random, reported, room = Random(os.urandom(8)), 0, 150
    for _ in range(15):
        running = [Child(children.reserve_for_ever, url, Fraction(1, room)) for _ in range(2)]
        for child in running:
            reported += child.hear() is not None
        for child in running:
            child.process.join(random.random() * 0.1)
            reported += sum(said is not None for said in child.kill())
        ledger = Ledger.open(url)
        entries = ledger.entries
        assert reported <= len(entries) <= room
        assert ledger.spent[0] == Fraction(len(entries), room)


@slow
def test_a_lost_commit_is_not_granted(url, connection, monkeypatch):
    """The server ends the connection just before the COMMIT, and just after it."""
    import psycopg

    ledger, execute = Ledger.open(url), psycopg.Connection.execute

    def lost(when):
        def executed(self, sql, *given, **more):
            if sql != "COMMIT" or self.info.backend_pid == connection.info.backend_pid:
                return execute(self, sql, *given, **more)
            if when == "after":
                execute(self, sql)
            execute(connection, "SELECT pg_terminate_backend(%s)", (self.info.backend_pid,))
            time.sleep(0.2)
            return execute(self, sql if when == "before" else "SELECT 1")

        return executed

    for when, entries in (("before", 0), ("after", 1)):
        with monkeypatch.context() as patched:
            patched.setattr(psycopg.Connection, "execute", lost(when))
            with pytest.raises(LedgerError, match="Nothing was granted"):
                ledger.reserve(Fraction(1, 10), NOTHING, "one")
        assert len(ledger.entries) == entries


@slow
def test_a_transaction_that_the_server_takes_back_is_not_granted(url, monkeypatch):
    import psycopg

    execute = psycopg.Connection.execute

    def rolled_back(self, sql, *given, **more):
        return execute(self, "ROLLBACK" if sql == "COMMIT" else sql, *given, **more)

    ledger = Ledger.open(url)
    monkeypatch.setattr(psycopg.Connection, "execute", rolled_back)
    with pytest.raises(LedgerError, match="took the transaction back"):
        ledger.reserve(Fraction(1, 10), NOTHING, "one")


@slow
def test_a_reservation_waits_for_the_commit_on_disk(url, connection):
    connection.execute("ALTER DATABASE postgres SET synchronous_commit TO off")
    try:
        seen = Ledger.open(url)._do(True, lambda run: run("SHOW synchronous_commit"))
    finally:
        connection.execute("ALTER DATABASE postgres RESET synchronous_commit")
    assert seen == [("on",)]


@slow
@pytest.mark.parametrize(
    "change",
    [
        """UPDATE discreet_ledger SET totals = replace(totals, '"1/10"', '"0"')""",
        "UPDATE discreet_ledger SET events = events - 1",
        "DELETE FROM discreet_events WHERE number = 2",
        """UPDATE discreet_events SET event = replace(event, 'finished', 'stopped')""",
        "DELETE FROM discreet_ledger",
    ],
)
def test_damage_is_refused(url, connection, change):
    Ledger.open(url).reserve(Fraction(1, 10), NOTHING, "one").close()
    connection.execute(change)
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.open(url).reserve(Fraction(1, 10), NOTHING, "one")


@slow
def test_a_server_that_is_killed_and_started_again_has_every_reservation(server, tmp_path):
    _, _, programs = server
    with postgresql_folder(programs) as folder:
        url, granted = f"postgresql://tester@/postgres?host={quote(folder, safe='')}", 0
        for _ in range(3):
            with serving(programs, folder) as (_, process):
                ledger = Ledger.open(url, epsilon=1.0)
                assert len(ledger.entries) == granted
                for _ in range(5):
                    ledger.reserve(Fraction(1, 100), NOTHING, "one")
                    granted += 1
                process.send_signal(signal.SIGQUIT)  # at once, without a checkpoint
                process.wait()
                with pytest.raises(LedgerError, match="Nothing was granted"):
                    ledger.reserve(Fraction(1, 100), NOTHING, "one")


@slow
def test_no_password_is_shown(url, monkeypatch, server):
    monkeypatch.setenv("PGPASSWORD", "Xyzzy123")
    ledger = Ledger.open(url)
    for shown in (repr(ledger), str(ledger), repr(pickle.dumps(ledger)), repr(vars(ledger)), ledger._place.shown):
        assert "Xyzzy123" not in shown
    with pytest.raises(LedgerError) as caught:
        Ledger.open(url.replace("tester", "nobody_known"))
    assert "Xyzzy123" not in str(caught.value) + repr(caught.value.__context__)


@slow
def test_the_commands_take_a_ledger_on_a_server(desk, url):
    new = f"{url}_cli"
    run("ledger", "create", new, "--epsilon", "3")
    assert "exists already" in run("ledger", "create", new, "--epsilon", "3", code=2)
    fit = ("fit", "list", "hospital.csv", "--schema", "schema.toml", "--epsilon", "1", "--out", "model.json", "--force")
    run(*fit, "--ledger", new)
    assert "epsilon 2 of 3 left" in flat(run("ledger", "show", new))
    assert "has been learned from before" in flat(run(*fit, code=1))
    run(*fit, "--ledger", new)
    assert "epsilon 1 of 3 left" in flat(run("ledger", "show", new))
    run("release", "model.json", "--out", "release", "--ledger", new)
    assert "not a ledger" not in run("verify", "release", "--ledger", new)

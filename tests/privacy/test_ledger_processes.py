"""A ledger in a file, with many processes and threads at it, and some of them killed. On PostgreSQL: test_ledger_postgres.py."""

import multiprocessing
import os
import signal
import sqlite3
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random

import pytest

from discreet import Ledger, SavedModel
from discreet.accounting import ledger as ledger_module
from discreet.accounting import ledger_rows
from discreet.accounting.ledger import BudgetError, BudgetRequest, LedgerError

from ..support import ledger_children as children

# Not forked from here: this process has threads of several libraries.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["discreet.estimators.greedy", "pandas"])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "budget.db"
    Ledger.open(path, epsilon=1.0)
    return path


def files(path):
    """After a look at the ledger, which puts right what a killed process left."""
    Ledger.open(path)
    return sorted(p.name for p in path.parent.iterdir())


THE_USUAL_FILES = ["budget.db"]


class Child:
    """A process at the other end of a pipe."""

    def __init__(self, work, *arguments):
        self.pipe, theirs = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=work, args=(*arguments, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def hear(self, seconds=60):
        assert self.pipe.poll(seconds), "the child said nothing"
        return self.pipe.recv()

    def kill(self):
        """kill -9, and all that it had said before."""
        self.process.kill()
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL
        said = []
        try:
            while self.pipe.poll():
                said.append(self.pipe.recv())
        except EOFError:
            pass
        return said


def test_of_64_fits_in_8_processes_10_succeed_and_few_others_count_in_vain(path):
    """Who finds no budget reads no record; who finds it spent by others meanwhile has counted in vain, at most once a process."""
    start, report = PROCESSES.Barrier(8), PROCESSES.Queue()
    workers = [PROCESSES.Process(target=children.fit_many, args=(path, 8, 0.1, start, report)) for _ in range(8)]
    for worker in workers:
        worker.start()
    reports = [report.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    done, refused, filled, in_vain = (sum(column) for column in zip(*reports, strict=True))
    assert (done, refused) == (10, 54)
    assert filled == 10 + in_vain
    assert in_vain <= 8
    ledger = Ledger.open(path)
    assert len(ledger.entries) == 10
    assert all(entry.spent_epsilon is not None for entry in ledger.entries)
    assert ledger.remaining == (0, 0)
    assert files(path) == THE_USUAL_FILES


def test_a_fit_that_is_killed_stays_charged(path):
    child = Child(children.stop_inside_the_fit, path, 0.25)
    assert child.hear() == "inside"
    child.kill()
    ledger = Ledger.open(path)
    (entry,) = ledger.entries
    assert entry.epsilon == Fraction(1, 4)
    assert entry.spent_epsilon is None
    assert "(not closed)" in str(ledger)
    with pytest.raises(BudgetError):
        ledger.reserve(Fraction(4, 5), Fraction(0), "too much")
    ledger.reserve(Fraction(3, 4), Fraction(0), "the rest").close()
    assert ledger.remaining == (0, 0)


def test_a_write_that_is_killed_leaves_the_old_entries_and_no_lock(path):
    for _ in range(3):
        child = Child(children.stop_inside_the_write, path, 0.25)
        assert child.hear() == "inside"
        child.kill()
        assert Ledger.open(path).entries == ()
        assert Ledger.open(path).remaining == (1, 0)
    Ledger.open(path).reserve(Fraction(1, 4), Fraction(0), "after that").close()
    assert len(Ledger.open(path).entries) == 1
    assert files(path) == THE_USUAL_FILES


def test_half_a_change_that_a_killed_process_left_in_the_file_is_taken_back(path):
    Ledger.open(path).reserve(Fraction(1, 4), Fraction(0), "before").close()
    before = path.read_bytes()
    child = Child(children.stop_inside_the_commit, path)
    assert child.hear() == "inside"
    child.kill()
    assert path.read_bytes() != before
    assert path.with_name("budget.db-journal").stat().st_size > 0
    assert [entry.what for entry in Ledger.open(path).entries] == ["before"]
    assert path.read_bytes() == before
    assert files(path) == THE_USUAL_FILES


@pytest.mark.slow
def test_200_processes_cannot_overspend(tmp_path):
    contended(tmp_path / "budget.db", 200, 2, Fraction(1, 150))


def test_20_processes_cannot_overspend(tmp_path):
    contended(tmp_path / "budget.db", 20, 2, Fraction(1, 15))


def contended(path, processes, each, epsilon):
    """Each of the processes asks several times for what all of them together have too little of."""
    start, report = PROCESSES.Barrier(processes), PROCESSES.Queue()
    arguments = (path, 1, each, epsilon, start, report)
    workers = [PROCESSES.Process(target=children.reserve_many, args=arguments) for _ in range(processes)]
    for worker in workers:
        worker.start()
    reports = [report.get(timeout=500) for _ in workers]
    for worker in workers:
        worker.join()
    room = int(1 / epsilon)
    assert [sum(column) for column in zip(*reports, strict=True)] == [room, processes * each - room]
    assert len(Ledger.open(path).entries) == room
    assert Ledger.open(path).remaining == (0, 0)


def test_a_journal_that_somebody_deleted_is_noticed(path):
    Ledger.open(path).reserve(Fraction(1, 4), Fraction(0), "before").close()
    child = Child(children.stop_inside_the_commit, path)
    assert child.hear() == "inside"
    child.kill()
    path.with_name("budget.db-journal").unlink()
    with pytest.raises(LedgerError, match="damaged"):
        Ledger.open(path)


def test_64_processes_and_threads_cannot_overspend(tmp_path):
    path = tmp_path / "budget.db"  # which they make, too
    start, report = PROCESSES.Barrier(8), PROCESSES.Queue()
    arguments = (path, 8, 8, Fraction(1, 40), start, report)
    workers = [PROCESSES.Process(target=children.reserve_many, args=arguments) for _ in range(8)]
    for worker in workers:
        worker.start()
    reports = [report.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    assert [sum(column) for column in zip(*reports, strict=True)] == [40, 24]
    entries = Ledger.open(path).entries
    assert len(entries) == 40
    assert len({e.release for e in entries}) == 40
    assert all(e.how == "finished" for e in entries)
    assert files(path) == THE_USUAL_FILES


def killed_at_random(path, rounds, at_once, room, seed):
    """(reservations that were reported, entries in the file) after children were killed, two at a time."""
    random, reported = Random(seed), 0
    for _ in range(rounds):
        running = [Child(children.reserve_for_ever, path, Fraction(1, room)) for _ in range(at_once)]
        for child in running:
            reported += child.hear() is not None
        for child in running:
            child.process.join(random.random() * 0.05)
            reported += sum(said is not None for said in child.kill())
        ledger = Ledger.open(path)
        entries = ledger.entries  # every line and every sum is checked
        assert reported <= len(entries) <= room
        assert ledger.spent[0] == Fraction(len(entries), room)
        assert set(files(path)) <= {
            "budget.db",
            "budget.db-journal",
        }  # one that was not yet needed, which the next writer deletes
    return reported, len(entries)


def test_children_that_are_killed_at_random_lose_no_reservation(path):
    reported, entries = killed_at_random(path, rounds=20, at_once=2, room=150, seed=os.urandom(8))
    assert reported >= 20
    # a child may be killed between its reservation and its report
    assert entries - reported <= 40
    ledger = Ledger.open(path)
    while ledger.remaining[0]:
        ledger.reserve(Fraction(1, 150), Fraction(0), "the rest")
    with pytest.raises(BudgetError):
        ledger.reserve(Fraction(1, 150), Fraction(0), "one more")
    assert len(ledger.entries) == 150
    assert files(path) == THE_USUAL_FILES


@pytest.mark.slow
def test_500_children_are_killed_at_random(tmp_path):
    for i in range(50):  # all of a ledger is read after each kill, so it must not become long
        path = tmp_path / str(i) / "budget.db"
        path.parent.mkdir()
        Ledger.open(path, epsilon=1.0)
        reported, entries = killed_at_random(path, rounds=5, at_once=2, room=100_000, seed=os.urandom(8))
        assert 10 <= reported <= entries <= reported + 10


def test_a_disk_that_is_full_in_the_middle_of_a_write(path):
    ledger = Ledger.open(path)
    for i in range(5):
        ledger.reserve(Fraction(1, 10), Fraction(0), f"number {i}")
    before = path.read_bytes()
    child = Child(children.fit_with_a_full_disk, path, 0.25)
    assert child.hear() == ("OutOfReachError", 1)
    child.process.join()
    assert files(path) == THE_USUAL_FILES
    assert path.read_bytes() == before
    assert len(Ledger.open(path).entries) == 5


def test_a_commit_that_fails_is_not_granted(path, monkeypatch):
    """Whatever is on disk then, nobody may use it."""

    class Lost(sqlite3.Connection):
        def execute(self, sql, *given):
            if sql == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *given)

    with monkeypatch.context() as patched:
        ledger, connect = Ledger.open(path), sqlite3.connect
        patched.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, factory=Lost, **more))
        with pytest.raises(LedgerError):
            ledger.reserve(Fraction(1, 4), Fraction(0), "one")
    assert ledger.entries == ()


def test_an_entry_that_could_not_be_read_again_is_not_written(path):
    before = path.read_bytes()
    for what in (5, None, ["a model"]):
        with pytest.raises(TypeError, match="what must be a string"):
            Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), what)
    with pytest.raises(ValueError, match="records must be an integer of at least 1"):
        Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "a model", records=-1)
    with pytest.raises(ValueError, match="release must be a string of at most 200"):
        Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "a model", release="x" * 300)
    with pytest.raises(LedgerError, match="not be read again"):
        Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "x" * (1 << 24))
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["memory", "one file", "a file for each"])
def test_threads_cannot_overspend(path, kind):
    shared = Ledger(epsilon=1.0) if kind == "memory" else Ledger.open(path)

    def reserve(_):
        ledger = Ledger.open(path) if kind == "a file for each" else shared
        try:
            ledger.reserve(Fraction(1, 10), Fraction(0), "one").close()
        except BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(reserve, range(64))) == 10
    assert len(shared.entries) == 10
    assert all(entry.spent_epsilon is not None for entry in shared.entries)


def test_nobody_forks_while_a_connection_is_open(path, monkeypatch):
    """It would be closed there, too, and the journal deleted that is needed here."""
    append, forked = ledger_rows.append, []

    def slow(*given):
        thread = threading.Thread(target=lambda: (fork_and_wait(), forked.append(time.monotonic())))
        thread.start()
        time.sleep(0.3)
        threads.append((thread, time.monotonic()))
        return append(*given)

    threads = []
    monkeypatch.setattr(ledger_rows, "append", slow)
    Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "one")
    ((thread, done),) = threads
    thread.join(60)
    assert forked[0] > done
    assert len(Ledger.open(path).entries) == 1


def fork_and_wait():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads
        if (child := os.fork()) == 0:
            os._exit(0)
    os.waitpid(child, 0)


def test_in_a_forked_process_a_ledger_goes_on(path):
    ledger = Ledger.open(path)
    ledger.reserve(Fraction(1, 10), Fraction(0), "here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if (child := os.fork()) == 0:
            try:
                ledger.reserve(Fraction(1, 10), Fraction(0), "there")
                os._exit(0)
            finally:
                os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    ledger.reserve(Fraction(1, 10), Fraction(0), "here again")
    assert [entry.what for entry in ledger.entries] == ["here", "there", "here again"]


def test_without_the_lock_two_could_spend_the_same(path, monkeypatch):
    """The twin: what the lock is for. Each statement is a transaction of its own."""
    ledger, approve, connect = Ledger.open(path), BudgetRequest.approve, sqlite3.connect

    class Loose(sqlite3.Connection):
        def execute(self, sql, *given):
            return super().execute("SELECT 1" if sql in ("BEGIN IMMEDIATE", "COMMIT") else sql, *given)

    def slow(self, *arguments):
        entry = approve(self, *arguments)
        if self.what == "slow":
            ledger.reserve(Fraction(1), Fraction(0), "meanwhile")
        return entry

    monkeypatch.setattr(BudgetRequest, "approve", slow)
    monkeypatch.setattr(ledger_module, "PATIENCE", 0)
    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, factory=Loose, **more))
        with pytest.raises(LedgerError, match="damaged"):  # the chain notices: two events have one number
            ledger.reserve(Fraction(1), Fraction(0), "slow")
    assert len(ledger.entries) == 1


class Listening(StringIO):
    """What is printed; at the first word of it, something is done."""

    def __init__(self, then):
        super().__init__()
        self.then = then

    def write(self, text):
        done, self.then = self.then, lambda: None
        done()
        return super().write(text)


def test_a_long_wait_says_which_ledger_it_is_for(path, monkeypatch):
    monkeypatch.setattr(ledger_module, "PATIENCE", 0.1)
    child = Child(children.hold, path)
    assert child.hear() == "held"
    monkeypatch.setattr(sys, "stderr", said := Listening(child.process.kill))
    Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "after a wait")
    assert said.getvalue().count("waiting") == 1
    assert str(path) in said.getvalue()


def test_ctrl_c_ends_a_long_wait(path, monkeypatch):
    monkeypatch.setattr(ledger_module, "PATIENCE", 0.1)
    child = Child(children.hold, path)
    assert child.hear() == "held"
    stop = partial(signal.pthread_kill, threading.main_thread().ident, signal.SIGINT)
    monkeypatch.setattr(sys, "stderr", Listening(stop))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background takes no notice of it
    try:
        with pytest.raises(KeyboardInterrupt):
            Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "in vain")
    finally:
        signal.signal(signal.SIGINT, before)
        child.kill()
    assert Ledger.open(path).entries == ()


@pytest.mark.parametrize("what", ["deleted", "replaced"])
def test_a_ledger_that_is_deleted_or_replaced_while_one_waits_is_refused(path, what):
    ledger, child = Ledger.open(path), Child(children.hold, path)
    assert child.hear() == "held"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ledger.reserve, Fraction(1, 10), Fraction(0), "one")
        time.sleep(0.3)
        if what == "replaced":
            Ledger.open(path.with_name("new.db"), epsilon=1.0).path.replace(path)
        else:
            path.unlink()
        child.kill()
        with pytest.raises(LedgerError, match="gone" if what == "deleted" else "replaced|moved or deleted"):
            waiting.result(timeout=60)
    assert what == "deleted" or Ledger.open(path).entries == ()


def test_a_ledger_keeps_its_mode_and_nothing_is_written_beside_it(path):
    path.chmod(0o600)
    victim = path.with_name("victim")
    victim.write_text("mine")
    path.with_name("budget.db.new").symlink_to(victim)
    children.fit(path, 0.5)
    assert path.stat().st_mode & 0o777 == 0o600
    assert victim.read_text() == "mine"
    assert files(path) == ["budget.db", "budget.db.new", "victim"]


def test_the_end_that_cannot_be_written_does_not_lose_the_model(path, monkeypatch):
    ledger, append = Ledger.open(path), ledger_rows.append

    def full(run, state, event, totals):
        if event["event"] == "reserve":
            return append(run, state, event, totals)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(ledger_rows, "append", full)
    with pytest.warns(RuntimeWarning, match="stays booked"):
        assert children.fit(path, 0.5).rule_list_
    assert ledger.entries[0].how is None
    assert ledger.remaining == (Fraction(1, 2), 0)


@pytest.mark.parametrize("lost", [Path.unlink, lambda path: path.write_text("hello"), lambda path: path.chmod(0)])
def test_a_ledger_that_is_lost_after_the_booking_does_not_take_the_model_with_it(path, monkeypatch, lost):
    end = Ledger._end

    def lost_before(self, *given):
        lost(path)
        end(self, *given)

    monkeypatch.setattr(Ledger, "_end", lost_before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # who is root may read what has no mode
        saved = SavedModel.of(children.fit(path, 0.5))
    assert saved.ledger.remaining == (Fraction(1, 2), 0)
    assert saved.ledger.number == 1

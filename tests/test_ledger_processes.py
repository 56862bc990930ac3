"""A ledger in a file, with many processes and threads at it, and some of them killed."""

import errno
import fcntl
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from random import Random

import pytest

from discreet import Ledger, Vault
from discreet.privacy.ledger import BudgetError, LedgerError

from . import ledger_children as children

# Not forked from here: this process has threads of several libraries.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["discreet.private_estimators", "pandas"])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "budget.json"
    Ledger.open(path, epsilon=1.0)
    return path


def files(path):
    return sorted(p.name for p in path.parent.iterdir())


THE_USUAL_FILES = ["budget.json", "budget.json.lock"]


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


def test_of_64_fits_in_8_processes_10_succeed_and_the_others_read_no_record(path):
    start, report = PROCESSES.Barrier(8), PROCESSES.Queue()
    workers = [PROCESSES.Process(target=children.fit_many, args=(path, 8, 0.1, start, report)) for _ in range(8)]
    for worker in workers:
        worker.start()
    reports = [report.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    done, refused, filled, in_vain = (sum(column) for column in zip(*reports, strict=True))
    assert (done, refused) == (10, 54)
    assert filled == 10
    assert in_vain == 0
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


def test_a_write_that_is_killed_leaves_the_old_ledger_and_no_lock(path):
    before = path.read_bytes()
    for _ in range(3):
        child = Child(children.stop_inside_the_write, path, 0.25)
        assert child.hear() == "inside"
        child.kill()
        assert path.read_bytes() == before
        assert Ledger.open(path).entries == ()
        assert files(path) == [*THE_USUAL_FILES, "budget.json.new"]  # one, however many were killed
    Ledger.open(path).reserve(Fraction(1, 4), Fraction(0), "after that").close()
    assert len(Ledger.open(path).entries) == 1
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
        entries = Ledger.open(path).entries
        assert reported <= len(entries) <= room
        assert {f for f in files(path) if f.endswith(".new")} <= {"budget.json.new"}
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
def test_many_more_children_are_killed(path):
    reported, entries = killed_at_random(path, rounds=200, at_once=3, room=3_000, seed=os.urandom(8))
    assert 200 <= reported <= entries <= 3_000


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_write_that_fails_refuses_the_fit_and_leaves_the_old_ledger(path, monkeypatch, call, problem):
    Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "before").close()
    before = path.read_bytes()

    def fails(*arguments):
        raise OSError(problem, os.strerror(problem))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fails)
        patched.setattr(Vault, "from_table", lambda *_: pytest.fail("the records were touched"))
        for _ in range(3):
            with pytest.raises(OSError, match=os.strerror(problem)):
                children.fit(path, 0.25)
    assert path.read_bytes() == before
    assert files(path) == THE_USUAL_FILES
    children.fit(path, 0.25)
    assert [e.epsilon for e in Ledger.open(path).entries] == [Fraction(1, 10), Fraction(1, 4)]


def test_a_disk_that_is_full_in_the_middle_of_a_write(path):
    ledger = Ledger.open(path)
    for i in range(5):
        ledger.reserve(Fraction(1, 10), Fraction(0), f"number {i}")
    before = path.read_bytes()
    child = Child(children.fit_with_a_full_disk, path, 0.25)
    assert child.hear() == ("OSError", 0)
    child.process.join()
    assert path.read_bytes() == before
    assert files(path) == THE_USUAL_FILES
    assert len(Ledger.open(path).entries) == 5


def test_an_entry_that_could_not_be_read_again_is_not_written(path):
    before = path.read_bytes()
    for what in (5, None, ["a model"]):
        with pytest.raises(LedgerError, match="not be read again"):
            Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), what)
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


def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(path, monkeypatch):
    """It has the lock's file open, too, so that closing it here would not free the lock."""
    lock, copies = fcntl.flock, []

    def copied(handle, operation):
        lock(handle, operation)
        copies.append(os.dup(handle.fileno()))

    monkeypatch.setattr(fcntl, "flock", copied)
    ledger = Ledger.open(path)
    monkeypatch.setattr(fcntl, "flock", lambda handle, operation: lock(handle, operation | fcntl.LOCK_NB))
    ledger.reserve(Fraction(1, 10), Fraction(0), "not blocked").close()
    assert copies
    for copy in copies:
        os.close(copy)


def test_the_lock_leaves_its_file_alone(path):
    lock = path.with_name("budget.json.lock")
    lock.write_text("somebody's notes")
    Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "one").close()
    assert lock.read_text() == "somebody's notes"


def test_while_one_changes_a_ledger_nobody_else_can(path, monkeypatch):
    lock, ledger = fcntl.flock, Ledger.open(path)
    monkeypatch.setattr(fcntl, "flock", lambda handle, operation: lock(handle, operation | fcntl.LOCK_NB))
    with pytest.raises(BlockingIOError), ledger._changing():
        Ledger.open(path).reserve(Fraction(1), Fraction(0), "meanwhile")
    assert ledger.entries == ()
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)  # the twin: what the lock is for
    with ledger._changing():
        Ledger.open(path).reserve(Fraction(1), Fraction(0), "meanwhile")
    assert ledger.entries == ()  # a reservation was made, and forgotten

"""A ledger in a file, with many processes and threads at it, and some of them killed."""

import errno
import fcntl
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from io import FileIO, StringIO
from pathlib import Path
from random import Random

import pytest

from discreet import Ledger, SavedModel, Vault
from discreet.common import locking
from discreet.privacy.ledger import BudgetError, LedgerError, Wish
from discreet.privacy.ledger_file import FileLedger

from ..support import ledger_children as children

# Not forked from here: this process has threads of several libraries.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["discreet.classifiers.greedy", "pandas"])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "budget.json"
    Ledger.open(path, epsilon=1.0)
    return path


def files(path):
    return sorted(p.name for p in path.parent.iterdir())


THE_USUAL_FILES = ["budget.json"]


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
    before = path.read_bytes()
    for _ in range(3):
        child = Child(children.stop_inside_the_write, path, 0.25)
        assert child.hear() == "inside"
        child.kill()
        assert path.read_bytes()[: len(before)] == before
        assert path.stat().st_size > len(before)
        assert Ledger.open(path).entries == ()
        assert Ledger.open(path).remaining == (1, 0)
    Ledger.open(path).reserve(Fraction(1, 4), Fraction(0), "after that").close()
    assert len(Ledger.open(path).entries) == 1
    assert files(path) == THE_USUAL_FILES


def test_64_processes_and_threads_cannot_overspend(tmp_path):
    path = tmp_path / "budget.json"  # which they make, too
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
        assert files(path) == THE_USUAL_FILES
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
        path = tmp_path / str(i) / "budget.json"
        path.parent.mkdir()
        Ledger.open(path, epsilon=1.0)
        reported, entries = killed_at_random(path, rounds=5, at_once=2, room=100_000, seed=os.urandom(8))
        assert 10 <= reported <= entries <= reported + 10


@pytest.mark.parametrize("call", ["os.fsync", "FileIO.write"])
@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_write_that_fails_refuses_the_fit_and_leaves_the_old_ledger(path, monkeypatch, call, problem):
    Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "before").close()
    before = path.read_bytes()

    def fails(*arguments):
        raise OSError(problem, os.strerror(problem))

    class Full(FileIO):
        def write(self, data):
            super().write(data[: len(data) // 2])
            fails()

    with monkeypatch.context() as patched:
        if call == "os.fsync":
            patched.setattr(os, "fsync", fails)
        else:
            patched.setattr(locking, "FileIO", Full)
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
    assert child.hear() == ("OSError", 1)
    child.process.join()
    assert path.read_bytes() == before
    assert files(path) == THE_USUAL_FILES
    assert len(Ledger.open(path).entries) == 5


def test_an_entry_that_could_not_be_read_again_is_not_written(path):
    before = path.read_bytes()
    for what in (5, None, ["a model"]):
        with pytest.raises(TypeError, match="what must be a string"):
            Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), what)
    with pytest.raises(ValueError, match="records must be an integer of at least 1"):
        Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "a model", records=-1)
    for wrong in ({"release": "x" * 300}, {"pays_for": {"cuts-1": Fraction(-1)}}):
        with pytest.raises(LedgerError, match="not be read again"):
            Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "a model", **wrong)
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


def never_waits(*_):
    raise BlockingIOError


def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(path, monkeypatch):
    """It has the lock's file open, too, so that closing it here would not free the lock."""
    lock, copies = fcntl.flock, []

    def copied(handle, operation):
        lock(handle, operation)
        copies.append(os.dup(handle.fileno()))

    monkeypatch.setattr(fcntl, "flock", copied)
    ledger = Ledger.open(path)
    ledger.reserve(Fraction(1, 10), Fraction(0), "copied").close()
    monkeypatch.setattr(fcntl, "flock", lock)
    monkeypatch.setattr(locking, "_wait", never_waits)
    ledger.reserve(Fraction(1, 10), Fraction(0), "not blocked").close()
    assert copies
    for copy in copies:
        os.close(copy)


def test_while_one_writes_a_ledger_nobody_else_can(path, monkeypatch):
    ledger = Ledger.open(path)
    monkeypatch.setattr(locking, "_wait", never_waits)
    with locking.open_locked(path), pytest.raises(BlockingIOError):
        ledger.reserve(Fraction(1), Fraction(0), "meanwhile")
    assert ledger.entries == ()


def test_without_the_lock_two_could_spend_the_same(path, monkeypatch):
    """The twin: what the lock is for."""
    ledger, granted = Ledger.open(path), Wish.granted

    def slow(self, *arguments):
        entry = granted(self, *arguments)
        if self.what == "slow":
            ledger.reserve(Fraction(1), Fraction(0), "meanwhile")
        return entry

    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    monkeypatch.setattr(Wish, "granted", slow)
    ledger.reserve(Fraction(1), Fraction(0), "slow")
    assert len(ledger.entries) == 1  # of two that were granted


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
    monkeypatch.setattr(locking, "PATIENCE", 0.1)
    child = Child(children.hold, path)
    assert child.hear() == "held"
    monkeypatch.setattr(sys, "stderr", said := Listening(child.process.kill))
    Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "after a wait")
    assert said.getvalue().count("waiting") == 1
    assert str(path) in said.getvalue()


def test_ctrl_c_just_before_a_wait_ends_it(path, monkeypatch):
    lock, held = fcntl.flock, locking.open_locked(path)

    def interrupted(handle, operation):
        """As C sees it: the signal is noted, and the next call of Python's is the one that waits."""
        if operation == fcntl.LOCK_EX:
            pytest.fail("nothing would end this call")
        return lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", interrupted)
    monkeypatch.setattr(time, "sleep", lambda _: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background takes no notice of it
    try:
        with held, pytest.raises(KeyboardInterrupt):
            Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "in vain")
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_long_wait(path, monkeypatch):
    monkeypatch.setattr(locking, "PATIENCE", 0.1)
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
    ledger, held = Ledger.open(path), locking.open_locked(path)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ledger.reserve, Fraction(1, 10), Fraction(0), "one")
        time.sleep(0.2)
        path.unlink()
        if what == "replaced":
            Ledger.open(path, epsilon=1.0)
        locking.unlock(held)
        held.close()
        with pytest.raises(LedgerError, match="gone" if what == "deleted" else "replaced"):
            waiting.result(timeout=60)
    assert what == "deleted" or Ledger.open(path).entries == ()


def test_hard_links_stay_one_ledger(path):
    other = path.with_name("link.json")
    os.link(path, other)
    done = 0
    for name in (path, other, path, other):
        try:
            children.fit(name, 0.5)
            done += 1
        except BudgetError:
            pass
    assert done == 2
    assert path.samefile(other)
    assert Ledger.open(path).remaining == Ledger.open(other).remaining == (0, 0)


def test_a_ledger_keeps_its_mode_and_nothing_is_written_beside_it(path):
    path.chmod(0o600)
    victim = path.with_name("victim")
    victim.write_text("mine")
    for name in ("budget.json.new", "budget.json.lock"):
        path.with_name(name).symlink_to(victim)
    children.fit(path, 0.5)
    assert path.stat().st_mode & 0o777 == 0o600
    assert victim.read_text() == "mine"
    assert files(path) == ["budget.json", "budget.json.lock", "budget.json.new", "victim"]


def test_the_end_that_cannot_be_written_does_not_lose_the_model(path, monkeypatch):
    ledger, append = Ledger.open(path), FileLedger._append

    def full(self, file, tail, make, sync):
        if sync:
            return append(self, file, tail, make, sync)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FileLedger, "_append", full)
    with pytest.warns(RuntimeWarning, match="stays booked"):
        assert children.fit(path, 0.5).rule_list_
    assert ledger.entries[0].how is None
    assert ledger.remaining == (Fraction(1, 2), 0)


@pytest.mark.parametrize("lost", [Path.unlink, lambda path: path.write_text("hello"), lambda path: path.chmod(0)])
def test_a_ledger_that_is_lost_after_the_booking_does_not_take_the_model_with_it(path, monkeypatch, lost):
    end = FileLedger._end

    def lost_before(self, *given):
        lost(path)
        end(self, *given)

    monkeypatch.setattr(FileLedger, "_end", lost_before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # who is root may read what has no mode
        saved = SavedModel.of(children.fit(path, 0.5))
    assert saved.ledger.remaining == (Fraction(1, 2), 0)
    assert saved.ledger.number == 1

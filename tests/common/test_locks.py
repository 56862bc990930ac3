"""Files are locked on systems without ``fcntl`` as well: here with the alternative forced, on top of Linux' own locks."""

import multiprocessing
import os
import sys
import time

import pytest

from discreet import Ledger
from discreet.common import file_locks, locking, writing
from discreet.common.file_locks import LOCKED_BYTE
from discreet.common.locking import open_locked, open_regular, unlock, wait_for_writers
from discreet.common.writing import write_whole

from ..support import windows_locks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the alternative is made of Linux' locks of open files")
PROCESSES = multiprocessing.get_context("spawn")


@pytest.fixture
def as_on_windows(monkeypatch):
    locks = windows_locks.without_fcntl()
    monkeypatch.setattr(locking, "LOCKS", locks)
    return locks


def started(work, *arguments):
    pipe, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=work, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, pipe


def test_the_locks_are_chosen_by_what_the_system_has(as_on_windows):
    assert file_locks.LOCKS.name == "flock"
    assert as_on_windows.name == "locked byte"


def test_who_opens_a_file_twice_has_to_wait_in_one_process_too(as_on_windows, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    first = open_locked(path)
    with open_regular(path, "rb+") as second:
        with pytest.raises(BlockingIOError):
            as_on_windows.take(second)
        unlock(first)
        as_on_windows.take(second)
        with pytest.raises(BlockingIOError):
            as_on_windows.take(first)
    as_on_windows.take(first)  # closing let go
    first.close()


def test_a_locked_file_can_be_read_and_does_not_grow(as_on_windows, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    with open_locked(path) as file:
        file.seek(3)
        as_on_windows.let_go(file)
        assert file.tell() == 3  # where one was
        as_on_windows.take(file)
        assert file.read() == b"tent"
        assert path.read_bytes() == b"content"
        assert path.stat().st_size == 7 < LOCKED_BYTE


def test_other_errors_than_a_lock_of_somebody_else_are_not_waited_for(as_on_windows, tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(5, "a disk that is gone")

    monkeypatch.setattr(windows_locks.MSVCRT, "locking", fails)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="a disk that is gone"):
        open_locked(tmp_path / "file")


def test_one_waits_for_another_process_and_a_reader_for_a_writer(as_on_windows, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    process, pipe = started(windows_locks.hold, path, 1.0)
    assert pipe.poll(60)
    begin = time.monotonic()
    with open_regular(path) as reader:  # for reading only
        wait_for_writers(reader)
        assert time.monotonic() - begin > 0.5
        open_locked(path).close()  # and has not kept it
    process.join(60)
    process, pipe = started(windows_locks.hold, path, 60.0)
    assert pipe.poll(60)
    process.kill()  # whoever dies lets go
    process.join(60)
    open_locked(path).close()


def test_many_processes_do_not_spend_more_than_there_is(as_on_windows, tmp_path):
    path = tmp_path / "budget.json"
    Ledger.open(path, epsilon=1.0)
    children = [started(windows_locks.spend, path, 20, "1/25") for _ in range(3)]
    booked = [pipe.recv() for _, pipe in children]
    for process, _ in children:
        process.join(60)
    assert sum(booked) == 25
    assert Ledger.open(path).remaining[0] == 0
    assert Ledger.open(path).n_entries == 25


def test_locks_that_hold_nobody_up_are_caught(as_on_windows, tmp_path, monkeypatch):
    """A twin: a byte is locked at whatever position one is, so that two may lock two bytes."""
    path = tmp_path / "file"
    path.write_bytes(b"content")
    monkeypatch.setattr(file_locks, "LOCKED_BYTE", 1)
    one = open_locked(path)
    monkeypatch.setattr(file_locks, "LOCKED_BYTE", 2)
    other = open_locked(path)  # does not wait: the test above would notice
    one.close()
    other.close()


# -- files that are replaced ------------------------------------------------------------------------------------------------


def test_a_file_that_somebody_has_open_is_replaced_as_soon_as_he_is_done(tmp_path, monkeypatch):
    """Windows refuses to replace what is open."""
    replace, refused = os.replace, []

    def refuses_twice(old, new):
        if len(refused) < 2:
            refused.append(new)
            raise PermissionError(13, "Access is denied")
        replace(old, new)

    monkeypatch.setattr(os, "replace", refuses_twice)
    with pytest.raises(PermissionError):
        write_whole(tmp_path / "file", "new")
    assert list(tmp_path.iterdir()) == []
    refused.clear()
    monkeypatch.setattr(writing, "OPEN_FILES_STAY", True)
    write_whole(tmp_path / "file", "new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len(refused) == 2


def test_files_are_written_as_bytes_whatever_the_system_makes_of_lines(tmp_path, monkeypatch):
    flags = []
    plain = os.open
    monkeypatch.setattr(os, "O_BINARY", 1 << 40, raising=False)
    monkeypatch.setattr(
        os, "open", lambda path, given, *mode: (flags.append(given), plain(path, given & ~(1 << 40), *mode))[1]
    )
    write_whole(tmp_path / "file", "a\nb\n")
    assert flags[0] & 1 << 40
    assert (tmp_path / "file").read_bytes() == b"a\nb\n"

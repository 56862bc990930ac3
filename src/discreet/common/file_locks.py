"""A lock on an open file, by what the system has: ``flock`` (Linux, macOS), or a locked byte (Windows).

Both belong to the file as it was opened, not to the process: whoever opens it a second time, in another thread too, has to wait.
Both end when the file is closed or the process dies. On Windows nobody can read what another has locked; so the byte that is
locked there is one that no file of ours has, far behind its end, and a ledger can be read while it is written, as elsewhere.

``take(file)`` raises BlockingIOError if somebody else has it; ``let_go(file)`` gives it back; ``wait(file)`` returns when nobody
has it, also if the file is open for reading only.
"""

import errno
import time
from collections.abc import Callable
from importlib import import_module
from io import FileIO
from typing import NamedTuple

LOCKED_BYTE = 0x7FFFFFF0  # where positions have 32 bits, too
LONGEST_PAUSE = 0.05  # seconds between two tries
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK, 36)  # 36: what Windows calls EDEADLOCK


class FileLocks(NamedTuple):
    """How files are locked here."""

    name: str
    take: Callable[[FileIO], None]
    let_go: Callable[[FileIO], None]
    wait: Callable[[FileIO], None]


def take_in_the_end(take: Callable[[FileIO], None], file: FileIO) -> None:
    """Try until it is free."""
    pause = 0.001
    while True:
        try:
            return take(file)
        except BlockingIOError:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def system_locks() -> FileLocks:
    """What this system has."""
    try:
        return _by_flock()
    except ImportError:
        return _by_byte()


def _by_flock() -> FileLocks:
    fcntl = import_module("fcntl")

    def take(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def let_go(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)

    def wait(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_SH)
        fcntl.flock(file, fcntl.LOCK_UN)

    return FileLocks("flock", take, let_go, wait)


def _by_byte() -> FileLocks:
    msvcrt = import_module("msvcrt")

    def change(file: FileIO, how: int) -> None:
        place = file.tell()
        file.seek(LOCKED_BYTE)  # it locks from here on
        try:
            msvcrt.locking(file.fileno(), how, 1)
        finally:
            file.seek(place)

    def take(file: FileIO) -> None:
        try:
            change(file, msvcrt.LK_NBLCK)
        except OSError as error:
            if error.errno in TAKEN:
                raise BlockingIOError(errno.EAGAIN, "another process has locked the file") from None
            raise

    def let_go(file: FileIO) -> None:
        change(file, msvcrt.LK_UNLCK)

    def wait(file: FileIO) -> None:
        take_in_the_end(take, file)
        let_go(file)

    return FileLocks("locked byte", take, let_go, wait)


LOCKS = system_locks()

"""Files that one process, and one thread of it, has to itself as long as it has them open.

The lock is on the file itself. Somebody may delete or replace the file while one waits for it; so after that it is compared
with what stands at its place now. How a lock is taken depends on the system (file_locks.py).
"""

import os
import stat
import sys
from io import FileIO
from pathlib import Path
from threading import Timer

from .file_locks import LOCKS, take_in_the_end

PATIENCE = 2.0  # seconds before one is told that this waits


class NotARegularFileError(OSError):
    """A folder, a device, or a pipe, on which reading would wait for ever."""


def open_regular(path: Path, mode: str = "rb", create: bool = False) -> FileIO:
    """A regular file, not buffered. No link is followed, and a pipe is refused instead of waited for."""
    flags = os.O_CREAT if create else 0
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC"):  # not everywhere
        flags |= getattr(os, name, 0)
    file = FileIO(path, mode.replace("b", ""), opener=lambda name, given: os.open(name, given | flags, 0o600))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotARegularFileError(f"{path} is not a regular file")
    return file


def open_locked(path: Path, create: bool = False) -> FileIO:
    """The file that stands at ``path`` once nobody else has it. Closing it lets go; ``unlock`` does so for forked copies, too."""
    while True:
        file = open_regular(path, "rb+", create)
        try:
            try:
                LOCKS.take(file)
            except BlockingIOError:
                _wait(file, path)
            if _stands_at(file, path):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # it was deleted or replaced meanwhile


def unlock(file: FileIO) -> None:
    """Let go. Closing is not enough if a process was forked meanwhile: it has the file open, too."""
    LOCKS.let_go(file)


def wait_for_writers(file: FileIO) -> None:
    """Until nobody has it locked. The file may be open for reading only."""
    LOCKS.wait(file)


def _wait(file: FileIO, path: Path) -> None:
    told = Timer(PATIENCE, lambda: print(f"(waiting: another process is writing {str(path)!r})", file=sys.stderr))
    told.daemon = True
    told.start()
    try:
        take_in_the_end(LOCKS.take, file)  # a Ctrl-C just before a call that waits by itself would not end it
    finally:
        told.cancel()


def _stands_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False

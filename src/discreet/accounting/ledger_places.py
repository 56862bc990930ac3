"""Where a ledger may be: in memory or in a file, both of SQLite; and what any such place can do (postgres_ledger.py is another).

The words of errors are ours: a driver's may name too much.

**SQLite**, for the processes of one machine. A rollback journal beside the file (no WAL), and ``synchronous=EXTRA``: what is
reserved is on disk before anyone may use it. SQLite does the locking and, after a kill, the way back. What it needs for that is
checked: one name (the journal goes by it), a disk of this machine (locks), a file of the length that it says. POSIX drops all
locks that a process has on a file as soon as *any* descriptor of it is closed there, and a connection must not live on in a
forked process. So one operation at a time has a connection, and nobody forks meanwhile.
"""

import os
import sqlite3
import stat
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import RLock
from typing import NoReturn, TypeVar

from .._utils.writing import PAUSES, new_database
from .entries import LedgerBudget
from .ledger_rows import TABLES, DamagedError, Run, create
from .ledger_rows import LedgerError as LedgerError

T = TypeVar("T")
MAGIC, MARK = b"SQLite format 3\0", 0x64697363  # at byte 68: "disc"
PATIENCE = 0.1  # seconds that SQLite waits by itself: as long, Ctrl-C is not noticed
MOUNTS = Path("/proc/self/mounts")
NETWORK = (
    *("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "beegfs", "gpfs", "davfs", "virtiofs"),
    *("fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "fuse.s3fs", "fuse.davfs", "fuse.gvfsd"),
)
SETTINGS = ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON")
_alone = RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_alone.acquire, after_in_parent=_alone.release, after_in_child=_alone.release)


class OutOfReachError(LedgerError):
    """A ledger that was moved, deleted or damaged. What was booked before is booked."""


class MissingError(OutOfReachError):
    """There is no ledger at this place."""


class BusyError(Exception):
    """Somebody else is writing. Nothing happened, and it may be tried again."""


class Place(ABC):
    """Memory, a file, or a database of a server. Of the last two, nothing is kept open between two calls."""

    where = ""  # what ``Ledger.open`` is given
    shown = "in memory"  # what messages call it
    path: Path | None = None  # of a file
    locked = ""  # goes behind the SELECT of the row that a writer must have to itself
    is_copy = False  # in a process that was forked from the one that made it

    def make(self, whole: LedgerBudget) -> None:
        """Make the tables of a new ledger. If somebody else was faster, nothing happens."""
        self.attempt(True, lambda run: create(run, whole))

    @abstractmethod
    def attempt(self, write: bool, work: Callable[[Run], T]) -> T:
        """One transaction: what ``work`` returns, once it is on disk. Whatever is raised, nobody may use what it wrote."""

    def out_of_reach(self, why: str) -> OutOfReachError:
        """An error that says which ledger it is about."""
        return OutOfReachError(f"the ledger {self.shown} {why}")

    def damaged(self, what: object = "what is in it") -> OutOfReachError:
        """A ledger that is not as it was written."""
        return self.out_of_reach(
            f"is damaged: {what} cannot be as it was written. What was spent is unknown, so nothing more may be spent: "
            "restore an unchanged copy"
        )


def _runs(connection: sqlite3.Connection) -> Run:
    return lambda sql, *given: connection.execute(sql, given).fetchall()


def is_ledger(beginning: bytes) -> bool:
    """Whether a file is a ledger, by its first 100 bytes."""
    return beginning.startswith(MAGIC) and beginning[68:72] == MARK.to_bytes(4, "big")


class MemoryPlace(Place):
    """The memory of the process that made the ledger. In a forked one is a copy, which can be looked at."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._connection.close)

    def attempt(self, write: bool, work: Callable[[Run], T]) -> T:
        """See ``Place``."""
        if write and self.is_copy:
            self.refuse()
        with _alone:
            if self._connection.in_transaction:  # a signal's handler interrupted one that goes on after it
                raise RuntimeError("a ledger in memory cannot be used while it is being written")
            with self._connection:  # commits, or takes back: one step, however it is interrupted
                self._connection.execute("BEGIN")
                return work(_runs(self._connection))

    @property
    def is_copy(self) -> bool:  # type: ignore[override]
        """Whether this process was forked from the one that made it."""
        return os.getpid() != self._process

    def refuse(self) -> NoReturn:
        """To be written in a copy, or to be pickled."""
        raise TypeError(
            "a ledger in memory cannot be pickled or used in another process: each would spend it whole. "
            "Use Ledger.open(path), or n_jobs=1"
        )


class SQLitePlace(Place):
    """A file."""

    path: Path

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(path))  # by whatever name or link it is opened
        self.where = self.shown = str(self.path)

    def make(self, whole: LedgerBudget) -> None:
        """See ``Place``."""
        self._refuse_network()

        def made(connection: sqlite3.Connection) -> None:
            connection.execute(f"PRAGMA application_id = {MARK}")
            create(_runs(connection), whole)

        new_database(self.path, made)

    def attempt(self, write: bool, work: Callable[[Run], T]) -> T:
        """See ``Place``."""
        with _alone:
            try:
                self._check(write)
                mode = "rw" if os.access(self.path, os.W_OK) else "ro"
                uri = f"{self.path.as_uri()}?mode={mode}"
                with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
                    for setting in SETTINGS:
                        connection.execute(f"PRAGMA {setting}")
                    if connection.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
                        raise sqlite3.DatabaseError
                    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                    self._check_tables(connection)
                    found = work(_runs(connection))
                    connection.execute("COMMIT")
                    return found
            except (sqlite3.Error, UnicodeError) as error:  # Python makes no string of a message with damaged bytes
                raise self._told(getattr(error, "sqlite_errorname", "")) from None
            except FileNotFoundError:
                raise MissingError(f"the ledger at {self.shown} is gone") from None
            except OSError as error:
                raise self.out_of_reach(f"cannot be read: {error.strerror}") from None

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        """With the lock on the file. SQLite itself ignores bytes that were appended, or notices late what was cut off."""
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if dict(tables) != TABLES or len(tables) != len(TABLES):
            raise DamagedError("its tables")
        if pages * size != os.stat(self.path).st_size:
            raise DamagedError("its length")

    def _check(self, write: bool) -> None:
        """What SQLite would not notice, or not say in one clear line."""
        for pause in PAUSES:  # a ledger that is just being made has two names for a moment
            if os.stat(self.path).st_nlink == 1:
                break
            time.sleep(pause)
        found = os.stat(self.path)
        if not stat.S_ISREG(found.st_mode):
            raise OutOfReachError(f"{self.shown} is not a regular file, so it is not a ledger")
        with open(self.path, "rb") as file:
            beginning = file.read(100)
        if not beginning.startswith(MAGIC):
            raise OutOfReachError(
                f"{self.shown} is not a ledger, or is damaged, and cannot be read: restore an unchanged copy"
            )
        if found.st_nlink > 1:
            raise self.out_of_reach(
                "has several names (hard links), and what a killed process leaves beside it is found under one of them only: "
                "delete all names but one"
            )
        if write and not self._may_write():
            os.stat(self.path)  # or it was deleted meanwhile
            raise self.out_of_reach(
                "is read-only, so nothing can be booked: it and its folder (for SQLite's journal) must be writable"
            )
        if write:
            self._refuse_network()

    def _may_write(self) -> bool:
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK | os.X_OK)

    def _refuse_network(self) -> None:
        """As far as Linux says it. The last mount of the longest name counts."""
        try:
            lines = [line.split(" ") for line in MOUNTS.read_text(errors="surrogateescape").splitlines()]
        except OSError:
            return
        places = [(Path(line[1].encode("latin-1", "ignore").decode("unicode_escape")), line[2]) for line in lines]
        around = [(len(place.parts), kind) for place, kind in places if self.path.is_relative_to(place)]
        kind = max(reversed(around), key=lambda found: found[0], default=(0, ""))[1]
        if kind.startswith(NETWORK):
            raise OutOfReachError(
                f"{self.shown} is on a network file system ({kind}), where locks between machines cannot be relied on: keep the "
                "ledger on a disk of this machine, or on PostgreSQL: Ledger.open('postgresql://USER@HOST/DATABASE')"
            )

    def _told(self, name: str) -> Exception:
        """What to say of an error of SQLite."""
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return BusyError()
        if name == "SQLITE_FULL":
            return self.out_of_reach("cannot be written: the disk is full")
        if name == "SQLITE_READONLY_DBMOVED":
            return self.out_of_reach("was moved or deleted while it was being written")
        journal = Path(f"{self.path}-journal")
        if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")) and journal.exists() and not self._may_write():
            return OutOfReachError(
                f"a process that wrote the ledger {self.shown} was killed, and left {journal.name}: open the ledger once where "
                "it and its folder may be written, so that it is repaired; do not delete that file"
            )
        if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_NOMEM")):
            return self.out_of_reach(f"cannot be read or written: the system refuses it ({name})")
        return self.damaged()

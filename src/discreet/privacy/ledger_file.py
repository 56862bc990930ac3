"""A ledger in a file, safe to share between processes on one machine (ledger_lines.py says what is in it).

The file is only ever appended to, in place, by whoever has the lock on it: so it keeps its mode, all its hard links stay the
same ledger, and there is no other file to lose. A reservation is on disk before anyone may use it.
"""

import os
import secrets
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from ..common.locking import NotARegularFileError, open_locked, open_regular, unlock, wait_for_writers
from ..common.writing import PendingFile
from . import ledger_lines as lines
from .amounts import UNREADABLE
from .entries import Booked, Entry, LedgerSnapshot, Totals, Whole, read_checksum
from .ledger import Ledger, LedgerError, Wish, known_cut_points
from .ledger_version_1 import read_version_1
from .whole import Rho, whole_of

T = TypeVar("T")


class OutOfReachError(LedgerError):
    """A ledger that was moved, deleted or damaged. What was booked before is booked."""


class FileLedger(Ledger):
    """A ledger in a file. ``Ledger.open`` makes it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float = 0,
        allow_unproved: bool = False,
        rho: Rho = None,
        records_per_person: int | None = None,
    ) -> None:
        self.path = Path(os.path.realpath(path))  # by whatever name or link it is opened
        self._name: str | None = None
        self._when_booked: tuple[Whole, Totals] | None = None
        asked = None if epsilon is None else whole_of(epsilon, delta, allow_unproved, rho, records_per_person)
        if not self.path.exists():
            if asked is None:
                raise LedgerError(f"there is no ledger at {self.path}; give its epsilon to make one")
            self._make(asked)
        whole, _ = self._now()
        self._name = whole.name
        if asked is not None and (asked.epsilon, asked.delta) != (whole.epsilon, whole.delta):
            raise LedgerError(f"the ledger at {self.path} has another epsilon or delta; open it without giving them")
        if rho is not None and (asked is None or asked.rho != whole.rho):
            raise LedgerError(f"the ledger at {self.path} has another rho, or none; open it without giving it")
        if records_per_person is not None and records_per_person != whole.records_per_person:
            raise LedgerError(f"the ledger at {self.path} has other records_per_person; open it without giving them")
        if allow_unproved and not whole.allow_unproved:
            raise LedgerError(f"the ledger at {self.path} was made to refuse releases about which nothing is proved")

    def _make(self, whole: Whole) -> None:
        with PendingFile(self.path, over=False) as file, suppress(FileExistsError):  # somebody else was faster
            file.stream.write(lines.first_line(whole))
            file.commit()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All reservations, oldest first. All of the file is read for that."""
        return tuple(self._read(lines.read_whole, lambda whole, entries: (whole, entries))[1])

    def _now(self) -> tuple[Whole, Totals]:
        def ends(file: FileIO) -> tuple[Whole, Totals]:
            tail = lines.read_tail(file)
            return tail.whole, tail.totals

        return self._read(ends, lambda whole, entries: (whole, Totals.of(entries)))

    def _known(self, names: Mapping[str, Fraction]) -> dict[str, Fraction]:
        if not names:
            return {}
        return self._read(
            lambda file: lines.cut_points_in(file, lines.read_tail(file), names),
            lambda _, entries: known_cut_points(entries, names),
        )

    def _read(self, look: Callable[[FileIO], T], older: Callable[[Whole, list[Entry]], T]) -> T:
        """What is found in the file: in lines, or of version 1. Nothing is written."""
        try:
            with open_regular(self.path) as file:
                if not lines.has_lines(file):
                    return older(*self._read_version_1(file))
                try:
                    return look(file)
                except lines.DamagedError:  # or just being written: then it is whole as soon as nobody writes
                    wait_for_writers(file)
                    return look(file)
        except FileNotFoundError:
            self._gone()
        except NotARegularFileError as error:
            raise OutOfReachError(f"{error}, so it is not a ledger") from None
        except lines.DamagedError as error:
            self._damaged(error)

    def _read_version_1(self, file: FileIO) -> tuple[Whole, list[Entry]]:
        try:
            return read_version_1(file.readall())
        except UNREADABLE:
            raise OutOfReachError(
                f"{self.path} cannot be read as a ledger of version {lines.VERSION}, nor of 1: it is something else, or "
                "damaged. What was spent is not known, so nothing more may be; get back an unchanged copy"
            ) from None

    def _book(self, wish: Wish) -> tuple[Booked, Entry]:
        def book(file: FileIO, tail: lines.Tail) -> tuple[Booked, Entry]:
            known = lines.cut_points_in(file, tail, wish.rests_on) if wish.rests_on else {}
            entry = wish.granted(tail.whole, tail.totals, known)
            self._append(file, tail, lambda: tail.reservation(entry), sync=True)
            self._when_booked = tail.whole, tail.totals.plus(entry)
            assert tail.whole.name is not None
            return Booked(tail.whole.name, tail.totals.entries + 1, wish.release), entry

        return self._alone(book)

    def _end(self, booked: Booked, how: str, epsilon: Fraction, delta: Fraction) -> None:
        """The end is for information: what was booked stays so. If only this cannot be written, the release is not lost."""

        def end(file: FileIO, tail: lines.Tail) -> None:
            if tail.whole.name != booked.ledger or tail.totals.entries < booked.number:
                raise LedgerError("the ledger was replaced during a fit; its entry is gone")
            self._append(file, tail, lambda: tail.ending(booked, how, epsilon, delta), sync=False)

        try:
            self._alone(end)
        except (OSError, OutOfReachError) as error:
            warnings.warn(f"{error}. It stays booked in full, as not closed", RuntimeWarning, stacklevel=4)

    def note_model(self, booked: Booked, checksum: str) -> None:
        """Remember the checksum (SHA-256) of a file into which the model of an entry was written. It is for information."""
        read_checksum(checksum)

        def note(file: FileIO, tail: lines.Tail) -> None:
            if tail.whole.name != booked.ledger or tail.totals.entries < booked.number:
                raise OutOfReachError("the ledger was replaced since the fit; its entry is gone")
            self._append(file, tail, lambda: tail.written_to(booked, checksum), sync=False)

        try:
            self._alone(note)
        except (OSError, LedgerError) as error:
            warnings.warn(f"{error}. It does not know the model's file", RuntimeWarning, stacklevel=3)

    def snapshot(self, own: Booked | None = None) -> LedgerSnapshot:
        """What the ledger says now; if it was lost since, what it said when the model was booked: the model is paid for."""
        try:
            return super().snapshot(own)
        except (OSError, OutOfReachError) as error:
            if own is None or self._when_booked is None or self._when_booked[1].entries < own.number:
                raise
            warnings.warn(f"{error}. The model has its sums from when it was booked", RuntimeWarning, stacklevel=3)
            return self._summary(*self._when_booked, own)

    def _alone(self, work: Callable[[FileIO, lines.Tail], T]) -> T:
        """Do something with the file, in lines, while nobody else can."""
        while True:
            with self._locked() as file:  # in this very statement: whatever happens from now on, it is closed
                try:
                    if lines.has_lines(file):
                        return work(file, self._tail(file))
                    self._read_version_1(file)  # what is damaged is refused before anything is made
                except lines.DamagedError as error:
                    self._damaged(error)
                finally:
                    unlock(file)
            self._upgrade()

    def _locked(self) -> FileIO:
        try:
            return open_locked(self.path)
        except FileNotFoundError:
            self._gone()
        except NotARegularFileError as error:
            raise OutOfReachError(f"{error}, so it is not a ledger") from None

    def _tail(self, file: FileIO) -> lines.Tail:
        tail = lines.read_tail(file)
        if self._name not in (None, tail.whole.name):
            raise LedgerError(f"the ledger at {self.path} was replaced by another one since it was opened")
        self._name = tail.whole.name
        return tail

    def _append(self, file: FileIO, tail: lines.Tail, make: Callable[[], bytes], sync: bool) -> None:
        """Write a line after the last complete one. If that fails, nothing is left of it, and nobody may use it."""
        try:
            line = make()
        except UNREADABLE:
            raise LedgerError("this entry could be written into the ledger, but not be read again") from None
        try:
            file.truncate(tail.end)  # what a killed writer left
            file.seek(tail.end)
            rest = memoryview(line)
            while rest:
                rest = rest[file.write(rest) :]
            if sync:
                os.fsync(file.fileno())
        except BaseException as error:
            with suppress(OSError):
                file.truncate(tail.end)
            if isinstance(error, OSError):
                raise OSError(error.errno, f"the ledger {self.path} cannot be written: {error.strerror}") from None
            raise

    def _upgrade(self) -> None:
        """From version 1 to lines, under the lock of version 1, which was a file beside. At any kill, one of both is there."""
        beside = self.path.with_name(f"{self.path.name}.lock")
        with open_locked(beside, create=True) as lock:
            try:
                with open_regular(self.path) as file:
                    if lines.has_lines(file):
                        return
                    whole, entries = self._read_version_1(file)
                    if os.fstat(file.fileno()).st_nlink > 1:
                        raise LedgerError(
                            f"the ledger {self.path} is of an older version and has several names (hard links), which would "
                            "become several ledgers. Delete all names but one; then it is brought up to date"
                        )
                named = Whole(whole.epsilon, whole.delta, whole.allow_unproved, secrets.token_hex(8))
                with PendingFile(self.path) as new:
                    try:
                        new.stream.writelines(lines.from_entries(named, entries))
                    except UNREADABLE:
                        raise LedgerError(f"the ledger {self.path} has an entry that is too long to be kept") from None
                    new.commit()
                if not os.fstat(lock.fileno()).st_size:  # else somebody keeps notes there
                    with suppress(PermissionError):  # Windows keeps what is open: an empty file stays, and does no harm
                        beside.unlink(missing_ok=True)
            except FileNotFoundError:
                self._gone()
            finally:
                unlock(lock)

    def _gone(self) -> NoReturn:
        raise OutOfReachError(f"the ledger at {self.path} is gone") from None

    def _damaged(self, error: lines.DamagedError) -> NoReturn:
        raise OutOfReachError(
            f"the ledger {self.path} is damaged: {error} cannot be read. What was spent is not known, so nothing more may be; "
            "get back an unchanged copy"
        ) from None

    def __repr__(self) -> str:
        return f"Ledger.open({str(self.path)!r})"

    def __reduce__(self) -> Any:
        return FileLedger, (self.path,)

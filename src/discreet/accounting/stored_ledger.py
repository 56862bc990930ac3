"""A ledger that several processes share: in a file, or on a PostgreSQL server for several machines.

Every operation is one transaction on a connection of its own (``ledger_places.py``, ``postgres_ledger.py``); what it reads and
writes is in ``ledger_rows.py``. A writer has the ledger's row to itself from before it looks at the sums until what it books is
on disk.
"""

import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import ledger_rows as rows
from .entries import Booked, Entry, LedgerSnapshot, Rho, Totals, Whole, read_checksum, whole_of
from .ledger import BudgetRequest, Ledger
from .ledger_places import BusyError, LedgerError, MissingError, OutOfReachError, Place, SQLitePlace, T, damaged
from .postgres_ledger import PostgreSQLPlace, is_url

PATIENCE = 2.0  # seconds before one is told that this waits


class StoredLedger(Ledger):
    """A ledger in a file or on a server. ``Ledger.open`` makes it."""

    def __init__(
        self,
        where: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float = 0,
        allow_unproved: bool = False,
        rho: Rho = None,
        records_per_person: int | None = None,
    ) -> None:
        self._place: Place = PostgreSQLPlace(where) if isinstance(where, str) and is_url(where) else SQLitePlace(where)
        self._name: str | None = None
        self._when_booked: tuple[Whole, Totals] | None = None
        asked = None if epsilon is None else whole_of(epsilon, delta, allow_unproved, rho, records_per_person)
        at = self._place.shown
        try:
            whole, _ = self._now()
        except MissingError:
            if asked is None:
                raise MissingError(f"there is no ledger at {at}; give its epsilon to make one") from None
            self._place.make(lambda run: rows.create(run, asked))
            whole, _ = self._now()
        self._name = whole.name
        if asked is not None and (asked.epsilon, asked.delta) != (whole.epsilon, whole.delta):
            raise LedgerError(f"the ledger at {at} has another epsilon or delta; open it without giving them")
        if rho is not None and (asked is None or asked.rho != whole.rho):
            raise LedgerError(f"the ledger at {at} has another rho, or none; open it without giving it")
        if records_per_person is not None and records_per_person != whole.records_per_person:
            raise LedgerError(f"the ledger at {at} has other records_per_person; open it without giving them")
        if allow_unproved and not whole.allow_unproved:
            raise LedgerError(f"the ledger at {at} was made to refuse releases about which nothing is proved")

    @property
    def path(self) -> Path | None:
        """The file; None of a ledger on a server."""
        return self._place.path if isinstance(self._place, SQLitePlace) else None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All reservations, oldest first. All of the ledger is read and checked for that."""
        return tuple(self._do(False, rows.read_entries)[1])

    def _now(self) -> tuple[Whole, Totals]:
        state = self._do(False, rows.read_state)
        return state.whole, state.totals

    def _known(self, names: Mapping[str, Fraction]) -> dict[str, Fraction]:
        return self._do(False, lambda run: rows.known_in(run, rows.read_state(run), names)) if names else {}

    def _do(self, write: bool, work: Callable[[rows.Run], T]) -> T:
        """A transaction, as soon as nobody else writes."""
        begin, told = time.monotonic(), False
        while True:
            try:
                return self._place.attempt(write, work)
            except BusyError:
                if not told and time.monotonic() - begin > PATIENCE:
                    told = True
                    print(f"(waiting: another process is writing {self._place.shown!r})", file=sys.stderr)
                time.sleep(random.uniform(0.001, 0.05))
            except rows.DamagedError as error:
                raise damaged(self._place.shown, str(error)) from None
            except rows.TooLongError:
                raise LedgerError("this entry could be written into the ledger, but not be read again") from None

    def _state(self, run: rows.Run) -> rows.State:
        """What a writer finds, who then has it alone."""
        state = rows.read_state(run, self._place.locked)
        if self._name not in (None, state.whole.name):
            raise LedgerError(f"the ledger at {self._place.shown} was replaced by another one since it was opened")
        return state

    def _book(self, request: BudgetRequest) -> tuple[Booked, Entry]:
        def book(run: rows.Run) -> tuple[rows.State, Entry]:
            state = self._state(run)
            entry = request.approve(state.whole, state.totals, rows.known_in(run, state, request.rests_on))
            totals = state.totals.plus(entry)
            return rows.append(run, state, rows.reserved(entry, totals.entries), totals), entry

        state, entry = self._do(True, book)
        self._when_booked = state.whole, state.totals
        assert state.whole.name is not None
        return Booked(state.whole.name, state.totals.entries, request.release), entry

    def _end(self, booked: Booked, how: str, epsilon: Fraction, delta: Fraction) -> None:
        """The end is for information: what was booked stays so. If only this cannot be written, the release is not lost."""
        otherwise = "It stays booked in full, as not closed"
        self._add(booked, rows.ended(booked.number, how, epsilon, delta), otherwise, OutOfReachError, 5)

    def note_model(self, booked: Booked, checksum: str) -> None:
        """Remember the checksum (SHA-256) of a file into which the model of an entry was written. It is for information."""
        event = rows.written_to(booked.number, read_checksum(checksum))
        self._add(booked, event, "It does not know the model's file", LedgerError, 4)

    def _add(
        self, booked: Booked, event: dict[str, Any], otherwise: str, no_harm: type[LedgerError], level: int
    ) -> None:
        def add(run: rows.Run) -> None:
            state = self._state(run)
            if state.whole.name != booked.ledger or state.totals.entries < booked.number:
                raise LedgerError("the ledger was replaced since the fit; its entry is gone")
            rows.append(run, state, event, state.totals)

        try:
            self._do(True, add)
        except (OSError, no_harm) as error:
            warnings.warn(f"{error}. {otherwise}", RuntimeWarning, stacklevel=level)

    def snapshot(self, own: Booked | None = None) -> LedgerSnapshot:
        """What the ledger says now; if it was lost since, what it said when the model was booked: the model is paid for."""
        try:
            return super().snapshot(own)
        except (OSError, OutOfReachError) as error:
            if own is None or self._when_booked is None or self._when_booked[1].entries < own.number:
                raise
            warnings.warn(f"{error}. The model has its sums from when it was booked", RuntimeWarning, stacklevel=3)
            return self._summary(*self._when_booked, own)

    def __repr__(self) -> str:
        return f"Ledger.open({self._place.where!r})"

    def __reduce__(self) -> Any:
        return StoredLedger, (self._place.where,)

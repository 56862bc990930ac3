"""What was spent on what, in exact fractions. A ledger refuses to overspend, before anything is computed.

A fit reserves its whole (epsilon, delta) as one entry; the queries it opens charge the reservation. What early stopping
leaves over is shown as unused, and not returned: whether a fit stopped early depends on the data.

Two sums are kept, and neither may exceed the budget: of what was asked for, as the methods' authors count it, and of what is
proved. A ledger with a rho also counts in zCDP, which grows more slowly over many releases, and takes what is within rho
(``budget_request.py``). A release about which nothing is proved is refused, unless the ledger was made to take such releases.

``Ledger.open(path)`` is a database that several processes share: in a file, or on a PostgreSQL server for several machines. It is
written before any data is touched. Every operation is one transaction (``ledger_places.py``, ``postgres_ledger.py``); what it
reads and writes is in ``ledger_rows.py``. A writer has the ledger's row to itself from before it looks at the sums until what it
books is on disk. ``Ledger(...)`` is the same in the memory of one process. Both are shared by identity: scikit-learn's ``clone``
and deepcopy keep the same ledger; one in memory refuses to be pickled.
"""

import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from . import ledger_rows as rows
from .budget_request import BudgetRequest, NoDeltaError, Proved, SchemaDeltaError, UnprovedError
from .costs import UNREADABLE, exact
from .entries import NEIGHBOURS, Booked, Entry, LedgerBudget, Pair, Rho, Totals, budget_of
from .ledger_places import BusyError, LedgerError, MemoryPlace, MissingError, OutOfReachError, Place, SQLitePlace, T
from .postgres_ledger import PostgreSQLPlace, is_url
from .reservation import BudgetError, Reservation
from .summary import LedgerSnapshot, Readings

__all__ = ["UNREADABLE", "BudgetError", "BudgetRequest", "Entry", "Ledger"]
__all__ += ["LedgerError", "LedgerSnapshot", "NoDeltaError", "Reservation", "SchemaDeltaError"]
__all__ += ["UnprovedError", "exact"]
PATIENCE = 2.0  # seconds before one is told that this waits


class Ledger(Readings):
    """A budget for all releases from one table.

    Parameters
    ----------
    epsilon, delta : float
        For all releases together.
    allow_unproved : bool, default=False
        Whether to take releases about which nothing is proved (seeded ones, say). For experiments.
    rho : float or "auto", default=None
        Also count in zCDP, and take what is within this: many small releases cost much less so than by addition. What of delta
        it takes is not there for the releases themselves; "auto" takes all of it, and as large a rho as that allows.
    records_per_person : int, default=None
        Refuse releases for people with fewer records than that. By default the sums are about people with as many records as
        every release allows for.

    Examples
    --------
    >>> ledger = Ledger(epsilon=3.0, delta=1e-6)
    >>> ledger.reserve(Fraction(1), Fraction(0), "first model").close()
    >>> ledger.remaining
    (Fraction(2, 1), Fraction(1, 1000000))
    >>> ledger.reserve(Fraction(5, 2), Fraction(0), "second model")
    Traceback (most recent call last):
    discreet.accounting.reservation.BudgetError: the ledger has epsilon 2 and delta 1e-06 left, but this needs epsilon 2.5 and ...

    A hundred models drawn whole at epsilon 0.1 come to 10 by addition, and fit into 3 at a delta of 1e-6:

    >>> from discreet.accounting.costs import Cost
    >>> ledger = Ledger(epsilon=3.0, delta=1e-6, rho="auto")
    >>> for _ in range(100):
    ...     ledger.reserve(Fraction(1, 10), Fraction(0), "a tree", [Cost("bounded range", Fraction(1, 10))]).close()
    >>> round(float(ledger.snapshot().total().epsilon), 3)
    2.419
    """

    def __init__(
        self,
        epsilon: float | Fraction,
        delta: float | Fraction = 0,
        allow_unproved: bool = False,
        rho: Rho = None,
        records_per_person: int | None = None,
    ) -> None:
        place = MemoryPlace()
        place.make(budget_of(epsilon, delta, allow_unproved, rho, records_per_person))
        self._open(place)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float = 0,
        allow_unproved: bool = False,
        rho: Rho = None,
        records_per_person: int | None = None,
    ) -> Self:
        """The ledger in a file of SQLite, or at ``postgresql://USER@HOST/DATABASE?ledger=NAME`` (needs `discreet[postgres]`).

        One that does not exist yet is made, and then needs an epsilon. A password is no part of the URL: it is taken from
        ``PGPASSWORD``, ``~/.pgpass`` or a service file.
        """
        place: Place = PostgreSQLPlace(path) if isinstance(path, str) and is_url(path) else SQLitePlace(path)
        asked = None if epsilon is None else budget_of(epsilon, delta, allow_unproved, rho, records_per_person)
        ledger, at = cls.__new__(cls), place.shown
        try:
            whole = ledger._open(place)
        except MissingError:
            if asked is None:
                raise MissingError(f"there is no ledger at {at}; give its epsilon to make one") from None
            place.make(asked)
            whole = ledger._open(place)
        if asked is not None and (asked.epsilon, asked.delta) != (whole.epsilon, whole.delta):
            raise LedgerError(f"the ledger at {at} has another epsilon or delta; open it without giving them")
        if rho is not None and (asked is None or asked.rho != whole.rho):
            raise LedgerError(f"the ledger at {at} has another rho, or none; open it without giving it")
        if records_per_person is not None and records_per_person != whole.records_per_person:
            raise LedgerError(f"the ledger at {at} has other records_per_person; open it without giving them")
        if allow_unproved and not whole.allow_unproved:
            raise LedgerError(f"the ledger at {at} was made to refuse releases about which nothing is proved")
        return ledger

    def _open(self, place: Place) -> LedgerBudget:
        self._place = place
        whole, _ = self._now()
        self._name = whole.name
        return whole

    @property
    def path(self) -> Path | None:
        """The file; None of a ledger in memory or on a server."""
        return self._place.path

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All reservations, oldest first. All of the ledger is read and checked for that."""
        return tuple(self._do(False, rows.read_entries)[1])

    def reserve(
        self,
        epsilon: Fraction,
        delta: Fraction,
        what: str,
        proved: Proved = "as reserved",
        records: int = 1,
        *,
        because: Sequence[str] = (),
        release: str | None = None,
        rests_on: Mapping[str, Pair] | None = None,
        pays_for: Mapping[str, Pair] | None = None,
        neighbours: str = NEIGHBOURS,
    ) -> Reservation:
        """Set aside a budget, or raise BudgetError. It is on record before this returns.

        ``proved`` is proved about the release: a list of costs (``accounting/costs.py``), a pair (epsilon, delta), or None if
        nothing is; left out, it is the pair reserved. ``because`` says why nothing is. ``records`` is how many a person may
        have; all numbers are then those of a person, who comes or goes with all of them: what is proved for a person whose
        records are *replaced* (``neighbours``) is no bound on that, and is refused.
        ``release`` names what is released, by default at random. ``rests_on`` are schemas that it is made with, by name, with
        the (epsilon, delta) of each: those that no entry pays for are booked with it. ``pays_for`` are schemas that are the
        release itself.
        """
        if neighbours != NEIGHBOURS:
            raise ValueError(
                f"a ledger adds up what is proved of tables that {NEIGHBOURS} a person's records; from what is proved about "
                "other neighbours (records that are replaced, say) it does not follow"
            )
        request = BudgetRequest(epsilon, delta, what, proved, records, because, release, rests_on, pays_for)

        def book(run: rows.Run) -> tuple[rows.State, Entry]:
            state = self._state(run)
            entry = _approved(run, state, request)
            totals = state.totals.plus(entry)
            return rows.append(run, state, rows.reserved(entry, totals.entries), totals), entry

        state, entry = self._do(True, book)
        self._when_booked = state.whole, state.totals
        booked = Booked(state.whole.name, state.totals.entries, request.name)
        before = entry.epsilon - request.epsilon, entry.delta - request.delta  # schemas that are booked with it
        return Reservation(entry.epsilon, entry.delta, self, booked, records, before)

    def check(
        self,
        epsilon: Fraction,
        delta: Fraction,
        proved: Proved = "as reserved",
        records: int = 1,
        *,
        because: Sequence[str] = (),
        rests_on: Mapping[str, Pair] | None = None,
        pays_for: Mapping[str, Pair] | None = None,
    ) -> None:
        """Raise BudgetError if ``reserve`` would. Nothing is set aside.

        >>> Ledger(epsilon=1.0).check(Fraction(1, 2), Fraction(0))
        """
        request = BudgetRequest(epsilon, delta, "", proved, records, because, None, rests_on, pays_for)
        self._do(False, lambda run: _approved(run, rows.read_state(run), request))

    def _now(self) -> tuple[LedgerBudget, Totals]:
        state = self._do(False, rows.read_state)
        return state.whole, state.totals

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
                raise self._place.damaged(error) from None

    def _state(self, run: rows.Run) -> rows.State:
        """What a writer finds, who then has it alone."""
        state = rows.read_state(run, self._place.locked)
        if self._name != state.whole.name:
            raise LedgerError(f"the ledger at {self._place.shown} was replaced by another one since it was opened")
        return state

    def _end(self, booked: Booked, how: str, epsilon: Fraction, delta: Fraction) -> None:
        """The end is for information: what was booked stays so. If only this cannot be written, the release is not lost."""
        otherwise = "It stays booked in full, as not closed"
        self._add(booked, rows.ended(booked.number, how, epsilon, delta), otherwise, OutOfReachError, 5)

    def note_model(self, booked: Booked, checksum: str) -> None:
        """Remember the checksum (SHA-256) of a file into which the model of an entry was written. It is for information."""
        if not self._place.where and (booked.ledger != self._name or self._place.is_copy):
            return
        self._add(booked, rows.written_to(booked.number, checksum), "It does not know the model's file", LedgerError, 4)

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

    def __repr__(self) -> str:
        if self._place.where:
            return f"Ledger.open({self._place.where!r})"
        whole = self._now()[0]
        more = ", allow_unproved=True" if whole.allow_unproved else ""
        more += f", rho={float(whole.rho):.4g}" if whole.rho is not None else ""
        more += f", records_per_person={whole.records_per_person}" if whole.records_per_person is not None else ""
        return f"Ledger(epsilon={float(whole.epsilon):g}, delta={float(whole.delta):g}{more})"

    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: Any) -> "Ledger":
        return self  # a copy would let the same budget be spent twice

    def __reduce__(self) -> Any:
        if isinstance(self._place, MemoryPlace):
            self._place.refuse()
        return Ledger.open, (self._place.where,)

    def detached(self, booked: Booked | None) -> "Ledger | LedgerSnapshot":
        """What of it a pickled classifier has, whose own entry is given."""
        return self if self._place.where else self.snapshot(booked)


def _approved(run: rows.Run, state: rows.State, request: BudgetRequest) -> Entry:
    """The entry to be made, or BudgetError."""
    return request.approve(state.whole, state.totals, rows.known_in(run, state, request.owed))

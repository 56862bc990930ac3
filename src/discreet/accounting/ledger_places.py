"""Where a ledger may be stored, and what can go wrong with every such place. The words are ours: a driver's may name too much."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from .ledger_rows import Run

T = TypeVar("T")


class LedgerError(ValueError):
    """A ledger that cannot be used."""


class OutOfReachError(LedgerError):
    """A ledger that was moved, deleted or damaged. What was booked before is booked."""


class MissingError(OutOfReachError):
    """There is no ledger at this place."""


class BusyError(Exception):
    """Somebody else is writing. Nothing happened, and it may be tried again."""


class Place(Protocol):
    """A file, or a database of a server. Nothing is kept open between two calls."""

    where: str  # what ``Ledger.open`` is given
    shown: str  # what messages call it
    locked: str  # goes behind the SELECT of the row that a writer must have to itself

    def make(self, create: Callable[[Run], None]) -> None:
        """Make the tables of a new ledger. If somebody else was faster, nothing happens."""

    def attempt(self, write: bool, work: Callable[[Run], T]) -> T:
        """One transaction: what ``work`` returns, once it is on disk. Whatever is raised, nobody may use what it wrote."""

"""What a ledger is made of, as values: what it is, its entries, their sums, and the summary that goes into a model's file."""

import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from .composition import Total, delta_of, least, rho_of
from .costs import (
    LARGEST,
    Cost,
    added,
    exact,
    is_proved,
    read_amount,
    read_pair,
    rho_of_pure,
    rho_sum,
)

FINISHED, STOPPED = "finished", "stopped"
LONGEST_NAME = 200
Rho = float | Fraction | Literal["auto"] | None


@dataclass(frozen=True)
class Entry:
    """One reservation. ``spent_*`` and ``how`` stay None until it has ended; what is charged is what was reserved.

    ``epsilon`` and ``delta`` are what was asked for, as the method's authors count it. ``proved_*`` are what is proved about
    the release, which may be less or more; None if nothing is. ``release`` is the name of what was released, which a model
    carries, too. ``cut_points`` are the releases of cut points that this entry pays for, each with its epsilon for a person.
    ``how`` it ended is "finished" or "stopped", by an error or by Ctrl-C. ``costs`` are what the release consists of, and ``rho``
    what it was charged in zCDP. ``models`` are the checksums (SHA-256) of the files into which the model was written.
    """

    what: str
    epsilon: Fraction
    delta: Fraction
    when: str
    proved_epsilon: Fraction | None
    proved_delta: Fraction | None
    spent_epsilon: Fraction | None = None
    spent_delta: Fraction | None = None
    how: str | None = None
    records_per_person: int | None = None
    release: str | None = None
    cut_points: tuple[tuple[str, Fraction], ...] = ()
    costs: tuple[Cost, ...] = ()
    rho: Fraction = Fraction(0)
    models: tuple[str, ...] = ()

    @property
    def unused_epsilon(self) -> Fraction | None:
        """Reserved but not spent, and not returned."""
        return None if self.spent_epsilon is None else self.epsilon - self.spent_epsilon


@dataclass(frozen=True)
class Whole:
    """What is decided when a ledger is made, and never changes. ``name`` tells it from others.

    ``rho`` is the budget in zCDP, if there is one, and ``rho_delta`` the part of delta that it takes. ``records_per_person`` is
    how many records a person may have to whom the whole is promised; None: as many as every single entry says.
    """

    epsilon: Fraction
    delta: Fraction
    allow_unproved: bool
    name: str | None
    rho: Fraction | None = None
    rho_delta: Fraction = Fraction(0)
    records_per_person: int | None = None

    @property
    def delta_for_releases(self) -> Fraction:
        """What the releases themselves may have of delta."""
        return self.delta - self.rho_delta


@dataclass(frozen=True)
class Totals:
    """Sums over entries. Those of ``proved_*`` leave out the ``unproved`` ones, about which nothing is proved.

    ``records_per_person`` is the least of any entry: the sums are about people who have no more records than that.
    """

    entries: int = 0
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    proved_epsilon: Fraction = Fraction(0)
    proved_delta: Fraction = Fraction(0)
    unproved: int = 0
    rho: Fraction = Fraction(0)
    records_per_person: int | None = None

    def plus(self, entry: Entry) -> "Totals":
        """With one entry more."""
        proved = (entry.proved_epsilon or Fraction(0), entry.proved_delta or Fraction(0))
        records = entry.records_per_person or 1
        return Totals(
            self.entries + 1,
            added(self.epsilon, entry.epsilon),
            added(self.delta, entry.delta),
            added(self.proved_epsilon, proved[0]),
            added(self.proved_delta, proved[1]),
            self.unproved + (entry.proved_epsilon is None),
            self.rho + entry.rho,
            min(self.records_per_person or records, records),
        )

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Totals":
        """The sums over all of them."""
        totals = cls()
        for entry in entries:
            totals = totals.plus(entry)
        return totals

    def to_dict(self) -> dict[str, Any]:
        """The sums as JSON has them: fractions are strings."""
        return {
            "entries": self.entries,
            "spent": [str(self.epsilon), str(self.delta)],
            "proved": [str(self.proved_epsilon), str(self.proved_delta)],
            "unproved": self.unproved,
            "rho": str(self.rho),
            "records_per_person": self.records_per_person,
        }

    @classmethod
    def from_dict(cls, data: Any) -> "Totals":
        """What ``to_dict`` wrote, and perhaps more. What cannot be read raises one of ``UNREADABLE``."""
        spent, proved = ([read_amount(x, LARGEST * 10**6) for x in data[key]] for key in ("spent", "proved"))
        (epsilon, delta), (proved_epsilon, proved_delta) = spent, proved
        entries, unproved, records = (
            read_count(data["entries"]),
            read_count(data["unproved"]),
            data["records_per_person"],
        )
        if unproved > entries:
            raise ValueError
        rho = read_amount(data["rho"], LARGEST * 10**6)
        person = None if records is None else read_count(records)
        return cls(entries, epsilon, delta, proved_epsilon, proved_delta, unproved, rho, person)


@dataclass(frozen=True)
class Booked:
    """Where a release stands: the ledger's name, the entry's number (from 1), and the name of the release."""

    ledger: str
    number: int
    release: str


@dataclass(frozen=True)
class LedgerSnapshot:
    """What a ledger said at one time, as a value of fixed size that goes into a model's file.

    It has sums and no entries. So there is nothing in it of what early stopping left over, or of fits that were stopped, which
    may say more about the records than the list does; nor of times, since those between fits say how long they took.
    ``number`` and ``release`` are those of the model's own entry, None if it has none in this ledger.

    >>> from discreet import Ledger
    >>> ledger = Ledger(epsilon=3.0)
    >>> ledger.reserve(Fraction(1), Fraction(0), "first model").close()
    >>> ledger.snapshot().remaining
    (Fraction(2, 1), Fraction(0, 1))
    """

    epsilon: Fraction
    delta: Fraction
    totals: Totals
    ledger: str | None = None
    number: int | None = None
    release: str | None = None
    rho: Fraction | None = None
    rho_delta: Fraction = Fraction(0)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The sum of what was reserved, as the methods' authors count it. ``proved`` is what can be relied on."""
        return self.totals.epsilon, self.totals.delta

    @property
    def remaining(self) -> tuple[Fraction, Fraction]:
        """What is left, of what was asked for or of what is proved, whichever is less; by addition.

        A ledger that counts in zCDP, too, takes more than that: ``remaining_rho`` is what it has left.
        """
        t = self.totals
        epsilon = self.epsilon - max(t.epsilon, t.proved_epsilon)
        delta = self.delta - self.rho_delta - max(t.delta, t.proved_delta)
        return epsilon if self.rho is None else max(Fraction(0), epsilon), delta

    @property
    def remaining_rho(self) -> Fraction | None:
        """What is left in zCDP; None if the ledger does not count in it."""
        return None if self.rho is None else max(Fraction(0), self.rho - self.totals.rho)

    def total(self, delta: Fraction | None = None) -> Total | None:
        """What is proved about all releases together at this delta, that of the ledger unless another is given.

        It is the least of the plain sum and of zCDP; None if nothing is proved about one of the releases, or if they need a
        larger delta.
        """
        t = self.totals
        if t.unproved:
            return None
        return least((t.proved_epsilon, t.proved_delta), t.rho, self.delta if delta is None else delta)

    @property
    def proved(self) -> tuple[float, float]:
        """By basic composition, what is proved about all releases together; infinite if nothing is about one of them."""
        if self.totals.unproved:
            return math.inf, 1.0
        return float(self.totals.proved_epsilon), float(self.totals.proved_delta)

    def to_dict(self) -> dict[str, Any]:
        """The snapshot as JSON has it: fractions are strings."""
        sums = self.totals.to_dict()
        rho, records = sums.pop("rho"), sums.pop("records_per_person")
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            **sums,
            "ledger": self.ledger,
            "number": self.number,
            "release": self.release,
            "rho": rho,
            "rho_budget": None if self.rho is None else str(self.rho),
            "rho_delta": str(self.rho_delta),
            "records_per_person": records,
        }

    @classmethod
    def from_dict(cls, data: Any) -> "LedgerSnapshot":
        """Read what ``to_dict`` wrote. What cannot be read raises one of ``UNREADABLE``."""
        epsilon, delta = read_pair((data["epsilon"], data["delta"]))
        number, totals = data["number"], Totals.from_dict(data)
        names = [None if data[key] is None else read_name(data[key]) for key in ("ledger", "release")]
        rho = None if data["rho_budget"] is None else read_amount(data["rho_budget"])
        found = cls(epsilon, delta, totals, names[0], number, names[1], rho, read_amount(data["rho_delta"], 1))
        if delta >= 1 or set(data) != set(found.to_dict()):
            raise ValueError
        if number is not None and not 1 <= read_count(number) <= totals.entries:
            raise ValueError
        return found


def rho_charged(costs: tuple[Cost, ...], asked: Fraction) -> Fraction:
    """Of what is not proved, as if what was asked for were."""
    return rho_sum(costs) if is_proved(costs) else rho_of_pure(asked)


def read_count(data: Any) -> int:
    """An integer that counts something."""
    if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data < 2**63:
        raise TypeError
    return data


def read_name(data: Any) -> str:
    """A name."""
    if not isinstance(data, str) or len(data) > LONGEST_NAME:
        raise TypeError
    return data


def read_checksum(data: Any) -> str:
    """A SHA-256 in hexadecimal."""
    if not isinstance(data, str) or len(data) != 64 or set(data) - set("0123456789abcdef"):
        raise TypeError
    return data


def whole_of(epsilon: Any, delta: Any, allow_unproved: Any, rho: Rho, records_per_person: Any) -> Whole:
    """With the budget in zCDP, if there is to be one, and what of delta it takes."""
    whole = Whole(exact("epsilon", epsilon), exact("delta", delta), bool(allow_unproved), secrets.token_hex(8))
    if records_per_person is not None:
        if isinstance(records_per_person, bool) or not isinstance(records_per_person, int) or records_per_person < 1:
            raise ValueError(f"records_per_person must be an integer of at least 1, not {records_per_person!r}")
        whole = replace(whole, records_per_person=records_per_person)
    if rho is None:
        return whole
    if not whole.delta or not whole.epsilon:
        raise ValueError("to count in zCDP (rho), a ledger needs an epsilon and a delta: Ledger(3.0, 1e-6, rho='auto')")
    if rho == "auto":
        return replace(whole, rho=rho_of(whole.epsilon, whole.delta), rho_delta=whole.delta)
    if isinstance(rho, str):
        raise ValueError("rho must be a number, or 'auto'")
    budget = exact("rho", rho)
    taken = delta_of(budget, whole.epsilon)
    if taken > whole.delta:
        raise ValueError(
            f"rho = {float(budget):g} would take a delta of {float(taken):.3g} at this epsilon, and the ledger has "
            f"{float(whole.delta):g}; rho may be up to {float(rho_of(whole.epsilon, whole.delta)):.6g}"
        )
    return replace(whole, rho=budget, rho_delta=taken)

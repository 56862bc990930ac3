"""What a ledger is made of, as values: its entries, their sums, and the summary that goes into a model's file."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .amounts import LARGEST, added, read_amount, read_pair
from .costs import NOTHING_PROVED, Cost, is_proved, pair, rho_of_pure, rho_sum
from .totals import Total, least

FINISHED, STOPPED = "finished", "stopped"
PUBLIC = {"what", "epsilon", "delta", "when", "proved_epsilon", "proved_delta"}  # of an entry, in older models
SUMMARY = {"epsilon", "delta", "entries", "spent", "proved", "unproved", "ledger", "number", "release"}
ZCDP = {"rho", "rho_budget", "rho_delta", "records_per_person"}  # of a summary, too, but in older models
LONGEST_NAME = 200


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

    @property
    def unused_delta(self) -> Fraction | None:
        """Reserved but not spent, and not returned."""
        return None if self.spent_delta is None else self.delta - self.spent_delta


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

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Of a pickle. Those that are older than costs have no rho; all releases together are pure, up to delta."""
        vars(self).update({"rho": rho_of_pure(state["proved_epsilon"])} | state)

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
        t = self.totals
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "entries": t.entries,
            "spent": [str(t.epsilon), str(t.delta)],
            "proved": [str(t.proved_epsilon), str(t.proved_delta)],
            "unproved": t.unproved,
            "ledger": self.ledger,
            "number": self.number,
            "release": self.release,
            "rho": str(t.rho),
            "rho_budget": None if self.rho is None else str(self.rho),
            "rho_delta": str(self.rho_delta),
            "records_per_person": t.records_per_person,
        }

    @classmethod
    def from_dict(cls, data: Any) -> "LedgerSnapshot":
        """Read what ``to_dict`` wrote, here or in version 0.5 (all entries). What cannot be read raises one of ``UNREADABLE``."""
        epsilon, delta = read_pair((data["epsilon"], data["delta"]))
        if delta >= 1:
            raise ValueError
        if isinstance(data["entries"], list):
            if set(data) != {"epsilon", "delta", "entries"}:
                raise ValueError
            return cls(epsilon, delta, Totals.of(_older(entry) for entry in data["entries"]))
        if set(data) not in (SUMMARY, SUMMARY | ZCDP):
            raise ValueError
        number, totals = data["number"], read_totals(data)
        budget, part = data.get("rho_budget"), read_amount(data.get("rho_delta", "0"), 1)
        if number is not None and not 1 <= read_count(number) <= totals.entries:
            raise ValueError
        names = [None if data[key] is None else read_name(data[key]) for key in ("ledger", "release")]
        rho = None if budget is None else read_amount(budget)
        return cls(epsilon, delta, totals, names[0], number, names[1], rho, part)


def _older(data: Any) -> Entry:
    """An entry of a model of version 0.5: with a day, and never a time of day; its proved pair is all that is known."""
    if set(data) != PUBLIC or len(data["when"]) > 10 or not isinstance(data["what"], str):
        raise ValueError
    given = data["proved_epsilon"], data["proved_delta"]
    proved = (None, None) if given == (None, None) else read_pair(given)
    epsilon, delta = read_pair((data["epsilon"], data["delta"]))
    costs = NOTHING_PROVED if proved[0] is None or proved[1] is None else pair(proved[0], min(proved[1], Fraction(1)))
    entry = Entry(data["what"], epsilon, delta, data["when"], proved[0], proved[1])
    return replace(entry, costs=costs, rho=rho_charged(costs, epsilon))


def rho_charged(costs: tuple[Cost, ...], asked: Fraction) -> Fraction:
    """Of what is not proved, as if what was asked for were."""
    return rho_sum(costs) if is_proved(costs) else rho_of_pure(asked)


def read_totals(data: Any) -> Totals:
    """The part of a dictionary that ``to_dict`` writes of totals."""
    spent, proved = ([read_amount(x, LARGEST * 10**6) for x in _two(data[key])] for key in ("spent", "proved"))
    entries, unproved = read_count(data["entries"]), read_count(data["unproved"])
    if unproved > entries:
        raise ValueError
    records = data.get("records_per_person")
    # of older sums no more is known than that all releases together are pure (up to delta)
    rho = read_amount(data["rho"], LARGEST * 10**6) if "rho" in data else rho_of_pure(proved[0])
    least_records = None if records is None else read_count(records)
    return Totals(entries, spent[0], spent[1], proved[0], proved[1], unproved, rho, least_records)


def _two(data: Any) -> list[Any]:
    if not isinstance(data, list) or len(data) != 2:
        raise TypeError
    return data


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

"""What a ledger is made of, as values: what it is, its entries, and their sums."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeVar

from .._utils.parameters import check_integer
from .costs import LARGEST, NONE, Cost, added, delta_of, exact, is_proved, read_amount, rho_of, rho_of_pure, rho_sum

T = TypeVar("T")
FINISHED, STOPPED = "finished", "stopped"
NEIGHBOURS = "add or remove"  # a person's records
LONGEST_NAME = 200
Rho = float | Fraction | Literal["auto"] | None
Pair = tuple[Fraction, Fraction]  # an epsilon and a delta


@dataclass(frozen=True)
class Entry:
    """One reservation. ``spent_*`` and ``how`` stay None until it has ended; what is charged is what was reserved.

    ``epsilon`` and ``delta`` are what was asked for, as the method's authors count it. ``proved_*`` are what is proved about
    the release, which may be less or more; None if nothing is. ``release`` is the name of what was released, which a model
    carries, too. ``schemas`` are the releases of schemas that this entry pays for, by name, each with its (epsilon, delta).
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
    schemas: tuple[tuple[str, Pair], ...] = ()
    costs: tuple[Cost, ...] = ()
    rho: Fraction = NONE
    models: tuple[str, ...] = ()

    @property
    def unused_epsilon(self) -> Fraction | None:
        """Reserved but not spent, and not returned."""
        return None if self.spent_epsilon is None else self.epsilon - self.spent_epsilon


@dataclass(frozen=True)
class LedgerBudget:
    """What is decided when a ledger is made, and never changes. ``name`` tells it from others.

    ``rho`` is the budget in zCDP, if there is one, and ``rho_delta`` the part of delta that it takes. ``records_per_person`` is
    how many records a person may have to whom the whole is promised; None: as many as every single entry says.
    """

    epsilon: Fraction
    delta: Fraction
    allow_unproved: bool
    name: str
    rho: Fraction | None = None
    rho_delta: Fraction = NONE
    records_per_person: int | None = None
    neighbours: ClassVar[str] = NEIGHBOURS

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
    epsilon: Fraction = NONE
    delta: Fraction = NONE
    proved_epsilon: Fraction = NONE
    proved_delta: Fraction = NONE
    unproved: int = 0
    rho: Fraction = NONE
    records_per_person: int | None = None

    def plus(self, entry: Entry) -> "Totals":
        """With one entry more."""
        records, summed = entry.records_per_person or 1, ("epsilon", "delta", "proved_epsilon", "proved_delta")
        sums: dict[str, Any] = {name: added(getattr(self, name), getattr(entry, name) or NONE) for name in summed}
        sums |= {"unproved": self.unproved + (entry.proved_epsilon is None), "rho": self.rho + entry.rho}
        sums["records_per_person"] = min(self.records_per_person or records, records)
        return replace(self, entries=self.entries + 1, **sums)

    def to_dict(self) -> dict[str, Any]:
        """The sums as JSON has them: fractions are strings."""
        spent, proved = [str(self.epsilon), str(self.delta)], [str(self.proved_epsilon), str(self.proved_delta)]
        sums = {"entries": self.entries, "spent": spent, "proved": proved, "unproved": self.unproved}
        return sums | {"rho": str(self.rho), "records_per_person": self.records_per_person}

    @classmethod
    def from_dict(cls, data: Any) -> "Totals":
        """What ``to_dict`` wrote, and perhaps more. What cannot be read raises one of ``UNREADABLE``."""
        (epsilon, delta), (proved_epsilon, proved_delta) = (map(read_sum, data[name]) for name in ("spent", "proved"))
        entries, unproved = read_count(data["entries"]), read_count(data["unproved"])
        records = optional(read_count, data["records_per_person"])
        if unproved > entries:
            raise ValueError
        return cls(entries, epsilon, delta, proved_epsilon, proved_delta, unproved, read_sum(data["rho"]), records)


@dataclass(frozen=True)
class Booked:
    """Where a release stands: the ledger's name, the entry's number (from 1), and the name of the release."""

    ledger: str
    number: int
    release: str


def rho_charged(costs: tuple[Cost, ...], asked: Fraction) -> Fraction:
    """Of what is not proved, as if what was asked for were."""
    return rho_sum(costs) if is_proved(costs) else rho_of_pure(asked)


def read_sum(data: Any) -> Fraction:
    """A sum of amounts."""
    return read_amount(data, LARGEST * 10**6)


def optional(read: Callable[[Any], T], data: Any) -> T | None:
    """Something that may be missing."""
    return None if data is None else read(data)


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


def budget_of(epsilon: Any, delta: Any, allow_unproved: Any, rho: Rho, records_per_person: Any) -> LedgerBudget:
    """With the budget in zCDP, if there is to be one, and what of delta it takes."""
    whole = LedgerBudget(exact("epsilon", epsilon), exact("delta", delta), bool(allow_unproved), secrets.token_hex(8))
    if records_per_person is not None:
        check_integer("records_per_person", records_per_person, at_least=1)
        whole = replace(whole, records_per_person=int(records_per_person))
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

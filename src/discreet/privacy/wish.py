"""What somebody would like to reserve, and the entry that comes of it, if the ledger takes it."""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Literal

from .amounts import exact
from .costs import NOTHING_PROVED, PURE, Cost, is_proved, pair, plain_sum
from .entries import Entry, Totals, Whole, rho_charged
from .filter import refuse_more_than_left
from .reservation import BudgetError

AsReserved = Literal["as reserved"]  # what is proved about a release is the pair that is reserved for it
Proved = tuple[float, float] | Sequence[Cost] | AsReserved | None


class UnprovedError(BudgetError):
    """A release about which nothing is proved, for a ledger that does not take such releases."""


@dataclass(frozen=True)
class Wish:
    """What somebody would like to reserve.

    ``because`` says why nothing is proved, if nothing is. ``rests_on`` are the cut points that the release was made with, with
    what they cost a person: what the ledger does not know of is booked with the release. ``pays_for`` are cut points that are
    themselves the release.
    """

    what: str
    epsilon: Fraction
    delta: Fraction
    costs: tuple[Cost, ...]
    because: tuple[str, ...]
    records: int
    release: str
    rests_on: Mapping[str, Fraction]
    pays_for: Mapping[str, Fraction]

    def owed(self, known: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """What is to be booked for cut points, where the ledger knows of these."""
        nothing = Fraction(0)
        return {n: e - known.get(n, nothing) for n, e in self.rests_on.items() if e > known.get(n, nothing)}

    def granted(self, whole: Whole, totals: Totals, known: Mapping[str, Fraction]) -> Entry:
        """The entry to be made, or BudgetError."""
        owed = self.owed(known)
        before = sum(owed.values(), Fraction(0))
        costs = (*self.costs, Cost(PURE, before)) if before and is_proved(self.costs) else self.costs
        asked = self.epsilon + before, self.delta
        if whole.records_per_person is not None and self.records < whole.records_per_person:
            raise BudgetError(
                f"the ledger is for people with up to {whole.records_per_person} records, and this release for people with up to "
                f"{self.records}: say records_per_person={whole.records_per_person}"
            )
        refuse_more_than_left(whole, totals, asked, costs)
        if not is_proved(costs) and not whole.allow_unproved:
            why = f" ({'; '.join(self.because)})" if self.because else ""
            raise UnprovedError(
                f"nothing is proved about this release{why}, so the ledger cannot count what it reveals, and refuses it. For "
                "experiments there are ledgers that take such releases, and then prove nothing about the whole: "
                "Ledger(epsilon, delta, allow_unproved=True), or discreet ledger create NEW --epsilon 3 --allow-unproved"
            )
        proved_epsilon, proved_delta = plain_sum(costs) if is_proved(costs) else (None, None)
        return Entry(
            self.what + "".join(f", and cut points {name}" for name in owed),
            asked[0],
            asked[1],
            datetime.now(UTC).isoformat(timespec="seconds"),
            proved_epsilon,
            proved_delta,
            records_per_person=self.records,
            release=self.release,
            cut_points=(*self.pays_for.items(), *owed.items()),
            costs=costs,
            rho=rho_charged(costs, asked[0]),
        )


def make_wish(
    epsilon: Fraction,
    delta: Fraction,
    what: str,
    proved: Proved,
    records: int,
    because: Sequence[str],
    release: str | None,
    rests_on: Mapping[str, Fraction] | None,
    pays_for: Mapping[str, Fraction] | None,
) -> Wish:
    """A wish, from what ``Ledger.reserve`` is given."""
    if not isinstance(what, str):
        raise TypeError(f"what must be a string that says what is released, not {type(what).__name__}")
    if isinstance(records, bool) or not isinstance(records, int) or records < 1:
        raise ValueError(f"records must be an integer of at least 1, not {records!r}: how many a person may have")
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
    costs = _costs_of(proved, epsilon, delta)
    named = secrets.token_hex(6) if release is None else release
    return Wish(what, epsilon, delta, costs, tuple(because), records, named, rests_on or {}, pays_for or {})


def _costs_of(proved: Proved, epsilon: Fraction, delta: Fraction) -> tuple[Cost, ...]:
    """Of a release for which this pair is reserved."""
    if isinstance(proved, str):
        return pair(epsilon, delta)
    if proved is None:
        return NOTHING_PROVED
    costs = tuple(one for one in proved if isinstance(one, Cost))
    if not proved or len(proved) > len(costs) > 0:
        raise ValueError("what is proved must be a list of at least one Cost, or a pair of an epsilon and a delta")
    if costs:
        if any(cost.epsilon < 0 or cost.delta < 0 or cost.times < 1 for cost in costs):
            raise ValueError("a cost must be at least 0: a negative one would give budget back")
        return costs
    one, other = (float(x) for x in proved if not isinstance(x, Cost))
    proved_epsilon, proved_delta = exact("epsilon", one), Fraction(repr(other))
    if proved_delta < 0:
        raise ValueError("a proved delta must be at least 0: a negative one would give budget back")
    if proved_epsilon != epsilon and one == math.nextafter(float(epsilon), math.inf):
        proved_epsilon = epsilon  # k * (epsilon / k) in floating point: what is proved is the fraction
    return pair(proved_epsilon, proved_delta)

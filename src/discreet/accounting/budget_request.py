"""What somebody would like to reserve, and whether a ledger takes it.

Whoever asks for releases may choose each after having seen the ones before, its budget included. So what decides must be a
*filter*: it holds for every such strategy. Two are used, and what **either** of them takes is taken (docs/theory.md, Theorem 34):

    addition   the sum of all epsilons is within epsilon
    zCDP       the sum of all rhos is within a rho that was fixed when the ledger was made, and that is (epsilon, rho_delta)-DP

In both cases the deltas of the releases add up to no more than ``delta - rho_delta``. Then everything together is (epsilon,
delta)-DP. What is refused may depend on budgets alone, which are public.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Literal

from .costs import KINDS, MOST_TIMES, NOTHING_PROVED, PURE, Cost, exact, is_proved, pair, plain_sum
from .entries import LONGEST_NAME, Entry, Totals, Whole, rho_charged
from .reservation import BudgetError

Pair = tuple[Fraction, Fraction]
AsReserved = Literal["as reserved"]  # what is proved about a release is the pair that is reserved for it
Proved = tuple[float, float] | Sequence[Cost] | AsReserved | None


class NoDeltaError(BudgetError):
    """A release that needs a delta, for a ledger that was made without one."""


def refuse_more_than_left(whole: Whole, totals: Totals, asked: Pair, costs: tuple[Cost, ...]) -> None:
    """Raise BudgetError if the release may not be taken. Of what is not proved, what is asked for is counted."""
    proved, rho = plain_sum(costs), rho_charged(costs, asked[0])
    within_rho = whole.rho is not None and totals.rho + rho <= whole.rho
    sums = [("", asked, (totals.epsilon, totals.delta))]
    if is_proved(costs):
        sums.append((" of what is proved", proved, (totals.proved_epsilon, totals.proved_delta)))
    for kind, (epsilon, delta), spent in sums:
        left = whole.epsilon - spent[0], whole.delta_for_releases - spent[1]
        if (epsilon > left[0] and not within_rho) or delta > left[1]:
            message = (
                f"the ledger has epsilon {_shown(left[0], whole)} and delta {float(left[1]):.6g} left{kind}, "
                f"this needs epsilon {float(epsilon):.6g} and delta {float(delta):.6g}"
            )
            if whole.rho is not None:
                message += (
                    f"; in zCDP it has rho {_shown(whole.rho - totals.rho, whole)} left, this needs {float(rho):.6g}"
                )
            if delta and not whole.delta_for_releases:
                raise NoDeltaError(f"{message} (the ledger was made without a delta for releases)")
            raise BudgetError(message)


def _shown(left: Fraction, whole: Whole) -> str:
    """By addition, a ledger with a rho may have spent more than its epsilon."""
    return f"{float(left if whole.rho is None else max(left, Fraction(0))):.6g}"


def how_many(whole: Whole, totals: Totals, costs: tuple[Cost, ...], most: int = 10**9) -> int:
    """How many more releases with these costs a ledger has room for; of what is not proved, none."""
    if not is_proved(costs):
        return 0
    (epsilon, delta), rho = plain_sum(costs), rho_charged(costs, Fraction(0))
    left = whole.epsilon - max(totals.epsilon, totals.proved_epsilon)
    found = _fit(left, epsilon, most)
    if whole.rho is not None:
        found = max(found, _fit(whole.rho - totals.rho, rho, most))
    return min(found, _fit(whole.delta_for_releases - max(totals.delta, totals.proved_delta), delta, most))


def _fit(left: Fraction, each: Fraction, most: int) -> int:
    return most if not each else max(0, min(most, int(left // each)))


class UnprovedError(BudgetError):
    """A release about which nothing is proved, for a ledger that does not take such releases."""


@dataclass(frozen=True)
class BudgetRequest:
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

    def approve(self, whole: Whole, totals: Totals, known: Mapping[str, Fraction]) -> Entry:
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


def make_request(
    epsilon: Fraction,
    delta: Fraction,
    what: str,
    proved: Proved,
    records: int,
    because: Sequence[str],
    release: str | None,
    rests_on: Mapping[str, Fraction] | None,
    pays_for: Mapping[str, Fraction] | None,
) -> BudgetRequest:
    """A request, from what ``Ledger.reserve`` is given."""
    if not isinstance(what, str):
        raise TypeError(f"what must be a string that says what is released, not {type(what).__name__}")
    if isinstance(records, bool) or not isinstance(records, int) or records < 1:
        raise ValueError(f"records must be an integer of at least 1, not {records!r}: how many a person may have")
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
    costs = _costs_of(proved, epsilon, delta)
    named = secrets.token_hex(6) if release is None else release
    if not isinstance(named, str) or len(named) > LONGEST_NAME:
        raise ValueError(f"release must be a string of at most {LONGEST_NAME} characters")
    owed, paid = _cut_points("rests_on", rests_on), _cut_points("pays_for", pays_for)
    if sum(paid.values(), Fraction(0)) > epsilon:
        raise ValueError(
            "pays_for is more than epsilon: cut points that are the release cannot cost more than all of it"
        )
    return BudgetRequest(what, epsilon, delta, costs, tuple(because), records, named, owed, paid)


def _cut_points(parameter: str, given: Mapping[str, Fraction] | None) -> dict[str, Fraction]:
    """Names of cut points, with what each costs a person."""
    found = dict(given or {})
    if not all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in found):
        raise ValueError(f"{parameter} must name cut points by strings of at most {LONGEST_NAME} characters")
    return {name: exact(f"an amount in {parameter}", amount) for name, amount in found.items()}


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
        return tuple(_checked(cost) for cost in costs)
    one, other = proved
    return pair(exact("a proved epsilon", one), min(exact("a proved delta", other), Fraction(1)))


def _checked(cost: Cost) -> Cost:
    """A negative cost would give budget back, and one that is not a number nothing can be compared with."""
    amounts = exact("the epsilon of a cost", cost.epsilon), exact("the delta of a cost", cost.delta)
    is_count = isinstance(cost.times, int) and not isinstance(cost.times, bool) and 1 <= cost.times <= MOST_TIMES
    if cost.kind not in KINDS or not is_count or amounts[1] > 1:
        raise ValueError(
            f"a cost must be of one of the kinds {', '.join(KINDS)}, at least once, with a delta of at most 1"
        )
    return Cost(cost.kind, *amounts, cost.times)

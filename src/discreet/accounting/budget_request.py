"""What somebody would like to reserve, and whether a ledger takes it.

Whoever asks for releases may choose each after having seen the ones before, its budget included. So what decides must be a
*filter*: it holds for every such strategy. Two are used, and what **either** of them takes is taken (docs/theory/accounting.md,
Theorem 34):

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
from itertools import chain
from typing import Literal

from .costs import NONE, NOTHING_PROVED, Cost, exact, is_proved, pair, plain_sum
from .entries import LONGEST_NAME, Entry, LedgerBudget, Pair, Totals, rho_charged
from .reservation import BudgetError

# What is proved about a release: a pair, a list of costs, the pair that is reserved for it, or nothing
Proved = tuple[float, float] | Sequence[Cost] | Literal["as reserved"] | None


class NoDeltaError(BudgetError):
    """A release that needs a delta, for a ledger that was made without one."""


def refuse_more_than_left(whole: LedgerBudget, totals: Totals, asked: Pair, costs: tuple[Cost, ...]) -> None:
    """Raise BudgetError if the release may not be taken. Of what is not proved, what is asked for is counted."""
    rho = rho_charged(costs, asked[0])
    within_rho = whole.rho is not None and totals.rho + rho <= whole.rho
    sums = [("", asked, (totals.epsilon, totals.delta))]
    if is_proved(costs):
        sums.append((" of what is proved", plain_sum(costs), (totals.proved_epsilon, totals.proved_delta)))
    for kind, (epsilon, delta), (spent, spent_delta) in sums:
        left, left_delta = whole.epsilon - spent, whole.delta_for_releases - spent_delta
        if (within_rho or epsilon <= left) and delta <= left_delta:
            continue
        # with a rho, more than epsilon may have been spent
        message = (
            f"the ledger has epsilon {float(max(left, NONE)):.6g} and delta {float(left_delta):.6g} left{kind}, "
            f"but this needs epsilon {float(epsilon):.6g} and delta {float(delta):.6g}"
        )
        if whole.rho is not None:
            rho_left = max(whole.rho - totals.rho, NONE)
            message += f"; in zCDP it has rho {float(rho_left):.6g} left, this needs {float(rho):.6g}"
        if delta and not whole.delta_for_releases:
            raise NoDeltaError(f"{message} (the ledger was made without a delta for releases)")
        raise BudgetError(message)


class SchemaDeltaError(NoDeltaError):
    """A release whose schema needs a delta, for such a ledger."""


class UnprovedError(BudgetError):
    """A release about which nothing is proved, for a ledger that does not take such releases."""


@dataclass
class BudgetRequest:
    """What somebody would like to reserve. Making this object checks it; ``Ledger.reserve`` says what it consists of."""

    epsilon: Fraction
    delta: Fraction
    what: str = ""
    proved: Proved = "as reserved"
    records: int = 1
    because: Sequence[str] = ()
    release: str | None = None
    rests_on: Mapping[str, Pair] | None = None
    pays_for: Mapping[str, Pair] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.what, str):
            raise TypeError(f"what must be a string that says what is released, not {type(self.what).__name__}")
        if isinstance(self.records, bool) or not isinstance(self.records, int) or self.records < 1:
            raise ValueError(
                f"records must be an integer of at least 1, not {self.records!r}: how many a person may have"
            )
        self.epsilon, self.delta = exact("epsilon", self.epsilon), exact("delta", self.delta)
        self.costs = _costs_of(self.proved, self.epsilon, self.delta)
        self.name = secrets.token_hex(6) if self.release is None else self.release
        if not isinstance(self.name, str) or len(self.name) > LONGEST_NAME:
            raise ValueError(f"release must be a string of at most {LONGEST_NAME} characters")
        self.owed, self.paid = _schemas("rests_on", self.rests_on), _schemas("pays_for", self.pays_for)
        if any(paid > own for paid, own in zip(_sums(self.paid), (self.epsilon, self.delta), strict=True)):
            raise ValueError(
                "pays_for is more than epsilon or delta: a schema that is the release cannot cost more than all of it"
            )

    def approve(self, whole: LedgerBudget, totals: Totals, known: Mapping[str, Sequence[Pair]]) -> Entry:
        """The entry to be made, or BudgetError. A schema that no entry pays for in full (``known``) is booked with it."""
        owed = {n: p for n, p in self.owed.items() if not any(e >= p[0] and d >= p[1] for e, d in known.get(n, ()))}
        before = _sums(owed)
        costs = self.costs
        if is_proved(costs):
            costs = (*costs, *(cost for own in owed.values() for cost in pair(*own)))
        asked = self.epsilon + before[0], self.delta + before[1]
        if whole.records_per_person is not None and self.records < whole.records_per_person:
            raise BudgetError(
                f"the ledger is for people with up to {whole.records_per_person} records, but this release for people with up to "
                f"{self.records}: set records_per_person={whole.records_per_person}"
            )
        for name, (_, delta) in (self.paid | owed).items():
            if delta and not whole.delta_for_releases:
                raise SchemaDeltaError(
                    f"the schema {name!r} needs a delta of {float(delta):.6g}, and the ledger was made without a delta for "
                    "releases: use a ledger with one (discreet ledger create NEW --epsilon 3 --delta 1e-6), or a schema whose "
                    "categories and classes are declared, which needs none"
                )
        refuse_more_than_left(whole, totals, asked, costs)
        if not is_proved(costs) and not whole.allow_unproved:
            why = f" ({'; '.join(self.because)})" if self.because else ""
            raise UnprovedError(
                f"nothing is proved about this release{why}, so the ledger cannot count what it reveals, and refuses it. For "
                "experiments, make a ledger that takes such releases and then promises no total: "
                "Ledger(epsilon, delta, allow_unproved=True), or discreet ledger create NEW --epsilon 3 --allow-unproved"
            )
        proved_epsilon, proved_delta = plain_sum(costs) if is_proved(costs) else (None, None)
        return Entry(
            self.what + "".join(f", and schema {name}" for name in owed),
            *(*asked, datetime.now(UTC).isoformat(timespec="seconds"), proved_epsilon, proved_delta),
            records_per_person=self.records,
            release=self.name,
            schemas=(*self.paid.items(), *owed.items()),
            costs=costs,
            rho=rho_charged(costs, asked[0]),
        )


def _schemas(parameter: str, given: Mapping[str, Pair] | None) -> dict[str, Pair]:
    """Names of schemas, with what each costs a person."""
    found = dict(given or {})
    named = all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in found)
    if not named or not all(isinstance(one, tuple) and len(one) == 2 for one in found.values()):
        raise ValueError(f"{parameter} must have (epsilon, delta) by names of at most {LONGEST_NAME} characters")
    return {name: (exact(f"an epsilon in {parameter}", e), exact("delta", d)) for name, (e, d) in found.items()}


def _sums(schemas: Mapping[str, Pair]) -> Pair:
    return sum((e for e, _ in schemas.values()), NONE), sum((d for _, d in schemas.values()), NONE)


def _costs_of(proved: Proved, epsilon: Fraction, delta: Fraction) -> tuple[Cost, ...]:
    """Of a release for which this pair is reserved."""
    if isinstance(proved, str):
        return pair(epsilon, delta)
    if proved is None:
        return NOTHING_PROVED
    costs = [one for one in proved if isinstance(one, Cost)]
    if not proved or len(proved) > len(costs) > 0:
        raise ValueError("what is proved must be a list of at least one Cost, or a pair of an epsilon and a delta")
    if costs:
        for amount in chain.from_iterable((cost.epsilon, cost.delta) for cost in costs):
            exact("an amount of a cost", amount)  # one that is too long could not be written down
        return tuple(costs)
    one, other = proved
    return pair(exact("a proved epsilon", one), min(exact("a proved delta", other), Fraction(1)))

"""What a ledger says: its sums, what all releases come to together, and how many more there is room for. Nothing here decides.

What is said of all releases together holds if their budgets were fixed beforehand. If they were chosen by looking at earlier
results, what holds is what a ledger refuses to exceed: its whole budget (``budget_request.py``).

**Numerical composition**, with Google's dp-accounting. Every cost is replaced by one that is at least as bad, whose loss has a
distribution that can be written down (docs/theory/accounting.md):

    pure                 randomised response: loss e with chance 1 / (1 + exp(-e)), else -e
    with a delta         the same, up to delta (of what is concentrated, its pair)
    discrete laplace     a number that moves by as many steps as a person has records
    bounded range        a loss with density in proportion to exp(L/2) on [-e, e] (Lemma 35)

Losses are rounded up to a grid. dp-accounting composes by Fourier transforms in floating point: its deltas were seen to be up to
1e-13 too small, and so a delta is asked for that is smaller by a thousand times that. That is a margin, and no proof.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .._utils.parameters import rounded_up
from .costs import (
    BOUNDED_RANGE,
    DISCRETE_LAPLACE,
    NONE,
    Cost,
    exact,
    is_proved,
    lowest,
    plain_sum,
    read_amount,
    read_pair,
    rho_sum,
)
from .entries import Booked, Entry, LedgerBudget, Totals, optional, read_count, read_name
from .ledger_places import OutOfReachError

ADDITION, BY_ZCDP, NUMERICAL = "addition", "zCDP", "numerical composition"
COARSEST_STEP, FINEST_STEP, MOST_STEPS = 1e-4, 1e-7, 500_000
LOST = Fraction(1, 10**10)  # of delta, for what Fourier transforms lose
MOST_RELEASES = 10**9
LARGEST_SUM = 100  # sums above this are left as they are: they protect nobody


@dataclass(frozen=True)
class Total:
    """An epsilon at a delta, and what it was computed by.

    >>> Total(Fraction(3, 10), Fraction(0), ADDITION)
    epsilon 0.3 at delta 0, by addition, if all budgets were fixed beforehand, and none by looking at earlier results
    """

    epsilon: Fraction
    delta: Fraction
    by: str

    def __repr__(self) -> str:
        said = f"epsilon {rounded_up(self.epsilon, 6)} at delta {rounded_up(self.delta, 3)}, by {self.by}"
        return f"{said}, if all budgets were fixed beforehand, and none by looking at earlier results"


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon at this delta of what is rho-zCDP, rounded up (Theorem 33, in costs.py).

    >>> round(float(epsilon_of(Fraction(1, 8), Fraction(1, 10**6))), 4)
    2.4191
    """
    if rho == 0:
        return NONE
    return max(NONE, lowest(lambda a, log, last: (a * rho, -(log(delta) + log(a)) / (a - 1), last)))


def least(plain: tuple[Fraction, Fraction], rho: Fraction, delta: Fraction) -> Total | None:
    """What is proved at this delta, of releases with this plain sum and this rho; None if they need a larger delta.

    >>> found = least((Fraction(10), Fraction(0)), Fraction(1, 8), Fraction(1, 10**6))
    >>> round(float(found.epsilon), 3), found.by
    (2.419, 'zCDP')
    """
    if plain[1] > delta:
        return None
    if delta > plain[1]:  # what the releases need themselves is taken off before
        epsilon = epsilon_of(rho, delta - plain[1])
        if epsilon < plain[0]:
            return Total(epsilon, delta, BY_ZCDP)
    return Total(plain[0], delta, ADDITION)


class Sums(ABC):
    """What follows from what a ledger is, and from the sums over its entries."""

    @abstractmethod
    def _now(self) -> tuple[LedgerBudget, Totals]:
        """What it is, and its sums: both of one state of it."""

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The sum of what was reserved, as the methods' authors count it. ``proved`` is what can be relied on."""
        totals = self._now()[1]
        return totals.epsilon, totals.delta

    @property
    def remaining(self) -> tuple[Fraction, Fraction]:
        """What is left, of what was asked for or of what is proved, whichever is less; by addition.

        A ledger that counts in zCDP, too, takes more than that: ``remaining_rho`` is what it has left.
        """
        whole, t = self._now()
        epsilon = whole.epsilon - max(t.epsilon, t.proved_epsilon)
        delta = whole.delta_for_releases - max(t.delta, t.proved_delta)
        return epsilon if whole.rho is None else max(NONE, epsilon), delta

    @property
    def remaining_rho(self) -> Fraction | None:
        """What is left in zCDP; None if the ledger does not count in it."""
        whole, totals = self._now()
        return None if whole.rho is None else max(NONE, whole.rho - totals.rho)

    @property
    def proved(self) -> tuple[float, float]:
        """By basic composition, what is proved about all releases together; infinite if nothing is about one of them."""
        totals = self._now()[1]
        return (math.inf, 1.0) if totals.unproved else (float(totals.proved_epsilon), float(totals.proved_delta))

    def total(self, delta: Fraction | None = None) -> Total | None:
        """What is proved about all releases together at this delta, that of the ledger unless another is given.

        It is the least of the plain sum and of zCDP; None if nothing is proved about one of the releases, or if they need a
        larger delta.
        """
        whole, t = self._now()
        proved = t.proved_epsilon, t.proved_delta
        return None if t.unproved else least(proved, t.rho, whole.delta if delta is None else delta)


@dataclass(frozen=True)
class LedgerSnapshot(Sums):
    """What a ledger said at one time, as a value of fixed size that goes into a model's file.

    It has sums and no entries. So there is nothing in it of what early stopping left over, or of fits that were stopped, which
    may say more about the records than the list does; nor of times, since those between fits say how long they took.
    ``number`` and ``release`` are those of the model's own entry, None if it has none in this ledger. A pickled classifier has
    one instead of its ledger in memory: nothing more can be spent.

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
    rho_delta: Fraction = NONE

    def _now(self) -> tuple[LedgerBudget, Totals]:
        return LedgerBudget(self.epsilon, self.delta, False, self.ledger or "", self.rho, self.rho_delta), self.totals

    def snapshot(self, own: Booked | None = None) -> "LedgerSnapshot":
        """What the ledger said then."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The snapshot as JSON has it: fractions are strings."""
        sums = self.totals.to_dict()
        last = {"rho_budget": optional(str, self.rho), "rho_delta": str(self.rho_delta)}
        last = {"rho": sums.pop("rho")} | last | {"records_per_person": sums.pop("records_per_person")}
        own = {name: getattr(self, name) for name in ("ledger", "number", "release")}
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)} | sums | own | last

    @classmethod
    def from_dict(cls, data: Any) -> "LedgerSnapshot":
        """Read what ``to_dict`` wrote. What cannot be read raises one of ``UNREADABLE``."""
        epsilon, delta = read_pair((data["epsilon"], data["delta"]))
        number, totals = data["number"], Totals.from_dict(data)
        ledger, release = (optional(read_name, data[name]) for name in ("ledger", "release"))
        rho, rho_delta = optional(read_amount, data["rho_budget"]), read_amount(data["rho_delta"], 1)
        found = cls(epsilon, delta, totals, ledger, number, release, rho, rho_delta)
        is_there = number is None or 1 <= read_count(number) <= totals.entries
        if delta >= 1 or set(data) != set(found.to_dict()) or not is_there:
            raise ValueError
        return found


class Readings(Sums):
    """What may be asked of a ledger. Each answer is of one state of it."""

    _when_booked: tuple[LedgerBudget, Totals] | None = None

    @property
    @abstractmethod
    def entries(self) -> tuple[Entry, ...]:
        """All reservations, oldest first. All of the ledger is read and checked for that."""

    @property
    def epsilon(self) -> Fraction:
        """The whole epsilon."""
        return self._now()[0].epsilon

    @property
    def delta(self) -> Fraction:
        """The whole delta."""
        return self._now()[0].delta

    @property
    def allow_unproved(self) -> bool:
        """Whether releases are taken about which nothing is proved."""
        return self._now()[0].allow_unproved

    @property
    def n_entries(self) -> int:
        """How many reservations there are."""
        return self._now()[1].entries

    def snapshot(self, own: Booked | None = None) -> LedgerSnapshot:
        """What the ledger says now and anyone may know, for the model whose own entry is given. See LedgerSnapshot.

        If it was lost since, it is what it said when the model was booked: the model is paid for.
        """
        try:
            whole, totals = self._now()
        except (OSError, OutOfReachError) as error:
            if own is None or self._when_booked is None or self._when_booked[1].entries < own.number:
                raise
            warnings.warn(f"{error}. The model has its sums from when it was booked", RuntimeWarning, stacklevel=3)
            whole, totals = self._when_booked
        number, release = (own.number, own.release) if own is not None and own.ledger == whole.name else (None, None)
        return LedgerSnapshot(
            *(whole.epsilon, whole.delta, totals, whole.name, number, release, whole.rho, whole.rho_delta)
        )

    def room_for(self, costs: Sequence[Cost]) -> int:
        """How many more releases with these costs it takes, for a person with as many records as they are about.

        Of what is not proved, none.

        >>> from discreet import Ledger
        >>> Ledger(3.0).room_for([Cost("pure", Fraction(1, 10))])
        30
        >>> Ledger(3.0, 1e-6, rho="auto").room_for([Cost("bounded range", Fraction(1, 10))])
        148
        """

        def fit(left: Fraction, each: Fraction) -> int:
            return max(0, min(MOST_RELEASES, int(left // each))) if each else MOST_RELEASES

        if not is_proved(costs):
            return 0
        now, (epsilon, delta) = self.snapshot(), plain_sum(costs)
        found = fit(now.remaining[0], epsilon)
        if now.remaining_rho is not None:
            found = max(found, fit(now.remaining_rho, rho_sum(costs)))
        return min(found, fit(now.remaining[1], delta))

    def total(self, delta: float | Fraction | None = None, numerical: bool | None = None) -> Total | None:
        """What is proved about all releases together at this delta; None if nothing is about one of them, or delta is too small.

        It is the least of the plain sum, of zCDP and, if dp-accounting is installed (`discreet[accounting]`) or ``numerical``
        asks for it, of numerical composition. If later budgets were chosen by looking at earlier results, only what the ledger
        refuses to exceed is sure: its epsilon and delta.
        """
        at = self.delta if delta is None else exact("delta", delta)
        found = super().total(at)
        if found is None or numerical is False or not at:
            return found
        try:
            epsilon = epsilon_by_composition(((e.costs, e.records_per_person or 1) for e in self.entries), at)
        except ImportError:
            if numerical:
                raise
            return found
        return Total(epsilon, at, NUMERICAL) if epsilon < found.epsilon else found

    def tight_epsilon(self, delta: float) -> float:
        """The epsilon of ``total(delta)``, which needs `discreet[accounting]`; infinite if there is none."""
        found = self.total(delta, numerical=True)
        return math.inf if found is None else float(found.epsilon)

    def __str__(self) -> str:
        from .ledger_export import as_text

        return as_text(self.entries, self.snapshot())


def epsilon_by_composition(releases: Iterable[tuple[tuple[Cost, ...], int]], delta: Fraction) -> Fraction:
    """The epsilon at this delta of releases, each with its costs and the number of records that a person may have."""
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        raise ImportError("numerical composition needs dp-accounting: pip install 'discreet[accounting]'") from None
    counted: Counter[tuple[str, Fraction, int]] = Counter()
    plain, left = Fraction(0), delta
    for costs, records in releases:
        for cost in costs:
            kind = cost.kind if cost.kind == BOUNDED_RANGE else DISCRETE_LAPLACE
            if cost.epsilon:
                counted[kind, cost.epsilon, records if cost.kind == DISCRETE_LAPLACE else 1] += cost.times
            plain, left = plain + cost.plain[0], left - cost.plain[1]
    left -= LOST
    if left <= 0 or not counted or plain > LARGEST_SUM:
        return plain
    # of the grid: fine enough for the smallest cost, and not so fine that all of them take too long
    finest = min(COARSEST_STEP, min(float(e) for _, e, _ in counted) / 100)
    step = max(finest, float(plain) / MOST_STEPS, FINEST_STEP)
    whole: Any = None
    for (kind, epsilon, records), times in counted.items():
        if kind == BOUNDED_RANGE:
            losses = bounded_range(float(epsilon), step)
            one = pld.PrivacyLossDistribution.create_from_rounded_probability(losses, 0.0, step)
        else:
            scale = float(epsilon) / records
            one = pld.from_discrete_laplace_mechanism(scale, records, value_discretization_interval=step)
        composed = one.self_compose(times)
        whole = composed if whole is None else whole.compose(composed)
    found = float(whole.get_epsilon_for_delta(float(left)))
    return min(plain, Fraction(found)) if math.isfinite(found) else plain


def bounded_range(epsilon: float, step: float) -> dict[int, float]:
    """The loss of Lemma 35, rounded up to the grid: the chance of each multiple of the step."""
    last = math.ceil(epsilon / step)
    losses = (min(i * step, epsilon) for i in range(-last, last + 1))
    # the chance of a loss of at most this: (exp(L/2) - exp(-e/2)) / (exp(e/2) - exp(-e/2))
    up_to = [math.expm1(max(0.0, loss + epsilon) / 2) / math.expm1(epsilon) for loss in losses]
    return {i - last: chance for i, chance in enumerate([up_to[0], *(b - a for a, b in pairwise(up_to))])}

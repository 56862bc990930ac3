"""The one path on which anything about the records is released. Whoever asks why to believe an epsilon starts reading here.

    check     what is wrong with the parameters is an error before a record is read          ``Terms``
    price     what it costs, and what is proved, follows from parameters and the schema      ``Release``
    fill      records become exact counts in a vault, if there is budget enough              ``release``, from here on
    reserve   the whole price is booked, in the ledger if there is one, or it ends here
    draw      the doors of the vault charge the reservation and answer with noise; whatever happens now, the price stays booked
    state     what was released comes with a statement of what it promises

Fits, private cut points and measurements give their price and two functions: one that fills a vault, and one that draws from
it. The vault, the reservation and the source of noise come together in ``release`` alone; tests/test_walls.py sees to it that
nothing else makes a reservation.

**The vault is filled before the price is booked**, and what takes long of a draw may be prepared there: counts, and sums over all
lists or trees, which no door has let out, cost nothing. A connection may be lost, memory may run out, a limit of time strike or
Ctrl-C be pressed meanwhile, and nothing was booked. (That it happened may say something about the records, like run time, and is
not covered by the promise, booked or not.) That there is enough budget is checked before, so that nobody waits in vain.
"""

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from .._utils.errors import PrivacyWarning, SeededWarning, WeakEpsilonWarning
from .._utils.parameters import check_integer, check_seed, finite_number
from .._utils.redaction import NOTHING_BOOKED, STAYS_BOOKED, call_redacted
from ..accounting.entries import Booked
from ..accounting.ledger import DetachedLedger, Ledger, LedgerError, Reservation, exact, reserve
from ..accounting.statement import DRAFTED, INFERRED, SEEDED, PrivacyStatement
from ..accounting.unledgered import columns_of, note_cuts, note_release, other_releases
from ..schema import Schema
from .noise.entropy import Entropy, SeededEntropy, SystemEntropy

T = TypeVar("T")
V = TypeVar("V")

WEAKEST = 10  # an epsilon above this is next to no protection
SCHEMA_IS_PUBLIC = (
    "neither the schema nor the parameters were chosen by looking at the records (a grid search does look at them)"
)
BUT_FOR_CUTS = f"but for the cut points that are counted above, {SCHEMA_IS_PUBLIC}"
ASSUMES = (
    SCHEMA_IS_PUBLIC,
    "a seed was not used and the operating system's random numbers cannot be predicted",
    "nobody measures how long learning took",
)


@dataclass(frozen=True)
class Terms:
    """The parameters that every release has. Making this object checks them."""

    epsilon: Any  # for a person
    ledger: Any
    records_per_person: Any
    random_state: Any

    def __post_init__(self) -> None:
        if isinstance(self.ledger, DetachedLedger):
            raise LedgerError(
                "a ledger in memory stays in the process that made it, and this classifier was sent to another one (n_jobs), "
                "or pickled: each would spend it whole. Use Ledger.open(path), or n_jobs=1"
            )
        if not 1e-6 <= finite_number("epsilon", self.epsilon) <= 1e9:
            raise ValueError(f"epsilon must be above 0 (from 1e-6 to 1e9), not {self.epsilon!r}")
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            raise TypeError("ledger must be a Ledger: Ledger(epsilon=...) or Ledger.open(path)")
        check_integer("records_per_person", self.records_per_person, at_least=1)
        check_seed("random_state", self.random_state)

    @property
    def price(self) -> Fraction:
        """Epsilon for a person, exactly."""
        return exact("epsilon", self.epsilon)

    @property
    def record_price(self) -> Fraction:
        """Epsilon for a single record: what is to hold for a person is shared by the person's records."""
        return self.price / int(self.records_per_person)

    def entropy(self) -> Entropy:
        """The operating system's randomness, or that of a seed."""
        seed = self.random_state
        if seed is None:
            return SystemEntropy()
        if isinstance(seed, int | np.integer | np.random.Generator):
            return SeededEntropy(seed if isinstance(seed, np.random.Generator) else int(seed))
        return SeededEntropy(int(check_random_state(seed).randint(2**31)))

    def reasons_for_no_proof(self, schema: Schema | None, drafted: bool) -> list[str]:
        """Why nothing is proved, whatever the mechanism. ``drafted``: a schema was drafted from the very table."""
        seeded, inferred = self.random_state is not None, schema is not None and schema.inferred
        return [SEEDED] * seeded + [INFERRED] * inferred + [DRAFTED] * drafted


@dataclass(frozen=True)
class Release:
    """What is to be released and what it costs: all of it is known before a record is read."""

    kind: str  # for people: "this fit"
    what: str  # for the ledger
    terms: Terms
    schema: Schema  # of the whole table, whose other releases are known by its columns
    statement: PrivacyStatement  # about this release alone
    delta: Fraction = Fraction(0)
    # Cut points that the release rests on, with their epsilon for a single record. What the ledger does not know of is booked
    # with the release: a ledger never says less than the statements of its models.
    rests_on: Sequence[tuple[str, float | Fraction]] = ()
    cut_points: tuple[str, float | Fraction] | None = None  # of a release of cut points: its name, its epsilon


@dataclass(frozen=True)
class Released(Generic[T]):
    """What was drawn, what it promises, and where it stands in the ledger."""

    value: T
    privacy: PrivacyStatement
    booked: Booked | None


def release(planned: Release, fill: Callable[[], V], draw: Callable[[V, Reservation, Entropy], T]) -> Released[T]:
    """Fill a vault, reserve the price, and only then draw from it."""
    terms, statement, ledger = planned.terms, planned.statement, planned.terms.ledger
    entropy = terms.entropy()  # an unusable seed is an error before anything is booked
    _warn_of(planned)
    k, delta, costs = int(terms.records_per_person), planned.delta, statement.price
    rests_on = {name: k * exact("epsilon", epsilon) for name, epsilon in planned.rests_on}
    if ledger is not None:
        ledger.check(terms.price, delta, costs, k, because=statement.because, rests_on=rests_on)
    filled = call_redacted(fill, NOTHING_BOOKED)
    if ledger is None:
        _note(planned)
    name, paid = planned.cut_points or (None, 0.0)
    reservation = reserve(
        *(ledger, terms.price, delta, planned.what, costs, k),
        because=statement.because,
        release=name,
        rests_on=rests_on,
        pays_for=None if name is None else {name: k * exact("epsilon", paid)},
    )
    with reservation:
        value = call_redacted(lambda: draw(filled, reservation, entropy), STAYS_BOOKED, drawing=True)
    return Released(value, _state(planned), reservation.booked)


def _state(planned: Release) -> PrivacyStatement:
    """What is promised by the release together with the cut points that it rests on, record by record."""
    k = int(planned.terms.records_per_person)
    before = sum((exact("epsilon", epsilon) for _, epsilon in planned.rests_on), Fraction(0))
    total = planned.statement.after_cut_points(k * before)
    if total.proved is None:
        return total
    if total.cut_points:
        total = replace(total, assumes=tuple(BUT_FOR_CUTS if a == SCHEMA_IS_PUBLIC else a for a in total.assumes))
    noted = planned.terms.ledger is None
    return replace(total, others=other_releases(_columns(planned), planned.statement, k, planned.rests_on, noted))


def _note(planned: Release) -> None:
    """Remember a release that is on no ledger, so that later statements can name it."""
    if planned.cut_points is not None and planned.statement.proved is not None:
        note_cuts(_columns(planned), *planned.cut_points)
    else:
        note_release(_columns(planned), planned.statement, int(planned.terms.records_per_person), planned.rests_on)


def _columns(planned: Release) -> frozenset[str]:
    return columns_of(planned.schema.names, planned.schema.target)


_warned_of_seeds = False


def _warn_of(planned: Release) -> None:
    """Warn of what the caller may not have meant, by parameters alone: of a seed once in a process."""
    global _warned_of_seeds
    epsilon, seeded = planned.terms.epsilon, planned.terms.random_state is not None
    if epsilon > WEAKEST:
        warn_outside(
            f"epsilon = {epsilon:g} is above {WEAKEST}, which is next to no protection; values from 0.1 to 1 are good "
            "(docs/choose-epsilon.md)",
            WeakEpsilonWarning,
        )
    if not seeded and planned.statement.proved is None:
        warn_outside(f"no privacy is proved for {planned.kind}: {'; '.join(planned.statement.because)}")
    elif seeded and not _warned_of_seeds:
        _warned_of_seeds = True
        warn_outside(
            f"no privacy is proved for {planned.kind}, nor for any other with a random_state: {SEEDED}. Leave random_state out "
            "unless this is an experiment. (This is said once.)",
            SeededWarning,
        )


def warn_outside(message: str, kind: type[Warning] = PrivacyWarning) -> None:
    """A warning that points at the line outside of this package that asked for the release."""
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)

"""The one path by which anything about the records is released. To check an epsilon, start reading here.

    plan      the price, the counts it takes and what is proved follow from parameters and the schema      ``Plan``
    count     records become exact counts, if there is enough budget                     ``release``, from here on
    prepare   queries do the slow work; nothing is booked or released yet
    reserve   the whole price is booked, in the ledger if there is one, or the release ends here
    run       queries charge the reservation and answer with noise; whatever happens now, the price stays booked
    state     the result gets a statement of what it promises

Fits, private schemas and measurements are plans. Counts, the reservation and the source of noise meet only in ``release``;
tests/test_walls.py checks that nothing else makes a reservation.

**Records are counted before the price is booked**, and the slow part of a draw is prepared then: counts, and sums over all lists
or trees, cost nothing until a query releases something of them. If a connection is lost, memory runs out, a time limit strikes or
Ctrl-C is pressed meanwhile, nothing was booked. (That it happened may say something about the records, like run time; the promise
does not cover it, booked or not.) The budget is checked before, so that nobody waits in vain.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from .._utils.parameters import check_integer, check_seed, finite_number
from .._utils.redaction import NOTHING_BOOKED, STAYS_BOOKED, redacting
from ..accounting.entries import Booked
from ..accounting.ledger import Ledger, LedgerError, LedgerSnapshot, Reservation, exact
from ..accounting.statement import DRAFTED, INFERRED, SEEDED, PrivacyStatement
from ..schema import Schema, SchemaRelease
from ..schema.releases import check_records
from .counts.counts import Counts
from .noise.seeded import entropy_of
from .queries.base import Queries
from .reminders import note, others_of, warn_of


@dataclass(frozen=True)
class Terms:
    """The parameters that every release has. Making this object checks them."""

    epsilon: Any  # for a person
    ledger: Any
    records_per_person: Any
    random_state: Any

    def __post_init__(self) -> None:
        if isinstance(self.ledger, LedgerSnapshot):
            raise LedgerError(
                "a ledger in memory stays in the process that made it, and this classifier was sent to another one (n_jobs), "
                "or pickled: each copy could spend all of it. Use Ledger.open(path), or n_jobs=1"
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
    def records(self) -> int:
        """How many a person may have."""
        return int(self.records_per_person)

    @property
    def record_price(self) -> Fraction:
        """Epsilon for a single record: what is to hold for a person is shared by the person's records."""
        return self.price / self.records

    def reasons_for_no_proof(self, schema: Schema | None, drafted: bool) -> list[str]:
        """Why nothing is proved, whatever the mechanism. ``drafted``: a schema was drafted from the very table."""
        seeded, inferred = self.random_state is not None, schema is not None and schema.inferred
        return [SEEDED] * seeded + [INFERRED] * inferred + [DRAFTED] * drafted


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """What is to be released, what it costs and how it is learned: all of it is known before a record is read."""

    terms: Terms
    schema: Schema  # of the whole table, whose other releases are known by its columns
    statement: PrivacyStatement  # about this release alone
    counting: Any  # which counts it takes, for a source (sources/plan.py)
    delta: Fraction = Fraction(0)
    kind: str = "this fit"  # for people
    what: str = ""  # for the ledger
    # What was spent on the schema before. What of it the ledger does not know of is booked with the release: a ledger never says
    # less than the statements of its models.
    rests_on: Sequence[SchemaRelease] = ()
    releases_schema: SchemaRelease | None = None  # if the release is a schema
    bar: AbstractContextManager[Any] = field(default_factory=nullcontext)  # what is shown meanwhile

    def __post_init__(self) -> None:
        check_records(self.rests_on, self.terms.records)

    @abstractmethod
    def queries(self, counts: Counts) -> Queries:
        """The queries of the counts that this plan pays for."""

    @abstractmethod
    def run(self, queries: Any) -> Any:
        """Ask the queries, and build the result from their answers."""

    def check(self) -> None:
        """Raise BudgetError if there is not enough in the ledger. Nothing is set aside."""
        terms, statement = self.terms, self.statement
        if terms.ledger is not None:
            given = terms.price, self.delta, statement.price, terms.records
            terms.ledger.check(*given, because=statement.because, **self._schemas)

    def reserve(self) -> Reservation:
        """Set the whole price aside, in the ledger if there is one."""
        terms, statement = self.terms, self.statement
        if terms.ledger is None:
            return Reservation(terms.price, self.delta, records=terms.records)
        reserved: Reservation = terms.ledger.reserve(
            *(terms.price, self.delta, self.what, statement.price, terms.records),
            because=statement.because,
            release=None if self.releases_schema is None else self.releases_schema.name,
            **self._schemas,
        )
        return reserved

    @property
    def _schemas(self) -> dict[str, dict[str, tuple[Fraction, Fraction]]]:
        own = () if self.releases_schema is None else (self.releases_schema,)
        both = {"rests_on": self.rests_on, "pays_for": own}
        return {name: {one.name: (one.epsilon, one.delta) for one in some} for name, some in both.items()}


class CountedSource(Protocol):
    """A table that can be counted."""

    def count(self, counting: Any) -> Any:
        """Exact counts of its records, as planned, which can be closed."""


class Released(NamedTuple):
    """What was learned, what it promises, and where it stands in the ledger."""

    value: Any
    privacy: PrivacyStatement
    booked: Booked | None


def release(plan: Plan, source: CountedSource) -> Released:
    """Count, prepare, reserve the price, and only then run the queries."""
    entropy = entropy_of(plan.terms.random_state)  # an unusable seed is an error before anything is booked
    delta = Fraction(0) if plan.terms.ledger is None else plan.terms.ledger.delta  # the ledger may be gone afterwards
    warn_of(plan)
    plan.check()
    with plan.bar:
        with redacting(NOTHING_BOOKED, drawing=True):
            counts = source.count(plan.counting)
        with closing(counts):
            with redacting(NOTHING_BOOKED, drawing=True):
                queries = plan.queries(counts).prepare()
            if queries.is_exact:
                raise AssertionError("a private release got queries without noise: this is a bug in the learner")
            if plan.terms.ledger is None:
                note(plan)
            with plan.reserve() as reservation, redacting(STAYS_BOOKED, drawing=True):
                learned = plan.run(queries.open(reservation, entropy))
    return Released(learned, _state(plan).at_delta(delta), reservation.booked)


def _state(plan: Plan) -> PrivacyStatement:
    """What is promised by the release together with the schema that it rests on."""
    total = plan.statement.after_schema(plan.rests_on)
    return total if total.proved is None else replace(total, others=others_of(plan))

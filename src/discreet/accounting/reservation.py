"""What one release may spend: queries charge it before they answer."""

from fractions import Fraction
from typing import TYPE_CHECKING

from .entries import FINISHED, STOPPED, Booked, Pair

if TYPE_CHECKING:
    from .ledger import Ledger


class BudgetError(ValueError):
    """A ledger without enough left, or a query that asks for more than was reserved."""


class Reservation:
    """What a fit may spend; a ``with`` block closes it. ``booked`` says where it stands, None without a ledger.

    A query knows its price for one record. It is charged for each of the ``records`` that a person may have.
    """

    def __init__(
        self,
        epsilon: Fraction,
        delta: Fraction,
        ledger: "Ledger | None" = None,
        booked: Booked | None = None,
        records: int = 1,
        spent: Pair = (Fraction(0), Fraction(0)),
    ) -> None:
        self.epsilon, self.delta, self.records, self.booked = epsilon, delta, records, booked
        self.spent_epsilon, self.spent_delta = spent
        self._ledger = ledger

    def draw(self, epsilon: Fraction, delta: Fraction, what: str) -> None:
        """Charge a query, or refuse it."""
        spent_epsilon = self.spent_epsilon + (epsilon if self.records == 1 else self.records * epsilon)
        spent_delta = self.spent_delta + delta if delta else self.spent_delta
        if spent_epsilon > self.epsilon or spent_delta > self.delta:
            raise BudgetError(f"a {what} asks for more than is left of the reservation: this is a bug in the learner")
        self.spent_epsilon, self.spent_delta = spent_epsilon, spent_delta

    def close(self, how: str = FINISHED) -> None:
        """Write down what was spent, and whether the release was finished."""
        if self._ledger is not None and self.booked is not None:
            self._ledger._end(self.booked, how, self.spent_epsilon, self.spent_delta)

    def __enter__(self) -> "Reservation":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(FINISHED if kind is None else STOPPED)

"""What all queries have in common: they charge the budget first, and then answer with noise. With no noise they are exact.

    queries = plan.queries(counts).prepare()      sums may be prepared; nothing is released or booked
    learned = plan.run(queries.open(budget, entropy))

Learners without privacy use the same queries without noise (``noise=None``), or ask for the best model (best.py). Such queries
are never opened and charge nothing; ``private/release.py`` refuses to open them.
"""

import math
from fractions import Fraction
from typing import Any, Self

from ...accounting.ledger import Reservation
from ..counts.secret import Secret
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy, Integers

# One record more is then a factor of 10^444: larger rates would only make numbers too large to be computed well.
LARGEST_RATE = 1024.0


class Queries(Secret):
    """``_noise`` says how epsilon is divided over the queries (a budget of the mechanism); None: answers are exact."""

    _noise: Any
    _reservation: Reservation
    _entropy: Entropy

    @property
    def is_exact(self) -> bool:
        """Whether answers have no noise."""
        return self._noise is None

    def prepare(self) -> Self:
        """Do the slow work that needs no budget. Nothing is released yet."""
        return self

    def open(self, reservation: Reservation, entropy: Entropy) -> Self:
        """From now on, answers are charged to this reservation."""
        self._reservation, self._entropy = reservation, entropy
        return self

    def _charge(self, epsilon: Fraction, what: str, delta: Fraction = Fraction(0)) -> None:
        self._reservation.draw(epsilon, delta, what)

    def _noisy(self, exact: Integers, epsilon: Fraction) -> Integers:
        """Counts that one record changes by at most one in all: with noise for this epsilon, which was charged."""
        return release(exact.ravel(), epsilon, self._entropy).reshape(exact.shape)


def rounded_down(value: Fraction) -> float:
    """The largest float that is not above it, nor above LARGEST_RATE: rounding goes towards more privacy."""
    number = float(min(value, Fraction(LARGEST_RATE)))
    return number if Fraction(number) <= value else math.nextafter(number, 0.0)


def as_row(noisy: Integers) -> tuple[float, ...]:
    """Class counts as a model has them."""
    return tuple(float(count) for count in noisy)

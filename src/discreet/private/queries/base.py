"""What all queries have in common: they charge the budget first, and then answer with noise. With no noise they are exact.

    queries = plan.queries(counts).prepare()      sums may be laid out; nothing leaves, and nothing is booked
    learned = plan.run(queries.open(budget, entropy))

Learners without privacy ask the same queries without noise (``noise=None``), which are never opened and charge nobody;
``private/release.py`` refuses to open such ones.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np

from ...accounting.ledger import Reservation
from ..counts.cells import Array
from ..counts.secret import Secret
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy, Integers

# One record more is then a factor of 10^444: larger rates would only make numbers too large to be computed well.
LARGEST_RATE = 1024.0


class Queries(Secret):
    """``_noise`` says how epsilon is divided over the questions (a budget of the mechanism); None: answers are exact."""

    _noise: Any
    _reservation: Reservation
    _entropy: Entropy

    @property
    def is_exact(self) -> bool:
        """Whether answers have no noise."""
        return self._noise is None

    def prepare(self) -> Self:
        """Do what takes long and needs no budget: no answer is given yet."""
        return self

    def open(self, reservation: Reservation, entropy: Entropy) -> Self:
        """Whatever is asked from now on is charged to this reservation."""
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


class Histograms(Secret):
    """The class counts of one rule list, part by part. Its parts are disjoint, so together they cost one epsilon.

    ``together``: whether that is charged, or an epsilon for each part (as published).
    """

    def __init__(self, epsilon: Fraction, reservation: Reservation, entropy: Entropy, together: bool = True) -> None:
        self._epsilon, self._reservation, self._entropy = epsilon, reservation, entropy
        self._together = together
        self._counted: list[int] | None = None  # the rules whose class counts were given, once there are any
        self._finished = False

    def release(
        self, prefix: Sequence[int], rule: int | None, part: Callable[[Sequence[int], int | None], Array]
    ) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left.

        ``part`` counts them. It is not kept: with the queries that hold this object, it would make a cycle.

        Charged together, they are so at the first (docs/theory.md, Lemma 7). That they belong to one list is checked: each call
        must go on with the list of the one before, and after the default there is none.
        """
        if self._counted is None or not self._together:
            self._reservation.draw(self._epsilon, Fraction(0), "class counts")
        if self._counted is None:
            self._counted = []
        if self._finished or list(prefix) != self._counted:
            raise RuntimeError(
                "class counts of parts that are not those of one rule list: this is a bug in the learner"
            )
        self._finished = rule is None
        if rule is not None:
            self._counted.append(rule)
        noisy = release(part(prefix, rule).astype(np.int64), self._epsilon, self._entropy)
        return tuple(float(c) for c in noisy)

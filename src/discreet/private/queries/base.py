"""What all queries have in common: they charge the budget first, and then answer with noise. With no noise they are exact.

    queries = plan.queries(counts).prepare()      sums may be laid out; nothing leaves, and nothing is booked
    learned = plan.run(queries.open(budget, entropy))

Learners without privacy ask the same queries without noise (``noise=None``), which are never opened and charge nobody;
``private/release.py`` refuses to open such ones.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
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


class ListParts(Queries):
    """The class counts of one rule list, part by part. Its parts are disjoint, so together they cost one epsilon."""

    _counts_together = True  # whether that is charged, or an epsilon for each part (as published)
    _listed: tuple[int | None, ...] | None = (
        None  # the rules whose class counts were given; None at the end is the default
    )

    @abstractmethod
    def _part(self, prefix: Sequence[int], rule: int | None) -> Array:
        """Records per class that a rule captures after a prefix; without a rule, all that is left."""

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left.

        Charged together, they are so at the first (docs/theory.md, Lemma 7). That they belong to one list is checked: each call
        must go on with the list of the one before, and after the default there is none.
        """
        if self._listed is None or not self._counts_together:
            self._charge(self._noise.counts_epsilon, "class counts")
        if tuple(prefix) != (self._listed or ()):
            raise RuntimeError(
                "class counts of parts that are not those of one rule list: this is a bug in the learner"
            )
        self._listed = (*prefix, rule)
        return as_row(self._noisy(self._part(prefix, rule).astype(np.int64), self._noise.counts_epsilon))


def as_row(noisy: Integers) -> tuple[float, ...]:
    """Class counts as a model has them."""
    return tuple(float(count) for count in noisy)

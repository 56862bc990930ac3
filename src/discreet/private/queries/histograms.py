"""Noisy class counts of the parts of one rule list, charged once for all of them, or (as published) for each."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ...accounting.ledger import Reservation
from ..counts.cells import Array
from ..counts.secret import Secret
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy

Part = Callable[[Sequence[int], int | None], Array]


class Histograms(Secret):
    """The class counts of one rule list, part by part. Its parts are disjoint, so together they cost one epsilon.

    ``together``: whether that is charged, or an epsilon for each part.
    """

    def __init__(self, epsilon: Fraction, reservation: Reservation, entropy: Entropy, together: bool = True) -> None:
        self._epsilon, self._reservation, self._entropy = epsilon, reservation, entropy
        self._together = together
        self._counted: list[int] | None = None  # the rules whose class counts were given, once there are any
        self._finished = False

    def release(self, prefix: Sequence[int], rule: int | None, part: Part) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left.

        ``part`` counts them. It is not kept: with the doors that hold this object, it would make a cycle.

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

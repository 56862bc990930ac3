"""The door to private cut points of one column. It charges first, then answers with candidates' numbers."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...accounting.ledger import Reservation
from ..counts.secret import Secret
from ..mechanisms.quantile import QuantileSelector, Stretch
from ..noise.entropy import Entropy, Integers
from .vault import Vault


class CutDoors(Secret):
    """The cuts of several stretches, one charge for all that are asked for together: **they must be disjoint**, which is checked.

    The vault holds one numeric column whose cuts are the candidates. Records without a value belong to no stretch.
    """

    def __init__(self, vault: Vault, choice_epsilon: Fraction, reservation: Reservation, entropy: Entropy) -> None:
        cells = vault._cells
        (column,) = cells.columns
        counts: Integers = np.zeros(column.n_bins, np.int64)
        np.add.at(counts, cells.bins(0), cells.counts.sum(1).astype(np.int64))
        self._counts = counts[:-1]  # the last bin is of missing values
        self._epsilon, self._reservation, self._entropy = choice_epsilon, reservation, entropy
        self._selector = QuantileSelector(choice_epsilon)

    def cut(self, stretches: Sequence[Stretch]) -> list[int]:
        """For each stretch the number of a candidate in it."""
        if any(one.last >= other.first for one, other in pairwise(stretches)):
            raise RuntimeError("stretches that overlap, or in another order: this is a bug in the learner")
        self._reservation.draw(self._epsilon, Fraction(0), "level of cut points")
        return [
            s.first + self._selector.select(self._counts[s.first : s.last + 1], s.part, s.parts, self._entropy)
            for s in stretches
        ]

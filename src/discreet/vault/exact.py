"""Doors without noise, for learners that promise nothing. What they answer is not private."""

import math
from collections.abc import Sequence

import numpy as np

from ..candidates import Candidates
from .cells import Cells
from .counting import Counter
from .impurity import mass, side_mass

TOLERANCE = 1e-9  # of the number of records: masses this close count as equal


class ExactDoors:
    """The doors of a vault, open: the exact answers to what a learner may ask."""

    def __init__(self, cells: Cells, candidates: Candidates, min_support: float = 0.0) -> None:
        self._counter = Counter(cells, candidates)
        self._n_records = float(cells.counts.sum())
        self._min_support = math.floor(min_support * self._n_records) if min_support < 1 else min_support

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """Whether at least ``min_support`` records (if below 1: that share of them, rounded down) are left."""
        return bool(self._counter.left(prefix).sum() >= self._min_support)

    def select(self, prefix: Sequence[int]) -> int | None:
        """The candidate of lowest Gini impurity, or None if no candidate improves on adding no rule.

        Among equals it is the one that captures fewest records, then the earliest.
        """
        left, captured = self._counter.counts(prefix)
        tolerance = TOLERANCE * self._n_records
        size, split = captured.sum(0), mass(left, captured)
        split[size == 0] = np.inf
        best = split.min(initial=np.inf)
        if best >= side_mass(left) - 2 * tolerance:
            return None
        ties = np.flatnonzero(split <= best + tolerance)
        return int(ties[size[ties].argmin()])

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Class counts of what a rule captures after a prefix; without a rule, of all that is left."""
        if rule is None:
            return tuple(self._counter.left(prefix).tolist())
        return tuple(self._counter.counts(prefix).captured[:, rule].tolist())

"""The tables of all sets of groups in one array.

Sets that have all groups but their last in common are a *family*. Its tables lie side by side: there is an axis for each of the
groups in common, and a last one for the bins of all groups after them. So a family is counted, summed or multiplied at once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .groups import Groups
from .secret import Secret

Counts = npt.NDArray[Any]  # of records, or of whatever is added up of them


class Tables(Secret):
    """What is counted in each row (a class, a part, a channel) by the bins of sets of groups: (rows, combinations of bins)."""

    def __init__(
        self, groups: Groups, counts: Counts, mixed: Callable[[Counts], Counts] = lambda counts: counts
    ) -> None:
        """``mixed`` makes other rows of these, whenever some are asked for."""
        self.groups, self.counts, self._mixed = groups, counts, mixed
        self._smaller: dict[tuple[int, ...], Counts] = {}

    def family(self, first: tuple[int, ...]) -> Counts:
        """Of these groups with each one after them: (rows, bins, ..., bins of all groups after them)."""
        if len(first) < self.groups.size - 1:
            if first not in self._smaller:
                self._smaller[first] = self._summed(first)
            return self._smaller[first]
        return self._mixed(self._stored(first))

    def table(self, numbers: tuple[int, ...]) -> Counts:
        """Of groups in ascending order, as many as a set has or fewer: (rows, bins, ..., bins)."""
        if not numbers:
            total: Counts = self.table((0,)).sum(1)
            return total
        first, later = numbers[:-1], self.groups.later(numbers[:-1], numbers[-1])
        if len(numbers) < self.groups.size:
            return self.family(first)[..., later]
        return self._mixed(self._stored(first)[..., later])

    def _stored(self, first: tuple[int, ...]) -> Counts:
        found = self.counts[:, self.groups.families[first]]
        return found.reshape(len(found), *(self.groups.bins[i] for i in first), -1)

    def _summed(self, first: tuple[int, ...]) -> Counts:
        """Over one group more: one before the last of them if there is any, since then the same groups come after."""
        n = len(first)
        other = next(i for i in range(n + 1) if i not in first)
        more = tuple(sorted((*first, other)))
        found: Counts = self.family(more).sum(1 + more.index(other))
        if other < n:
            return found
        # these are the first n groups: the next one has become one of those that are summed over
        missing = self.table((*more, other + 1)).sum(-1)
        return np.concatenate([missing, found], axis=-1)

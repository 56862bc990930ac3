"""Columns of few bins are put together in *groups*, which are then counted as if they were columns.

A group of two Booleans has the nine combinations of their bins. So there are fewer sets to look at. Which columns go together
follows from their numbers of bins alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import prod

LARGEST_GROUP = {1: 1 << 12, 2: 1 << 6, 3: 1 << 4}  # bins of a group of several columns
Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Groups:
    """Which columns are put together, and every so many of these groups.

    >>> groups = Groups.of([3, 12, 3, 3], size=3)
    >>> groups.members, groups.bins
    (((0, 2), (3,), (1,)), (9, 3, 12))
    >>> groups.sets
    ((0, 1, 2),)
    """

    members: Sets  # columns of each group: the first varies fastest
    bins: tuple[int, ...]  # of each group
    size: int  # how many groups a set has

    @classmethod
    def of(cls, bins: Sequence[int], size: int) -> "Groups":
        """For columns of so many bins each, of which any ``size`` have to be counted together."""
        members: list[list[int]] = []
        product = LARGEST_GROUP[size] + 1
        for column in sorted(range(len(bins)), key=lambda i: bins[i]):
            if product * bins[column] > LARGEST_GROUP[size]:
                members.append([])
                product = 1
            members[-1].append(column)
            product *= bins[column]
        found: Sets = tuple(map(tuple, members))
        return cls(found, tuple(prod(bins[i] for i in group) for group in found), min(size, len(found)))

    @property
    def sets(self) -> Sets:
        """Every so many groups."""
        return tuple(combinations(range(len(self.bins)), self.size))

    def columns_of(self, groups: Sequence[int]) -> tuple[int, ...]:
        """The columns of some groups."""
        return tuple(column for group in groups for column in self.members[group])

    def count_places(self) -> int:
        """How many combinations of bins all sets have.

        >>> Groups.of([13, 14, 15], 2).count_places()
        587
        """
        ways = [1] + [0] * self.size
        for n in self.bins:
            ways = [ways[0], *(ways[k] + n * ways[k - 1] for k in range(1, self.size + 1))]
        return ways[self.size]

    @cached_property
    def begins(self) -> tuple[int, ...]:
        """Where the bins of each group begin, if all are next to each other; and at last, where they end."""
        return (0, *accumulate(self.bins))

    @cached_property
    def families(self) -> dict[tuple[int, ...], slice]:
        """All groups but the last of some sets, and where these sets are, if all are next to each other (marginals.py)."""
        found, end = {}, 0
        for first in combinations(range(len(self.bins)), self.size - 1):
            begin = end
            end += prod(self.bins[i] for i in first) * self.width(first)
            if end > begin:
                found[first] = slice(begin, end)
        return found

    def width(self, first: Sequence[int]) -> int:
        """How many bins there are in the groups after these."""
        return self.begins[-1] - self.begins[first[-1] + 1 if first else 0]

    def later(self, first: Sequence[int], last: int) -> slice:
        """Where the bins of a group are among those of the groups after these."""
        begin = self.begins[-1] - self.width(first)
        return slice(self.begins[last] - begin, self.begins[last + 1] - begin)

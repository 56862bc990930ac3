"""The other form of counts: records of each class by the bins of every one, two or three *columns*.

Where no two records agree in all columns, patterns are as many as records, and whatever is held of patterns times candidates is
too much. But short lists and shallow trees ask less: how many records of each class two or three *literals* hold of. These follow
from the bins of two or three columns (joint.py), however many records there are: to count them takes a few nanoseconds for each
record and each set of columns, and memory for the tables alone.

Columns of few bins are put together in *groups*, which are then counted as if they were columns: a group of two Booleans has the
nine combinations of their bins. So there are fewer sets to look at. Which columns go together follows from their numbers of bins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby
from math import prod

import numpy as np
import numpy.typing as npt

from ..common.threads import mapped
from ..schema.columns import Column
from .cells import Array, Cells
from .division import OUTSIDE, Division
from .packing import Packing, starts
from .secret import Secret

LARGEST = 3  # columns that can be counted together
LARGEST_GROUP = {1: 1 << 12, 2: 1 << 6, 3: 1 << 4}  # bins of a group of several columns
ROWS = 1 << 15  # records looked at together: the numbers of their places should stay in the processor's cache
MANY = 1 << 12  # so many records, in all sets, are worth more than one thread
FEW = 1 << 15  # bins of records in groups: so many are counted in several sets at once
Numbers = npt.NDArray[np.intp]
Counts = npt.NDArray[np.unsignedinteger]
Sets = tuple[tuple[int, ...], ...]
Bins = Sequence[npt.NDArray[np.integer]]  # of each column, or group
Family = tuple[tuple[int, ...], list[tuple[int, int]]]


@dataclass(frozen=True)
class Groups:
    """Which columns are put together, and every so many of these groups.

    >>> groups = Groups.of([3, 12, 3, 3], size=3)
    >>> groups.members, groups.bins
    (((0, 2), (3,), (1,)), (9, 3, 12))
    >>> groups.sets
    ((0, 1, 2),)
    """

    members: tuple[tuple[int, ...], ...]  # columns of each group: the first varies fastest
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
        found = tuple(map(tuple, members))
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


class TuplesInProgress:
    """Tuples being filled, chunk by chunk. Equal records in any order and any chunks give equal tuples."""

    def __init__(self, columns: Sequence[Column], n_classes: int, size: int, division: Division | None = None) -> None:
        self.columns, self.n_classes, self.division = tuple(columns), n_classes, division or Division()
        bins = [column.n_bins for column in self.columns]
        self.groups = Groups.of(bins, size)
        self._sets, self._bins = self.groups.sets, self.groups.bins
        self._layers = self.division.n_parts * n_classes
        sizes = [prod(self._bins[i] for i in numbers) for numbers in self._sets]
        self._starts = np.cumsum([0, *sizes])
        self._counts: Counts = np.zeros((self._layers, self._starts[-1]), np.uint32)
        self._totals = [0] * len(self._sets)
        self._packing = Packing([n_classes, *bins])
        self._collapses = True  # until a chunk of records shows that they do not

    @property
    def sets(self) -> Sets:
        """The columns of each set, for whoever counts them elsewhere."""
        return tuple(self.groups.columns_of(numbers) for numbers in self._sets)

    def add(self, bins: Bins, labels: npt.NDArray[np.integer]) -> None:
        """Count records, given by their bin number in each column and the number of their class."""
        times = None
        if self._collapses and len(labels):  # of records that agree in everything, look at one
            order = np.argsort(keys := self._packing.pack([labels, *bins], len(labels)), kind="stable")
            first = np.flatnonzero(starts(keys[order]))
            self._collapses = 2 * len(first) <= len(order)
            if self._collapses:
                one = order[first]
                times = np.diff(first, append=len(order)).astype(np.float64)
                bins, labels = [b[one] for b in bins], labels[one]
        self._add(bins, labels, times)

    def add_cells(self, cells: Cells, which: Sequence[int]) -> None:
        """Count the records of cells; ``which`` are the cells' columns that stand for those here."""
        for start in range(0, len(cells), ROWS):
            rows = slice(start, start + ROWS)
            bins = [cells.bins(i, rows) for i in which]
            counts = cells.counts[rows]
            for label in range(self.n_classes):
                some = np.flatnonzero(counts[:, label])
                labels = np.full(len(some), label)
                self._add([b[some] for b in bins], labels, counts[some, label].astype(np.float64))

    def add_counted(self, number: int, places: Numbers, layers: Numbers, times: Numbers) -> None:
        """Count records that an engine has counted by the bins of one set, the first column of which varies fastest.

        ``layers`` number the class and the part: class + classes * part.
        """
        shape = [self._bins[i] for i in self._sets[number]]
        if len(places) and not (
            places.min() >= 0 and places.max() < prod(shape) and layers.min() >= 0 and layers.max() < self._layers
        ):
            raise AssertionError(
                "an engine answered with a combination of bins that is none: this is a bug in its source"
            )
        index = layers.astype(np.intp)
        for n, b in zip(shape, np.unravel_index(places, shape, order="F"), strict=True):
            index = index * n + b
        self._expect(int(times.sum()), number)  # sets come in any order
        self._put(number, np.bincount(index, times, self._length(number)))

    def finish(self) -> "Tuples":
        """The tuples of all records added."""
        return Tuples(self.columns, self.n_classes, self.division.n_parts, self.groups, self._starts, self._counts)

    def _add(self, bins: Bins, labels: npt.NDArray[np.integer], times: Array | None) -> None:
        layer = labels.astype(np.intp)
        part = self.division.find(bins, len(layer))
        if part is not None:
            layer += self.n_classes * part
            counted = np.flatnonzero(part != OUTSIDE)
            if len(counted) < len(part):
                bins, layer = [b[counted] for b in bins], layer[counted]
                times = None if times is None else times[counted]
        grouped = [self._together(bins, group) for group in self.groups.members]
        self._expect(len(layer) if times is None else int(times.sum()))
        if len(layer) * len(grouped) <= FEW:
            together = np.array(grouped, np.intp)
            for family in self._families:
                self._add_at_once(family, together, layer, times)
            return
        on_threads = mapped if len(layer) >= MANY and len(self._families) > 1 else map
        for _ in on_threads(lambda family: self._add_family(family, grouped, layer, times), self._families):
            pass

    @cached_property
    def _families(self) -> list[Family]:
        """Sets that have all groups but their last in common: these first groups, and the last ones, with their numbers."""
        together = groupby(enumerate(self._sets), key=lambda numbered: numbered[1][:-1])
        return [(first, [(number, s[-1]) for number, s in some]) for first, some in together]

    def _add_family(self, family: Family, bins: Bins, layer: Numbers, times: Array | None) -> None:
        """The place of a record in a set's table is (layer, bins of its groups). Families do not share any table."""
        first, several = family
        for start in range(0, len(layer), ROWS):
            rows = slice(start, start + ROWS)
            weights = None if times is None else times[rows]
            joint = layer[rows]
            for i in first:
                joint = joint * self._bins[i]
                joint += bins[i][rows]
            index = np.empty_like(joint)
            scaled: dict[int, Numbers] = {}
            for number, k in several:
                n = self._bins[k]
                if n not in scaled:
                    scaled[n] = joint * n
                np.add(scaled[n], bins[k][rows], out=index, casting="unsafe")
                self._put(number, np.bincount(index, weights, self._length(number)))

    def _add_at_once(self, family: Family, bins: Numbers, layer: Numbers, times: Array | None) -> None:
        """The same for few records: the tables of a family are next to each other, and are counted as if they were one."""
        first, several = family
        (number, k), n = several[0], len(several)
        begin, end = self._starts[number], self._starts[number + n]
        joint = np.zeros(len(layer), np.intp)
        for i in first:
            joint = joint * self._bins[i] + bins[i]
        index = joint * np.array(self._bins[k : k + n])[:, None]
        index += bins[k : k + n]
        index += layer * (end - begin)
        index += (self._starts[number : number + n] - begin)[:, None]
        weights = None if times is None else np.tile(times, n)
        counts = np.bincount(index.ravel(), weights, self._layers * (end - begin))
        self._counts[:, begin:end] += counts.astype(self._counts.dtype).reshape(self._layers, -1)

    def _together(self, bins: Bins, group: Sequence[int]) -> npt.NDArray[np.integer]:
        """The bin of a group: the first of its columns varies fastest."""
        if len(group) == 1:
            return bins[group[0]]
        together = np.zeros(len(bins[group[0]]), np.intp)
        for i in reversed(group):
            together = together * self.columns[i].n_bins + bins[i]
        return together

    def _length(self, number: int) -> int:
        return self._layers * int(self._starts[number + 1] - self._starts[number])

    def _expect(self, more: int, number: int = 0) -> None:
        """So many more records in a set; four bytes a count are enough for 2**32 of them."""
        self._totals[number] += more
        if self._totals[number] >= 2**32:
            self._counts = self._counts.astype(np.uint64, copy=False)

    def _put(self, number: int, counts: npt.NDArray[np.generic]) -> None:
        place = slice(self._starts[number], self._starts[number + 1])
        self._counts[:, place] += counts.astype(self._counts.dtype).reshape(self._layers, -1)


class Tuples(Secret):
    """Exact class counts by the bins of sets of columns, in each part of the records. They stay in the vault."""

    def __init__(
        self,
        columns: tuple[Column, ...],
        n_classes: int,
        n_parts: int,
        groups: Groups,
        starts: npt.NDArray[np.int64],
        counts: Counts,
    ) -> None:
        self.columns, self.n_classes, self.n_parts, self.groups = columns, n_classes, n_parts, groups
        self._number = {numbers: i for i, numbers in enumerate(groups.sets)}
        self._starts, self._counts = starts.tolist(), counts
        self._smaller: dict[tuple[tuple[int, ...], int], Counts] = {}

    def counts(self, numbers: tuple[int, ...], part: int) -> Counts:
        """Of groups in ascending order, as many as a set has or fewer: (classes, bins, ..., bins)."""
        if len(numbers) < self.groups.size:
            if (numbers, part) not in self._smaller:
                self._smaller[numbers, part] = self._summed(numbers, part)
            return self._smaller[numbers, part]
        found = self.in_part(part)[:, self.places(numbers)]
        return found.reshape(self.n_classes, *(self.groups.bins[i] for i in numbers))

    def in_part(self, part: int) -> Counts:
        """Of all sets, one after the other: (classes, combinations of bins)."""
        return self._counts[part * self.n_classes : (part + 1) * self.n_classes]

    def places(self, numbers: tuple[int, ...]) -> slice:
        """Where a set is among all of them."""
        number = self._number[numbers]
        return slice(self._starts[number], self._starts[number + 1])

    def _summed(self, numbers: tuple[int, ...], part: int) -> Counts:
        """Over one group more than is asked for."""
        other = next(i for i in range(len(self.groups.bins)) if i not in numbers)
        more = tuple(sorted((*numbers, other)))
        less: Counts = self.counts(more, part).sum(1 + more.index(other))
        return less

    def of_column(self, column: int, part: int = 0) -> Counts:
        """Class counts by the bins of one column: (classes, bins)."""
        group = next(i for i, members in enumerate(self.groups.members) if column in members)
        members = self.groups.members[group]
        bins = [self.columns[i].n_bins for i in reversed(members)]  # the first of a group varies fastest
        by_bins = self.counts((group,), part).reshape(self.n_classes, *bins)
        others = tuple(1 + k for k, i in enumerate(reversed(members)) if i != column)
        alone: Counts = by_bins.sum(others, dtype=np.uint64)
        return alone

    def table(self, numbers: Sequence[int], part: int = 0) -> Array:
        """Class counts by the bins of some different groups: (classes, bins, ..., bins)."""
        ascending = tuple(sorted(numbers))
        counts = self.counts(ascending, part).astype(np.float64)
        return counts.transpose(0, *(1 + ascending.index(n) for n in numbers))


def tuples_of(cells: Cells, columns: Sequence[Column], size: int, division: Division | None = None) -> Tuples:
    """The tuples of the records of cells; those of all records are kept for the next who asks."""
    key = tuple(column.name for column in columns), size
    if division is None and key in cells.counted:
        known: Tuples = cells.counted[key]
        return known
    filling = TuplesInProgress(columns, cells.n_classes, size, division)
    number = {column.name: i for i, column in enumerate(cells.columns)}
    filling.add_cells(cells, [number[column.name] for column in columns])
    counted = filling.finish()
    if division is None:
        cells.counted = {key: counted}  # not more than one: they may be large
    return counted

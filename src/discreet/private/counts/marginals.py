"""The other form of counts: records of each class by the bins of every one, two or three *columns*.

Where hardly two records agree in all columns, there are as many patterns as records, and patterns times candidates need too much
memory. But short lists and shallow trees need less: of how many records of each class two or three *literals* are true. These
counts follow from the bins of two or three columns (joint.py); counting takes a few nanoseconds for each record and each set of
columns, and memory for the tables alone.

Columns of few bins are counted together, in groups (groups.py). The tables of all sets of groups are in one array. Sets that have
all groups but their last in common are a *family*, whose tables lie side by side: there is an axis for each of the groups in
common, and a last one for the bins of all groups after them. So a family is counted, summed or multiplied at once.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._utils.parallel import mapped
from ...schema.columns import Column
from .division import OUTSIDE, Division
from .groups import Groups, Sets
from .patterns import Array, Counts, Packing, PatternCounts, starts
from .secret import Secret

LARGEST = 3  # columns that can be counted together
ROWS = 1 << 14  # records looked at together: the numbers of their places should stay in the processor's cache
MANY = 1 << 12  # so many records, in all sets, are worth more than one thread
Numbers = npt.NDArray[np.intp]
Summed = npt.NDArray[Any]  # counts, or whatever is added up of them
Bins = Sequence[npt.NDArray[np.integer]]  # of each column


class Tables(Secret):
    """What is counted in each row (a class, a part, a channel) by the bins of sets of groups: (rows, combinations of bins)."""

    def __init__(
        self, groups: Groups, counts: Summed, mixed: Callable[[Summed], Summed] = lambda counts: counts
    ) -> None:
        """``mixed`` makes other rows of these, whenever some are asked for."""
        self.groups, self.counts, self._mixed = groups, counts, mixed
        self._smaller: dict[tuple[int, ...], Summed] = {}

    def family(self, first: tuple[int, ...]) -> Summed:
        """Of these groups with each one after them: (rows, bins, ..., bins of all groups after them)."""
        if len(first) < self.groups.size - 1:
            if first not in self._smaller:
                self._smaller[first] = self._summed(first)
            return self._smaller[first]
        return self._mixed(self._stored(first))

    def table(self, numbers: Sequence[int]) -> Summed:
        """Of some different groups, as many as a set has or fewer: (rows, bins, ..., bins), in the order asked for."""
        if not numbers:
            total: Summed = self.table((0,)).sum(1)
            return total
        *others, last = ascending = sorted(numbers)
        first, later = tuple(others), self.groups.later(others, last)
        small = len(numbers) < self.groups.size
        found = self.family(first)[..., later] if small else self._mixed(self._stored(first)[..., later])
        return found.transpose(0, *(1 + ascending.index(i) for i in numbers))

    def _stored(self, first: tuple[int, ...]) -> Summed:
        found = self.counts[:, self.groups.families[first]]
        return found.reshape(len(found), *(self.groups.bins[i] for i in first), -1)

    def _summed(self, first: tuple[int, ...]) -> Summed:
        """Over one group more: one before the last of them if there is any, since then the same groups come after."""
        n = len(first)
        other = next(i for i in range(n + 1) if i not in first)
        more = tuple(sorted((*first, other)))
        found: Summed = self.family(more).sum(1 + more.index(other))
        if other < n:
            return found
        # these are the first n groups: the next one has become one of those that are summed over
        missing = self.table((*more, other + 1)).sum(-1)
        return np.concatenate([missing, found], axis=-1)


class MarginalsInProgress:
    """MarginalTables being filled, chunk by chunk. Equal records in any order and any chunks give equal marginals."""

    def __init__(self, columns: Sequence[Column], n_classes: int, size: int, division: Division | None = None) -> None:
        self.columns, self.n_classes, self.division = tuple(columns), n_classes, division or Division()
        bins = [column.n_bins for column in self.columns]
        self.groups = Groups.of(bins, size)
        self._layers = self.division.n_parts * n_classes
        self._tables = Tables(self.groups, np.zeros((self._layers, self.groups.count_places()), np.uint32))
        self._totals = [0] * len(self.groups.sets)
        self._packing = Packing([n_classes, *bins])
        self._collapses = True  # until a chunk of records shows that they do not

    @property
    def sets(self) -> Sets:
        """The columns of each set, for whoever counts them elsewhere."""
        return tuple(self.groups.columns_of(numbers) for numbers in self.groups.sets)

    def add(self, bins: Bins, labels: npt.NDArray[np.integer], times: Array | None = None) -> None:
        """Count records, given by their bin number in each column and the number of their class: once, or so many times."""
        if times is None and self._collapses and len(labels):  # of records that agree in everything, look at one
            order = np.argsort(keys := self._packing.pack([labels, *bins], len(labels)), kind="stable")
            first = np.flatnonzero(starts(keys[order]))
            self._collapses = 2 * len(first) <= len(order)
            if self._collapses:
                one, times = order[first], np.diff(first, append=len(order)).astype(np.float64)
                bins, labels = [b[one] for b in bins], labels[one]
        layer = labels.astype(np.intp)
        part = self.division.find(bins, len(layer))
        if part is not None:
            counted = np.flatnonzero(part != OUTSIDE)
            bins, layer = [b[counted] for b in bins], (layer + self.n_classes * part)[counted]
            times = None if times is None else times[counted]
        self._expect(len(layer) if times is None else int(times.sum()))
        begins, families = self.groups.begins, self.groups.families
        side_by_side = np.empty((len(begins) - 1, len(layer)), np.min_scalar_type(begins[-1]))
        for begin, group, place in zip(begins, self.groups.members, side_by_side, strict=False):
            together: Any = 0
            for i in reversed(group):  # the first of its columns varies fastest
                together = together * self.columns[i].n_bins + bins[i].astype(np.intp)
            place[:] = together + begin
        on_threads = mapped if len(layer) >= MANY and len(families) > 1 else map
        for _ in on_threads(lambda first: self._add_family(first, side_by_side, layer, times), families):
            pass

    def add_counted(self, number: int, places: Numbers, layers: Numbers, times: Numbers) -> None:
        """Count records that an engine has counted by the bins of one set, the first column of which varies fastest.

        ``layers`` number the class and the part: class + classes * part.
        """
        groups = self.groups.sets[number]
        shape = [self.groups.bins[i] for i in groups]
        if len(places) and not (
            places.min() >= 0 and places.max() < prod(shape) and layers.min() >= 0 and layers.max() < self._layers
        ):
            raise AssertionError("an engine returned an impossible combination of bins: this is a bug in its source")
        index = np.ravel_multi_index((layers, *np.unravel_index(places, shape, order="F")), (self._layers, *shape))
        self._expect(int(times.sum()), number)  # sets come in any order
        _put(self._tables.table(groups), np.bincount(index, times, self._layers * prod(shape)))

    def finish(self) -> "MarginalTables":
        """The marginals of all records added."""
        return MarginalTables(self.columns, self.n_classes, self.groups, self._tables.counts)

    def _add_family(
        self, first: tuple[int, ...], side_by_side: npt.NDArray[np.integer], layer: Numbers, times: Array | None
    ) -> None:
        """Its tables lie side by side, and are counted as if they were one. Families do not share any table."""
        begins, width = self.groups.begins, self.groups.width(first)
        family, later = self._tables.family(first), side_by_side[first[-1] + 1 if first else 0 :]
        for start in range(0, len(layer), ROWS):
            rows = slice(start, start + ROWS)
            place = layer[rows]  # in the table of a layer and these groups
            for i in first:
                place = place * self.groups.bins[i] + side_by_side[i, rows] - begins[i]
            index = place * width - (begins[-1] - width) + later[:, rows]
            weights = None if times is None else np.tile(times[rows], len(later))
            _put(family, np.bincount(index.ravel(), weights, family.size))

    def _expect(self, more: int, number: int = 0) -> None:
        """So many more records in a set; four bytes a count are enough for 2**32 of them."""
        self._totals[number] += more
        if self._totals[number] >= 2**32 and self._tables.counts.dtype != np.uint64:
            self._tables = Tables(self.groups, self._tables.counts.astype(np.uint64))


def _put(table: Counts, counts: npt.NDArray[np.generic]) -> None:
    """Add what was counted, in the order of the table's places. There may be gaps between them."""
    table += counts.astype(table.dtype).reshape(table.shape)


class MarginalTables(Tables):
    """Exact counts by the bins of sets of columns, with a row for each class in each part. They stay private."""

    def __init__(self, columns: tuple[Column, ...], n_classes: int, groups: Groups, counts: Counts) -> None:
        super().__init__(groups, counts)
        self.columns, self.n_classes = columns, n_classes
        self._parts = [Tables(groups, counts[i : i + n_classes]) for i in range(0, len(counts), n_classes)]

    @property
    def n_parts(self) -> int:
        """How many parts of the records are counted."""
        return len(self._parts)

    def in_part(self, part: int) -> Tables:
        """Class counts of all sets in one part of the records."""
        return self._parts[part]

    def of_column(self, column: int, part: int = 0) -> Counts:
        """Class counts by the bins of one column in one part: (classes, bins)."""
        counts: Counts = self.in_parts(column)[part]
        return counts

    def in_parts(self, column: int) -> Counts:
        """The same in each part: (parts, classes, bins)."""
        group = next(i for i, members in enumerate(self.groups.members) if column in members)
        members = self.groups.members[group][::-1]  # the first of a group varies fastest
        by_bins = self.table((group,)).reshape(self.n_parts, self.n_classes, *(self.columns[i].n_bins for i in members))
        alone: Counts = by_bins.sum(tuple(2 + k for k, i in enumerate(members) if i != column), dtype=np.uint64)
        return alone


def marginals_of(
    patterns: PatternCounts, columns: Sequence[Column], size: int, division: Division | None = None
) -> MarginalTables:
    """The marginals of the records of patterns; those of all records are kept for the next who asks."""
    key = tuple(column.name for column in columns), size
    if division is None and key in patterns.counted:
        known: MarginalTables = patterns.counted[key]
        return known
    filling = MarginalsInProgress(columns, patterns.n_classes, size, division)
    patterns.add_to(filling)
    counted = filling.finish()
    if division is None:
        patterns.counted = {key: counted}  # not more than one: they may be large
    return counted

"""How many records of each class have a total of points in each range, also by the bins of a column.

The first is what the risks of a score card rest on, the second what a column adds to the card so far.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ...rules.column_parts import Weights
from ...schema.columns import Column
from ..noise.entropy import Integers
from .division import Division
from .patterns import Array, Numbers
from .secret import Secret

D = TypeVar("D", bound=Division)
Cards = Sequence[tuple[float, Mapping[int, Array]]]  # where to start, and by the number of the column its points by bin


@dataclass(frozen=True, eq=False)
class ByTotal(Division):
    """Records by the total of their points: those of the card that the first box with the record in it has, or else of the first.

    A record is in the part of the first limit that its total is below, or in the last one: in one part. With ``apart``, each card
    has parts of its own, one card's after the other's.
    """

    cards: Cards = ()
    limits: Sequence[float] = ()
    apart: bool = False

    def find(self, bins: Sequence[Numbers], n: int) -> npt.NDArray[np.intp]:
        """The part of each of n records."""
        card, total, number = super().find(bins, n), np.zeros(n), np.zeros(n, np.intp)
        for place, (start, points) in enumerate(self.cards):
            own: Any = slice(None) if card is None else np.flatnonzero(card == place)
            found = np.full(len(total[own]), start)
            for column, by_bin in points.items():
                found += by_bin.take(bins[column][own])
            total[own] = found
        for limit in self.limits:
            number += total >= limit
        return number if card is None or not self.apart else number + (len(self.limits) + 1) * card


def columns_of(division: Division) -> set[int]:
    """The columns that decide in which part a record is."""
    points = [by_bin for _, by_bin in division.cards] if isinstance(division, ByTotal) else []
    return {column for some in (*(box for box, _ in division.boxes), *points) for column in some}


def renumbered(division: D, which: Sequence[int] | Mapping[int, int]) -> D:
    """The same where columns have other numbers: ``which`` has the new one of each."""
    moved = replace(division, boxes=[({which[i]: true for i, true in box.items()}, n) for box, n in division.boxes])
    if not isinstance(moved, ByTotal):
        return moved
    return replace(moved, cards=[(start, {which[i]: p for i, p in points.items()}) for start, points in moved.cards])


def weighed(counts: Integers, weights: Weights, leaf: int) -> Integers:
    """Of the records of a leaf, sums of weights in each class and bin, from counts by class, range of each card, and bin."""
    ranges = len(weights.limits) + 1
    own = counts[:, leaf * ranges : (leaf + 1) * ranges]
    return np.asarray((own * weights.by_range[..., None]).sum(1))


class TotalsInProgress(Secret):
    """Counts being filled, chunk by chunk, as marginals are (marginals.py): one for each class and part.

    With ``beside``, the number of a column, one for each class, part and bin of that column. Of the columns that it is given,
    ``columns`` are those that are needed: no others are read again. What is counted has the number
    ``bin + bins * (class + classes * part)``.
    """

    def __init__(self, columns: Sequence[Column], n_classes: int, division: ByTotal, beside: int | None = None) -> None:
        used = sorted(columns_of(division) | ({beside} if beside is not None else set()))
        place = {column: number for number, column in enumerate(used)}
        self.columns, self.n_classes = tuple(columns[i] for i in used), n_classes
        self.division = renumbered(division, place)
        self.beside = None if beside is None else place[beside]
        self.bins = 1 if beside is None else columns[beside].n_bins
        self._counts = np.zeros(self.bins * division.n_parts * n_classes, np.int64)

    def add(self, bins: Sequence[Numbers], labels: Numbers, times: Array | None = None) -> None:
        """Count records, given by their bin number in each column and the number of their class: once, or so many times."""
        layers = labels + self.n_classes * self.division.find(bins, len(labels))
        self.add_counted(0, np.intp(0) if self.beside is None else bins[self.beside], layers, times)

    @property
    def sets(self) -> Sequence[Sequence[int]]:
        """By which columns records are counted in each class and part: one set."""
        return [() if self.beside is None else (self.beside,)]

    def add_counted(self, number: int, places: Any, layers: Numbers, times: Any) -> None:
        """Count records, such as an engine has counted by the bins of the only set, and by class + classes * part."""
        self._counts += np.bincount(layers * self.bins + places, times, len(self._counts)).astype(np.int64)

    def finish(self) -> Integers:
        """Of all records added: (classes, parts), or (classes, parts, bins)."""
        counts = self._counts.reshape(self.division.n_parts, self.n_classes, self.bins).swapaxes(0, 1)
        return counts[..., 0] if self.beside is None else counts

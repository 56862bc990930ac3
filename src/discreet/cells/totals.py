"""How many records of each class have a total of points in each range: what the risks of a score card rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..schema.columns import Column
from .cells import Array, Cells
from .division import Division
from .secret import Secret
from .tuples import ROWS


@dataclass(frozen=True, eq=False)
class ByTotal(Division):
    """Records by the total of their points: those of the card that the first box with the record in it has, or else of the first.

    A record is in the part of the first limit that its total is below, or in the last one: in one part.
    """

    cards: Sequence[
        tuple[float, Mapping[int, Array]]
    ] = ()  # where to start, and by the number of the column its points by bin
    limits: Sequence[float] = ()

    def find(self, bins: Sequence[npt.NDArray[np.integer]], n: int) -> npt.NDArray[np.intp]:
        """The part of each of n records."""
        card, total = super().find(bins, n), np.zeros(n)
        for number, (start, points) in enumerate(self.cards):
            own = None if card is None else np.flatnonzero(card == number)
            found = np.full(n if own is None else len(own), start)
            for column, by_bin in points.items():
                found += by_bin.take(bins[column] if own is None else bins[column][own])
            total[slice(None) if own is None else own] = found
        part = np.zeros(n, np.min_scalar_type(len(self.limits)))
        for limit in self.limits:  # a search takes three times as long
            part += total >= limit
        return part.astype(np.intp)


def columns_of(division: Division) -> set[int]:
    """The columns that decide in which part a record is."""
    points = [by_bin for _, by_bin in division.cards] if isinstance(division, ByTotal) else []
    return {column for some in (*(box for box, _ in division.boxes), *points) for column in some}


D = TypeVar("D", bound=Division)


def renumbered(division: D, which: Sequence[int] | Mapping[int, int]) -> D:
    """The same where columns have other numbers: ``which`` has the new one of each."""
    moved = replace(division, boxes=[({which[i]: true for i, true in box.items()}, n) for box, n in division.boxes])
    if not isinstance(moved, ByTotal):
        return moved
    return replace(moved, cards=[(start, {which[i]: p for i, p in points.items()}) for start, points in moved.cards])


class TotalsInProgress(Secret):
    """Counts being filled, chunk by chunk, as tuples are (tuples.py): one for each class and range.

    Of the columns that it is given, ``columns`` are those that the total depends on: no others are read again.
    """

    def __init__(self, columns: Sequence[Column], n_classes: int, division: ByTotal) -> None:
        used = sorted(columns_of(division))
        self.columns, self.n_classes = tuple(columns[i] for i in used), n_classes
        self.division = renumbered(division, {column: number for number, column in enumerate(used)})
        self._counts = np.zeros(division.n_parts * n_classes, np.int64)

    def add(self, bins: Sequence[npt.NDArray[np.integer]], labels: npt.NDArray[np.integer]) -> None:
        """Count records, given by their bin number in each column and the number of their class."""
        for start in range(0, len(labels), ROWS):
            rows = slice(start, start + ROWS)
            self._add([b[rows] for b in bins], labels[rows].astype(np.intp))

    def add_cells(self, cells: Cells, which: Sequence[int]) -> None:
        """Count the records of cells; ``which`` are the cells' columns that stand for those here."""
        for start in range(0, len(cells), ROWS):
            rows = slice(start, start + ROWS)
            bins, counts = [cells.bins(i, rows) for i in which], cells.counts[rows]
            for label in range(self.n_classes):
                self._add(bins, np.full(len(counts), label, np.intp), counts[:, label].astype(np.float64))

    def add_counted(self, layers: npt.NDArray[np.intp], times: npt.NDArray[np.intp]) -> None:
        """Count records that an engine has counted. ``layers`` number the class and the range: class + classes * range."""
        self._counts += np.bincount(layers.astype(np.intp), times, len(self._counts)).astype(np.int64)

    def finish(self) -> npt.NDArray[np.int64]:
        """Of all records added: (classes, ranges)."""
        return self._counts.reshape(self.division.n_parts, self.n_classes).T

    def _add(
        self,
        bins: Sequence[npt.NDArray[np.integer]],
        labels: npt.NDArray[np.intp],
        times: npt.NDArray[np.float64] | None = None,
    ) -> None:
        layers = labels + self.n_classes * self.division.find(bins, len(labels))
        self._counts += np.bincount(layers, times, len(self._counts)).astype(np.int64)


def totals_of(cells: Cells, columns: Sequence[Column], division: ByTotal) -> npt.NDArray[np.int64]:
    """The same of the records of cells."""
    filling = TotalsInProgress(columns, cells.n_classes, division)
    number = {column.name: i for i, column in enumerate(cells.columns)}
    filling.add_cells(cells, [number[column.name] for column in filling.columns])
    return filling.finish()

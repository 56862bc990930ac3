"""The table as a learner needs it: each distinct pattern of bin numbers, with the number of records of each class in it.

Everything a learner ever asks of the data is a sum over cells, so after one pass over the records none of its costs
depends on how many there are. Adult's 48,842 records, in the published Boolean features, are 540 cells.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...schema.columns import Column
from .packing import Packing, Tally, starts
from .secret import Secret

Array = npt.NDArray[np.float64]

BLOCK = 1 << 18


class CellsInProgress:
    """Cells being filled, chunk by chunk. Equal records in any order and any chunks give equal cells."""

    def __init__(self, columns: Sequence[Column], n_classes: int) -> None:
        self.columns = tuple(columns)
        self._n_classes = n_classes
        # The label varies fastest, so that the classes of one pattern end up side by side.
        self._packing = Packing([n_classes, *(column.n_bins for column in columns)])
        self._tally = Tally()

    @property
    def bytes_each(self) -> int:
        """The most memory that a pattern takes while cells are filled: a key and a count for each class, twice."""
        return 2 * 8 * (self._packing.n_words + 1) * self._n_classes

    def add(self, bins: Sequence[npt.NDArray[np.integer]], labels: npt.NDArray[np.integer]) -> None:
        """Count records, given by their bin number in each column and the number of their class."""
        self._tally.add(self._packing.pack([labels, *bins], len(labels)))

    @property
    def places(self) -> Sequence[tuple[int, int]]:
        """The word that each column is packed into, and by what its bin number is multiplied there."""
        return self._packing.places[1:]

    def add_counted(
        self,
        words: Sequence[npt.NDArray[np.integer]],
        labels: npt.NDArray[np.integer],
        times: npt.NDArray[np.integer],
    ) -> None:
        """Count records that an engine has counted: how many there are of each pattern, packed as ``places`` says, and class."""
        packed = np.zeros((len(labels), self._packing.n_words), np.uint64)
        for numbers, word in zip(words, packed.T, strict=True):
            word[:] = numbers
        for numbers, end in zip([labels, *words], [self._n_classes, *self._packing.ends], strict=True):
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < end):
                raise AssertionError("an engine answered with a pattern that is none: this is a bug in its source")
        packed[:, 0] += labels.astype(np.uint64)
        self._tally.add(self._packing.keys(packed), times.astype(np.uint64))

    def finish(self) -> "Cells":
        """The cells of all records added."""
        keys, counts = self._tally.result()
        words = self._packing.words(keys)
        del keys
        # A key is a pattern and a label. Split them a block at a time: this is where memory is at its peak.
        labels = np.empty(len(words), np.min_scalar_type(self._n_classes))
        for block in _blocks(len(words)):
            labels[block] = self._packing.unpack(words[block], 0)
            words[block, 0] -= labels[block]
        first = np.zeros(len(words), bool)  # where a new pattern begins
        for word in words.T:
            first |= starts(word)
        patterns = words[first]
        del words
        by_class = np.zeros((len(patterns), self._n_classes), counts.dtype)
        last = -1
        for block in _blocks(len(counts)):
            cell = last + np.cumsum(first[block])
            by_class[cell, labels[block]] = counts[block]
            last = cell[-1]
        return Cells(self.columns, self._packing, patterns, by_class)


def _blocks(length: int) -> Iterator[slice]:
    return (slice(i, i + BLOCK) for i in range(0, length, BLOCK))


class Cells(Secret):
    """Distinct patterns and their exact class counts. They stay in the vault: no printing, no pickling, no copying."""

    def __init__(
        self,
        columns: tuple[Column, ...],
        packing: Packing,
        patterns: npt.NDArray[np.uint64],
        counts: npt.NDArray[np.unsignedinteger],
    ) -> None:
        self.columns = columns
        self.counts = counts
        self._packing = packing
        self._patterns = patterns
        self.counted: dict[Any, Any] = {}  # what was asked for before (tuples.py, private/sampling/problem.py)

    def __len__(self) -> int:
        return len(self._patterns)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.counts.shape[1])

    def bins(self, column: int, rows: slice = slice(None)) -> npt.NDArray[np.intp]:
        """The bin number of each cell (or of some rows of them) in one column."""
        return self._packing.unpack(self._patterns[rows], column + 1).astype(np.intp)

    def sums_by_bin(self, weights: Array, rows: slice) -> list[Array]:
        """The weight of each class in each bin of each column, where ``weights`` (classes x cells) are those of some rows.

        Patterns stand in order, with the first column varying fastest. So once a column is summed out, few rows are left for the
        next one.
        """
        words, sums = self._patterns[rows].copy(), []
        for i, column in enumerate(self.columns):
            word, stride = self._packing.places[i + 1]
            bins = self._packing.unpack(words, i + 1)
            places = bins.astype(np.intp)
            sums.append(np.array([np.bincount(places, weight, column.n_bins) for weight in weights]))
            words[:, word] -= bins * np.uint64(stride)
            first = np.zeros(len(words), bool)
            for part in words.T:
                first |= starts(part)
            kept = np.flatnonzero(first)
            if len(kept):
                words, weights = words[kept], np.add.reduceat(weights, kept, axis=1)
        return sums

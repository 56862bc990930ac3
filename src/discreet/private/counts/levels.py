"""Class counts of all tests at all nodes of a level of a tree, in one pass over the cells.

A node is the box of bins that its path leads to. ``Division`` gives each cell to one box or to none, so **no record is counted at
two nodes of a level**, whatever paths are asked about: that is why one charge is enough for all of them (docs/theory.md,
Theorem 21a).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...rules.candidates import Candidates
from ...rules.numbered_tree import Path
from .cells import Array, Cells
from .counting import NodeCounts
from .division import OUTSIDE, column_numbers, in_boxes, path_as_box
from .secret import Secret

ROWS = 1 << 16  # of cells at a time: the bins of all columns are held of so many


class LevelCounts(Secret):
    """Counts from cells. Tests are single literals."""

    def __init__(self, cells: Cells, tests: Candidates) -> None:
        self._cells, self._tests = cells, tests
        self._columns = column_numbers(cells.columns, tests)  # of each literal
        self._foreseen = [tests.schema[literal.column].domain for literal in tests.literals]

    def total(self) -> Array:
        """Records per class."""
        total: Array = self._cells.counts.sum(0).astype(np.float64)
        return total

    def counts(self, paths: Sequence[Path]) -> list[NodeCounts]:
        """What there is at each node, and what each test captures of it."""
        cells, n_nodes = self._cells, len(paths)
        division = in_boxes([path_as_box(path, self._tests, self._columns) for path in paths])
        left = np.zeros((n_nodes, cells.n_classes))
        sums = [np.zeros((n_nodes, column.n_bins, cells.n_classes)) for column in cells.columns]
        for start in range(0, len(cells) if paths else 0, ROWS):
            rows = slice(start, start + ROWS)
            bins = [cells.bins(column, rows) for column in range(len(cells.columns))]
            node = division.find(bins, len(cells.counts[rows]))
            assert node is not None
            here = np.flatnonzero(node != OUTSIDE)
            node, weights = node[here], cells.counts[rows][here].T.astype(np.float64)
            for number, weight in enumerate(weights):
                left[:, number] += np.bincount(node, weight, n_nodes)
                for total, own in zip(sums, bins, strict=True):
                    places = node * total.shape[1] + own[here]
                    total[..., number] += np.bincount(places, weight, total[..., 0].size).reshape(total.shape[:2])
        captured = np.empty((n_nodes, cells.n_classes, len(self._tests)))
        for test, literal in enumerate(self._tests.members[:, 0]):
            captured[..., test] = sums[self._columns[literal]][:, self._tests.truths[literal]].sum(1)
        return [NodeCounts(*node) for node in zip(left, captured, strict=True)]

    def undecided(self, path: Path) -> npt.NDArray[np.intp]:
        """The tests that may still be true or not at a node, by its path and the schema. No record is looked at."""
        box, kept = path_as_box(path, self._tests, self._columns), []
        for test, literal in enumerate(self._tests.members[:, 0]):
            possible = self._foreseen[literal] & box.get(self._columns[literal], True)
            true = self._tests.truths[literal] & possible
            if true.any() and not (true == possible).all():
                kept.append(test)
        return np.array(kept, np.intp)

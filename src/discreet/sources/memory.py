"""Tables in memory into cells: each column through its bins, a slice of rows at a time."""

from collections.abc import Sequence

import numpy as np

from ..columns import Column
from ..tables import Table
from ..vault.cells import CellsInProgress

ROWS_AT_A_TIME = 1 << 18


def add_table(
    cells: CellsInProgress, table: Table, columns: Sequence[Column], labels: np.ndarray, strict: bool = False
) -> None:
    """Count the records of a table. ``labels`` number their classes; a negative one leaves the record out."""
    for start in range(0, len(table), ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, len(table)))
        bins = [column.encode(table.column(column.name, rows), strict) for column in columns]
        known = labels[rows] >= 0
        if known.all():
            cells.add(bins, labels[rows])
        else:
            cells.add([b[known] for b in bins], labels[rows][known])

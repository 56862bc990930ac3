"""Tables in memory, and in files, into counts: each column through its bins, some records at a time."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.errors import SchemaError
from .._utils.tables import Table, as_array, as_objects, as_table, only_column
from ..private.counts.cells import CellsInProgress
from ..private.counts.totals import TotalsInProgress
from ..private.counts.tuples import TuplesInProgress
from ..schema import Label, Schema
from ..schema.columns import Column, canonical
from ..schema.columns.base import distinct, no_warning
from ..schema.columns.values import Matching
from .files import read_parts, side_by_side
from .source import Source

ROWS_AT_A_TIME = 1 << 18
Filling = CellsInProgress | TuplesInProgress | TotalsInProgress


class MemoryTable(Source):
    """A table in memory, and its labels. It may be counted several times."""

    def __init__(self, table: Table, y: Any, classes: Sequence[Label]) -> None:
        self._table, self._y, self._classes = table, y, tuple(classes)
        self._bins: list[tuple[Column, np.ndarray]] = []

    @cached_property
    def _labels(self) -> np.ndarray:
        return class_numbers(self._y, self._classes, len(self._table))

    def add_to(self, filling: Filling) -> None:
        """Count its records. The bins of a small table are kept for the next time."""
        if len(self._table) > ROWS_AT_A_TIME or isinstance(filling, CellsInProgress):
            add_table(filling, self._table, filling.columns, self._labels)
            return
        known = [column for column, _ in self._bins]
        if any(column not in known for column in filling.columns):
            known, every = list(filling.columns), slice(0, len(self._table))
            self._bins = list(zip(known, _bins(self._table, known, every), strict=True))
        add_known(filling, [self._bins[known.index(column)][1] for column in filling.columns], self._labels)


class FileTable(Source):
    """A table in a file, and what the schema says of it. It is read when it is counted, a part at a time, by this process."""

    is_read_anew = True

    def __init__(
        self,
        path: Path,
        schema: Schema,
        classes: Sequence[Label],
        delimiter: str | None,
        encoding: str,
        decimal: str = ".",
    ) -> None:
        self._path, self._schema, self._classes = path, schema, tuple(classes)
        self._how = delimiter, encoding, decimal
        if schema.target is None:
            raise SchemaError("the schema must say which column of the table is the target: [target] name = ...")

    def add_to(self, filling: Filling) -> None:
        """Read the file, and count its records. A file that is no table is refused."""
        # the types of all columns are looked at when they are counted, before totals are
        columns = filling.columns if isinstance(filling, TotalsInProgress) else self._schema.used
        target = str(self._schema.target)
        names, asked = (
            [column.name for column in columns],
            [*((column.name, column) for column in columns), (target, None)],
        )
        for *values, y in read_parts(self._path, asked, *self._how):
            table = as_table(side_by_side(names, values))
            check_types(table, columns)
            add_table(filling, table, filling.columns, class_numbers(y, self._classes, len(table)))


def add_table(
    filling: Filling, table: Table, columns: Sequence[Column], labels: np.ndarray, strict: bool = False
) -> None:
    """Count the records of a table. ``labels`` number their classes; a negative one leaves the record out."""
    for start in range(0, len(table), ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, len(table)))
        add_known(filling, _bins(table, columns, rows, strict), labels[rows])


def _bins(table: Table, columns: Sequence[Column], rows: slice, strict: bool = False) -> list[np.ndarray]:
    return [column.encode(table.column(column.name, rows), strict) for column in columns]


def add_known(filling: Filling, bins: Sequence[np.ndarray], labels: np.ndarray) -> None:
    """Count records, but for those that have no class."""
    known = labels >= 0
    if known.all():
        filling.add(bins, labels)
    else:
        filling.add([b[known] for b in bins], labels[known])


def check_types(table: Table, columns: Sequence[Column]) -> None:
    """Complain about columns that are not there, or of a type that does not fit. No record is read."""
    for column in columns:
        column.encode(table.column(column.name, slice(0, 0)))


def check_labels(y: Any, classes: Sequence[Label], n: int) -> np.ndarray:
    """The labels as an array of one dimension. Complains about its shape and type; no label is read."""
    if y is None:
        raise ValueError("y is missing: it must hold a label for each record of X")
    given = only_column(y)
    y = as_objects(as_array(given))
    if y.dtype == object and y.ndim == 1 and not {list, tuple}.isdisjoint(map(type, y)):  # a list of rows of one label
        y = np.fromiter((v[0] if type(v) in (list, tuple) and len(v) == 1 else v for v in y), dtype=object)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 or len(y) != n:
        raise ValueError("X and y differ in length, or y is not one column of labels")
    # of no labels: where one is missing the others become objects
    kind = as_objects(as_array(given[:0] if hasattr(given, "__getitem__") else given)).dtype.kind
    if kind in "mM" or not _matching(classes).fits(kind):
        raise SchemaError(
            "y holds dates or times, which are no classes"
            if kind in "mM"
            else "the schema has classes that are the same number, such as 1 and 01, or that stand for a missing value, such as "
            "NA, so y must hold strings"
        )
    return np.asarray(y)


def class_numbers(y: Any, classes: Sequence[Label], n: int) -> np.ndarray:
    """The number of each label among the classes, -1 for a label that is none of them. Value by value, without errors."""
    y = check_labels(y, classes, n)
    with no_warning(y):
        return _numbers(y, classes)


def _numbers(y: np.ndarray, classes: Sequence[Label]) -> np.ndarray:
    find = _matching(classes).find
    codes, found = distinct(y, by_value=True)
    numbers = [find(value) for value in found]
    classes_of: np.ndarray = np.array([*(-1 if n is None else n for n in numbers), -1], dtype=np.int64)[codes]
    return classes_of


def _matching(classes: Sequence[Label]) -> Matching:
    return Matching({canonical(c): i for i, c in enumerate(classes)})

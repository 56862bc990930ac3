"""Tables in memory, and in files, into cells: each column through its bins, some records at a time.

**Bins that are kept.** Where records are counted many times, the table is read once, and after that these small numbers in its
place. They are in a file on this machine, some records at a time and within these column by column, so that memory does not grow
with the records. The file has no name (on Windows one that nobody else may open), and it is gone when it is closed, or when this
process ends in whatever way. Where less than a gigabyte is free nothing is kept, and the table is read again: the counts are the
same. So it is if the room is used up nevertheless.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from io import FileIO
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from .._utils.errors import EngineError, SchemaError
from .._utils.tables import Table, as_array, as_objects, as_table, only_column
from ..private.counts.cells import CellsInProgress
from ..private.counts.secret import Secret
from ..private.counts.totals import TotalsInProgress
from ..private.counts.tuples import TuplesInProgress
from ..schema import Label, Schema
from ..schema.columns import Column, canonical
from ..schema.columns.base import distinct, no_warning
from ..schema.columns.values import Matching
from .files import read_parts, side_by_side

if TYPE_CHECKING:
    from .engine import EngineTable

ROWS_AT_A_TIME = 1 << 18
BOOKED = "A part of the model had been chosen before: the budget that was set aside stays booked"
Filling = CellsInProgress | TuplesInProgress | TotalsInProgress
ROOM = 1 << 30  # bytes free: a public number decides whether a file is used, not how many records there happen to be
Numbers = npt.NDArray[np.integer]


class MemoryTable:
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


class FileTable:
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


Source: TypeAlias = "EngineTable | FileTable | MemoryTable"  # a table that can be counted again and again


class BinCache(Secret):
    """The bins of each record in some columns, and its class. It is a source, once the records were added."""

    def __init__(self, columns: Sequence[Column], n_classes: int) -> None:
        self._number = {column.name: i for i, column in enumerate(columns)}
        self._types = [np.min_scalar_type(n - 1) for n in (*(column.n_bins for column in columns), n_classes)]
        self._records: list[int] = []  # of each part
        self._file: FileIO | None = None
        with suppress(OSError):
            if disk_usage(gettempdir()).free >= ROOM:
                self._file = TemporaryFile(buffering=0)  # noqa: SIM115  # open until ``close``

    @property
    def is_whole(self) -> bool:
        """Whether there was room for all that was added."""
        return self._file is not None

    def close(self) -> None:
        """Give the room back: what was kept is gone."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def add(self, bins: Sequence[Numbers], labels: Numbers) -> None:
        """Keep some records."""
        if self._file is None or not len(labels):
            return
        these = [x.astype(t).tobytes() for x, t in zip((*bins, labels), self._types, strict=True)]
        left = memoryview(b"".join(these))
        try:
            while left:  # a system may write only some at once
                left = left[self._file.write(left) :]
        except OSError:
            self.close()
        self._records.append(len(labels))

    def add_to(self, filling: TuplesInProgress | TotalsInProgress) -> None:
        """Count the records again."""
        for *bins, labels in self._parts([*(self._number[column.name] for column in filling.columns), -1]):
            filling.add(bins, labels)

    def _parts(self, which: Sequence[int]) -> Iterator[list[Numbers]]:
        """The bins in some columns, by their numbers, of some records after others; -1 stands for their classes."""
        ends = np.cumsum([t.itemsize for t in self._types]).tolist()
        begin = 0
        for n in self._records:
            yield [self._read(begin + n * (ends[i] - self._types[i].itemsize), n, self._types[i]) for i in which]
            begin += n * ends[-1]

    def _read(self, begin: int, n: int, kind: np.dtype[np.integer]) -> Numbers:
        assert self._file is not None
        numbers = bytearray(n * kind.itemsize)
        left = memoryview(numbers)
        with suppress(OSError):
            self._file.seek(begin)
            while left and (done := self._file.readinto(left)):
                left = left[done:]
        if left:
            raise EngineError(f"what was kept of the records in a temporary file cannot be read again. {BOOKED}")
        return np.frombuffer(numbers, kind)


class ReadOnce:
    """A table that hands over its records. The first time that they are counted, their bins are kept for the next times."""

    def __init__(self, source: "EngineTable | FileTable", columns: Sequence[Column], n_classes: int) -> None:
        self._source, self._kept, self._is_read = source, BinCache(columns, n_classes), False

    def add_to(self, filling: TuplesInProgress | TotalsInProgress) -> None:
        """Count the records: those of the first time must have all columns."""
        if not self._is_read:
            self._source.add_to(cast(TuplesInProgress, _Both(filling, self._kept)))
            self._is_read = True
        elif self._kept.is_whole:
            self._kept.add_to(filling)
        else:
            self._source.add_to(filling)

    def close(self) -> None:
        """Keep nothing any more."""
        self._kept.close()


class _Both:
    """Gets records in place of what counts them, and has their bins kept as well."""

    def __init__(self, filling: TuplesInProgress | TotalsInProgress, kept: BinCache) -> None:
        self.columns, self.division = filling.columns, filling.division
        self._filling, self._kept = filling, kept

    def add(self, bins: Sequence[Numbers], labels: Numbers) -> None:
        self._kept.add(bins, labels)
        self._filling.add(bins, labels)

"""Tables in memory, and in files, into counts: each column through its bins, some records at a time.

A ``PrivateCounts`` has exact counts that are kept for many fits, of any table.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.errors import SchemaError
from .._utils.provenance import was_sample
from .._utils.redaction import NOTHING_BOOKED, redacted, redacting
from .._utils.tables import Table, as_array, as_objects, as_table, only_column
from ..private.counts.counts import Patterns
from ..private.counts.totals import TotalsInProgress
from ..schema import Label, Schema
from ..schema.columns import Column
from ..schema.columns.values import class_bins, no_warning
from ..schema.schema import check_private_schema, sorted_classes
from .engine import EngineTable
from .files import read_parts, side_by_side
from .plan import Counting
from .source import ROWS_AT_A_TIME, Block, Filling, Source, with_class


class MemoryTable(Source):
    """A table in memory, and its labels. It may be counted several times."""

    def __init__(self, table: Table, y: Any, classes: Sequence[Label]) -> None:
        self._table, self._y, self._classes = table, y, tuple(classes)
        self._bins: dict[Column, np.ndarray] = {}

    @cached_property
    def _labels(self) -> np.ndarray:
        return class_numbers(self._y, self._classes, len(self._table))

    def blocks(self, filling: Filling) -> Iterator[Block]:
        """The bins of a small table are kept for the next time."""
        if len(self._table) > ROWS_AT_A_TIME:
            yield from blocks_of(self._table, filling.columns, self._labels)
            return
        for column in filling.columns:
            if column not in self._bins:
                self._bins[column] = column.encode(self._table.column(column.name))
        yield with_class([self._bins[column] for column in filling.columns], self._labels)


class FileTable(Source):
    """A table in a file, and what the schema says of it. It is read when it is counted, a part at a time, by this process."""

    is_read_anew = True

    def __init__(self, path: Path, schema: Schema, classes: Sequence[Label], *how: Any) -> None:
        """``how`` it is written: delimiter, encoding and decimal sign, as for ``read_parts``."""
        self._path, self._schema, self._classes, self._how = path, schema, tuple(classes), how
        if schema.target is None:
            raise SchemaError("the schema must say which column of the table is the target: [target] name = ...")

    def blocks(self, filling: Filling) -> Iterator[Block]:
        """As they are read. A file that is no table is refused."""
        # the types of all columns are looked at when they are counted, before totals are
        columns = filling.columns if isinstance(filling, TotalsInProgress) else self._schema.used
        names = [column.name for column in columns]
        asked = [*zip(names, columns, strict=True), (str(self._schema.target), None)]
        for *values, y in read_parts(self._path, asked, *self._how):
            table = as_table(side_by_side(names, values))
            check_types(table, columns)
            yield from blocks_of(table, filling.columns, class_numbers(y, self._classes, len(table)))


def blocks_of(table: Table, columns: Sequence[Column], labels: np.ndarray, strict: bool = False) -> Iterator[Block]:
    """The records of a table. ``labels`` number their classes; a negative one leaves the record out."""
    for start in range(0, len(table), ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, len(table)))
        yield with_class([c.encode(table.column(c.name, rows), strict) for c in columns], labels[rows])


def check_types(table: Table, columns: Sequence[Column]) -> None:
    """Complain about columns that are not there, or of a type that does not fit. No record is read."""
    for column in columns:
        column.encode(table.column(column.name, slice(0, 0)))


def as_labels(y: Any, n: int) -> tuple[np.ndarray, str]:
    """Labels as an array of one dimension, and the letter of their type. Complains about both; no label is read."""
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
    if kind in "mM":
        raise SchemaError("y holds dates or times, which are no classes")
    return np.asarray(y), kind


def check_labels(y: Any, classes: Sequence[Label], n: int) -> np.ndarray:
    """The labels, if they can be of these classes by their type."""
    labels, kind = as_labels(y, n)
    matching = class_bins(classes).matching
    if kind in "iuf" and not matching.numbers:
        raise SchemaError("y holds numbers, but the classes of the schema are strings; give y as strings")
    if not matching.fits(kind):
        raise SchemaError(
            "the schema has classes that are the same number, such as 1 and 01, or that stand for a missing value, such as "
            "NA, so y must hold strings"
        )
    return labels


def class_numbers(y: Any, classes: Sequence[Label], n: int) -> np.ndarray:
    """The number of each label among the classes, -1 for a label that is none of them. Value by value, without errors."""
    labels = check_labels(y, classes, n)
    with no_warning(labels):
        return class_bins(classes).encode(labels, -1).astype(np.int64, copy=False)


class PrivateCounts(Patterns):
    """Exact counts of a table under lock: fill it once, and fit many times (``fit_counts``)."""

    @classmethod
    @redacted(NOTHING_BOOKED)
    def from_table(cls, X: Any, y: Any, schema: Schema) -> "PrivateCounts":
        """Counts of the records of a table: a data frame or array X and labels y.

        Values and labels that the schema does not foresee are taken as it says, or left out, without an error: an error
        would depend on a record. Without classes in the schema they are 0 and 1.

        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> PrivateCounts.from_table(data.data, data.target, data.schema)
        <PrivateCounts>
        """
        check_private_schema(schema)
        classes = sorted_classes(schema)
        table = as_table(X, schema.names)
        check_types(table, schema.used)
        return cls._counted(MemoryTable(table, y, classes), schema, was_sample(X, y))

    @classmethod
    @redacted(NOTHING_BOOKED)
    def from_file(
        cls,
        path: str | PathLike[str],
        schema: Schema,
        delimiter: str | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
    ) -> "PrivateCounts":
        """Counts of the records of a CSV, Parquet or Arrow file, read a part at a time: the file may be larger than memory.

        The schema names the target. What the strings of a CSV file mean is in docs/command-line.md.

        >>> import tempfile
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data.frame.to_csv(f"{folder}/compas.csv", index=False)
        ...     PrivateCounts.from_file(f"{folder}/compas.csv", data.schema)
        <PrivateCounts>
        """
        check_private_schema(schema)
        return cls._counted(FileTable(Path(path), schema, sorted_classes(schema), delimiter, encoding, decimal), schema)

    @classmethod
    @redacted(NOTHING_BOOKED)
    def from_source(cls, table: Any, schema: Schema, verbose: bool = False) -> "PrivateCounts":
        """Counts of the records of a table that stays where it is: an ibis table (DuckDB, PostgreSQL, Spark).

        The engine counts them, by the bins of the schema's columns and by the schema's target, and only the counts come here.
        There are at most as many as records; see docs/scale.md. ``verbose`` shows on a terminal how far the engine is.

        >>> import ibis
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> PrivateCounts.from_source(ibis.memtable(data.frame), data.schema)
        <PrivateCounts>
        """
        check_private_schema(schema)
        return cls._counted(EngineTable(table, schema, sorted_classes(schema), verbose), schema, was_sample(table))

    @classmethod
    def _counted(cls, source: Source, schema: Schema, drafted: bool = False) -> "PrivateCounts":
        with redacting(NOTHING_BOOKED, drawing=True):
            counts = source.count(Counting.patterns(schema))
        assert isinstance(counts, Patterns)
        private = cls(schema, counts.classes, counts.patterns)
        private.drafted = drafted
        return private

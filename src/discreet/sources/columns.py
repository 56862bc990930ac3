"""Counts of a table of which no schema is known: of each column by public bins, and of the texts that occur.

In memory, from a file, or in an engine, where only counts come from. Whether a column can be looked at follows from its type
alone.
"""

from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.errors import SchemaError
from .._utils.tables import Table, as_array
from ..private.counts.secret import Secret
from ..private.noise.entropy import Integers
from ..schema import Schema
from ..schema.columns import Column, Date
from ..schema.columns.unknown import NEW_YEARS, Unknown, text_of
from ..schema.columns.values import distinct, no_warning
from .engine import EngineTable, values_of
from .files import is_arrow_text, is_csv, read_parts
from .memory import as_labels
from .plan import Counting

Counted = tuple[np.ndarray, np.ndarray | None]  # values, and how often each comes; None: once
FEW, HASHES = (
    1 << 16,
    1 << 20,
)  # so many texts of a column are held in any case; others are told apart by so many hashes
TARGET = "the target"  # not a column of the table


class ColumnCounts(Secret):
    """Exact counts of a table, column by column. ``first``: by the bins of the columns that were looked at first."""

    first: list[Integers]
    has_target: bool
    is_read_anew = True  # for each question, so that the table must not change meanwhile

    def count(self, columns: Any) -> "ColumnCounts":
        """Look at these columns."""
        self.first = self.by_bins(columns)
        return self

    @abstractmethod
    def by_bins(self, columns: Sequence[Column]) -> list[Integers]:
        """How many records are in each bin of each column."""

    @abstractmethod
    def texts(self, name: str | None, least: int) -> dict[str, int]:
        """How many records have each text in a column, or in the target: the texts that at least so many have."""

    @abstractmethod
    def is_readable(self, name: str) -> bool:
        """By the type of a column alone. Truth values are looked at, too: that all are such, a library saw in the records."""

    @abstractmethod
    def fits(self, column: Column) -> bool:
        """Whether a column can be read as what was found, by its type alone: noise may take numbers for dates."""

    def close(self) -> None:
        """Nothing is kept elsewhere."""


class MemoryColumns(ColumnCounts):
    """Of a table in memory and its labels."""

    is_read_anew = False

    def __init__(self, table: Table, y: np.ndarray | None) -> None:
        self._table, self._y, self.has_target = table, y, y is not None

    def by_bins(self, columns: Sequence[Column]) -> list[Integers]:
        """Some records at a time, if need be."""
        counted = [np.zeros(column.n_bins, np.int64) for column in columns]
        for part in self._parts([column.name for column in columns]):
            for total, column, (values, times) in zip(counted, columns, part, strict=True):
                total += np.bincount(column.encode(values), times, column.n_bins).astype(np.int64)
        return counted

    def texts(self, name: str | None, least: int) -> dict[str, int]:
        """Value by value."""
        return {text: n for text, n in self._texts(name, least).items() if n >= least}

    def is_readable(self, name: str) -> bool:
        """Durations are not."""
        return self._no_records(name).dtype.kind != "m"

    def fits(self, column: Column) -> bool:
        """As it would be refused in a fit."""
        try:
            column.encode(self._no_records(column.name))
        except SchemaError:
            return False
        return True

    def _no_records(self, name: str) -> np.ndarray:
        return self._table.column(name, slice(0, 0))

    def _texts(self, name: str | None, least: int) -> Counter[str]:
        (counted,) = next(self._parts([name]))
        return texts_of(counted)

    def _parts(self, names: Sequence[str | None]) -> Iterator[list[Counted]]:
        yield [each_once(self._y if name is None else self._table.column(name)) for name in names]


class FileColumns(MemoryColumns):
    """Of a table in a file, which is read some records at a time."""

    is_read_anew = True

    def __init__(self, path: Path, target: str | None, *how: Any) -> None:
        """``how`` it is written: delimiter, encoding and decimal sign, as for ``read_parts``."""
        self._path, self._target, self._how, self.has_target = path, target, how, target is not None
        self._few: dict[
            str | None, Counter[str] | None
        ] = {}  # texts of the columns that were read; None if there are many
        if target is not None and not is_csv(path):
            as_labels(next(self._read([None]))[0], 0)

    def _no_records(self, name: str) -> np.ndarray:
        """Of the column's type in the file."""
        return np.empty(0, object) if is_csv(self._path) else np.asarray(as_array(next(self._read([name]))[0]))

    def _texts(self, name: str | None, least: int) -> Counter[str]:
        if name not in self._few:
            deque(self._parts([name]), maxlen=0)
        if (few := self._few[name]) is not None:
            return few
        # of millions of texts only those are held that may be frequent, by how often their hashes come
        hashed, counted = np.zeros(HASHES, np.int64), Counter[str]()
        for (part,) in self._parts([name]):
            for text, n in texts_of(part).items():
                hashed[hash(text) % HASHES] += n
        for (part,) in self._parts([name]):
            counted.update({t: n for t, n in texts_of(part).items() if hashed[hash(t) % HASHES] >= least})
        return counted

    def _parts(self, names: Sequence[str | None]) -> Iterator[list[Counted]]:
        """Texts are counted when a column is read for the first time, so that it need not be read again if there are few."""
        new = [name for name in names if name not in self._few]
        self._few |= {name: Counter() for name in new}
        for part in self._read(names):
            counted = [each_once(values) for values in part]
            for name, one in zip(names, counted, strict=True):
                if name in new and (few := self._few[name]) is not None:
                    is_text = name is None or one[0].dtype == object
                    few.update(texts_of(one) if is_text else {})
                    self._few[name] = few if is_text and len(few) <= FEW else None
            yield counted

    def _read(self, names: Sequence[str | None]) -> Iterator[list[Any]]:
        return read_parts(self._path, [(name or str(self._target), None) for name in names], *self._how)


def each_once(values: Any, floats: bool = False) -> Counted:
    """Each value once, and how often it comes; all of floating-point numbers, which hardly ever come twice, unless asked for."""
    if is_arrow_text(values):
        coded = values.dictionary_encode()
        codes, found = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), as_array(coded.dictionary)
    else:
        values = as_array(values)
        if values.dtype.kind == "f" and not floats:
            return values, None
        with no_warning(values):
            codes, found = distinct(values)
    missing, *times = np.bincount(codes + 1, minlength=len(found) + 1).tolist()
    if missing:
        gone = np.array([None]) if found.dtype == object else values[codes < 0][:1]
        found, times = np.append(found, gone), [*times, missing]
    return found, np.array(times, np.int64)


def texts_of(counted: Counted) -> Counter[str]:
    """Values as texts, those that do not stand for a missing one. A number is one text, however it is written.

    >>> dict(texts_of(each_once(np.array(["b", 1.0, None, "a", "b", "NA", "01"], dtype=object))))
    {'b': 2, '1': 2, 'a': 1}
    """
    values, times = counted
    if times is None:
        values, times = each_once(values, floats=True)
    assert times is not None
    found = Counter[str]()
    with no_warning(values):
        for value, n in zip(values, times.tolist(), strict=True):
            if (text := text_of(value)) is not None:
                found[text] += n
    return found


class EngineColumns(ColumnCounts):
    """Of a table in an engine: it counts."""

    def __init__(self, table: Any, target: str | None) -> None:
        self._table, self._target, self.has_target = table, target, target is not None

    def by_bins(self, columns: Sequence[Column]) -> list[Integers]:
        """One query for all numbers. Of texts, what each looks like is found here, once for each that there is."""
        types = {column.name: self._table[column.name].type() for column in columns}
        found = {column.name: self._texts_by_bins(column) for column in columns if types[column.name].is_string()}
        if others := [column for column in columns if column.name not in found]:
            # dates have a type here, and are in the same bins
            dated = [isinstance(column, Unknown) and _is_day(types[column.name]) for column in others]
            typed = (Date(c.name, cuts=NEW_YEARS) if is_day else c for c, is_day in zip(others, dated, strict=True))
            schema = Schema(tuple(typed), target=TARGET)
            table = EngineTable(self._table.mutate(**{TARGET: 0}), schema, (0, 1))
            counts = table.count(Counting.by_column(schema, schema.used)).joint(schema.used, 1)
            found |= {c.name: counts.of_column(i).sum(0).astype(np.int64) for i, c in enumerate(others)}
        # dates come last among what a value may look like
        return [np.pad(found[column.name], (column.n_bins - len(found[column.name]), 0)) for column in columns]

    def texts(self, name: str | None, least: int) -> dict[str, int]:
        """Grouped there. Of values that are one text the most frequent counts.

        Their sum could grow by ``least`` where a single record comes: by values that ``least`` - 1 records have.
        """
        counted: dict[str, int] = {}
        for values, times in values_of(self._table, name or str(self._target), least):
            for value, n in zip(values, times, strict=True):
                if (text := text_of(value)) is not None:
                    counted[text] = max(n, counted.get(text, 0))
        return counted

    def is_readable(self, name: str) -> bool:
        """By the type that the engine declares."""
        dtype = self._table[name].type()
        return bool(dtype.is_string() or dtype.is_numeric() or dtype.is_boolean() or _is_day(dtype))

    def fits(self, column: Column) -> bool:
        """As a fit there would refuse it."""
        try:
            EngineTable(self._table.mutate(**{TARGET: 0}), Schema((column,), target=TARGET), (0, 1))
        except SchemaError:
            return False
        return True

    def _texts_by_bins(self, column: Column) -> Integers:
        counted = np.zeros(column.n_bins, np.int64)
        for values, times in values_of(self._table, column.name):
            np.add.at(counted, column.encode(np.fromiter(values, dtype=object)), times)
        return counted


def _is_day(dtype: Any) -> bool:
    return bool(dtype.is_date() or (dtype.is_timestamp() and dtype.timezone is None))

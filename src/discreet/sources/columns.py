"""Counts of a table of which no schema is known: of each column by public bins, and of the texts that occur.

In memory, or in an engine, where only counts come from. Whether a column can be looked at follows from its type alone.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.tables import Table
from ..private.counts.secret import Secret
from ..private.noise.entropy import Integers
from ..schema import Schema
from ..schema.columns import Column, Date
from ..schema.columns.unknown import NEW_YEARS, Unknown, text_of, texts_in
from ..schema.columns.values import no_warning
from .engine import EngineTable, values_of
from .plan import Counting

TARGET = "the target"  # not a column of the table


class ColumnCounts(Secret):
    """Exact counts of a table, column by column. ``first``: by the bins of the columns that were looked at first."""

    first: list[Integers]
    has_target: bool

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

    def close(self) -> None:
        """Nothing is kept elsewhere."""


class MemoryColumns(ColumnCounts):
    """Of a table in memory and its labels."""

    def __init__(self, table: Table, y: np.ndarray | None) -> None:
        self._table, self._y, self.has_target = table, y, y is not None

    def by_bins(self, columns: Sequence[Column]) -> list[Integers]:
        """Column by column."""
        return [
            np.bincount(column.encode(self._table.column(column.name)), minlength=column.n_bins) for column in columns
        ]

    def texts(self, name: str | None, least: int) -> dict[str, int]:
        """Value by value."""
        values = self._y if name is None else self._table.column(name)
        assert values is not None
        with no_warning(values):
            counted = texts_in(values)
        return {text: n for text, n in counted.items() if n >= least}

    def is_readable(self, name: str) -> bool:
        """Durations are not."""
        return self._table.column(name, slice(0, 0)).dtype.kind != "m"


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

    def _texts_by_bins(self, column: Column) -> Integers:
        counted = np.zeros(column.n_bins, np.int64)
        for values, times in values_of(self._table, column.name):
            np.add.at(counted, column.encode(np.fromiter(values, dtype=object)), times)
        return counted


def _is_day(dtype: Any) -> bool:
    return bool(dtype.is_date() or (dtype.is_timestamp() and dtype.timezone is None))

"""Tables that stay where they are: an engine that ibis knows counts the records of each pattern, and only those counts leave it.

One query: the number of the bin in each column and of the class, for each record, grouped by all of them and counted. Nothing
is written in the engine, no temporary table either, so that there is nothing to clean up when a query is cancelled or a
connection lost.
"""

import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..columns import Column, canonical
from ..errors import EngineError, SchemaError
from ..schema import Label, Schema
from ..vault.cells import CellsInProgress
from .bins import EngineColumn
from .files import as_read
from .written import NO_TABLE, as_meant, is_written

ROWS_AT_A_TIME = 1 << 18
ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "pyspark": "Spark"}


class EngineTable:
    """A table of an engine, and what the schema says of it. Made without a query: names and types are known already.

    >>> import ibis
    >>> from discreet.datasets import load_compas
    >>> data = load_compas()
    >>> table = EngineTable(ibis.memtable(data.frame), data.schema, (0, 1))
    >>> print(table)
    DuckDB counts records by 9 columns; the schema allows 5,406,720 patterns of them
    """

    def __init__(self, table: Any, schema: Schema, classes: Sequence[Label], max_patterns: int | None = None) -> None:
        self._columns, self._classes = schema.used, tuple(classes)
        self._table, self._backend = _table_and_backend(table)
        if schema.target is None:
            raise SchemaError("the schema must say which column of the table is the target: [target] name = ...")
        self._check_names([column.name for column in self._columns], "the schema names column")
        self._check_names([schema.target], "the target of the schema is column")
        if is_written(self._backend):
            self._table = as_meant(self._table, self._columns, schema.target, self._classes)
        # here, so that a column of another type is an error before anything is read
        self._counts = self._count(schema.target)
        if max_patterns is not None and self.most_patterns > max_patterns:
            raise SchemaError(
                f"the schema allows {_short(self.most_patterns)} patterns of its {len(self._columns)} columns, more than "
                f"max_patterns = {_short(max_patterns)}. Use fewer columns (exclude), fewer cuts or coarser groups; or leave "
                "max_patterns out, if there is memory for as many patterns as records, of "
                f"{CellsInProgress(self._columns, len(classes)).bytes_each} bytes each"
            )

    def __repr__(self) -> str:
        return (
            f"{self.engine} counts records by {len(self._columns)} columns; the schema allows {_short(self.most_patterns)} "
            "patterns of them"
        )

    @property
    def engine(self) -> str:
        """The engine's name."""
        return ENGINES.get(self._backend.name, self._backend.name)

    @property
    def most_patterns(self) -> int:
        """How many patterns there can be at most, by the schema. There are never more than records."""
        return math.prod(column.n_bins for column in self._columns)

    def sql(self) -> str:
        """The query, as the engine gets it."""
        return str(self._backend.compile(self._counts))

    def add_to(self, cells: CellsInProgress) -> None:
        """Let the engine count, and add the counts, some at a time."""
        for *bins, labels, times in self._answer(self._counts):
            known = labels >= 0
            if known.all():
                cells.add_counted(bins, labels, times)
            else:
                cells.add_counted([b[known] for b in bins], labels[known], times[known])

    def _answer(self, expression: Any) -> Iterator[list[np.ndarray]]:
        """What the engine answers: the columns, some rows at a time."""
        with _no_value_shown(self.engine):
            for batch in _batches(self._backend, expression):
                yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]

    def _check_names(self, names: Sequence[str], problem: str) -> None:
        there = list(self._table.columns)
        for name in names:
            if name not in there:
                listed = ", ".join(repr(n) for n in there[:8]) + (", ..." if len(there) > 8 else "")
                raise SchemaError(f"{problem} {name!r}, which the table does not have; it has {listed}")
        if self._backend.name != "postgres":
            times = Counter(name.lower() for name in there)
            for name in names:
                if times[name.lower()] > 1:
                    raise SchemaError(
                        f"{self.engine} does not tell column {name!r} from one that differs in case; rename it"
                    )

    def _count(self, target: str) -> Any:
        """The bins, b0, b1, ..., and the label, y, and how many records there are of each.

        Records without a label are counted as well, and left out here: a filter would have the engine look at labels twice.
        """
        numbers = {
            f"b{i}": self._column(column.name).bin_in(column).cast(_smallest(column.n_bins))
            for i, column in enumerate(self._columns)
        }
        labels, classes = self._column(target), self._classes
        if labels.kind == "text" and is_written(self._backend):
            classes = tuple(canonical(c) for c in classes)
        numbers["y"] = labels.class_in(classes).cast(_smallest(len(self._classes)))
        binned = self._table.select(**numbers)
        return binned.group_by(list(numbers)).agg(n=binned.count())

    def _column(self, name: str) -> EngineColumn:
        return EngineColumn(self._backend.name, name, self._table[name])


def is_engine_table(X: Any) -> bool:
    """Whether this is an ibis table."""
    ibis = sys.modules.get("ibis")
    return ibis is not None and isinstance(X, ibis.Table)


def records(table: Any, columns: Sequence[tuple[str, Column | None]]) -> Iterator[list[Any]]:
    """The values of some columns, some records at a time, for those who may see them: this is no way into the vault."""
    table, backend = _table_and_backend(table)
    asked = table.select(**{f"c{i}": table[name] for i, (name, _) in enumerate(columns)})
    texts = [is_written(backend) and dtype.is_string() for dtype in asked.schema().types]
    with _no_value_shown(ENGINES.get(backend.name, backend.name)):
        for batch in _batches(backend, asked):
            values = [column.to_pylist() for column in batch.columns]
            read = zip(values, columns, texts, strict=True)
            yield [as_read(v, column) if text else v for v, (_, column), text in read]


def _table_and_backend(table: Any) -> tuple[Any, Any]:
    try:
        import ibis
    except ImportError:
        raise ImportError(
            "tables of engines need ibis: pip install 'discreet[duckdb]' (or [postgres], [spark])"
        ) from None
    if not isinstance(table, ibis.Table):
        raise TypeError(
            "table must be an ibis table, such as open_table(...) or ibis.duckdb.connect(...).table(...); tables in memory go to "
            "fit(X, y)"
        )
    with _no_value_shown("the engine"):
        return table, table.get_backend()


def _smallest(n: int) -> str:
    """A small type for numbers below n. PostgreSQL has none of 8 bits."""
    return "int16" if n < 2**15 else "int32"


def _batches(backend: Any, expression: Any) -> Iterator[Any]:
    if backend.name != "duckdb":
        yield from backend.to_pyarrow_batches(expression, chunk_size=ROWS_AT_A_TIME)
        return
    # by hand: ibis 12 asks DuckDB 2 for batches by a name that is gone
    backend._run_pre_execute_hooks(expression)
    answer = backend.con.sql(backend.compile(expression))
    stream = answer.to_arrow_reader if hasattr(answer, "to_arrow_reader") else answer.fetch_record_batch
    yield from stream(ROWS_AT_A_TIME)


@contextmanager
def _no_value_shown(engine: str) -> Iterator[None]:
    """Say that the engine stopped, instead of what it says: that may have values, or how to get at them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (SchemaError, EngineError, MemoryError):
        raise
    except Exception as error:
        if str(error).startswith("Invalid Input Error: CSV Error"):
            raise EngineError(NO_TABLE) from None
        raise EngineError(
            f"{engine} stopped before the records were counted ({type(error).__name__}): the connection was lost, or the query "
            "was cancelled or refused. Nothing was learned and nothing was spent; see the engine's own log"
        ) from None


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"10^{math.log10(number):.1f}"

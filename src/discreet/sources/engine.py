"""Tables that stay where they are: an engine that ibis knows counts the records of each pattern, and only those counts leave it.

A query takes, for each record, the number of the bin in each column and of the class, groups by them and counts: by all columns
at once, or by sets of columns and among the records that no rule of a list captures (plan.py says which). Nothing is written in
the engine, no temporary table either, so that there is nothing to clean up when a query is cancelled or a connection lost.
"""

import functools
import math
import operator
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..cells.cells import CellsInProgress
from ..common.errors import EngineError, SchemaError, TableError, warnings_ignored
from ..schema import Label, Schema
from ..schema.columns import Column, canonical
from .bins import EngineColumn
from .engines import engine_of
from .engines.base import Engine
from .files import as_read
from .running import run

ROWS_AT_A_TIME = 1 << 18
UNSPENT = "Nothing was learned and nothing was spent"
NO_LABEL = -1
Counts = tuple[int, np.ndarray, np.ndarray, np.ndarray]  # which set, combinations of its bins, classes, how many


class EngineTable:
    """A table of an engine, and what the schema says of it. Made without a query: names and types are known already.

    >>> import ibis
    >>> from discreet.datasets import load_compas
    >>> data = load_compas()
    >>> table = EngineTable(ibis.memtable(data.frame), data.schema, (0, 1))
    >>> table.engine
    'DuckDB'
    """

    def __init__(self, table: Any, schema: Schema, classes: Sequence[Label], verbose: bool = False) -> None:
        self._columns, self._classes, self._verbose = schema.used, tuple(classes), verbose
        self._table, self._given, self._engine = table, table, _engine_of_table(table)
        if schema.target is None:
            raise SchemaError("the schema must say which column of the table is the target: [target] name = ...")
        self._check_names([column.name for column in self._columns], "the schema names column")
        self._check_names([schema.target], "the target of the schema is column")
        texts = self._engine.csv_texts
        if texts is not None:
            self._table = texts.read_as_in_memory(self._table, self._columns, schema.target, self._classes)
        # here, so that a column of another type is an error before anything is read
        self._bins = [self._column(c.name).bin_in(c).cast(_smallest(c.n_bins)) for c in self._columns]
        labels, named = self._column(schema.target), self._classes
        if labels.kind == "text" and texts is not None:
            named = tuple(canonical(c) for c in classes)
        self._label = labels.class_in(named).cast(_smallest(len(self._classes)))

    def __repr__(self) -> str:
        return f"<EngineTable of {self.engine}>"

    @property
    def engine(self) -> str:
        """The engine's name."""
        return self._engine.name

    @property
    def columns(self) -> Sequence[Column]:
        """The columns that are counted, in order."""
        return self._columns

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self._classes)

    def sql(self) -> str:
        """The query by whole patterns, as the engine gets it."""
        return str(self._engine.connection.compile(self._patterns()))

    def add_to(self, cells: CellsInProgress) -> None:
        """Let the engine count the records of each pattern, and add the counts, some at a time."""
        for *words, labels, times in self._answer(self._patterns()):
            known = labels != NO_LABEL
            if known.all():
                cells.add_counted(words, labels, times)
            else:
                cells.add_counted([word[known] for word in words], labels[known], times[known])

    def count(
        self, sets: Sequence[Sequence[int]], captured: Sequence[Mapping[int, np.ndarray]], also: str
    ) -> Iterator[Counts]:
        """Count by the bins of each set of columns, among the records that no rule captures.

        A rule is given by the bins of each of its columns in which it is true. ``also`` is what an error says of the budget. One
        pass: each record is counted once for each set. Combinations of bins are numbered, with the first column varying fastest.
        """
        used = sorted({i for group in (*sets, *captured) for i in group})
        left = self._table.select(**{f"b{i}": self._bins[i] for i in used}, y=self._label)
        # no filter: an engine that skips a part of a file believes what the file says of it, which leaves NaN out
        rules = [[_inside(left[f"b{i}"], true) for i, true in rule.items()] for rule in captured]
        if rules:
            gone = _joined(operator.or_, [_joined(operator.and_, inside) for inside in rules])
            left = left.mutate(y=_if(gone, NO_LABEL, left.y).cast(left.y.type()))
        sizes = [[self._columns[i].n_bins for i in numbers] for numbers in sets]
        starts = np.cumsum([0, *map(math.prod, sizes)])
        places = [
            _sum([(left[f"b{i}"], math.prod(size[:k])) for k, i in enumerate(numbers)]) + int(start)
            for numbers, size, start in zip(sets, sizes, starts[:-1], strict=True)
        ]
        spread = left.select(place=_if(left.y >= 0, _array(places), _array([0])).unnest(), y=left.y)
        for answer in self._answer(spread.group_by("place", "y").agg(n=spread.count()), also):
            known = answer[1] != NO_LABEL
            place, labels, times = (column[known] for column in answer)
            found = np.searchsorted(starts, place, side="right") - 1
            order = np.argsort(found, kind="stable")
            for group in np.split(order, np.flatnonzero(np.diff(found[order])) + 1):
                if len(group):
                    number = int(found[group[0]])
                    yield number, place[group] - starts[number], labels[group], times[group]

    def _answer(self, expression: Any, also: str = UNSPENT) -> Iterator[list[np.ndarray]]:
        """What the engine answers: the columns, some rows at a time."""
        with _no_value_shown(self._engine, also):
            batches = functools.partial(self._engine.batches, expression, ROWS_AT_A_TIME, whole=True)
            for batch in run(self._engine, batches, self._verbose, self._engine.is_plain(self._given)):
                yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]

    def _check_names(self, names: Sequence[str], problem: str) -> None:
        there = list(self._table.columns)
        for name in names:
            if name not in there:
                listed = ", ".join(repr(n) for n in there[:8]) + (", ..." if len(there) > 8 else "")
                raise SchemaError(f"{problem} {name!r}, which the table does not have; it has {listed}")
        if self._engine.ignores_case:
            times = Counter(name.lower() for name in there)
            for name in names:
                if times[name.lower()] > 1:
                    raise SchemaError(
                        f"{self.engine} does not tell column {name!r} from one that differs in case; rename it"
                    )

    def _patterns(self) -> Any:
        """The patterns, packed into numbers k0, k1, ..., and the label, y, and how many records there are of each.

        To group by one number is faster than by one for each column. Records without a label are counted as well, and left out
        here: a filter would have the engine look at labels twice.
        """
        terms: dict[str, list[tuple[Any, int]]] = {}
        for bins, (word, stride) in zip(self._bins, CellsInProgress(self._columns, self.n_classes).places, strict=True):
            terms.setdefault(f"k{word}", []).append((bins, stride))
        numbers = {name: _sum(these) for name, these in terms.items()} | {"y": self._label}
        packed = self._table.select(**numbers)
        return packed.group_by(list(numbers)).agg(n=packed.count())

    def _column(self, name: str) -> EngineColumn:
        return EngineColumn(self._engine, name, self._table[name])


def is_engine_table(X: Any) -> bool:
    """Whether this is an ibis table."""
    ibis = sys.modules.get("ibis")
    return ibis is not None and isinstance(X, ibis.Table)


def records(table: Any, columns: Sequence[tuple[str, Column | None]]) -> Iterator[list[Any]]:
    """The values of some columns, some records at a time, for those who may see them: this is no way into the vault."""
    engine = _engine_of_table(table)
    asked = table.select(**{f"c{i}": table[name] for i, (name, _) in enumerate(columns)})
    texts = engine.csv_texts
    are_texts = [texts is not None and dtype.is_string() for dtype in asked.schema().types]
    with _no_value_shown(engine, "No scores were written"):
        for batch in run(engine, functools.partial(engine.batches, asked, ROWS_AT_A_TIME)):
            values = [column.to_pylist() for column in batch.columns]
            read = zip(values, columns, are_texts, strict=True)
            yield [as_read(v, column, texts.decimal) if is_text else v for v, (_, column), is_text in read]


def _engine_of_table(table: Any) -> Engine:
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
    _check_rows_are_records(table)
    with _no_value_shown(None):
        return engine_of(table.get_backend())


def _inside(bins: Any, true: np.ndarray) -> Any:
    """Whether a bin is one of those in which something is true, with few comparisons."""
    yes, no = np.flatnonzero(true), np.flatnonzero(~true)
    if len(yes) and yes[-1] - yes[0] == len(yes) - 1:
        return bins.between(int(yes[0]), int(yes[-1]))
    return ~bins.isin(no.tolist()) if len(no) < len(yes) else bins.isin(yes.tolist())


def _joined(how: Any, conditions: Sequence[Any]) -> Any:
    """Conditions joined in pairs: a long chain would be too deep for ibis."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return how(_joined(how, conditions[:middle]), _joined(how, conditions[middle:]))


def _sum(terms: Sequence[tuple[Any, int]]) -> Any:
    """Bins, each times its factor, in one number."""
    return functools.reduce(operator.add, [bins.cast("int64") * factor for bins, factor in terms])


def _array(expressions: Sequence[Any]) -> Any:
    import ibis

    return ibis.array(expressions)


def _if(condition: Any, then: Any, otherwise: Any) -> Any:
    import ibis

    return ibis.ifelse(condition, then, otherwise)


def _check_rows_are_records(table: Any) -> None:
    """Refuse what makes a row depend on other records, or of one record several rows. What an SQL view does is not seen."""
    import ibis.expr.operations as ops

    rows: tuple[Any, ...] = (ops.PhysicalTable, ops.SQLQueryResult, ops.SQLStringView, ops.Project, ops.Filter)
    rows += (ops.Sort, ops.DropColumns, ops.DropNull, ops.FillNull)
    # also a row's number, which hangs on the rows before it
    of_several = (ops.WindowFunction, ops.Reduction, ops.Analytic, ops.Impure, ops.Subquery, ops.Unnest, ops.RowID)
    for node in table.op().find((ops.Relation, *of_several)):
        if not isinstance(node, rows):
            raise TableError(
                f"each row of the table must be one record, which depends on no other; {type(node).__name__} may break that. "
                "Learn from the table itself (some of its columns, some of its rows by their own values)"
            )
    for node in table.op().find((ops.Cast, ops.StringToDate, ops.StringToTimestamp, ops.StringToTime)):
        if not (
            isinstance(node, ops.Cast) and (isinstance(node.arg, ops.Literal) or _is_safe(node.arg.dtype, node.to))
        ):
            to = node.dtype if isinstance(node, ops.Cast) else type(node).__name__
            raise TableError(
                f"a value could stop the cast to {to}, and whether one does would tell of it: say .try_cast(...) instead, which "
                "makes it a missing value"
            )


def _is_safe(source: Any, target: Any) -> bool:
    """Whether no value of a type can stop a cast to another one, in any engine."""
    if source == target or target.is_string() or source.is_boolean():
        return True
    if source.is_integer() and target.is_integer():
        return bool(target.bounds.lower <= source.bounds.lower and source.bounds.upper <= target.bounds.upper)
    if source.is_decimal() and target.is_float64():
        return (source.precision or 1000) <= 300
    return bool(target.is_floating() and (source.is_integer() or (source.is_floating() and target.is_float64())))


def _smallest(n: int) -> str:
    """A small type for numbers below n. PostgreSQL has none of 8 bits."""
    return "int16" if n < 2**15 else "int32"


@contextmanager
def _no_value_shown(engine: Engine | None, also: str = UNSPENT) -> Iterator[None]:
    """Say that the engine stopped, instead of what it says: that may have values, or how to get at them."""
    try:
        with warnings_ignored():
            yield
    except (SchemaError, EngineError, MemoryError):
        raise
    except Exception as error:
        if engine is not None and (explained := engine.explained(error)):
            raise EngineError(f"{explained}. {also}") from None
        name = "the engine" if engine is None else engine.name
        raise EngineError(
            f"{name} stopped before the records were counted ({type(error).__name__}): the connection was lost, or the query "
            f"was cancelled or refused. {also}; see the engine's own log"
        ) from None

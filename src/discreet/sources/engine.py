"""Tables that stay where they are: an engine that ibis knows counts the records of each pattern, and only those counts leave it.

A query takes, for each record, the number of the bin in each column and of the class, groups by them and counts: by all columns
at once, or by sets of columns and in the parts of a division, such as the records that no rule of a list captures (plan.py says
which). Nothing is written in the engine, no temporary table either, so that there is nothing to clean up when a query is
cancelled or a connection lost.

An engine that runs in this process counts patterns in the same way. But for all sets of two or three columns it hands over the
records, some at a time, which are counted here: they do not leave this process then either. Where they are counted many times,
that is from their bins, which are kept in a file (source.py).
"""

import functools
import math
import operator
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._utils.days import part_in
from .._utils.errors import EngineError, SchemaError, TableError, warnings_ignored
from ..private.counts.division import OUTSIDE, Box, Division
from ..private.counts.patterns import PatternsInProgress
from ..private.counts.totals import ByTotal, columns_of, renumbered
from ..schema import Label, Schema
from ..schema.columns import Column
from ..schema.columns.values import class_bins
from .bins import EngineColumn, column_of
from .engines import engine_of
from .engines.base import Engine, SaidInOurWords, ibis, run
from .source import BOOKED, ROWS_AT_A_TIME, Block, Filling, Source, with_class

RECORDS_AT_A_TIME = 1 << 16  # of all their columns: four such parts are in memory at once
UNSPENT = "Nothing was learned and nothing was spent"
NO_LABEL = -1
Counts = tuple[int, np.ndarray, np.ndarray, np.ndarray]  # which set, combinations of its bins, layers, how many


class EngineTable(Source):
    """A table of an engine, and what the schema says of it. Made without a query: names and types are known already.

    >>> import ibis
    >>> from discreet.datasets import load_compas
    >>> data = load_compas()
    >>> table = EngineTable(ibis.memtable(data.frame), data.schema, (0, 1))
    >>> table.engine
    'DuckDB'
    """

    def __init__(self, table: Any, schema: Schema, classes: Sequence[Label], verbose: bool = False) -> None:
        self.columns, self.n_classes, self._verbose = schema.used, len(classes), verbose
        self._table, self._engine = table, (engine := _engine_of_table(table))
        self.engine, self.is_read_anew = engine.name, engine.runs_here
        if schema.target is None:
            raise SchemaError("the schema must say which column of the table is the target: [target] name = ...")
        self._check_names([column.name for column in self.columns], "the schema names column")
        self._check_names([schema.target], "the target of the schema is column")
        # here, so that a column of another type is an error before anything is read
        self._there = {
            c.name: EngineColumn(engine, c.name, column_of(table, c.name), c.value_bins, c.n_bins, c.n_bins - 1)
            for c in self.columns
        }
        self._bins = [there.numbers() for there in self._there.values()]
        bins, n, target = class_bins(classes), self.n_classes, schema.target
        self._labels = EngineColumn(engine, target, table[target], bins, n, NO_LABEL)
        self._label = self._labels.numbers()

    def __repr__(self) -> str:
        return f"<EngineTable of {self.engine}>"

    def add_to(self, filling: Filling) -> None:
        """Let the engine count the records, and add the counts, some at a time; or let it hand them over, to be counted here."""
        if isinstance(filling, PatternsInProgress):
            for *words, labels, times in self._answer(self._patterns()):
                known = labels != NO_LABEL
                filling.add_counted([word[known] for word in words], labels[known], times[known])
            return
        if self._engine.runs_here:
            super().add_to(filling)
            return
        names = list(self._there)
        which = [names.index(column.name) for column in filling.columns]
        sets = [[which[i] for i in numbers] for numbers in filling.sets]
        for counted in self.count_sets(sets, renumbered(filling.division, which)):
            filling.add_counted(*counted)

    def count_sets(self, sets: Sequence[Sequence[int]], division: Division, booked: bool = False) -> Iterator[Counts]:
        """Count by the bins of each set of columns, and by classes and parts: layer = class + classes * part.

        One query, and so one state of the table, which may change between two: each record is counted once for each set.
        Combinations of bins are numbered, with the first column varying fastest. ``booked``: whether the budget is by now, though
        all records are counted.
        """
        needed = sorted({i for numbers in (*sets, columns_of(division)) for i in numbers})
        binned = self._table.select(**{f"b{i}": self._bins[i].cast("int64") for i in needed}, y=self._label)
        # no filter: an engine that skips a part of a file believes what the file says of it, which leaves NaN out
        left = self._engine.apart(binned.mutate(y=self._layers(binned, division)))
        sizes = [[self.columns[i].n_bins for i in numbers] for numbers in sets]
        starts = np.cumsum([0, *map(math.prod, sizes)])
        places = [
            _sum([(left[f"b{i}"], math.prod(size[:k])) for k, i in enumerate(numbers)]) + int(start)
            for numbers, size, start in zip(sets, sizes, starts[:-1], strict=True)
        ]
        most = self._engine.most_places
        some = [_counted(left, places[first : first + most]) for first in range(0, len(places), most)]
        query = _joined(lambda one, other: one.union(other), some)
        for answer in self._answer(query, _of_the_budget(division, booked)):
            known = answer[1] != NO_LABEL
            place, layers, times = (column[known] for column in answer)
            found = np.searchsorted(starts, place, side="right") - 1
            for number in np.unique(found).tolist():
                own = found == number
                yield number, place[own] - starts[number], layers[own], times[own]

    def _layers(self, binned: Any, division: Division) -> Any:
        """The number of the class and the part of each record; that of no label for one that is not counted."""
        if isinstance(division, ByTotal):
            number = binned.y + _range(binned, division) * self.n_classes
            return ibis.cases((binned.y < 0, NO_LABEL), else_=number).cast("int32")
        if not division.boxes:
            return binned.y
        numbers = {
            part: NO_LABEL if part == OUTSIDE else binned.y.cast("int32") + part * self.n_classes
            for part in (division.rest, *(part for _, part in division.boxes))
        }
        inside = [(_in_box(binned, box), numbers[part]) for box, part in division.boxes]
        return ibis.cases((binned.y < 0, NO_LABEL), *inside, else_=numbers[division.rest]).cast("int32")

    def blocks(self, filling: Filling) -> Iterator[Block]:
        """As an engine in this process hands them over.

        200,000 records of 40 columns, all pairs, in seconds of a processor: 0.7, with bins from DuckDB 2.2; in DuckDB 10.5 by
        GROUPING SETS (and 2 GB), 21 by ``count``, 15 by larger sets of columns, 45 by one query for each pair.
        """
        assert not isinstance(filling, PatternsInProgress)  # which an engine counts
        handed = [there.handed() for there in (*(self._there[c.name] for c in filling.columns), self._labels)]
        records = self._table.select(**{f"b{i}": values for i, (values, _) in enumerate(handed)})
        for answer in self._answer(records, _of_the_budget(filling.division), RECORDS_AT_A_TIME, whole=False):
            *bins, labels = (as_numbers(x) for x, (_, as_numbers) in zip(answer, handed, strict=True))
            yield with_class(bins, labels)

    def _answer(
        self, expression: Any, also: str = UNSPENT, rows: int | None = None, whole: bool = True
    ) -> Iterator[list[np.ndarray]]:
        """What the engine answers: the columns, some rows at a time."""
        with _no_value_shown(self._engine, also):
            batches = functools.partial(self._engine.batches, expression, rows or ROWS_AT_A_TIME, whole=whole)
            for batch in run(self._engine, batches, self._verbose, self._engine.is_plain(self._table)):
                yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]

    def _check_names(self, names: Sequence[str], problem: str) -> None:
        there = list(self._table.columns)
        if (name := next((n for n in names if n not in there and part_in(n, there) is None), None)) is not None:
            listed = ", ".join(map(repr, there[:8])) + ", ..." * (len(there) > 8)
            raise SchemaError(f"{problem} {name!r}, which the table does not have; it has {listed}")
        times = Counter(name.lower() for name in there)
        for name in names:
            if self._engine.ignores_case and times[name.lower()] > 1:
                raise SchemaError(
                    f"{self.engine} does not tell column {name!r} from one that differs in case; rename it"
                )

    def _patterns(self) -> Any:
        """The patterns, packed into numbers k0, k1, ..., and the label, y, and how many records there are of each.

        To group by one number is faster than by one for each column. Records without a label are counted as well, and left out
        here: a filter would have the engine look at labels twice.
        """
        terms = defaultdict(list)
        for bins, (word, stride) in zip(
            self._bins, PatternsInProgress(self.columns, self.n_classes).places, strict=True
        ):
            terms[f"k{word}"].append((bins.cast("int64"), stride))
        numbers = {name: _sum(these) for name, these in terms.items()} | {"y": self._label}
        packed = self._table.select(**numbers)
        return packed.group_by(list(numbers)).agg(n=packed.count())


def is_engine_table(X: Any) -> bool:
    """Whether this is an ibis table."""
    ibis = sys.modules.get("ibis")
    return ibis is not None and isinstance(X, ibis.Table)


def values_of(table: Any, name: str, least: int = 1) -> Iterator[tuple[list[Any], list[int]]]:
    """The values of a column that at least so many records have, and how many have each. They stay in this process."""
    engine = _engine_of_table(table)
    values = table.select(v=table[name])
    query = values.group_by("v").agg(n=values.count())
    query = query.filter(query.n >= least) if least > 1 else query
    with _no_value_shown(engine, BOOKED if least > 1 else UNSPENT):
        for batch in run(engine, functools.partial(engine.batches, query, ROWS_AT_A_TIME)):
            values, times = (column.to_pylist() for column in batch.columns)
            yield values, times


def records(table: Any, columns: Sequence[tuple[str, Column | None]]) -> Iterator[list[Any]]:
    """The values of some columns, some records at a time, for those who may see them: nothing is counted here."""
    engine = _engine_of_table(table)
    asked = table.select(**{f"c{i}": column_of(table, name) for i, (name, _) in enumerate(columns)})
    with _no_value_shown(engine, "No scores were written"):
        for batch in run(engine, functools.partial(engine.batches, asked, ROWS_AT_A_TIME)):
            yield [column.to_pylist() for column in batch.columns]


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


def _of_the_budget(division: Division, booked: bool = False) -> str:
    """What an error says of it. What a part of the records is was chosen before, with noise, and so was paid for."""
    return BOOKED if booked or division.boxes or isinstance(division, ByTotal) else UNSPENT


def _in_box(binned: Any, box: Box) -> Any:
    """Whether a record is in a box; in that of no column every record is."""
    inside = [_inside(binned[f"b{i}"], true) for i, true in box.items()]
    return _joined(operator.and_, inside) if inside else ibis.literal(True)


def _range(binned: Any, division: ByTotal) -> Any:
    """The number of the range that a record's total of points is in. If cards are apart, each has numbers of its own."""
    totals = [_total(binned, start, points) for start, points in division.cards]
    boxes = [(_in_box(binned, box), card) for box, card in division.boxes]
    total = ibis.cases(*((inside, totals[card]) for inside, card in boxes), else_=totals[0]) if boxes else totals[0]
    below = [(total < limit, number) for number, limit in enumerate(division.limits)]
    number = ibis.cases(*below, else_=len(below)).cast("int32") if below else 0
    if not (division.apart and boxes):
        return number
    return number + ibis.cases(*((inside, card * (len(below) + 1)) for inside, card in boxes), else_=0).cast("int32")


def _total(binned: Any, start: float, points: Mapping[int, np.ndarray]) -> Any:
    total = ibis.literal(float(start))
    for column, by_bin in points.items():
        some = [(_inside(binned[f"b{column}"], by_bin == p), float(p)) for p in np.unique(by_bin[by_bin != 0.0])]
        if some:
            total = total + ibis.cases(*some, else_=0.0)
    return total


def _inside(bins: Any, true: np.ndarray) -> Any:
    """Whether a bin is one of those in which something is true, with few comparisons."""
    yes, no = np.flatnonzero(true), np.flatnonzero(~true)
    if len(yes) and yes[-1] - yes[0] == len(yes) - 1:
        return bins.between(int(yes[0]), int(yes[-1]))
    return ~bins.isin(no.tolist()) if len(no) < len(yes) else bins.isin(yes.tolist())


def _joined(how: Any, conditions: Sequence[Any]) -> Any:
    """Conditions, or queries, joined in pairs: a long chain would be too deep for ibis."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return how(_joined(how, conditions[:middle]), _joined(how, conditions[middle:]))


def _sum(terms: Sequence[tuple[Any, int]]) -> Any:
    """Bins, each times its factor, in one number."""
    return functools.reduce(operator.add, [bins * factor for bins, factor in terms]) if terms else ibis.literal(0)


def _counted(left: Any, places: Sequence[Any]) -> Any:
    """How many records there are in each place and layer; those that are not counted, in a place of no meaning."""
    spread = left.select(place=ibis.ifelse(left.y >= 0, ibis.array(places), ibis.array([0])).unnest(), y=left.y)
    return spread.group_by("place", "y").agg(n=spread.count())


def _check_rows_are_records(table: Any) -> None:
    """Refuse what makes a row depend on other records, or of one record several rows. What an SQL view does is not seen."""
    ops = ibis.expr.operations
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


@contextmanager
def _no_value_shown(engine: Engine | None, also: str = UNSPENT) -> Iterator[None]:
    """Say that the engine stopped, instead of what it says: that may have values, or how to get at them."""
    try:
        with warnings_ignored():
            yield
    except (SchemaError, EngineError, MemoryError):
        raise
    except SaidInOurWords as error:
        raise EngineError(f"{error}. {also}") from None
    except Exception as error:
        name = "the engine" if engine is None else engine.name
        raise EngineError(
            f"{name} stopped before the records were counted ({type(error).__name__}): the connection was lost, or the query "
            f"was cancelled or refused. {also}; see the engine's own log"
        ) from None

"""Ways into the room: a table in memory, a file, or a table that stays where it is, counted once for many fits, or anew.

A vault that is never filled: the engine counts anew for each rule of a list, and the counts come here alone. They are the same
numbers as those of a filled vault, so the doors, what they charge and what is proved are the same; with one more assumption. The
engine is asked several times, and **the table may not change in between**: several parts of the list might count a record that
was changed, and their class counts are charged once, because parts of one table are disjoint (docs/theory.md, Lemma 7). The
statement of such a fit says so.

A query names the rules that were chosen before it, and the engine may keep it in a log: they are released there. That is why the
budget stays booked if a later query fails, and why only the first is asked before the budget is reserved.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.provenance import was_sample
from .._utils.redaction import NOTHING_BOOKED, count_redacted, redacted
from .._utils.tables import as_table
from ..private.counts.cells import CellsInProgress
from ..private.counts.counting import CellCounter, NodeCounts, RuleCounts
from ..private.counts.division import column_numbers, left_by
from ..private.queries import vault
from ..rules.candidates import Candidates
from ..schema import Label, Schema
from ..schema.schema import check_private_schema, sorted_classes
from .engine import EngineTable
from .memory import FileTable, MemoryTable, check_types


class Vault(vault.Vault):
    """Exact counts of a table under lock: fill it once, and fit many times (``fit_vault``)."""

    @classmethod
    @redacted(NOTHING_BOOKED)
    def from_table(cls, X: Any, y: Any, schema: Schema) -> "Vault":
        """A vault with the records of a table: a data frame or array X and labels y.

        Values and labels that the schema does not foresee are taken as it says, or left out, without an error: an error
        would depend on a record. Without classes in the schema they are 0 and 1.

        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> Vault.from_table(data.data, data.target, data.schema)
        <Vault>
        """
        check_private_schema(schema)
        classes = sorted_classes(schema)
        table = as_table(X, schema.names)
        check_types(table, schema.used)
        vault = cls.filled_by(MemoryTable(table, y, classes), schema, classes)
        vault.drafted = was_sample(X, y)
        return vault

    @classmethod
    @redacted(NOTHING_BOOKED)
    def from_file(
        cls,
        path: str | PathLike[str],
        schema: Schema,
        delimiter: str | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
    ) -> "Vault":
        """A vault with the records of a CSV, Parquet or Arrow file, read a part at a time: the file may be larger than memory.

        The schema names the target. What the strings of a CSV file mean is in docs/command-line.md.

        >>> import tempfile
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data.frame.to_csv(f"{folder}/compas.csv", index=False)
        ...     Vault.from_file(f"{folder}/compas.csv", data.schema)
        <Vault>
        """
        check_private_schema(schema)
        classes = sorted_classes(schema)
        return cls.filled_by(FileTable(Path(path), schema, classes, delimiter, encoding, decimal), schema, classes)

    @classmethod
    @redacted(NOTHING_BOOKED)
    def from_source(cls, table: Any, schema: Schema, verbose: bool = False) -> "Vault":
        """A vault with the records of a table that stays where it is: an ibis table (DuckDB, PostgreSQL, Spark).

        The engine counts them, by the bins of the schema's columns and by the schema's target, and only the counts come here.
        There are at most as many as records; see docs/scale.md. ``verbose`` shows on a terminal how far the engine is.

        >>> import ibis
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> Vault.from_source(ibis.memtable(data.frame), data.schema)
        <Vault>
        """
        check_private_schema(schema)
        classes = sorted_classes(schema)
        vault = cls.filled_by(EngineTable(table, schema, classes, verbose), schema, classes)
        vault.drafted = was_sample(table)
        return vault

    @classmethod
    def filled_by(
        cls, source: EngineTable | FileTable | MemoryTable, schema: Schema, classes: Sequence[Label]
    ) -> "Vault":
        """A vault with the records that a source adds."""
        cells = CellsInProgress(schema.used, len(classes))
        count_redacted(lambda: source.add_to(cells))
        return cls(schema, classes, count_redacted(cells.finish))


class SourceCounts(RuleCounts):
    """Counts from an engine, by sets of columns such that the columns of each candidate are in one of them."""

    def __init__(self, source: EngineTable, candidates: Candidates, sets: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self._asked = False
        self._source, self._sets, self._candidates = source, [tuple(numbers) for numbers in sets], candidates
        self._of_literal = column_numbers(source.columns, candidates)
        which = np.array([self._set_of({self._of_literal[i] for i in row if i >= 0}) for row in candidates.members])
        self._parts = [(np.flatnonzero(which == i), candidates.only(which == i)) for i in range(len(self._sets))]

    def _set_of(self, columns: set[int]) -> int:
        return next(i for i, numbers in enumerate(self._sets) if columns <= set(numbers))

    def _count(self, prefix: frozenset[int]) -> NodeCounts:
        columns, n_classes = self._source.columns, self._source.n_classes
        filling = [CellsInProgress([columns[i] for i in numbers], n_classes) for numbers in self._sets]
        division = left_by(sorted(prefix), self._candidates, self._of_literal)
        # only the first query comes before the reservation, and all records may be asked about again, if they were forgotten
        booked, self._asked = self._asked, True
        for which, patterns, labels, times in self._source.count(self._sets, division, booked):
            filling[which].add_counted([patterns * n_classes], labels, times)  # the label varies fastest there
        node = NodeCounts(np.zeros(n_classes), np.zeros((n_classes, len(self._candidates))))
        for (rules, candidates), cells in zip(self._parts, filling, strict=True):
            part = CellCounter(cells.finish(), candidates).counts()
            node.captured[:, rules] = part.captured
            node = node._replace(left=part.left)  # the same in each
        return node


class VaultAtSource(vault.Vault):
    """A vault for one set of candidates, whose counts stay with the engine until a door asks for them."""

    def __init__(self, schema: Schema, classes: Sequence[Label], counts: SourceCounts) -> None:
        self.schema, self.classes = schema, tuple(classes)
        self._counts = counts

    @classmethod
    def opened(
        cls,
        source: EngineTable,
        schema: Schema,
        classes: Sequence[Label],
        candidates: Candidates,
        sets: Sequence[Sequence[int]],
    ) -> "VaultAtSource":
        """With the first of the queries asked: what fails from the beginning costs nothing."""
        counts = SourceCounts(source, candidates, sets)
        counts.counts()
        return cls(schema, classes, counts)

    def _counter(self, candidates: Candidates) -> RuleCounts:
        return self._counts

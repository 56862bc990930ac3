"""The vault: it holds cells. What leads out are doors, and each charges first, then answers with noise.

A vault can be filled once and fitted many times. It cannot be printed, pickled or copied.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..cells.cells import Cells, CellsInProgress
from ..cells.counting import CellCounter, RuleCounts
from ..cells.secret import Secret
from ..common.errors import SchemaError
from ..common.samples import was_sample
from ..common.tables import as_table
from ..common.unseen import NOTHING_BOOKED, count_unseen, unseen
from ..conditions.candidates import Candidates
from ..schema import Label, Schema
from ..sources.engine import EngineTable
from ..sources.memory import FileTable, MemoryTable, check_types

MOST_COUNTERS = 8


def check_private_schema(schema: Schema) -> None:
    """Refuse a schema by which an error would depend on a record."""
    if not isinstance(schema, Schema):
        raise SchemaError("schema must be a Schema; read one from a file with Schema.load(path)")
    for column in schema.used:
        if getattr(column, "outside", None) == "error":
            raise SchemaError(
                f'column {column.name!r} says outside = "error", but a private learner may not let an error depend on '
                "a record; say what to take such values for instead"
            )


def sorted_classes(schema: Schema) -> tuple[Label, ...]:
    """The classes in the order of scikit-learn's ``classes_``; 0 and 1 if the schema names none."""
    return tuple(np.unique(np.array(schema.classes or (0, 1))).tolist())


class Vault(Secret):
    """Cells under lock: exact counts go in, only the doors lead out.

    ``drafted``: a schema was drafted from the table that fills it, so nothing is proved about what is learned from it.
    """

    drafted = False

    def __init__(self, schema: Schema, classes: Sequence[Label], cells: Cells) -> None:
        self.schema = schema
        self.classes = tuple(classes)
        self._cells = cells
        self._counters: dict[Candidates, CellCounter] = {}

    @classmethod
    @unseen(NOTHING_BOOKED)
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
    @unseen(NOTHING_BOOKED)
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
    @unseen(NOTHING_BOOKED)
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
        count_unseen(lambda: source.add_to(cells))
        return cls(schema, classes, count_unseen(cells.finish))

    def _counter(self, candidates: Candidates) -> RuleCounts:
        """The counter of a candidate set, kept for the next fit that uses the same one."""
        if candidates not in self._counters:
            while len(self._counters) >= MOST_COUNTERS:
                self._counters.pop(next(iter(self._counters)))
            self._counters[candidates] = CellCounter(self._cells, candidates)
        return self._counters[candidates]

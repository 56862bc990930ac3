"""Ways into the room: a table in memory, a file, or a table that stays where it is, counted once for many fits."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .._utils.provenance import was_sample
from .._utils.redaction import NOTHING_BOOKED, count_redacted, redacted
from .._utils.tables import as_table
from ..private.counts.cells import CellsInProgress
from ..private.queries import vault
from ..schema import Label, Schema
from ..schema.private import check_private_schema, sorted_classes
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

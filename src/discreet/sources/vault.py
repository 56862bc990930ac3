"""Exact counts of a table that are kept for many fits: of a table in memory, a file, or a table that stays where it is."""

from os import PathLike
from pathlib import Path
from typing import Any

from .._utils.provenance import was_sample
from .._utils.redaction import NOTHING_BOOKED, redacted, redacting
from .._utils.tables import as_table
from ..private.counts.counts import Patterns
from ..schema import Schema
from ..schema.schema import check_private_schema, sorted_classes
from .engine import EngineTable
from .memory import FileTable, MemoryTable, check_types
from .plan import Counting
from .source import Source


class Vault(Patterns):
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
        return cls._counted(FileTable(Path(path), schema, sorted_classes(schema), delimiter, encoding, decimal), schema)

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
        return cls._counted(EngineTable(table, schema, sorted_classes(schema), verbose), schema, was_sample(table))

    @classmethod
    def _counted(cls, source: Source, schema: Schema, drafted: bool = False) -> "Vault":
        with redacting(NOTHING_BOOKED, drawing=True):
            counts = source.count(Counting.patterns(schema))
        assert isinstance(counts, Patterns)
        vault = cls(schema, counts.classes, counts.cells)
        vault.drafted = drafted
        return vault

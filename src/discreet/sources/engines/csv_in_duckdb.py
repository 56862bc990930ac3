"""CSV files for DuckDB: read by this process, as for a table in memory (sources/files.py), every column a text.

DuckDB would read other files than we do, and in another way: it guesses, drops a quoted text that never ends, refuses a record of
more than 2 MB. Whether it could be trusted with a file would depend on its records. So there is one reader, and one name for what
it read. A file that is larger than memory is for ``fit_file``, which reads it a part at a time.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
from ibis.backends.duckdb import Backend

from ..._utils.errors import TableError
from ...schema import Label
from ...schema.columns import Column
from ...schema.columns.matching import MISSING
from ...schema.columns.value_bins import NumberBins, TextBins, TruthBins
from ..bins import EngineColumn
from ..files import NO_NUMBER, header, read_texts
from .duckdb import DuckDB

SPACES = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
BARE = "(?s)^([!-~](.*[!-~])?)?$"  # nothing to strip; to strip is slow


@dataclass(frozen=True)
class CsvTexts:
    """How the texts of a CSV file are written."""

    decimal: str = "."  # sign of numbers

    def read_as_in_memory(self, table: Any, columns: Sequence[Column], target: str, classes: Sequence[Label]) -> Any:
        """The texts as what they mean: numbers, categories and labels, NULL where they are missing.

        In queries of their own, one within the other: ibis would write what a text means once more for each cut and category.
        """
        connection, names = table.get_backend(), [*(column.name for column in columns), target]
        texts = [name for name in names if table[name].type().is_string()]
        bare = _apart(connection, table.select(**{n: _stripped(table[n]) if n in texts else table[n] for n in names}))
        found = {name: EngineColumn(DuckDB(connection), name, bare[name]) for name in texts}
        meant = {c.name: _meant(found[c.name], c, self.decimal) for c in columns if c.name in texts}
        if target in texts:
            meant[target] = _written(found[target], set(), self.decimal)
        return _apart(connection, bare.mutate(**meant))


class CsvConnection(Backend):  # type: ignore[misc]  # ibis has no types
    """A connection of DuckDB with nothing but a CSV file. It knows what the texts mean, whatever is selected of them."""

    def __init__(self, texts: CsvTexts) -> None:
        super().__init__()
        self.texts = texts


def open_csv(path: Path, delimiter: str | None, encoding: str, decimal: str = ".") -> Any:
    """A CSV file as an ibis table of texts."""
    if decimal not in (".", ","):
        raise TableError("decimal must be a point or a comma")
    names, delimiter = header(path, delimiter, encoding)
    if len({name.lower() for name in names}) < len(names):
        raise TableError(
            f"{path.name} has names of columns that differ in case only, as they may not in DuckDB; rename one, or say --engine "
            "memory (in Python, Vault.from_file)"
        )
    connection = CsvConnection(CsvTexts(decimal))
    connection.reconnect()
    connection.con.register("records", _in_memory(path, names, delimiter, encoding))
    return connection.table("records")


def _in_memory(path: Path, names: list[str], delimiter: str, encoding: str) -> Any:
    import pyarrow as pa

    schema = pa.schema([(name, pa.large_string()) for name in names])
    parts = [pa.table(texts, schema=schema) for texts in read_texts(path, names, delimiter, encoding)]
    return pa.concat_tables(parts)


def _apart(connection: Any, query: Any) -> Any:
    return connection.sql(connection.compile(query), schema=query.schema())


def _stripped(text: Any) -> Any:
    """Without what Python takes for space, at both ends."""

    def trim(text: str, signs: str) -> str:
        """DuckDB's own."""
        raise NotImplementedError

    text = text.fill_null("")
    return ibis.ifelse(text.re_search(BARE), text, ibis.udf.scalar.builtin(trim)(text, SPACES))


def _meant(texts: EngineColumn, column: Column, decimal: str) -> Any:
    """As ``files.as_read`` has it. What is no number, or neither true nor false, is missing without that."""
    match column.value_bins:
        case NumberBins():
            return texts.number(decimal)
        case TextBins(bin_of=bin_of):
            return _written(texts, bin_of.keys(), decimal)
        case TruthBins():
            return _written(texts, set(), decimal)


def _written(texts: EngineColumn, listed: AbstractSet[str], decimal: str) -> Any:
    """Texts, with null for those that are missing, and numbers with a point; a text that is listed as it is."""
    text = texts.values
    found = [(text.isin(texts.held(listed)), text)] if listed else []
    found.append((text.isin(sorted(MISSING - listed)), ibis.null("string")))
    if decimal == ",":
        found.append((texts.number(decimal).notnull(), text.translate(",.", ".,")))
        found.append((texts.number().notnull(), ibis.literal(NO_NUMBER)))
    return ibis.cases(*found, else_=text)

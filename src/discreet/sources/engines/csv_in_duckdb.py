"""CSV files in DuckDB: every column a text, and every text taken for what it is taken for in memory (sources/files.py).

Nothing is left to DuckDB to find out, neither types nor names nor the delimiter. More may not be left to it:

- It reads a file on several threads by a guess at where a record begins, and a quoted text of several lines may mislead it. So
  it reads on one.
- On one thread it drops a quoted text that never ends, and whatever follows, in silence. It refuses what is read in memory (a
  record of more than 2 MB, lines that end in several ways), and reads what is refused there. Whether a file is refused would
  depend on who reads it, and on a record. So DuckDB gets a file only if it is written plainly, as a pass over the file finds,
  which keeps nothing. Any other is read by this process, as for a table in memory: it is refused, or its texts go to DuckDB.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
from ibis.backends.duckdb import Backend

from ...common.errors import TableError
from ...schema import Label
from ...schema.columns import Column, canonical
from ...schema.columns.numeric import as_number
from ...schema.columns.value_bins import NumberBins, TextBins, TruthBins
from ..bins import EngineColumn
from ..files import MISSING, NO_ROW_NAMES, header, numbers_among, read_texts
from .base import as_float
from .duckdb import DuckDB, name_as_it_is

SPACES = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
BARE = "(?s)^([!-~](.*[!-~])?)?$"  # nothing to strip; to strip is slow
BLOCK = 1 << 20
LONGEST = 2 * BLOCK  # bytes of a record, as DuckDB allows by itself
NO_TABLE = (
    "DuckDB cannot read the CSV file as a table: it has lines with more or fewer fields than its first line has names, lines "
    "that end in several ways, a text that is not in UTF-8, or a record of more than 2 MB. If its delimiter is unusual, "
    "say so; if it is cut off or damaged, get another copy; if it has row names: " + NO_ROW_NAMES
)
ON_ONE_THREAD = {"parallel": False, "auto_detect": False, "header": True, "quote": '"', "escape": '"'}
AS_IT_STANDS = {
    "compression": "none",
    "hive_partitioning": False,
    "allow_quoted_nulls": False,
    "max_line_size": LONGEST,
}


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
            meant[target] = _label(found[target], classes, self.decimal)
        return _apart(connection, bare.mutate(**meant))


class CsvConnection(Backend):  # type: ignore[misc]  # ibis has no types
    """A connection of DuckDB with nothing but a CSV file. It knows what the texts mean, whatever is selected of them."""

    def __init__(self, texts: CsvTexts) -> None:
        super().__init__()
        self.texts = texts


def is_readable(encoding: str) -> bool:
    """Whether DuckDB reads this encoding without an extension that must be downloaded, and as Python does."""
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        return False


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
    if not (is_readable(encoding) and delimiter.isascii() and is_plain(path, len(names), delimiter)):
        connection.con.register("records", _in_memory(path, names, delimiter, encoding))
        return connection.table("records")
    quoted = name_as_it_is(str(path))
    columns = dict.fromkeys(names, "VARCHAR")
    table = connection.read_csv(quoted, columns=columns, delim=delimiter, **ON_ONE_THREAD, **AS_IT_STANDS)
    return table if len(names) > 1 else table.filter(table[names[0]].notnull())  # an empty line is no record


def _in_memory(path: Path, names: list[str], delimiter: str, encoding: str) -> Any:
    import pyarrow as pa

    schema = pa.schema([(name, pa.large_string()) for name in names])
    parts = [pa.table(texts, schema=schema) for texts in read_texts(path, names, delimiter, encoding)]
    return pa.concat_tables(parts)


def is_plain(path: Path, n_fields: int, delimiter: str) -> bool:
    """Whether each line is a record as everybody reads it, of text in UTF-8.

    It has as many fields as the first line, or none; a quoted text is the whole of its field, but for one space before it; all
    lines end in the same way; and no record is too long for DuckDB: it fits into a block and what is left of the one before.
    """
    text = codecs.getincrementaldecoder("utf-8")()
    lines, end, rest = None, b"\n", b""
    with open(path, "rb") as file:
        file.seek(len(codecs.BOM_UTF8) if file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0)
        while block := file.read(BLOCK):
            rest += block
            try:
                text.decode(block)
            except UnicodeDecodeError:
                return False
            if lines is None:
                end = first[0] if (first := re.search(rb"\r\n|\n|\r", rest)) else end
                lines = _lines(n_fields, delimiter, end)
            rest = rest[_end(lines, rest) :]
            if len(rest) > BLOCK:
                return False
    ended = not rest or (lines is not None and _end(lines, rest + end) == len(rest + end))
    return ended and not text.getstate()[0]


def _lines(n_fields: int, delimiter: str, end: bytes) -> re.Pattern[bytes]:
    d = re.escape(delimiter).encode()
    one, some = (b"", b"") if delimiter == " " else (b" ?+", b" *+")
    edge = rb"(?=[%b\n\r])" % d
    bare = rb'[^"%b\n\r]*+%b|%b[^" %b\n\r][^%b\n\r]*+' % (
        d,
        edge,
        some,
        d,
        d,
    )  # with quotes in it, but not at its start
    quoted = rb'%b"[^"]*+(?:""[^"]*+)*+"' % one
    field = rb"(?>%b|%b)%b" % (bare, quoted, edge)
    return re.compile(rb"(?>(?>%b(?:%b%b){%d})?+%b)*+" % (field, d, field, n_fields - 1, re.escape(end)))


def _end(pattern: re.Pattern[bytes], text: bytes) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


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
            listed = bin_of.keys()
            return _written(texts, listed, numbers_among(listed), MISSING - listed, decimal)
        case TruthBins():
            return texts.values


def _label(texts: EngineColumn, classes: Sequence[Label], decimal: str) -> Any:
    """As ``files.labels`` has it: the text of a class."""
    numbers: dict[float, str] = {}
    for c in classes:
        numbers.setdefault(as_number(c), canonical(c))
    found = _written(texts, {canonical(c) for c in classes}, numbers, MISSING, decimal)
    if isinstance(classes[0], str):
        return found
    truth = [(word, numbers[n]) for word, n in (("true", 1.0), ("false", 0.0)) if n in numbers]
    return ibis.cases(*((found.lower() == word, c) for word, c in truth), else_=found) if truth else found


def _written(
    texts: EngineColumn,
    listed: AbstractSet[str],
    numbers: Mapping[float, str],
    missing: AbstractSet[str],
    decimal: str,
) -> Any:
    """Texts, with NULL for those that are missing, and the listed one for another way to write the same number."""
    text, number = texts.values, texts.number(decimal)
    found = [(text.isin(sorted(missing)), ibis.null("string")), (text.isin(texts.held(listed)), text)]
    finite = {n: c for n, c in numbers.items() if n == n}
    whole = [n for n, c in finite.items() if abs(n) < 2**53 and c == str(int(n))]
    if whole:  # one case for them all: there may be many
        found.append((number.isin([as_float(n) for n in whole]), number.cast("int64").cast("string")))
    found += [(number == as_float(n), ibis.literal(c)) for n, c in finite.items() if n not in whole]
    return ibis.cases(*found, else_=text)

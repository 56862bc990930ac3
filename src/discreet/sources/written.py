"""CSV files in DuckDB: every column a text, and every text taken for what it is taken for in memory (sources/files.py).

Nothing is left to DuckDB to find out, neither types nor names nor the delimiter. Two more things may not be left to it:

- It reads a file on several threads by a guess at where a record begins, and a quoted text of several lines may mislead it. So
  it reads on one.
- On one thread it drops a quoted text that never ends, and whatever follows, in silence. So that is looked for here, in one
  pass over the file, which keeps nothing.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from ..columns import Categorical, Column, Numeric, canonical
from ..columns.numeric import as_number
from ..errors import TableError
from ..schema import Label
from .bins import EngineColumn, as_float
from .files import MISSING, NEVER_ENDS, NO_ROW_NAMES, header, numbers_among

SPACES = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
BARE = "(?s)^([!-~](.*[!-~])?)?$"  # nothing to strip; to strip is slow
BLOCK = 1 << 24
LONGEST = 1 << 21  # bytes of a record, as DuckDB allows by itself
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


def is_readable(encoding: str) -> bool:
    """Whether DuckDB reads this encoding without an extension that must be downloaded, and as Python does."""
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        return False


def open_csv(ibis: Any, path: Path, delimiter: str | None, encoding: str, decimal: str = ".") -> Any:
    """A CSV file as an ibis table of texts."""
    if decimal not in (".", ","):
        raise TableError("decimal must be a point or a comma")
    names, delimiter = header(path, delimiter, encoding)
    if not is_readable(encoding) or not delimiter.isascii():
        raise TableError(
            f"{path.name}: DuckDB reads CSV files in UTF-8, with a delimiter of ASCII. Convert it (iconv -f "
            f"{encoding.upper()} -t UTF-8), or read it into memory and use fit(X, y)"
        )
    if len({name.lower() for name in names}) < len(names):
        raise TableError(
            f"{path.name} has names of columns that differ in case only, as they may not in DuckDB; rename one"
        )
    if not _quotes_end(path, delimiter):
        raise TableError(f"{path.name} {NEVER_ENDS} (or, if several spaces stand before a quote, remove them)")
    backend = ibis.duckdb.connect()
    backend.texts_are_as_in_files, backend.decimal_sign = True, decimal
    quoted = name_as_it_is(str(path))
    columns = dict.fromkeys(names, "VARCHAR")
    table = backend.read_csv(quoted, columns=columns, delim=delimiter, **ON_ONE_THREAD, **AS_IT_STANDS)
    return table if len(names) > 1 else table.filter(table[names[0]].notnull())  # an empty line is no record


def name_as_it_is(path: str) -> str:
    """The name of one file for DuckDB, to which it might be a pattern of names."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def is_written(backend: Any) -> bool:
    """Whether the texts of a connection are those of a CSV file."""
    return getattr(backend, "texts_are_as_in_files", False)


def decimal_sign(backend: Any) -> str:
    """The decimal sign of the numbers in a CSV file."""
    return getattr(backend, "decimal_sign", ".")


def _quotes_end(path: Path, delimiter: str) -> bool:
    """Whether no quoted text runs on to the end of the file, or is longer than a record may be.

    Nor may several spaces stand before a quote: DuckDB takes no notice of one, but takes several for a part of the text.
    """
    d = re.escape(delimiter)
    one, some = ("", "") if delimiter == " " else (" ?+", " *+")
    end, odd = rf"[{d}\n\r]", rf'[^" {d}\n\r]'
    quoted = rf'{one}(?:"[^"]*+")++[^"{d}\n\r]*+{end}'
    bare = rf"{some}{odd}[^{d}\n\r]*+{end}"  # quotes within a field that does not begin with one are like other signs
    fields = re.compile(rf'(?>[^"]*{end}|{quoted}|{bare})*+'.encode())
    with open(path, "rb") as file:
        rest = file.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        while block := file.read(BLOCK):
            rest += block
            rest = rest[_end(fields, rest) :]
            if len(rest) > LONGEST:
                return False
    return _end(fields, rest + b"\n") == len(rest) + 1


def _end(pattern: re.Pattern[bytes], text: bytes) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def as_meant(table: Any, columns: Sequence[Column], target: str, classes: Sequence[Label]) -> Any:
    """The texts of a CSV file as what they mean: numbers, categories and labels, NULL where they are missing.

    In queries of their own, one within the other: ibis would write what a text means once more for each cut and category.
    """
    backend, names = table.get_backend(), [*(column.name for column in columns), target]
    texts = [name for name in names if table[name].type().is_string()]
    bare = _apart(backend, table.select(**{n: _stripped(table[n]) if n in texts else table[n] for n in names}))
    column, decimal = (lambda name: EngineColumn(backend.name, name, bare[name])), decimal_sign(backend)
    meant = {c.name: _meant(column(c.name), c, decimal) for c in columns if c.name in texts}
    if target in texts:
        meant[target] = _label(column(target), classes, decimal)
    return _apart(backend, bare.mutate(**meant))


def _apart(backend: Any, query: Any) -> Any:
    return backend.sql(backend.compile(query), schema=query.schema())


def _stripped(text: Any) -> Any:
    """Without what Python takes for space, at both ends."""
    import ibis

    def trim(text: str, signs: str) -> str:
        """DuckDB's own."""
        raise NotImplementedError

    text = text.fill_null("")
    return ibis.ifelse(text.re_search(BARE), text, ibis.udf.scalar.builtin(trim)(text, SPACES))


def _meant(texts: EngineColumn, column: Column, decimal: str) -> Any:
    """As ``files.as_read`` has it. What is no number, or neither true nor false, is missing without that."""
    if isinstance(column, Numeric):
        return texts.number(decimal)
    if not isinstance(column, Categorical):
        return texts.values
    listed = column.places[0].keys()
    return _written(texts, listed, numbers_among(listed), MISSING - listed, decimal)


def _label(texts: EngineColumn, classes: Sequence[Label], decimal: str) -> Any:
    """As ``files.labels`` has it: the text of a class."""
    import ibis

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
    import ibis

    text, number = texts.values, texts.number(decimal)
    found = [(text.isin(sorted(missing)), ibis.null("string")), (text.isin(texts.held(listed)), text)]
    finite = {n: c for n, c in numbers.items() if n == n}
    whole = [n for n, c in finite.items() if abs(n) < 2**53 and c == str(int(n))]
    if whole:  # one case for them all: there may be many
        found.append((number.isin([as_float(n) for n in whole]), number.cast("int64").cast("string")))
    found += [(number == as_float(n), ibis.literal(c)) for n, c in finite.items() if n not in whole]
    return ibis.cases(*found, else_=text)

"""Tables in files: CSV, Parquet, Arrow, and those of SPSS, Stata and SAS (``statistical``).

Values of a CSV file stay texts: a guess at the type of a column would follow the records. What a text means, its schema says.
How a file is read depends on its name, its first bytes and header, and what the caller says, not on what its records say.
Whether it is a table at all depends on all of it: one that is not (cut off, of another encoding, with lines of several lengths)
is refused, before anything is learned or spent; the message has no value and no line of it. Among files that are tables, and
that memory suffices for, no error depends on the records.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from .._utils.days import part_in, part_of
from .._utils.errors import TableError, no_value_shown
from .._utils.tables import as_table
from ..schema import Schema
from ..schema.columns import Column
from ..schema.columns.values import MISSING, NumberBins, TextBins, as_number
from .statistical import STATISTICAL, check_reader, described, parts_of

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
NO_NUMBER = "<a number with another decimal sign>"
PARQUET, ARROW, TEXT = (".parquet", ".pq"), (".arrow", ".feather", ".ipc"), (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXT, *PARQUET, *ARROW, *STATISTICAL)
NO_ROW_NAMES = (
    "Write the table again without them: to_csv(..., index=False) in pandas, write.csv(..., row.names = FALSE) in R"
)
SWAPPED = str.maketrans(",.", ".,")
LONGEST_HEADER, LONGEST_NAME = 1 << 24, 1 << 16  # characters
ROWS_AT_A_TIME = 1 << 17  # of a file
BYTES_AT_A_TIME = 1 << 18  # of each column of a Parquet file, before they are decoded
BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def column_names(path: Path, delimiter: str | None = None, encoding: str = "utf-8") -> list[str]:
    """The names of the columns. No record is read."""
    if is_csv(path):
        return header(path, delimiter, encoding)[0]
    with _readable(path):
        return list(described(path, encoding).column_names if is_statistical(path) else _schema(path).names)


def read_table(
    path: Path,
    columns: Sequence[str] | None = None,
    schema: Schema | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    own_types: bool = False,
) -> pd.DataFrame:
    """The table in a file, or some of its columns. A schema says which texts of a CSV file are categories, not missing values.

    ``own_types``: as Parquet and Arrow files have them. In pandas, integers become floats where one of them is missing.
    """
    names = column_names(path, delimiter, encoding)
    wanted = list(names if columns is None else columns)
    if not is_csv(path) and not is_statistical(path):
        with _readable(path):
            if not own_types:
                return (pd.read_parquet if _kind(path) == "parquet" else pd.read_feather)(path, columns=wanted)
            import pyarrow as pa

            parts = [pa.table(part, names=wanted) for part in read_parts(path, [(name, None) for name in wanted])]
            frame: pd.DataFrame = pa.concat_tables(parts).to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
            return frame
    described = {} if schema is None else {column.name: column for column in schema.columns}
    texts = read_parts(path, [(name, described.get(name)) for name in wanted], delimiter, encoding, decimal)
    return pd.DataFrame(dict(zip(wanted, map(np.concatenate, zip(*texts, strict=True)), strict=True)))


def read_parts(
    path: Path,
    columns: Sequence[tuple[str, Column | None]],
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
) -> Iterator[list[Any]]:
    """The values of some columns, some records at a time, so that memory does not grow with the file. At least once.

    Those of a CSV file as objects, by what the schema says of the column; those of Parquet and Arrow files as columns of pyarrow.
    """
    there = column_names(path, delimiter, encoding)
    if any(found := [part_in(name, there) for name, _ in columns]):
        asked = [(part[1], None) if part else given for part, given in zip(found, columns, strict=True)]
        for values in read_parts(path, asked, delimiter, encoding, decimal):
            yield [_part(v, *part, is_csv(path)) if part else v for v, part in zip(values, found, strict=True)]
        return
    names = [name for name, _ in columns]
    if is_csv(path):
        for texts in read_texts(path, names, delimiter, encoding):
            yield [as_read(t, column, decimal) for t, (_, column) in zip(texts, columns, strict=True)]
        return
    if is_statistical(path):
        with _readable(path):
            yield from parts_of(path, names, ROWS_AT_A_TIME, encoding)
        return
    with _readable(path):
        from pyarrow import nulls

        schema = _schema(path)
        yield [nulls(0, schema.field(name).type) for name in names]
        yield from (_parquet if _kind(path) == "parquet" else _arrow)(path, names)


def _part(dates: Any, part: str, column: str, in_numpy: bool) -> Any:
    """A part of dates, in the form that they have."""
    found = part_of(as_table({column: dates}).column(column), part, column)
    if in_numpy:
        return found
    import pyarrow as pa

    return pa.array(found, pa.string() if part == "weekday" else pa.float64(), from_pandas=True)


def _parquet(path: Path, names: Sequence[str]) -> Iterator[list[Any]]:
    """The values of some columns, some records at a time.

    Not by the scanner of ``pyarrow.dataset``, which reads whole row groups, and several of them ahead of whoever is counting:
    memory would grow with the file. Nor is a file mapped into memory, which would count as memory of this process. Before version
    19 pyarrow cannot read a column of a row group in parts.
    """
    from pyarrow import __version__
    from pyarrow.parquet import ParquetFile

    in_parts = BYTES_AT_A_TIME if int(__version__.partition(".")[0]) >= 19 else 0
    file = ParquetFile(path, pre_buffer=False, buffer_size=in_parts)
    for batch in file.iter_batches(ROWS_AT_A_TIME, columns=list(dict.fromkeys(names))):  # in the file's order
        yield _checked(batch, names)


def _arrow(path: Path, names: Sequence[str]) -> Iterator[list[Any]]:
    """The same of an Arrow file, which is read in the batches in which it was written."""
    from pyarrow import OSFile, ipc

    schema = _schema(path)
    included = sorted({schema.get_field_index(name) for name in names})
    wanted = ipc.IpcReadOptions(included_fields=included, use_threads=False)
    with ipc.open_file(OSFile(str(path)), options=wanted) as file:
        for number in range(file.num_record_batches):
            columns = _checked(file.get_batch(number), names)
            for start in range(0, max(map(len, columns), default=0), ROWS_AT_A_TIME):
                yield [column.slice(start, ROWS_AT_A_TIME) for column in columns]


def _schema(path: Path) -> Any:
    """Names and types of the columns of a Parquet or Arrow file. No record is read."""
    from pyarrow import OSFile, ipc
    from pyarrow.parquet import read_schema

    if _kind(path) == "parquet":
        return read_schema(path)
    # not by pyarrow.dataset, which reads ahead in threads, and there some damaged files end the process
    with ipc.open_file(OSFile(str(path))) as file:
        return file.schema


def _checked(batch: Any, names: Sequence[str]) -> list[Any]:
    columns = [batch.column(name) for name in names]
    for column in columns:
        check_damage(column)
    return columns


def check_damage(column: Any) -> None:
    """Stop at what would lead out of a column's memory, and end this process. Texts that are not UTF-8 are no damage."""
    import pyarrow as pa

    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        check_damage(column.storage)
    elif isinstance(column, pa.DictionaryArray):
        column.validate()
        check_damage(column.indices)
        check_damage(column.dictionary)
        pa.DictionaryArray.from_arrays(column.indices, column.dictionary)  # stops at places that there are not
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        raw = pa.binary() if pa.types.is_string(kind) else pa.large_binary()
        column.validate()
        pa.Array.from_buffers(raw, len(column), column.buffers(), offset=column.offset).validate(full=True)
    else:
        column.validate(full=True)


def is_arrow_text(values: Any) -> bool:
    """Whether values are an array of pyarrow's texts."""
    return str(getattr(values, "type", "")) in ("string", "large_string") and hasattr(values, "dictionary_encode")


def side_by_side(names: Sequence[str], values: Sequence[Any]) -> Any:
    """Columns of ``read_parts`` as a table."""
    if all(isinstance(v, np.ndarray | list) for v in values):
        return dict(zip(names, values, strict=True))
    import pyarrow as pa

    return pa.table(list(values), names=list(names))


def pointed(text: str, decimal: str) -> str:
    """A text in which the decimal sign is a point. Where it is a comma, a point is no part of a number, as in pandas.

    >>> pointed("1,5", ","), pointed("1.5", ",")
    ('1.5', '1,5')
    """
    return text.translate(SWAPPED) if decimal == "," else text


def read_typed(path: Path, delimiter: str | None, encoding: str, decimal: str) -> pd.DataFrame:
    """A table whose columns of texts are numbers where all are. This looks at the records, so only for those that are public."""
    frame = read_table(path, None, None, delimiter, encoding)
    if is_statistical(path):
        return frame
    for name, values in frame.items():
        if pd.api.types.is_object_dtype(values) or pd.api.types.is_string_dtype(values):
            texts = values.str.translate(SWAPPED) if decimal == "," and is_csv(path) else values
            numbers = pd.to_numeric(texts, errors="coerce")
            if (numbers.notna() == values.notna()).all() and numbers.notna().any():
                frame[name] = numbers
    return frame


def is_csv(path: Path) -> bool:
    """Whether values are texts, whose meaning the schema knows; other files have types."""
    return _kind(path) == "csv"


def is_statistical(path: Path) -> bool:
    """Whether it is of a statistical package, and has a data dictionary of its own."""
    return _kind(path) == "statistical"


def _kind(path: Path) -> str:
    kinds = {"csv": TEXT, "parquet": PARQUET, "arrow": ARROW, "statistical": STATISTICAL}
    kind = next((kind for kind, suffixes in kinds.items() if path.suffix.lower() in suffixes), None)
    if kind is None:
        raise TableError(f"{path.name}: the name of a table must end in one of {', '.join(SUFFIXES)}")
    if kind in ("parquet", "arrow") and find_spec("pyarrow") is None:
        raise TableError(f"{path.name}: Parquet and Arrow files need pyarrow: pip install 'discreet[parquet]'")
    if kind == "statistical":
        check_reader(path)
    return kind


def _readable(path: Path) -> Any:
    return no_value_shown(
        f"{path.name} cannot be read as a {_kind(path)} file: it is cut off, damaged, or something else; get another copy"
    )


def header(path: Path, delimiter: str | None, encoding: str) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter: as given, or the one that cuts this line into most names."""
    with open(path, "rb") as file:
        start = file.read(4)
    if (mark := BYTE_ORDER_MARKS.get(start[:2])) and not encoding.lower().startswith(mark):
        raise TableError(f"{path.name} is a text in {mark.upper()}, not {encoding.upper()}: say --encoding {mark}")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise TableError("the delimiter must be a single character, and no quotation mark or line break")
    with _opened(path, encoding) as text:
        line = text.readline(LONGEST_HEADER + 1)
        rows = {sign: next(_rows([line], sign, strict=False)) for sign in (delimiter or DELIMITERS)}
    delimiter = max(rows, key=lambda sign: len(rows[sign]))
    names = [name.strip() for name in rows[delimiter]]
    too_long = len(line) > LONGEST_HEADER or max(map(len, names), default=0) > LONGEST_NAME
    for holds, problem in (
        (not start, "the file is empty: it has no header with the names of its columns"),
        ("\0" in line, "this is no text: is it really a CSV file? (UTF-16 needs --encoding utf-16)"),
        (not line.strip(), "the first line is empty; it must have the names of the columns"),
        (too_long, "the first line is too long for the names of the columns; is it a header?"),
        (
            len(names) > 1 and not names[0] and all(names[1:]),
            f"the first column has no name: are these row names? {NO_ROW_NAMES}",
        ),
        (
            "" in names or len(set(names)) < len(names),
            "the first line must be a header that names every column, none twice",
        ),
    ):
        if holds:
            raise TableError(f"{path.name}: {problem}")
    return names, delimiter


def _rows(lines: Iterable[str], delimiter: str, strict: bool = True) -> Iterator[list[str]]:
    """Spaces before a quoted text are no part of it (nor are they of any other text: they are stripped later)."""
    return csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=delimiter != " ")


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[TextIO]:
    """A CSV file, with fields of any length. What a decoder says quotes bytes of it: said is how to go on instead."""
    try:
        "".encode(encoding)
    except LookupError:
        raise TableError(f"there is no encoding {encoding!r}; often it is utf-8, latin-1 or cp1252") from None
    with_mark = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    largest = csv.field_size_limit(sys.maxsize)  # by a wrong delimiter a line is one long field
    try:
        with open(path, encoding=with_mark, newline="") as text:
            yield text
    except UnicodeError:
        raise TableError(
            f"{path.name} is not text in {encoding.upper()}. Files from spreadsheets are often in another encoding: try "
            "--encoding cp1252 (or latin-1, utf-16)"
        ) from None
    finally:
        csv.field_size_limit(largest)


def read_texts(
    path: Path, wanted: Sequence[str], delimiter: str | None = None, encoding: str = "utf-8"
) -> Iterator[list[list[str]]]:
    """The texts of some columns of a CSV file, some records at a time; at least once, so that an empty table is one."""
    names, delimiter = header(path, delimiter, encoding)
    places = [names.index(name) for name in wanted]
    try:
        with _opened(path, encoding) as text:
            rows = _rows(text, delimiter)
            next(rows)
            filled = _filled(path, rows, len(names), delimiter)
            while True:
                part = [[row[place] for place in places] for row in islice(filled, ROWS_AT_A_TIME)]
                yield [[row[i] for row in part] for i in range(len(wanted))]
                if len(part) < ROWS_AT_A_TIME:
                    return
    except csv.Error:
        never_ends = "a quoted text in it never ends, so it is cut off or damaged; get another copy"
        raise TableError(f"{path.name} cannot be read as CSV: {never_ends}") from None


def _filled(path: Path, rows: Iterator[list[str]], n: int, delimiter: str) -> Iterator[list[str]]:
    """The lines with something in them, which all must have n fields."""
    for row in filter(None, rows):
        if len(row) < n and not any(rows):
            raise TableError(f"{path.name} is cut off in the middle of its last line; get another copy")
        if len(row) != n:
            raise TableError(
                f"{path.name} has lines with more or fewer fields than the {n} names in its first line. "
                f"Is it separated by a {DELIMITERS.get(delimiter, delimiter)}? If not, say --delimiter. If it has "
                f"row names: {NO_ROW_NAMES}"
            )
        yield row


def as_read(texts: Sequence[str | None], column: Column | None, decimal: str = ".") -> np.ndarray:
    """Texts without spaces around them, with None for what is missing, and numbers with a point."""
    bins = None if column is None else column.value_bins
    categories = bins.bin_of if isinstance(bins, TextBins) else ()

    def meant(value: str) -> str | None:
        if value in categories or value in MISSING:
            return value if value in categories else None
        number = pointed(value, decimal)
        if isinstance(bins, NumberBins) or not np.isnan(as_number(number)):
            return number
        # 1.5 is no number where the decimal sign is a comma
        return value if np.isnan(as_number(value)) else NO_NUMBER

    known = {text: meant((text or "").strip()) for text in set(texts)}
    found = np.empty(len(texts), dtype=object)
    found[:] = [known[text] for text in texts]
    return found

"""Tables of SPSS, Stata and SAS: codes as their files store them, and the labels with which these describe their columns.

The types of columns follow from what a file says of them, before its records: texts, dates, or 64-bit floating-point numbers.
So a record without a value changes nothing for the others. What the file declares missing is missing: SPSS' user-defined
missing values, ``.a`` to ``.z``, and empty texts, as these packages have no other missing text.

pyreadstat's C code trusts the header of an SPSS file: a damaged one may end the process. Damaged records were not seen to do so.
"""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.errors import TableError, no_value_shown

READERS = {".sav": "read_sav", ".zsav": "read_sav", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat"}
STATISTICAL = tuple(READERS)
UTF_8 = "utf-8"  # what the package's functions have if nobody says another encoding
SPSS, SAS = (
    int(np.datetime64(day, "ms").astype(np.int64)) for day in ("1582-10-14", "1960-01-01")
)  # their first moments
DAY, SECOND = 86_400_000, 1_000
# By the formats of columns: milliseconds in a unit, and the first moment. Stata's is that of SAS
DATES = {
    "read_sav": ((r"([AEJS]?DATE|DATETIME|YMDHMS|MOYR|QYR|WKYR)\d*(\.\d*)?", SECOND, SPSS),),
    "read_dta": ((r"%-?(td|d).*", DAY, SAS), (r"%-?t[cC].*", 1, SAS)),
    "read_sas7bdat": (
        (r"(DATETIME|E8601DT|B8601DT|DATEAMPM)\d*(\.\d*)?", SECOND, SAS),
        (r"(DATE|DDMMYY|MMDDYY|YYMMDD|E8601DA|B8601DA|WEEKDATE|WORDDATE|MONYY|JULIAN)[A-Z]?\d*(\.\d*)?", DAY, SAS),
    ),
}
SOONEST_OVER = 9e18  # milliseconds: later than any date that can be written


def file_dictionary(path: str | PathLike[str], encoding: str = UTF_8) -> dict[str, list[Any]]:
    """The data dictionary inside an SPSS, Stata or SAS file, for ``draft_from_dictionary``. No record is read.

    It has the names, types and labels of the columns, and codes with labels, but those that the file declares missing. SAS keeps
    the labels of codes in another file, which is not read. **All of it goes into the schema, so it must be public**: also what
    somebody typed as a label and never meant to publish.
    """
    path = Path(path)
    check_reader(path)
    about = described(path, encoding)
    rows: dict[str, list[Any]] = {fact: [] for fact in ("name", "type", "values", "missing", "label")}
    for name in about.column_names:
        ranges = about.missing_ranges.get(name) or []
        labels = about.variable_value_labels.get(name) or {}
        is_text = about.readstat_variable_types[name] == "string"
        letters = [code for code in labels if isinstance(code, str) and not is_text]  # .a to .z
        codes = {code: label for code, label in labels.items() if code not in letters and not _is_missing(code, ranges)}
        # a scale may name its ends only
        listed = len(codes) > 1 and about.variable_measure.get(name) != "scale"
        kind = "text" if is_text else "date" if _date(path, about, name) else "code" if listed else "numeric"
        facts = (name, kind, codes if listed else None, "yes" if ranges or letters else None)
        for fact, said in zip(rows, (*facts, about.column_names_to_labels.get(name)), strict=True):
            rows[fact].append(said)
    return rows


def parts_of(path: Path, names: Sequence[str], rows: int, encoding: str = UTF_8) -> Iterator[list[np.ndarray]]:
    """The values of some columns, so many records at a time. The first part has none, and so the types alone."""
    about = described(path, encoding)
    is_text = {name: about.readstat_variable_types[name] == "string" for name in names}
    dates = {name: _date(path, about, name) for name in names}

    def as_values(name: str, given: Sequence[Any]) -> np.ndarray:
        if is_text[name]:
            texts = np.empty(len(given), dtype=object)
            texts[:] = [text or None for text in given]
            return texts
        numbers = np.array(given, dtype=np.float64)
        if (date := dates[name]) is None:
            return numbers
        unit, first = date
        numbers = np.floor(numbers * unit + first)
        far = ~(np.abs(numbers) < SOONEST_OVER)
        times: np.ndarray = np.where(far, 0, numbers).astype(np.int64).astype("M8[ms]")
        times[far] = np.datetime64("NaT")
        return times

    yield [as_values(name, []) for name in names]
    start, read = 0, rows
    while read == rows:
        found, _ = _read(path, encoding, usecols=list(dict.fromkeys(names)), row_offset=start, row_limit=rows)
        part = [as_values(name, found[name]) for name in names]
        start, read = start + rows, len(part[0])
        yield part


def described(path: Path, encoding: str) -> Any:
    """What a file says of its columns, as pyreadstat has it."""
    with no_value_shown(f"{path.name} cannot be read: it is cut off, damaged, or something else; get another copy"):
        return _read(path, encoding, metadataonly=True, user_missing=True)[1]  # else it keeps quiet about them


def check_reader(path: Path) -> None:
    """Complain about a file of another kind, or if the package that reads them is not installed."""
    if path.suffix.lower() not in READERS:
        raise TableError(f"{path.name}: only files whose names end in {', '.join(STATISTICAL)} have a data dictionary")
    if find_spec("pyreadstat") is None:
        raise TableError(f"{path.name}: SPSS, Stata and SAS files need pyreadstat: pip install 'discreet[statistics]'")


def _read(path: Path, encoding: str, **how: Any) -> Any:
    import pyreadstat

    reader = getattr(pyreadstat, READERS[path.suffix.lower()])
    said = None if encoding == UTF_8 else codecs.lookup(encoding).name  # which files say themselves
    # dates that Python has not would stop it
    return reader(path, encoding=said, output_format="dict", disable_datetime_conversion=True, **how)


def _is_missing(code: Any, ranges: Sequence[Mapping[str, Any]]) -> bool:
    return any(isinstance(code, str) == isinstance(r["lo"], str) and r["lo"] <= code <= r["hi"] for r in ranges)


def _date(path: Path, about: Any, name: str) -> tuple[int, int] | None:
    """Milliseconds in a unit of a date or time, and the moment from which units are counted."""
    written = about.original_variable_types.get(name) or ""
    forms = DATES[READERS[path.suffix.lower()]]
    return next(((unit, first) for form, unit, first in forms if re.fullmatch(form, written)), None)

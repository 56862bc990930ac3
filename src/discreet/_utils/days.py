"""Days: what is read as a date, and the year, month and weekday of one.

What is a date is one function of the single value, whatever it is stored as (``as_day``), and only the day counts. **A time with
a zone is its day in UTC**: files and engines store such times in UTC and forget the zone, so nothing else would be the same
everywhere. Texts are dates such as 2024-01-31 or 2024/01/31, with or without a time behind it. Numbers are never dates.

A table with a column ``admitted`` of dates has the columns ``year of admitted``, ``month of admitted`` (1 to 12) and ``weekday of
admitted`` (Monday to Sunday), too, if no other column has that name. A schema describes them as it does any column.
"""

import datetime
import math
import re
from collections.abc import Container
from typing import Any

import numpy as np
import pandas as pd

from .errors import SchemaError

DAY = datetime.timedelta(days=1)
EPOCH = datetime.date(1970, 1, 1).toordinal()
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PART = re.compile("(year|month|weekday) of (.+)", re.DOTALL)
PER_DAY = {"h": 24, "m": 1440, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
# year, month, day; hour, minute; sign, hours and minutes of the zone
SPACE = r"[ \t\n\x0b\x0c\r]*"
_TIME = r"[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::[0-5][0-9](?:[.,][0-9]+)?)?"
_ZONE = r" ?(?:Z|UTC|([+-])(0[0-9]|1[0-4]):?([0-5][0-9])?)"
DATE_TEXT = f"^{SPACE}([0-9]{{4}})[-/](0[1-9]|1[0-2])[-/]([0-3][0-9])(?:{_TIME}(?:{_ZONE})?)?{SPACE}$"
_DATE = re.compile(DATE_TEXT.removeprefix("^").removesuffix("$"))


def as_day(value: Any) -> float:
    """The day of a date or time, in days since 1970-01-01; NaN if it is none. No value may stop a private fit.

    >>> as_day("1970-01-02"), as_day("1970-01-01T23:30:00-05:00"), as_day("2 January 1970")
    (1.0, 1.0, nan)
    """
    try:
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, str):
            return _day_in(value)
        if isinstance(value, pd.Timestamp):
            value = value.asm8  # in UTC
        if isinstance(value, np.datetime64):
            return float(as_days(np.array([value]))[0])
        if isinstance(value, datetime.datetime):
            time = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
            time -= value.utcoffset() or datetime.timedelta()
            return float(value.toordinal() - EPOCH + time // DAY)
        if isinstance(value, datetime.date):
            return float(value.toordinal() - EPOCH)
    except Exception:  # such as NaT, and a text of a day that there is not
        pass
    return math.nan


def _day_in(text: str) -> float:
    found = _DATE.fullmatch(text)
    if found is None:
        return math.nan
    year, month, day, hour, minute, sign, *zone = (part or "0" for part in found.groups())
    hours, minutes = (int(f"{sign}{part}") if sign != "0" else 0 for part in zone)
    shift = (int(hour) - hours) * 60 + int(minute) - minutes
    return float(datetime.date(int(year), int(month), int(day)).toordinal() - EPOCH + shift // (24 * 60))


def as_days(values: np.ndarray) -> np.ndarray:
    """The day of each value."""
    if values.dtype.kind == "M":
        unit, times = np.datetime_data(values.dtype)
        n = PER_DAY.get(unit, 0) // times  # NumPy's own way from units to days overflows near the earliest times
        days = values.astype(np.int64) // n if n else values.astype("M8[D]").astype(np.int64)
        return np.where(np.isnat(values), np.nan, days)
    texts = {text: as_day(text) for text in {v for v in values if type(v) is str}}  # mostly they come again
    return np.array([texts[v] if type(v) is str else as_day(v) for v in values], dtype=np.float64)


def day_at(number: float) -> datetime.date:
    """The day of a number of ``as_day``."""
    return datetime.date.fromordinal(int(number) + EPOCH)


def part_in(name: str, there: Container[str]) -> tuple[str, str] | None:
    """Which part of a date, and of which column, if no column has the name and one has the dates.

    >>> part_in("month of admitted", ["admitted"]), part_in("month of admitted", ["month of admitted", "admitted"])
    (('month', 'admitted'), None)
    """
    found = None if name in there else _PART.fullmatch(name)
    return (found[1], found[2]) if found is not None and found[2] in there else None


def part_of(values: np.ndarray, part: str, column: str) -> np.ndarray:
    """That part of each date: numbers, or the names of weekdays; missing where there is no date."""
    if values.dtype.kind not in "MO":
        raise SchemaError(f"column {column!r} holds no dates, so there is no {part} of it")
    days = as_days(values)
    gone = np.isnan(days)
    whole = np.where(gone, 0, days).astype(np.int64).astype("M8[D]")
    if part == "weekday":
        names = np.array([*WEEKDAYS, None], dtype=object)
        return np.asarray(names[np.where(gone, 7, (whole.astype(np.int64) + 3) % 7)])
    months = whole.astype("M8[M]").astype(np.int64)
    return np.where(gone, np.nan, months // 12 + 1970 if part == "year" else months % 12 + 1)

"""Columns of dates, and round cut points for them: the first days of years, quarters, months or weeks."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..._utils.days import DAY, EPOCH, as_day, as_days, day_at
from ..._utils.errors import SchemaError
from .base import Column, ColumnTest, Drafted, Value, asks_for_missing, listed
from .numeric import thinned
from .seen import Profile
from .values import NumberBins, complain, is_missing

# Of cuts, so that each has a day before it and a day after
FIRST, LAST = datetime.date(1, 1, 2), datetime.date(9999, 12, 30)
MONTHS = (1, 3, 12, 24, 60, 120, 240, 600, 1200)  # between round days


def checked_day(value: object) -> datetime.date | None:
    """A day, as such or as a text in ISO form, that a cut or a literal may name; None if it is none."""
    if isinstance(value, str) and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        try:
            value = datetime.date.fromisoformat(value)
        except ValueError:
            return None
    is_day = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    return value if is_day and FIRST <= value <= LAST else None  # type: ignore[operator, return-value]


@dataclass(frozen=True)
class DayBins(NumberBins):
    """Days, in order: as numbers of ``as_day``."""

    types: ClassVar[tuple[str, ...]] = ("date",)

    def as_value(self, edge: float) -> datetime.date:
        """The day at which a bin ends."""
        return day_at(edge)

    def encode(self, values: np.ndarray, missing: int, complaint: str | None = None) -> np.ndarray:
        """The bin of each value, or an error at a value that is not missing, but no date."""
        days = as_days(values)
        gone = np.isnan(days)
        if complaint is not None and values.dtype.kind != "M":
            complain(complaint, (v for v in values[gone] if not is_missing(v)))
        return np.where(gone, missing, self.place(days))


@dataclass(frozen=True)
class Date(Column):
    """Days, tested against public cut points: is it before that day (``admitted < 2020-07-01``), or not?

    So a cut is the first day of what comes after it: ``2019-01-01`` ends 2018, and ``admitted <= 2018-12-31`` is the same test.
    Values may be dates, times, or texts such as 2024-01-31 and 2024-01-31T12:00. Only the day counts; a time with a zone is its
    day in UTC. What is no date is missing.

    >>> admitted = Date("admitted", cuts=["2019-01-01", "2020-07-01"])
    >>> [f"{op} {day}" for op, day in admitted.tests()]
    ['< 2019-01-01', '< 2020-07-01']
    """

    cuts: Sequence[datetime.date | str] = ()

    kind: ClassVar[str] = "date"
    ordered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        given = listed(f"column {self.name!r}: cuts", self.cuts)
        cuts = [day for day in map(checked_day, given) if day is not None]
        in_order = len(cuts) == len(given) and sorted(set(cuts)) == cuts
        self._require(in_order, "cuts must be dates such as 2019-01-01, without a time, in increasing order, each once")
        self._require(bool(cuts) or self.missing, "a date column needs cuts")
        object.__setattr__(self, "cuts", tuple(cuts))

    @property
    def _days(self) -> tuple[datetime.date, ...]:
        return self.cuts  # type: ignore[return-value]  # as they are by now

    @classmethod
    def is_meant_by(cls, op: str, value: Value) -> bool:
        """Comparisons with a day."""
        return isinstance(value, datetime.date)

    @classmethod
    def of_tests(cls, name: str, tests: Sequence[ColumnTest]) -> Column:
        """The cuts that are named."""
        cuts = {_cut(op, value) for op, value in tests if isinstance(value, datetime.date)}
        return cls(name, asks_for_missing(tests), tuple(sorted(cuts)))

    @classmethod
    def drafted(cls, name: str, seen: Profile, most: int) -> Drafted | None:
        """Round cuts in the middle 98 % of the days, if nearly all that is there can be read as a date."""
        days = as_days(seen.given) if seen.kind == "dates" else np.zeros(0)
        known = days[(days >= FIRST.toordinal() - EPOCH) & (days <= LAST.toordinal() - EPOCH)]
        there = max(len(seen.known), int(np.count_nonzero(days == days)))
        ends = np.quantile(known, (0, 0.01, 0.99, 1), method="inverted_cdf").tolist() if len(known) else [0]
        if len(known) < 0.95 * there or ends[0] == ends[-1]:
            return None
        low, high = map(day_at, ends[1:3] if ends[1] < ends[2] else ends[::3])
        return Drafted(cls(name, seen.missing, tuple(round_days(low, high, most))))

    @cached_property
    def value_bins(self) -> DayBins:
        """From each cut to before the next."""
        return DayBins(0, tuple(("<", as_day(cut)) for cut in self._days))

    def _check_type(self, kind: str) -> None:
        if kind not in "MOUST":
            raise SchemaError(
                f"column {self.name!r} is a date in the schema, but holds numbers, truth values or durations; store it as "
                "dates, or as strings such as 2024-01-31"
            )

    @property
    def _n_values(self) -> int:
        return len(self.cuts) + 1

    def _value_tests(self) -> list[ColumnTest]:
        return [("<", cut) for cut in self._days]

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        if op not in ("<", "<=") or not isinstance(value, datetime.date) or _cut(op, value) not in self._days:
            return None
        inside: np.ndarray = np.arange(self._n_values) <= self._days.index(_cut(op, value))
        return inside

    @property
    def _complaint(self) -> str:
        return f"column {self.name!r} is a date in the schema but holds values that are no dates (2024-01-31); mend them first"


def _cut(op: str, day: datetime.date) -> datetime.date:
    """The first day of which ``<= day``, or ``< day``, is not true."""
    return day + DAY if op in ("<=", ">") else day


def round_days(low: datetime.date, high: datetime.date, most: int) -> list[datetime.date]:
    """At most so many round days above ``low``, up to ``high``: of every day, week, month, quarter, year, ...

    >>> [str(day) for day in round_days(datetime.date(2019, 2, 3), datetime.date(2020, 5, 1), most=6)]
    ['2019-04-01', '2019-07-01', '2019-10-01', '2020-01-01', '2020-04-01']
    """
    first, last = low.toordinal() + 1, high.toordinal()
    is_short = last - first < max(7 * most, 62)
    days = [datetime.date.fromordinal(number) for number in range(first, last + 1 if is_short else first)]
    grids = [days, [day for day in days if day.weekday() == 0]]
    for months in MONTHS:
        numbers = range(-(-12 * low.year // months) * months, 12 * high.year + 12, months)
        firsts = (datetime.date(number // 12, number % 12 + 1, 1) for number in numbers)
        grids.append([day for day in firsts if low < day <= high])
    found: list[datetime.date] = []
    for grid in grids:
        if found and (len(found) <= most or not grid):
            break
        found = grid
    return thinned(found, most)

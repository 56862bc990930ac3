"""What the values of a column look like: numbers, truth values, categories, dates, or nothing that a rule can use.

A schema that is inferred looks at the records, so what it says is as private as they are. Non-private learners use it when they
are given no schema. Drafts (draft_sample.py) look at public samples, and more closely.
"""

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import no_value_shown
from .._utils.tables import Table
from . import Schema
from .columns import KINDS, Column, Ignored, canonical, is_missing
from .columns.base import Seen, spelled_alike
from .columns.values import TRUTH, as_number

N_CUTS = 9  # deciles
FEW = 30  # different values: as many as may be categories

_DAY = r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_NAMED = rf"\d{{1,2}}[- .]+{_MONTH}[- .,]+\d{{2,4}}|{_MONTH}[ .]+\d{{1,2}},? +\d{{4}}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?( ?(z|utc|[+-]\d{2}:?\d{2}))?"
_DATE = re.compile(rf"\s*(({_DAY}|{_NAMED})([t ]+{_TIME})?|{_TIME})\s*", re.IGNORECASE)
# 1,7 and 1.234,5, or 1,234 and 1,234.5
_NUMBER_WITH_COMMAS = re.compile(r"[+-]?((\d+|\d{1,3}(\.\d{3})+)(,\d+)?|(\d+|\d{1,3}(,\d{3})+)(\.\d+)?)")
_DATES = (datetime.date, datetime.time, np.datetime64, pd.Period)
_DURATIONS = (datetime.timedelta, np.timedelta64)
_NUMBERS = (Real, Decimal)

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_IDENTIFYING = set(
    "id ids identifier uuid guid key ssn mrn nin name names firstname lastname surname forename email mail phone telephone "
    "mobile fax address street iban passport licence license ip url username login unnamed rownames".split()
)
_MISSING_WORDS = {"", "?", ".", "-", "na", "n/a", "#n/a", "nan", "null", "<na>"}


def infer_schema(table: Table, n_cuts: int = N_CUTS, exclude: Iterable[str] = ()) -> Schema:
    """Columns as they look: numbers cut at quantiles, texts as categories, dates and free text ignored.

    >>> import pandas as pd
    >>> from discreet._utils.tables import as_table
    >>> frame = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "a", None], "smokes": [0, 1, 1, 0]})
    >>> for column in infer_schema(as_table(frame), n_cuts=1).columns:
    ...     print(column.name, column.tests())
    age [('<=', 30.0)]
    job [('=', 'a'), ('=', 'b'), ('is missing', None)]
    smokes [('is true', None)]
    """
    exclude = tuple(exclude) if isinstance(exclude, Iterable) and not isinstance(exclude, str) else exclude
    Schema(tuple(map(Ignored, table.names))).exclude(exclude)  # complains about names that are not there
    columns = tuple(Ignored(n) if n in exclude else _column(n, table.column(n), n_cuts) for n in table.names)
    return Schema(columns, inferred=True)


def _column(name: str, values: np.ndarray, n_cuts: int) -> Column:
    with no_value_shown(f"column {name!r} has values that cannot be read"):
        seen = look_at(values)
        found = (kind.inferred(name, seen, n_cuts) for kind in reversed(KINDS.values()))
        return next((column for column in found if column is not None), Ignored(name))


def look_at(values: np.ndarray) -> Seen:
    """What is there in one column, as a table gives it. Dates and times look like no kind of column."""
    if values.dtype.kind in "mM":
        return Seen(np.zeros(0), True, False, None)
    if values.dtype.kind in "biuf":
        known = values[values == values]
        return Seen(known, len(known) < len(values), values.dtype == bool, known.astype(np.float64))
    known = values[np.array([not is_missing(v) for v in values], dtype=bool)]
    are_truths = len(known) > 0 and all(isinstance(v, bool | np.bool_) for v in known)
    are_numbers = len(known) > 0 and all(
        isinstance(v, (np.bool_, *_NUMBERS) if are_truths else _NUMBERS) for v in known
    )
    numbers = np.array([as_number(v) for v in known]) if are_numbers else None
    return Seen(known, len(known) < len(values), are_truths, numbers)


@dataclass(frozen=True)
class ColumnProfile:
    """What a draft goes by. ``kind`` is "numbers", "booleans" or "strings", or says why the column is of no use."""

    kind: str
    missing: bool = False
    has_identifying_name: bool = False  # the column has a name that identifiers have, such as patient_id, customerID
    n_known: int = 0
    strings: list[str] = field(default_factory=list)  # the different values, if they are few or strings
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, int))  # of each of them
    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0))  # row by row, if there are any
    n_distinct: int = 0
    from_strings: bool = False  # numbers that are stored as strings

    @property
    def is_boolean(self) -> bool:
        """Whether a Boolean column can read all values."""
        return self.kind == "booleans" or (bool(self.strings) and all(t.lower() in TRUTH for t in self.strings))

    @cached_property
    def whole(self) -> bool:
        """Whether there are integers only."""
        return bool((np.isfinite(self.numbers) & (np.floor(self.numbers) == self.numbers)).all())

    @cached_property
    def finite(self) -> np.ndarray:
        """The numbers that are finite."""
        finite: np.ndarray = self.numbers[np.isfinite(self.numbers)]
        return finite

    @cached_property
    def is_free_text(self) -> bool:
        """Whether strings are sentences."""
        return self.kind == "strings" and sum(len(t.split()) for t in self.strings) >= 5 * len(self.strings)

    @property
    def differs_by_case(self) -> bool:
        """Whether two strings differ by case or spaces only."""
        return len({spelled_alike(t) for t in self.strings}) < len(self.strings)

    @property
    def has_missing_word(self) -> bool:
        """Whether a string is one that often stands for a missing value."""
        return any(t.strip().lower() in _MISSING_WORDS for t in self.strings)

    @cached_property
    def spread(self) -> tuple[float, float] | None:
        """The middle 98 % of the numbers above 0, if they spread over orders of magnitude and most are small; else None."""
        positive = self.finite[self.finite > 0]
        if not len(positive) or (self.finite < 0).any():
            return None
        low, middle, high = np.quantile(positive, (0.01, 0.5, 0.99), method="inverted_cdf").tolist()
        return (low, high) if high / 20 >= low and middle - low < (high - low) / 4 else None

    @property
    def identifies(self) -> bool:
        """Whether values tell rows apart. In few rows that may be chance, unless the name says so."""
        if self.kind not in ("numbers", "strings") or self.n_distinct < 2:
            return False
        share = self.n_distinct / self.n_known
        if self.kind == "strings":
            many = self.n_known >= 10 and (share > 0.9 or (self.is_free_text and share > 0.3))
            return many or (self.has_identifying_name and share > 0.5)
        if not self.whole or share <= 0.5:
            return False
        before, after = self.numbers[:-1], self.numbers[1:]
        in_order = bool((before < after).all() or (before > after).all())
        numbered = share == 1 and self.spread is None and self.n_known >= (20 if in_order else 100)
        return self.has_identifying_name or numbered


def profile_of(name: str, values: np.ndarray) -> ColumnProfile:
    """Look at one column more closely, for a draft."""
    if values.dtype.kind in "mM":
        gone = np.isnat(values)
        kind = "nothing" if gone.all() else "dates" if values.dtype.kind == "M" else "durations"
        return ColumnProfile(kind, bool(gone.any()))
    known, missing, are_truths, numbers = look_at(values)
    if not len(known):
        return ColumnProfile("nothing", missing)
    identifying = any(part.lower() in _IDENTIFYING for part in _PARTS.findall(name))
    about: dict[str, Any] = {"missing": missing, "n_known": len(known), "has_identifying_name": identifying}
    if known.dtype == object:
        for kind, types in (("durations", _DURATIONS), ("dates", _DATES)):
            if all(isinstance(v, types) for v in known):
                return ColumnProfile(kind, **about)
    if numbers is not None:
        found, counts = np.unique(numbers if known.dtype == object else known, return_counts=True)
        few = found[: FEW if len(found) <= FEW else 0]
        strings = [canonical(v) for v in (few.astype(bool) if are_truths else few).tolist()]
        kind = "booleans" if are_truths else "dates" if _are_dates(found) else "numbers"
        about |= {"counts": counts, "numbers": numbers, "n_distinct": len(found)}
        return ColumnProfile(kind, strings=strings, **about)
    if not all(isinstance(v, (str, np.bool_, *_NUMBERS)) for v in known):
        return ColumnProfile("objects", **about)
    return _strings(known, about)


def _strings(known: np.ndarray, about: dict[str, Any]) -> ColumnProfile:
    codes, found = pd.factorize(np.array([canonical(v) for v in known], dtype=object))
    counts, strings = np.bincount(codes), [str(t) for t in found]
    all_strings = all(isinstance(v, str) for v in known)
    if sum(bool(_DATE.fullmatch(t)) for t in strings) > 0.95 * len(strings):
        return ColumnProfile("dates", **about)
    as_numbers = np.array([as_number(t) for t in strings])
    share = float((as_numbers == as_numbers).mean())
    about |= {"strings": strings, "counts": counts, "n_distinct": len(strings)}
    if share == 1 and not any(re.match(r"\s*[+-]?0\d", t) for t in strings):  # 007 is a code
        kind = "dates" if _are_dates(as_numbers) else "numbers"
        return ColumnProfile(kind, numbers=as_numbers[codes], from_strings=True, **about)
    if share < 1 and all(_NUMBER_WITH_COMMAS.fullmatch(t.strip()) for t in strings):
        return ColumnProfile("commas", **about)
    if len(strings) > FEW and ((share >= 0.5 and share < 1) or not all_strings):
        return ColumnProfile("mixed", **about)
    return ColumnProfile("strings", **about)


def _are_dates(found: np.ndarray) -> bool:
    """Whether integers are days such as 20240131."""
    if len(found) < 2 or not ((found >= 19000101) & (found <= 21001231) & (np.floor(found) == found)).all():
        return False
    day, month = found % 100, found // 100 % 100
    return bool(((day >= 1) & (day <= 31) & (month >= 1) & (month <= 12)).all())

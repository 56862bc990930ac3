"""What there is in a column of records, for those who may see them: numbers, truth values, strings, dates, or of no use.

Non-private learners go by it when they are given no schema, and what they infer is as private as the records. Drafts are made
from public samples, and look more closely (``Profile``). Each kind of column says itself which values look like it.
"""

import datetime
import re
from decimal import Decimal
from functools import cached_property
from numbers import Real

import numpy as np
import pandas as pd

from .values import TRUTH, Matching, as_number, canonical, is_missing

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

PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_IDENTIFYING = set(
    "id ids identifier uuid guid key ssn mrn nin name names firstname lastname surname forename email mail phone telephone "
    "mobile fax address street iban passport licence license ip url username login unnamed rownames".split()
)
MISSING_WORDS = {"", "?", ".", "-", "na", "n/a", "#n/a", "nan", "null", "<na>"}


def spelled_alike(text: str) -> str:
    """One text for all that differ by case or spaces only. Nobody learns by it: it is for those who look for mistakes."""
    return "".join(text.split()).casefold()


def is_named_identifier(name: str) -> bool:
    """Whether a column is an identifier by its name.

    >>> [name for name in ("customerID", "patient_id", "idle") if is_named_identifier(name)]
    ['customerID', 'patient_id']
    """
    return any(part.lower() in _IDENTIFYING for part in PARTS.findall(name))


class Seen:
    """One column, as a table gives it. Dates and times count as unknown: only drafts look at them (``given``)."""

    known: np.ndarray  # the values that are not missing
    missing: bool  # whether there are others
    are_truths = False  # whether all are of Boolean type

    def __init__(self, values: np.ndarray) -> None:
        self.given = values
        if values.dtype.kind in "mM":
            self.known, self.missing = np.zeros(0, object), bool(np.isnat(values).any())
            return
        if values.dtype.kind in "biuf":
            self.known = known = values[values == values] if values.dtype.kind == "f" else values
            self.are_truths = values.dtype == bool
        else:
            self.known = known = values[np.array([not is_missing(v) for v in values], dtype=bool)]
            self.are_truths = len(known) > 0 and all(isinstance(v, bool | np.bool_) for v in known)
        self.missing = len(known) < len(values)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The values that are not missing, if all are of a type of numbers, or truth values."""
        if self.known.dtype.kind in "biuf":
            return self.known.astype(np.float64)
        types = (np.bool_, *_NUMBERS) if self.are_truths else _NUMBERS
        fits = len(self.known) > 0 and all(isinstance(v, types) for v in self.known)
        return np.array([as_number(v) for v in self.known]) if fits else None

    @cached_property
    def finite(self) -> np.ndarray:
        """The numbers that are finite."""
        finite: np.ndarray = np.zeros(0) if self.numbers is None else self.numbers[np.isfinite(self.numbers)]
        return finite


class Profile(Seen):
    """What a draft goes by. ``kind`` is "numbers", "booleans" or "strings", or says why the column is of no use."""

    def __init__(self, name: str, values: np.ndarray) -> None:
        super().__init__(values)
        self.has_identifying_name = is_named_identifier(name)
        self.strings: list[str] = []  # the different values, if they are few or strings
        self.counts = np.zeros(0, int)  # of each different value
        self.from_strings = False  # numbers that are stored as strings
        self.kind = self._kind(values, self.known)

    def _kind(self, values: np.ndarray, known: np.ndarray) -> str:
        if values.dtype.kind in "mM" and not np.isnat(values).all():
            return "dates" if values.dtype.kind == "M" else "durations"
        if not len(known):
            return "nothing"
        for kind, types in (("durations", _DURATIONS), ("dates", _DATES)):
            if known.dtype == object and all(isinstance(v, types) for v in known):
                return kind
        if self.numbers is not None:
            found, self.counts = np.unique(self.numbers if known.dtype == object else known, return_counts=True)
            few = found[: FEW if len(found) <= FEW else 0]
            self.strings = [canonical(v) for v in (few.astype(bool) if self.are_truths else few).tolist()]
            return "booleans" if self.are_truths else "dates" if _are_dates(found) else "numbers"
        if not all(isinstance(v, (str, np.bool_, *_NUMBERS)) for v in known):
            return "objects"
        codes, found = pd.factorize(np.array([canonical(v) for v in known], dtype=object))
        self.counts, self.strings = np.bincount(codes), [str(t) for t in found]
        if sum(bool(_DATE.fullmatch(t)) for t in self.strings) > 0.95 * len(self.strings):
            return "dates"
        numbers = np.array([as_number(t) for t in self.strings])
        share = float((numbers == numbers).mean())
        if share == 1 and not any(re.match(r"\s*[+-]?0\d", t) for t in self.strings):  # 007 is a code
            self.numbers, self.from_strings = numbers[codes], True
            return "dates" if _are_dates(numbers) else "numbers"
        if share < 1 and all(_NUMBER_WITH_COMMAS.fullmatch(t.strip()) for t in self.strings):
            return "commas"
        others = [v for v in known if not isinstance(v, str)]
        matching = Matching({text: place for place, text in enumerate(self.strings)})
        if any(matching.find(v) is None for v in others):  # "0" and "00" beside False, which may be either
            return "mixed"
        return "mixed" if (others or 0.5 <= share < 1) and len(self.strings) > FEW else "strings"

    @property
    def n_distinct(self) -> int:
        """How many different values there are."""
        return len(self.counts)

    @property
    def is_boolean(self) -> bool:
        """Whether a Boolean column can read all values."""
        return self.kind == "booleans" or (bool(self.strings) and all(t.lower() in TRUTH for t in self.strings))

    @property
    def is_measured(self) -> bool:
        """Whether there are numbers that can be cut."""
        return self.kind == "numbers" and self.n_distinct > 1 and not self.is_boolean and not self.identifies

    @cached_property
    def whole(self) -> bool:
        """Whether there are integers only."""
        return len(self.finite) == len(self.known) and bool((np.floor(self.finite) == self.finite).all())

    @cached_property
    def is_free_text(self) -> bool:
        """Whether strings are sentences."""
        return self.kind == "strings" and sum(len(t.split()) for t in self.strings) >= 5 * len(self.strings)

    @property
    def differs_by_case(self) -> bool:
        """Whether two strings differ by case or spaces only."""
        return len({spelled_alike(t) for t in self.strings}) < len(self.strings)

    @cached_property
    def spread(self) -> tuple[float, float] | None:
        """The middle 98 % of the numbers above 0, if they spread over orders of magnitude and most are small; else None."""
        positive = self.finite[self.finite > 0]
        if not len(positive) or (self.finite < 0).any():
            return None
        low, middle, high = np.quantile(positive, (0.01, 0.5, 0.99), method="inverted_cdf").tolist()
        return (low, high) if high / 20 >= low and middle - low < (high - low) / 4 else None

    @cached_property
    def identifies(self) -> bool:
        """Whether values tell rows apart. In few rows that may be chance, unless the name says so."""
        if self.kind not in ("numbers", "strings") or self.n_distinct < 2:
            return False
        n_known = len(self.known)
        share = self.n_distinct / n_known
        if self.kind == "strings":
            many = n_known >= 10 and (share > 0.9 or (self.is_free_text and share > 0.3))
            return many or (self.has_identifying_name and share > 0.5)
        if not self.whole or share <= 0.5:
            return False
        before, after = self.finite[:-1], self.finite[1:]
        in_order = bool((before < after).all() or (before > after).all())
        numbered = share == 1 and self.spread is None and n_known >= (20 if in_order else 100)
        return self.has_identifying_name or numbered


def _are_dates(found: np.ndarray) -> bool:
    """Whether integers are days such as 20240131."""
    if len(found) < 2 or not ((found >= 19000101) & (found <= 21001231) & (np.floor(found) == found)).all():
        return False
    day, month = found % 100, found // 100 % 100
    return bool(((day >= 1) & (day <= 31) & (month >= 1) & (month <= 12)).all())

"""A column of which nothing is known yet: what its values look like, for a private schema (estimators/private_schema.py).

The bins are public, whatever the records are: texts, and numbers between powers of ten, 2 and 5 times these, and decades that may
be years, integers apart from others. So a table can be looked at as any other table is counted, and no type that a library made
up from the records decides anything: the text "10" and the number 10.0 are in one bin.
"""

import datetime
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..._utils.days import as_day, as_days
from .base import Column
from .values import (
    NumberBins,
    as_number,
    as_numbers,
    canonical,
    is_missing,
    says_missing,
    truth_of,
    whole_of,
)

SMALLEST, LARGEST = -6, 12  # powers of ten
_EDGES = [m * 10.0**k if k >= 0 else m / 10.0**-k for k in range(SMALLEST, LARGEST + 1) for m in (1, 2, 5)]
YEARS = (float(year) for year in range(1900, 2101, 10))
EDGES = (*(-edge for edge in reversed(_EDGES)), 0.0, *sorted({*_EDGES, *YEARS}))
TEXTS = 0  # the bin of texts; bins of numbers follow, the first of each two for integers; and then those of dates
DATES = 1 + 2 * (len(EDGES) + 1)
NEW_YEARS = tuple(datetime.date(year, 1, 1) for year in range(1900, 2102))  # between bins of dates


@dataclass(frozen=True)
class LookBins:
    """What one value looks like: a text, or a number between two of ``EDGES``, an integer or not, or a date of some year."""

    types: ClassVar[tuple[str, ...]] = ("text", "number", "boolean")

    @cached_property
    def between(self) -> NumberBins:
        """The numbers alone, integers and others together."""
        return NumberBins(0, tuple(("<=", edge) for edge in EDGES))

    def encode(self, values: np.ndarray, missing: int, complaint: str | None = None) -> np.ndarray:
        """The bin of each value."""
        if values.dtype.kind == "M":
            return self.of_days(as_days(values), missing)
        numbers = as_numbers(values)
        bins = self.of_numbers(numbers, missing)
        if values.dtype.kind not in "biuf":
            others = np.flatnonzero(np.isnan(numbers))
            dated = self.of_days(as_days(values[others]), TEXTS)
            for i, found in zip(others.tolist(), dated.tolist(), strict=True):
                if not (is_missing(values[i]) or says_missing(values[i])):
                    bins[i] = found
        return bins

    def of_days(self, days: np.ndarray, otherwise: int) -> np.ndarray:
        """The bin of each day; what NaN is in is said."""
        place = np.searchsorted([as_day(day) for day in NEW_YEARS], days, side="right")
        return np.where(np.isnan(days), otherwise, DATES + place)

    def of_numbers(self, numbers: np.ndarray, missing: int) -> np.ndarray:
        """The bin of each number; NaN is missing."""
        place = 1 + 2 * self.between.place(numbers).astype(np.int64) + (np.floor(numbers) != numbers)
        return np.where(np.isnan(numbers), missing, place)


@dataclass(frozen=True)
class Unknown(Column):
    """A column that is only looked at. No schema file has one."""

    kind: ClassVar[str] = "unknown"

    @property
    def value_bins(self) -> LookBins:  # type: ignore[override]  # nothing is exported of it
        """What values look like."""
        return LookBins()

    @property
    def _n_values(self) -> int:
        return DATES + len(NEW_YEARS) + 1

    def _check_type(self, kind: str) -> None:
        if kind == "m":
            super()._check_type(kind)


def text_of(value: Any) -> str | None:
    """What a value is as a category or class, whether other records let a library read it as a text, a number or a truth value.

    >>> [text_of(value) for value in ("1.0", "01", True, "true", 0.1, "0.10", "1_0", "NA")]
    ['1', '1', '1', '1', '0.1', '0.1', '1_0', None]
    """
    if is_missing(value) or says_missing(value):
        return None
    text = canonical(value)
    if (truth := truth_of(text)) is not None:
        return canonical(truth)
    if (whole := whole_of(text)) is not None:
        return str(whole)
    return text if math.isnan(number := as_number(text)) else canonical(number)

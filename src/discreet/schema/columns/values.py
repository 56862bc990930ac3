"""Single values of a table, whatever type they have there, which listed one each is, and the bins that they go into.

A library that reads a file chooses the type of a column by all of its records: ``010`` is the integer 10 among integers, 10.0 if
a record is missing, and a text if a record is no number. So that one record does not change how others are read, a value is
matched (``Matching``) by rules that the schema alone decides:

1. a text that is listed is what it is;
2. any other text that stands for a missing value (``MISSING``) is missing;
3. a number, and a text that is one, is the listed category of the same number (integers exactly, all else as 64-bit
   floating-point numbers);
4. true and false, and texts that say so, are also the numbers 1 and 0.

Where two listed ones in different bins are the same number ("1" and "01"), no number is either of them; and a listed text that
libraries read as missing or as another number there ("NA", "0x10") is not found among numbers. Then the schema says that the
column holds texts, and another type is refused by itself, before a record is read.

The bins of a column are plain facts (``Column.value_bins``). What a value can be is a number, a text or a truth value, so bins
come in three forms, each of which says in which bin a value is (``encode``): in tables, files and predictions, and for labels of
a target, whose bins are the classes. Whoever reads values elsewhere, in an engine or in SQL, goes by the same facts, and must put
every value into the same bin.
"""

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..._utils.errors import SchemaError, warnings_ignored

# What pyarrow reads as an integer where there is nothing else in a column
HEX = re.compile(r"\s*0[xX][0-9a-fA-F]{1,16}\s*", re.ASCII)
# What people, pandas and pyarrow write for a missing value, unless the schema lists it as a category
MISSING = frozenset(["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "?"])
MISSING |= {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
NONE = -2  # two listed ones at once, and so neither
LETTERS = {"number": "f", "text": "U", "boolean": "b"}  # NumPy's, of types in SQL
PLAIN = {str, np.str_, float, type(None), type(pd.NA)}  # texts, and what stands for a missing one
FEW_EDGES, MANY_NUMBERS = 60, 1_000  # for which comparing with every edge is faster than searching
TRUTH = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0}  # in lower case


def canonical(value: Any) -> str:
    """One text for one category or class, whatever type the table stores it in: 1, 1.0, "1" and True are the same.

    A number is the same by its value, of a decimal as a floating-point number: Decimal("0.10") and 0.1 are "0.1".
    """
    if type(value) is str:
        return value
    try:
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        elif isinstance(value, Decimal | Real | np.bool_):
            # a decimal as engines have it: 0.1 and 0.10 are one number
            number: Any = float(value) if isinstance(value, Decimal) else value
            try:
                value = str(whole) if number == (whole := int(number)) else str(float(number))
            except Exception:  # infinite, no number, or too long to write down
                value = number
        # a text of a class of its own could do anything when it is compared
        return str.__str__(value if isinstance(value, str) else str(value))
    except Exception:  # whatever a value does, it may not stop a private fit
        return f"<{type(value).__name__}>"


def is_missing(value: Any) -> bool:
    """Whether one value stands for "nothing known": None, NaN, pandas' NA and NaT."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    try:
        return value.is_nan() if isinstance(value, Decimal) else isinstance(value, Real) and bool(value != value)
    except Exception:  # a value whose own code fails
        return False


def as_number(value: Any) -> float:
    """One value as a number, NaN if it is none. Whatever a value does, it may not stop a private fit."""
    try:
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, str):
            return math.nan if "_" in value else float(value)  # Python reads 1_000, nobody else does
        if isinstance(value, complex | np.complexfloating) or hasattr(value, "__len__"):
            return math.nan  # libraries differ on arrays of one number, and some warn
        try:
            return float(value)
        except OverflowError:  # an integer beyond what a float can hold
            return math.inf if value > 0 else -math.inf
    except Exception:
        return math.nan


def truth_of(text: str) -> float | None:
    """1 or 0 if a text is what libraries read as a truth value."""
    return {"true": 1.0, "false": 0.0}.get(text.strip().lower())


class Matching:
    """The bin of each listed text, and what else is taken for one of them.

    >>> codes = Matching({"010": 0, "020": 1, "n/k": 2})
    >>> [codes.find(value) for value in (10, 20.0, "010", "10", "n/k", 7)]
    [0, 1, 0, 0, 2, None]
    """

    def __init__(self, bin_of: Mapping[str, int]) -> None:
        self.bin_of = bin_of
        self.wholes: dict[int, int] = {}  # integers, exactly
        self.numbers: dict[float, int] = {}
        self.truths: dict[float, int] = {}
        words: dict[float, int] = {}
        for text, place in bin_of.items():
            if (number := as_number(text)) == number:
                _note(self.numbers, number, place)
                if (whole := whole_of(text)) is not None:
                    _note(self.wholes, whole, place)
            elif (truth := truth_of(text)) is not None:
                _note(words, truth, place)
        for truth in (0.0, 1.0):
            for known in (words, self.numbers):
                if truth in known:
                    _note(self.truths, truth, known[truth])
        self.need_strings = any(text in MISSING or HEX.fullmatch(text) for text in bin_of)
        self.numbers = words | self.numbers
        self.wholes = {int(truth): place for truth, place in words.items()} | self.wholes

    def fits(self, kind: str) -> bool:
        """Whether columns of a type, by NumPy's letter for it, hold and tell apart all that are listed."""
        if self.need_strings and kind in "biuf":
            return False
        known: dict[str, dict[Any, int]] = {"b": self.truths, "i": self.wholes, "u": self.wholes, "f": self.numbers}
        return NONE not in known.get(kind, {}).values()

    def find(self, value: Any) -> int | None:
        """The bin of the listed one that a value is, if it is one."""
        kind = type(value)  # isinstance would ask the value, too, and it may not answer
        if issubclass(kind, str | bytes):
            text = canonical(value)
            if text in self.bin_of:
                return self.bin_of[text]
            if text in MISSING:
                return None
            truth = truth_of(text)
            found = self.numbers.get(as_number(text)) if truth is None else self.truths.get(truth)
        elif issubclass(kind, bool | np.bool_):
            found = self.truths.get(as_number(value))
        elif issubclass(kind, int | np.integer) and not issubclass(kind, np.timedelta64):
            found = self.wholes.get(int.__int__(value) if issubclass(kind, int) else int(value))
        elif issubclass(kind, float | np.floating | Decimal):
            found = self.numbers.get(as_number(value))
        else:
            found = self.bin_of.get(canonical(value))
        return None if found == NONE else found


def says_missing(value: Any) -> bool:
    """Whether a text that is listed nowhere stands for a missing value."""
    return issubclass(type(value), str | bytes) and canonical(value) in MISSING


def whole_of(text: str) -> int | None:
    """The integer that a text is, however it is written: 10 of "010" and "10.0"."""
    try:
        return None if "_" in text else int(text)
    except ValueError:
        number = as_number(text)
        return int(number) if number.is_integer() else None


def _note(numbers: dict[Any, int], number: Any, place: int) -> None:
    if numbers.setdefault(number, place) != place:
        numbers[number] = NONE


@contextmanager
def no_warning(values: np.ndarray) -> Iterator[None]:
    """Whether NumPy warns, or a value's own code (quantities with units do), would depend on a record."""
    with np.errstate(all="ignore"), warnings_ignored() if values.dtype == object else nullcontext():
        yield


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes (-1 for a missing value) and the values they stand for: each once, or as often as it comes if not all are plain."""
    if values.dtype.kind not in "biufmM":  # pandas takes -0j for 0j, and some texts for others
        values = values.astype(object, copy=False)
    if values.dtype != object:
        return pd.factorize(values)
    if not (set(map(type, values)) <= PLAIN and pd.api.types.infer_dtype(values) == "string"):
        # By their types first: a text of a class of its own could do anything when it is compared.
        # One by one: a look at the whole column could let one value change what another is taken for
        known = np.array([not is_missing(v) for v in values], dtype=bool)
        return np.where(known, np.cumsum(known) - 1, -1), values[known]
    # pandas 2 takes texts that are equal up to a NUL for the same, if there is nothing but texts; so there is a number, too
    codes, found = pd.factorize(np.append(values, 0))
    return codes[:-1], found[:-1]


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers as float64, NaN where a value is missing or is no number. Texts for true and false are 1 and 0.

    So they are in a column of Boolean type, which they would make without other texts.
    """
    if values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False)
    numbers = np.array([as_number(v) for v in values], dtype=np.float64)
    for i in np.flatnonzero(np.isnan(numbers)).tolist():
        if issubclass(type(values[i]), str | bytes) and (truth := truth_of(canonical(values[i]))) is not None:
            numbers[i] = truth
    return numbers


@dataclass(frozen=True)
class NumberBins:
    """Numbers, in order: one is in bin ``first`` if the first of ``ends`` is true of it, in the next one if the second is, ...

    What is beyond ``limits`` is missing, and so is what is no number. A test must be true in neighbouring bins, or in all but
    neighbouring ones: that is what exports can say of numbers.
    """

    first: int
    ends: tuple[tuple[str, float], ...]  # "<=" or "<", and a number
    limits: tuple[float | None, float | None] = (None, None)
    types: ClassVar[tuple[str, ...]] = ("number",)  # what such a column may be in SQL

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Where bins end: a number in the first still belongs to the bin below it, one in the second does not."""
        right, left = ([edge for op, edge in self.ends if op == sign] for sign in ("<=", "<"))
        return np.array(right), np.array(left)

    def as_value(self, edge: float) -> float | datetime.date:
        """An end as literals name it."""
        return edge

    def place(self, numbers: np.ndarray) -> np.ndarray:
        """The bin of each number, whatever the limits."""
        right, left = self._edges
        if len(self.ends) > FEW_EDGES or len(numbers) < MANY_NUMBERS:
            return self.first + np.searchsorted(right, numbers, "left") + np.searchsorted(left, numbers, "right")
        bins = np.full(len(numbers), self.first, np.min_scalar_type(self.first + len(self.ends)))
        # a comparison of many numbers with one takes a fifth of a nanosecond for each, a search twenty
        for edge in right:
            bins += numbers > edge
        for edge in left:
            bins += numbers >= edge
        return bins

    def encode(self, values: np.ndarray, missing: int, complaint: str | None = None) -> np.ndarray:
        """The bin of each value, or an error at a value that is not missing, but no number."""
        numbers = as_numbers(values)
        gone = np.isnan(numbers)
        if complaint is not None and values.dtype.kind not in "biuf":
            complain(complaint, (v for v in values[gone] if not is_missing(v)))
        low, high = self.limits
        beyond = gone if low is None else gone | (numbers < low)
        beyond = beyond if high is None else beyond | (numbers > high)
        return np.where(beyond, missing, self.place(numbers))


@dataclass(frozen=True)
class TextBins:
    """Texts, as ``canonical`` has them: each listed one is in its bin, any other in ``unlisted``."""

    bin_of: Mapping[str, int]
    unlisted: int
    are_numbers: bool = False  # whether the schema lists nothing but integers

    @cached_property
    def matching(self) -> Matching:
        """Which of them a value of any type is."""
        return Matching(self.bin_of)

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The listed ones, in order."""
        return tuple(self.bin_of)

    @cached_property
    def places(self) -> np.ndarray:
        """The bin of each listed one. There may be thousands of them, and of rules about them."""
        return np.fromiter(self.bin_of.values(), np.intp, len(self.bin_of))

    @property
    def types(self) -> tuple[str, ...]:
        """What such a column may be in SQL. The first is what one would expect; no type that takes two categories for one."""
        types = ("number", "text", "boolean") if self.are_numbers else ("text", "number", "boolean")
        return tuple(kind for kind in types if self.matching.fits(LETTERS[kind]))

    def encode(self, values: np.ndarray, missing: int, complaint: str | None = None) -> np.ndarray:
        """The bin of each value, or an error at a value that is not missing, but listed nowhere."""
        if not self.bin_of:  # nothing is told apart
            return np.full(len(values), self.unlisted)
        codes, found = distinct(values)
        places = [self.matching.find(value) for value in found]
        if complaint is not None:
            complain(complaint, (value for value, place in zip(found, places, strict=True) if place is None))
        for i, place in enumerate(places):
            if place is None:
                places[i] = missing if says_missing(found[i]) else self.unlisted
        bins: np.ndarray = np.array([*places, missing])[codes]
        return bins


@dataclass(frozen=True)
class TruthBins:
    """Truth values, or texts that are words for them (``TRUTH``): false is in bin 0, true in bin 1, all else is missing."""

    types: ClassVar[tuple[str, ...]] = ("boolean", "text", "number")  # in SQL; the first is what one would expect

    def encode(self, values: np.ndarray, missing: int, complaint: str | None = None) -> np.ndarray:
        """The bin of each value, or an error at a value that is not missing, but neither true nor false."""
        if values.dtype == bool:
            return values.astype(np.uint8)
        if values.dtype.kind in "iuf":
            bins = np.where(values == 1, 1, np.where(values == 0, 0, missing))
            others = values[(bins == missing) & ~np.isnan(values)]
        else:
            codes, found = distinct(values)
            texts = np.array([canonical(v) for v in found], dtype=object)
            # "1.0" is 1, as it is in a column of numbers
            numbers = {0.0: 0, 1.0: 1}
            place = {t: TRUTH.get(t.strip().lower(), numbers.get(as_number(t), missing)) for t in set(texts)}
            places = np.array([*(place[text] for text in texts), missing])
            bins, others = places[codes], texts[places[:-1] == missing]
        if complaint is not None:
            complain(complaint, others)
        return bins


ValueBins = NumberBins | TextBins | TruthBins


def class_bins(classes: Iterable[Any]) -> TextBins:
    """The labels of a target: each class is a bin, and a label that is none of them has the number -1, as a missing one has."""
    return TextBins({canonical(c): i for i, c in enumerate(classes)}, -1)


def complain(complaint: str, values: Iterable[Any]) -> None:
    """Stop if one of these values stands for anything else than a missing one."""
    if not all(map(says_missing, values)):
        raise SchemaError(complaint)

"""Which listed category or class a value is, whatever type its column has in the table.

A library that reads a file chooses the type of a column by all of its records: ``010`` is the integer 10 among integers, 10.0 if
a record is missing, and a text if a record is no number. So that one record does not change how others are read, a value is
matched by rules that the schema alone decides:

1. a text that is listed is what it is;
2. any other text that stands for a missing value (``MISSING``) is missing;
3. a number, and a text that is one, is the listed category of the same number (integers exactly, all else as 64-bit
   floating-point numbers);
4. true and false, and texts that say so, are also the numbers 1 and 0.

Where two listed ones in different bins are the same number ("1" and "01"), no number is either of them; and a listed text that
libraries read as missing or as another number there ("NA", "0x10") is not found among numbers. Then the schema says that the
column holds texts, and another type is refused by itself, before a record is read.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from .values import as_number, canonical, truth_of

# What people, pandas and pyarrow write for a missing value, unless the schema lists it as a category
MISSING = frozenset(["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "?"])
MISSING |= {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
HEX = re.compile(r"\s*0[xX][0-9a-fA-F]{1,16}\s*", re.ASCII)  # which pyarrow reads as an integer among nothing but such
NONE = -2  # two listed ones at once, and so neither


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
                _add(self.numbers, number, place)
                if (whole := whole_of(text)) is not None:
                    _add(self.wholes, whole, place)
            elif (truth := truth_of(text)) is not None:
                _add(words, truth, place)
        for truth in (0.0, 1.0):
            for known in (words, self.numbers):
                if truth in known:
                    _add(self.truths, truth, known[truth])
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


def _add(numbers: dict[Any, int], number: Any, place: int) -> None:
    if numbers.setdefault(number, place) != place:
        numbers[number] = NONE

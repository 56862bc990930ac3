"""The bins of a column as an expression for an engine: exactly those of ``Column.encode``, for every value of the column's type.

The expression depends on the schema and on the type that the column has in the engine, never on a record. What looks roundabout
is there for a reason (or for one that an engine gives in its own file):

- Numbers are compared as 64-bit floating-point numbers, as NumPy does, and cuts are written as texts that the engine reads as
  such: DuckDB 1 takes the literal 0.011732832292350781 for a decimal, and rounds it once more on the way back.
- Engines take NaN for the largest number there is, and for equal to itself; here it is a missing value.
- A bin of numbers is found by halving: a thousand cuts are ten comparisons for each record.

An engine in this process need not find the bins itself: it may hand over what they follow from (``EngineColumn.handed``).
"""

import datetime
import functools
import math
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._utils.days import DATE_TEXT, WEEKDAYS, day_at, part_in
from .._utils.errors import SchemaError
from ..schema.columns import canonical
from ..schema.columns.dates import DayBins
from ..schema.columns.unknown import LookBins
from ..schema.columns.values import MISSING, NONE, TRUTH, NumberBins, TextBins, ValueBins, as_number, truth_of, whole_of
from .engines.base import Engine, as_float, ibis

SPACE = r"[ \t\n\x0b\x0c\r]*"  # escapes of the expression, since Spark reads those of a text in its own way
NUMBER = f"^{SPACE}[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?){SPACE}$"
SMALL = 2**40  # beyond all integers of 32 bits
NANOSECONDS = datetime.date(1677, 9, 21), datetime.date(2262, 4, 11)  # in which times of 64 bits begin and end
LETTERS = {"boolean": "b", "whole": "i", "number": "f", "text": "O"}  # NumPy's


def column_of(table: Any, name: str) -> Any:
    """A column of a table, or a part of the dates in one. No value may stop it, so that it is not of every type of times."""
    if (found := part_in(name, table.columns)) is None:
        return table[name]
    part, source = found
    dates, dtype = table[source], table[source].type()
    if not dtype.is_date() and not (dtype.is_timestamp() and dtype.timezone is None and dtype.scale in (None, 6)):
        raise SchemaError(
            f"column {source!r} is of type {dtype}, so there is no {part} of it; cast it to a date in a view"
        )
    if part == "weekday":
        return ibis.cases(*((dates.day_of_week.index() == i, weekday) for i, weekday in enumerate(WEEKDAYS)))
    return (dates.year() if part == "year" else dates.month()).cast("int32")


class EngineColumn:
    """A column of a table in an engine, of a type that rules can be about, and the numbers of its bins, or of its classes."""

    def __init__(self, engine: Engine, name: str, values: Any, bins: ValueBins, n: int, missing: int) -> None:
        if values.type().is_unsigned_integer() and values.type().nbytes < 8:
            values = values.cast("int64")  # a negative cut could not be compared with it
        values = engine.as_column(values)
        self._engine, self.values, self._type = engine, values, values.type()
        self._bins, self._n, self._missing = bins, n, missing
        self._what = f"column {name!r}" if missing >= 0 else "the target"
        self.kind = _kind(self._type)
        wanted = ("date", "text") if isinstance(bins, DayBins) else ("boolean", "whole", "number", "text")
        if self.kind not in wanted:
            about = (
                "it must hold dates"
                if isinstance(bins, DayBins)
                else "rules are about numbers, strings and truth values"
            )
            raise SchemaError(
                f"column {name!r} is of type {self._type} in {engine.connection.name}; {about}. Cast it in a view, or "
                'say another type for it in the schema, such as "date" or "ignore"'
            )
        engine.check_column_name(name)
        # all values are integers of at most 32 bits, of which every one is a floating-point number as well
        self._is_small = self.kind == "whole" and -SMALL < self._type.bounds.lower < self._type.bounds.upper < SMALL
        if isinstance(bins, TextBins):
            self._number_of, self._unlisted = bins.bin_of, bins.unlisted
        else:
            self._number_of, self._unlisted = (TRUTH if self.kind == "text" else {"0": 0, "1": 1}), missing

    def numbers(self) -> Any:
        """The number of the bin, or of the class, that each value is in; in a small type, but PostgreSQL has none of 8 bits."""
        if isinstance(self._bins, NumberBins) and self.kind == "text" and not self._engine.reads_numbers:
            raise SchemaError(
                f"{self._what} is a {self._bins.types[0]} in the schema and a string in {self._engine.connection.name}: "
                f"engines differ on what they read as a {self._bins.types[0]}. Cast it in a view"
            )
        if isinstance(self._bins, TextBins) and not self._bins.matching.fits(LETTERS[str(self.kind)]):
            raise SchemaError(
                f"{self._what}: the schema lists two that are the same number, such as 1 and 01, so it must hold strings in "
                f"{self._engine.connection.name}"
            )
        if isinstance(self._bins, LookBins):
            found = self._look(self._bins)
        else:
            found = self._stairs(self._bins) if isinstance(self._bins, NumberBins) else self._among()
        return found.cast("int16" if self._n < 2**15 else "int32")

    def handed(self) -> tuple[Any, Callable[[np.ndarray], np.ndarray]]:
        """What is handed over of each value, and what makes numbers of bins, or of classes, of it.

        NumPy finds the bins of numbers ten times as fast as DuckDB does. Of texts it gets the places, and puts in their numbers.
        """
        if isinstance(self._bins, NumberBins | LookBins):
            bins, missing = self._bins, self._missing
            encode = NumberBins.encode if isinstance(bins, DayBins) and self.kind != "date" else type(bins).encode

            def encoded(numbers: np.ndarray) -> np.ndarray:
                with np.errstate(all="ignore"):  # whether NumPy warns would depend on a record
                    return encode(bins, numbers, missing).astype(np.min_scalar_type(missing), copy=False)

            return self.values if self.kind == "date" else self.number(), encoded
        if (places := self._places()) is None:
            return self.numbers(), lambda numbers: numbers
        place, at_place = places
        numbers = np.array([self._unlisted, *at_place], np.min_scalar_type(-self._n))  # what is not listed is at null

        def as_numbers(places: np.ndarray) -> np.ndarray:
            with_null = places.dtype.kind == "f"
            return numbers.take(np.nan_to_num(places).astype(np.intp) if with_null else places)

        return place, as_numbers

    def number(self) -> Any:
        """The values as 64-bit floating-point numbers."""
        x = self.values
        if self.kind == "boolean":  # PostgreSQL does not cast it
            return ibis.cases((x, as_float(1.0)), (~x, as_float(0.0)))
        if isinstance(self._bins, DayBins):
            return _day_in(x)
        if self.kind == "text":  # DuckDB reads what Python does, but 1_000 and +-1, too, and no digits of other scripts
            bare = self._engine.stripped(x).lower()
            words = [(bare == "true", as_float(1.0)), (bare == "false", as_float(0.0))]
            # to translate is a thousand times as slow as all else
            plain = ibis.ifelse(x.re_search(r"[^\x00-\x7f]"), x.translate(*_odd_signs()), x)
            number = plain.re_search(NUMBER), self._engine.text_as_float(plain)
            return ibis.cases(number, *words, else_=ibis.null("float64"))
        if self._type.is_decimal():
            return self._engine.decimal_as_float(x)
        return x.cast("float64")

    def _look(self, bins: LookBins) -> Any:
        """What numbers look like. No value may stop it: what is too large for an integer of 64 bits is one anyway."""
        x = self.number()
        near = ibis.ifelse(self._gone(x) | (x.abs() >= as_float(2.0**53)), as_float(0.0), x)
        place = 1 + 2 * self._stairs(bins.between) + ibis.ifelse(near == near.floor(), 0, 1)
        return ibis.ifelse(self._gone(x), self._missing, place)

    def _stairs(self, bins: NumberBins) -> Any:
        """What is missing is below no edge, so that it need only be told from what is in the highest bin."""
        missing = self._missing
        as_it_is = self._is_small or self.kind == "date"
        x = self.values if as_it_is else self.number()
        gone = x.isnull() if as_it_is else self._gone(x)

        def bin_from(first: int, ends: Sequence[tuple[str, float]], highest: bool) -> Any:
            if not ends:
                return ibis.ifelse(gone, missing, first) if highest else ibis.literal(first)
            middle = len(ends) // 2
            low = bin_from(first, ends[:middle], False)
            high = bin_from(first + middle + 1, ends[middle + 1 :], highest)
            return ibis.ifelse(self._compared(x, *ends[middle]), low, high)

        found = self._present(x, bin_from(bins.first, bins.ends, True))
        low, high = bins.limits
        beyond = [] if low is None else [self._compared(x, "<", low)]
        beyond += [] if high is None else [~self._compared(x, "<=", high)]
        return ibis.ifelse(ibis.or_(*beyond), missing, found) if beyond else found

    def _compared(self, x: Any, op: str, edge: float) -> Any:
        """Whether numbers are at most, or below, an edge. Small integers are compared as such, which is faster; so are dates.

        A time is before a day if it is before its midnight, in UTC if the time has a zone, whatever the engine's own zone is.
        They are compared in the column's own type: a cast of a far time could fail.
        """
        if self.kind == "date":
            day = day_at(edge)
            if self._type.is_date():
                return x < ibis.date(day)
            if self._type.scale == 9 and not NANOSECONDS[0] < day <= NANOSECONDS[1]:
                return x.notnull() & (day > NANOSECONDS[1])
            return x < ibis.literal(f"{day} 00:00:00{'+00:00' if self._type.timezone else ''}").cast(self._type)
        if self._is_small:
            last = math.floor(edge) if op == "<=" else math.ceil(edge) - 1
            return x <= max(-SMALL, min(last, SMALL))
        return x <= as_float(edge) if op == "<=" else x < as_float(edge)

    def _places(self) -> tuple[Any, list[int]] | None:
        """The place of each text in a list, if the engine finds it so, and the number of each place; last, of a missing one."""
        if self.kind != "text" or not self._engine.finds_places:
            return None
        listed = [(text, number) for t, number in self._number_of.items() for text in self.held([t])]
        place = self._engine.place_in([text for text, _ in listed], self._as_compared())
        return place, [*(number for _, number in listed), self._missing]

    def _as_compared(self) -> Any:
        """The values; of texts a listed one for another way to write the same, and null for what is missing."""
        x, engine = self.values, self._engine
        if self.kind != "text":
            return self.number() if self.kind == "number" else x
        bare = engine.stripped(x).lower()
        if not isinstance(self._bins, TextBins):
            number = self.number()
            return ibis.cases((number == as_float(1.0), "1"), (number == as_float(0.0), "0"), else_=bare)
        matching, cases = self._bins.matching, []
        if gone := self.held(sorted(MISSING - matching.bin_of.keys())):
            cases.append((x.isin(gone), ibis.null("string")))
        known = {n: at for n, at in matching.numbers.items() if at != NONE}
        words = {n: at for n, at in matching.truths.items() if at != NONE}
        if known or words:
            text = {at: listed for listed, at in matching.bin_of.items() if engine.holds(listed)}
            cases.insert(0, (x.isin(self.held(matching.bin_of)), x))
            cases += [
                (bare == ("true" if n else "false"), engine.as_text(text[at])) for n, at in words.items() if at in text
            ]
        if known:
            number = self.number()
            same = [n for n, at in known.items() if abs(n) < 2**53 and matching.bin_of.get(canonical(n)) == at]
            if whole := [n for n in same if n.is_integer()]:
                # one case for them all: there may be many, and ibis writes the number out in each
                cases.append((number.isin([as_float(n) for n in whole]), number.cast("int64").cast("string")))
            rest = [(n, text[at]) for n, at in known.items() if n not in whole and at in text]
            cases += [(number == as_float(n), engine.as_text(listed)) for n, listed in rest]
        return ibis.cases(*cases, else_=x) if cases else x

    def _among(self) -> Any:
        """The number of each value of those that are listed."""
        otherwise, missing = self._unlisted, self._missing
        if (places := self._places()) is not None:
            place, at_place = places
            return ibis.coalesce(self._engine.at_place(at_place, place), otherwise)
        x = self._as_compared()
        if self.kind == "boolean":
            known = self._bins.matching.truths if isinstance(self._bins, TextBins) else {1.0: 1, 0.0: 0}
            true, false = (known.get(n, otherwise) for n in (1.0, 0.0))
            return ibis.cases((x, true), (~x, false), else_=missing)
        rest: Any = ibis.literal(otherwise)
        if otherwise != missing:
            rest = ibis.ifelse(self._gone(x) if self.kind == "number" else x.isnull(), missing, otherwise)
        texts = defaultdict(list)
        for text, number in self._number_of.items():
            if number != otherwise:
                texts[number].append(text)
        if (run := self._run(texts)) is not None:
            first, last, shift = run
            return ibis.ifelse(x.between(first, last), x.cast("int64") - shift, rest)  # 127 + 128 has more than 8 bits
        cases = [(x.isin(held), number) for number, these in texts.items() if (held := self.held(these))]
        return self._present(x, ibis.cases(*cases, else_=rest)) if cases else rest

    def _gone(self, x: Any) -> Any:
        """Whether a number is missing."""
        return x.isnull() | self._engine.is_nan(x, self._type.is_floating())

    def _present(self, x: Any, found: Any) -> Any:
        """What was found for a number, if it is not missing. Most engines tell by comparing."""
        believes_files = self._engine.believes_files and self._type.is_floating()
        return ibis.ifelse(self._gone(x), self._missing, found) if believes_files else found

    def _run(self, texts: Mapping[int, Sequence[str]]) -> tuple[int, int, int] | None:
        """If the listed values are integers in a row and so are their bins: the first, the last, and how far apart they are.

        Levels, months and 0 and 1 are; to subtract is faster than to compare with each.
        """
        if not self._is_small:
            return None
        pairs = sorted((value, number) for number, these in texts.items() for value in self.held(these))
        if not pairs:
            return None
        first, shift = pairs[0][0], pairs[0][0] - pairs[0][1]
        in_a_row = pairs == [(first + i, first + i - shift) for i in range(len(pairs))]
        return (first, pairs[-1][0], shift) if in_a_row else None

    def held(self, texts: Iterable[str]) -> list[Any]:
        """Those values, of all that the column can have, that have these texts in Python."""
        if self.kind == "text":
            return [self._engine.as_text(text) for text in texts if self._engine.holds(text)]
        truths = [(text, truth_of(text)) for text in texts]
        if self.kind == "number":
            numbers = (as_number(text) if truth is None else truth for text, truth in truths)
            return [as_float(number) for number in numbers if number == number]  # engines find NaN equal to itself
        wholes = (whole_of(text) if truth is None else int(truth) for text, truth in truths)
        low, high = self._type.bounds.lower, self._type.bounds.upper
        known = (whole for whole in wholes if whole is not None and low <= whole <= high)
        return [ibis.literal(n, type="uint64") if n >= 2**63 else n for n in known]  # beyond 63 bits it must be told


def _day_in(texts: Any) -> Any:
    """What ``as_day`` makes of texts."""
    year, month, day, hour, minute, sign, hours, minutes = (texts.re_extract(DATE_TEXT, i) for i in range(1, 9))
    shift = (_whole(hour) * 60 + _whole(minute)) - ibis.ifelse(sign == "-", -1, 1) * (
        _whole(hours) * 60 + _whole(minutes)
    )
    date = ibis.ifelse(year == "0000", ibis.null("string"), year + "-" + month + "-" + day).try_cast("date")
    return (date.epoch_days() + (shift / 1440).floor()).cast("float64")


def _whole(digits: Any) -> Any:
    """A number of two digits; 0 if there are none."""
    return ibis.coalesce(digits.try_cast("int64"), 0)


@functools.cache
def _odd_signs() -> tuple[str, str]:
    """Digits and spaces of all scripts but ASCII, and those of ASCII that Python takes them for in a number."""
    signs = [chr(i) for i in range(128, sys.maxunicode + 1)]
    odd = {c: " " if c.isspace() else str(unicodedata.decimal(c)) for c in signs if c.isspace() or c.isdecimal()}
    return "".join(odd), "".join(odd.values())


def _kind(dtype: Any) -> str | None:
    kinds = {"boolean": "boolean", "integer": "whole", "floating": "number", "decimal": "number", "string": "text"}
    if dtype.is_date() or dtype.is_timestamp():
        return "date"
    return next((kind for name, kind in kinds.items() if getattr(dtype, f"is_{name}")()), None)

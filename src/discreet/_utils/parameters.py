"""Checks of what is given: single parameters, and texts of JSON.

Messages about parameters may show what was given: it is no record.
"""

import json
import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

from .errors import shown

LARGEST_NUMBER = 10**15
LARGEST_SEED = 2**64 - 1
LONGEST = 1 << 28


def check_integer(name: str, value: Any, at_least: int) -> None:
    """A parameter that must be an integer, and one that floating point can hold."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < at_least:
        raise ValueError(f"{name} must be an integer of at least {at_least}, not {value!r}")
    if int(value) > LARGEST_NUMBER:
        raise ValueError(f"{name} must be at most {LARGEST_NUMBER}")


def check_seed(name: str, value: Any) -> None:
    """An integer that seeds a generator may not be too long for one; what else may be given (a generator) has no size."""
    if isinstance(value, Integral) and not 0 <= int(value) <= LARGEST_SEED:
        raise ValueError(f"{name} must be an integer from 0 to 2**64 - 1, a random generator or None")


def finite_number(name: str, value: Any) -> float:
    """A parameter that must be a finite number."""
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {shown(value)}")
    return number


def as_written(value: float | Fraction) -> Fraction:
    """A number as it is written: 0.1 is 1/10."""
    return value if isinstance(value, Fraction) else _read_float(float(value))


@lru_cache(maxsize=256)  # reading a fraction is slow, and an experiment has the same few numbers in every fit
def _read_float(value: float) -> Fraction:
    return Fraction(repr(value))


def least_float(value: Fraction) -> float:
    """The least float that, as it is written, is not below.

    >>> least_float(Fraction(7, 10)), least_float(Fraction(1, 30)), float(Fraction(1, 30))
    (0.7, 0.03333333333333334, 0.03333333333333333)
    """
    found = float(value)
    return found if as_written(found) >= value else math.nextafter(found, math.inf)


def rounded_up(value: float | Fraction, digits: int) -> str:
    """A number at this many digits, never below what it is (of a float: as it is written)."""
    context = Context(prec=digits, rounding=ROUND_CEILING)
    if isinstance(value, Fraction):
        return f"{float(context.divide(Decimal(value.numerator), Decimal(value.denominator))):.{digits}g}"
    value = max(value, 1e-300) if value else value  # nobody reads 2.23e-308
    return f"{float(context.create_decimal(repr(value))):.{digits}g}"


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text (bytes: UTF-8). Whatever is wrong with it is a ``ValueError``.

    A name that an object has twice, NaN, an infinity, and a text that is nested too deeply or too long are refused.

    >>> read_json('{"epsilon": 1, "epsilon": 0.1}')
    Traceback (most recent call last):
    ValueError: an object of the JSON has a name twice
    """
    if len(text) > LONGEST:
        raise ValueError("the JSON is too long")
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        return json.loads(decoded, object_pairs_hook=_named_once, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object of the JSON has a name twice")
    return found


def _refuse(_: str) -> None:
    raise ValueError("NaN and infinities are no JSON")


def _finite(text: str) -> float:
    if not math.isfinite(found := float(text)):
        raise ValueError("a number of the JSON is too large")
    return found

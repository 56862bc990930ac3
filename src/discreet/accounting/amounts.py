"""Epsilons and deltas as exact fractions: from numbers and strings, and as strings that are read again."""

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any

LARGEST = 10**300  # of a budget: sums of these are still numbers that can be shown
LONGEST = 1000  # characters of an amount
FINEST = 10**300  # sums of more characters than that are rounded up, to a multiple of 1/FINEST
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError)


def exact(name: str, value: Any) -> Fraction:
    """A budget as a fraction: decimals as they are written (0.1 is 1/10), zero allowed."""
    if isinstance(value, Fraction):
        number, short = value, _is_short(value)
    else:
        if isinstance(value, bool) or not isinstance(value, Real) or not _fits(value):
            raise ValueError(f"{name} must be a finite number, not {value!r}")
        number, short = _as_written(float(value))
    if not short:
        raise ValueError(f"{name} is a number of too many digits")
    if number.numerator < 0 or (name == "delta" and number >= 1):
        raise ValueError(f"{name} must be {'in [0, 1)' if name == 'delta' else 'at least 0'}, not {value!r}")
    return number


@lru_cache(maxsize=256)  # an experiment gives the same ones at every fit
def _as_written(value: float) -> tuple[Fraction, bool]:
    number = Fraction(repr(value))
    return number, _is_short(number)


def _is_short(number: Fraction) -> bool:
    return abs(number) <= LARGEST and len(f"{abs(number.numerator):x}{number.denominator:x}") <= 400


def _fits(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def read_amount(text: Any, largest: int = LARGEST) -> Fraction:
    """What ``str`` made of a fraction. What cannot be read raises one of ``UNREADABLE``."""
    if not isinstance(text, str) or len(text) > LONGEST or "e" in text.lower():
        raise ValueError
    number = Fraction(text)
    if not 0 <= number <= largest or len(str(number)) > LONGEST:
        raise ValueError
    return number


def read_pair(data: Any) -> tuple[Fraction, Fraction]:
    """An epsilon and a delta."""
    epsilon, delta = data
    return read_amount(epsilon), read_amount(delta)


def added(total: Fraction, amount: Fraction) -> Fraction:
    """The sum, exact as long as it can be written down; else a little more, never less.

    >>> added(Fraction(1, 3), Fraction(1, 6))
    Fraction(1, 2)
    """
    both = total + amount
    short = len(f"{both.numerator:x}{both.denominator:x}") < LONGEST // 2
    return both if short else Fraction(-(-both * FINEST // 1), FINEST)


def rounded_up(value: float | Fraction, digits: int) -> str:
    """A number at this many digits, never below what it is (of a float: as it is written)."""
    context = Context(prec=digits, rounding=ROUND_CEILING)
    if isinstance(value, Fraction):
        return f"{float(context.divide(Decimal(value.numerator), Decimal(value.denominator))):.{digits}g}"
    value = max(value, 1e-300) if value else value  # nobody reads 2.23e-308
    return f"{float(context.create_decimal(repr(value))):.{digits}g}"

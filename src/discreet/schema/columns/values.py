"""Single values of a table, whatever type they have there: their texts, and what they are as numbers."""

import math
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd


def canonical(value: Any) -> str:
    """One text for one category or class, whatever type the table stores it in: 1, 1.0, "1" and True are the same.

    A number is the same by its value, of a decimal as a floating-point number: Decimal("0.10") and 0.1 are "0.1".
    """
    if type(value) is str:
        return value
    try:
        return str.__str__(_text(value))  # a text of a class of its own could do anything when it is compared
    except Exception:  # whatever a value does, it may not stop a private fit
        return f"<{type(value).__name__}>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Decimal):  # as engines have it: 0.1 and 0.10 are one number
        value = float(value)
    if isinstance(value, Real | np.bool_):
        try:
            return str(whole) if value == (whole := int(value)) else str(float(value))  # type: ignore[arg-type]
        except Exception:  # infinite, no number, or too long to write down
            pass
    return str(value)


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

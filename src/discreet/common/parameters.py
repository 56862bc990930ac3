"""Checks of single parameters. Their messages name the parameter and may show what was given: it is no record."""

import math
from numbers import Real
from typing import Any

import numpy as np

LARGEST_NUMBER = 10**15


def check_integer(name: str, value: Any, at_least: int) -> None:
    """A parameter that must be an integer, and one that floating point can hold."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{name} must be an integer of at least {at_least}, not {value!r}")
    if value > LARGEST_NUMBER:
        raise ValueError(f"{name} must be at most {LARGEST_NUMBER}")


def finite_number(name: str, value: Any) -> float:
    """A parameter that must be a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return float(value)

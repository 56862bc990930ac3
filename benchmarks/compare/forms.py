"""Columns as peers take them, from the public schema alone: as numbers between 0 and 1, or with bounds and categories by name.

Categories become one 0/1 column each, in the groups that the schema has. A number that is missing is put in the middle, and a
0/1 column says that it was. Numbers beyond the bounds are clipped to them. So nothing is read from the records.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from schemas import Data

from discreet.schema.columns.base import Column


class Numbers(NamedTuple):
    """All columns between 0 and 1; no record's Euclidean norm is above ``norm``."""

    X: np.ndarray
    norm: float


class Named(NamedTuple):
    """For DP-EBM: numbers with bounds, and categories by name."""

    X: np.ndarray
    types: list[str | list[str]]
    bounds: dict[str, tuple[float, float]]
    names: list[str]


class Forms(NamedTuple):
    """One table in all forms."""

    data: Data
    numbers: Numbers
    named: Named
    booleans: np.ndarray  # a column for each test of the schema: whether it is true
    codes: np.ndarray  # for boosting without privacy: numbers as they are, categories by their places
    is_category: np.ndarray


def forms_of(data: Data) -> Forms:
    """Every form of a table."""
    columns = [(column, data.X[column.name].to_numpy()) for column in data.schema.used]
    numbers = [block for column, values in columns for block in as_numbers(column, values)]
    codes = [as_code(column, values) for column, values in columns]
    is_category = np.array([column.kind == "categorical" for column, _ in columns])
    norm = len(numbers) ** 0.5
    booleans = np.column_stack([truths for column, values in columns for truths in as_booleans(column, values)])
    return Forms(
        data, Numbers(np.hstack(numbers), norm), as_named(columns), booleans, np.column_stack(codes), is_category
    )


def as_numbers(column: Column, values: np.ndarray) -> list[np.ndarray]:
    """Blocks of columns; of each block, a record's norm is at most 1."""
    places = column.encode(values).astype(int)
    missing = places == column.n_bins - 1
    if column.kind == "categorical":
        foreseen = np.flatnonzero(column.domain)
        return [(places[:, None] == foreseen).astype(np.float32)]
    number = between_bounds(column, values, missing) if column.kind == "numeric" else np.where(missing, 0.5, places)
    blocks = [number.astype(np.float32)[:, None]]
    return [*blocks, missing.astype(np.float32)[:, None]] if column.can_be_missing else blocks


def between_bounds(column: Column, values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """From 0 at the lower bound to 1 at the upper one, as many cuts below as above 0.5; missing numbers are in the middle.

    Between two cuts it is linear. Where cuts go by orders of magnitude, that is better for peers than to be linear all the
    way; on fourteen tables it was, on average, for each of diffprivlib's four (at epsilon 1 by .7 to 1.2 points of accuracy).
    """
    low, high = bounds_of(column)
    numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(float)
    edges = [low, *(cut for cut in column.all_cuts if low < cut < high), high]
    return np.where(missing, 0.5, np.interp(np.nan_to_num(numbers), edges, np.linspace(0, 1, len(edges))))


def bounds_of(column: Column) -> tuple[float, float]:
    """As the schema has them; where it has none, a step beyond the outermost cuts."""
    cuts = list(column.all_cuts)
    step = cuts[1] - cuts[0] if len(cuts) > 1 else abs(cuts[0]) or 1.0
    low = cuts[0] - step if column.low is None else column.low
    high = cuts[-1] + (cuts[-1] - cuts[-2] if len(cuts) > 1 else step) if column.high is None else column.high
    return float(low), float(high)


def as_named(columns: list[tuple[Column, np.ndarray]]) -> Named:
    """Numbers with bounds; truth values are numbers from 0 to 1."""
    X, types, bounds, names = [], [], {}, []

    def add(name: str, values: np.ndarray, kind: str | list[str], limits: tuple[float, float] | None) -> None:
        X.append(values)
        types.append(kind)
        names.append(name)
        if limits:
            bounds[name] = limits

    for column, values in columns:
        places = column.encode(values).astype(int)
        missing = places == column.n_bins - 1
        if column.kind == "categorical":
            categories = np.array([f"bin {i}" for i in range(column.n_bins)], object)
            add(column.name, categories[places], list(categories), None)
            continue
        if column.kind == "numeric":
            low, high = bounds_of(column)
            numbers = np.nan_to_num(pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(float))
            number = np.where(missing, (low + high) / 2, np.clip(numbers, low, high))
            add(column.name, number.astype(object), "continuous", (low, high))
        else:
            add(column.name, np.where(missing, 0.5, places).astype(object), "continuous", (0.0, 1.0))
        if column.can_be_missing:
            add(f"{column.name} is missing", missing.astype(float).astype(object), "continuous", (0.0, 1.0))
    return Named(np.column_stack(X), types, bounds, names)


def as_booleans(column: Column, values: np.ndarray) -> list[np.ndarray]:
    """Whether each test of the column is true; a test and its opposite say the same, and are there once."""
    places, found = column.encode(values).astype(int), {}
    for test in column.tests():
        true = column.where(*test)
        found.setdefault(min(true.tobytes(), (~true).tobytes()), true[places])
    return list(found.values())


def as_code(column: Column, values: np.ndarray) -> np.ndarray:
    """A number, or the place of a category; not a number where it is missing."""
    places = column.encode(values).astype(float)
    if column.kind == "numeric":
        return pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(float)
    return np.where(places == column.n_bins - 1, np.nan, places)

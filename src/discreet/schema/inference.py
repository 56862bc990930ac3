"""A schema read off a table. It looks at the records, so what it says is as private as they are.

Non-private learners use it when they are given no schema.
"""

from collections.abc import Iterable
from decimal import Decimal
from numbers import Real

import numpy as np

from .._utils.errors import no_value_shown
from .._utils.tables import Table
from . import Schema
from .columns import KINDS, Column, Ignored, is_missing
from .columns.base import Seen
from .columns.values import as_number

N_CUTS = 9  # deciles


def infer_schema(table: Table, n_cuts: int = N_CUTS, exclude: Iterable[str] = ()) -> Schema:
    """Columns as they look: numbers cut at quantiles, texts as categories, dates and free text ignored.

    >>> import pandas as pd
    >>> from discreet._utils.tables import as_table
    >>> frame = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "a", None], "smokes": [0, 1, 1, 0]})
    >>> for column in infer_schema(as_table(frame), n_cuts=1).columns:
    ...     print(column.name, column.tests())
    age [('<=', 30.0)]
    job [('=', 'a'), ('=', 'b'), ('is missing', None)]
    smokes [('is true', None)]
    """
    exclude = tuple(exclude) if isinstance(exclude, Iterable) and not isinstance(exclude, str) else exclude
    Schema(tuple(map(Ignored, table.names))).exclude(exclude)  # complains about names that are not there
    columns = tuple(Ignored(n) if n in exclude else _column(n, table.column(n), n_cuts) for n in table.names)
    return Schema(columns, inferred=True)


def _column(name: str, values: np.ndarray, n_cuts: int) -> Column:
    with no_value_shown(f"column {name!r} has values that cannot be read"):
        seen = _seen(values)
        found = (kind.inferred(name, seen, n_cuts) for kind in reversed(KINDS.values()))
        return next((column for column in found if column is not None), Ignored(name))


def _seen(values: np.ndarray) -> Seen:
    if values.dtype.kind in "mM":  # dates and times look like no kind
        return Seen((), True, False, None)
    if values.dtype == bool:
        return Seen(values, False, True, None)
    if values.dtype.kind in "iuf":
        gone = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
        numbers = values[~gone].astype(np.float64)
        return Seen(numbers, bool(gone.any()), False, numbers)
    known = [v for v in values if not is_missing(v)]
    are_truths = bool(known) and all(isinstance(v, bool | np.bool_) for v in known)
    are_numbers = bool(known) and not are_truths and all(isinstance(v, Real | Decimal) for v in known)
    numbers = np.array([as_number(v) for v in known]) if are_numbers else None
    return Seen(known, len(known) < len(values), are_truths, numbers)

"""A schema read off a table. It looks at the records, so what it says is as private as they are.

Non-private learners use it when they are given no schema.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .columns import Boolean, Categorical, Column, Ignored, Numeric, canonical
from .errors import SchemaError
from .schema import Label, Schema
from .tables import Table

N_CUTS = 9  # deciles
MOST_CATEGORIES = 50  # a text column with more than these is taken for free text or an identifier


def infer_schema(table: Table, classes: Sequence[Label] | None = None, n_cuts: int = N_CUTS) -> Schema:
    """Columns as they look: numbers cut at quantiles, texts as categories, dates and free text ignored.

    >>> import pandas as pd
    >>> from discreet.tables import as_table
    >>> frame = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "a", None], "smokes": [0, 1, 1, 0]})
    >>> for column in infer_schema(as_table(frame), n_cuts=1).columns:
    ...     print(column.name, column.tests())
    age [('<=', 30.0)]
    job [('=', 'a'), ('=', 'b'), ('is missing', None)]
    smokes [('is true', None)]
    """
    columns = tuple(_column(name, table.column(name), n_cuts) for name in table.names)
    if all(isinstance(column, Ignored) for column in columns):
        raise SchemaError("no column of the table looks like numbers, categories or Booleans; give a schema")
    return Schema(columns, classes=None if classes is None else tuple(classes))


def _column(name: str, values: np.ndarray, n_cuts: int) -> Column:
    if values.dtype.kind in "mM":
        return Ignored(name)
    if values.dtype == bool:
        return Boolean(name)
    if values.dtype.kind in "iuf":
        gone = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
        return _numeric(name, values[~gone].astype(np.float64), bool(gone.any()), n_cuts)
    missing = pd.isna(values)
    try:
        found = sorted(pd.unique(values[~missing]), key=canonical)
    except TypeError:  # values that cannot be hashed
        return Ignored(name)
    if found and {type(v) for v in found} <= {bool, np.bool_}:
        return Boolean(name, bool(missing.any()))
    if not found or len(found) > MOST_CATEGORIES or not all(isinstance(v, str | int) for v in found):
        return Ignored(name)
    return Categorical(name, bool(missing.any()), categories=tuple(found))


def _numeric(name: str, numbers: np.ndarray, missing: bool, n_cuts: int) -> Column:
    finite = numbers[np.isfinite(numbers)]
    if len(finite) == len(numbers) and ((numbers == 0.0) | (numbers == 1.0)).all():
        return Boolean(name, missing)
    if not len(finite):
        return Ignored(name)
    # cuts are values that occur, the largest excepted: `x <= largest` would be true of all
    cuts = np.unique(np.quantile(finite, np.linspace(0, 1, n_cuts + 2)[1:-1], method="inverted_cdf"))
    return Numeric(name, missing, cuts=tuple(cuts[cuts < finite.max()].tolist()))

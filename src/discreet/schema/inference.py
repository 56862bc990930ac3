"""A schema read off a table. It looks at the records, so what it says is as private as they are.

Non-private learners use it when they are given no schema.
"""

from collections.abc import Iterable
from decimal import Decimal
from numbers import Real

import numpy as np

from ..common.errors import no_value_shown
from ..common.tables import Table
from . import Schema
from .columns import Boolean, Categorical, Column, Ignored, Numeric, canonical, is_missing
from .columns.numeric import as_number

N_CUTS = 9  # deciles
MOST_CATEGORIES = 50  # a text column with more than these is taken for free text or an identifier


def infer_schema(table: Table, n_cuts: int = N_CUTS, exclude: Iterable[str] = ()) -> Schema:
    """Columns as they look: numbers cut at quantiles, texts as categories, dates and free text ignored.

    >>> import pandas as pd
    >>> from discreet.common.tables import as_table
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
        return _as_it_looks(name, values, n_cuts)


def _as_it_looks(name: str, values: np.ndarray, n_cuts: int) -> Column:
    if values.dtype.kind in "mM":
        return Ignored(name)
    if values.dtype == bool:
        return Boolean(name)
    if values.dtype.kind in "iuf":
        gone = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
        return _numeric(name, values[~gone].astype(np.float64), bool(gone.any()), n_cuts)
    known = [v for v in values if not is_missing(v)]
    missing = len(known) < len(values)
    if known and all(isinstance(v, bool | np.bool_) for v in known):
        return Boolean(name, missing)
    if known and all(isinstance(v, Real | Decimal) for v in known):
        return _numeric(name, np.array([as_number(v) for v in known]), missing, n_cuts)
    categories = sorted({canonical(v) for v in known}) if all(isinstance(v, str | Real) for v in known) else []
    if not categories or len(categories) > MOST_CATEGORIES:
        return Ignored(name)
    return Categorical(name, missing, categories=tuple(categories))


def _numeric(name: str, numbers: np.ndarray, missing: bool, n_cuts: int) -> Column:
    finite = numbers[np.isfinite(numbers)]
    if len(finite) == len(numbers) and ((numbers == 0.0) | (numbers == 1.0)).all():
        return Boolean(name, missing)
    if not len(finite):
        return Ignored(name)
    # cuts are values that occur, the largest excepted: `x <= largest` would be true of all
    cuts = np.unique(np.quantile(finite, np.arange(1, n_cuts + 1) / (n_cuts + 1), method="inverted_cdf"))
    cuts = cuts[cuts < finite.max()]
    return Numeric(name, missing, cuts=tuple(cuts.tolist())) if len(cuts) or missing else Ignored(name)

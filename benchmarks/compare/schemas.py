"""What is public about each table, by one rule that looks at no record which is learned from or tested on.

A random tenth of the records (at least 100, at most 1,000; seed 0) is *the public part*. ``draft_schema``, which is what
``discreet schema`` does, drafts a schema from it, nobody corrects it, and the public part is left out of every split. For
discreet's three datasets the schema that comes with them is used, and no record is left out. The classes are those that the
table's dictionary lists. All methods, ours and others, get these facts and no others: bounds, cuts, categories, classes.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from tables import Table

from discreet import Schema, draft_schema
from discreet.datasets import load_adult, load_compas, load_german_credit

SHIPPED = {"adult": load_adult, "compas": load_compas, "german-credit": load_german_credit}
TARGET = "the target"
MOST = 50_000  # records of a table that is not kept whole, so that everything can be done in an hour


class Data(NamedTuple):
    """What is split, and what is public about it. Labels are 0, 1, ...: their places in ``classes``."""

    table: Table
    X: pd.DataFrame
    y: np.ndarray
    classes: tuple[str, ...]
    schema: Schema
    public: int  # how many records were drafted from, and left out
    records: int  # how many the table has


def prepare(table: Table, limit: int = MOST) -> Data:
    """Draft or take the schema, leave the public part out, and keep at most so many of the other records."""
    X, labels = table.load()
    classes = sorted(labels.unique())
    y = np.searchsorted(np.array(classes, object), labels.to_numpy(object))
    order = np.random.default_rng(0).permutation(len(y))
    n = 0 if table.shipped else public_part(len(y))
    if table.shipped:
        schema = SHIPPED[table.name]().schema
    else:
        sample = X.iloc[order[:n]].assign(**{TARGET: y[order[:n]]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            schema = draft_schema(sample, TARGET).schema
    schema = Schema(schema.columns, TARGET, tuple(range(len(classes))))
    kept = np.sort(order[n:] if table.whole else order[n : n + limit])
    names = [column.name for column in schema.used]
    return Data(table, X.iloc[kept][names].reset_index(drop=True), y[kept], tuple(map(str, classes)), schema, n, len(y))


def public_part(records: int) -> int:
    """How many records are public.

    >>> public_part(344), public_part(5_000), public_part(300_000)
    (100, 500, 1000)
    """
    return min(max(records // 10, 100), 1_000)

"""The set-ups that the published numbers come from. Neither of the first two is quite the one that the paper's text describes.

| | split | K | columns |
|---|---|---|---|
| A (accuracy figure, standard errors) | 80/20 | 5 | sensitive ones removed |
| B (accuracy and vulnerability) | 70/30 | 7 | all on COMPAS; age removed on Adult |
| C (the text's words) | 70/30 | 5 | sensitive ones removed |

and D, which is ours (`python -m reproduction --beyond`): as A, with all columns and the datasets' own public schemas.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from discreet import Literal, Schema
from discreet._utils.tables import as_table
from discreet.datasets import load_adult, load_compas, load_german_credit

DATASETS: dict[str, Callable[..., Any]] = {
    "COMPAS": load_compas,
    "Adult": load_adult,
    "German Credit": load_german_credit,
}
MAX_LITERALS = {"COMPAS": 2, "Adult": 2, "German Credit": 1}
MIN_SUPPORT = {"COMPAS": 0.05, "Adult": 0.05, "German Credit": 0.12}


@dataclass(frozen=True)
class SetUp:
    """How records are split, how long lists are, and which columns there are."""

    name: str
    train_share: float
    max_length: int
    sensitive: bool  # whether sensitive columns are kept
    binary: bool = True  # the published Boolean features, or the columns themselves


class Records:
    """Records (as 0 and 1, or a data frame) and labels; and the distinct ones, with the number of its own for each record."""

    def __init__(self, X: Any, y: np.ndarray, schema: Schema) -> None:
        self.X, self.y, self.schema = X, y, schema
        place = {label: i for i, label in enumerate(schema.classes or ())}
        self.classes = np.array([place[label] for label in y.tolist()])
        table, names = as_table(X, schema.names), [column.name for column in schema.used]
        bins = np.stack([schema[name].encode(table.column(name)) for name in names], axis=1)
        rows = np.ascontiguousarray(bins).view(f"V{bins.itemsize * bins.shape[1]}")
        _, first, which = np.unique(rows, return_index=True, return_inverse=True)
        self.which, self._bins = which.ravel(), dict(zip(names, bins[first].T.copy(), strict=True))
        self.distinct = len(first)
        self._known: dict[Literal, np.ndarray] = {}

    def truth(self, literal: Literal) -> np.ndarray:
        """Of which of the distinct records it is true."""
        if literal not in self._known:
            true_bins = self.schema[literal.column].where(literal.op, literal.value)
            self._known[literal] = true_bins[self._bins[literal.column]]
        return self._known[literal]

    def some(self, which: np.ndarray) -> Any:
        """Some of the records, as they are."""
        return self.X[which] if isinstance(self.X, np.ndarray) else self.X.iloc[which]


@lru_cache(maxsize=8)
def load(dataset: str, sensitive: bool, binary: bool = True) -> Records:
    """A dataset in the published Boolean features, or in its own columns."""
    data = DATASETS[dataset](binary=binary, sensitive=sensitive)
    frame, schema, target = data.data, data.schema, data.target.to_numpy()
    if not binary:
        return Records(frame, target, schema)
    if dataset == "Adult" and sensitive:  # in set-up B, age alone is left out
        kept = [name for name in data.feature_names if not name.startswith("age_")]
        frame, schema = frame[kept], Schema.of_booleans(kept, classes=schema.classes)
    return Records(np.ascontiguousarray(frame.to_numpy().astype(np.int8)), target.astype(np.intp), schema)


SETUPS = {
    "A": SetUp("A", 0.8, 5, sensitive=False),
    "B": SetUp("B", 0.7, 7, sensitive=True),
    "C": SetUp("C", 0.7, 5, sensitive=False),
    "D": SetUp("D", 0.8, 5, sensitive=True, binary=False),
}

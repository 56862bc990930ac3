"""How default lists, trees and cards did on public tables like yours: measured and written by `make compare`.

What a private model is worth depends above all on the number of records times epsilon, then on the number of columns and classes.
All of these are public, so a table that nobody may look at can be compared with tables that everybody may.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import median

LEAST_GAIN = 0.01  # in accuracy: where boosting gains less than that on the majority, a share of it says nothing
FARTHEST = 1.0  # in factors of ten


@dataclass(frozen=True)
class Measured:
    """A table at one epsilon. ``records`` are those that were learned from; ``accuracy`` is that of each kind of model."""

    title: str
    records: int
    columns: int
    classes: int
    majority: float
    boosting: float
    epsilon: float
    accuracy: Mapping[str, float]

    def share(self, model: str) -> float:
        """How much of the way from the majority class to boosting without privacy a model gets."""
        return (self.accuracy[model] - self.majority) / (self.boosting - self.majority)


def similar(records: int, columns: int, classes: int, epsilon: float, how_many: int = 9) -> list[Measured]:
    """The nearest tables, each once; none that is farther away than a factor of ten in records times epsilon.

    >>> [len(similar(30_000, 12, 2, epsilon)) for epsilon in (1.0, 1e-6)]
    [9, 0]
    """

    def apart(one: float, other: float) -> float:
        return abs(math.log10(one / other))

    def distance(table: Measured) -> float:
        size = apart(table.records * table.epsilon, records * epsilon)
        several = (table.classes > 2) != (classes > 2)
        return size + apart(table.columns, columns) / 2 + several / 2 if size <= FARTHEST else math.inf

    nearest: dict[str, Measured] = {}
    for table in sorted(measured_tables(), key=distance):
        if distance(table) < math.inf:
            nearest.setdefault(table.title, table)
    return list(nearest.values())[:how_many]


def expected_shares(tables: list[Measured]) -> dict[str, float]:
    """For each kind of model the median of its shares of the way, on the tables that it was measured on."""
    models = dict.fromkeys(model for table in tables for model in table.accuracy)
    return {m: median(table.share(m) for table in tables if m in table.accuracy) for m in models}


@cache
def measured_tables() -> tuple[Measured, ...]:
    """All tables at all epsilons, without those where boosting gains next to nothing."""
    found = json.loads((files(__package__) / "measured_tables.json").read_text(encoding="utf-8"))
    return tuple(
        Measured(**table, epsilon=float(epsilon), accuracy=accuracy)
        for table, by_epsilon in ((t, t.pop("accuracy")) for t in found)
        for epsilon, accuracy in by_epsilon.items()
        if table["boosting"] - table["majority"] >= LEAST_GAIN
    )

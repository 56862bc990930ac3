"""How lists, trees and cards did on public tables like yours: measured and written by `make compare`.

What a private model is worth depends above all on the number of records times epsilon, then on the number of columns and classes.
All of these are public, so a table that nobody may look at can be compared with tables that everybody may.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import median

import numpy as np

from .._utils.parameters import read_json

LEAST_GAIN = 0.01  # in accuracy: where boosting gains less than that on the majority, a share of it says nothing
FARTHEST = 0.5  # in factors of ten, beyond the records times epsilon that a table was measured at

Curve = Mapping[float, Mapping[str, float]]  # by epsilon, for each kind of model


@dataclass(frozen=True)
class Measured:
    """A table. ``records`` are those that were learned from; ``majority``, ``boosting`` and ``boosted_area`` have no privacy."""

    title: str
    records: int
    columns: int
    classes: int
    majority: float
    boosting: float
    boosted_area: float
    accuracy: Curve
    area: Curve

    def beyond(self, records: int, epsilon: float) -> float:
        """How far so many records times epsilon are outside of what was measured, in factors of ten."""
        place = math.log10(records * epsilon / self.records)
        low, high = (math.log10(end(self.accuracy)) for end in (min, max))
        return max(0.0, low - place, place - high)

    def share(self, model: str, records: int, epsilon: float) -> float | None:
        """How much of the way from the majority class to boosting without privacy a model gets."""
        found = self._at(self.accuracy, model, records, epsilon)
        return None if found is None else (found - self.majority) / (self.boosting - self.majority)

    def ranking(self, model: str, records: int, epsilon: float) -> float | None:
        """Its area under the ROC curve."""
        return self._at(self.area, model, records, epsilon)

    def _at(self, curve: Curve, model: str, records: int, epsilon: float) -> float | None:
        """At the epsilon that has as many records times epsilon here, between those that were measured."""
        known = sorted(e for e in curve if model in curve[e])
        if not known:
            return None
        place = math.log(records * epsilon / self.records)
        return float(np.interp(place, np.log(known), [curve[e][model] for e in known]))


@dataclass(frozen=True)
class OnSimilar:
    """On the nearest tables: quartiles of the share of the way, and the median area, of each kind of model."""

    nearest: tuple[str, ...]
    shares: Mapping[str, tuple[float, float, float]]
    areas: Mapping[str, float]
    boosted_area: float


def similar(records: int, columns: int, classes: int, epsilon: float, how_many: int = 9) -> list[Measured]:
    """The nearest tables; none whose records times epsilon are another factor of three away from what was measured.

    >>> [len(similar(30_000, 12, 2, epsilon)) for epsilon in (1.0, 1e-6)]
    [9, 0]
    """

    def apart(one: float, other: float) -> float:
        return abs(math.log10(one / other))

    def distance(table: Measured) -> float:
        several = (table.classes > 2) != (classes > 2)
        alike = apart(table.columns, columns) / 2 + several / 2 + apart(table.records, records) / 4
        return table.beyond(records, epsilon) + alike

    near = [table for table in measured_tables() if table.beyond(records, epsilon) <= FARTHEST]
    return sorted(near, key=distance)[:how_many]


def on_similar(records: int, columns: int, classes: int, epsilon: float) -> OnSimilar | None:
    """What to expect of each kind of model; None if no table is alike."""
    tables = similar(records, columns, classes, epsilon)
    if not tables:
        return None
    kinds = dict.fromkeys(kind for table in tables for by_kind in table.accuracy.values() for kind in by_kind)
    shares, areas = {}, {}
    for kind in kinds:
        reached = [share for t in tables if (share := t.share(kind, records, epsilon)) is not None]
        low, middle, high = np.percentile(reached, [25, 50, 75]).tolist()
        shares[kind] = (low, middle, high)
        areas[kind] = median(area for t in tables if (area := t.ranking(kind, records, epsilon)) is not None)
    return OnSimilar(tuple(t.title for t in tables), shares, areas, median(t.boosted_area for t in tables))


@cache
def measured_tables() -> tuple[Measured, ...]:
    """All tables, without those where boosting gains next to nothing."""
    found = read_json((files(__package__) / "measured_tables.json").read_text(encoding="utf-8"))
    for table in found:
        for curve in ("accuracy", "area"):
            table[curve] = {float(epsilon): by_kind for epsilon, by_kind in table[curve].items()}
    return tuple(Measured(**t) for t in found if t["boosting"] - t["majority"] >= LEAST_GAIN)

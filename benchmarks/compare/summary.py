"""Means over splits, and paired differences with their standard errors, from the lines of results."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from methods import METHODS, PEERS

BETTER_IF_SMALL = ("loss", "calibration")
Rows = dict[Any, dict[str, Any]]


class Difference(NamedTuple):
    """Of one method and another on the same splits; positive where the first is better."""

    mean: float
    error: float

    @property
    def verdict(self) -> str:
        """Level if it is within two standard errors."""
        if abs(self.mean) <= 2 * self.error:
            return "level"
        return "ahead" if self.mean > 0 else "behind"


class Results:
    """Measures by table, method and epsilon: for each, a number a split."""

    def __init__(self, rows: Rows) -> None:
        self.facts: dict[str, dict[str, Any]] = {}
        self.skipped: dict[tuple[str, str, float | None], str] = {}
        self._found: dict[tuple[str, str, float | None], dict[int, dict[str, Any]]] = defaultdict(dict)
        for job, row in rows.items():
            self.facts[job.table] = row
            if "accuracy" in row:
                self._found[job.table, job.method, job.epsilon][job.split] = row
            else:
                self.skipped[job.table, job.method, job.epsilon] = row.get("skipped") or f"failed: {row['failed']}"
        self.epsilons = sorted({job.epsilon for job in rows if job.epsilon is not None})

    def methods(self, *groups: str) -> list[str]:
        """Those of these groups that have results, ours first."""
        there = {method for _, method, _ in self._found}
        return [name for name, method in METHODS.items() if name in there and method.group in groups]

    @property
    def peers(self) -> list[str]:
        """Private methods of others."""
        return self.methods(PEERS)

    def of(self, table: str, method: str, epsilon: float | None) -> dict[int, dict[str, Any]]:
        """By split; methods without privacy are the same for every epsilon."""
        return self._found.get((table, method, epsilon if METHODS[method].epsilons else None), {})

    def reason(self, table: str, method: str, epsilon: float | None) -> str | None:
        """Why there is no result."""
        return self.skipped.get((table, method, epsilon if METHODS[method].epsilons else None))

    def mean(self, table: str, method: str, epsilon: float | None, measure: str) -> float | None:
        """Over splits."""
        found = self.of(table, method, epsilon)
        return float(np.mean([row[measure] for row in found.values()])) if found else None

    def difference(self, table: str, ours: str, other: str, epsilon: float, measure: str) -> Difference | None:
        """On the splits that both have; at least two."""
        first, second = self.of(table, ours, epsilon), self.of(table, other, epsilon)
        both = sorted(first.keys() & second.keys())
        if len(both) < 2:
            return None
        sign = -1 if measure in BETTER_IF_SMALL else 1
        values = sign * np.array([first[split][measure] - second[split][measure] for split in both])
        return Difference(float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5))

    def share_of_the_way(self, table: str, method: str, epsilon: float, least: float) -> float | None:
        """From majority (0) to boosting (1), in accuracy; None where boosting gains less than ``least``."""
        low, high = (self.mean(table, name, None, "accuracy") for name in ("majority", "boosting"))
        found = self.mean(table, method, epsilon, "accuracy")
        if low is None or high is None or found is None or high - low < least:
            return None
        return (found - low) / (high - low)

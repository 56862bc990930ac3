"""The numbers of the paper's tables, each in the set-up that it comes from, beside what is expected and what we measure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .effort import Effort
from .expected import EXPECTED, Expected
from .runner import Unit
from .setups import DATASETS

EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0)


def units(effort: Effort) -> Iterator[Unit]:
    """Sets A, B and C at the epsilons of the tables."""
    for seed in range(effort.seeds):
        for dataset in DATASETS:
            yield Unit(
                "tables", "A", dataset, seed, ("sm-laplace", "sm-cauchy", "gl-laplace", "mass", "GreedyRL"), EPSILONS
            )
            yield Unit("tables", "B", dataset, seed, ("sm-laplace", "mass", "GreedyRL"), (10.0,))
            yield Unit("tables", "C", dataset, seed, ("sm-laplace", "mass", "GreedyRL"), (1.0, 10.0))


class Compared(NamedTuple):
    """One expected number and what was measured: mean, its standard error, and the difference in standard errors of both."""

    expected: Expected
    mean: float
    error: float
    n: int

    @property
    def difference(self) -> float:
        """In standard errors; what is within the last digit of an expected number is none."""
        gap = abs(self.mean - self.expected.mean)
        scale = float(np.hypot(self.error, self.expected.error))
        return max(0.0, gap - self.expected.digit) / scale if scale else 0.0

    @property
    def agrees(self) -> bool:
        """Whether they are within four standard errors of each other."""
        return self.difference <= 4.0


def compared(fits: Any) -> list[Compared]:
    """Every expected number for which there are fits."""
    found = []
    for e in EXPECTED:
        if e.measure not in fits:
            continue
        experiment = "importance" if e.measure.startswith("overlap") else "tables"
        where = fits.experiment == experiment
        for column, value in (("setup", e.setup), ("dataset", e.dataset), ("method", e.method)):
            where &= fits[column] == value
        where &= fits.epsilon.isna() if e.epsilon is None else np.isclose(fits.epsilon, e.epsilon)
        values = fits.loc[where, e.measure].dropna().to_numpy()
        if len(values) > 1:
            found.append(Compared(e, float(values.mean()), float(values.std() / np.sqrt(len(values))), len(values)))
    return found

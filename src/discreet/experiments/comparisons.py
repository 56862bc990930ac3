"""The numbers of the paper's tables, each in the set-up that it comes from, beside what is expected and what we measure."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .effort import Effort
from .expected import EXPECTED, GERMAN_CREDIT, Expected
from .page import Table
from .runner import Unit
from .setups import DATASETS
from .tables import Compared, with_error

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


def _what(e: Expected) -> str:
    what = f"{e.setup}: {e.dataset}, {e.method}" + ("" if e.epsilon is None else f", epsilon {e.epsilon:g}")
    return what + ("" if e.measure == "test_accuracy" else f", {e.measure.replace('_', ' ')}")


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
            error = float(values.std() / np.sqrt(len(values)))
            found.append(Compared(_what(e), e.paper, e.mean, e.error or None, float(values.mean()), error, e.rounding))
    return found


def german_credit(fits: Any) -> Table:
    """Table III's numbers for German Credit, which nobody can judge: its file was never published."""
    table = fits[(fits.experiment == "tables") & (fits.setup == "B") & (fits.dataset == "German Credit")]
    rows = []
    for (method, measure), (paper, about) in GERMAN_CREDIT.items():
        values = table.loc[table.method == method, measure]
        rows.append((f"{method}, {measure.replace('_', ' ')}", paper, about, with_error(values.mean(), values.sem())))
    return Table(("set-up B, epsilon 10", "paper", "independent run, about", "measured"), tuple(rows))

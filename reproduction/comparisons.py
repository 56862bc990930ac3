"""The numbers of the paper's tables, each in the set-up that it comes from, beside what is expected and what we measure."""

from typing import Any

import numpy as np

from .expected import EPSILONS, EXPECTED, GERMAN_CREDIT, STANDARD_ERRORS, Expected
from .page import Table
from .tables import Compared, with_error


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


def measured_errors(fits: Any) -> Any:
    """The standard error of each method at each epsilon on each dataset."""
    where = (fits.experiment == "tables") & (fits.setup == "A") & fits.epsilon.notna()
    return fits[where].groupby(["dataset", "method", "epsilon"]).test_accuracy.sem()


def standard_errors(fits: Any) -> Table:
    """Table I: published and measured, a row for each dataset and method."""
    found = measured_errors(fits)
    rows = []
    for (dataset, method), published in STANDARD_ERRORS.items():
        mine = found.loc[dataset, method]
        at = [mine.iloc[int(np.argmin(np.abs(mine.index - epsilon)))] for epsilon in EPSILONS]
        rows.append((f"{dataset}, {method}", *(f"{p:.1e} / {m:.1e}" for p, m in zip(published, at, strict=True))))
    return Table(("", *(f"epsilon {e:g}" for e in EPSILONS)), tuple(rows), "paper / measured")

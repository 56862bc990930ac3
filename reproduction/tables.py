"""Means with their standard errors, and the paper's numbers beside ours."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .page import Table

if TYPE_CHECKING:
    import pandas as pd

AGREES_WITHIN = 4.0  # standard errors of a difference
NOTHING = "–"
HEADER = ("", "paper", "expected", "measured", "difference in standard errors", "verdict")


def summary(fits: "pd.DataFrame", by: Sequence[str], value: str = "test_accuracy") -> "pd.DataFrame":
    """Mean, its standard error, and the number of fits n, for each group. Fits without a value do not count.

    >>> import pandas as pd
    >>> fits = pd.DataFrame({"method": ["mass"] * 4, "test_accuracy": [0.5, 0.7, 0.6, 0.6]})
    >>> summary(fits, by=["method"]).round(4).to_dict("records")
    [{'method': 'mass', 'mean': 0.6, 'standard_error': 0.0408, 'n': 4}]
    """
    groups = fits.dropna(subset=[value]).groupby(list(by), dropna=False, observed=True)[value]
    found = groups.agg(mean="mean", standard_error="sem", n="count")
    return found.reset_index()


def by_method(means: "pd.DataFrame") -> "list[tuple[str, pd.DataFrame]]":
    """Each method's part of a summary, in alphabetical order."""
    return [(str(name), part) for name, part in means.groupby("method", observed=True)]


def rows(means: "pd.DataFrame") -> list[Any]:
    """The rows of a summary: row.mean, row.method, ..."""
    return list(means.itertuples())


def pooled(fits: "pd.DataFrame", points: int) -> "pd.DataFrame":
    """The fits of each method with neighbouring epsilons pooled until at most so many are left.

    Each seed's values are averaged first: a seed is one split, so only different seeds are independent.

    >>> import pandas as pd
    >>> fits = pd.DataFrame({"method": "mass", "epsilon": [1.0, 4.0], "seed": 0, "test_accuracy": [0.5, 0.7]})
    >>> pooled(fits, 1).to_dict("records")
    [{'method': 'mass', 'epsilon': 2.0, 'seed': 0, 'test_accuracy': 0.6}]
    """
    import numpy as np
    import pandas as pd

    parts = []
    for _, mine in by_method(fits):
        budgets = np.sort(mine["epsilon"].unique())
        groups = [g for g in np.array_split(np.log(budgets), min(points, len(budgets))) if len(g)]
        middle = np.repeat([np.exp(g.mean()) if len(g) > 1 else np.exp(g[0]) for g in groups], [len(g) for g in groups])
        parts.append(mine.assign(epsilon=mine["epsilon"].map(dict(zip(budgets, middle, strict=True)))))
    found = pd.concat(parts).groupby(["method", "epsilon", "seed"], observed=True)
    return found.mean(numeric_only=True).reset_index()


@dataclass(frozen=True)
class Compared:
    """One number of the paper: what it printed, what its authors' code gives, and what we measured."""

    what: str
    paper: float | str | None  # a string where a number would say less: "0.507+"
    expected: float | None
    expected_error: float | None
    measured: float
    measured_error: float
    rounding: float = 0.0  # half a unit of the last digit of an expected number that came without a standard error

    @property
    def difference(self) -> float:
        """Between measured and expected, in standard errors of that difference; NaN if nothing is expected."""
        if self.expected is None:
            return math.nan
        apart = self.measured - self.expected
        apart = math.copysign(max(0.0, abs(apart) - self.rounding), apart)
        error = math.hypot(
            *(0.0 if e is None or math.isnan(e) else e for e in (self.expected_error, self.measured_error))
        )
        return apart / error if error else 0.0 if apart == 0 else math.copysign(math.inf, apart)

    @property
    def agrees(self) -> bool | None:
        """Is the difference within ``AGREES_WITHIN`` standard errors? None if nothing is expected."""
        return None if math.isnan(self.difference) else abs(self.difference) <= AGREES_WITHIN


def comparison(numbers: Iterable[Compared], caption: str = "") -> Table:
    """The paper's numbers, the expected and the measured ones side by side.

    >>> row = Compared("COMPAS, GreedyRL", 0.65, 0.6523, 0.00109, 0.6531, 0.00111)
    >>> comparison([row]).rows
    (('COMPAS, GreedyRL', '0.65', '0.6523 ± 0.0011', '0.6531 ± 0.0011', '+0.5', 'agrees'),)
    """
    return Table(HEADER, tuple(map(_cells, numbers)), caption)


def _cells(row: Compared) -> tuple[str, ...]:
    paper = NOTHING if row.paper is None else row.paper if isinstance(row.paper, str) else f"{row.paper:g}"
    expected = NOTHING if row.expected is None else with_error(row.expected, row.expected_error)
    verdict = {None: NOTHING, True: "agrees", False: "does not agree"}[row.agrees]
    difference = NOTHING if row.agrees is None else signed(row.difference)
    return row.what, paper, expected, with_error(row.measured, row.measured_error), difference, verdict


def with_error(value: float, error: float | None) -> str:
    """A number with its standard error, to that error's second digit.

    >>> with_error(0.65234, 0.00109), with_error(0.65, None)
    ('0.6523 ± 0.0011', '0.65')
    """
    if math.isnan(value):
        return NOTHING
    if not error or math.isnan(error):
        return f"{value:.4g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def signed(value: float) -> str:
    """A difference, with a minus sign that is as wide as the plus."""
    return f"{value:+.1f}".replace("-", "−").replace("inf", "∞")

"""The paper's Table I: standard errors of mean test accuracies over 100 seeds (set-up A)."""

from typing import Any

import numpy as np

from .page import Table

EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0)
PUBLISHED = {
    ("German Credit", "sm-laplace"): (2.0e-2, 1.2e-2, 3.6e-3, 3.3e-3, 3.4e-3),
    ("COMPAS", "sm-laplace"): (5.0e-3, 5.0e-3, 2.9e-3, 1.2e-3, 1.1e-3),
    ("Adult", "sm-laplace"): (4.2e-3, 1.0e-3, 4.7e-4, 4.3e-4, 4.1e-4),
    ("German Credit", "sm-cauchy"): (2.0e-2, 1.2e-2, 3.6e-3, 3.1e-3, 3.1e-3),
    ("COMPAS", "sm-cauchy"): (5.0e-3, 5.0e-3, 4.1e-3, 4.0e-3, 3.6e-3),
    ("Adult", "sm-cauchy"): (4.2e-3, 8.4e-4, 8.5e-4, 9.9e-4, 8.0e-4),
    ("German Credit", "gl-laplace"): (1.3e-2, 8.8e-3, 3.3e-3, 3.1e-3, 3.0e-3),
    ("COMPAS", "gl-laplace"): (6.2e-3, 4.5e-3, 4.2e-3, 4.2e-3, 4.0e-3),
    ("Adult", "gl-laplace"): (1.7e-3, 8.0e-4, 8.0e-4, 8.0e-4, 8.9e-4),
}


def measured_errors(fits: Any) -> Any:
    """The standard error of each method at each epsilon on each dataset."""
    where = (fits.experiment == "tables") & (fits.setup == "A") & fits.epsilon.notna()
    return fits[where].groupby(["dataset", "method", "epsilon"]).test_accuracy.sem()


def beside_the_paper(fits: Any) -> Table:
    """Published and measured, a row for each dataset and method."""
    found = measured_errors(fits)
    rows = []
    for (dataset, method), published in PUBLISHED.items():
        mine = found.loc[dataset, method]
        at = [mine.iloc[int(np.argmin(np.abs(mine.index - epsilon)))] for epsilon in EPSILONS]
        rows.append((f"{dataset}, {method}", *(f"{p:.1e} / {m:.1e}" for p, m in zip(published, at, strict=True))))
    return Table(("", *(f"epsilon {e:g}" for e in EPSILONS)), tuple(rows), "paper / measured")

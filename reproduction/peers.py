"""Private classifiers of other libraries on the same splits, with ours beside them (`python -m reproduction --peers`, set-up A).

They are no rule lists, and are fitted in an environment of their own (peers_environment.py, peers_child.py).
"""

from collections.abc import Iterator
from typing import Any

from .grids import Effort
from .page import Section, Table
from .runner import Unit
from .setups import DATASETS
from .tables import NOTHING, rows, summary, with_error

PEERS = ("DP-EBM", "diffprivlib tree", "diffprivlib forest", "diffprivlib logistic")
OURS = ("optimal lists", "mass", "sm-laplace")
TREES = ("optimal trees",)  # in a unit of their own, so that the noise of those before them stays what it was
EPSILONS = (0.1, 1.0, 10.0)

TEXT = (
    "Points in the figures above; here with trees and rule lists on the same splits (mean test accuracy ± its standard error). "
    "DP-EBM, of InterpretML, and sm-laplace have a delta of 1/n², the others none. What each library takes as public, and what "
    "its epsilon means, differs: docs/reproduction.md says how. Only the lists are five lines to read: a tree of depth four has "
    "up to 16 leaves, a forest is ten trees of depth five, DP-EBM a function of every column."
)


def units(effort: Effort) -> Iterator[Unit]:
    """Theirs and ours, in units of their own, on as many splits as optimal lists get."""
    for seed in range(effort.list_seeds):
        for dataset in DATASETS:
            for methods in (TREES, OURS, PEERS):
                yield Unit("peers", "A", dataset, seed, methods, EPSILONS)


def section(fits: Any) -> Section:
    """A table for each dataset: a row for each method, a column for each epsilon."""
    chosen = fits[fits.experiment == "peers"]
    return Section(
        "Other private classifiers",
        [TEXT, *(_table(chosen[chosen.dataset == d], d) for d in DATASETS if (chosen.dataset == d).any())],
    )


def _table(fits: Any, dataset: str) -> Table:
    found = {(m.method, m.epsilon): m for m in rows(summary(fits, ["method", "epsilon"]))}
    lines = [
        (
            method,
            *(with_error(m.mean, m.standard_error) if (m := found.get((method, e))) else NOTHING for e in EPSILONS),
        )
        for method in (*TREES, *OURS, *PEERS)
    ]
    return Table(("", *(f"epsilon {e:g}" for e in EPSILONS)), tuple(lines), f"{dataset}, {fits.seed.nunique()} splits")

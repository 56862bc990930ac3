"""Other values of ``split`` and ``prior`` than the default, on three tables of the paper and four of scikit-learn.

Where all columns have as many tests, ``prior="columns"`` is the default by another name.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from accuracy import trees
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from splits import EPSILONS, Data, adult_20, compas_12, fine_adult, fit, german, mean, split_of

from discreet import Numeric, Schema
from discreet.datasets import load_compas, load_german_credit

SPLITS, PRIORS = (0.3, 0.5, 0.7, 0.9), (None, "columns")


def of_sklearn(load: Callable[..., Any], cuts: int = 3) -> Data:
    """Numbers, cut evenly between bounds. They are taken from the table, which is public here."""
    X, y = load(return_X_y=True, as_frame=True)
    columns = [Numeric(n, low=float(X[n].min()), high=float(X[n].max()) + 1e-9, n_cuts=cuts) for n in X.columns]
    return Data(pd.DataFrame(X), np.asarray(y), Schema(columns, "y", tuple(range(int(y.max()) + 1))))


def shipped(load: Callable[..., Any]) -> Data:
    """All columns, by the schema that comes with the dataset."""
    data = load()
    return Data(data.data, data.target.to_numpy(), data.schema)


TABLES: dict[str, tuple[Callable[[], Data], int]] = {
    "COMPAS, 12 features, depth 4": (compas_12, 4),
    "Adult, 20 features, depth 4": (adult_20, 4),
    "Adult, fine cuts, depth 3": (fine_adult, 3),
    "German Credit, depth 3": (german, 3),
    "COMPAS, all columns, depth 3": (partial(shipped, load_compas), 3),
    "German Credit, all columns, depth 3": (partial(shipped, load_german_credit), 3),
    "iris, depth 3": (partial(of_sklearn, load_iris), 3),
    "wine, depth 3": (partial(of_sklearn, load_wine), 3),
    "breast cancer, depth 3": (partial(of_sklearn, load_breast_cancer), 3),
    "digits, depth 3": (partial(of_sklearn, load_digits, cuts=1), 3),
}


def compare(seeds: Iterable[int], only: str) -> None:
    """A row for each table and epsilon: mean test accuracy, and standard errors."""
    settings = [(prior, split) for prior in PRIORS for split in SPLITS]
    print("| | " + " | ".join(f"{prior or 'all alike'}, {split}" for prior, split in settings) + " |")
    print("|---|" + "---|" * len(settings))
    for name, (load, depth) in TABLES.items():
        if only not in name:
            continue
        data = load()
        splits = [split_of(data, seed) for seed in seeds]
        for epsilon in EPSILONS:
            patterns = []
            for prior, split in settings:
                make = trees(max_depth=depth, prior=prior, split=split, counts_share=0.0)
                patterns.append(mean(fit(s, make(epsilon, s.seed)).accuracy for s in splits))
            print(f"| {name}, epsilon {epsilon:g} | " + " | ".join(patterns) + " |", flush=True)

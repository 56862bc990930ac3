"""Greedy trees: which share of epsilon class counts should get, how deep to grow, and how they compare with other learners.

    python -m benchmarks.greedy_trees shares
    python -m benchmarks.greedy_trees mechanisms ["German Credit"]

Test accuracy in percent, means over splits and draws of noise; the standard error of the last column of each row is beside it.
What the first printed on 2026-11-16, for shares of 0.1, 0.2, 0.3 and 0.5:

    COMPAS         epsilon 0.1  depth 2: 63.46  63.48  63.65  63.01  ± 0.57
    COMPAS         epsilon 0.1  depth 3: 62.03  62.85  63.18  62.86  ± 0.60
    COMPAS         epsilon 0.1  depth 4: 61.96  62.88  63.26  63.13  ± 0.51
    COMPAS         epsilon 1    depth 2: 66.06  66.06  65.97  65.86  ± 0.13
    COMPAS         epsilon 1    depth 3: 65.85  65.99  65.91  65.78  ± 0.16
    COMPAS         epsilon 1    depth 4: 65.68  65.82  65.83  65.74  ± 0.14
    Adult          epsilon 0.1  depth 2: 80.11  80.13  80.12  80.12  ± 0.05
    Adult          epsilon 0.1  depth 3: 80.36  80.39  80.47  80.40  ± 0.09
    Adult          epsilon 0.1  depth 4: 80.30  80.54  80.60  80.53  ± 0.11
    Adult          epsilon 1    depth 2: 80.14  80.14  80.14  80.14  ± 0.05
    Adult          epsilon 1    depth 3: 81.02  81.03  81.03  81.03  ± 0.05
    Adult          epsilon 1    depth 4: 81.32  81.33  81.29  81.19  ± 0.07
    German Credit  epsilon 0.1  depth 2: 60.38  65.46  67.36  68.56  ± 0.53
    German Credit  epsilon 0.1  depth 3: 60.60  64.87  66.10  68.46  ± 0.68
    German Credit  epsilon 0.1  depth 4: 57.33  62.80  65.17  67.89  ± 0.65
    German Credit  epsilon 1    depth 2: 69.96  70.02  70.07  70.14  ± 0.37
    German Credit  epsilon 1    depth 3: 69.74  69.98  69.82  69.81  ± 0.36
    German Credit  epsilon 1    depth 4: 68.83  69.31  69.60  69.39  ± 0.48

One half loses at most 0.7 against the best share of a row; less for the counts loses up to 11 on few records and a small epsilon.
"""

import sys
import warnings

import numpy as np
from sklearn.model_selection import train_test_split

from discreet import (
    DPGreedyRuleListClassifier,
    DPGreedyTreeClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    PrivateCounts,
)
from discreet._utils.errors import PrivacyWarning
from discreet.audit.subjects import needed_parameters
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.mechanisms.registry import MECHANISMS

DATA = {"COMPAS": load_compas, "Adult": load_adult, "German Credit": load_german_credit}
SPLITS, DRAWS = 6, 5


def splits(load):
    """The schema, and counts of the training records with the records to test on."""
    data = load(sensitive=False)
    counted = []
    for seed in range(SPLITS):
        X, X_test, y, y_test = train_test_split(data.data, data.target, test_size=0.3, random_state=seed)
        counted.append((PrivateCounts.from_table(X, y, data.schema), X_test, y_test))
    return data.schema, counted


def accuracy(kind, schema, counted, **parameters):
    found = [
        kind(schema=schema, random_state=100 * i + draw, **parameters).fit_counts(private).score(X, y)
        for i, (private, X, y) in enumerate(counted)
        for draw in range(DRAWS)
    ]
    return 100 * np.mean(found), 100 * np.std(found) / np.sqrt(len(found))


def shares():
    for name, load in DATA.items():
        schema, counted = splits(load)
        for epsilon in (0.1, 1.0):
            for depth in (2, 3, 4):
                row = [
                    accuracy(
                        DPGreedyTreeClassifier, schema, counted, epsilon=epsilon, max_depth=depth, counts_share=share
                    )
                    for share in (0.1, 0.2, 0.3, 0.5)
                ]
                means = "  ".join(f"{mean:5.2f}" for mean, _ in row)
                print(f"{name:14} epsilon {epsilon:<4g} depth {depth}: {means}  ± {row[-1][1]:.2f}", flush=True)


def mechanisms():
    for name, load in DATA.items():
        schema, counted = splits(load)
        records = int(0.7 * sum(counted[0][1].shape[:1]) / 0.3)
        for epsilon in (0.1, 1.0, 10.0):
            tried = {"whole tree": (DPOptimalTreeClassifier, {"max_depth": 3})}
            tried["whole list"] = (DPOptimalRuleListClassifier, {"max_length": 4})
            for mechanism, one in MECHANISMS.items():
                needed = needed_parameters(one) | ({"min_support": records // 20} if one.needs_support else {})
                tried[f"tree by {mechanism}"] = (DPGreedyTreeClassifier, needed | {"max_depth": 3})
                tried[f"list by {mechanism}"] = (DPGreedyRuleListClassifier, needed | {"max_length": 4})
            for what, (kind, parameters) in tried.items():
                mean, error = accuracy(kind, schema, counted, epsilon=epsilon, **parameters)
                print(f"{name:14} epsilon {epsilon:<4g} {what:22} {mean:5.2f} ± {error:.2f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", PrivacyWarning)
    DATA = {name: load for name, load in DATA.items() if name in (sys.argv[2:] or DATA)}
    {"shares": shares, "mechanisms": mechanisms}[sys.argv[1]]()

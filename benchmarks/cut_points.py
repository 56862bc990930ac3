"""Test accuracy on Adult with four ways to cut its numeric columns: docs/cut-points.md has the table. Takes half an hour.

python benchmarks/cut_points.py [splits [draws]]
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
from sklearn.model_selection import train_test_split

from discreet import DPOptimalRuleListClassifier, Numeric, private_cuts
from discreet.datasets import load_adult

# what is known about the questionnaire: bounds, and where the codes end
BOUNDS = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}
STEPS = {
    "age": 72,
    "education_num": 14,
    "capital_gain": 200,
    "capital_loss": 200,
    "hours_per_week": 97,
}  # years, hours, codes
EPSILON = 1.0
MAX_LENGTH = 4  # the default: three rules and "else"
N_CUTS = 7  # quantiles of each numeric column
SHARE = 0.1  # of epsilon, for the cut points
DATA = load_adult()


def gridded(steps, **facts):
    """The shipped schema with another public grid for each numeric column."""
    columns = []
    for column in DATA.schema.columns:
        if name := column.name if column.name in BOUNDS else None:
            low, high = BOUNDS[name]
            column = Numeric(name, low=low, high=high, n_cuts=min(steps, STEPS[name]), **facts.get(name, {}))
        columns.append(column)
    return replace(DATA.schema, columns=tuple(columns))


ZERO = {name: {"cuts": (0,)} for name in ("capital_gain", "capital_loss")}  # many have none, which everybody knows


def exact_quantiles(X, n_cuts):
    """The data's own quantiles: not private, to see what noise costs."""
    columns = []
    for column in DATA.schema.columns:
        if column.name in BOUNDS:
            shares = np.arange(1, n_cuts + 1) / (n_cuts + 1)
            cuts = np.unique(np.quantile(X[column.name], shares, method="inverted_cdf"))
            column = replace(column, cuts=tuple(cuts.tolist()))
        columns.append(column)
    return replace(DATA.schema, columns=tuple(columns))


def ways(X, epsilon, seed):
    """name, schema, what is left of epsilon for the fit."""
    yield "shipped schema (round numbers, by hand)", DATA.schema, epsilon
    yield "fine public grid, 20 equal steps", gridded(20), epsilon
    wanted = dict.fromkeys(BOUNDS, N_CUTS)
    schema = private_cuts(X, gridded(200, **ZERO), wanted, epsilon=SHARE * epsilon, random_state=seed)
    yield f"{N_CUTS} private quantiles, for {SHARE:.0%} of epsilon", schema, (1 - SHARE) * epsilon
    yield f"{N_CUTS} exact quantiles (not private)", exact_quantiles(X, N_CUTS), epsilon


def one_split(job):
    split, draws = job
    X, X_test, y, y_test = train_test_split(DATA.data, DATA.target, test_size=0.3, random_state=split)
    found = {}
    for draw in range(draws):
        for name, schema, left in ways(X, EPSILON, 1000 * split + draw):
            clf = DPOptimalRuleListClassifier(epsilon=left, max_length=MAX_LENGTH, schema=schema, random_state=draw)
            found.setdefault(name, []).append(clf.fit(X, y).score(X_test, y_test))
    return {name: float(np.mean(scores)) for name, scores in found.items()}


def main(splits=10, draws=1):
    results = []
    with ProcessPoolExecutor(2) as pool:
        for one in pool.map(one_split, [(s, draws) for s in range(splits)]):
            results.append(one)
            print(one, file=sys.stderr, flush=True)
    print(f"Adult, {splits} splits (70/30), draws of noise: {draws}, epsilon {EPSILON}, max_length {MAX_LENGTH}\n")
    print("| cut points | test accuracy | against the first (standard error) |\n|---|---|---|")
    base = np.array([next(iter(one.values())) for one in results])
    for name in results[0]:
        scores = np.array([one[name] for one in results])
        error = (scores - base).std(ddof=1) / np.sqrt(splits)
        print(f"| {name} | {scores.mean():.4f} | {(scores - base).mean():+.4f} ({error:.4f}) |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

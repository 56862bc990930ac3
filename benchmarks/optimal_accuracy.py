"""Test accuracy of rule lists beside the greedy learners, at the same epsilon: the table of docs/optimal.md.

70/30 splits by `default_rng(seed).permutation`, seeds 0-19, Boolean features without the sensitive columns; one fit a split,
seeded with the split's number. `python benchmarks/optimal_accuracy.py` takes about 10 minutes on one core, most of it for pairs
of literals; `--singles` leaves these out. `sm-laplace` has its published parameters (min_support 0.05, German 0.12), for which
nothing is proved.
"""

import argparse

import numpy as np

from discreet import (
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    OptimalRuleListClassifier,
    PrivateCounts,
    Schema,
)
from discreet.datasets import load_adult, load_compas, load_german_credit

SEEDS = range(20)


def main(pairs):
    cases = [
        ("COMPAS, 3 literals", load_compas, 4, 1, 0.05, (0.01, 0.1, 1.0, 10.0)),
        ("Adult, 3 literals", load_adult, 4, 1, 0.05, (0.01, 0.1, 1.0, 10.0)),
        ("German, 3 literals", load_german_credit, 4, 1, 0.12, (0.01, 0.1, 1.0, 10.0)),
    ]
    if pairs:
        cases.append(("Adult, 4 pairs", load_adult, 5, 2, 0.05, (0.01, 0.1, 1.0)))
    print(
        "| data, up to | epsilon | optimal lists | `mass` | `sm-laplace` | best list, no privacy |\n|---|---|---|---|---|---|"
    )
    for name, load, max_length, max_literals, support, epsilons in cases:
        X, y = load(binary=True, sensitive=False, return_X_y=True)
        X, y = X.astype(bool), np.asarray(y)
        schema = Schema.of_booleans(list(X.columns))
        common = {"max_length": max_length, "max_literals": max_literals}
        best = []
        scores = {epsilon: ([], [], []) for epsilon in epsilons}
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[: int(0.7 * len(y))], order[int(0.7 * len(y)) :]
            private = PrivateCounts.from_table(X.iloc[train], y[train], schema)
            if max_literals == 1:
                best.append(
                    OptimalRuleListClassifier(**common).fit(X.iloc[train], y[train]).score(X.iloc[test], y[test])
                )
            for epsilon in epsilons:
                learners = (
                    DPOptimalRuleListClassifier(epsilon=epsilon, random_state=seed, **common),
                    DPGreedyRuleListClassifier(mechanism="mass", epsilon=epsilon, random_state=seed, **common),
                    DPGreedyRuleListClassifier(
                        mechanism="sm-laplace", epsilon=epsilon, min_support=support, random_state=seed, **common
                    ),
                )
                for learner, kept in zip(learners, scores[epsilon], strict=True):
                    kept.append(learner.fit_counts(private).score(X.iloc[test], y[test]))
        for epsilon in epsilons:
            patterns = [f"{np.mean(s):.4f} ({np.std(s, ddof=1) / len(s) ** 0.5:.4f})" for s in scores[epsilon]]
            last = f"{np.mean(best):.4f}" if best else ""
            print(f"| {name} | {epsilon:g} | {' | '.join(patterns)} | {last} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--singles", action="store_true")
    main(pairs=not parser.parse_args().singles)

"""Is a forest of private trees ever better than one private tree? Kinds, numbers of trees, and deeper single trees beside them.

    python -m benchmarks.forests [splits] [dataset ...]

Test accuracy in percent, mean over splits (80/20) and its standard error, all columns with the datasets' own public schemas. The
members of forests are drawn whole by accuracy and vote; "probabilities" are of trees by impurity mass, with .3 of epsilon for
class counts. docs/reproduction.md says what came out of the kinds that `python -m reproduction --beyond` has.

On 2026-11-17, of COMPAS with 16 splits, epsilon 1 and 10:

    one whole tree, depth 3         67.74 ± 0.28  67.84 ± 0.28
    one whole tree, depth 4         67.95 ± 0.28  67.56 ± 0.22
    one whole tree, depth 3 then 2  67.84 ± 0.27  67.49 ± 0.26
    3 parts                         67.69 ± 0.26  67.80 ± 0.22
    5 parts                         67.92 ± 0.26  68.02 ± 0.24
    3 shares                        67.73 ± 0.32  67.89 ± 0.28
"""

import sys
import warnings

import numpy as np
from reproduction.forests import greedy, of_all_records, of_parts, whole
from reproduction.measures import measured
from reproduction.random_forests import random_forest
from reproduction.splits import split_of

from discreet import DPGreedyTreeClassifier, DPOptimalTreeClassifier


def one(**parameters):
    return lambda split, epsilon, seed: split.fit(
        DPOptimalTreeClassifier(epsilon=epsilon, counts_share=0.0, random_state=seed, **parameters)
    )


def of(make, *how, **also):
    return lambda split, epsilon, seed: make(split, epsilon, seed, *how, **also)


TRIED = {
    "one whole tree, depth 3": one(max_depth=3),
    "one whole tree, depth 4": one(max_depth=4),
    "one whole tree, depth 3 then 2": one(stages=(3, 2)),
    "one greedy tree, depth 3": lambda split, epsilon, seed: DPGreedyTreeClassifier(
        epsilon=epsilon, max_depth=3, random_state=seed
    ).fit_counts(split.private),
}
for trees in (3, 5, 11):
    TRIED |= {
        f"{trees} parts": of(of_parts, trees, whole(3)),
        f"{trees} parts, probabilities": of(of_parts, trees, whole(3, "mass", 0.3)),
        f"{trees} parts, greedy": of(of_parts, trees, greedy(3)),
        f"{trees} shares": of(of_all_records, trees, whole(3)),
        f"{trees} shares, half of the columns": of(of_all_records, trees, whole(3), columns=0.5),
    }
for trees, depth in ((5, 10), (15, 6), (15, 8), (15, 10), (31, 10)):
    for how in ("smooth", "proved"):
        TRIED[f"{trees} random trees, depth {depth}, {how}"] = of(random_forest, how, trees, depth)


def main(splits, datasets):
    warnings.simplefilter("ignore")  # seeded noise proves nothing
    for dataset in datasets:
        found = {}
        for seed in range(splits):
            split = split_of(dataset, "D", seed)
            for name, make in TRIED.items():
                if dataset == "German Credit" and name.endswith("depth 4"):
                    continue  # a second a fit
                for epsilon in (0.1, 1.0, 10.0):
                    values = found.setdefault(name, {}).setdefault(epsilon, [])
                    values.append(100 * measured(make(split, epsilon, 1000 * seed), split)["test_accuracy"])
        print(f"{dataset}, {splits} splits: epsilon 0.1, 1 and 10")
        for name, by_epsilon in found.items():
            patterns = (f"{np.mean(v):6.2f} ± {np.std(v, ddof=1) / len(v) ** 0.5:.2f}" for v in by_epsilon.values())
            print(f"  {name:38}", *patterns, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:] or ["COMPAS", "Adult", "German Credit"])

"""Score cards on Adult, 70/30: area under the ROC curve, log loss and accuracy at epsilon 0.1 and 1.

All columns with fine public cuts (trees/fine_adult.py), and without five that a holder may leave out by what is public about
them. DP-EBM on the same columns is in `python benchmarks/trees ranking`.

    python benchmarks/cards_ranking.py [splits]
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).with_name("trees")))
sys.path.insert(0, str(Path(__file__).with_name("compare")))

from measures import measures
from splits import fine_adult, mean, split_of

from discreet import DPScoreCardClassifier

FEWER = ("relationship", "sex", "race", "native_country", "workclass")
VARIANTS = {
    "default": {},
    "all columns at once": {"one_by_one": False},
    "one after the other": {"one_by_one": True},
    "seven columns": {"exclude": FEWER},
    "seven columns, at once": {"exclude": FEWER, "one_by_one": False},
}


def main() -> None:
    """A row for each variant."""
    warnings.simplefilter("ignore")  # fits are seeded
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    data = fine_adult()
    found = {(name, epsilon): [] for epsilon in (0.1, 1.0) for name in VARIANTS}
    for seed in range(splits):
        split = split_of(data, seed)
        X, y = data.X.iloc[split.test], data.y[split.test]
        for name, epsilon in found:
            clf = DPScoreCardClassifier(epsilon, schema=data.schema, random_state=seed, **VARIANTS[name])
            chances = clf.fit_vault(split.vault).predict_proba(X)
            found[name, epsilon].append(measures(y, np.argmax(chances, axis=1), chances))
    print(f"Adult, all columns, fine cuts, {splits} splits\n")
    print("| | epsilon | area | log loss | accuracy |\n|---|---|---|---|---|")
    for (name, epsilon), rows in found.items():
        cells = [mean(row[what] for row in rows) for what in ("area", "loss", "accuracy")]
        print(f"| {name} | {epsilon:g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

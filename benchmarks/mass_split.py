"""Which share of epsilon "mass" should give to the class counts, and whether "no rule" should be a candidate.

Test accuracy, mean over 20 splits (those of mass_accuracy.py) and 10 draws of noise each. The last line of a table is the mean,
over its rows, of what a share loses against the best share of the row. What it printed on 2026-11-15:

    no rule is a candidate
    data           epsilon     0.10     0.20     0.30     0.40     0.50     0.60     0.70     0.80
    COMPAS            0.01   0.5212   0.5344   0.5472   0.5543   0.5585   0.5621   0.5627   0.5638
    COMPAS             0.1   0.6033   0.6046   0.6028   0.5991   0.5956   0.5916   0.5889   0.5821
    COMPAS               1   0.6423   0.6419   0.6417   0.6414   0.6404   0.6392   0.6353   0.6287
    COMPAS              10   0.6433   0.6433   0.6433   0.6433   0.6433   0.6432   0.6432   0.6432
    Adult             0.01   0.7615   0.7646   0.7658   0.7664   0.7669   0.7670   0.7668   0.7668
    Adult              0.1   0.7821   0.7827   0.7825   0.7820   0.7817   0.7807   0.7785   0.7750
    Adult                1   0.7845   0.7845   0.7844   0.7843   0.7842   0.7842   0.7841   0.7837
    Adult               10   0.7848   0.7848   0.7848   0.7848   0.7848   0.7848   0.7848   0.7848
    German            0.01   0.5137   0.5256   0.5410   0.5575   0.5719   0.5814   0.5876   0.5944
    German             0.1   0.6122   0.6671   0.6816   0.6900   0.6947   0.6968   0.6984   0.6997
    German               1   0.6999   0.7016   0.7025   0.7028   0.7040   0.7041   0.7037   0.7045
    German              10   0.7033   0.7032   0.7038   0.7034   0.7042   0.7039   0.7057   0.7047
    Adult, pairs      0.01   0.7555   0.7641   0.7652   0.7660   0.7666   0.7668   0.7667   0.7670
    Adult, pairs       0.1   0.7840   0.7844   0.7837   0.7831   0.7814   0.7793   0.7768   0.7729
    Adult, pairs         1   0.7906   0.7906   0.7905   0.7904   0.7900   0.7895   0.7885   0.7876
    Adult, pairs        10   0.7913   0.7913   0.7913   0.7912   0.7912   0.7911   0.7910   0.7909
    mean loss                0.0148   0.0089   0.0061   0.0044   0.0032   0.0028   0.0030   0.0038
    rules only
    mean loss                0.0152   0.0100   0.0066   0.0051   0.0039   0.0031   0.0029   0.0035

So labels need about as much as all choices together. Between 0.5 and 0.7 the mean hardly differs. We take 0.5: it loses less
than 0.01 in every row with epsilon >= 0.1. (Very small budgets on small tables would like more for the labels, large tables
less.) Leaving "no rule" out gains nothing that counts.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from mass_accuracy import CASES, EPSILONS, splits

from discreet.accounting.ledger import Reservation
from discreet.estimators.base import majority
from discreet.estimators.greedy import greedy
from discreet.private.mechanisms.base import Settings
from discreet.private.mechanisms.mass import Mass, MassSelector, mass_units
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.queries.greedy import GreedyQueries
from discreet.rules.candidates import Candidates

SHARES = tuple(Fraction(k, 10) for k in range(1, 9))
DRAWS = 10


@dataclass(frozen=True)
class WithoutNoRule(MassSelector):
    """The same choice among rules only: the list then always has its full length."""

    def select(self, node, entropy):
        units = mass_units(node)[:-1]
        return entropy.permute_and_flip(units, self.scale) if len(units) else 0


class ChoosingBy(Mass):
    """The mechanism with this kind of choice."""

    def __init__(self, kind):
        self.choice = kind


def test_accuracy(truths, chosen, counts, y):
    """Of a list of rules, from each rule's truth values on the test records."""
    predicted = np.full(len(y), majority(counts[-1]))
    for rule, count in reversed(list(zip(chosen, counts, strict=False))):
        predicted[truths[:, rule]] = majority(count)
    return (predicted == y).mean()


def truth_values(candidates, X, names):
    place = {name: i for i, name in enumerate(names)}
    return np.stack(
        [np.all([X[:, place[x.column]] == (x.op == "is true") for x in r.antecedent], axis=0) for r in candidates],
        axis=1,
    )


def main():
    for selector, title in ((MassSelector, "no rule is a candidate"), (WithoutNoRule, "rules only")):
        print(f"{title}\n{'data':14}{'epsilon':>8}" + "".join(f"{float(s):9.2f}" for s in SHARES))
        losses = []
        for name, (load, max_literals, max_length, _) in CASES.items():
            found = np.zeros((len(EPSILONS), len(SHARES)))
            for seed, (private, X, y) in enumerate(splits(load)):
                candidates = Candidates.of_schema(private.schema, max_literals)
                truths = truth_values(candidates, X, private.schema.names)
                for i, j in np.ndindex(found.shape):
                    settings = Settings(Fraction(str(EPSILONS[i])), max_length, counts_share=SHARES[j])
                    budget = Mass().split(settings)
                    for draw in range(DRAWS):
                        entropy = SeededEntropy(1000 * seed + draw)
                        reservation = Reservation(budget.epsilon, Fraction(0))
                        queries = GreedyQueries(private, candidates, ChoosingBy(selector), budget)
                        learned = greedy(queries.open(reservation, entropy), max_length)
                        found[i, j] += test_accuracy(truths, learned.chosen, learned.counts, y)
            found /= (seed + 1) * DRAWS
            for epsilon, row in zip(EPSILONS, found, strict=True):
                print(f"{name:14}{epsilon:8g}" + "".join(f"{a:9.4f}" for a in row))
                losses.append(row.max() - row)
        print(f"{'mean loss':22}" + "".join(f"{a:9.4f}" for a in np.mean(losses, axis=0)))


if __name__ == "__main__":
    main()

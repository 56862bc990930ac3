"""How fast a private fit is: 1,000 seeded fits of sm-laplace on Adult pairs from one set of counts.

The peer is GreedyRL in prototype/plain_greedy.py (see greedy.py), which evaluates every rule on every remaining record as
the authors' private code does; it makes no noise, so it is a little faster than theirs. One thread.
"""

import time

from greedy import adult_training_records, median_seconds, plain_peer

from discreet import DPGreedyRuleListClassifier, PrivateCounts
from discreet.rules.candidates import Candidates

FITS = 1_000


def main():
    data, X, y = adult_training_records()
    candidates = Candidates.of_schema(data.schema, 2)
    name, plain, _ = plain_peer(X, y, candidates, data.feature_names)
    slow, _ = median_seconds(plain, 5)
    private = PrivateCounts.from_table(X, y, data.schema)
    print(
        f"sm-laplace, Adult, {len(y):,} records, {len(candidates)} rules, {FITS:,} seeded fits from counts, one thread:"
    )
    for epsilon in (0.1, 1.0, 10.0):
        start = time.perf_counter()
        for seed in range(FITS):
            DPGreedyRuleListClassifier(
                mechanism="sm-laplace", epsilon=epsilon, max_literals=2, random_state=seed
            ).fit_counts(private)
        each = (time.perf_counter() - start) / FITS
        print(f"  epsilon {epsilon:4}: {each * 1000:6.2f} ms a fit, {slow / each:5.0f} times faster than {name}")


if __name__ == "__main__":
    main()

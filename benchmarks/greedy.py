"""How fast GreedyRL is, as ratios in one run on one thread.

Adult, the published Boolean features without the sensitive ones, literals and pairs with negations (800 rules), the
training part of an 80/20 split, five rules and a default. The peer `plain` evaluates every rule on every remaining record
at every step, as the authors' code does: prototype/plain_greedy.py where it lies beside this checkout, else the same in
tests/support/brute_force.py. Prefixes are counted anew in every repetition. Medians. `make bench` sets one thread.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np

from discreet import GreedyRuleListClassifier
from discreet._utils.tables import as_table
from discreet.datasets import load_adult
from discreet.estimators.greedy import greedy
from discreet.private.counts.counts import Patterns
from discreet.private.queries.greedy import ExactGreedyQueries
from discreet.rules.candidates import Candidates
from discreet.sources.memory import MemoryTable
from discreet.sources.plan import Counting

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT.parent / "shared" / "prototype"), str(ROOT)]
sys.dont_write_bytecode = True


def median_seconds(job, repeat):
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = job()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def plain_peer(X, y, candidates, names):
    """The peer's name, and a function that fits it and returns the antecedents it chose."""
    place = {name: i for i, name in enumerate(names)}
    pairs = [tuple((place[x.column], x.op == "is true") for x in rule.antecedent) for rule in candidates]
    try:
        import plain_greedy

        return "prototype/plain_greedy.py", lambda: [rule for rule, _ in plain_greedy.fit(X, y, pairs, 5)[0]], pairs
    except ImportError:
        from tests.support import brute_force

        def fit():
            masks = [np.all([X[:, column] == value for column, value in rule], axis=0) for rule in pairs]
            return [pairs[r] for r in brute_force.greedy(masks, y, 5)]

        return "tests/support/brute_force.py", fit, pairs


def adult_training_records():
    data = load_adult(binary=True, sensitive=False)
    X, y = data.data.to_numpy(), data.target.to_numpy()
    train = np.random.default_rng(0).permutation(len(y))[: int(0.8 * len(y))]
    return data, X[train], y[train]


def main():
    data, X, y = adult_training_records()
    candidates = Candidates.of_schema(data.schema, 2)
    name, plain, pairs = plain_peer(X, y, candidates, data.feature_names)

    def from_table():
        return GreedyRuleListClassifier(max_length=6, max_literals=2).fit(X, y)

    patterns = MemoryTable(as_table(X, data.schema.names), y, (0, 1)).count(Counting.patterns(data.schema)).patterns

    def from_patterns():
        counts = Patterns(data.schema, (0, 1), patterns)  # which keep what was counted for candidates
        return greedy(ExactGreedyQueries(counts, candidates), 6)

    from_table(), from_patterns()  # imports and first-use costs
    slow, theirs = median_seconds(plain, 5)
    table, model = median_seconds(from_table, 31)
    filled, learned = median_seconds(from_patterns, 31)
    assert [pairs[r] for r in learned.chosen] == theirs, "the peers disagree"
    assert [r.antecedent for r in model.rule_list_.rules] == [
        tuple(type(x)(f"x{data.feature_names.index(x.column)}", x.op) for x in candidates[r].antecedent)
        for r in learned.chosen
    ]
    print(f"GreedyRL, Adult, {len(y):,} records, {len(candidates)} rules, one thread; the same five rules from each:")
    print(f"  {name:28} {slow * 1000:8.1f} ms")
    print(f"  discreet, table to list      {table * 1000:8.1f} ms   {slow / table:6.0f} times faster")
    print(f"  discreet, patterns to list      {filled * 1000:8.1f} ms   {slow / filled:6.0f} times faster")

    try:
        from imodels import GreedyRuleListClassifier as Peer
    except ImportError as error:
        print(f"imodels is not here ({error}); `make bench` installs it")
        return
    theirs_s, peer = median_seconds(lambda: Peer(max_depth=5).fit(X.astype(float), y), 5)
    ours_s, ours = median_seconds(lambda: GreedyRuleListClassifier(max_length=6).fit(X, y), 31)
    print("Single literals, the same records:")
    print(f"  imodels {theirs_s * 1000:8.1f} ms, training accuracy {(peer.predict(X.astype(float)) == y).mean():.4f}")
    print(
        f"  discreet {ours_s * 1000:7.1f} ms, training accuracy {ours.score(X, y):.4f}; {theirs_s / ours_s:.1f} times faster"
    )


if __name__ == "__main__":
    main()

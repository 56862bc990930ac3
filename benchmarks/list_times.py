"""How much the time of a draw of longer lists says about the table: CPU seconds, and rows of patterns looked at, on Adult.

Four rules of one literal (or two) are drawn by the envelope, from the table, from neighbours (one record less) and from other
tables. Rows looked at are the same on every machine; a draw's own randomness moves them, so each table is drawn from many
times. `python -m benchmarks.list_times`; the figures stand in docs/limitations.md, "Run time".
"""

import argparse
import time

import numpy as np

from discreet import PrivateCounts, Schema
from discreet.datasets import load_adult
from discreet.private.counts.patterns import rules_on_patterns
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.deadline import Deadline
from discreet.private.sampling.envelope import draw_by_envelope
from discreet.private.sampling.problem import Problem, make_problem
from discreet.rules.candidates import Candidates
from discreet.rules.prior import Prior

RULES = 4
looked_at = 0
plain_alive = Problem.alive


def counting_alive(self, sets):
    global looked_at
    looked_at += len(sets)
    return plain_alive(self, sets)


def problem_of(X, y, max_literals, epsilon):
    private = PrivateCounts.from_table(X, y, Schema.of_booleans(list(X.columns)))
    candidates = Candidates.of_schema(private.schema, max_literals)
    truth, counts = rules_on_patterns(private.patterns, candidates)
    return make_problem(truth, counts, Prior((1.0,) * (RULES + 1), np.ones(len(candidates))), epsilon)


def measured(problem, draws):
    """(draws, 2): CPU seconds and rows."""
    global looked_at
    found = []
    for seed in range(draws):
        start, looked_at = time.process_time(), 0
        draw_by_envelope(problem, SeededEntropy(seed), Deadline())
        found.append((time.process_time() - start, looked_at))
    return np.array(found)


def tables(X, y, neighbours):
    """By name, tables to draw from; the first is the table itself."""
    rng = np.random.default_rng(0)
    yield "the table", X, y
    for i in rng.choice(len(y), neighbours, replace=False):
        keep = np.arange(len(y)) != i
        yield "one record less", X[keep], y[keep]
    for share in (0.5, 0.1, 0.02):
        some = rng.random(len(y)) < share
        yield f"{share:.0%} of the records", X[some], y[some]
    yield "labels shuffled", X, rng.permutation(y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--neighbours", type=int, default=10)
    parser.add_argument("--max-literals", type=int, default=1)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    Problem.alive = counting_alive
    X, y = load_adult(binary=True, sensitive=False, return_X_y=True)
    X, y = X.astype(bool), np.asarray(y)
    print(
        "table, mean seconds, least, most, mean rows, standard deviation, rows with the same seed: least and most ratio"
    )
    for name, some_X, some_y in tables(X, y, given.neighbours):
        problem = problem_of(some_X, some_y, given.max_literals, given.epsilon)
        found = measured(problem, given.draws)
        if name == "the table":
            first = found
        seconds, rows = found.T
        ratio = rows / first[:, 1]
        print(
            f"{name}: {seconds.mean():.4f} {seconds.min():.4f} {seconds.max():.4f} "
            f"{rows.mean():.0f} {rows.std():.0f} {ratio.min():.3f} {ratio.max():.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

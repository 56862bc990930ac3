"""Problems that are small enough to look at every tree; trees by definition on records; and draws beside their distribution."""

import math
from collections import Counter
from itertools import product

import numpy as np

from discreet import Boolean, Categorical, Numeric, Schema
from discreet.audit.observed import misfit
from discreet.private.sampling.trees.log_weights import ACCURACY, GINI
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.rules.candidates import Candidates, NumberedFork, NumberedLeaf
from discreet.rules.prior import TreePrior

from .brute_force import rule_holds
from .counted import patterns_of

# (score, classes, depth): how many tests still leave few enough trees to look at all of them
TESTS = {
    (ACCURACY, 2, 0): 3,
    (ACCURACY, 2, 1): 5,
    (ACCURACY, 2, 2): 4,
    (ACCURACY, 2, 3): 2,
    (ACCURACY, 3, 0): 3,
    (ACCURACY, 3, 1): 4,
    (ACCURACY, 3, 2): 3,
    (ACCURACY, 3, 3): 1,
} | {(GINI, classes, depth): tests for classes in (2, 3) for depth, tests in enumerate((3, 6, 5, 3))}


def random_tree_problem(seed, depth, classes=2, score=ACCURACY):
    """Tests that agree or are never true, one of weight 0; uneven priors for odd seeds, class weights for every third."""
    rng = np.random.default_rng(seed)
    tests, patterns = TESTS[score, classes, depth], int(rng.integers(0 if seed % 7 == 0 else 3, 9))
    truth = rng.random((tests + 1, patterns)) < rng.choice([0.3, 0.7], (tests + 1, 1))
    if seed % 5 == 0 and tests > 1:
        truth[1] = ~truth[0]
    weights = rng.choice([1.0, 3.0], tests + 1) if seed % 2 else np.ones(tests + 1)
    weights[rng.integers(tests + 1)] = 0.0
    counts = rng.integers(0, 5, (classes, patterns)).astype(float)
    if seed % 3 == 0:  # and few records, so that there are leaves that weigh less than one
        counts = np.minimum(counts, 1.0) * (rng.random((classes, patterns)) < 0.5)
        counts *= np.append(1.0, rng.uniform(0.1, 1.0, classes - 1))[:, None]
    prior = TreePrior(0.5 if seed % 4 else float(rng.uniform(0.2, 0.9)), weights / weights.sum())
    return TreeProblem(truth, counts, prior, float(np.exp(rng.uniform(np.log(0.05), np.log(2.0)))), score)


def p_value(trees, logs, drawn):
    """Of a chi-squared test of draws against weights, given as logarithms."""
    p = np.exp(logs - np.logaddexp.reduce(logs))
    chances = Counter()
    for tree, chance in zip(trees, p.tolist(), strict=True):
        chances[(tree,)] += chance
    return misfit(Counter((tree,) for tree in drawn), dict(chances))


def plain_sum(problem, depth, inside=None):
    """Z by its recursion, from the root down: no sets, no differences, no flipped tests, no tables."""
    inside = np.ones(problem.truth.shape[1], bool) if inside is None else inside
    counts = problem.counts[:, inside].sum(1)
    if problem.score == ACCURACY:
        leaf = sum(math.exp(problem.rate * c) for c in counts) / len(counts)
    else:
        n = counts.sum()
        leaf = math.exp(-problem.rate * ((n - (counts**2).sum() / n) / 2 if n else 0.0))
    if not depth:
        return leaf
    split = sum(
        w * plain_sum(problem, depth - 1, inside & true) * plain_sum(problem, depth - 1, inside & ~true)
        for w, true in zip(problem.prior.tests, problem.truth, strict=True)
    )
    return (1 - problem.prior.split) * leaf + problem.prior.split * split


# -- records --------------------------------------------------------------------------------------------------------------------

SCHEMA = Schema(
    [
        Numeric("age", cuts=[30], missing=True),
        Categorical("job", categories=["cook", "spy"], outside="missing"),
        Boolean("member"),
    ],
    classes=[0, 1],
)
VALUES = {"age": [20.0, 40.0, None], "job": ["cook", "spy", "poet"], "member": [True, False, None]}


def table_with_gaps(seed, n=25, classes=2):
    """(columns, labels, schema of them): every column has values that are missing."""
    rng = np.random.default_rng(seed)
    columns = {name: [values[i] for i in rng.integers(0, 3, n)] for name, values in VALUES.items()}
    y = rng.integers(0, classes, n)
    y[[v == "cook" for v in columns["job"]]] = 0
    return columns, y, Schema(SCHEMA.columns, classes=list(range(classes)))


def distribution_on_records(columns, y, schema, weights, prior, rate, score, stages):
    """Every tree that stages of draws can give, with its probability: record by record, value by value."""
    tests = list(Candidates.of_tests(schema))
    n = len(y)
    true = [[rule_holds(schema, rule, columns, i) for i in range(n)] for rule in tests]

    def weights_of(records):
        """{leaf: its factor} of a part that is not split."""
        counts = [weights[c] * sum(y[i] == c for i in records) for c in range(len(weights))]
        size = sum(counts)
        if score == GINI:
            mass = (size - sum(c * c for c in counts) / size) / 2 if size else 0.0
            return {NumberedLeaf(): math.exp(-rate * mass)}
        return {NumberedLeaf(c): math.exp(rate * k) / len(weights) for c, k in enumerate(counts)}

    def trees(records, depth):
        stop = 1.0 - prior.split if depth else 1.0
        found = Counter({leaf: stop * w for leaf, w in weights_of(records).items()})
        for j, weight in enumerate(prior.tests if depth else ()):
            if weight:
                sides = [trees([i for i in records if true[j][i] == side], depth - 1) for side in (True, False)]
                for (a, p), (b, q) in product(sides[0].items(), sides[1].items()):
                    found[NumberedFork(j, a, b)] += prior.split * weight * p * q
        return found

    def normalised(found):
        total = sum(found.values())
        return {tree: w / total for tree, w in found.items()}

    def grown(tree, records, depth):
        """What a stage makes of a tree: {tree: probability}."""
        if isinstance(tree, NumberedLeaf):
            return normalised(trees(records, depth))
        sides = (
            grown(side, [i for i in records if true[tree.test][i] == (k == 0)], depth)
            for k, side in enumerate((tree.true, tree.other))
        )
        one, two = sides
        return {NumberedFork(tree.test, a, b): p * q for (a, p), (b, q) in product(one.items(), two.items())}

    distribution = {NumberedLeaf(): 1.0}
    for depth in stages:
        after = Counter()
        for tree, p in distribution.items():
            for bigger, q in grown(tree, range(n), depth).items():
                after[bigger] += p * q
        distribution = after
    return distribution


def counts_with_gaps(columns, y, schema):
    import pandas as pd

    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    return patterns_of(frame, y, schema)

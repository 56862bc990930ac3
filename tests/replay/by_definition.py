"""Whole lists and trees by their definition: from the records alone, every model with its probability. It works for a few tests.

Tests are functions of a record's values. ``rate`` is the epsilon of the draw for one record, ``weights`` are those of the
classes, and with ``rising`` and ``apart`` (numbers of tests) only models are kept that rise in such a test, or do not use both.
"""

import math
from itertools import permutations, product

SPLIT = 0.5


def questions_about(columns, negations=False):
    """What a model over these columns may ask, with the column of each test."""
    found = []
    for i, name in enumerate(columns):
        if name in "ab":
            ways = [lambda v, i=i: bool(v[i])]
        elif name == "c":
            ways = [lambda v, i=i, cut=cut: v[i] is not None and v[i] <= cut for cut in (1.0, 2.0)]
        else:
            ways = [lambda v, i=i, word=word: v[i] == word for word in ("x", "y")]
        found += ways
        if negations:
            found += [lambda v, way=way: not way(v) for way in ways]
    return found


def distribution_of_lists(table, tests, lengths, rate, weights, rising=(), apart=()):
    """The probabilities of all labelled lists that can be drawn."""
    found = []
    for length, weight in enumerate(lengths[: len(tests) + 1]):
        for rules in permutations(range(len(tests)), length):
            if apart and set(apart) <= set(rules):
                continue
            where = [next((i for i, r in enumerate(rules) if tests[r](values)), length) for values, _ in table]
            prior = weight / math.perm(len(tests), length) / len(weights) ** (length + 1)
            for labels in product(range(len(weights)), repeat=length + 1):
                falls = any(r in rising and max(labels[i + 1 :]) > labels[i] for i, r in enumerate(rules))
                if not falls:
                    right = (weights[c] for i, (_, c) in zip(where, table, strict=True) if labels[i] == c)
                    found.append(prior * math.exp(rate * sum(right)))
    return sorted(p / sum(found) for p in found)


def distribution_of_trees(table, tests, depth, rate, weights, by_gini=False, rising=(), apart=()):
    """The probabilities of all trees that can be drawn."""
    found = [p for p, _, _ in _trees(table, tests, depth, rate, weights, by_gini, rising, apart, frozenset())]
    return sorted(p / sum(found) for p in found)


def _trees(table, tests, depth, rate, weights, by_gini, rising, apart, used):
    """Of each tree its weight, and its smallest and largest label."""
    counts = [sum(weights[c] for _, c in table if c == label) for label in range(len(weights))]
    stop = 1 - SPLIT if depth else 1.0
    if by_gini:
        n = sum(counts)
        yield stop * math.exp(-rate * (n - sum(c * c for c in counts) / n) / 2 if n else 0.0), 0, 0
    else:
        for label, count in enumerate(counts):
            yield stop / len(counts) * math.exp(rate * count), label, label
    for number, test in enumerate(tests if depth else ()):
        if apart and set(apart) <= used | {number}:
            continue
        sides = [[record for record in table if test(record[0]) is side] for side in (True, False)]
        rest = depth - 1, rate, weights, by_gini, rising, apart, used | {number}
        below = [list(_trees(side, tests, *rest)) for side in sides]
        for (p, low, high), (q, least, most) in product(*below):
            if not (number in rising and most > low):
                yield SPLIT / len(tests) * p * q, min(low, least), max(high, most)

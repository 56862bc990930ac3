"""The law of the list samplers by brute force: every labelled list, one by one."""

from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from discreet.conditions.prior import Prior


class Small(NamedTuple):
    truth: np.ndarray  # (rules, cells)
    counts: np.ndarray  # (classes, cells)
    prior: Prior
    rate: float


def random_problem(seed, longest=None, n_classes=None, rate=None):
    """2 or 3 classes, lengths up to 0 ... 4, rules that agree, and (for odd seeds) priors that are not uniform."""
    rng = np.random.default_rng(seed)
    longest = int(rng.integers(5)) if longest is None else longest
    n_classes = int(rng.integers(2, 4)) if n_classes is None else n_classes
    n_rules = {0: 4, 1: 6, 2: 6, 3: 5}.get(longest, 4)
    n_cells = int(rng.integers(4, 12))
    truth = rng.random((n_rules, n_cells)) < 0.4
    truth[-1] = truth[0]  # rules that agree on every cell
    if seed % 3 == 0:
        truth[-2] = truth[0]
    counts = rng.integers(0, 7, (n_classes, n_cells)).astype(float)
    rate = float(np.exp(rng.uniform(np.log(0.05), np.log(3.0)))) if rate is None else rate
    lengths, rules = np.ones(longest + 1), np.ones(n_rules)
    if seed % 2:
        lengths, rules = rng.uniform(0.2, 2.0, longest + 1), rng.choice([1.0, 2.5], n_rules)
    return Small(truth, counts, Prior(tuple(lengths), rules), rate)


def score(problem, rules, labels):
    alive, total = np.ones(problem.truth.shape[1], bool), 0.0
    for rule, label in zip(rules, labels, strict=False):
        part = alive & problem.truth[rule]
        total += problem.counts[label, part].sum()
        alive &= ~part
    return total + problem.counts[labels[-1], alive].sum()


def all_lists(problem):
    """Every labelled list, its logarithmic prior weight, and its score."""
    n_rules, n_classes = len(problem.truth), len(problem.counts)
    lists, priors = [], []
    for length, weight in enumerate(problem.prior.lengths[: n_rules + 1]):
        here = list(permutations(range(n_rules), length))
        weights = np.array([problem.prior.rules[list(rules)].prod() for rules in here])
        labels = list(product(range(n_classes), repeat=length + 1))
        for rules, w in zip(here, weights / weights.sum() * weight, strict=True):
            lists += [(rules, label) for label in labels]
            priors += [w / len(labels)] * len(labels)
    priors = np.log(np.array(priors) / np.sum(priors))
    return lists, priors, np.array([score(problem, *x) for x in lists])


def exponential_mechanism(problem):
    """Every labelled list with its probability."""
    lists, priors, scores = all_lists(problem)
    logs = priors + problem.rate * scores
    p = np.exp(logs - logs.max())
    return lists, p / p.sum()

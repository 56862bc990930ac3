"""Problems that are small enough to look at every list, and draws from them beside their distribution."""

from typing import NamedTuple

import numpy as np
from scipy.stats import chisquare

from discreet.private.sampling.bounds import Bounds
from discreet.private.sampling.deadline import Deadline
from discreet.private.sampling.elements import Elements
from discreet.private.sampling.envelope import Envelope, known_weight
from discreet.private.sampling.reference import distribution_of_draw
from discreet.private.sampling.thresholds import SLACK, Threshold
from discreet.rules.prior import Prior


class Small(NamedTuple):
    """What a draw is asked for: the arguments of ``make_problem`` and of the reference."""

    truth: np.ndarray  # (rules, patterns)
    counts: np.ndarray  # (classes, patterns)
    prior: Prior
    rate: float


def random_problem(seed, longest=None, n_classes=None, rate=None):
    """2 or 3 classes, lengths up to 0 ... 4, rules that agree, and (for odd seeds) priors that are not uniform."""
    rng = np.random.default_rng(seed)
    longest = int(rng.integers(5)) if longest is None else longest
    n_classes = int(rng.integers(2, 4)) if n_classes is None else n_classes
    n_rules = {0: 4, 1: 6, 2: 6, 3: 5}.get(longest, 4)
    n_patterns = int(rng.integers(4, 12))
    truth = rng.random((n_rules, n_patterns)) < 0.4
    truth[-1] = truth[0]  # rules that agree on every cell
    if seed % 3 == 0:
        truth[-2] = truth[0]
    counts = rng.integers(0, 7, (n_classes, n_patterns)).astype(float)
    rate = float(np.exp(rng.uniform(np.log(0.05), np.log(3.0)))) if rate is None else rate
    lengths, rules = np.ones(longest + 1), np.ones(n_rules)
    if seed % 2:
        lengths, rules = rng.uniform(0.2, 2.0, longest + 1), rng.choice([1.0, 2.5], n_rules)
    return Small(truth, counts, Prior(tuple(lengths), rules), rate)


def envelope_of(problem, slack=SLACK):
    """A division of all lists to draw from, as fine as asked for."""
    deadline = Deadline()
    bounds = Bounds(problem, deadline)
    threshold = Threshold(known_weight(problem, bounds, deadline), slack)
    return Envelope(Elements(problem, bounds, threshold, deadline), deadline)


def draws_from(built, entropy, draws):
    """Lists of concrete rules with labels, from one envelope."""
    for _ in range(draws):
        while (drawn := built.draw(entropy, 1_000)) is None:
            pass
        yield drawn


def draw_by_enumeration(truth, counts, prior, rate, entropy):
    """Rules and labels of one list: where a uniform number falls among the cumulated probabilities of the reference."""
    lists, _, logs = distribution_of_draw(truth, counts, prior, rate)
    sums = np.cumsum(np.exp(logs))
    rules, labels = lists[int(np.searchsorted(sums[:-1], entropy.uniform(1)[0] * sums[-1], side="right"))]
    return list(rules), list(labels)


def p_value(distribution, drawn):
    """Of a chi-squared test of draws against a distribution; rare lists are put together until 8 of them are expected."""
    p = np.exp(distribution.logs)
    place = {x: i for i, x in enumerate(distribution.lists)}
    seen = np.zeros(len(p))
    n = 0
    for rules, labels in drawn:
        seen[place[tuple(rules), tuple(labels)]] += 1
        n += 1
    order = np.argsort(-p)
    bins = np.minimum(np.cumsum(p[order]) * n // 8, (n - 1) // 8)
    _, bins = np.unique(bins, return_inverse=True)
    observed, expected = np.bincount(bins, seen[order]), np.bincount(bins, p[order]) * n
    if len(expected) > 1 and expected[-1] < 4:
        observed, expected = (
            np.append(observed[:-2], observed[-2:].sum()),
            np.append(expected[:-2], expected[-2:].sum()),
        )
    return 1.0 if len(expected) == 1 else chisquare(observed, expected * observed.sum() / expected.sum()).pvalue

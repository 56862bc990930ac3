"""The complete output distribution of a published learner on a table of a few patterns, and its divergence from a neighbour.

An output is a list of rules with noisy class counts of every part. Given the list, only the counts of the part and class that
hold the differing record follow another distribution, and there the quotient of the two distributions takes just two values,
e^e and e^-e. So the hockey-stick divergence is a finite sum.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.private.counts.counting import NodeCounts
from discreet.private.noise.sums import at_least, tail


@dataclass(frozen=True)
class Learner:
    """A published method: its selector, the node's epsilon, the support threshold (None: no check), the length K."""

    selector: Any
    epsilon: float
    threshold: int | None
    max_length: int


def output_distribution(learner, patterns, counts):
    """{list of rules: probability}. ``patterns`` says which rules are true in a cell, ``counts`` its class counts."""
    found = {}

    def visit(prefix, probability):
        alive = ~patterns[:, list(prefix)].any(1) if prefix else np.ones(len(patterns), bool)
        if len(prefix) == learner.max_length - 1:
            found[prefix] = found.get(prefix, 0.0) + probability
            return
        left = counts[alive].sum(0).astype(float)
        go_on = 1.0 if learner.threshold is None else at_least(learner.threshold - int(left.sum()), learner.epsilon)
        rules = [r for r in range(patterns.shape[1]) if r not in prefix]
        captured = np.stack([counts[alive & patterns[:, r]].sum(0) for r in rules], axis=1).astype(float)
        chances = np.exp(learner.selector.log_prob(NodeCounts(left, captured)))
        found[prefix] = found.get(prefix, 0.0) + probability * (1.0 - go_on + go_on * chances[-1])
        for rule, chance in zip(rules, chances, strict=False):
            visit((*prefix, rule), probability * go_on * chance)

    visit((), 1.0)
    return found


def divergence(learner, patterns, counts, more, epsilon):
    """The smallest delta for which both directions are (epsilon, delta)-DP. ``more`` has one record more in one cell."""
    less, most = output_distribution(learner, patterns, counts), output_distribution(learner, patterns, more)
    # noise around c + 1 instead of c: e^-e times as likely up to c, e^e times as likely from c + 1 on
    up = tail(1, learner.epsilon)  # P(noise around c is above c)
    deltas = []
    for p, q, side in ((less, most, up), (most, less, 1.0 - up)):
        total = 0.0
        for outcome in p:
            for share, ratio in ((side, 1.0), (1.0 - side, -1.0)):
                sign = ratio if p is less else -ratio
                total += max(0.0, p[outcome] * share - math.exp(epsilon + sign * learner.epsilon) * q[outcome] * share)
        deltas.append(total)
    return max(deltas)

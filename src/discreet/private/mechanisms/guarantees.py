"""What is proved about whole greedy fits, from the prices of their choices. docs/theory.md, sections 6 and 7, has it at length.

Let e be the epsilon of the class counts and K the maximal length. A fit makes at most K - 1 choices; the class histograms of all
its parts are disjoint and cost e together. So where a choice costs p at any node,

    epsilon = (K - 1) p + e,   no delta.

A smooth method also makes up to K - 1 support checks, of e each, and a choice costs p(n) where the smaller of the two
neighbours has at least n records left, more and more as n falls. Along any run the loss is at most ``K e + sum of p(n_i)``
over the choices made. Call a run bad if that is above the epsilon that was asked for. Then the learner is (epsilon, delta)-DP
with delta = P(bad). To choose at a node with n records, a run must first pass its check, which happens with probability at
most ``pi(n) = P(noise >= L + T - n - 1)``, whatever happened before (the larger neighbour has n + 1). So P(bad) is at most

    V(K - 1, epsilon - K e)   where   V(k, b) = max over n of  pi(n) * (1 if p(n) > b else V(k - 1, b - p(n))),  V(0, b) = 0.

In a tree, K - 1 is its depth, and a run is followed along the way of the record that one neighbour lacks: of what is done at the
other nodes, all has the same probability on both (docs/theory.md, Theorem 21a). So the same holds.

``divergence.py`` has a sharper bound, which follows how much a choice can lose with which probability. The smaller of the two
is what we prove.
"""

import sys
from fractions import Fraction

import numpy as np

from ...accounting.costs import DISCRETE_LAPLACE, Cost, repeated
from ...accounting.statement import Guarantee
from ..noise.discrete_laplace import at_least
from ..noise.noisy_max import Lines
from .base import GreedyBudget
from .divergence import SLACK, Array, divergence_of_runs

ROUND_UP = 1.0 + 1e-9  # prices are computed in floating point; round them towards less privacy claimed
STEPS = 2_000  # of the budget, in the recursion for V


def charges_add_up(budget: GreedyBudget) -> Guarantee:
    """Where every query costs no more than it is charged: a fit cannot be charged more than epsilon, by its reservation."""
    return Guarantee.of(budget.epsilon, 0.0)


def prices_add_up(budget: GreedyBudget, price: float) -> Guarantee:
    """Where a choice at a node of any size costs ``price``, whatever it is charged. If it is charged no less, charges add up."""
    total = (budget.most_choices * price + float(budget.counts_epsilon)) * ROUND_UP
    charged = charges_add_up(budget)
    return charged if price <= float(budget.choice_epsilon) and charged.epsilon <= total else Guarantee(total, 0.0)


def costs_one_by_one(budget: GreedyBudget, kind: str, price: float | Fraction) -> tuple[Cost, ...]:
    """The same as values: choices of one kind, each at this price, and the class counts of all parts together."""
    each = price if isinstance(price, Fraction) else Fraction(repr(price * ROUND_UP))
    if price <= float(budget.choice_epsilon):
        each = min(each, budget.choice_epsilon)
    counts = repeated(DISCRETE_LAPLACE, budget.counts_epsilon, 1)
    return (*repeated(kind, each, budget.most_choices), *counts)


def with_support_checks(budget: GreedyBudget, min_support: int, prices: Array, lines: Lines) -> Guarantee:
    """Where a choice costs ``prices[n]`` with n records left (the last entry for every larger n), and supports are checked.

    ``lines`` say how much of a choice can lose how much (docs/theory.md, Lemma 5a).
    """
    e, choices = float(budget.check_epsilon), budget.most_choices
    if choices == 0:
        return prices_add_up(budget, 0.0)
    prices = prices * ROUND_UP
    max_length = budget.settings.max_length
    if (pure := (max_length * e + choices * float(prices[0])) * ROUND_UP) <= float(budget.epsilon):
        return Guarantee(pure, 0.0)
    threshold = budget.threshold(min_support)
    passing = np.array([at_least(threshold - n - 1, e) for n in range(min_support)] + [1.0])
    left = float(budget.epsilon) - max_length * e * ROUND_UP
    delta = probability_of_bad_runs(prices, passing, left, choices) * ROUND_UP
    if delta > SLACK:
        sharper = divergence_of_runs(prices, lines, threshold, e, float(budget.epsilon), choices)
        delta = min(delta, sharper * ROUND_UP)
    # it is above 0 even where a float cannot tell it from 0
    return Guarantee.of(budget.epsilon, min(1.0, max(delta, sys.float_info.min)))


def probability_of_bad_runs(prices: Array, passing: Array, budget: float, choices: int, steps: int = STEPS) -> float:
    """V(choices, budget), with prices rounded up to a fraction of the budget.

    ``prices`` fall with n and ``passing`` grows, for n = 0 ... min_support; the last entry stands for every larger n.
    """
    if budget <= 0:
        return 1.0
    levels = np.minimum(np.ceil(prices / (budget / steps)), steps + 1).astype(int)  # steps + 1: more than there is
    chance = np.zeros(steps + 2)  # of the likeliest node at each price
    np.maximum.at(chance, levels, passing)
    # Above[b]: the likeliest node that costs more than b
    above = np.maximum.accumulate(chance[::-1])[::-1]
    value = np.zeros(steps + 1)
    for _ in range(choices):
        new = above[1:].copy()
        for price in np.flatnonzero(chance[: steps + 1]):
            new[price:] = np.maximum(new[price:], chance[price] * value[: steps + 1 - price])
        value = new
    return float(value[steps])

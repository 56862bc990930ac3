"""What is proved about whole fits of smooth methods, from the prices of their choices. docs/theory/published.md has it
at length. Two bounds are computed, and the smaller of the two is what we prove.

**Theorem 9 (bad runs).** Let e be the epsilon of the class counts and K the maximal length. A fit makes at most K - 1 choices;
the class histograms of all its parts are disjoint and cost e together. So where a choice costs p at any node,

    epsilon = (K - 1) p + e,   no delta.

A smooth method also makes up to K - 1 support checks, of e each, and a choice costs p(n) where the smaller of the two
neighbours has at least n records left, more and more as n falls. Along any run the loss is at most ``K e + sum of p(n_i)``
over the choices made. Call a run bad if that is above the epsilon that was asked for. Then the learner is (epsilon, delta)-DP
with delta = P(bad). To choose at a node with n records, a run must first pass its check, which happens with probability at
most ``pi(n) = P(noise >= L + T - n - 1)``, whatever happened before (the larger neighbour has n + 1). So P(bad) is at most

    V(K - 1, epsilon - K e)   where   V(k, b) = max over n of  pi(n) * (1 if p(n) > b else V(k - 1, b - p(n))),  V(0, b) = 0.

In a tree, K - 1 is its depth, and a run is followed along the way of the record that one neighbour lacks: of what is done at the
other nodes, all has the same probability on both (docs/theory/greedy.md, Theorem 21a). So the same holds.

**Theorem 9a (divergence).** A sharper bound follows how much a choice can lose with which probability. ``H(a)`` is an upper
bound on ``sum over outputs o of max(0, P'(o) - a P(o))`` for all neighbours, in one direction. It falls and is convex in a, and
``H(exp(epsilon))`` is a delta. With ``H_0`` for the histograms, and k choices to come,

    H_k(a) = max over n of  x G(a y / x) + (1 - x) H_0(a (1 - y) / (1 - x)),    x, y = P(pass) on either table,
    G(a)   = integral of  t h(a / t) dH''(t)   with H = H_{k-1} and h the bound of Lemma 5a on one choice at n.

Functions are kept by their values at the knots t_i, a geometric sequence. Chords lie above convex functions, and for
a broken line the integral is a finite sum, so what comes out is an upper bound.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...accounting.statement import Guarantee
from ..counts.patterns import Array
from ..noise.distributions import Lines
from ..noise.sums import at_least
from .base import GreedyBudget
from .published import ROUND_UP, prices_add_up

STEPS = 2_000  # of the budget, in the recursion for V
KNOTS = (600, 2_000)  # at least, at most; between them, so many that a step is no longer than the node's epsilon
SEQUENTIAL = 20  # nodes with fewer records are looked at one by one, larger ones in blocks
# losses by so many times the node's epsilon too much are not told from larger ones: that keeps steps short
FARTHEST = 100
Node = tuple[float, float, float]  # price, P(pass) with n records, with n + 1
SLACK = 1e-12  # above the sum of all rounding errors


def with_support_checks(budget: GreedyBudget, min_support: int, prices: Array, lines: Lines) -> Guarantee:
    """Where a choice costs ``prices[n]`` with n records left (the last entry for every larger n), and supports are checked.

    ``lines`` say how much of a choice can lose how much (docs/theory/published.md, Lemma 5a).
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


@dataclass(frozen=True)
class Shift:
    """A symmetric location family whose density, as a function of the distribution function u, is the least of some lines.

    ``lines`` are ``c + s u`` for u <= 1/2, in the order in which they are the least; the last one has s = 0 or ends at 1/2.
    """

    lines: Lines

    @cached_property
    def pieces(self) -> tuple[Array, Array, Array, Array]:
        """Where the pieces of the density begin, and there: u, the logarithm of the density, and its slope."""
        us = [(c2 - c1) / (s1 - s2) for (c1, s1), (c2, s2) in zip(self.lines, self.lines[1:], strict=False)]
        u, x = [*us, 0.5], [0.0]
        for (c, s), low, high in reversed(list(zip(self.lines[1:], us, u[1:], strict=True))):
            x.append(x[-1] - (math.log((c + s * high) / (c + s * low)) / s if s else (high - low) / c))
        slopes = [s for _, s in self.lines]
        log_density = [math.log(c + s * v) for (c, s), v in zip(self.lines, u, strict=True)]
        left = np.array(x[::-1])
        return (
            np.concatenate([left, -left[-2::-1]]),
            np.concatenate([u, 1.0 - np.array(u[-2::-1])]),
            np.concatenate([log_density, log_density[-2::-1]]),
            np.concatenate([slopes, -np.array(slopes[::-1])]),  # one more: left of the first, then right of each
        )

    def cdf(self, x: Array) -> Array:
        """The distribution function."""
        starts, u, log_density, _ = self.pieces
        at, slope = self._piece_of(x)
        away, flat = x - starts[at], slope == 0.0
        grown = np.where(flat, away, np.expm1(slope * away) / np.where(flat, 1.0, slope))
        value: Array = u[at] + np.exp(log_density[at]) * grown
        return value

    def hockey_stick(self, log_a: Array, rho: float) -> Array:
        """``max over x of cdf(x + rho) - a cdf(x)``: where the quotient of the densities is a."""
        starts, _, log_density, _ = self.pieces

        def log_pdf(x: Array) -> Array:
            at, slope = self._piece_of(x)
            value: Array = log_density[at] + slope * (x - starts[at])
            return value

        kinks = np.unique(np.concatenate([starts, starts - rho]))
        x = np.interp(-log_a, log_pdf(kinks) - log_pdf(kinks + rho), kinks)
        a = np.exp(log_a)
        return np.maximum(np.maximum(0.0, 1.0 - a), self.cdf(x + rho) - a * self.cdf(x))

    def _piece_of(self, x: Array) -> tuple[npt.NDArray[np.intp], Array]:
        """Which piece's beginning to count from, and the slope there."""
        i = np.searchsorted(self.pieces[0], x)
        return np.maximum(i - 1, 0), self.pieces[3][i]


def histograms(a: Array, epsilon: float) -> Array:
    """H_0: one count of the larger table is one larger, and the quotient of its distributions takes two values."""
    q = math.exp(-epsilon)
    value: Array = (np.maximum(0.0, 1.0 - a * q) + q * np.maximum(0.0, 1.0 - a / q)) / (1.0 + q)
    return value


def nodes(prices: Array, threshold: int, epsilon: float) -> list[Node]:
    """Such that some entry is at least as bad as any n.

    ``prices`` fall in n = 0 ... L, the last one stands for all larger n. Below the threshold, and from it on, what the
    recursion maximises is convex in the probability of passing; so at one price the ends will do, "surely" being one.
    """
    support = len(prices) - 1
    firsts = list(range(min(support, SEQUENTIAL)))
    while firsts and (step := max(1, firsts[-1] // 20)) + firsts[-1] < support:
        firsts.append(firsts[-1] + step)
    blocks = [(a, b - 1) for a, b in zip(firsts, [*firsts[1:], support], strict=True)]
    worst = {(float(prices[a]), n) for a, b in blocks for n in (a, b, threshold - 1, threshold) if a <= n <= b}
    worst |= {(float(prices[-1]), max(support, n)) for n in (support, threshold - 1, threshold)}
    checks = [(p, at_least(threshold - n, epsilon), at_least(threshold - n - 1, epsilon)) for p, n in sorted(worst)]
    return [*checks, (float(prices[-1]), 1.0, 1.0)]


def divergence_of_runs(
    prices: Array, lines: Lines, threshold: int, node_epsilon: float, epsilon: float, choices: int, knots: int = 0
) -> float:
    """A delta for ``epsilon``: the larger ``H(exp(epsilon))`` of the two directions."""
    top = (choices + 1) * node_epsilon + choices * float(prices[0])
    if epsilon >= top:
        return 0.0
    if epsilon > 100.0:  # out of reach of a float, and of interest
        return 1.0
    top = min(top, epsilon + min(50.0, FARTHEST * node_epsilon))  # beyond it, H is at most what it is there
    knots = knots or round(min(max(KNOTS[0], 2.0 * top / node_epsilon), KNOTS[1]))
    logs, shift = np.linspace(epsilon - top, top, knots), Shift(lines)
    some = nodes(prices, threshold, node_epsilon)
    upwards = [(p, more, less) for p, less, more in some]  # outputs that are likelier on the larger table
    both = (_divergence(shift, way, node_epsilon, epsilon, choices, logs) for way in (upwards, some))
    return min(1.0, max(both) + SLACK)


def _divergence(
    shift: Shift, some: Sequence[Node], node_epsilon: float, epsilon: float, choices: int, logs: Array
) -> float:
    knots, t = len(logs), np.exp(logs)
    differences = (logs[1] - logs[0]) * np.arange(1.0 - knots, knots)
    kernels = [shift.hockey_stick(differences + math.log(y / x), p) for p, x, y in some]
    last = [shift.hockey_stick(epsilon - logs + math.log(y / x), p) for p, x, y in some]
    values = histograms(t, node_epsilon)
    for left in range(choices - 1, -1, -1):
        slopes = np.append(np.diff(values, prepend=1.0) / np.diff(t, prepend=0.0), 0.0)
        weights = t * np.diff(slopes)  # t_i times the mass of H'' there
        a = t if left else np.array([math.exp(epsilon)])
        new = histograms(a, node_epsilon)
        for (_, x, y), kernel, only in zip(some, kernels, last, strict=True):
            after = np.convolve(weights, kernel)[knots - 1 : 2 * knots - 1] if left else np.array([weights @ only])
            failed = (1.0 - x) * histograms(a * (1.0 - y) / (1.0 - x), node_epsilon) if x < 1.0 else 0.0
            new = np.maximum(new, x * (values[-1] + after) + failed)
        values = new
    return float(values[0])

"""How far apart the outputs of a smooth method can be on neighbours: the recursion of Theorem 9a in docs/theory.md.

``H(a)`` is an upper bound on ``sum over outputs o of max(0, P'(o) - a P(o))`` for all neighbours, in one direction. It falls
and is convex in a, and ``H(exp(epsilon))`` is a delta. With ``H_0`` for the histograms, and k choices to come,

    H_k(a) = max over n of  x G(a y / x) + (1 - x) H_0(a (1 - y) / (1 - x)),    x, y = P(pass) on either table,
    G(a)   = integral of  t h(a / t) dH''(t)   with H = H_{k-1} and h the bound of Lemma 5a on one choice at n.

Functions are kept by their values at the knots t_i, a geometric sequence. Chords lie above convex functions, and for
a broken line the integral is a finite sum, so what comes out is an upper bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..noise.discrete_laplace import at_least
from ..noise.noisy_max import Lines

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

KNOTS = (600, 2_000)  # at least, at most; between them, so many that a step is no longer than the node's epsilon
ONE_BY_ONE = 20  # nodes with fewer records are looked at one by one, larger ones in blocks
FARTHEST = (
    100  # losses by so many times the node's epsilon too much are not told from larger ones: that keeps steps short
)
SLACK = 1e-12  # above the sum of all rounding errors


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
        starts, u, log_density, slopes = self.pieces
        i = np.searchsorted(starts, x)
        at, slope = np.maximum(i - 1, 0), slopes[i]
        away = x - starts[at]
        flat = slope == 0.0
        grown = np.where(flat, away, np.expm1(slope * away) / np.where(flat, 1.0, slope))
        value: Array = u[at] + np.exp(log_density[at]) * grown
        return value

    def hockey_stick(self, log_a: Array, rho: float) -> Array:
        """``max over x of cdf(x + rho) - a cdf(x)``: where the quotient of the densities is a."""
        starts, _, log_density, slopes = self.pieces

        def log_pdf(x: Array) -> Array:
            i = np.searchsorted(starts, x)
            at = np.maximum(i - 1, 0)
            value: Array = log_density[at] + slopes[i] * (x - starts[at])
            return value

        kinks = np.unique(np.concatenate([starts, starts - rho]))
        x = np.interp(-log_a, log_pdf(kinks) - log_pdf(kinks + rho), kinks)
        a = np.exp(log_a)
        return np.maximum(np.maximum(0.0, 1.0 - a), self.cdf(x + rho) - a * self.cdf(x))


def histograms(a: Array, epsilon: float) -> Array:
    """H_0: one count of the larger table is one larger, and the quotient of its laws takes two values."""
    q = math.exp(-epsilon)
    value: Array = (np.maximum(0.0, 1.0 - a * q) + q * np.maximum(0.0, 1.0 - a / q)) / (1.0 + q)
    return value


def nodes(prices: Array, threshold: int, epsilon: float) -> list[tuple[float, float, float]]:
    """(price, P(pass) with n records, with n + 1) such that some entry is at least as bad as any n.

    ``prices`` fall in n = 0 ... L, the last one stands for all larger n. Below the threshold, and from it on, what the
    recursion maximises is convex in the probability of passing; so at one price the ends will do, "surely" being one.
    """
    support = len(prices) - 1
    firsts = list(range(min(support, ONE_BY_ONE)))
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
    shift = Shift(lines)
    some = nodes(prices, threshold, node_epsilon)
    upwards = [(p, more, less) for p, less, more in some]  # outputs that are likelier on the larger table
    both = (_divergence(shift, way, node_epsilon, epsilon, choices, top, knots) for way in (upwards, some))
    return min(1.0, max(both) + SLACK)


def _divergence(
    shift: Shift,
    some: Sequence[tuple[float, float, float]],
    node_epsilon: float,
    epsilon: float,
    choices: int,
    top: float,
    knots: int,
) -> float:
    logs = np.linspace(epsilon - top, top, knots)
    t = np.exp(logs)
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

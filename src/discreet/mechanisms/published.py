"""The paper's six ways to choose a rule at a node, two classes.

A selector turns exact counts at a node into standardised scores, one for each candidate and a last one for "no rule";
the choice is their noisy maximum. ``price(n)`` bounds what one choice costs when the smaller of two neighbouring nodes
has at least n records, without a look at the data.

The no-rule score is noised like every other, as the paper says (the authors' code leaves it bare in the methods on
global sensitivity, which voids Theorem 5).

| name           | scores                     | noise    | price of one choice                          |
|----------------|----------------------------|----------|----------------------------------------------|
| gl-laplace     | -G / (0.5/e)               | Laplace  | range of G <= 1/2, h = 1:             e      |
| gl-exponential | e (1 - G) / (2 * 0.5)      | Gumbel   | range of G <= 1/2, h = 1:             e / 2  |
| gl-gaussian    | -G / (0.5 c / e)           | Gaussian | Theorem 6 with w = e / c                     |
| sm-laplace     | -G / (2 S / e)             | Laplace  | range of G/S, h = 1:     (e/2) range         |
| sm-cauchy      | -G / (6 S / e)             | Cauchy   | range of G/S, h < 0.725: (e/6) h range       |
| noisy-counts   | -(Gini of noisy counts)    | none     | e: the noisy counts themselves are e-DP      |
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..cells.cells import Array
from ..cells.counting import NodeCounts
from ..noise.cauchy import Cauchy
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy
from ..noise.gaussian import Gaussian
from ..noise.gumbel import Gumbel
from ..noise.laplace import LINES, Laplace
from ..noise.noisy_max import HAZARD_ONLY, Lines, Noise, choose, log_prob, price_of_bounded_scores
from .impurity import gini, largest_ranges_of_smooth_gini, smooth_sensitivity

GLOBAL_SENSITIVITY = 0.5  # of the Gini impurity


def _ginis(node: NodeCounts) -> Array:
    """The Gini impurity of every candidate, then of no rule."""
    return gini(node.left, np.column_stack([node.captured, np.zeros_like(node.left)]))


@dataclass(frozen=True)
class GlobalSelector:
    """gl-laplace, gl-gaussian, gl-exponential: Gini over a fixed scale."""

    scale: float
    noise: Noise

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """The chosen candidate's number; the number of candidates stands for no rule."""
        return choose(self.scores(node), self.noise, entropy)

    def scores(self, node: NodeCounts) -> Array:
        """Standardised scores; larger is better."""
        return -_ginis(node) / self.scale

    def log_prob(self, node: NodeCounts) -> Array:
        """The exact logarithm of each outcome's probability."""
        return log_prob(self.scores(node), self.noise)

    def price(self, candidates: int) -> float:
        """What a choice costs, at a node of any size."""
        if math.isinf(self.noise.hazard):
            return price_of_bounded_scores(GLOBAL_SENSITIVITY / self.scale, candidates + 1, self.noise)
        return self.noise.hazard * GLOBAL_SENSITIVITY / self.scale


def gl_laplace(epsilon: Fraction) -> GlobalSelector:
    """Laplace noise of scale 0.5 / e."""
    return GlobalSelector(GLOBAL_SENSITIVITY / float(epsilon), Laplace())


def gl_exponential(epsilon: Fraction) -> GlobalSelector:
    """Weights exp(e u / (2 * 0.5)) with utility u = 1 - G."""
    return GlobalSelector(2.0 * GLOBAL_SENSITIVITY / float(epsilon), Gumbel())


def gl_gaussian(epsilon: Fraction, delta: float) -> GlobalSelector:
    """Gaussian noise of standard deviation 0.5 c / e with c^2 = 2 log(1.25 / delta)."""
    c = math.sqrt(2.0 * math.log(1.25 / delta))
    return GlobalSelector(GLOBAL_SENSITIVITY * c / float(epsilon), Gaussian())


@dataclass(frozen=True)
class SmoothSelector:
    """sm-laplace, sm-cauchy: Gini over a scale that follows its smooth sensitivity at the node."""

    epsilon: Fraction
    min_support: int
    beta: float
    factor: float  # scale = factor * S / e
    noise: Noise
    lines: Lines

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """The chosen candidate's number; the number of candidates stands for no rule."""
        return choose(self.scores(node), self.noise, entropy)

    def scores(self, node: NodeCounts) -> Array:
        """Standardised scores; larger is better."""
        smooth = smooth_sensitivity(int(node.left.sum()), self.min_support, self.beta)
        return -_ginis(node) / (self.factor * smooth / float(self.epsilon))

    def log_prob(self, node: NodeCounts) -> Array:
        """The exact logarithm of each outcome's probability."""
        return log_prob(self.scores(node), self.noise)

    def prices(self) -> Array:
        """For n = 0 ... min_support: what a choice costs where both neighbours have at least n records."""
        ranges = _largest_ranges(self.min_support, self.beta)
        return float(self.epsilon) / self.factor * self.noise.hazard * ranges


@lru_cache(maxsize=64)
def _largest_ranges(min_support: int, beta: float) -> Array:
    ranges = largest_ranges_of_smooth_gini(min_support, beta)
    ranges.flags.writeable = False  # it is kept for the next fit
    return ranges


def sm_laplace(epsilon: Fraction, delta: float, min_support: int) -> SmoothSelector:
    """Laplace noise of scale 2 S / e with beta = e / (2 log(2 / delta))."""
    return SmoothSelector(epsilon, min_support, float(epsilon) / (2.0 * math.log(2.0 / delta)), 2.0, Laplace(), LINES)


GAMMA = 2.0


def sm_cauchy(epsilon: Fraction, min_support: int) -> SmoothSelector:
    """Cauchy noise of scale 2 (gamma + 1) S / e with beta = e / (2 (gamma + 1)), gamma = 2."""
    factor = 2.0 * (GAMMA + 1.0)
    return SmoothSelector(epsilon, min_support, float(epsilon) / factor, factor, Cauchy(), HAZARD_ONLY)


@dataclass(frozen=True)
class NoisyCountsSelector:
    """noisy-counts: the four counts of each of the R candidates, noised at e / R; then the smallest Gini of those.

    A record is in one of a candidate's four counts (captured or left, of its class), so each candidate's four cost e / R
    and all of them e; what is computed from them costs no more. The no-rule Gini comes from the mean of the candidates'
    noisy totals.
    """

    epsilon: Fraction
    candidates: int

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """The chosen candidate's number; the number of candidates stands for no rule."""
        counts = np.stack([node.captured, node.left[:, None] - node.captured])  # (side, class, candidate)
        noisy = release(counts.ravel().astype(np.int64), self.epsilon / self.candidates, entropy).reshape(counts.shape)
        kept = np.maximum(noisy, 0).astype(np.float64)
        impurity = gini_of_noisy(kept)
        total = kept.sum(0).mean(1) if impurity.size else np.zeros(2)
        best = int(np.argmin(impurity)) if impurity.size else 0
        return best if impurity.size and impurity[best] < gini_of_noisy(total[None]) else impurity.size

    def price(self, candidates: int) -> float:
        """What a choice costs, at a node of any size."""
        return float(self.epsilon)


def gini_of_noisy(counts: Array) -> Array:
    """The Gini impurity of noisy counts (sides, classes, ...), none of them negative; sides of less than 1 count as 1."""
    size = counts.sum(1)
    impurity: Array = 2.0 * (counts.prod(1) / np.maximum(size, 1.0)).sum(0) / np.maximum(size.sum(0), 1.0)
    return impurity


def selector(
    mechanism: str, epsilon: Fraction, delta: float, min_support: int, candidates: int
) -> GlobalSelector | SmoothSelector | NoisyCountsSelector:
    """The selector of a published method, by its name."""
    match mechanism:
        case "sm-laplace":
            return sm_laplace(epsilon, delta, min_support)
        case "sm-cauchy":
            return sm_cauchy(epsilon, min_support)
        case "gl-laplace":
            return gl_laplace(epsilon)
        case "gl-exponential":
            return gl_exponential(epsilon)
        case "gl-gaussian":
            return gl_gaussian(epsilon, delta)
        case "noisy-counts":
            return NoisyCountsSelector(epsilon, candidates)
    raise ValueError(f"unknown mechanism {mechanism!r}")

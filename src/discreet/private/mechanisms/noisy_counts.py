"""noisy-counts: the four counts of each of the R candidates, noised at e / R; then the smallest Gini of those.

**Privacy.** One choice is e-DP. *Proof.* A record is in one of a candidate's four counts (captured or left, of its class), so
each candidate's four cost e / R (``noise/discrete_laplace.py``) and all of them e; what is computed from them costs no more.  []

The no-rule Gini comes from the mean of the candidates' noisy totals.

**The exact distribution**, for one candidate. Its four counts get independent noise and are cut off at 0. Far from a count the
noise is negligible, so what is chosen can be tabled for all noisy counts that matter, and its probability is a sum over the
table, one axis after the other. With several candidates the distribution cannot be written down.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..counts.counting import NodeCounts
from ..counts.patterns import Array
from ..noise.discrete_laplace import release, scale_for
from ..noise.entropy import Entropy, Integers
from ..noise.sums import log_pmf, tail
from .published import Published
from .selector import Selector

NEGLIGIBLE = 1e-17
LARGEST_TABLE = 30_000_000


@dataclass(frozen=True)
class NoisyCountsSelector(Selector):
    """The smallest Gini impurity by noisy counts."""

    epsilon: Fraction
    candidates: int

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """The chosen candidate's number; the number of candidates stands for no rule."""
        if not node.captured.shape[1]:
            return 0
        counts = np.stack([node.captured, node.left[:, None] - node.captured])  # (side, class, candidate)
        noisy = release(counts.ravel().astype(np.int64), self.epsilon / self.candidates, entropy).reshape(counts.shape)
        kept = np.maximum(noisy, 0).astype(np.float64)
        impurity = gini_of_noisy(kept)
        best, none = int(np.argmin(impurity)), gini_of_noisy(kept.sum(0).mean(1)[None])
        return best if impurity[best] < none else len(impurity)

    def log_prob(self, node: NodeCounts) -> Array:
        """Of the candidate, then of no rule. Without a candidate there is no rule for sure."""
        if node.captured.shape[1] == 0:
            return np.zeros(1)
        if self.candidates != 1:
            raise ValueError("the distribution of noisy counts is known for one candidate only")
        captured = node.captured[:, 0].astype(int)
        logs = self.distributions([[int(c)] for c in (*captured, *(node.left.astype(int) - captured))])
        return np.array([logs[0].item(), logs[1].item()])

    def distributions(self, counts: Sequence[Sequence[int]]) -> tuple[Array, Array]:
        """log P(the rule) and log P(no rule) for one candidate, for all combinations of counts.

        Four sequences of counts: captured of class 0, of class 1; left of class 0, of class 1.
        """
        a = 1.0 / scale_for(self.epsilon / self.candidates)
        far = math.ceil(-math.log(NEGLIGIBLE) / a)
        values = [np.arange(max(0, min(one) - far), max(one) + far + 1) for one in counts]
        if math.prod(map(len, values)) > LARGEST_TABLE:
            raise ValueError("the distribution of noisy counts cannot be written down: epsilon is too small")
        grid = np.stack(np.meshgrid(*values, indexing="ij")).astype(np.float64)
        sides = grid.reshape(2, 2, *grid.shape[1:])
        chosen = gini_of_noisy(sides) < gini_of_noisy(sides.sum(0)[None])
        distributions = []
        for table in (chosen, ~chosen):
            distribution = table.astype(np.float64)
            # each turn takes the first axis and puts the new one last
            for axis, one in zip(values, counts, strict=True):
                distribution = np.tensordot(
                    distribution, np.array([_distribution_of_one(axis, count, a) for count in one]), axes=([0], [1])
                )
            with np.errstate(divide="ignore"):
                distributions.append(np.log(distribution))
        return distributions[0], distributions[1]

    def price(self, n: int, rules: int) -> float:
        """At a node of any size."""
        return float(self.epsilon)


def gini_of_noisy(counts: Array) -> Array:
    """The Gini impurity of noisy counts (sides, classes, ...), none of them negative; sides of less than 1 count as 1."""
    size = counts.sum(1)
    impurity: Array = 2.0 * (counts.prod(1) / np.maximum(size, 1.0)).sum(0) / np.maximum(size.sum(0), 1.0)
    return impurity


def _distribution_of_one(values: Integers, count: int, a: float) -> Array:
    """The chances of these values for a noisy count; what falls below or above is cut off."""
    distribution: Array = np.exp(log_pmf(values - count, a))
    distribution[0] += tail(int(count - values[0]) + 1, a)
    distribution[-1] += tail(int(values[-1] - count) + 1, a)
    return distribution


class NoisyCounts(Published):
    """Noise on the counts of every rule, instead of on its impurity; a choice costs e."""

    name = "noisy-counts"

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> NoisyCountsSelector:
        """The more candidates, the more noise."""
        return NoisyCountsSelector(epsilon, candidates)

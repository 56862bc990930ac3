"""sm-laplace and sm-cauchy: the Gini impurity with noise whose scale follows its smooth sensitivity at the node.

**Privacy.** With n records in the smaller of two neighbouring nodes, the changes of ``G / S`` lie in one interval whose length
``range_of_smooth_gini`` in ``impurity.py`` bounds (docs/theory/published.md, Lemma 4); noise with a hazard h makes the choice
private by Theorem 5 of ``private/noise/noisy_max.py``. The fewer records are left below the support, the more a choice costs;
so whether the support is there is checked first, and a whole fit has the delta of Theorems 9 and 9a (``support_checks.py``).
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from ...accounting.costs import Cost
from ...accounting.statement import Guarantee
from ..counts.counting import NodeCounts
from ..counts.patterns import Array
from ..noise.distributions import HAZARD_ONLY, LINES, Cauchy, Laplace, Lines
from ..noise.noisy_max import Noise
from .base import GreedyBudget, GreedyMechanism
from .impurity import largest_ranges_of_smooth_gini, smooth_sensitivity
from .published import Published, ginis
from .selector import NoisyMaxSelector
from .support_checks import with_support_checks

GAMMA = 2.0  # of sm-cauchy


@dataclass(frozen=True)
class SmoothSelector(NoisyMaxSelector):
    """Scores ``-G / (factor S / e)``."""

    epsilon: Fraction
    min_support: int
    beta: float
    factor: float
    noise: Noise
    lines: Lines

    def scores(self, node: NodeCounts) -> Array:
        """Standardised; larger is better."""
        smooth = smooth_sensitivity(int(node.left.sum()), self.min_support, self.beta)
        return -ginis(node) / (self.factor * smooth / float(self.epsilon))

    def prices(self) -> Array:
        """For n = 0 ... min_support: what a choice costs where both neighbours have at least n records."""
        ranges = largest_ranges_of_smooth_gini(self.min_support, self.beta)
        return float(self.epsilon) / self.factor * self.noise.hazard * ranges

    def price(self, n: int, rules: int) -> float:
        """The more, the fewer records there are below the support."""
        return float(self.prices()[min(n, self.min_support)])


class Smooth(Published):
    """A method on smooth sensitivity."""

    needs_support = True

    @abstractmethod
    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> SmoothSelector:
        """Its scale follows the number of records at the node."""

    def proved(self, budget: GreedyBudget, candidates: int) -> Guarantee:
        """docs/theory/published.md, Theorems 9 and 9a."""
        support = max(1, int(budget.settings.min_support))
        selector = self.selector(budget.choice_epsilon, float(budget.choice_delta), support, candidates)
        return with_support_checks(budget, support, selector.prices(), selector.lines)

    def costs(self, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
        """The pair: what a choice costs follows the records that are left, so the parts have no prices of their own."""
        return GreedyMechanism.costs(self, budget, candidates)


class SmLaplace(Smooth):
    """Laplace noise of scale 2 S / e with beta = e / (2 log(2 / delta))."""

    name = "sm-laplace"
    needs_delta = True

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> SmoothSelector:
        """Its scale follows the number of records at the node."""
        beta = float(epsilon) / (2.0 * math.log(2.0 / delta))
        return SmoothSelector(epsilon, min_support, beta, 2.0, Laplace(), LINES)


class SmCauchy(Smooth):
    """Cauchy noise of scale 2 (gamma + 1) S / e with beta = e / (2 (gamma + 1)), gamma = 2."""

    name = "sm-cauchy"

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> SmoothSelector:
        """Its scale follows the number of records at the node."""
        factor = 2.0 * (GAMMA + 1.0)
        return SmoothSelector(epsilon, min_support, float(epsilon) / factor, factor, Cauchy(), HAZARD_ONLY)

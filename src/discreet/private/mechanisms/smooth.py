"""What sm-laplace and sm-cauchy have in common: the Gini impurity over a scale that follows its smooth sensitivity at the node.

**Privacy.** With n records in the smaller of two neighbouring nodes, the changes of ``G / S`` lie in one interval whose length
``range_of_smooth_gini`` in ``impurity.py`` bounds (docs/theory.md, Lemma 4); noise with a hazard h makes the choice private by
Theorem 5 of ``private/noise/noisy_max.py``. The fewer records are left below the support, the more a choice costs; so whether the
support is there is checked first, and a whole fit has the delta of Theorems 9 and 9a (``guarantees.py``, ``divergence.py``).
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ...accounting.costs import Cost
from ...accounting.statement import Guarantee
from ..counts.cells import Array
from ..counts.counting import NodeCounts
from ..noise.noisy_max import Lines, Noise
from .audit_cases import E, Nodes, large_sizes, small_sizes
from .base import GreedyBudget, GreedyMechanism
from .guarantees import with_support_checks
from .impurity import largest_ranges_of_smooth_gini, smooth_sensitivity
from .published import Published, ginis
from .selector import NoisyMaxSelector


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
        ranges = _largest_ranges(self.min_support, self.beta)
        return float(self.epsilon) / self.factor * self.noise.hazard * ranges

    def price(self, n: int, rules: int) -> float:
        """The more, the fewer records there are below the support."""
        return float(self.prices()[min(n, self.min_support)])


@lru_cache(maxsize=64)
def _largest_ranges(min_support: int, beta: float) -> Array:
    ranges = largest_ranges_of_smooth_gini(min_support, beta)
    ranges.flags.writeable = False  # it is kept for the next fit
    return ranges


class Smooth(Published):
    """A method on smooth sensitivity."""

    needs_support = True

    @abstractmethod
    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> SmoothSelector:
        """Its scale follows the number of records at the node."""

    def proved(self, budget: GreedyBudget, candidates: int) -> Guarantee:
        """docs/theory.md, Theorems 9 and 9a."""
        support = max(1, int(budget.settings.min_support))
        selector = self.selector(budget.choice_epsilon, float(budget.choice_delta), support, candidates)
        return with_support_checks(budget, support, selector.prices(), selector.lines)

    def costs(self, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
        """The pair: what a choice costs follows the records that are left, so the parts have no prices of their own."""
        return GreedyMechanism.costs(self, budget, candidates)

    def audit_choices(self, quick: bool) -> Mapping[str, Sequence[Nodes]]:
        """Below the support; and above it: all nodes for a small one, extreme nodes for a large one."""
        few, many = 5, 20
        small, large = (self.selector(E, 1e-6, support, 2) for support in (few, many))
        sizes, extreme = small_sizes(quick), large_sizes(quick)
        return {
            f"{self.name}, below the support": [Nodes(large, sizes, [n for n in extreme if n < many])],
            f"{self.name}, support {few} or {many}": [
                Nodes(small, [n for n in sizes if n >= few]),
                Nodes(large, (), [n for n in extreme if n >= many]),
            ],
        }

"""Our way to choose a rule: the smallest impurity mass by permute-and-flip. Any number of classes, no delta, no support.

**Mechanism.** The impurity mass of a rule, ``M = 1/2 sum over sides of (s - sum_c s_c^2 / s)``, ranks the rules of a node
as the Gini impurity does, which is 2M/n. Visit the candidates, "no rule" among them, in random order; take the one at hand
with probability ``exp(-e (M - smallest M))``, else go on. The same law has ``argmax (-e M + Exponential(1))`` (Ding et al.).

**Privacy.** One choice is e-DP, without the factor 2 of the exponential mechanism, at a node of any size.

**Proof.** Let a record of class c arrive on a side with counts ``s_k``, of size s. The mass of the side grows by

    d = ((s - s_c)^2 + sum over k != c of s_k^2) / (2 s (s + 1)),      and by 0 if s = 0,

as one sees by putting ``(s + 1) - (sum_k s_k^2 + 2 s_c + 1) / (s + 1)`` and ``s - sum_k s_k^2 / s`` on one denominator. Both
squares are at most ``(s - s_c)^2 <= s^2``, so ``0 <= d <= s / (s + 1) < 1``. The other side does not change. So between
neighbours the changes of ``-e M``, over all candidates at once, lie in an interval of length e, and Theorem 5 of
``noisy_max`` with h = 1 says the rest.  []

**Numerics.** The mass of each side is rounded *down* to a multiple of u = 2^-20, in integers, without error. The change of
the rounded mass stays in [0, 1]: rounding down is monotone, so it is at least 0; and since 1 is a multiple of u, rounding
down ``x + d < x + 1`` gives at most what rounding down x gives, plus 1. Unseeded choices are made by OpenDP's exact coins with
probability ``exp(-rational)``, on these integers, at a scale that is rounded up: no floating point decides.

**Reference.** R. McKenna, D. Sheldon: *Permute-and-Flip: A new mechanism for differentially private selection*, NeurIPS
2020. Z. Ding et al.: *The Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with Exponential Noise*, 2021.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...accounting.costs import PURE, Cost
from ...accounting.statement import Guarantee
from ..counts.cells import Array
from ..counts.counting import NodeCounts
from ..noise.discrete_laplace import scale_for
from ..noise.entropy import Entropy, Integers
from ..noise.exponential import Exponential
from .audit_cases import WholeFit
from .base import GreedyBudget, GreedyMechanism
from .guarantees import charges_add_up, costs_one_by_one
from .selector import NoisyMaxSelector

UNITS = 1 << 20  # in a mass of 1
FITS_INT64 = 3_000_000_000  # the square of a side of this size is below 2^63
LARGEST = 1 << 61  # two sides of it are below 2^63, OpenDP's largest integer


def side_units(counts: Array) -> Integers:
    """The mass of one side in units of 2^-20, rounded down. Class counts in the first axis; an empty side has none.

    Beyond 2^42 records the mass is cut off, which lets no change leave [0, 1].
    """
    whole = counts.astype(np.int64)
    if whole.sum(0).max(initial=0) > FITS_INT64:
        whole = whole.astype(object)  # Python's integers, of any size
    size = whole.sum(0)
    divisor = np.maximum(size, 1)
    twice = size * size - (whole * whole).sum(0)  # twice the mass, times the size
    rest = twice % divisor
    units = twice // divisor * (UNITS // 2) + rest * (UNITS // 2) // divisor
    within: Integers = np.minimum(units, LARGEST).astype(np.int64)
    return within


def mass_units(node: NodeCounts) -> Integers:
    """The mass of every candidate, then of no rule, in units of 2^-20."""
    captured = np.column_stack([node.captured, np.zeros_like(node.left)])
    units: Integers = side_units(captured) + side_units(node.left[:, None] - captured)
    return units


@dataclass(frozen=True)
class MassSelector(NoisyMaxSelector):
    """Permute-and-flip on impurity mass, e-DP."""

    epsilon: Fraction
    noise = Exponential()

    @property
    def scale(self) -> float:
        """Of the noise, in units of 2^-20; at least 2^20 / e."""
        return scale_for(self.epsilon / UNITS)

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """By exact coins."""
        return entropy.permute_and_flip(mass_units(node), self.scale)

    def scores(self, node: NodeCounts) -> Array:
        """What would be compared after adding exponential noise; larger is better."""
        units = mass_units(node)
        scores: Array = (units.min() - units) / self.scale
        return scores

    def price(self, n: int, rules: int) -> float:
        """At a node of any size."""
        return float(self.epsilon)


class Mass(GreedyMechanism):
    """Ours, and the default. Class counts are paid once and there are at most K - 1 choices: the shares add up to epsilon."""

    name = "mass"
    exact_choices = True

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> MassSelector:
        """The same at every node."""
        return MassSelector(epsilon)

    def proved(self, budget: GreedyBudget, candidates: int) -> Guarantee:
        """docs/theory.md, Theorem 12."""
        return charges_add_up(budget)

    def costs(self, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
        """Choices by permute-and-flip are pure; that their range is bounded by less than 2 e is not known."""
        return costs_one_by_one(budget, PURE, budget.choice_epsilon)

    def audit_fits(self) -> Sequence[WholeFit]:
        """Also longer lists and rules, no rules at all, and three classes."""
        pairs = {"mechanism": "mass", "epsilon": 1.0, "max_length": 2, "max_card": 2, "negations": True}
        return [
            WholeFit("mass", {"mechanism": "mass", "epsilon": 1.0, "max_length": 3}),
            WholeFit("mass, three rules", {"mechanism": "mass", "epsilon": 3.0, "max_length": 4}, n_rules=3),
            WholeFit("mass, pairs of literals", pairs),
            WholeFit("mass, class counts only", {"mechanism": "mass", "epsilon": 1.0, "max_length": 1}, n_rules=1),
            WholeFit("mass, three classes", {"mechanism": "mass", "epsilon": 0.5, "max_length": 2}, n_classes=3),
        ]

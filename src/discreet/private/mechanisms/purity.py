"""One-sided inverse sensitivity: a rule loses by how many records would have to go until both of its sides are pure.

**Mechanism.** The loss of a rule is the fewest records without which each of its sides has records of one class only: all but
those of its most frequent class. It is also the number of records that the rule gets wrong, if each side is given its most
frequent class. Permute-and-flip on these losses, "no rule" included, at a scale of 1/e.

**Privacy.** One choice is e-DP at a node of any size, for any number of classes, without the factor of two of ``inverse``.

**Proof.** Let A be a set of tables that contains with a table all its parts, and h(s) the fewest records that must leave s for
what is left to be in A. If a record comes, h does not fall: if it is among those that leave, s is done with one fewer; if not,
what is left of s is a part of what is left with it, and so in A. And h rises by at most 1: let the new record leave, too. Here
A is the set of tables on which the rule is pure, another one for each rule; parts of a pure side are pure. So between
neighbours the changes of ``-e h`` over all candidates lie in an interval of length e, and Theorem 5 of ``noisy_max`` with its h
= 1 says the rest.  []

(A table for which a rule is the *best* has parts for which it is not. So ``inverse`` has no such argument, and its audit shows
that it must pay.) Losses are integers, and choices are made by exact coins.

**Reference.** docs/theory.md, Theorem 12b. docs/new-mechanism.md builds the same mechanism step by step.
"""

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
from .base import GreedyBudget, GreedyMechanism
from .guarantees import charges_add_up, costs_one_by_one
from .selector import NoisyMaxSelector


def removals(node: NodeCounts) -> Integers:
    """How many records must go until both sides of every candidate, then of no rule, are pure."""
    captured = np.column_stack([node.captured, np.zeros_like(node.left)])
    rest = node.left[:, None] - captured
    impure: Array = captured.sum(0) - captured.max(0) + rest.sum(0) - rest.max(0)
    return impure.astype(np.int64)


@dataclass(frozen=True)
class PuritySelector(NoisyMaxSelector):
    """Permute-and-flip on the number of records until a rule is pure, e-DP."""

    epsilon: Fraction
    noise = Exponential()

    @property
    def scale(self) -> float:
        """Of the noise; at least 1 / e."""
        return scale_for(self.epsilon)

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """By exact coins."""
        return entropy.permute_and_flip(removals(node), self.scale)

    def scores(self, node: NodeCounts) -> Array:
        """What would be compared after adding exponential noise; larger is better."""
        losses = removals(node)
        scores: Array = (losses.min() - losses) / self.scale
        return scores

    def price(self, n: int, rules: int) -> float:
        """At a node of any size."""
        return float(self.epsilon)


class Purity(GreedyMechanism):
    """Ours: fewest records to take away until a rule is pure. A choice costs e."""

    name = "purity"
    exact_choices = True

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> PuritySelector:
        """The same at every node."""
        return PuritySelector(epsilon)

    def proved(self, budget: GreedyBudget, candidates: int) -> Guarantee:
        """docs/theory.md, Theorem 12b."""
        return charges_add_up(budget)

    def costs(self, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
        """Choices by permute-and-flip are pure."""
        return costs_one_by_one(budget, PURE, budget.choice_epsilon)

"""One-sided inverse sensitivity: a rule loses by how many records would have to go until both of its sides are pure.

**Mechanism.** The loss of a rule is the fewest records without which each of its sides has records of one class only: all but
those of its most frequent class. It is also the number of records that the rule gets wrong, if each side is given its most
frequent class. Permute-and-flip on these losses, "no rule" included, at a scale of 1/e.

**Privacy.** One choice is e-DP at a node of any size, for any number of classes, without the factor of two of ``inverse``.

**Proof.** Let A be a set of tables that contains with a table all its parts, and h(s) the fewest records that must leave s for
what is left to be in A. If a record comes, h does not fall: if it is among those that leave, s is done with one fewer; if not,
what is left of s is a part of what is left with it, and so in A. And h rises by at most 1: let the new record leave, too. Here
A is the set of tables on which the rule is pure, another one for each rule; parts of a pure side are pure. So between
neighbours the changes of ``-e h`` over all candidates lie in an interval of length e, and Theorem 5 of ``noisy_max`` with h = 1
gives the claim.  []

(A table for which a rule is the *best* has parts for which it is not. So ``inverse`` has no such argument, and its audit shows
that it must pay.) Losses are integers, and choices are made by exact coins.

**Reference.** docs/theory/greedy.md, Theorem 12b. docs/new-mechanism.md builds the same mechanism step by step.
"""

import numpy as np

from ..counts.counting import NodeCounts
from ..counts.patterns import Array
from ..noise.entropy import Integers
from .base import ChoosesByCoins
from .selector import PermuteAndFlip


class PuritySelector(PermuteAndFlip):
    """Permute-and-flip on the number of records until a rule is pure, e-DP."""

    width = 1

    def losses(self, node: NodeCounts) -> Integers:
        """How many records must go until both sides of every candidate, then of no rule, are pure."""
        captured = np.column_stack([node.captured, np.zeros_like(node.left)])
        rest = node.left[:, None] - captured
        impure: Array = captured.sum(0) - captured.max(0) + rest.sum(0) - rest.max(0)
        return impure.astype(np.int64)


class Purity(ChoosesByCoins):
    """Ours: fewest records to take away until a rule is pure. A choice costs e (docs/theory/greedy.md, Theorem 12b)."""

    name = "purity"
    choice = PuritySelector

"""An exact draw over all rule lists, or over all trees up to a depth; or a few draws after each other.

A draw is from ``prior * exp(e * score)``, in real numbers (``private/noise/decisions.py``). The score of a list is the number
of records that it classifies correctly, labels included; that of a tree likewise, or minus the impurity mass of its leaves.

**Privacy.** A draw is e-DP. *Proof* (docs/theory/lists-and-trees.md, Theorems 13 and 20). The score is a sum over the parts of
a list, or the leaves of a tree, and a record falls into one of them. There it changes the score by 0 to 1 upwards (records with
the part's label, times class weights of at most 1) or by 0 to 1 downwards (minus the impurity mass), and it is the same
direction for every model. So each weight changes by a factor between 1 and exp(e), or each between exp(-e) and 1, and so does
the sum of all weights: their quotient changes by a factor from exp(-e) to exp(e).  []

The mass of a leaf with (weighted) class counts s_k, in all s, is (s - sum_k s_k^2 / s) / 2. Its slope in s_c is
((s - s_c)^2 + sum over k != c of s_k^2) / (2 s^2): not below 0, and at most 1, since both terms of the numerator are at most
s^2. So a record of weight w <= 1 raises it by 0 to w, for any number of classes.

**Bounded range.** All weights change by factors from 1 to exp(e), or all by factors from exp(-e) to 1, and the sum of weights
changes all probabilities by one and the same factor. So all log-ratios lie in one interval of width e, and a draw is e^2/8-zCDP
(Theorem 32).  []

**Several draws.** Later draws of a list are about the records that earlier rules leave; given the rules, neighbours stay
neighbours or become equal, so charges add up (Corollary 14). A later stage of a tree draws one in each leaf of the one before.
Given that tree, no record is in two of its leaves, so of two neighbouring tables the parts are equal in all leaves but one,
where they are neighbours, and the other leaves' draws have the same distribution on both: a stage costs e, once, and is of
bounded range as the one draw is (Corollary 21). The class counts of all parts, or of all leaves, cost one share together (Lemma
7).

Drawn from in ``sampling/``; the queries are ``queries/lists.py`` and ``queries/trees.py``.
"""

from dataclasses import dataclass
from fractions import Fraction

from ...accounting.costs import BOUNDED_RANGE, DISCRETE_LAPLACE, Cost, repeated
from ...accounting.statement import Guarantee
from .base import Mechanism


@dataclass(frozen=True)
class DrawBudget:
    """The shares of one fit that draws lists or trees: ``counts_epsilon`` for all class counts, ``draw_epsilon`` a draw.

    >>> budget = DrawBudget.split(Fraction(1), Fraction(1, 10), draws=3)
    >>> budget.counts_epsilon, budget.draw_epsilon
    (Fraction(1, 10), Fraction(3, 10))
    """

    epsilon: Fraction
    counts_epsilon: Fraction
    draw_epsilon: Fraction
    draws: int = 1

    @classmethod
    def split(cls, epsilon: Fraction, counts_share: Fraction, draws: int) -> "DrawBudget":
        """Equal shares for the draws of what the counts leave."""
        return cls(epsilon, counts_share * epsilon, (1 - counts_share) * epsilon / draws, draws)


class ModelDraw(Mechanism):
    """The mechanism of ``DPOptimalRuleListClassifier``, or of ``DPOptimalTreeClassifier``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def proved(self, budget: DrawBudget) -> Guarantee:
        """Charges add up to the epsilon that was asked for."""
        return Guarantee.of(budget.epsilon, 0.0)

    def costs(self, budget: DrawBudget) -> tuple[Cost, ...]:
        """Draws of bounded range, and counts with discrete Laplace noise, for a single record."""
        counts = repeated(DISCRETE_LAPLACE, budget.counts_epsilon, 1)
        return (*repeated(BOUNDED_RANGE, budget.draw_epsilon, budget.draws), *counts)

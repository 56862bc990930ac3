"""An exact draw over all rule lists: from ``prior * exp(e * correct)``, labels included; or a few draws after each other.

**Privacy.** A draw is e-DP. *Proof* (docs/theory/lists-and-trees.md, Theorem 13). A record that comes raises the number of
records that a list classifies correctly by 0 or 1 (with class weights of at most 1: by a number from 0 to 1), for every list at
once. So each weight grows by a factor from 1 to exp(e), and so does the sum of all weights: their quotient changes by a factor
from exp(-e) to exp(e).  [] Later draws are about the records that earlier rules leave; given the rules, neighbours stay
neighbours or become equal, so charges add up (Corollary 14). The class counts of all parts cost one share together (Lemma 7).

**Bounded range.** All weights grow by factors from 1 to exp(e), and the sum of weights changes all probabilities by one and the
same factor. So all log-ratios lie in one interval of width e, and a draw is e^2/8-zCDP (Theorem 32).  []

Drawn from in ``sampling/``, in real numbers (``private/noise/decisions.py``); the queries are ``queries/lists.py`` and
``queries/trees.py``.
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
    """What both kinds of draws have in common: how charges add up, and what the counts cost."""

    def proved(self, budget: DrawBudget) -> Guarantee:
        """Charges add up to the epsilon that was asked for."""
        return Guarantee.of(budget.epsilon, 0.0)

    def costs(self, budget: DrawBudget) -> tuple[Cost, ...]:
        """Draws of bounded range, and counts with discrete Laplace noise, for a single record."""
        counts = repeated(DISCRETE_LAPLACE, budget.counts_epsilon, 1)
        return (*repeated(BOUNDED_RANGE, budget.draw_epsilon, budget.draws), *counts)


class RuleListDraw(ModelDraw):
    """The mechanism of ``DPOptimalRuleListClassifier``."""

    name = "exact draw over all rule lists"

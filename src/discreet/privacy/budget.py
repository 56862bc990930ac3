"""How (epsilon, delta) is split over the queries of the paper's Algorithm 1, in exact fractions.

The paper (section IV.B): three operations a node (support check, choice, counts), one of them with a delta, and counts
only for the default, so ``eps_node = eps / (3K - 1)`` and ``delta_node = delta / (K - 1)``. The methods on global
sensitivity need no support check and save that share: ``eps_node = eps / (2K - 1)``.

With K - 1 rules and a default, a smooth method asks at most ``3 (K - 1) + 1 = 3K - 2`` queries: one share of the
published split is never spent. It is kept as published.

Our own ways pay for all class counts once. ``mass`` asks at most K - 1 choices (docs/theory.md, section 7), and a draw of a whole
list is one query, however long the list (section 8).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

SMOOTH = ("sm-laplace", "sm-cauchy")
GLOBAL = ("gl-laplace", "gl-gaussian", "gl-exponential", "noisy-counts")
PUBLISHED = SMOOTH + GLOBAL
MASS = "mass"
MECHANISMS = (MASS, *PUBLISHED)
NEEDS_DELTA = ("sm-laplace", "gl-gaussian")


@dataclass(frozen=True)
class GreedyBudget:
    """The shares of one fit: ``node_epsilon`` for every query, ``node_delta`` for every choice that has a delta.

    >>> budget = GreedyBudget.published("sm-laplace", Fraction(1), Fraction(1, 10**6), max_length=5)
    >>> budget.node_epsilon, budget.node_delta
    (Fraction(1, 14), Fraction(1, 4000000))
    """

    epsilon: Fraction
    delta: Fraction
    node_epsilon: Fraction
    node_delta: Fraction

    @classmethod
    def published(cls, mechanism: str, epsilon: Fraction, delta: Fraction, max_length: int) -> "GreedyBudget":
        """The paper's split for one of the published methods. ``max_length`` is its K, counting the default."""
        shares = (3 if mechanism in SMOOTH else 2) * max_length - 1
        return cls(epsilon, delta, epsilon / shares, delta / max(1, max_length - 1))


@dataclass(frozen=True)
class MassBudget:
    """The shares of one fit with ``mass``: ``counts_epsilon`` for all class counts together, the rest for the choices.

    >>> budget = MassBudget.split(Fraction(1), Fraction(1, 5), max_length=5)
    >>> budget.counts_epsilon, budget.choice_epsilon
    (Fraction(1, 5), Fraction(1, 5))
    """

    epsilon: Fraction
    counts_epsilon: Fraction
    choice_epsilon: Fraction
    delta = Fraction(0)

    @classmethod
    def split(cls, epsilon: Fraction, counts_share: Fraction, max_length: int) -> "MassBudget":
        """The split over up to ``max_length - 1`` choices; with none, everything goes to the counts."""
        if max_length == 1:
            return cls(epsilon, epsilon, Fraction(0))
        return cls(epsilon, counts_share * epsilon, (1 - counts_share) * epsilon / (max_length - 1))


def confidence_threshold(confidence: float, node_epsilon: float) -> int:
    """The paper's Algorithm 3: how far above the minimum support a noisy support must be.

    >>> confidence_threshold(0.98, 0.1)     # the paper prints 7 here; its formula gives 33
    33
    """
    return math.floor(-(math.log(2) + math.log(1 - confidence)) / node_epsilon) + 1


@dataclass(frozen=True)
class ListBudget:
    """The shares of one fit that draws whole lists: ``counts_epsilon`` for all class counts, ``draw_epsilon`` for each draw.

    >>> budget = ListBudget.split(Fraction(1), Fraction(1, 10), draws=3)
    >>> budget.counts_epsilon, budget.draw_epsilon
    (Fraction(1, 10), Fraction(3, 10))
    """

    epsilon: Fraction
    counts_epsilon: Fraction
    draw_epsilon: Fraction

    @classmethod
    def split(cls, epsilon: Fraction, counts_share: Fraction, draws: int) -> "ListBudget":
        """Equal shares for the draws of what the counts leave."""
        return cls(epsilon, counts_share * epsilon, (1 - counts_share) * epsilon / draws)


@dataclass(frozen=True)
class CutsBudget:
    """The shares of cut points that are computed privately: ``choice_epsilon`` for each level of each column.

    >>> CutsBudget.split(Fraction(1, 10), levels=[3, 2]).choice_epsilon
    Fraction(1, 50)
    """

    epsilon: Fraction
    choice_epsilon: Fraction

    @classmethod
    def split(cls, epsilon: Fraction, levels: Sequence[int]) -> "CutsBudget":
        """Equal shares for all levels of all columns: a record has a value in every column, so columns add up."""
        return cls(epsilon, epsilon / sum(levels))

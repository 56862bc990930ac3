"""Score cards: noisy class counts by column, from which the points follow; before them a choice of columns, or a tree.

**Mechanism.** Up to four kinds of answers, in this order:

1. *a tree*, if one is asked for: one draw of a tree (draws.py), whose leaves divide the records;
2. *the columns*, if fewer are wanted than there are: k choices, one after the other and without repetition, by permute-and-flip
   on the impurity mass of a column's parts (mass.py), in each leaf;
3. *the points*: in each leaf, class counts by the parts of each of its k columns, with discrete Laplace noise: at once, or one
   column after the other. In the latter case a record counts for a weight of 0, 1/64, ... or 1, which follows from its class and
   from its total on the card so far. A card's points are computed from these sums alone;
4. *the risks*: class counts by ranges of the total, with discrete Laplace noise.

**Privacy.** With e_1 for the tree, e_2 for each choice, e_3 for the counts of each column and e_4 for those of the totals, a fit
is (e_1 + k e_2 + k e_3 + e_4)-DP. *Proof.* Each answer is about the records given what was answered before.

1 is Theorem 20. For 2 to 4: given the tree, a record is in one leaf, so neighbouring tables are equal in all leaves but one,
where they are neighbours (Corollary 21); it is enough to look at that leaf.

2: a record is in one part of a column, and raises the mass of that part by 0 to 1 and of no other (mass.py): so between
neighbours the scores of all columns change in one direction, by at most 1, and one choice is e_2-DP by Theorem 5, among whichever
columns are left. k choices, one after the other, add up.

3: a record is in one part of a column, and of one class: one count of the column changes, by 1. So the counts of one column are
e_3-DP (noise/discrete_laplace.py), and those of k columns k e_3-DP together. With weights, the card so far, and which weight goes
with which class and range of totals, follow from the answers before. Given these, the weight of a record depends on that
record alone: in units of 1/64 the sums of a column are integers, of which it changes one, by at most 64. Noise of parameter
e_3 / 64 for units makes that e_3-DP: 64 times as many units, and so as much noise in records as without weights.
Whether columns are counted one after the other is decided by the noisy counts of the first one.

4: the card is released by then. Given the card, the total of a record depends on that record alone, so it is in one range, and of
one class: e_4-DP.

Charges add up, and everything else is computed from what was answered.  []
"""

from dataclasses import dataclass
from fractions import Fraction

from ...accounting.costs import BOUNDED_RANGE, DISCRETE_LAPLACE, PURE, Cost, repeated
from ...accounting.statement import Guarantee
from .base import Mechanism
from .draws import DrawBudget

# of what the counts by total leave
CHOICE_SHARE, TREE_SHARE = Fraction(1, 3), Fraction(1, 4)


@dataclass(frozen=True)
class CardBudget:
    """The shares of one fit.

    >>> budget = CardBudget.split(Fraction(1), Fraction(1, 10), columns=5, chooses=True, tree=False)
    >>> budget.choice_epsilon, budget.column_epsilon, budget.counts_epsilon
    (Fraction(3, 50), Fraction(3, 25), Fraction(1, 10))
    """

    epsilon: Fraction
    columns: int
    tree_epsilon: Fraction
    choice_epsilon: Fraction  # of each choice of a column
    column_epsilon: Fraction  # of the class counts of each column
    counts_epsilon: Fraction  # of the class counts by ranges of totals

    @classmethod
    def split(cls, epsilon: Fraction, counts_share: Fraction, columns: int, chooses: bool, tree: bool) -> "CardBudget":
        """What the totals, the tree and the choices leave is for the points."""
        left = (1 - counts_share) * epsilon
        choices, drawn = CHOICE_SHARE * left * chooses, TREE_SHARE * left * tree
        each = (left - choices - drawn) / columns
        return cls(epsilon, columns, drawn, choices / columns, each, counts_share * epsilon)

    @property
    def of_tree(self) -> DrawBudget:
        """What the draw of a tree may cost."""
        return DrawBudget(self.tree_epsilon, Fraction(0), self.tree_epsilon)


class ScoreCards(Mechanism):
    """The mechanism of ``DPScoreCardClassifier``."""

    name = "score cards"

    def proved(self, budget: CardBudget) -> Guarantee:
        """Charges add up to the epsilon that was asked for."""
        return Guarantee.of(budget.epsilon, 0.0)

    def costs(self, budget: CardBudget) -> tuple[Cost, ...]:
        """For a single record."""
        return (
            *repeated(BOUNDED_RANGE, budget.tree_epsilon, 1),
            *repeated(PURE, budget.choice_epsilon, budget.columns),
            *repeated(DISCRETE_LAPLACE, budget.column_epsilon, budget.columns),
            *repeated(DISCRETE_LAPLACE, budget.counts_epsilon, 1),
        )

"""An exact draw over all trees up to a depth, from ``prior * exp(e * score)``; or stages of such draws.

**Privacy.** A draw is e-DP. *Proof* (docs/theory/lists-and-trees.md, Theorem 20). The score of a tree is a sum over its leaves,
and a record falls into one of them. There it changes the leaf's score by 0 to 1 upwards (records with the leaf's label, times
class weights of at most 1) or by 0 to 1 downwards (minus the impurity mass), and it is the same direction for every tree. So
each weight changes by a factor between 1 and exp(e), or between exp(-e) and 1, and so does the sum of all weights: their
quotient changes by a factor from exp(-e) to exp(e).  []

The mass of a leaf with (weighted) class counts s_k, in all s, is (s - sum_k s_k^2 / s) / 2. Its slope in s_c is
((s - s_c)^2 + sum over k != c of s_k^2) / (2 s^2): not below 0, and at most 1, since both terms of the numerator are at most
s^2. So a record of weight w <= 1 raises it by 0 to w, for any number of classes.

**Stages.** A later stage draws a tree in each leaf of the one before. Given that tree, no record is in two of its leaves, so of
two neighbouring tables the parts are equal in all leaves but one, where they are neighbours: a stage costs e, once (Corollary
21). So do the class counts of all leaves together. Since the other leaves' draws have the same distribution on both tables, a
stage is of bounded range as the one draw is: weights change by factors from 1 to exp(e), or all from exp(-e) to 1 (Theorem 32).

Draws are made in ``sampling/trees``, in real numbers (``noise/decisions.py``); the queries are ``queries/trees.py``.
"""

from .rule_list_draw import ModelDraw


class TreeDraw(ModelDraw):
    """The mechanism of ``DPOptimalTreeClassifier``."""

    name = "exact draw over all trees"

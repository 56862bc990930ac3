"""One tree in proportion to its weight: from the root down, each choice by the weight of all trees below it."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from ....rules.candidates import NumberedFork, NumberedTree
from ...counts.secret import Secret
from ...noise.decisions import Choose, draw_exactly, excess
from ...noise.entropy import Entropy
from .log_weights import Part, SumProduct
from .problems import DrawProblem
from .ranges import kinds_for, sum_for
from .sums import side_of


class WeighedTrees(Secret):
    """All trees of at most a depth, added up: everything but the draw itself, which is made of a few choices.

    A tree is drawn in proportion to ``prior * exp(rate * score)``; with the score "gini" without labels.
    """

    def __init__(self, problem: DrawProblem, depth: int, seen: Callable[[], None] = lambda: None) -> None:
        flipped: DrawProblem
        flipped, order, was_flipped = problem.flipped()
        sums, choices = kinds_for(flipped)
        self._log_weights: SumProduct = sum_for(flipped)
        with np.errstate(all="ignore"):  # weights may underflow, and whether they do depends on the records
            self._sums = sums(flipped, depth, self._log_weights, seen)
        self._problem, self._depth = problem, self._sums.depth
        self._choices = partial(choices, flipped, self._sums, order, was_flipped)

    def draw(self, entropy: Entropy) -> NumberedTree:
        """One of them, by its weight in real numbers: rounding decides only how often it is tried again (noise/decisions.py)."""
        with np.errstate(all="ignore"):
            return draw_exactly(self.draw_by, self._weight, self._log_most, self._doubt(), entropy)

    def draw_by(self, choose: Choose) -> NumberedTree:
        """What choices between weights lead to, given by their logarithms; the audit multiplies all of them out.

        **Identity.** Z is a sum of products (sums.py). To draw one term of a sum in proportion to its size, and then within each
        of its factors in the same way, is to draw a tree in proportion to its weight: the probabilities multiply to
        weight / Z(root).
        """
        with np.errstate(all="ignore"):
            return self._choices(choose).tree({}, self._depth)

    def _weight(self, tree: NumberedTree) -> tuple[Fraction, Fraction]:
        """``prior * exp(rate * score)`` without any error: the prior, and the exponent."""
        prior, score = self._prior_and_score(tree, {}, self._depth)
        return prior, Fraction(self._problem.rate) * score

    def _prior_and_score(self, tree: NumberedTree, part: Part | None, depth: int) -> tuple[Fraction, Fraction]:
        """Of a tree below a part. Counts are exact: class weights are multiples of 2^-20 (docs/theory/rounding.md)."""
        split = Fraction(self._problem.prior.split)
        if isinstance(tree, NumberedFork):
            ways = [(tree.true, side_of(part, tree.test, True)), (tree.other, side_of(part, tree.test, False))]
            (p, s), (q, t) = (self._prior_and_score(branch, inside, depth - 1) for branch, inside in ways)
            return split * Fraction(float(self._problem.prior.tests[tree.test])) * p * q, s + t
        counts = self._problem.class_counts(part).tolist()
        stop = 1 - split if depth else Fraction(1)
        if tree.label is not None:
            return stop / len(counts), Fraction(counts[tree.label])
        size, squares = Fraction(sum(counts)), sum(Fraction(c) * Fraction(c) for c in counts)
        return stop, (squares / size - size) / 2 if size else Fraction(0)

    def _log_most(self) -> float:
        """The logarithm of the sum of all weights, and a margin: docs/theory/rounding.md, Theorems 28 and 28a."""
        return self._sums.log_whole + self._log_weights.left_out(self._problem.class_counts({})) + self._margin()

    def _doubt(self) -> float:
        """The margin, and what rounding may put the choices above the weight: not more (docs/theory/rounding.md, Theorem 29a)."""
        return 2.0 * self._margin()

    def _margin(self) -> float:
        n_tests, counts = self._problem.n_tests, self._problem.class_counts({})
        n = max(n_tests + 1, len(counts)) + self._log_weights.more_choices * n_tests
        return 2.0 ** (self._depth + 1) * (2.0 * self._log_weights.error(counts) + excess(n))

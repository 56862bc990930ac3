"""What makes a draw from the envelope exact, though it is computed in floating point.

Choices by weight, each with a chance that is known exactly; what is chosen last, the members and the labels of a list; and what
the last coin of an attempt is about: the exact weight of a list, and how far rounding may have put the envelope below it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..counts.patterns import Array
from ..noise.decisions import KNOWN, Choose, excess, place, whole_weights
from ..noise.entropy import Entropy, Integers
from .problem import Problem

LARGEST_MARGIN = 1.0


class Choices(NamedTuple):
    """Independent choices: the i-th had the chance ``part[i] / whole[i]``."""

    chosen: npt.NDArray[np.intp]
    part: Integers
    whole: Integers

    def where(self, needed: npt.NDArray[np.bool_]) -> "Choices":
        """The same, but the others do not matter, whatever came up: something did, with a chance of 1."""
        return Choices(self.chosen, np.where(needed, self.part, 1), np.where(needed, self.whole, 1))

    def chance(self, i: int) -> Fraction:
        """Of the i-th."""
        return Fraction(int(self.part[i]), int(self.whole[i]))


def cumulated(logs: Array) -> Integers:
    """Integer weights nearly in proportion to ``exp(logs)``, added up row by row."""
    return np.cumsum(whole_weights(logs), axis=-1)


def choose_each(sums: Integers, entropy: Entropy, size: int) -> Choices:
    """Indices by cumulated weights: one from each row, or ``size`` from one row that stands for all."""
    chosen = places(sums, entropy, size)
    rows = () if sums.ndim == 1 else (np.arange(size),)
    part = sums[(*rows, chosen)] - np.where(chosen > 0, sums[(*rows, chosen - 1)], 0)
    return Choices(chosen, part, np.full(size, sums[..., -1]))


def places(sums: Integers, entropy: Entropy, size: int) -> npt.NDArray[np.intp]:
    """Where real uniform numbers fall among cumulated sums, times the last of them: ``size`` of them, each as ``place`` has it.

    ``sums`` is one row for all, or has a row for each. (53 bits say in which interval a number lies: it is 2^-53 of the total
    wide, and its first end is computed up to 2^-52 of it and 1.)
    """
    bits, total = entropy.bits(size), sums[..., -1]
    about, slack = (bits * (total * 2.0**-KNOWN)).astype(np.int64), (total >> 51) + 2
    least = about - slack
    found = np.searchsorted(sums, least, "right") if sums.ndim == 1 else (sums <= least[:, None]).sum(1)
    ends = sums[found] if sums.ndim == 1 else sums[np.arange(size), found]
    for i in np.flatnonzero(about + slack >= ends):
        found[i] = place(sums if sums.ndim == 1 else sums[i], int(bits[i]), entropy)
    return found


def flip_each(logs: Array, entropy: Entropy) -> Choices:
    """Coins that come up 1 with a chance of exp(log), or a little more, if it is below 1; for -inf never, else sometimes."""
    whole = 2**KNOWN
    part = np.minimum((np.exp(np.minimum(logs, 0.0)) * whole).astype(np.int64) + 2, whole)
    part[np.isneginf(logs)] = 0
    heads = entropy.bits(len(logs)).astype(np.int64) < part
    return Choices(heads.astype(np.intp), part, np.full(len(logs), whole))


def concrete(problem: Problem, groups: Sequence[int], choose: Choose) -> list[int]:
    """A rule of each group, none twice, all choices alike.

    **Identity.** The members of a group have the same prior weight and capture the same records, so all choices of them weigh the
    same. There are as many as ``Problem.log_free`` counted: g - k + 1 for the k-th rule of a group of g. So a list of groups,
    drawn by the weight of all its choices, and then one of these, is a list of rules drawn by its own weight.
    """
    rules: list[int] = []
    for group in groups:
        unused = np.setdiff1d(problem.members[group], rules)
        rules.append(int(unused[choose(np.zeros(len(unused)))]))
    return rules


def draw_labels(problem: Problem, groups: Sequence[int], choose: Choose) -> tuple[list[int], float]:
    """The labels of the parts of a list, the default last, each in proportion to ``exp(rate * count)``; and the score.

    **Identity.** The score is a sum over parts, so the sum of the weights of all labellings is a product over parts:

        sum over labels of exp(rate * score) = product over parts of (sum over y of exp(rate * count of y)).

    So labels are independent given the rules, and rules can be drawn first, by that product (``Problem.log_sum``).
    """
    labels, score = [], 0.0
    for part in problem.parts_of(np.array([groups], np.intp)):
        counts = problem.left(part)[:, 0].astype(np.float64)
        labels.append(choose(problem.rate * counts))
        score += float(counts[labels[-1]])
    return labels, score


def exact_weight(problem: Problem, groups: Sequence[int], score: float) -> tuple[Fraction, Fraction]:
    """Two fractions, so that ``factor * exp(power)`` is the weight of a list of rules, of which the groups are given.

    Between neighbouring tables only the score differs. It is exact: counts are multiples of 2^-20, so below 2^33 records none of
    their sums is rounded. The prior of a length is, by definition, exp of the number that was computed for it.
    """
    factor = math.prod((Fraction(float(problem.rule_weights[group])) for group in groups), start=Fraction(1))
    return factor, Fraction(float(problem.log_length[len(groups)])) + Fraction(problem.rate) * Fraction(score)


def margin(problem: Problem) -> float | None:
    """A bound on log(weight / (mass of all elements * probability of the choices that lead to it)), of every list.

    **Lemma** (docs/theory/rounding.md, Theorem 30, has the proof). Let S be rate * all records plus the largest logarithms of
    the prior, and n the number of groups and classes. On the way to a list, rounding of numbers up to S adds up to less than
    512 S 2^-53; sums over n terms, and what libraries make of exp and log, to less than 64 (n + 300) 2^-53; choices by integers
    in place of real weights, to less than 32 ``excess(n)``.

    None if it is more than LARGEST_MARGIN: too many attempts would fail. That takes more than 2^33 records at the largest rate
    there is. Then the last coin is left out, and the distribution is that of the computed weights.
    """
    n = problem.n_groups + problem.n_classes + problem.longest
    all_rules = abs(problem.log_rules) if problem.n_groups else 0.0
    prior = max(all_rules, *(np.abs(logs).max(initial=0.0) for logs in (problem.log_rule, problem.log_members)))
    lengths = np.abs(problem.log_length[np.isfinite(problem.log_length)]).max(initial=0.0)
    size = problem.rate * float(problem.counts.sum()) + lengths
    size += (problem.longest + 2) * (prior + math.log(problem.n_classes)) + 64.0
    found = float((512.0 * size + 64.0 * (n + 300.0)) * 2.0**-53 + 32.0 * excess(n))
    return found if found <= LARGEST_MARGIN else None

"""The weight of one labelled list, exactly: from its score, and from public numbers that are taken as they are."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from ..problem import Problem


def exact_weight(problem: Problem, groups: Sequence[int], score: float) -> tuple[Fraction, Fraction]:
    """Two fractions, so that ``factor * exp(power)`` is the weight of a list of rules, of which the groups are given.

    Between neighbouring tables only the score differs. It is exact: counts are multiples of 2^-20, so below 2^33 records none of
    their sums is rounded. The prior of a length is, by definition, exp of the number that was computed for it.
    """
    factor = prod((Fraction(float(problem.rule_weights[group])) for group in groups), start=Fraction(1))
    return factor, Fraction(float(problem.log_length[len(groups)])) + Fraction(problem.rate) * Fraction(score)

"""The distribution of a draw that is made of choices and a last coin: every way multiplied out, in fractions and 60 digits."""

from bisect import bisect_left
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from discreet.private.counts.marginals import MarginalsInProgress
from discreet.private.noise.decisions import KNOWN, certain, whole_weights

PRECISE = Context(prec=70, traps=[])


def log_of(factor, power=0):
    """log(factor) + power, of two fractions."""
    factor, power = Fraction(factor), Fraction(power)
    with localcontext(PRECISE):
        logs = Decimal(factor.numerator).ln() - Decimal(factor.denominator).ln()
        return logs + Decimal(power.numerator) / Decimal(power.denominator)


def ways(attempt, bend=lambda logs: logs):
    """Each outcome, its chance, a fraction, and the weights chosen: all choices between integer weights, one after another."""
    path = []  # of each choice: the place taken, and the weights
    while True:
        depth = 0

        def choose(logs):
            nonlocal depth
            if depth == len(path):
                weights = whole_weights(bend(logs)).tolist()
                path.append([next(i for i, w in enumerate(weights) if w), weights])
            depth += 1
            return path[depth - 1][0]

        outcome = attempt(choose)
        chance = Fraction(1)
        for place, weights in path:
            chance *= Fraction(weights[place], sum(weights))
        yield outcome, chance, [weights[place] for place, weights in path]
        while path:
            place, weights = path[-1]
            later = [i for i in range(place + 1, len(weights)) if weights[i]]
            if later:
                path[-1][0] = later[0]
                break
            path.pop()
        else:
            return


class Multiplied:
    """All outcomes of attempts: what they weigh, how they are chosen, and with which distribution they are returned."""

    def __init__(self, attempt, weigh, bend=lambda logs: logs):
        self.outcomes, self.log_weight, self.log_chance, self.chosen = [], [], [], []
        total = Fraction(0)
        for outcome, chance, weights in ways(attempt, bend):
            total += chance
            self.outcomes.append(outcome)
            self.chosen.append(weights)
            self.log_chance.append(log_of(chance))
            self.log_weight.append(log_of(*weigh(outcome)))
        assert total == 1

    def largest(self):
        """The smallest logarithm of C with which no outcome is accepted with more than certainty."""
        with localcontext(PRECISE):
            return max(p - q for p, q in zip(self.log_weight, self.log_chance, strict=True))

    def smallest(self):
        """The logarithm of C with which the least likely to be accepted is certain to be."""
        with localcontext(PRECISE):
            return min(p - q for p, q in zip(self.log_weight, self.log_chance, strict=True))

    def too_soon(self, log_most, doubt, decide=certain):
        """By how much a number that is accepted at once exceeds p / (C q) at most, as logarithms; and how often one is."""
        worst, often = Decimal("-inf"), Decimal(0)
        with localcontext(PRECISE):
            for p, q, weights in zip(self.log_weight, self.log_chance, self.chosen, strict=True):
                at_once = accepted_at_once(doubt, weights, decide)
                worst = max(worst, at_once.ln() - (p - q - Decimal(log_most)))
                often += q.exp() * at_once
        return worst, often

    def distributions(self, log_most):
        """Logarithms of probabilities: of what is returned, and of what should be."""
        with localcontext(PRECISE):
            bound = Decimal(log_most)
            found = [q + min(Decimal(0), p - q - bound) for p, q in zip(self.log_weight, self.log_chance, strict=True)]
            return _normalised(found), _normalised(self.log_weight)

    def furthest(self, log_most):
        """How far the two are apart at most, as logarithms."""
        with localcontext(PRECISE):
            return max(abs(a - b) for a, b in zip(*self.distributions(log_most), strict=True))


def accepted_at_once(doubt, weights, decide=certain):
    """All uniform numbers below this one are accepted before anything is weighed, and no others."""
    first = bisect_left(range(2**KNOWN), True, key=lambda bits: not decide(bits, doubt, weights))
    with localcontext(PRECISE):
        return Decimal(first) / 2**KNOWN


def _normalised(logs):
    top = max(logs)
    whole = top + sum((log - top).exp() for log in logs).ln()
    return [log - whole for log in logs]


def of_trees(weighed, bend=lambda logs: logs):
    """Of ``WeighedTrees``."""
    return Multiplied(weighed.draw_by, weighed._weight, bend)


def of_lists(sums, bend=lambda logs: logs):
    """Of ``ListSums``."""
    return Multiplied(sums.draw_by, sums._weight, bend)


def tuples_of_many(schema, bins, counts, size):
    """Marginals of tables with as many records as one likes: ``counts`` (classes, rows) of a few rows of bins."""
    filling = MarginalsInProgress(schema.used, len(counts), size)
    labels, rows = np.nonzero(counts)
    filling.add([b[rows] for b in bins], labels, np.asarray(counts, np.float64)[labels, rows])
    return filling.finish()

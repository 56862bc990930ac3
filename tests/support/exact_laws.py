"""The law of a draw that is made of choices and a last coin: every way multiplied out, in fractions and 60 digits."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from discreet.cells.tuples import TuplesInProgress
from discreet.noise.decisions import whole_weights

PRECISE = Context(prec=70, traps=[])


def log_of(factor, power=0):
    """log(factor) + power, of two fractions."""
    factor, power = Fraction(factor), Fraction(power)
    with localcontext(PRECISE):
        logs = Decimal(factor.numerator).ln() - Decimal(factor.denominator).ln()
        return logs + Decimal(power.numerator) / Decimal(power.denominator)


def ways(attempt, bend=lambda logs: logs):
    """Each outcome and its chance, a fraction: all choices between integer weights, one after another."""
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
        yield outcome, chance
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
    """All outcomes of attempts: what they weigh, how they are chosen, and with which law they are returned."""

    def __init__(self, attempt, weigh, bend=lambda logs: logs):
        self.outcomes, self.log_weight, self.log_chance = [], [], []
        total = Fraction(0)
        for outcome, chance in ways(attempt, bend):
            total += chance
            self.outcomes.append(outcome)
            self.log_chance.append(log_of(chance))
            self.log_weight.append(log_of(*weigh(outcome)))
        assert total == 1

    def largest(self):
        """The smallest logarithm of C with which no outcome is accepted with more than certainty."""
        with localcontext(PRECISE):
            return max(p - q for p, q in zip(self.log_weight, self.log_chance, strict=True))

    def laws(self, log_most):
        """Logarithms of probabilities: of what is returned, and of what should be."""
        with localcontext(PRECISE):
            bound = Decimal(log_most)
            found = [q + min(Decimal(0), p - q - bound) for p, q in zip(self.log_weight, self.log_chance, strict=True)]
            return _normalised(found), _normalised(self.log_weight)

    def furthest(self, log_most):
        """How far the two are apart at most, as logarithms."""
        with localcontext(PRECISE):
            return max(abs(a - b) for a, b in zip(*self.laws(log_most), strict=True))


def _normalised(logs):
    top = max(logs)
    whole = top + sum((log - top).exp() for log in logs).ln()
    return [log - whole for log in logs]


def of_trees(weighed, bend=lambda logs: logs):
    """Of ``WeighedTrees``."""
    return Multiplied(weighed._chosen, weighed._weight, bend)


def of_lists(sums, bend=lambda logs: logs):
    """Of ``ListSums``."""
    return Multiplied(sums.draw_by, sums._weight, bend)


def tuples_of_many(schema, bins, counts, size):
    """Tuples of tables with as many records as one likes: ``counts`` (classes, rows) of a few rows of bins."""
    filling = TuplesInProgress(schema.used, len(counts), size)
    labels, rows = np.nonzero(counts)
    filling._add([b[rows] for b in bins], labels, np.asarray(counts, np.float64)[labels, rows])
    return filling.finish()

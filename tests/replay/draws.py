"""The distributions of rule lists and trees: every one that can be drawn is looked at, so that it works for a few rules only.

They have what the distributions of counts and choices have (distributions.py).
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import permutations

import numpy as np

from .distributions import decimal, log_sum

NEVER = Decimal("-Infinity")  # the logarithm of 0


@dataclass(frozen=True)
class ExactDraw:
    """Something that is made of choices by weights, and returned by a last coin, or else drawn again (``draw_exactly``).

    An answer is the numbers of its choices. All of them are followed up, so that the distribution is that of what is really
    done: x is chosen with the chance q(x) of its integer weights, and the coin comes up with probability p(x) / (C q(x)), 1 at
    most; it is not flipped at all where a bound tells. So x is returned in proportion to q(x) times what the coin lets pass.
    """

    attempt: object  # of a function that chooses by logarithms of weights
    weigh: object  # p of what an attempt made, as a factor and a power of e
    log_most: object  # the logarithm of C
    doubt: float
    whole_weights: object  # the integers in place of weights
    kind = "exact draw"
    size = 1  # it follows from the answers before, and is compared choice by choice
    most = 5_000

    def follow(self, answer):
        """What these choices lead to."""
        left = list(answer)

        def choose(logs):
            if not left or left[0] >= len(logs):
                raise IndexError("there are other choices")
            return left.pop(0)

        made = self.attempt(choose)
        if left:
            raise IndexError("there are fewer choices")
        return made

    @cached_property
    def logs(self):
        """Of all answers the logarithm of how often each is returned, not normalised."""
        todo, found, log_most = [()], {}, decimal(self.log_most())
        while todo:
            begun, weights, made = todo.pop(), [], []

            def choose(logs, begun=begun, weights=weights, made=made):
                whole = [int(w) for w in self.whole_weights(np.array(logs, np.float64))]
                possible = [i for i, w in enumerate(whole) if w]
                number = begun[len(made)] if len(made) < len(begun) else possible[0]
                if len(made) >= len(begun):
                    todo.extend((*made, other) for other in possible[1:])
                weights.append((whole[number], sum(whole)))
                made.append(number)
                return number

            thing = self.attempt(choose)
            chance = Fraction(math.prod(w for w, _ in weights), math.prod(s for _, s in weights))
            factor, power = self.weigh(thing)
            coin = decimal(factor / chance).ln() + decimal(power) - log_most
            bound = 1 - decimal(self.doubt) - sum(4 / Decimal(w) for w, _ in weights)
            if bound > 0:
                coin = max(coin, bound.ln())
            found[tuple(made)] = decimal(chance).ln() + min(coin, Decimal(0))
            assert len(found) <= self.most, "too many things can be drawn to follow all of them up"
        return found

    @cached_property
    def all_logs(self):
        """Of all answers, normalised."""
        total = log_sum(self.logs.values())
        return {answer: log - total for answer, log in self.logs.items()}

    def log_prob(self, answer):
        return self.all_logs.get(answer, NEVER)

    def drawn(self, rng):
        answers = list(self.all_logs)
        chances = np.array([float(log.exp()) for log in self.all_logs.values()])
        return answers[rng.choice(len(answers), p=chances / chances.sum())]

    def any(self, rng):
        answers = list(self.all_logs)
        return answers[rng.integers(len(answers))]

    def telling(self, other, sign):
        here, there = self.all_logs, other.all_logs
        return max(here.keys() & there.keys(), key=lambda answer: (sign * (here[answer] - there[answer]), answer))


@dataclass(frozen=True)
class DrawnList:
    """A labelled rule list in proportion to prior * exp(rate * score): every list is looked at.

    ``truth`` has a row for each rule and a column for each pattern, ``counts`` a row for each class. A length is drawn in
    proportion to its weight, of those for which there are enough rules, rules in proportion to the product of their weights, and
    labels all alike. The score is the sum of the counts that are labelled rightly.
    """

    truth: np.ndarray
    counts: np.ndarray
    lengths: tuple[float, ...]
    rules: tuple[float, ...]
    rate: float
    kind = "rule list"
    size = 1

    def parts(self, rules):
        """Class counts of what each rule takes, and of what is left."""
        left, found = np.ones(self.counts.shape[1], bool), []
        for rule in rules:
            found.append([decimal(c) for c in self.counts[:, left & self.truth[rule]].sum(1).tolist()])
            left = left & ~self.truth[rule]
        return [*found, [decimal(c) for c in self.counts[:, left].sum(1).tolist()]]

    @cached_property
    def logs(self):
        """Of each sequence of rules: its prior for a labelling, and the sum of the weights of all its labellings."""
        usable = [i for i, weight in enumerate(self.rules) if weight > 0]
        rate, n_classes, found = decimal(self.rate), len(self.counts), {}
        for length, weight in enumerate(self.lengths[: len(usable) + 1]):
            every = {some: math.prod(Fraction(self.rules[i]) for i in some) for some in permutations(usable, length)}
            for some, own in every.items():
                if not weight:
                    continue
                prior = Fraction(weight) * own / (sum(every.values()) * n_classes ** (length + 1))
                labelled = sum(log_sum([rate * c for c in part]) for part in self.parts(some))
                found[some] = decimal(prior).ln(), decimal(prior).ln() + labelled
        return found

    def log_prob(self, answer):
        rules, labels = answer
        if rules not in self.logs:
            return NEVER
        score = sum(part[label] for part, label in zip(self.parts(rules), labels, strict=True))
        return self.logs[rules][0] + decimal(self.rate) * score - log_sum([total for _, total in self.logs.values()])

    def drawn(self, rng):
        logs = np.array([float(total) for _, total in self.logs.values()])
        chances = np.exp(logs - logs.max())
        rules = list(self.logs)[rng.choice(len(logs), p=chances / chances.sum())]
        labels = []
        for part in self.parts(rules):
            weights = np.exp([float(decimal(self.rate) * (c - max(part))) for c in part])
            labels.append(int(rng.choice(len(part), p=weights / weights.sum())))
        return rules, tuple(labels)

    def any(self, rng):
        rules = list(self.logs)[rng.integers(len(self.logs))]
        return rules, tuple(int(label) for label in rng.integers(len(self.counts), size=len(rules) + 1))

    def telling(self, other, sign):
        """Each part gets the label of which most records are here and not there."""
        best = []
        for rules in self.logs:
            differ = [
                [sign * (decimal(self.rate) * c - decimal(other.rate) * d) for c, d in zip(part, same, strict=True)]
                for part, same in zip(self.parts(rules), other.parts(rules), strict=True)
            ]
            best.append((sum(map(max, differ)), rules, tuple(part.index(max(part)) for part in differ)))
        return max(best)[1:]

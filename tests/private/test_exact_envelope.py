"""Every way in which the envelope draws a list, multiplied out in fractions: exact, whatever was rounded."""

import math
from collections import defaultdict
from decimal import MIN_EMIN, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.estimators.base import class_weights
from discreet.private.noise import decisions
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling import choices, elements, envelope
from discreet.private.sampling.bounds import Bounds
from discreet.private.sampling.deadline import Deadline
from discreet.private.sampling.elements import Elements
from discreet.private.sampling.envelope import Envelope
from discreet.private.sampling.problem import Problem, make_problem
from discreet.private.sampling.reference import distribution_of_draw
from discreet.rules.prior import Prior

from ..support.slices import slow_but
from ..support.small_problems import Small, draws_from, envelope_of, p_value
from .test_pruning import Loose, Whim

DIGITS = 80


class Ways:
    """All ways through an attempt, one after the other: each choice by its script, and with its chance."""

    def __init__(self):
        self.script, self.options = [], []

    def start(self):
        self.made, self.chance, self.coin = 0, Fraction(1), None

    def places(self, sums, entropy, size):
        assert size == 1
        row = [int(x) for x in sums.reshape(-1)]
        weights = [b - a for a, b in zip([0, *row[:-1]], row, strict=True)]
        possible = [i for i, weight in enumerate(weights) if weight]
        if self.made == len(self.script):
            self.script.append(0)
            self.options.append(len(possible))
        place = possible[self.script[self.made]]
        self.made += 1
        self.chance *= Fraction(weights[place], row[-1])
        return np.array([place])

    def place(self, sums, bits, entropy):
        return int(self.places(sums, entropy, 1)[0])

    def flip_each(self, logs, entropy):
        """Heads, if that can be."""
        flipped = choices.flip_each(logs, Zeros())
        self.chance *= flipped.chance(0)
        return flipped

    def is_below(self, bits, factor, power, entropy):
        self.coin = (factor, power)
        return True

    def next(self):
        while self.script and self.script[-1] + 1 == self.options[-1]:
            self.script.pop()
            self.options.pop()
        if self.script:
            self.script[-1] += 1
        return bool(self.script)


class Zeros:
    def bits(self, size, more=False):
        return np.zeros(size, np.uint64)


def value(factor, power):
    """factor * exp(power)."""
    number = Decimal(power.numerator) / Decimal(power.denominator)
    return Decimal(factor.numerator) / Decimal(factor.denominator) * number.exp()


def chances_of_lists(built, monkeypatch):
    """For each list, the probability that an attempt returns it; and the largest weight / (C q) of all."""
    ways, found, most = Ways(), defaultdict(Decimal), Decimal(0)
    with monkeypatch.context() as patch:
        patch.setattr(choices, "places", ways.places)
        patch.setattr(decisions, "place", ways.place)
        patch.setattr(envelope, "flip_each", ways.flip_each)
        patch.setattr(envelope, "is_below", ways.is_below)
        more = True
        while more:
            ways.start()
            drawn = built.draw(Zeros(), 1)
            if drawn is not None:
                coin = value(*ways.coin)
                most = max(most, coin)
                found[tuple(map(tuple, drawn))] += value(ways.chance, Fraction(0)) * min(Decimal(1), coin)
            more = ways.next()
    return found, most


def exact_distribution(small, log_length):
    """From the definition: the prior of the length as it is computed, all else in fractions."""
    weights = {}
    for rules, labels in distribution_of_draw(*small).lists:
        left, factor, score = set(range(small.truth.shape[1])), Fraction(1), Fraction(0)
        for rule, label in zip([*rules, None], labels, strict=True):
            part = {j for j in left if rule is None or small.truth[rule, j]}
            left -= part
            factor *= 1 if rule is None else Fraction(float(small.prior.rules[rule]))
            score += sum(Fraction(float(small.counts[label, j])) for j in part)
        weights[rules, labels] = (factor, Fraction(float(log_length[len(rules)])) + Fraction(small.rate) * score)
    top = max(power for _, power in weights.values())
    weights = {x: value(factor, power - top) for x, (factor, power) in weights.items()}
    total = sum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def tiny(seed, longest, n_rules, n_classes=2):
    """Rules that agree, a prior that is not uniform, and class weights for odd seeds."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_rules, 5)) < 0.5
    truth[-1] = truth[0]
    counts = rng.integers(0, 6, (n_classes, 5)).astype(float)
    rules = rng.choice([1.0, 0.3], n_rules)
    rules[-1] = rules[0]
    lengths = tuple(rng.uniform(0.2, 2.0, longest + 1))
    if seed % 2:
        counts *= class_weights({0: 0.1, 1: 1.0, 2: 1 / 3}, np.arange(3))[:n_classes, None]
    return Small(truth, counts, Prior(lengths, rules), float(rng.uniform(0.1, 1.5)))


class MostlyKept(Whim):
    """Decisions at random, of which many lead to the last level."""

    def keep(self, bound):
        return self._rng.random(bound.shape) < 0.85


def built_by_whim(problem, seed, monkeypatch):
    """Bounds that hold and are loose, and the last level in many parts."""
    monkeypatch.setattr(elements, "EDGES", 1)
    monkeypatch.setattr("discreet.private.sampling.problem.ROWS", 1)
    whim = MostlyKept(np.random.default_rng(seed))
    return Envelope(Elements(problem, Loose(problem, Deadline()), whim, Deadline()), Deadline())


SIZES = [(2, 4, 2), (2, 3, 3), (3, 3, 2), (1, 4, 2), (0, 2, 2), (3, 4, 2), (3, 4, 2), (4, 4, 2)]
FIFTY = Decimal(10) ** -50


def worst_difference(small, problem, built, monkeypatch):
    """Of an attempt's distribution from that of real numbers, relatively; and the largest weight / (C q)."""
    with localcontext(prec=DIGITS, Emin=MIN_EMIN):
        found, most = chances_of_lists(built, monkeypatch)
        distribution = exact_distribution(small, problem.log_length)
        assert found.keys() == distribution.keys()
        total = sum(found.values())
        return max(abs(found[x] / total / distribution[x] - 1) for x in distribution), most


@pytest.mark.parametrize("seed", slow_but(range(len(SIZES)), {1, 2, 4, 6}))
def test_all_ways_to_all_lists_multiply_to_the_distribution_in_fifty_digits(seed, monkeypatch):
    small = tiny(seed, *SIZES[seed])
    problem = make_problem(*small)
    built = built_by_whim(problem, seed, monkeypatch)
    assert len(built._elements.last) > 1 or problem.longest < 3
    difference, most = worst_difference(small, problem, built, monkeypatch)
    assert most <= 1
    assert difference < FIFTY


def test_an_order_that_is_drawn_from_all_parents_is_caught(monkeypatch):
    """A broken twin: then there are several ways to a list, through all parts of the last level that have its set.

    The last coin is told of one of them, and would have to be more than certain.
    """
    small = tiny(6, 3, 4)
    problem = make_problem(*small)
    built = built_by_whim(problem, 6, monkeypatch)
    for last in built._elements.last:
        last.parents = range(len(built._elements.levels[-1].sets))
    difference, most = worst_difference(small, problem, built, monkeypatch)
    assert most > 1.5
    assert difference > FIFTY


@pytest.mark.parametrize(
    ("slack", "x", "weighted"),
    slow_but(
        [
            (slack, x, weighted)
            for slack in (-20.0, 0.0, 8.0)
            for x in (1.0, 1e4, 1e7, 1e10)
            for weighted in (False, True)
        ],
        [(-20.0, 1.0, False), (8.0, 1e4, True), (0.0, 1e7, True), (8.0, 1e10, False)],
    ),
)
def test_no_list_weighs_more_than_the_envelope_and_its_margin(slack, x, weighted, monkeypatch):
    """``x`` is epsilon times the number of records; margins hardly cost an attempt."""
    rng = np.random.default_rng(int(math.log(x)))
    counts = np.floor(rng.dirichlet(np.ones(12)).reshape(2, 6) * 3_000_000)
    counts *= class_weights({0: 1.0, 1: 0.7 if weighted else 1.0}, np.arange(2))[:, None]
    small = Small(
        rng.random((4, 6)) < 0.5, counts, Prior((1.0, 0.3, 2.0, 1.0), np.array([1.0, 0.1, 1.0, 1.0])), x / 3e6
    )
    problem = make_problem(*small)
    built = envelope_of(problem, slack)
    assert built._margin < (1e-9 if x < 1e3 else 1e-3 if x < 1e9 else 1.0)
    difference, most = worst_difference(small, problem, built, monkeypatch)
    assert most <= 1
    assert difference < FIFTY


@pytest.mark.parametrize("slack", slow_but([-20.0, 8.0], [8.0]))
def test_one_record_more_than_sixteen_million_changes_no_chance_by_more_than_epsilon(slack, monkeypatch):
    """Not even by the last of fifty digits."""
    rng = np.random.default_rng(3)
    counts = np.floor(rng.dirichlet(np.ones(10)).reshape(2, 5) * 16e6)
    truth, prior, rate = rng.random((4, 5)) < 0.5, Prior((1.0,) * 4, np.array([1.0, 0.3, 1.0, 1.0])), 0.1
    distributions = []
    for more in (0, 1):
        table = counts.copy()
        table[0, 2] += more
        with localcontext(prec=DIGITS, Emin=MIN_EMIN):
            found, _ = chances_of_lists(envelope_of(make_problem(truth, table, prior, rate), slack), monkeypatch)
            total = sum(found.values())
            distributions.append({x: (chance / total).ln() for x, chance in found.items()})
    losses = [abs(distributions[1][x] - distributions[0][x]) for x in distributions[0]]
    assert distributions[0].keys() == distributions[1].keys()
    assert Decimal(rate) * Decimal("0.9") < max(losses) <= Decimal(rate) + FIFTY


class Wobble:
    """Errors of computed numbers, up to a size, that look like chance and are the same for the same number."""

    def __init__(self, size):
        self.size = size

    def __call__(self, numbers, scale=1.0):
        numbers = np.asarray(numbers, np.float64)
        finite = np.where(np.isfinite(numbers), numbers, 0.0)
        return numbers + self.size / scale * np.sin(1e5 * finite)


def all_wrong(wobble, problem, seed, monkeypatch):
    """An envelope of which every logarithm and every bound is off by up to so much."""
    for name in ("log_sum", "log_free"):
        right = getattr(Problem, name)
        monkeypatch.setattr(Problem, name, lambda self, x, right=right: wobble(right(self, x)))
    for name in ("little_more_than_log_sum", "log_sum_exp"):
        right = getattr(elements, name)
        monkeypatch.setattr(elements, name, lambda x, right=right: wobble(right(x)))
        monkeypatch.setattr(envelope, "log_sum_exp", elements.log_sum_exp)
    split, after = elements.best_split_after, Bounds.after_next
    monkeypatch.setattr(elements, "best_split_after", lambda *x: wobble(split(*x), problem.rate))
    monkeypatch.setattr(Bounds, "after_next", lambda self, *x: wobble(after(self, *x), problem.rate))
    made = Elements(problem, Bounds(problem, Deadline()), Whim(np.random.default_rng(seed)), Deadline())
    return Envelope(made, Deadline())


@pytest.mark.parametrize("size", slow_but([0.01, 0.1, 1.0], [0.1]))
@pytest.mark.parametrize(("seed", "draws"), [(0, 400), (2, 0), (5, 0)])
def test_errors_of_any_size_do_not_change_the_distribution_if_the_margin_matches_them(size, seed, draws, monkeypatch):
    small = tiny(seed, *SIZES[seed])
    problem = make_problem(*small)
    built = all_wrong(Wobble(size), problem, seed, monkeypatch)
    built._margin = 0.0
    difference, most = worst_difference(small, problem, built, monkeypatch)
    assert difference > size / 10  # a margin too small is caught
    needed = float(most.ln())
    assert size / 10 < needed < 20 * size
    built._margin = needed + 1e-9
    assert worst_difference(small, problem, built, monkeypatch)[0] < FIFTY
    assert p_value(distribution_of_draw(*small), draws_from(built, SeededEntropy(seed), draws)) > 1e-4


def test_draws_with_a_margin_too_small_are_caught(monkeypatch):
    small = tiny(2, *SIZES[2])
    built = all_wrong(Wobble(1.0), make_problem(*small), 2, monkeypatch)
    built._margin = 0.0
    assert p_value(distribution_of_draw(*small), draws_from(built, SeededEntropy(0), 1_500)) < 1e-4


def test_a_weight_that_would_have_to_be_beyond_all_numbers_still_ends(monkeypatch):
    """Epsilon times records of 10^20: no margin would do, and the last coin is left out."""
    small = tiny(0, *SIZES[0])
    problem = make_problem(*small._replace(rate=1e19))
    built = envelope_of(problem)
    assert built._margin is None
    assert len(list(draws_from(built, SeededEntropy(0), 5))) == 5

"""Two decisions, each with a chance that is known exactly: an index by integer weights, and a coin with chance exp(x)."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from discreet.private.noise import decisions
from discreet.private.noise.decisions import Chances, certain, enclosed, excess, is_below, whole_weights
from discreet.private.noise.entropy import Entropy
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.choices import places

from ..support.exact_distributions import accepted_at_once

ONE = 2**53
DIGITS = 60


class Fixed:
    """Uniform numbers whose first bits are given, and whose further bits are the same pattern again and again."""

    def __init__(self, first, pattern):
        self._first, self._pattern = np.asarray(first, np.uint64), pattern

    def bits(self, size, more=False):
        return np.array([self._pattern], np.uint64) if more else self._first

    @property
    def rest(self):
        """What the further bits add to the number, in units of the last of the first bits."""
        return Fraction(self._pattern, ONE - 1)


def flip(factor, power, entropy):
    """A coin with the chance factor * exp(power)."""
    return is_below(entropy.bits(1), factor, power, entropy)


def exact_log(number):
    """Of a fraction, in 60 digits and some more."""
    with localcontext(Context(prec=DIGITS + 20)):
        return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def fuzzed_coins(n, near, seed):
    """Numbers U, and x some of which are so near to log(U) that floats cannot tell; as (source, x exactly, U < exp(x))."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, ONE, n, dtype=np.uint64)
    source = Fixed(first, int(rng.integers(1, ONE - 1)))
    offsets = rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-45, -1, n)
    close = rng.random(n) < near
    x, below = [], []
    part, whole = source.rest.numerator, source.rest.denominator
    with localcontext(Context(prec=DIGITS + 5)):
        scale = Decimal(whole * ONE).ln()
        for bits, offset, tight in zip(first.tolist(), offsets.tolist(), close.tolist(), strict=True):
            log = Decimal(bits * whole + part).ln() - scale
            exponent = log + Decimal(offset) if tight else Decimal(-40.0 * abs(offset))
            x.append(Fraction(exponent))
            below.append(log < exponent)
    return source, first, x, np.array(below)


@pytest.mark.parametrize(("n", "near"), [(3_000, 0.5), pytest.param(1_000_000, 0.1, marks=pytest.mark.slow)])
def test_coins_agree_with_arithmetic_in_sixty_digits(n, near):
    source, first, x, below = fuzzed_coins(n, near, seed=n)
    floats = np.array([float(exponent) for exponent in x])
    found = [is_below(first[i : i + 1], Fraction(1), exponent, source) for i, exponent in enumerate(x)]
    assert found == below.tolist()
    assert 0.2 < below.mean() < 0.95
    rash = np.log(first * 2.0**-53) < floats  # a twin that trusts its floats
    assert (rash != below).mean() > 0.1 * near


@pytest.mark.parametrize("n", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_choices_agree_with_arithmetic_in_fractions(n):
    """Uniform numbers that fall next to the ends of intervals, and anywhere."""
    rng = np.random.default_rng(n)
    weights = rng.integers(0, 2**40, 1_000) * rng.choice([0, 1, 2**12], 1_000)
    sums = np.cumsum(weights)
    total = int(sums[-1])
    ends = [int(s) * ONE // total for s in rng.choice(sums, n // 2)]
    first = np.append(np.array(ends) + rng.integers(-1, 2, n // 2), rng.integers(0, ONE, n // 2)).clip(0, ONE - 1)
    source = Fixed(first, int(rng.integers(1, ONE - 1)))
    found = places(sums, source, n)
    part, whole = source.rest.numerator, source.rest.denominator
    numbers = np.array([(bits * whole + part) * total // (whole * ONE) for bits in first.tolist()])
    assert (found == np.searchsorted(sums, numbers, "right")).all()
    assert all(
        decisions.place(sums, bits, source) == i for bits, i in zip(first[::100].tolist(), found[::100], strict=True)
    )
    assert (weights[found] > 0).all()


def test_rows_of_weights_are_chosen_from_as_single_ones_are():
    rng = np.random.default_rng(0)
    rows = rng.normal(0.0, 3.0, (50, 7))
    rows[3, 2:5] = -np.inf
    bits = rng.integers(0, ONE, 50)
    found = places(np.cumsum(whole_weights(rows), axis=1), Fixed(bits, 5), 50)
    for row, number, place in zip(rows, bits, found, strict=True):
        assert places(np.cumsum(whole_weights(row)), Fixed([number], 5), 1).tolist() == [place]


def test_more_bits_are_drawn_until_a_number_is_on_one_side():
    sums = np.array([1, 3])
    assert ONE % 3  # a third is between two numbers of 53 bits

    class Third(Fixed):
        """A third, to 106 bits and 159; then less, or more."""

        def __init__(self, last):
            third = 4**100 // 3
            self._chunks = [(third >> 200 - 53 * (i + 1)) % ONE for i in range(3)] + [last]

        def bits(self, size, more=False):
            return np.array([self._chunks.pop(0)], np.uint64)

    assert places(sums, Third(0), 1).tolist() == [0]
    assert places(sums, Third(ONE - 1), 1).tolist() == [1]


@pytest.mark.parametrize("n", [1, 2, 10, 1_000])
def test_integer_weights_are_never_too_small_and_not_much_too_large(n):
    rng = np.random.default_rng(n)
    for spread in (1e-12, 1.0, 30.0, 1e6):
        logs = rng.uniform(-spread, 0.0, n) + rng.choice([0.0, 1e7, -1e3])
        weights = whole_weights(logs)
        unit = Decimal(3 * n) / Decimal(excess(n))
        with localcontext(Context(prec=DIGITS)):
            for log, weight in zip(logs.tolist(), weights.tolist(), strict=True):
                real = unit * (Decimal(log) - Decimal(float(logs.max()))).exp()
                assert real <= weight <= real + 3
        assert int(weights.sum()) < 2**62


def test_what_weighs_nothing_is_never_chosen_and_what_weighs_next_to_nothing_can_be():
    assert whole_weights(np.array([0.0, -np.inf, -1e9])).tolist()[1:] == [0, 2]
    many = np.zeros(1 << 20)
    assert int(whole_weights(many).sum()) < 2**62


def test_choices_have_their_chances_and_say_them():
    entropy = SeededEntropy(0)
    logs = np.log([0.5, 0.3, 0.2])
    found, part = np.zeros(3), set()
    for _ in range(3_000):
        chances = Chances(entropy)
        place = chances.choose(logs)
        found[place] += 1
        part.add((place, chances.chance))
    assert chisquare(found, np.array([0.5, 0.3, 0.2]) * 3_000).pvalue > 1e-3
    assert len(part) == 3
    assert sum(chance for _, chance in part) == 1
    assert all(abs(float(chance) - (0.5, 0.3, 0.2)[place]) < 1e-13 for place, chance in part)


def shares_of(logs, weights, i):
    """What share one of some choices should have by exp(logs), and has by integers."""
    with localcontext(Context(prec=DIGITS)):
        real = [(Decimal(log) - Decimal(float(logs.max()))).exp() for log in logs.tolist()]
        return real[i] / sum(real), Decimal(int(weights[i])) / int(weights.sum())


@pytest.mark.parametrize("spread", [1.0, 20.0, 31.0, 40.0, 1e3])
def test_no_number_is_accepted_at_once_that_is_above_the_ratio_of_the_chances(spread):
    """Of one to three choices, whatever is chosen: with weights that are large, small and 2."""
    rng = np.random.default_rng(int(spread))
    for _ in range(100):
        chosen, ratio = [], Decimal(1)
        for _ in range(rng.integers(1, 4)):
            logs = np.append(rng.uniform(-spread, 0.0, rng.integers(1, 6)), 0.0)
            weights, i = whole_weights(logs), int(rng.integers(len(logs)))
            ideal, has = shares_of(logs, weights, i)
            chosen.append(int(weights[i]))
            ratio *= ideal / has
        for doubt in (0.0, 1e-9, 0.3):
            with localcontext(Context(prec=DIGITS)):
                accepted = accepted_at_once(doubt, chosen)
                assert accepted <= ratio * (-Decimal(doubt)).exp() or accepted == 0
                assert 1 - accepted < Decimal(doubt) + sum(Decimal(5) / w for w in chosen) + Decimal("1e-15")


def test_small_weights_are_never_accepted_at_once_nor_is_anything_with_a_doubt_of_one():
    assert certain(0, 0.0, [5])
    assert not certain(0, 0.0, [2**48, 4])
    assert not certain(0, 0.0, [2**48, 2])
    assert not certain(0, 1.0, [])
    assert not certain(0, math.inf, [2**48])
    assert not certain(0, math.nan, [2**48])  # of lists with no rule left, whose weights are 0 / 0
    assert not certain(ONE - 1, 1e-300, [])


@pytest.mark.parametrize(
    ("factor", "power", "chance"),
    [
        (Fraction(1), Fraction(-1, 3), np.exp(-1 / 3)),
        (Fraction(10**400, 3 * 10**400 + 1), Fraction(1, 2), np.exp(0.5) / 3),
        (Fraction(2**3000), Fraction(-2080), np.exp(3000 * np.log(2) - 2080)),
    ],
)
def test_a_coin_has_its_chance(factor, power, chance):
    entropy = SeededEntropy(1)
    n = 2_000
    heads = sum(flip(factor, power, entropy) for _ in range(n))
    assert binomtest(heads, n, float(chance)).pvalue > 1e-3


def test_what_is_certain_is_certain():
    entropy = Entropy()
    assert all(flip(Fraction(1), Fraction(0), entropy) for _ in range(200))
    assert all(flip(Fraction(3, 2), Fraction(10**9), entropy) for _ in range(200))
    assert not any(flip(Fraction(1), Fraction(-(10**9)), entropy) for _ in range(200))


def test_further_bits_leave_the_other_numbers_of_a_seed_as_they_are():
    entropy, plain = SeededEntropy(3), np.random.default_rng(3)
    for _ in range(5):
        entropy.bits(2, more=True)
        assert entropy.uniform(4).tolist() == plain.random(4).tolist()
        assert (entropy.bits(4) == plain.random(4) * 2.0**53).all()
    assert SeededEntropy(3).bits(9, more=True).tolist() != SeededEntropy(3).bits(9).tolist()
    assert SeededEntropy(3).bits(9, more=True).tolist() == SeededEntropy(3).bits(9, more=True).tolist()


def test_what_a_caller_set_for_decimals_changes_nothing():
    with localcontext(Context(prec=3)) as context:
        context.traps = dict.fromkeys(context.traps, True)
        low, high = enclosed(Fraction(7, 5), Fraction(-1, 3), 50)
    with localcontext(Context(prec=DIGITS)):
        assert low < exact_log(Fraction(7, 5)) - Decimal(1) / 3 < high
        assert high - low < Decimal("3e-50")


@pytest.mark.parametrize(
    ("function", "exactly", "low", "high"),
    [
        (np.exp, Decimal.exp, -690.0, 0.0),
        (np.log, Decimal.ln, 1e-30, 1e3),
        (np.log, Decimal.ln, 1.0, 1.001),
        (np.log1p, lambda x: (1 + x).ln(), 0.0, 1.0),
        (np.vectorize(math.log1p), lambda x: (1 + x).ln(), -1.0 + 2.0**-53, 0.0),
        (np.vectorize(math.log), Decimal.ln, 1.0, 1e300),
    ],
)
def test_exponentials_and_logarithms_are_better_here_than_is_assumed(function, exactly, low, high):
    """8 units in the last place are assumed."""
    rng = np.random.default_rng(0)
    numbers = np.append(rng.uniform(low, high, 5_000), low + (high - low) * 10.0 ** rng.uniform(-25, 0, 5_000))
    with localcontext(Context(prec=DIGITS)):
        for number, found in zip(numbers.tolist(), function(numbers).tolist(), strict=True):
            real = exactly(Decimal(number))
            assert abs(Decimal(found) - real) <= 2 * Decimal(math.ulp(float(real)))

"""Two decisions with exact chances: *which index, in proportion to weights?* and *is U < exp(x)?*; and draws made of them.

What is drawn is weighed in floating point, but no probability depends on how that was rounded:

- An index is chosen by *integers* (``whole_weights``), so that the chance of every choice is a fraction which is known exactly.
- The chances of all choices that led to x multiply to q(x), and the weight p(x) that it should have been drawn by follows from
  counts, as ``factor * exp(power)`` with two fractions. A last coin returns x with probability p(x) / (C q(x)), and otherwise
  everything is drawn again. An attempt returns x with probability q * p / (C q) = p / C, for every x: so the distribution of
  what is returned is that of p, in real numbers, **if only C q >= p everywhere**. C is the computed sum of all weights and a
  margin for rounding (docs/theory/rounding.md); too large a margin costs attempts and nothing else.
- U is a real number. Of its bits as many are drawn as a decision needs, and exp(x) is computed in so many digits.
- The last coin's chance is nearly 1. Where U is below a bound that is known before, p and q need not be computed (``certain``).

**Assumption.** exp and log of NumPy and of ``math`` are off by at most 8 units in the last place. (``decimal`` rounds correctly.)
"""

import math
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import TypeVar

import numpy as np

from .entropy import Array, Bits, Entropy, Integers

Drawn = TypeVar("Drawn")
Choose = Callable[[Array], int]  # an index, given the logarithms of weights
KNOWN = 53  # bits of a uniform number that are drawn at first, and each time that more are needed
LOWEST = -100.0  # logarithms below it weigh 2 units, as does this one


def draw_exactly(
    attempt: Callable[[Choose], Drawn],
    weigh: Callable[[Drawn], tuple[Fraction, Fraction]],
    log_most: Callable[[], float],
    doubt: float,
    entropy: Entropy,
) -> Drawn:
    """What ``attempt`` makes of its choices, in proportion to factor * exp(power), which ``weigh`` gives.

    Different choices must lead to different things. ``log_most`` is the logarithm of C. If it were too small (p > C q for some
    x, which would be a bug), x is returned by each attempt that finds it, and nothing tells. ``doubt``: see ``certain``.
    """
    while True:
        chances = Chances(entropy)
        drawn = attempt(chances.choose)
        bits = entropy.bits(1, more=True)
        if certain(int(bits[0]), doubt, chances.weights):
            return drawn
        factor, power = weigh(drawn)
        if is_below(bits, factor / chances.chance, power - Fraction(log_most()), entropy):
            return drawn


class Chances:
    """Choices by weights. Those that were chosen, and the sums of all weights that they were chosen from, are kept."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self.weights, self._sums = list[int](), list[int]()

    def choose(self, logs: Array) -> int:
        """An index."""
        weights = whole_weights(logs)
        sums = weights.cumsum()
        chosen = place(sums, int(self._entropy.bits(1)[0]), self._entropy)
        self.weights.append(int(weights[chosen]))
        self._sums.append(int(sums[-1]))
        return chosen

    @property
    def chance(self) -> Fraction:
        """Of all choices that were made, together."""
        return Fraction(math.prod(self.weights), math.prod(self._sums))


def certain(bits: int, doubt: float, weights: Iterable[int]) -> bool:
    """Whether a uniform number that begins with these 53 bits is below p / (C q), whatever its other bits, as a bound tells.

    **Lemma.** Let x be chosen with integer weights w_i, and Q be what its chance q would be with the weights e^l themselves. If
    p >= e^(-doubt) C Q, then p / (C q) >= 1 - doubt - (sum of 3 / w_i). *Proof.* By the lemma of ``whole_weights``, of what is
    chosen s e^(l - m) >= (1 - 3 / w_i) w_i, and all s e^(l_j - m) add up to at most the sum of the integers. So Q / q is at least
    the product of all 1 - 3 / w_i, and that at least 1 - sum of 3 / w_i =: 1 - t, if t <= 1; otherwise there is nothing to show.
    And e^(-doubt) (1 - t) >= 1 - doubt - t.  [] How far (bits + 1) / 2^53 is below 1 is computed without error; 4 in place of 3
    makes up for the rounding of the sum, and a ``doubt`` has room for its own (docs/theory/rounding.md, Theorem 29a).
    """
    return math.ldexp(2**KNOWN - 1 - bits, -KNOWN) >= doubt + sum(4.0 / weight for weight in weights)


def whole_weights(logs: Array, top: float | None = None, n: int | None = None) -> Integers:
    """Integers w_i that are nearly in proportion to exp(logs) along the last axis, and never too small for it. Only -inf gets 0.

    **Lemma.** Let there be n, m the largest logarithm and s = 2^K as below. Then s e^(l_i - m) <= w_i <= s e^(l_i - m) + 3, and
    so w_i / (sum of w) >= (e^(l_i) / sum of e^(l_j)) / (1 + ``excess(n)``). *Proof.* The computed exponential is off by less
    than 17 * 2^-53, the error of the difference included (|d| e^d < 1), and K <= 48, so that the product is off by less than
    0.6; rounding down takes off less than 1, and 2 are added. Below LOWEST all of it is less than 1. The sum of e^(l_j - m) is
    at least 1.  [] The sum of all w is below 2^62. They can be had in portions, each with m (``top``) and n of all of them.

    >>> whole_weights(np.log([1.0, 0.5])) - 2
    array([281474976710656, 140737488355328])
    """
    weights = logs - (logs.max(-1, keepdims=True) if top is None else top)
    np.exp(np.maximum(weights, LOWEST, out=weights), out=weights)
    weights *= unit(logs.shape[-1] if n is None else n)
    found: Integers = weights.astype(np.int64)
    found += 2
    found[logs == -np.inf] = 0
    return found


def excess(n: int) -> float:
    """By how much integer weights may exceed the weights of n things, as a part of the sum of these."""
    return 3.0 * n / unit(n)


def unit(n: int) -> float:
    """What the largest of n weights is, but for 2 or 3."""
    return 2.0 ** min(48, 61 - n.bit_length())


def place(sums: Integers, bits: int, entropy: Entropy) -> int:
    """Where a real uniform number that begins with these 53 bits falls among cumulated sums, times the last of them.

    The bits say in which interval it lies; where that is not within one place, more are drawn. So all chances are exact.
    """
    known, total = KNOWN, int(sums[-1])
    while True:
        first = int(sums.searchsorted(bits * total >> known, "right"))
        if ((bits + 1) * total - 1) >> known < sums[first]:
            return first
        bits, known = _more(bits, entropy), known + KNOWN


def _more(bits: int, entropy: Entropy) -> int:
    """A number with as many bits more."""
    return bits << KNOWN | int(entropy.bits(1, more=True)[0])


def is_below(bits: Bits, factor: Fraction, power: Fraction, entropy: Entropy) -> bool:
    """Whether a real uniform number, of which the first 53 bits are given, is below factor * exp(power).

    Both ends of the interval in which the number lies are compared with both ends of one in which that does, as logarithms, and
    more bits and digits are asked for until they agree. (Where it is above 1, the answer is yes.)
    """
    number, known, digits = int(bits[0]), KNOWN, 26
    while True:
        least, most = enclosed(factor, power, digits)
        with localcontext(Context(prec=digits + 10, traps=[])):  # whatever a caller has set
            slack, scale = Decimal(10) ** -digits, known * Decimal(2).ln()
            if Decimal(number + 1).ln() - scale + slack <= least:
                return True
            if number and Decimal(number).ln() - scale - slack >= most:
                return False
        number, known, digits = _more(number, entropy), known + KNOWN, digits + 16


def enclosed(factor: Fraction, power: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Two numbers between which log(factor) + power is, 2 * 10^-digits apart.

    >>> low, high = enclosed(Fraction(2), Fraction(1, 3), 30)
    >>> print(f"{low:.25f} {high - low:.0e}")
    1.0264805138932786427505655 2e-30
    """
    size = factor.numerator.bit_length() + factor.denominator.bit_length() + abs(int(power))
    # so five roundings are together below 10^-digits
    with localcontext(Context(prec=digits + len(str(size)) + 5, traps=[])):
        logs = Decimal(factor.numerator).ln() - Decimal(factor.denominator).ln()
        x, slack = logs + Decimal(power.numerator) / Decimal(power.denominator), Decimal(10) ** -digits
        return x - slack, x + slack

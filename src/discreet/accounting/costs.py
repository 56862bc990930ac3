"""What a release reveals, as values: a list of costs, each of one answer that was drawn with noise. Amounts are exact fractions.

All of them are about one person, who comes or goes with all of his or her records, and say how the privacy loss
``L = log(P(answer | with) / P(answer | without))`` is bounded:

    pure                 L is in [-e, e]
    discrete laplace     the same, of counts with discrete Laplace noise, which other tools know by that name
    bounded range        L is in an interval of width e, wherever that lies; so in [-e, e], too (docs/theory/accounting.md)
    concentrated         rho-zCDP, for the largest rho that is (e, delta)-DP: noise with a normal tail
    approximate          (e, delta)-DP: all that is proved about some of the published methods
    nothing proved       no bound

Each knows its plain (epsilon, delta), and its rho: it is (delta-approximately) rho-zCDP, with rho rounded up to 30 decimals:
``e tanh(e/2)`` for what is pure, ``e^2/8`` for a bounded range (Theorems 31 and 32). Of what is concentrated it is ``rho_of(e,
delta)``, which is rounded down: a mechanism has to keep to that number, with noise that is rounded up.

**Theorem 33** (Canonne, Kamath, Steinke 2020). What is rho-zCDP is (epsilon, delta)-DP with, for every a > 1,

    log delta = (a - 1) (a rho - epsilon) - log(a - 1) + a log(1 - 1/a).

So whichever a is taken, the answer holds: a good one is found in floating point, and the formula then computed in 50 digits and
rounded to the side that claims less, by more than what 50 digits can be off. docs/theory/accounting.md has the proof.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .._utils.parameters import as_written, finite_number

LARGEST = 10**300  # of a budget: sums of these are still numbers that can be shown
LONGEST = 1000  # characters of an amount
FINEST = 10**300  # sums of more characters than that are rounded up, to a multiple of 1/FINEST
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError)
PURE, DISCRETE_LAPLACE, BOUNDED_RANGE = "pure", "discrete laplace", "bounded range"
CONCENTRATED, APPROXIMATE, UNPROVED = "concentrated", "approximate", "nothing proved"
KINDS = (PURE, DISCRETE_LAPLACE, BOUNDED_RANGE, CONCENTRATED, APPROXIMATE, UNPROVED)
FINEST_RHO = 10**30
MOST_TIMES = 10**9
LARGE = Fraction(1000)  # of which exp is nobody's business any more
NONE = Fraction(0)
CONTEXT = Context(prec=50, Emax=10**9, Emin=-(10**9))
MARGIN = Fraction(1, 10**30)  # relative to the largest term; rounding errors are below 10^-45 of it
DIGITS = 10**15  # answers are multiples of this part of one
UP, LEAST = Context(prec=20, rounding=ROUND_CEILING), Fraction(-690)  # of delta, and of its logarithm
# The terms of a sum by a, what takes logarithms, and log(1 - 1/a): roughly in floating point, and exactly
Terms = Callable[[Any, Callable[[Any], Any], Any], tuple[Any, ...]]


def exact(name: str, value: Any) -> Fraction:
    """A budget as a fraction: decimals as they are written (0.1 is 1/10), zero allowed."""
    number = value if isinstance(value, Fraction) else as_written(finite_number(name, value))
    above, below = number.numerator, number.denominator  # integers compare faster than fractions
    if abs(above) > LARGEST * below or len(f"{abs(above):x}{below:x}") > 400:
        raise ValueError(f"{name} is a number of too many digits")
    if above < 0 or (name == "delta" and number >= 1):
        raise ValueError(f"{name} must be {'in [0, 1)' if name == 'delta' else 'at least 0'}, not {value!r}")
    return number


def read_amount(text: Any, largest: int = LARGEST) -> Fraction:
    """What ``str`` made of a fraction. What cannot be read raises one of ``UNREADABLE``."""
    if not isinstance(text, str) or len(text) > LONGEST or "e" in text.lower():
        raise ValueError
    number = Fraction(text)
    if not 0 <= number <= largest or len(str(number)) > LONGEST:
        raise ValueError
    return number


def read_pair(data: Any) -> tuple[Fraction, Fraction]:
    """An epsilon and a delta."""
    epsilon, delta = data
    return read_amount(epsilon), read_amount(delta)


def added(total: Fraction, amount: Fraction) -> Fraction:
    """The sum, exact as long as it can be written down; else a little more, never less.

    >>> added(Fraction(1, 3), Fraction(1, 6))
    Fraction(1, 2)
    """
    both = total + amount
    short = len(f"{both.numerator:x}{both.denominator:x}") < LONGEST // 2
    return both if short else Fraction(-(-both * FINEST // 1), FINEST)


@dataclass(frozen=True)
class Cost:
    """Of ``times`` answers of one kind, one after the other.

    >>> Cost("bounded range", Fraction(1, 10)).rho
    Fraction(1, 800)
    >>> Cost("pure", Fraction(1, 10), times=3).plain
    (Fraction(3, 10), Fraction(0, 1))
    >>> round(float(Cost("concentrated", Fraction(3), Fraction(1, 10**6)).rho), 4)
    0.1851
    """

    kind: str
    epsilon: Fraction = NONE
    delta: Fraction = NONE
    times: int = 1

    def __post_init__(self) -> None:
        # a negative cost would give budget back, and one that is not a number nothing can be compared with
        for name in ("epsilon", "delta"):
            if not isinstance(amount := getattr(self, name), Fraction) or amount < 0:
                object.__setattr__(self, name, exact(f"the {name} of a cost", amount))
        often = isinstance(self.times, int) and not isinstance(self.times, bool) and 1 <= self.times <= MOST_TIMES
        possible = self.delta <= 1 if self.kind in (APPROXIMATE, CONCENTRATED) else not self.delta
        possible &= not self.epsilon if self.kind == UNPROVED else self.kind in KINDS
        if not often or not possible or (self.kind == CONCENTRATED and not (0 < self.delta < 1 and self.rho > 0)):
            raise ValueError(
                f"a cost must be of one of the kinds {', '.join(KINDS)}, at least once, with a delta of at most 1 if it is "
                f"{APPROXIMATE}, between 0 and 1 if it is {CONCENTRATED}, and of 0 else"
            )

    @property
    def plain(self) -> tuple[Fraction, Fraction]:
        """The sum of epsilons, and that of deltas; of what is not proved, nothing."""
        return self.times * self.epsilon, self.times * self.delta

    @property
    def rho(self) -> Fraction:
        """Of all the answers together; of what is not proved, nothing."""
        if self.kind == CONCENTRATED:
            return self.times * rho_of(self.epsilon, self.delta)
        pure = rho_of_pure(self.epsilon)
        return self.times * (min(_rounded_up(self.epsilon**2 / 8), pure) if self.kind == BOUNDED_RANGE else pure)

    def for_person(self, records: int) -> "Cost":
        """From what one record costs to what a person with so many of them does: a chain of tables, one record at a time.

        Losses add up along the chain, and so do the widths of intervals: epsilon grows k-fold, and so rho k^2-fold. Of an
        (epsilon, delta) pair each step multiplies the delta so far by e^epsilon and adds one (rounded up), and what was
        concentrated is no more than that pair.

        >>> Cost("bounded range", Fraction(1, 10)).for_person(3).rho == 9 * Fraction(1, 800)
        True
        """
        if records == 1:
            return self
        whole, delta = records * self.epsilon, self.delta
        if delta and whole > LARGE:
            delta = Fraction(1)
        elif delta:
            steps = (_exp(whole)[1] - 1) / max(self.epsilon, _exp(self.epsilon)[0] - 1) if whole else Fraction(records)
            delta = min(Fraction(1), _in_20_digits(delta * steps))
        kind = APPROXIMATE if self.kind == CONCENTRATED else self.kind
        return replace(self, kind=kind, epsilon=whole, delta=delta)

    def to_list(self) -> list[Any]:
        """As JSON has it."""
        return [self.kind, str(self.epsilon), str(self.delta), self.times]

    @classmethod
    def from_list(cls, data: Any) -> "Cost":
        """What ``to_list`` made. What cannot be read raises one of ``UNREADABLE``."""
        kind, epsilon, delta, times = data
        return cls(kind, read_amount(epsilon), read_amount(delta, 1), times)


NOTHING_PROVED = (Cost(UNPROVED),)


def pair(epsilon: Fraction, delta: Fraction) -> tuple[Cost, ...]:
    """The costs of a release about which a pair is proved, and no more is known."""
    return (Cost(APPROXIMATE, epsilon, delta) if delta else Cost(PURE, epsilon),)


def repeated(kind: str, epsilon: Fraction, times: int) -> tuple[Cost, ...]:
    """So many answers of one kind. Those that cost nothing are none."""
    return (Cost(kind, epsilon, times=times),) if times and epsilon else ()


def is_proved(costs: Iterable[Cost]) -> bool:
    """Whether something is proved about all of them."""
    return all(cost.kind != UNPROVED for cost in costs)


def plain_sum(costs: Iterable[Cost]) -> tuple[Fraction, Fraction]:
    """What they come to by addition: (epsilon, delta)."""
    pairs = [cost.plain for cost in costs]
    return sum((e for e, _ in pairs), NONE), sum((d for _, d in pairs), NONE)


def rho_sum(costs: Iterable[Cost]) -> Fraction:
    """What they come to in zCDP."""
    return sum((cost.rho for cost in costs), NONE)


def for_person(costs: Sequence[Cost], records: int) -> tuple[Cost, ...]:
    """The costs of a person with so many records, from those of one record."""
    return tuple(cost.for_person(records) for cost in costs)


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """``e tanh(e/2)``, rounded up; never above ``e^2 / 2``."""
    if epsilon > LARGE:
        return _rounded_up(epsilon)
    tanh = 1 - 2 / (_exp(epsilon)[1] + 1)  # of e/2
    return _rounded_up(min(epsilon**2 / 2, epsilon * tanh))


def _rounded_up(value: Fraction) -> Fraction:
    """To 30 decimals."""
    return Fraction(-(-value * FINEST_RHO // 1), FINEST_RHO)


def _exp(power: Fraction) -> tuple[Fraction, Fraction]:
    """exp of a number from 0 to LARGE, a little less and a little more: ``decimal`` rounds correctly, to 60 digits."""
    number = Decimal(power.numerator), Decimal(power.denominator)
    down, up = Context(prec=60, rounding=ROUND_FLOOR), Context(prec=60, rounding=ROUND_CEILING)
    below, above = (context.exp(context.divide(*number)) for context in (down, up))
    return Fraction(down.next_minus(below)), Fraction(up.next_plus(above))


@lru_cache(maxsize=64)  # a cost is asked for it again and again
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho that is (epsilon, delta)-DP, rounded down.

    >>> round(float(rho_of(Fraction(3), Fraction(1, 10**6))), 4)
    0.1851
    """
    least = lowest(lambda a, log, last: (-epsilon, -(log(delta) + log(a)) / (a - 1), last), over_order=True)
    return max(NONE, -least)


def delta_of(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The delta at this epsilon, rounded up to 20 digits, so that it can be written down; 1 at most, and not below 10^-300.

    >>> float(delta_of(Fraction(1, 1000), Fraction(3))) <= 1e-299
    True
    """
    if rho == 0:
        return NONE
    log_delta = lowest(lambda a, log, last: ((a - 1) * (a * rho - epsilon), -log(a - 1), a * last))
    if log_delta >= 0:
        return Fraction(1)
    found = Fraction(CONTEXT.exp(_decimal(max(log_delta, LEAST)))) * (1 + MARGIN)
    return min(Fraction(1), _in_20_digits(found))


def _in_20_digits(value: Fraction) -> Fraction:
    """Rounded up, so that it can be written down."""
    return Fraction(UP.divide(Decimal(value.numerator), Decimal(value.denominator)))


def lowest(terms: Terms, over_order: bool = False) -> Fraction:
    """A little more than the sum of the terms, over ``a`` if so, about where it is lowest; with fewer digits.

    It has one valley, which is found by golden sections in log(a - 1).
    """
    low, high, ratio = -30.0, 60.0, (math.sqrt(5) - 1) / 2

    def at(x: float) -> float:
        a = 1 + math.exp(x)
        return float(sum(terms(a, _rough_log, math.log1p(-1 / a)))) / (a if over_order else 1)

    for _ in range(90):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if at(left) <= at(right) else (left, high)
    a = Fraction(1 + math.exp((low + high) / 2))
    exactly = [term / (a if over_order else 1) for term in terms(a, _log, _log(1 - 1 / a))]
    more = sum(exactly, NONE) + MARGIN * (1 + max(abs(term) for term in exactly))
    return Fraction(-(-more * DIGITS // 1), DIGITS)


def _rough_log(value: float | Fraction) -> float:
    return math.log(value) if isinstance(value, float) else float(_log(value))


@lru_cache(maxsize=8)  # of one delta it is asked for again and again
def _log(value: Fraction) -> Fraction:
    return Fraction(CONTEXT.ln(_decimal(value)))


def _decimal(value: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))

"""What a release reveals, as values: a list of costs, each of one answer that was drawn with noise.

All of them are about one person, who comes or goes with all of his or her records, and say how the privacy loss
``L = log(P(answer | with) / P(answer | without))`` is bounded:

    pure                 L is in [-e, e]
    discrete laplace     the same, of counts with discrete Laplace noise, which other tools know by that name
    bounded range        L is in an interval of width e, wherever that lies; so in [-e, e], too (docs/theory.md, section 14)
    approximate          (e, delta)-DP: all that is proved about some of the published methods
    nothing proved       no bound

Each knows its plain (epsilon, delta), and its rho: it is (delta-approximately) rho-zCDP, with rho rounded up to 30 decimals:
``e tanh(e/2)`` for what is pure, ``e^2/8`` for a bounded range (Theorems 31 and 32).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from .amounts import read_amount

PURE, DISCRETE_LAPLACE, BOUNDED_RANGE = "pure", "discrete laplace", "bounded range"
APPROXIMATE, UNPROVED = "approximate", "nothing proved"
KINDS = (PURE, DISCRETE_LAPLACE, BOUNDED_RANGE, APPROXIMATE, UNPROVED)
FINEST_RHO = 10**30
MOST_TIMES = 10**9
LARGE = Fraction(1000)  # of which exp is nobody's business any more
NONE = Fraction(0)


@dataclass(frozen=True)
class Cost:
    """Of ``times`` answers of one kind, one after the other.

    >>> Cost("bounded range", Fraction(1, 10)).rho
    Fraction(1, 800)
    >>> Cost("pure", Fraction(1, 10), times=3).plain
    (Fraction(3, 10), Fraction(0, 1))
    """

    kind: str
    epsilon: Fraction = NONE
    delta: Fraction = NONE
    times: int = 1

    @property
    def plain(self) -> tuple[Fraction, Fraction]:
        """The sum of epsilons, and that of deltas; of what is not proved, nothing."""
        return self.times * self.epsilon, self.times * self.delta

    @property
    def rho(self) -> Fraction:
        """Of all the answers together; of what is not proved, nothing."""
        if self.kind == BOUNDED_RANGE:
            return self.times * min(rounded_up(self.epsilon**2 / 8), rho_of_pure(self.epsilon))
        return self.times * rho_of_pure(self.epsilon)

    def for_person(self, records: int) -> "Cost":
        """From what one record costs to what a person with so many of them does: a chain of tables, one record at a time.

        Losses add up along the chain, and so do the widths of intervals: epsilon grows k-fold, and so rho k^2-fold. Of an
        (epsilon, delta) pair each step multiplies the delta so far by e^epsilon and adds one (rounded up).

        >>> Cost("bounded range", Fraction(1, 10)).for_person(3).rho == 9 * Fraction(1, 800)
        True
        """
        delta = self.delta
        if delta and records > 1:
            whole = records * self.epsilon
            steps = Fraction(records)
            if whole:
                steps = (_exp(min(whole, LARGE))[1] - 1) / max(self.epsilon, _exp(min(self.epsilon, LARGE))[0] - 1)
            delta = Fraction(1) if whole > LARGE or delta * steps >= 1 else rounded_up(delta * steps)
        return replace(self, epsilon=records * self.epsilon, delta=delta)

    def to_list(self) -> list[Any]:
        """As JSON has it."""
        return [self.kind, str(self.epsilon), str(self.delta), self.times]

    @classmethod
    def from_list(cls, data: Any) -> "Cost":
        """What ``to_list`` made. What cannot be read raises an error of ``amounts.UNREADABLE``."""
        kind, epsilon, delta, times = data
        if kind not in KINDS or isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
            raise ValueError
        found = cls(kind, read_amount(epsilon), read_amount(delta, 1), times)
        if (found.delta and kind != APPROXIMATE) or (found.epsilon and kind == UNPROVED):
            raise ValueError
        return found


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
        return rounded_up(epsilon)
    tanh = 1 - 2 / (_exp(epsilon)[1] + 1)  # of e/2
    return rounded_up(min(epsilon**2 / 2, epsilon * tanh))


def rounded_up(value: Fraction) -> Fraction:
    """To 30 decimals."""
    return Fraction(-(-value * FINEST_RHO // 1), FINEST_RHO)


def _exp(power: Fraction) -> tuple[Fraction, Fraction]:
    """exp of a number from 0 to LARGE, a little less and a little more: ``decimal`` rounds correctly, to 60 digits."""
    number = Decimal(power.numerator), Decimal(power.denominator)
    down, up = Context(prec=60, rounding=ROUND_FLOOR), Context(prec=60, rounding=ROUND_CEILING)
    below, above = (context.exp(context.divide(*number)) for context in (down, up))
    return Fraction(down.next_minus(below)), Fraction(up.next_plus(above))

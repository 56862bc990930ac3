"""Between zCDP and (epsilon, delta): rho to epsilon, rho to delta, and the largest rho that an (epsilon, delta) has room for.

**Theorem 33** (Canonne, Kamath, Steinke 2020). What is rho-zCDP is (epsilon, delta)-DP with, for every a > 1,

    log delta = (a - 1) (a rho - epsilon) - log(a - 1) + a log(1 - 1/a).

So whichever a is taken, the answer holds: a good one is found in floating point, and the formula then computed in 50 digits and
rounded to the side that claims less, by more than what 50 digits can be off. docs/theory.md, section 14, has the proof.
"""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

CONTEXT = Context(prec=50, Emax=10**9, Emin=-(10**9))
MARGIN = Fraction(1, 10**30)  # relative to the largest term; rounding errors are below 10^-45 of it
DIGITS = 10**15  # answers are multiples of this part of one
UP, LEAST = Context(prec=20, rounding=ROUND_CEILING), Fraction(-690)  # of delta, and of its logarithm


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon at this delta, rounded up.

    >>> round(float(epsilon_of(Fraction(1, 8), Fraction(1, 10**6))), 4)
    2.4191
    """
    if rho == 0:
        return Fraction(0)
    log_delta = float(_log(delta))

    def at(a: float) -> float:
        return a * float(rho) - (log_delta + math.log(a)) / (a - 1) + math.log1p(-1 / a)

    a = Fraction(_lowest(at))
    terms = (a * rho, -(_log(delta) + _log(a)) / (a - 1), _log(1 - 1 / a))
    return max(Fraction(0), _up(sum(terms, Fraction(0)), terms))


def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho that is (epsilon, delta)-DP, rounded down.

    >>> rho = rho_of(Fraction(3), Fraction(1, 10**6))
    >>> epsilon_of(rho, Fraction(1, 10**6)) <= 3 + Fraction(1, 10**9)
    True
    """
    log_delta = float(_log(delta))

    def at(a: float) -> float:
        return -(float(epsilon) + (log_delta + math.log(a)) / (a - 1) - math.log1p(-1 / a)) / a

    a = Fraction(_lowest(at))
    terms = (epsilon / a, (_log(delta) + _log(a)) / (a - 1) / a, -_log(1 - 1 / a) / a)
    return max(Fraction(0), -_up(-sum(terms, Fraction(0)), terms))


def delta_of(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The delta at this epsilon, rounded up to 20 digits, so that it can be written down; 1 at most, and not below 10^-300.

    >>> float(delta_of(Fraction(1, 1000), Fraction(3))) <= 1e-299
    True
    """
    if rho == 0:
        return Fraction(0)

    def at(a: float) -> float:
        return (a - 1) * (a * float(rho) - float(epsilon)) - math.log(a - 1) + a * math.log1p(-1 / a)

    a = Fraction(_lowest(at))
    terms = ((a - 1) * (a * rho - epsilon), -_log(a - 1), a * _log(1 - 1 / a))
    log_delta = _up(sum(terms, Fraction(0)), terms)
    if log_delta >= 0:
        return Fraction(1)
    log_delta = max(log_delta, LEAST)
    found = Fraction(CONTEXT.exp(_decimal(log_delta))) * (1 + MARGIN)
    return min(Fraction(1), Fraction(UP.divide(Decimal(found.numerator), Decimal(found.denominator))))


def _lowest(function: Callable[[float], float]) -> float:
    """About where a function of a > 1 is lowest: it has one valley. Golden sections in log(a - 1)."""
    low, high, ratio = -30.0, 60.0, (math.sqrt(5) - 1) / 2

    def at(x: float) -> float:
        return function(1 + math.exp(x))

    for _ in range(90):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if at(left) <= at(right) else (left, high)
    return 1 + math.exp((low + high) / 2)


def _log(value: Fraction) -> Fraction:
    return Fraction(CONTEXT.ln(_decimal(value)))


def _decimal(value: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _up(value: Fraction, terms: tuple[Fraction, ...]) -> Fraction:
    """A little more than a sum of these terms, with fewer digits."""
    more = value + MARGIN * (1 + max(abs(term) for term in terms))
    return Fraction(-(-more * DIGITS // 1), DIGITS)

"""What several releases come to together: by addition, by zCDP, and by numerical composition of their privacy losses.

All hold for releases whose budgets were fixed beforehand. If they were chosen by looking at earlier results, what holds is what a
ledger refuses to exceed: its whole budget (``budget_request.py``). Numerical composition only reports.

**Theorem 33** (Canonne, Kamath, Steinke 2020). What is rho-zCDP is (epsilon, delta)-DP with, for every a > 1,

    log delta = (a - 1) (a rho - epsilon) - log(a - 1) + a log(1 - 1/a).

So whichever a is taken, the answer holds: a good one is found in floating point, and the formula then computed in 50 digits and
rounded to the side that claims less, by more than what 50 digits can be off. docs/theory.md, section 14, has the proof.

**Numerical composition**, with Google's dp-accounting. Every cost is replaced by one that is at least as bad, whose loss has a
distribution that can be written down (docs/theory.md, section 14):

    pure, approximate    randomised response: loss e with chance 1 / (1 + exp(-e)), else -e (of what is approximate, up to delta)
    discrete laplace     a number that moves by as many steps as a person has records
    bounded range        a loss with density in proportion to exp(L/2) on [-e, e] (Lemma 35)

Losses are rounded up to a grid. dp-accounting composes by Fourier transforms in floating point: its deltas were seen to be up to
1e-13 too small, and so a delta is asked for that is smaller by a thousand times that. That is a margin, and no proof.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from .costs import APPROXIMATE, BOUNDED_RANGE, DISCRETE_LAPLACE, Cost, rounded_up

CONTEXT = Context(prec=50, Emax=10**9, Emin=-(10**9))
MARGIN = Fraction(1, 10**30)  # relative to the largest term; rounding errors are below 10^-45 of it
DIGITS = 10**15  # answers are multiples of this part of one
UP, LEAST = Context(prec=20, rounding=ROUND_CEILING), Fraction(-690)  # of delta, and of its logarithm
ADDITION, BY_ZCDP, NUMERICAL = "addition", "zCDP", "numerical composition"
COARSEST_STEP, FINEST_STEP, MOST_STEPS = 1e-4, 1e-7, 500_000
LOST = Fraction(1, 10**10)  # of delta, for what Fourier transforms lose
LARGEST_SUM = 100  # sums above this are left as they are: they protect nobody


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


@dataclass(frozen=True)
class Total:
    """An epsilon at a delta, and what it was computed by.

    >>> Total(Fraction(3, 10), Fraction(0), ADDITION)
    epsilon 0.3 at delta 0, by addition, if all budgets were fixed beforehand, and none by looking at earlier results
    """

    epsilon: Fraction
    delta: Fraction
    by: str

    def __repr__(self) -> str:
        said = f"epsilon {rounded_up(self.epsilon, 6)} at delta {rounded_up(self.delta, 3)}, by {self.by}"
        return f"{said}, if all budgets were fixed beforehand, and none by looking at earlier results"


def least(plain: tuple[Fraction, Fraction], rho: Fraction, delta: Fraction) -> Total | None:
    """What is proved at this delta, of releases with this plain sum and this rho; None if they need a larger delta.

    >>> found = least((Fraction(10), Fraction(0)), Fraction(1, 8), Fraction(1, 10**6))
    >>> round(float(found.epsilon), 3), found.by
    (2.419, 'zCDP')
    """
    if plain[1] > delta:
        return None
    found = Total(plain[0], delta, ADDITION)
    if delta > plain[1]:  # what the releases need themselves is taken off before
        epsilon = epsilon_of(rho, delta - plain[1])
        if epsilon < found.epsilon:
            found = Total(epsilon, delta, BY_ZCDP)
    return found


class NotInstalled(ImportError):
    """dp-accounting is not there."""


def epsilon_by_composition(releases: Iterable[tuple[tuple[Cost, ...], int]], delta: Fraction) -> Fraction:
    """The epsilon at this delta of releases, each with its costs and the number of records that a person may have."""
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        raise NotInstalled("numerical composition needs dp-accounting: pip install 'discreet[accounting]'") from None
    counted: Counter[tuple[str, Fraction, int]] = Counter()
    plain, left = Fraction(0), delta
    for costs, records in releases:
        for cost in costs:
            kind = DISCRETE_LAPLACE if cost.kind == APPROXIMATE else cost.kind
            if cost.epsilon:
                counted[kind, cost.epsilon, records if cost.kind == DISCRETE_LAPLACE else 1] += cost.times
            plain, left = plain + cost.plain[0], left - cost.plain[1]
    left -= LOST
    if left <= 0 or not counted or plain > LARGEST_SUM:
        return plain
    step = _step(float(plain), min(float(e) for _, e, _ in counted))
    whole: Any = None
    for (kind, epsilon, records), times in counted.items():
        one = _distribution(pld, kind, float(epsilon), records, step).self_compose(times)
        whole = one if whole is None else whole.compose(one)
    found = float(whole.get_epsilon_for_delta(float(left)))
    return min(plain, Fraction(found)) if math.isfinite(found) else plain


def _step(plain: float, smallest: float) -> float:
    """Of the grid: fine enough for the smallest cost, and not so fine that all of them take too long."""
    return max(min(COARSEST_STEP, smallest / 100), plain / MOST_STEPS, FINEST_STEP)


def _distribution(pld: Any, kind: str, epsilon: float, records: int, step: float) -> Any:
    if kind == BOUNDED_RANGE:
        return pld.PrivacyLossDistribution.create_from_rounded_probability(bounded_range(epsilon, step), 0.0, step)
    return pld.from_discrete_laplace_mechanism(epsilon / records, records, value_discretization_interval=step)


def bounded_range(epsilon: float, step: float) -> dict[int, float]:
    """The loss of Lemma 35, rounded up to the grid: the chance of each multiple of the step."""
    last = math.ceil(epsilon / step)
    up_to = [_distribution_function(min(i * step, epsilon), epsilon) for i in range(-last, last + 1)]
    chances = {i: up_to[i + last] - up_to[i + last - 1] for i in range(-last + 1, last + 1)}
    return {-last: up_to[0]} | chances


def _distribution_function(loss: float, epsilon: float) -> float:
    """The chance of a loss of at most this: ``(exp(L/2) - exp(-e/2)) / (exp(e/2) - exp(-e/2))``."""
    return math.expm1(max(0.0, loss + epsilon) / 2) / math.expm1(epsilon)

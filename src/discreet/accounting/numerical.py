"""What releases come to by numerical composition of their privacy losses, with Google's dp-accounting. It only reports.

Every cost is replaced by one that is at least as bad, whose loss has a law that can be written down (docs/theory.md, section 14):

    pure, approximate    randomised response: loss e with chance 1 / (1 + exp(-e)), else -e (of what is approximate, up to delta)
    discrete laplace     a number that moves by as many steps as a person has records
    bounded range        a loss with density in proportion to exp(L/2) on [-e, e] (Lemma 35)

Losses are rounded up to a grid. Budgets are taken as given: that one was chosen by looking at earlier results is not covered.
dp-accounting composes by Fourier transforms in floating point: its deltas were seen to be up to 1e-13 too small, and so a delta
is asked for that is smaller by a thousand times that. That is a margin, and no proof.
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from .costs import APPROXIMATE, BOUNDED_RANGE, DISCRETE_LAPLACE, Cost

COARSEST, FINEST, MOST_STEPS = 1e-4, 1e-7, 500_000
MARGIN = Fraction(1, 10**10)  # of delta, for what Fourier transforms lose
LARGEST = 100  # sums above this are left as they are: they protect nobody


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
            if cost.epsilon:
                counted[_law(cost.kind), cost.epsilon, records if cost.kind == DISCRETE_LAPLACE else 1] += cost.times
            plain, left = plain + cost.plain[0], left - cost.plain[1]
    left -= MARGIN
    if left <= 0 or not counted or plain > LARGEST:
        return plain
    step = _step(float(plain), min(float(e) for _, e, _ in counted))
    whole: Any = None
    for (kind, epsilon, records), times in counted.items():
        one = _distribution(pld, kind, float(epsilon), records, step).self_compose(times)
        whole = one if whole is None else whole.compose(one)
    found = float(whole.get_epsilon_for_delta(float(left)))
    return min(plain, Fraction(found)) if math.isfinite(found) else plain


def _law(kind: str) -> str:
    return DISCRETE_LAPLACE if kind == APPROXIMATE else kind


def _step(plain: float, smallest: float) -> float:
    """Of the grid: fine enough for the smallest cost, and not so fine that all of them take too long."""
    return max(min(COARSEST, smallest / 100), plain / MOST_STEPS, FINEST)


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

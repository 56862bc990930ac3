"""Whether a ledger takes one more release. What is refused may depend on budgets alone, which are public.

Whoever asks for releases may choose each after having seen the ones before, its budget included. So what decides must be a
*filter*: it holds for every such strategy. Two are used, and what **either** of them takes is taken (docs/theory.md, Theorem 34):

    addition   the sum of all epsilons is within epsilon
    zCDP       the sum of all rhos is within a rho that was fixed when the ledger was made, and that is (epsilon, rho_delta)-DP

In both cases the deltas of the releases add up to no more than ``delta - rho_delta``. Then everything together is (epsilon,
delta)-DP. Numerical composition (``numerical.py``) is no filter, and decides nothing.
"""

from fractions import Fraction

from .costs import Cost, is_proved, plain_sum
from .entries import Totals, Whole, rho_charged
from .reservation import BudgetError

Pair = tuple[Fraction, Fraction]


class NoDeltaError(BudgetError):
    """A release that needs a delta, for a ledger that was made without one."""


def refuse_more_than_left(whole: Whole, totals: Totals, asked: Pair, costs: tuple[Cost, ...]) -> None:
    """Raise BudgetError if the release may not be taken. Of what is not proved, what is asked for is counted."""
    proved, rho = plain_sum(costs), rho_charged(costs, asked[0])
    within_rho = whole.rho is not None and totals.rho + rho <= whole.rho
    sums = [("", asked, (totals.epsilon, totals.delta))]
    if is_proved(costs):
        sums.append((" of what is proved", proved, (totals.proved_epsilon, totals.proved_delta)))
    for kind, (epsilon, delta), spent in sums:
        left = whole.epsilon - spent[0], whole.delta_for_releases - spent[1]
        if (epsilon > left[0] and not within_rho) or delta > left[1]:
            message = (
                f"the ledger has epsilon {_shown(left[0], whole)} and delta {float(left[1]):.6g} left{kind}, "
                f"this needs epsilon {float(epsilon):.6g} and delta {float(delta):.6g}"
            )
            if whole.rho is not None:
                message += (
                    f"; in zCDP it has rho {_shown(whole.rho - totals.rho, whole)} left, this needs {float(rho):.6g}"
                )
            if delta and not whole.delta_for_releases:
                raise NoDeltaError(f"{message} (the ledger was made without a delta for releases)")
            raise BudgetError(message)


def _shown(left: Fraction, whole: Whole) -> str:
    """By addition, a ledger with a rho may have spent more than its epsilon."""
    return f"{float(left if whole.rho is None else max(left, Fraction(0))):.6g}"


def how_many(whole: Whole, totals: Totals, costs: tuple[Cost, ...], most: int = 10**9) -> int:
    """How many more releases with these costs a ledger has room for; of what is not proved, none."""
    if not is_proved(costs):
        return 0
    (epsilon, delta), rho = plain_sum(costs), rho_charged(costs, Fraction(0))
    left = whole.epsilon - max(totals.epsilon, totals.proved_epsilon)
    found = _fit(left, epsilon, most)
    if whole.rho is not None:
        found = max(found, _fit(whole.rho - totals.rho, rho, most))
    return min(found, _fit(whole.delta_for_releases - max(totals.delta, totals.proved_delta), delta, most))


def _fit(left: Fraction, each: Fraction, most: int) -> int:
    return most if not each else max(0, min(most, int(left // each)))

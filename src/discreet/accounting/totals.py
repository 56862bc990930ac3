"""What several releases come to together, at a delta: the least of what addition and zCDP say.

Both hold for releases whose budgets were fixed beforehand. If they were chosen by looking at earlier results, what holds is
what a ledger refuses to exceed: its whole budget (``filter.py``).
"""

from dataclasses import dataclass
from fractions import Fraction

from .amounts import rounded_up
from .zcdp import epsilon_of

ADDITION, BY_ZCDP, NUMERICAL = "addition", "zCDP", "numerical composition"


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

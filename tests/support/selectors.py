"""Mechanisms by name, with the parameters that tests give them."""

from fractions import Fraction

from discreet.private.mechanisms.base import Settings
from discreet.private.mechanisms.registry import MECHANISMS

PUBLISHED = tuple(name for name, mechanism in MECHANISMS.items() if mechanism.binary_only)


def selector(name, epsilon, delta=1e-6, min_support=1, candidates=2):
    """One choice."""
    return MECHANISMS[name].selector(Fraction(epsilon), delta, min_support, candidates)


def budget_of(name, epsilon, max_length, delta=None, **settings):
    """How a whole fit is paid for. Numbers are taken as they are written."""
    delta = None if delta is None else Fraction(str(delta))
    settings |= {"counts_share": Fraction(settings.get("counts_share", "1/2"))}
    return MECHANISMS[name].split(Settings(Fraction(str(epsilon)), max_length, delta, **settings))


def proved_of(name, budget, candidates):
    """What is proved about it."""
    return MECHANISMS[name].proved(budget, candidates)

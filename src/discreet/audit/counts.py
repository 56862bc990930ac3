"""Level 1 for noisy counts: what is released, and the check of the support."""

import math
from fractions import Fraction

import numpy as np

from ..private.noise.discrete_laplace import log_pmf, scale_for
from .choices import Finding


def worst_count(epsilon: Fraction, most: int) -> Finding:
    """A count from 0 to ``most`` and one more, each with noise, at every answer within reach of a float."""
    a = 1.0 / scale_for(epsilon)
    k = np.arange(-most, most + 1)  # answers relative to the count: the law depends on nothing else
    loss = np.abs(log_pmf(k, a) - log_pmf(k - 1, a))
    return Finding(float(loss.max()), float(epsilon), most, f"a count c and c + 1; answer c + {k[loss.argmax()]}")


def worst_check(epsilon: Fraction, most: int) -> Finding:
    """All numbers of records up to ``most`` and one more, against a threshold in the middle: passed, and not passed."""
    a = 1.0 / scale_for(epsilon)
    missing = most // 2 - np.arange(most + 1)  # how much noise it takes to pass
    small = -a * np.where(missing >= 1, missing, 1 - missing) - math.log1p(math.exp(-a))  # log of the smaller chance
    with np.errstate(divide="ignore"):
        rest = np.log1p(-np.exp(small))
    passes, fails = np.where(missing >= 1, small, rest), np.where(missing >= 1, rest, small)
    loss = np.maximum(np.abs(np.diff(passes)), np.abs(np.diff(fails)))
    return Finding(float(loss.max()), float(epsilon), most, f"{most // 2} away from the threshold at most")

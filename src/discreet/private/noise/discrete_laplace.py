"""Noisy integers: a count plus k with probability proportional to ``exp(-eps |k|)``.

**Privacy.** If a vector of counts changes by at most 1 in at most one place between neighbours, releasing it with
independent noise is eps-DP: the probability of any outcome changes by a factor ``exp(eps (|k| - |k'|))`` with
``||k| - |k'|| <= 1``. This is the Laplace mechanism (the paper's for counts) on integers, where it is exact.

**Histograms of disjoint parts.** A record stands in one part of a rule list and in one class, so the class histograms of
all parts together are one such vector: they cost one eps in all, even when they are drawn along the way (given the
rules released so far, which parts there are does not depend on the data). A *support check* is one count >= a threshold.
"""

import math
from fractions import Fraction
from functools import lru_cache

from .entropy import Entropy, Integers


@lru_cache(maxsize=64)  # fractions are slow, and a fit asks for the same scale many times
def scale_for(epsilon: Fraction) -> float:
    """The smallest float that is at least 1/epsilon: rounding goes towards more privacy."""
    scale = float(1 / epsilon)
    return scale if Fraction(scale) >= 1 / epsilon else math.nextafter(scale, math.inf)


def release(counts: Integers, epsilon: Fraction, entropy: Entropy) -> Integers:
    """The counts with noise."""
    return entropy.discrete_laplace(counts, scale_for(epsilon))

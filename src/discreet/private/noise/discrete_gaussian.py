"""Noisy integers: a count plus k with probability proportional to ``exp(-k^2 / (2 sigma^2))``.

**Privacy.** If a vector of counts changes by at most L in Euclidean length between neighbours, releasing it with independent
noise is ``L^2 / (2 sigma^2)``-zCDP: of one count this is Theorem 4 of Canonne, Kamath, Steinke: *The Discrete Gaussian for
Differential Privacy*, 2020, and what the counts cost adds up.

**Tail.** ``P(k >= m) <= exp(-(m - 1)^2 / (2 sigma^2)) / 2`` for every integer m >= 1. *Proof.* The sum of
``exp(-j^2 / (2 sigma^2))`` over j >= m is at most its integral from m - 1 on, since the function falls there; over all j it is at
least ``sigma sqrt(2 pi)``, by Poisson's summation, all of whose terms are positive. So the probability is at most that of a
normal number beyond m - 1, which is at most the right side.  []

Unseeded noise is OpenDP's exact sampler. Of a seeded normal number the nearest integer is taken: with a seed nothing is proved.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from .entropy import Entropy, Integers
from .seeded import SeededEntropy


def sigma_for(rho: Fraction, length: int) -> float:
    """The smallest float, or nearly so, that makes a change of this length cost at most rho."""
    least = Fraction(length * length) / (2 * rho)
    sigma = math.sqrt(least)
    while Fraction(sigma) ** 2 < least:
        sigma = math.nextafter(sigma, math.inf)
    return sigma


def beyond(sigma: float, chance: float) -> int:
    """A number m that the noise reaches with at most this chance."""
    return 2 + math.ceil(sigma * math.sqrt(max(0.0, -2 * math.log(2 * chance))) * (1 + 1e-9))


def release(counts: Integers, sigma: float, entropy: Entropy) -> Integers:
    """The counts with noise."""
    if isinstance(entropy, SeededEntropy):
        return np.asarray(counts + np.rint(sigma * ndtri(entropy.uniform(len(counts)))).astype(np.int64))
    return np.array(_opendp(sigma)(counts.tolist()), np.int64)


@lru_cache(maxsize=64)
def _opendp(sigma: float) -> Any:
    from opendp import domains, measurements, metrics, mod

    mod.enable_features("contrib")  # OpenDP's word for measurements whose proofs are not all vetted by its committee
    values = domains.vector_domain(domains.atom_domain(T="i64"))
    return measurements.make_gaussian(values, metrics.l2_distance(T="i64"), sigma)

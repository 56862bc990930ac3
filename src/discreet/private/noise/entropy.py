"""Where randomness comes from.

A real fit draws from the operating system's generator, anew for every draw, so no two fits (and no forked processes)
share a state. (With a seed, for experiments, nothing is proved: seeded.py.)

Without a seed, numbers that are *released* (noisy counts) and choices by permute-and-flip come from OpenDP's exact samplers,
and lists and trees that are drawn whole from random bits, as many as a choice needs (decisions.py). Other noise, which only
decides which candidate wins, is made by inversion of uniform numbers with 53 random bits.
"""

import os
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._utils.errors import LearningError

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]


class Entropy:
    """The operating system's generator, and OpenDP's samplers on top of it.

    OpenDP is loaded when this object is made, before anything is booked: where it cannot be loaded, nothing is lost.
    """

    def __init__(self) -> None:
        try:
            import opendp.mod  # noqa: F401
        except Exception:  # OpenDP has no class of its own for it
            raise LearningError(
                "OpenDP, the library that draws the noise, cannot be loaded: there is not enough memory, or it is damaged "
                "(pip install --force-reinstall opendp). Nothing was booked"
            ) from None

    def bits(self, size: int, more: bool = False) -> Bits:
        """The first 53 bits of real numbers that are uniform between 0 and 1, as integers below 2**53; or further bits of them.

        With a seed, ``more`` bits have a stream of their own: whether a decision needs them leaves all others as they are.
        """
        return np.frombuffer(os.urandom(8 * size), np.uint64) >> np.uint64(11)

    def uniform(self, size: int) -> Array:
        """53 random bits and a half, times 2**-53, as a float64: from 1/2 on the half is lost. Neither 0 nor 1 comes up."""
        return np.minimum(np.asarray((self.bits(size) + 0.5) * 2.0**-53), 1.0 - 2.0**-53)

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Each value plus an integer k drawn with probability proportional to exp(-|k| / scale), by OpenDP, exactly."""
        return np.array(_opendp(scale)(values.tolist()), np.int64)

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """The index of a small loss: the largest of ``-loss / scale`` plus exponential noise, by OpenDP's exact coins.

        It prices a monotone change of at most D at D / scale.
        """
        return int(_opendp(scale, choice=True)(losses.tolist()))


# OpenDP is imported when it is needed: it takes a third of a second, and seeded experiments do without it. What is built for
# a scale is kept: a measurement holds no state, and building one takes longer than using it.


@lru_cache(maxsize=64)
def _opendp(scale: float, choice: bool = False) -> Any:
    from opendp import domains, measurements, measures, metrics, mod

    mod.enable_features("contrib")  # OpenDP's word for measurements whose proofs are not all vetted by its committee
    values = domains.vector_domain(domains.atom_domain(T="i64"))
    if not choice:
        return measurements.make_laplace(values, metrics.l1_distance(T="i64"), scale)
    metric = metrics.linf_distance(T="i64", monotonic=True)
    return measurements.make_noisy_max(values, metric, measures.max_divergence(), scale, negate=True)

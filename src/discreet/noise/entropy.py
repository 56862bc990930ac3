"""Where randomness comes from.

A real fit draws from the operating system's generator, anew for every draw, so no two fits (and no forked processes)
share a state. A seed is for experiments and tests: it makes a fit repeatable, and so not private.

Without a seed, numbers that are *released* (noisy counts) and choices by permute-and-flip come from OpenDP's exact samplers.
Other noise that only decides which candidate wins is made by inversion of uniform numbers with 53 random bits.
"""

import os
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..common.errors import LearningError

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Entropy(Protocol):
    """A source of randomness."""

    def uniform(self, size: int) -> Array:
        """Independent numbers strictly between 0 and 1."""

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Each value plus an integer k drawn with probability proportional to exp(-|k| / scale)."""

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """The index of a small loss: the largest of ``-loss / scale`` plus exponential noise."""


class SystemEntropy:
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

    def uniform(self, size: int) -> Array:
        """53 random bits and a half, times 2**-53, as a float64 has it; neither 0 nor 1 can come up.

        Below 1/2 nothing is rounded: each odd multiple of 2**-54 has a chance of 2**-53. From 1/2 on the half is rounded off, to
        multiples of 2**-52, each the result of two draws; but 1/2 itself and the last number, 1 - 2**-53, of one.
        """
        bits = np.frombuffer(os.urandom(8 * size), np.uint64) >> np.uint64(11)
        numbers: Array = (bits.astype(np.float64) + 0.5) * 2.0**-53
        return np.minimum(numbers, 1.0 - 2.0**-53)

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """OpenDP's exact discrete Laplace."""
        return np.array(_opendp_laplace(scale)(values.tolist()), np.int64)

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """OpenDP's permute-and-flip, by exact coins. It prices a monotone change of at most D at D / scale."""
        return int(_opendp_permute_and_flip(scale)(losses.tolist()))


# OpenDP is imported when it is needed: it takes a third of a second, and seeded experiments do without it. What is built for
# a scale is kept: a measurement holds no state, and building one takes longer than using it.


@lru_cache(maxsize=64)
def _opendp_laplace(scale: float) -> Any:
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")  # OpenDP's word for measurements whose proofs are not all vetted by its committee
    return make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale)


@lru_cache(maxsize=64)
def _opendp_permute_and_flip(scale: float) -> Any:
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    domain, metric = vector_domain(atom_domain(T="i64")), linf_distance(T="i64", monotonic=True)
    return make_noisy_max(domain, metric, max_divergence(), scale, negate=True)


class SeededEntropy:
    """NumPy's generator from a seed. Repeatable, so not private."""

    def __init__(self, seed: int | np.random.Generator) -> None:
        self._rng = np.random.default_rng(seed)

    def uniform(self, size: int) -> Array:
        """As the system's, from the seed."""
        return np.clip(self._rng.random(size), 2.0**-54, 1.0 - 2.0**-53)

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """The difference of two geometric numbers has the discrete Laplace law."""
        p = -np.expm1(-1.0 / scale)
        return values + self._rng.geometric(p, len(values)) - self._rng.geometric(p, len(values))

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """As a noisy maximum, with exponential noise by inversion; relative to the smallest loss, so that little is rounded."""
        return int(np.argmin((losses - losses.min()) / scale + np.log(self.uniform(len(losses)))))

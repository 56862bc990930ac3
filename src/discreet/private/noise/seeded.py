"""Randomness from a seed, for experiments and tests: it makes a fit repeatable, and so not private. Nothing is proved with it."""

from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .entropy import Array, Bits, Entropy, Integers


def entropy_of(seed: Any) -> Entropy:
    """The operating system's randomness, or that of a seed."""
    if seed is None:
        return Entropy()
    if isinstance(seed, int | np.integer | np.random.Generator):
        return SeededEntropy(seed if isinstance(seed, np.random.Generator) else int(seed))
    return SeededEntropy(int(check_random_state(seed).randint(2**31)))


class SeededEntropy(Entropy):
    """NumPy's generator from a seed. Repeatable, so not private. The stream of further bits is made when it is needed."""

    def __init__(self, seed: int | np.random.Generator) -> None:
        self._rng, self._start = np.random.default_rng(seed), deepcopy(seed)

    @cached_property
    def _more(self) -> np.random.Generator:
        return np.random.default_rng(np.random.default_rng(self._start).integers(2**63, size=4))

    def bits(self, size: int, more: bool = False) -> Bits:
        """NumPy's uniform numbers are such integers times 2**-53."""
        return ((self._more if more else self._rng).random(size) * 2.0**53).astype(np.uint64)

    def uniform(self, size: int) -> Array:
        """As the system's, from the seed, without the half."""
        return np.clip(self.bits(size) * 2.0**-53, 2.0**-54, 1.0)

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """The difference of two geometric numbers has the discrete Laplace law."""
        p = -np.expm1(-1.0 / scale)
        return values + self._rng.geometric(p, len(values)) - self._rng.geometric(p, len(values))

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """As a noisy maximum, with exponential noise by inversion; relative to the smallest loss, so that little is rounded."""
        return int(np.argmin((losses - losses.min()) / scale + np.log(self.uniform(len(losses)))))

"""A source of randomness that takes every way through a learner or a sampler, one after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..accounting.ledger import Reservation
from ..private.noise.distributions import log_prob
from ..private.noise.entropy import Integers
from ..private.noise.noisy_max import Exponential
from ..private.noise.sums import tail
from .loss import Array


@dataclass
class _Fork:
    logs: Array
    arm: int
    arms: Sequence[Any]
    is_check: bool
    charge: float  # what was charged last, before this was decided
    charged: float  # what was charged in all until then


class Explorer:
    """A source of randomness that takes every way, one after the other."""

    def __init__(self) -> None:
        self._forks: list[_Fork] = []
        self._depth = 0
        self.released: list[tuple[int, float]] = []  # exact value and scale of each noisy count
        self.paid_counts: list[float] = []  # what was charged in all, before each of them
        self.reservation: Reservation | None = None
        self.last_charge = 0.0

    def paths(self) -> Iterator[None]:
        """Once for each way through the learner."""
        while True:
            self._depth = 0
            self.released, self.paid_counts = [], []
            yield
            while self._forks and not self._next_arm(self._forks[-1]):
                self._forks.pop()
            if not self._forks:
                return

    @property
    def log_p(self) -> float:
        """The logarithm of the probability of the way just taken."""
        return float(sum(fork.logs[fork.arm] for fork in self._forks))

    @property
    def decisions(self) -> "tuple[Decision, ...]":
        """The decisions on the way just taken."""
        return tuple(Decision(float(f.logs[f.arm]), f.charge, f.charged, f.is_check) for f in self._forks)

    @property
    def charged(self) -> float:
        """What was charged in all until now."""
        return 0.0 if self.reservation is None else float(self.reservation.spent_epsilon)

    def choose(self, logs: Array) -> int:
        """Take one of several ways, given the logarithms of their weights."""
        return self.fork(lambda: logs - np.logaddexp.reduce(logs))

    def fork(self, law: Callable[[], Array], is_check: bool = False) -> int:
        """Take one of several ways, given the logarithms of their probabilities."""

        def numbered() -> tuple[Sequence[Any], Array]:
            logs = law()
            return range(len(logs)), logs

        return int(self.fork_among(numbered, is_check))

    def fork_among(self, law: Callable[[], tuple[Sequence[Any], Array]], is_check: bool = False) -> Any:
        """The same for ways that have names."""
        if self._depth == len(self._forks):
            arms, logs = law()
            first = int(np.flatnonzero(np.isfinite(logs))[0])
            self._forks.append(_Fork(logs, first, arms, is_check, self.last_charge, self.charged))
        fork = self._forks[self._depth]
        self._depth += 1
        return fork.arms[fork.arm]

    @staticmethod
    def _next_arm(fork: _Fork) -> bool:
        """Go on to the next way that can be taken at all."""
        later = np.flatnonzero(np.isfinite(fork.logs[fork.arm + 1 :]))
        if later.size:
            fork.arm += 1 + int(later[0])
        return bool(later.size)

    def bits(self, size: int, more: bool = False) -> Any:
        """Nothing that is explored may draw such numbers."""
        raise RuntimeError("a mechanism that cannot be explored: its law is not known")

    def uniform(self, size: int) -> Array:
        """Nor such."""
        return np.asarray(self.bits(size))

    def discrete_laplace(self, values: Integers, scale: float) -> Any:
        """Counts that a learner may compare with a threshold (a fork), or release."""
        noisy = np.empty(len(values), object)
        noisy[:] = [_NoisyCount(self, int(value), scale) for value in values]
        return noisy

    def permute_and_flip(self, losses: Integers, scale: float) -> int:
        """A fork by the exact law."""
        return self.fork(lambda: log_prob((losses.min() - losses) / scale, Exponential()))


@dataclass
class _NoisyCount:
    explorer: Explorer
    value: int
    scale: float

    def __ge__(self, threshold: int) -> bool:
        missing, a = int(threshold) - self.value, 1.0 / self.scale

        def law() -> Array:  # of failing, then of passing; the smaller chance first, for the sake of precision
            small = tail(missing if missing >= 1 else 1 - missing, a)
            with np.errstate(divide="ignore"):
                unlikely, likely = np.log(small), np.log1p(-small)
            return np.array([likely, unlikely] if missing >= 1 else [unlikely, likely])

        return bool(self.explorer.fork(law, is_check=True))

    def __float__(self) -> float:
        self.explorer.released.append((self.value, self.scale))
        self.explorer.paid_counts.append(self.explorer.charged)
        return float(self.value)


class Decision(NamedTuple):
    """A decision on a way through a learner."""

    log_p: float
    charge: float  # what was charged last, before it
    charged: float  # what was charged in all until then
    is_check: bool  # of the support


class CardExplorer(Explorer):
    """The same for a learner that goes on with what is computed from noisy counts: on every table these come out the same.

    Whatever they come out as, the exact counts and their scales are noted, and say how likely that was.
    """

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Numbers of no meaning, by their places alone; large ones, so that cards have points and records have weights."""
        first = len(self.released)
        self.released += [(int(value), scale) for value in values]
        self.paid_counts += [self.charged] * len(values)
        return np.array([50 * ((7 * i) % 11) + 10 for i in range(first, len(self.released))], np.int64)

"""The privacy loss between two laws over the same outputs, and what follows from it.

An output x has the loss ``log(P(x) / Q(x))``. From the masses of P and their losses everything else follows:

    delta needed at epsilon  =  sum over x of P(x) (1 - exp(epsilon - loss(x)))_+        (the hockey-stick divergence)
    epsilon at delta         =  the smallest epsilon that needs no more than that delta;  the largest loss if delta is 0
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..private.noise.sums import log_pmf, tail

Array = npt.NDArray[np.float64]
NEGLIGIBLE = 1e-280  # chances below it are not told from 0


@dataclass(frozen=True)
class Loss:
    """The probabilities of outputs under the first law, as logarithms, and their losses against the second."""

    log_mass: Array
    losses: Array

    @property
    def largest(self) -> float:
        """The pure epsilon: the largest loss of an output that can happen."""
        return float(self.losses[self.log_mass > math.log(NEGLIGIBLE)].max(initial=0.0))

    def delta(self, epsilon: float) -> float:
        """The smallest delta for which this direction is (epsilon, delta)-DP."""
        return float((np.exp(self.log_mass) * -np.expm1(np.minimum(epsilon - self.losses, 0.0))).sum())

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon for which this direction is (epsilon, delta)-DP."""
        if delta <= 0.0:
            return self.largest
        if self.delta(0.0) <= delta:
            return 0.0
        high = float(self.losses[np.isfinite(self.losses)].max(initial=0.0))
        if self.delta(high) > delta:
            return math.inf
        low = 0.0
        while high - low > 1e-9 * max(1.0, high):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high


def shifted_counts(values: Array, shifted: Array, scales: Array) -> tuple[Array, Array]:
    """What noisy counts add to the loss: (log probability, loss) of each case that can be told apart.

    Discrete Laplace noise around c, against noise around c + d: the loss is ``a d`` up to c, ``-a d`` from c + d on, and in steps
    of ``2a`` between, where a = 1/scale. Counts that do not differ say nothing.
    """
    logs, losses = np.zeros(1), np.zeros(1)
    for value, other, scale in zip(values, shifted, scales, strict=True):
        d, a = round(abs(float(other - value))), 1.0 / float(scale)
        if d == 0:
            continue
        below = math.log1p(-tail(1, a))
        one_logs = np.concatenate([[below], log_pmf(np.arange(1, d), a), [math.log(tail(d, a))]])
        one_losses = a * (d - 2.0 * np.arange(d + 1.0))
        logs = (logs[:, None] + one_logs).ravel()
        losses = (losses[:, None] + one_losses).ravel()
    return logs, losses

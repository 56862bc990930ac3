"""Our way to choose a rule: the smallest impurity mass by permute-and-flip. Any number of classes, no delta, no support.

**Mechanism.** The impurity mass of a rule, ``M = 1/2 sum over sides of (s - sum_c s_c^2 / s)``, ranks the rules of a node as
the Gini impurity does, which is 2M/n. Visit the candidates, "no rule" among them, in random order; take the one at hand with
probability ``exp(-e (M - smallest M))``, else go on. ``argmax (-e M + Exponential(1))`` has the same distribution (Ding et al.).

**Privacy.** One choice is e-DP, without the factor 2 of the exponential mechanism, at a node of any size.

**Proof.** Let a record of class c arrive on a side with counts ``s_k``, of size s. The mass of the side grows by

    d = ((s - s_c)^2 + sum over k != c of s_k^2) / (2 s (s + 1)),      and by 0 if s = 0,

as one sees by putting ``(s + 1) - (sum_k s_k^2 + 2 s_c + 1) / (s + 1)`` and ``s - sum_k s_k^2 / s`` on one denominator. Both
squares are at most ``(s - s_c)^2 <= s^2``, so ``0 <= d <= s / (s + 1) < 1``. The other side does not change. So between
neighbours the changes of ``-e M``, over all candidates at once, lie in an interval of length e, and Theorem 5 of
``noisy_max`` with h = 1 gives the claim.  []

**Numerics.** The mass of each side is rounded *down* to a multiple of u = 2^-20, in integers, without error. The change of
the rounded mass stays in [0, 1]: rounding down is monotone, so it is at least 0; and since 1 is a multiple of u, rounding
down ``x + d < x + 1`` gives at most what rounding down x gives, plus 1. Unseeded choices are made by OpenDP's exact coins with
probability ``exp(-rational)``, on these integers, at a scale that is rounded up: no floating point decides.

**Reference.** R. McKenna, D. Sheldon: *Permute-and-Flip: A new mechanism for differentially private selection*, NeurIPS
2020. Z. Ding et al.: *The Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with Exponential Noise*, 2021.
"""

import numpy as np

from ..counts.counting import NodeCounts
from ..counts.patterns import Array
from ..noise.entropy import Integers
from .base import ChoosesByCoins
from .selector import PermuteAndFlip

UNITS = 1 << 20  # in a mass of 1
FITS_INT64 = 3_000_000_000  # the square of a side of this size is below 2^63
LARGEST = 1 << 61  # two sides of it are below 2^63, OpenDP's largest integer


def side_units(counts: Array) -> Integers:
    """The mass of one side in units of 2^-20, rounded down. Class counts in the first axis; an empty side has none.

    Beyond 2^42 records the mass is cut off, which lets no change leave [0, 1].
    """
    whole = counts.astype(np.int64)
    if whole.sum(0).max(initial=0) > FITS_INT64:
        whole = whole.astype(object)  # Python's integers, of any size
    size = whole.sum(0)
    divisor = np.maximum(size, 1)
    twice = size * size - (whole * whole).sum(0)  # twice the mass, times the size
    rest = twice % divisor
    units = twice // divisor * (UNITS // 2) + rest * (UNITS // 2) // divisor
    return np.asarray(np.minimum(units, LARGEST).astype(np.int64))


def mass_units(node: NodeCounts) -> Integers:
    """The mass of every candidate, then of no rule, in units of 2^-20."""
    captured = np.column_stack([node.captured, np.zeros_like(node.left)])
    return np.asarray(side_units(captured) + side_units(node.left[:, None] - captured))


class MassSelector(PermuteAndFlip):
    """Permute-and-flip on impurity mass, e-DP."""

    width = UNITS

    def losses(self, node: NodeCounts) -> Integers:
        """In units of 2^-20."""
        return mass_units(node)


class Mass(ChoosesByCoins):
    """Ours, and the default (docs/theory, Theorem 12). That the range of a choice is bounded by less than 2 e is not known."""

    name = "mass"
    choice = MassSelector

"""Inverse sensitivity for a choice: a rule loses by how many records would have to come or go until it is the best one.

**Mechanism.** For rules r and r' of a node let ``g = M_r - M_r'`` be the gap between their impurity masses (``mass.py``), and
f(r, r') the integer below: at most the number of records that must come or go until r is no worse than r'. The loss of r is
the largest f(r, r') over all other candidates, "no rule" included. Permute-and-flip on these losses, at a scale of 2/e.

**How far one record moves a gap.** A record of class c that comes to a side with p records of class c and o others raises
the mass of the side by at most ``phi(o, p) = o^2 / ((o + p)(o + p + 1))`` and at least ``C / (2 (C - 1))`` times that, for
C classes (``mass.py`` has d: the second of its squares is at most the first, and at least the first over C - 1). One that
leaves lowers it by as much at (o, p - 1). phi grows in o and falls in p. So j records away from here, whichever came or went,
the most and the least, over both sides, are

    come:   U_j = max of phi(o + j, (p - j)+)        L_j = min of C / (2 (C - 1)) phi((o - j)+, p + j)
    leave:  V_j = max of phi(o + j, (p - 1 - j)+)    K_j = min of C / (2 (C - 1)) phi((o - j)+, (p - 1)+ + j)

and one record there lowers g by at most ``D_j = max over c of max(0, U_j(r') - L_j(r), V_j(r) - K_j(r'))``: it comes where it
harms r' most and r least, or leaves where it helps r most and r' least.

**f.** Divide 0, 1, 2, ... into public blocks: of one number at first, then longer by a quarter each. Let b(m) be where the
block of m begins, and ``S_k = sum over m < k of D_{k-1-b(m)}``; m counts from the last step back. So D is looked at once for each
block, at its largest j. f is the smallest k >= 0 with ``S_k >= g``.

**Lemma (one record, one step).** Between neighbours s and s', f differs by at most 1. *Proof.* ``D_j(s') <= D_{j+1}(s)``, since
each count of s' differs by at most 1 from that of s; D_j does not fall in j; and ``g(s) - g(s') <= D_0(s)``. So

    S_{k+1}(s) = D_{k-b(k)}(s) + sum over m < k of D_{k-b(m)}(s)  >=  D_0(s) + S_k(s').

With k = f(s'): ``S_{k+1}(s) >= D_0(s) + g(s') >= g(s)``, so f(s) <= k + 1.  [] As f = 0 where g <= 0, f is at most the number of
records until r is no worse than r'; and the loss, a maximum of such f, at most the number of records until r is the best.

**Privacy.** So each loss changes by at most 1, up or down. The changes of ``-(e/2) loss`` over all candidates lie in an
interval of length e, and Theorem 5 of ``noisy_max`` with h = 1 says that a choice is e-DP, at a node of any size, for any number
of classes.

**Numerics.** Masses, gaps and steps are integers, in units of 2^-20. The mass of a side is rounded down, so its change is at
least the true one rounded down, and at most that rounded up; U and V are rounded up, L and K down. phi is computed in double
precision: quotients and products of IEEE 754 are rounded correctly, so what is computed grows in o and falls in p, as phi
does, and its error is smaller than the margin that is added to U and V and taken off L and K. The proof needs no more than
that. A gap is one unit less than the difference of the masses, so that rounding makes no rule lose that is the best. (From 2^41
records on ``mass.py`` cuts masses off; the proof is for nodes of fewer.)

**Reference.** H. Asi, J. Duchi: *Instance-optimality in differential privacy via approximate inverse sensitivity mechanisms*,
NeurIPS 2020. V. Farias et al.: *Local Dampening: Differential Privacy for Non-numeric Queries via Local Sensitivity*, VLDB 2020.
docs/theory/greedy.md, Theorem 12a.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..counts.counting import NodeCounts
from ..counts.patterns import Array
from ..noise.entropy import Integers
from .base import ChoosesByCoins
from .mass import UNITS, side_units
from .selector import PermuteAndFlip

ROUND = 2.0**-48  # more than five operations of double precision can be off

# how far a record can move the gap between two candidates, the one that is to win first, at so many records from here
Step = Callable[[Array, Array, Array], Integers]


def _blocks(distance: int) -> tuple[Integers, Integers]:
    """Where each block begins, and how long it is, up to a distance. The same for all tables."""
    begin, size = [0], [1]
    while begin[-1] + size[-1] < distance:
        begin.append(begin[-1] + size[-1])
        size.append(max(1, begin[-1] // 4))
    return np.array(begin, np.int64), np.array(size, np.int64)


def _phi(others: Array, same: Array) -> Array:
    size = np.maximum(others + same, 1.0)
    phi: Array = (others / size) * (others / (size + 1.0))
    return phi


def largest_step(winner: Array, loser: Array, j: Array) -> Integers:
    """D_j: by how much one record lowers the mass of ``winner`` against that of ``loser``, j records from here, in units.

    Class counts with the side in the first axis and the class in the second.
    """
    classes = winner.shape[1]
    least_share = classes / (2.0 * max(classes - 1, 1))
    most = np.zeros(np.broadcast_shapes(winner.shape[2:], j.shape))

    def high(others: Array, same: Array) -> Array:
        top: Array = np.ceil(_phi(others + j, np.maximum(same - j, 0.0)).max(0) * (UNITS * (1.0 + ROUND)))
        return top

    def low(others: Array, same: Array) -> Array:
        least = _phi(np.maximum(others - j, 0.0), same + j).min(0)
        bottom: Array = np.floor(least * (UNITS * least_share * (1.0 - ROUND)))
        return bottom

    for c in range(classes):
        p, q = winner[:, c], loser[:, c]
        o, u = winner.sum(1) - p, loser.sum(1) - q
        comes = high(u, q) - low(o, p)
        leaves = high(o, p - 1.0) - low(u, np.maximum(q - 1.0, 0.0))
        most = np.maximum(most, np.maximum(comes, leaves))
    return most.astype(np.int64)


def steps_to_win(winner: Array, loser: Array, gap: Integers, low: Integers, high: Integers, step: Step) -> Integers:
    """f, or ``low`` if that is more, for many pairs at once: the smallest k with ``S_k >= gap``, known to be at most ``high``."""
    begin, size = _blocks(int(high.max()))
    winner, loser = winner[..., None], loser[..., None]

    def reaches(k: Integers) -> npt.NDArray[np.bool_]:
        left = k[:, None] - begin
        steps = np.clip(left, 0, size) * step(winner, loser, np.maximum(left - 1, 0).astype(np.float64))
        enough: npt.NDArray[np.bool_] = steps.sum(1) >= gap
        return enough

    high = np.where(reaches(low), low, high)
    while (high - low > 1).any():  # S_low < gap <= S_high
        middle = (low + high) // 2
        enough = reaches(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def path_losses(left: Array, captured: Array, step: Step = largest_step) -> Integers:
    """The loss of every candidate, then of no rule: (candidates + 1, nodes).

    Class counts of many nodes at once: ``left`` is (classes, nodes), ``captured`` (classes, candidates, nodes).
    """
    everything = left[:, None]
    inside = np.concatenate([captured, np.zeros_like(everything)], axis=1)
    mass = side_units(inside) + side_units(everything - inside)
    inside[:, -1:] = everything  # no rule has one side only: no record can come to the other
    outside = np.concatenate([everything - captured, everything], axis=1)
    order = np.argsort(mass, axis=0, kind="stable")
    mass = np.take_along_axis(mass, order, 0)
    sides = np.take_along_axis(np.stack([inside, outside]), order[None, None], 2)
    n = left.sum(0).astype(np.int64)
    losses = np.zeros_like(mass)
    for rival in range(len(mass) - 1):  # the best first: later ones rarely ask for more
        gap = mass[rival + 1 :] - mass[rival] - 1
        here = step(sides[:, :, rival + 1 :], sides[:, :, rival, None], np.zeros(()))
        # S_k >= k D_0; and D_j >= 1/2 from j = n on, where sides may have been emptied and filled
        most = np.minimum(-(-gap // np.maximum(here, 1)), n + 2 * (gap // UNITS) + 4)
        asks = (gap > 0) & (most > losses[rival + 1 :])
        rule, node = np.nonzero(asks)
        if len(rule):
            winner, loser = sides[:, :, rival + 1 + rule, node], sides[:, :, rival, node]
            so_far = losses[rival + 1 :][asks]
            losses[rival + 1 + rule, node] = steps_to_win(winner, loser, gap[asks], so_far, most[asks], step)
    in_place = np.empty_like(losses)
    np.put_along_axis(in_place, order, losses, 0)
    return in_place


def _without_copies(node: NodeCounts) -> tuple[Array, npt.NDArray[np.intp]]:
    """What different candidates capture, and which of them each candidate is. A rule and its negation lose alike."""
    more = 2.0 * node.captured - node.left[:, None]
    first = (more != 0.0).argmax(0)
    flipped = np.take_along_axis(more, first[None], 0) > 0.0
    alike = np.where(flipped, node.left[:, None] - node.captured, node.captured)
    distinct, which = np.unique(alike, axis=1, return_inverse=True)
    return distinct, which.ravel()


class InverseSelector(PermuteAndFlip):
    """Permute-and-flip on the number of records until a rule is the best, e-DP."""

    width = 2  # losses may rise and fall

    def losses(self, node: NodeCounts) -> Integers:
        """In records, at most."""
        distinct, which = _without_copies(node)
        losses: Integers = self.at_nodes(node.left[:, None], distinct[:, :, None])[np.append(which, -1), 0]
        return losses

    def at_nodes(self, left: Array, captured: Array) -> Integers:
        """At many nodes, as ``path_losses``."""
        return path_losses(left, captured)


class Inverse(ChoosesByCoins):
    """Ours, as the paper proposes: inverse sensitivity instead of noise on the impurity (docs/theory/greedy.md, Theorem 12a)."""

    name = "inverse"
    choice = InverseSelector

"""Impurity of a split, and how far it can move when one record comes or goes. Each bound stands beside its lemma.

With class counts ``s_c`` on a side of size ``s = sum_c s_c``, the *impurity mass* of the side is

    (s - sum_c s_c^2 / s) / 2          for two classes: ab / (a + b)

and a rule's mass ``M`` is the sum over its captured and its left side. The paper's Gini impurity (its eq. 1-2) is
``G = 2 M / n`` with ``n`` records at the node. Since ``n`` is the same for every rule there, both rank rules alike.

From here on, two classes. Let ``D`` have ``n >= 1`` records at the node, ``A`` of class a and ``B`` of class b, and let
``D'`` have one more, of class a. On the side where it arrives, with counts ``(a, b)`` and ``s = a + b``,

    d := M' - M = b^2 / (s (s + 1)),   0 <= d <= B / (B + 1) <= n / (n + 1),                                  (1)
    G' - G = 2 (M + d) / (n + 1) - 2 M / n = 2 d / (n + 1) - G / (n + 1).                                     (2)

Also ``0 <= G <= 2 A B / n^2 <= 1/2``: splitting never raises the Gini impurity above that of not splitting.
The proofs are spelled out in docs/theory/published.md; tests/privacy/test_impurity.py checks each bound by enumeration.
"""

import math
from functools import lru_cache

import numpy as np

from ..counts.patterns import Array


def side_mass(counts: Array) -> Array:
    """The impurity mass of one side, given its class counts in the first axis. An empty side has none."""
    size = counts.sum(0)
    mass: Array = 0.5 * (size - (counts * counts).sum(0) / np.maximum(size, 1.0))
    return mass


def mass(left: Array, captured: Array) -> Array:
    """The impurity mass of splitting the ``left`` records into ``captured`` and the rest."""
    split: Array = side_mass(captured) + side_mass(left[:, None] - captured)
    return split


def gini(left: Array, captured: Array) -> Array:
    """The paper's Gini impurity of each split; 0 where there are no records."""
    impurity: Array = 2.0 * mass(left, captured) / max(float(left.sum()), 1.0)
    return impurity


def g(n: float) -> float:
    """``2n / (n + 1)^2``: the paper's local sensitivity of the Gini impurity at a node of n records."""
    return 2.0 * n / (n + 1.0) ** 2


def smooth_sensitivity(n: int, min_support: int, beta: float) -> float:
    """The paper's Theorem IV.1, every k clamped to >= 0 (without that it is wrong for n below the support)."""
    limit = max(0, n - min_support)  # beyond it, g stays and the exponential falls
    ks = {0, limit}
    root = (1.0 - beta) ** 2 - 4.0 * beta
    if root >= 0.0 and beta > 0.0:
        # a stationary point x of e^(-beta (n - x)) g(x): beta x^2 - (1 - beta) x + 1 = 0, written without cancellation
        t = n - 2.0 / (1.0 - beta + math.sqrt(root)) if beta < 1.0 else 0.0
        ks |= {min(max(0, k), limit) for k in (math.floor(t), math.ceil(t))}
    return max(math.exp(-beta * k) * g(max(min_support, n - k)) for k in ks)


def _range(n: int, c: float) -> float:
    """``max over B of 2B/((B+1)(n+1)) + |c| 2(n-B)B/n^2``: bounds max - min of ``2d/(n+1) + cG`` over all rules.

    For c <= 0 the maximum has G >= 0 and the minimum d >= 0; for c >= 0 the minimum is >= 0.
    """
    if n > 1000:  # an upper bound, by less than a thousandth
        return g(n) + abs(c) / 2.0
    b = np.arange(n + 1.0)
    return float((2.0 * b / ((b + 1.0) * (n + 1.0)) + abs(c) * 2.0 * (n - b) * b / n**2).max())


def range_of_smooth_gini(n: int, min_support: int, beta: float) -> float:
    """How far apart the changes of ``G / S`` can lie, over all rules at once, when a record is added to n.

    With ``S = S(n)``, ``S' = S(n+1) <= S`` and (2),

        G'/S' - G/S = (1/S') (2d/(n+1) + c G),   c = n/(n+1) - S'/S,

    so the length is at most ``_range(n, c) / S'``. With no records, G is 0 on both sides.
    """
    if n == 0:
        return 0.0
    here, more = smooth_sensitivity(n, min_support, beta), smooth_sensitivity(n + 1, min_support, beta)
    return _range(n, n / (n + 1.0) - more / here) / more


@lru_cache(maxsize=64)
def largest_ranges_of_smooth_gini(min_support: int, beta: float) -> Array:
    """For each n0 from 0 to min_support: the largest ``range_of_smooth_gini(n)`` over all n >= n0.

    Beyond the support S is first ``M e^(-beta n)`` for a constant M, then ``g(n)``. The logarithm of their quotient,
    ``log M - beta n - log g(n)``, falls from n = 1/beta on, so S stays ``g`` once it is ``g`` there. From then on

        |c| = (2(n+1)^2 - 1) / (n(n+1)(n+2)^2),   range <= g(n)/g(n+1) + |c|/(2 g(n+1)) <= n(n+2)^2/(n+1)^3 + 1/(2n),

    which falls in n. So it is enough to look at all n up to there, one by one at first, then in blocks that grow: over
    [a, b], g is at most g(a), S' at least S(b+1), and |c| at most its largest value with ``S'/S`` as in either branch.
    """
    start = max(min_support, 3)  # from here on the smaller stationary point lies below n
    turn = max(start, math.ceil(1.0 / beta))
    while not math.isclose(smooth_sensitivity(turn, min_support, beta), g(turn), rel_tol=1e-12):
        turn = math.ceil(turn * 1.002) + 1
    beyond = turn * (turn + 2.0) ** 2 / (turn + 1.0) ** 3 + 0.5 / turn
    beyond = max([beyond, *(range_of_smooth_gini(n, min_support, beta) for n in range(min_support, start))])
    singly = np.arange(start, min(turn, start + 10_000) + 1, dtype=np.float64)
    steps = math.ceil(math.log(max(turn / singly[-1], 1.0)) / 1e-4) + 2
    blocks = np.unique(np.ceil(np.geomspace(singly[-1], turn + 1.0, steps)))
    first = np.concatenate([singly[:-1], blocks[:-1]])
    last = np.concatenate([singly[:-1], blocks[1:] - 1.0])
    beyond = max(beyond, float(_largest_in_blocks(first, last, min_support, beta).max()))
    small = [range_of_smooth_gini(n, min_support, beta) for n in range(min(min_support, 1001))]
    n = np.arange(len(small), min_support, dtype=np.float64)  # here S is constant, so c = -1 / (n + 1)
    below = np.append(small, (2.0 * n / (n + 1.0) ** 2 + 0.5 / (n + 1.0)) / g(min_support))
    largest: Array = np.maximum.accumulate(np.append(below, beyond)[::-1])[::-1]
    largest.flags.writeable = False  # it is kept for the next fit
    return largest


def _largest_in_blocks(first: Array, last: Array, min_support: int, beta: float) -> Array:
    """An upper bound on ``range_of_smooth_gini`` over each block of n from first to last, all >= min_support and >= 3."""
    # the maximum over x in [min_support, n] of e^(beta x) g(x) is at an end or, if there is one, at the smaller
    # root of beta x^2 - (1 - beta) x + 1, which lies in [1, 1 + sqrt 2]
    rooted = beta <= 3.0 - 2.0 * math.sqrt(2.0) + 1e-9
    xs = {min_support, *(x for x in (1, 2, 3) if x > min_support and rooted)}
    peak = max(math.exp(beta * (x - min_support)) * g(x) for x in xs)

    def smooth(m: Array) -> Array:
        s: Array = np.maximum(2.0 * m / (m + 1.0) ** 2, peak * np.exp(-beta * (m - min_support)))
        return s

    more = smooth(last + 1.0)
    exact = first == last
    c = np.abs(last / (last + 1.0) - more / smooth(last))  # where a block is a single n
    fall = -math.expm1(-beta)
    falling = np.maximum(np.abs(fall - 1.0 / (first + 1.0)), np.abs(fall - 1.0 / (last + 1.0)))
    wide = np.maximum(falling, 2.0 * (first + 1.0) / (first * (first + 2.0) ** 2))
    bound: Array = (2.0 * first / (first + 1.0) ** 2 + np.where(exact, c, wide) / 2.0) / more
    return bound

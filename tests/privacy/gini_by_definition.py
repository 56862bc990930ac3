"""What is known about the Gini impurity and no mechanism computes. Equations (1) and (2) are those of mechanisms/impurity.py."""

import math

import numpy as np

from discreet.private.mechanisms.impurity import g


def local_sensitivity_of_adding(n: int) -> float:
    """The most that G changes when a record is added to n. By (1) and (2) it is ``g(n)``:

    upwards ``2d/(n+1) <= 2n/(n+1)^2 = g(n)``; downwards ``G/(n+1) <= 1/(2(n+1)) <= g(n)`` for n >= 1.
    """
    return g(n)


def local_sensitivity_of_removing(n: int) -> float:
    """The most that G changes when one of n records is removed: that of adding to n - 1, which is larger.

    The published local sensitivity is that of adding only, so it does not bound this.
    """
    return g(n - 1) if n >= 2 else 0.0


def smooth_sensitivity_by_definition(n: int, min_support: int, beta: float) -> float:
    """``max over k >= 0 of e^(-beta k) g(max(min_support, n - k))``, term by term: what the closed form must equal."""
    return max(math.exp(-beta * k) * g(max(min_support, n - k)) for k in range(max(0, n - min_support) + 1))


def range_of_gini(n: int) -> float:
    """How far apart the changes of G can lie, over all rules at once, when a record is added to n. Never above 1/2.

    By (2) every change lies in ``[-G_max/(n+1), 2 d_max/(n+1)]`` with ``d_max = B/(B+1)``, ``G_max = 2AB/n^2``; the
    length is largest over B. It is 1/2 at n = 1 and n = 2, and at most ``g(n) + 1/(2(n+1)) <= 1/2`` from n = 3 on.
    """
    b = np.arange(n + 1.0)  # of class b
    return float((2.0 * b / ((b + 1.0) * (n + 1.0)) + 2.0 * (n - b) * b / n**2 / (n + 1.0)).max()) if n else 0.0

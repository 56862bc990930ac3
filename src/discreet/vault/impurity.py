"""How mixed the classes are on the two sides of a split.

With class counts ``s_c`` on a side of size ``s = sum_c s_c``, the *impurity mass* of the side is

    (s - sum_c s_c^2 / s) / 2          for two classes: ab / (a + b)

and a rule's mass ``M`` is the sum over its captured and its left side. The paper's Gini impurity (its eq. 1-2) is
``G = 2 M / n`` with ``n`` records at the node. Since ``n`` is the same for every rule there, both rank rules alike.
"""

import numpy as np

from .cells import Array


def side_mass(counts: Array) -> Array:
    """The impurity mass of one side, given its class counts in the first axis. An empty side has none."""
    size = counts.sum(0)
    mass: Array = 0.5 * (size - (counts * counts).sum(0) / np.maximum(size, 1.0))
    return mass


def mass(left: Array, captured: Array) -> Array:
    """The impurity mass of splitting the ``left`` records into ``captured`` and the rest."""
    split: Array = side_mass(captured) + side_mass(left[:, None] - captured)
    return split

"""The paper's appendix: can an attacker tell which records a list was learned from? (set-up C, epsilon 10)

The label-only attack is ART's gap attack. The paper tried the one along the decision boundary, and found that it says nothing
where every feature is 0 or 1.
"""

from collections.abc import Iterator
from importlib.util import find_spec

from .effort import Effort
from .runner import Unit
from .setups import DATASETS

METHODS = ("GreedyRL", "sm-laplace", "mass", "whole lists")


def units(effort: Effort) -> Iterator[Unit]:
    """On the splits that whole lists have. Nothing where the toolbox (the extra ``attacks``) is missing."""
    for seed in range(effort.list_seeds if find_spec("art") else 0):
        for dataset in DATASETS:
            yield Unit("membership", "C", dataset, seed, METHODS, (10.0,), also="attacks")

"""How much of the grid is done."""

from typing import NamedTuple


class Effort(NamedTuple):
    """Numbers of epsilons and seeds; whole lists have their own."""

    epsilons: int
    seeds: int
    list_epsilons: int
    list_seeds: int


FULL = Effort(epsilons=200, seeds=100, list_epsilons=20, list_seeds=20)
QUICK = Effort(epsilons=13, seeds=6, list_epsilons=5, list_seeds=2)

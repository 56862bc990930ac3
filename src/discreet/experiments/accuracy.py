"""The paper's Figure 4: test accuracy over epsilon, five private methods and GreedyRL, with ours beside them (set-up A)."""

from collections.abc import Iterator

import numpy as np

from .effort import Effort
from .runner import Unit
from .setups import DATASETS

PRIVATE = ("sm-laplace", "sm-cauchy", "gl-laplace", "gl-gaussian", "gl-exponential", "mass")
LOWEST, HIGHEST = 0.01, 100.0


def units(effort: Effort) -> Iterator[Unit]:
    """Every method at every epsilon on every split; whole lists, which take longer, at fewer."""
    many = tuple(np.geomspace(LOWEST, HIGHEST, effort.epsilons).tolist())
    few = tuple(np.geomspace(LOWEST, HIGHEST, effort.list_epsilons).tolist())
    for seed in range(effort.seeds):
        for dataset in DATASETS:
            yield Unit("accuracy", "A", dataset, seed, (*PRIVATE, "GreedyRL"), many)
            if seed < effort.list_seeds:
                yield Unit("accuracy", "A", dataset, seed, ("whole lists",), few)

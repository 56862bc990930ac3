"""The paper's Figures 2 and 3: Gini of noisy counts against noisy Gini (``gl-laplace``), with few and many rules (set-up C)."""

from collections.abc import Iterator

import numpy as np

from .effort import Effort
from .runner import Unit
from .setups import DATASETS

EPSILONS = tuple(np.geomspace(0.1, 1e4, 11).tolist())
METHODS = ("noisy-counts", "gl-laplace")


def units(effort: Effort) -> Iterator[Unit]:
    """Single literals, and (but for German Credit, as published) pairs of them."""
    for seed in range(effort.seeds):
        for dataset in DATASETS:
            for max_card in (1,) if dataset == "German Credit" else (1, 2):
                yield Unit("noisy-counts", "C", dataset, seed, METHODS, EPSILONS, max_card=max_card)

"""The paper's Section V.D: what the maximal length K, the minimum support lambda and the cardinality of rules do (set-up C)."""

from collections.abc import Iterator

from .effort import Effort
from .runner import Unit
from .setups import DATASETS, MAX_CARD, MIN_SUPPORT, SETUPS

METHODS = ("sm-laplace", "gl-laplace", "mass", "GreedyRL")
EPSILONS = (1.0, 10.0)
LENGTHS = (2, 3, 5, 7, 9)
SUPPORTS = (0.01, 0.05, 0.12, 0.2)
CARDS = (1, 2)


def units(effort: Effort) -> Iterator[Unit]:
    """One parameter at a time away from the published ones, on fewer splits than the rest."""
    setup = SETUPS["C"]
    for seed in range(max(2, effort.seeds // 4)):
        for dataset in DATASETS:
            published = (setup.max_length, MAX_CARD[dataset], MIN_SUPPORT[dataset])
            settings = {published}
            settings |= {(length, *published[1:]) for length in LENGTHS}
            settings |= {(published[0], card, published[2]) for card in CARDS if dataset != "German Credit"}
            settings |= {(*published[:2], support) for support in SUPPORTS}
            for max_length, max_card, min_support in sorted(settings):
                yield Unit(
                    *("hyper-parameters", "C", dataset, seed, METHODS, EPSILONS),
                    max_length=max_length,
                    max_card=max_card,
                    min_support=min_support,
                )

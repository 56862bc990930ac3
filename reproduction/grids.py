"""Which fits each experiment consists of, and how many of them are done."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from .expected import EPSILONS
from .runner import Unit
from .setups import DATASETS, MAX_LITERALS, MIN_SUPPORT, SETUPS


class Effort(NamedTuple):
    """Numbers of epsilons and seeds; optimal lists and trees, which take longer, have their own."""

    epsilons: int
    seeds: int
    list_epsilons: int
    list_seeds: int


FULL = Effort(epsilons=200, seeds=100, list_epsilons=20, list_seeds=20)
QUICK = Effort(epsilons=13, seeds=6, list_epsilons=5, list_seeds=2)

Grid = Callable[[Effort], Iterator[Unit]]

PUBLISHED = ("sm-laplace", "sm-cauchy", "gl-laplace", "gl-gaussian", "gl-exponential")
LOWEST, HIGHEST = 0.01, 100.0  # epsilons of Figure 4
EPSILONS_OF_COUNTS = tuple(np.geomspace(0.1, 1e4, 11).tolist())
LENGTHS = (2, 3, 5, 7, 9)
SUPPORTS = (0.01, 0.05, 0.12, 0.2)
CARDS = (1, 2)


def tables(effort: Effort) -> Iterator[Unit]:
    """The paper's Tables I to III: set-ups A, B and C."""
    for seed in range(effort.seeds):
        for dataset in DATASETS:
            methods = ("sm-laplace", "sm-cauchy", "gl-laplace", "mass", "GreedyRL")
            yield Unit("tables", "A", dataset, seed, methods, EPSILONS)
            yield Unit("tables", "B", dataset, seed, ("sm-laplace", "mass", "GreedyRL"), (10.0,))
            yield Unit("tables", "C", dataset, seed, ("sm-laplace", "mass", "GreedyRL"), (1.0, 10.0))


def importance(effort: Effort) -> Iterator[Unit]:
    """The paper's Table IV: do private lists rest on the same features as GreedyRL's? Adult alone, as published (set-up C).

    The text says k = 7, the published numbers are those of k = 5. GreedyRL uses about four features, so any top-k fills up with
    features of importance 0; the second reading counts only those above it. The reference stops at the minimum support, as the
    private learners do.
    """
    for seed in range(effort.seeds):
        yield Unit("importance", "C", "Adult", seed, ("sm-laplace", "gl-laplace", "mass"), (1.0, 10.0), also="overlaps")


def noisy_counts(effort: Effort) -> Iterator[Unit]:
    """The paper's Figures 2 and 3: Gini of noisy counts against noisy Gini (``gl-laplace``), with few and many rules (set-up C).

    Single literals, and (but for German Credit, as published) pairs of them.
    """
    for seed in range(effort.seeds):
        for dataset in DATASETS:
            for max_literals in (1,) if dataset == "German Credit" else (1, 2):
                methods = ("noisy-counts", "gl-laplace")
                yield Unit("noisy-counts", "C", dataset, seed, methods, EPSILONS_OF_COUNTS, max_literals=max_literals)


def hyper_parameters(effort: Effort) -> Iterator[Unit]:
    """The paper's Section V.D: the maximal length K, the minimum support lambda and the cardinality of rules (set-up C).

    One parameter at a time away from the published ones, on fewer splits than the rest.
    """
    setup = SETUPS["C"]
    for seed in range(max(2, effort.seeds // 4)):
        for dataset in DATASETS:
            published = (setup.max_length, MAX_LITERALS[dataset], MIN_SUPPORT[dataset])
            settings = {published}
            settings |= {(length, *published[1:]) for length in LENGTHS}
            settings |= {(published[0], card, published[2]) for card in CARDS if dataset != "German Credit"}
            settings |= {(*published[:2], support) for support in SUPPORTS}
            methods = ("sm-laplace", "gl-laplace", "mass", "GreedyRL")
            for max_length, max_literals, min_support in sorted(settings):
                yield Unit(
                    *("hyper-parameters", "C", dataset, seed, methods, (1.0, 10.0)),
                    max_length=max_length,
                    max_literals=max_literals,
                    min_support=min_support,
                )


def membership(effort: Effort) -> Iterator[Unit]:
    """The paper's appendix: can an attacker tell which records a list was learned from? (set-up C, epsilon 10)

    On the splits that optimal lists have. Nothing where the toolbox is missing. The label-only attack is
    ART's gap attack. The paper tried the one along the decision boundary, and found that it says nothing where every feature is
    0 or 1.
    """
    for seed in range(effort.list_seeds if find_spec("art") else 0):
        for dataset in DATASETS:
            methods = ("GreedyRL", "sm-laplace", "mass", "optimal lists")
            yield Unit("membership", "C", dataset, seed, methods, (10.0,), also="attacks")


def accuracy(effort: Effort) -> Iterator[Unit]:
    """The paper's Figure 4: test accuracy over epsilon, with our learners beside the published ones (set-up A)."""
    many = tuple(np.geomspace(LOWEST, HIGHEST, effort.epsilons).tolist())
    few = tuple(np.geomspace(LOWEST, HIGHEST, effort.list_epsilons).tolist())
    for seed in range(effort.seeds):
        for dataset in DATASETS:
            yield Unit("accuracy", "A", dataset, seed, (*PUBLISHED, "mass", "GreedyRL"), many)
            if seed < effort.list_seeds:
                yield Unit("accuracy", "A", dataset, seed, ("optimal lists",), few)
                yield Unit("accuracy", "A", dataset, seed, ("optimal trees",), few)


GRIDS: tuple[Grid, ...] = (tables, importance, noisy_counts, hyper_parameters, membership, accuracy)  # short ones first

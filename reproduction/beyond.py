"""Which fits answer the paper's conclusion: `python -m reproduction --beyond`.

Accuracy over epsilon with the paper's methods, inverse sensitivity, trees and forests: on the published features (set-up A), and
on all columns with the datasets' own public schemas (set-up D). What takes longer is fitted at three epsilons.
"""

from collections.abc import Iterator

from .runner import Unit
from .setups import DATASETS

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
FEW_EPSILONS = (0.1, 1.0, 10.0)
SPLITS, QUICK_SPLITS = 100, 2
COLUMNS = {"D": "all columns", "A": "the paper's features"}

PAPER = ("sm-laplace", "sm-cauchy", "gl-laplace")
LISTS = (*PAPER, "mass", "inverse", "purity", "optimal lists")
TREES = ("optimal trees", "greedy trees, mass", "greedy trees, sm-laplace")
FORESTS = ("forest, parts", "forest, greedy parts", "forest, shares", "forest, columns")
RANDOM_FORESTS = ("random forest, smooth", "random forest, proved")
NOT_PRIVATE = ("GreedyRL", "best tree")

SLOW = ("inverse", *FORESTS)
FAST = tuple(m for m in (*LISTS, *TREES, *RANDOM_FORESTS, *NOT_PRIVATE) if m not in ("inverse", "optimal lists"))


def units(quick: bool) -> Iterator[Unit]:
    """In an order in which the fits on one split follow each other, so that its vault is filled once."""
    for seed in range(QUICK_SPLITS if quick else SPLITS):
        for dataset in DATASETS:
            for setup in COLUMNS:
                yield from _on_a_split(setup, dataset, seed)


def _on_a_split(setup: str, dataset: str, seed: int) -> Iterator[Unit]:
    """Rules of lists have up to two literals where they have in the paper, one elsewhere, and in optimal lists.

    Those have up to three rules; two among German Credit's 182 literals. Trees have depth 4 where tests are
    few, on the published features of COMPAS and Adult, and depth 3 elsewhere.
    """
    where = ("beyond", setup, dataset, seed)
    depth = 4 if setup == "A" and dataset != "German Credit" else 3
    card = 1 if setup == "D" else None
    yield Unit(*where, FAST, EPSILONS, max_literals=card, max_depth=depth)
    yield Unit(*where, SLOW, FEW_EPSILONS, max_literals=card, max_depth=depth)
    short = 3 if (dataset, setup) == ("German Credit", "A") else None
    yield Unit(*where, ("optimal lists",), EPSILONS, max_length=short, max_literals=1, max_depth=depth)

"""Trees beside rule lists, and on all columns of Adult beside DP-EBM: 70/30 splits, all of epsilon for each classifier."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dp_ebm import DpEbm, columns_of, tests_of
from splits import EPSILONS, adult_20, compas_12, fine_adult, fit, header, row, split_of

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier


def trees(**parameters: Any) -> Callable[[float, int], Any]:
    """A classifier for an epsilon and a seed."""
    return lambda epsilon, seed: DPOptimalTreeClassifier(epsilon=epsilon, random_state=seed, **parameters)


def lists(**parameters: Any) -> Callable[[float, int], Any]:
    """The same."""
    return lambda epsilon, seed: DPOptimalRuleListClassifier(epsilon=epsilon, random_state=seed, **parameters)


CASES = {
    "COMPAS, 12 features": (
        compas_12,
        {
            "tree, depth 3": trees(max_depth=3),
            "tree, depth 4": trees(max_depth=4),
            "tree, depth 5": trees(max_depth=5),
            "list, up to 3 literals": lists(max_length=4, max_literals=1),
            "list, up to 4 pairs": lists(max_length=5, max_literals=2),
        },
    ),
    "Adult, 20 features": (
        adult_20,
        {
            "tree, depth 3": trees(max_depth=3),
            "tree, depth 4": trees(max_depth=4),
            "tree, depth 5": trees(max_depth=5),
            "list, up to 3 literals": lists(max_length=4, max_literals=1),
            "list, up to 3 pairs": lists(max_length=4, max_literals=2),
        },
    ),
    "Adult, all columns, fine cuts": (
        fine_adult,
        {
            "tree, depth 3": trees(max_depth=3),
            "tree, depth 4": trees(max_depth=4),
            "tree, depth 3, then 2": trees(stages=(3, 2)),
            "tree, depth 3, then 3": trees(stages=(3, 3)),
            "list, up to 3 literals": lists(max_length=4, max_literals=1),
        },
    ),
}


def compare(seeds: Iterable[int], peers: Path | None, only: str) -> None:
    """A table for each dataset."""
    for name, (load, learners) in CASES.items():
        if only in name:
            print(f"\n{name}, {len(list(seeds))} splits\n\n{header(EPSILONS, area=True)}", flush=True)
            table(load(), learners, seeds, peers if "all columns" in name else None)


def table(
    data: Any, learners: dict[str, Callable[[float, int], Any]], seeds: Iterable[int], peers: Path | None
) -> None:
    """A row for each learner; means with their standard errors."""
    splits = [split_of(data, seed) for seed in seeds]
    for name, make in learners.items():
        fits = [[fit(split, make(epsilon, split.seed)) for split in splits] for epsilon in EPSILONS]
        print(row(name, fits, area=True), flush=True)
    if peers is not None:
        ebm = DpEbm(peers)
        for name, (X, kinds) in {
            "DP-EBM on the columns": columns_of(data),
            "DP-EBM on the tests": tests_of(data),
        }.items():
            found = [ebm.fits(split, X, kinds, EPSILONS) for split in splits]
            print(row(name, list(zip(*found, strict=True)), area=True), flush=True)
        ebm.close()

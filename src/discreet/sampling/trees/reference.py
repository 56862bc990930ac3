"""The law of a draw of a tree by its definition: every tree with its weight. Slow, obvious, and the measure of the fast one.

Nothing here is shared with the sums: no part is a set, no test is turned, nothing is left out. It works for a handful of tests.
"""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...cells.cells import Array
from ...conditions.numbered_tree import Fork, Leaf, NumberedTree
from .problem import ACCURACY, TreeProblem


def law_of_trees(problem: TreeProblem, depth: int) -> tuple[list[NumberedTree], Array]:
    """Every tree that can be drawn, and the logarithm of its weight, ``prior * exp(rate * score)``; they are not normalised."""
    everywhere = np.ones(problem.truth.shape[1], bool)
    trees, logs = zip(*_trees(problem, depth, everywhere), strict=True)
    return list(trees), np.array(logs)


def _trees(problem: TreeProblem, depth: int, inside: npt.NDArray[np.bool_]) -> Iterator[tuple[NumberedTree, float]]:
    prior = problem.prior
    counts = [float(c[inside].sum()) for c in problem.counts]
    stop = math.log(1.0 - prior.split) if depth and problem.n_tests else 0.0
    if problem.score == ACCURACY:
        for label, count in enumerate(counts):
            yield Leaf(label), stop - math.log(len(counts)) + problem.rate * count
    else:
        n = sum(counts)
        mass = (n - sum(c * c for c in counts) / n) / 2 if n else 0.0
        yield Leaf(), stop - problem.rate * mass
    if not depth:
        return
    for test, truth in enumerate(problem.truth):
        if prior.tests[test] > 0:
            log_prior = math.log(prior.split) + math.log(prior.tests[test])
            below = list(_trees(problem, depth - 1, inside & ~truth))
            for true, log_true in _trees(problem, depth - 1, inside & truth):
                for other, log_other in below:
                    yield Fork(test, true, other), log_prior + log_true + log_other

"""The law of a draw of a tree by its definition: every tree with its weight. Slow, obvious, and the measure of the fast one.

Nothing here is shared with the sums: no part is a set, no test is turned, nothing is left out. It works for a handful of tests.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ....rules.limits import Limits
from ....rules.numbered_tree import Fork, Leaf, NumberedTree
from ...counts.cells import Array
from .problems import TreeProblem
from .worth import ACCURACY


def law_of_trees(problem: TreeProblem, depth: int) -> tuple[list[NumberedTree], Array]:
    """Every tree that can be drawn, and the logarithm of its weight, ``prior * exp(rate * score)``; they are not normalised."""
    everywhere = np.ones(problem.truth.shape[1], bool)
    found = [(tree, log) for tree, log in _trees(problem, depth, everywhere) if keeps_to(tree, problem.limits)]
    trees, logs = zip(*found, strict=True)
    return list(trees), np.array(logs)


def keeps_to(tree: NumberedTree, limits: Limits | None) -> bool:
    """Whether a tree can be drawn. What is behind a test that was asked before is free."""
    return limits is None or _labels(tree, limits, {}) is not None


def _labels(tree: NumberedTree, limits: Limits, asked: Mapping[int, bool]) -> set[int] | None:
    """The ranks of the labels of a tree; None if it does not keep to the limits."""
    if isinstance(tree, Leaf):
        return set() if tree.label is None else {limits.labels.index(tree.label)}
    if tree.test in asked:
        return _labels(tree.true if asked[tree.test] else tree.other, limits, asked)
    used = limits.used
    for test in (*asked, tree.test):
        used |= int(limits.columns[test])
    if any(used & columns == columns for columns in limits.forbidden):
        return None
    true = _labels(tree.true, limits, {**asked, tree.test: True})
    other = _labels(tree.other, limits, {**asked, tree.test: False})
    if true is None or other is None:
        return None
    above = any(a > b for a in true for b in other)
    below = any(a < b for a in true for b in other)
    return None if (limits.not_above[tree.test] and above) or (limits.not_below[tree.test] and below) else true | other


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

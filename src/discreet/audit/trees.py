"""Level 1 for draws of whole trees: all neighbouring tables of a few records, all trees up to depth 2 over three tests.

The probability of a tree is its prior times ``exp(epsilon * score)``. The score is a sum over leaves, and what a leaf is worth
follows from which patterns of the tests lead to it; so the laws of all tables are one product. That the sampler is handed this
law, and that the choices it makes on its way from the root down multiply to it, is checked on some of the tables.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from ..private.sampling.trees.drawing import WeighedTrees
from ..private.sampling.trees.on_cells import TreeProblem
from ..private.sampling.trees.on_tuples import TupleTrees
from ..private.sampling.trees.reference import law_of_trees
from ..private.sampling.trees.sums import Posed
from ..private.sampling.trees.worth import ACCURACY, MASS
from ..rules.candidates import Candidates
from ..rules.numbered_tree import Fork, Leaf, NumberedTree, Path, leaves_of
from ..rules.tree_prior import TreePrior
from .choices import Finding
from .lists import (
    N_RULES,
    TRUTH,
    Law,
    Laws,
    by_table,
    counted,
    largest_disagreement,
    multiplied_out,
    normalised,
    worst_draw,
)
from .loss import Array

DEPTH = 2
SPLIT = 0.5
PRIOR = TreePrior(SPLIT, np.full(N_RULES, 1.0 / N_RULES))


@lru_cache
def all_trees(score: str) -> tuple[tuple[NumberedTree, float], ...]:
    """Each with its prior probability. Trees that are drawn by mass have no labels."""

    def trees(depth: int) -> Iterator[tuple[NumberedTree, float]]:
        leaves = [Leaf(0), Leaf(1)] if score == ACCURACY else [Leaf()]
        for leaf in leaves:
            yield leaf, (1.0 - SPLIT if depth else 1.0) / len(leaves)
        for test in range(N_RULES if depth else 0):
            for true, p in trees(depth - 1):
                for other, q in trees(depth - 1):
                    yield Fork(test, true, other), SPLIT / N_RULES * p * q

    return tuple(trees(DEPTH))


def _inside(path: Path) -> Array:
    """Which patterns lead to a leaf."""
    inside = np.ones(TRUTH.shape[1])
    for test, side in path:
        inside *= TRUTH[test] == side
    return inside


def _accuracy(counts: Array) -> tuple[Array, Array]:
    return counts[:, 0], counts[:, 1]


def _minus_mass(counts: Array) -> tuple[Array, ...]:
    a, b = counts[:, 0], counts[:, 1]
    return (-a * b / np.maximum(a + b, 1.0),)


def laws_by_definition(rate: float, score: str) -> Laws:
    """The law of Theorem 20."""
    places: dict[tuple[bytes, int | None], int] = {}
    rows = []
    for tree, _ in all_trees(score):
        row: dict[int, float] = {}
        for path, leaf in leaves_of(tree):
            place = places.setdefault((_inside(path).tobytes(), leaf.label), len(places))
            row[place] = row.get(place, 0.0) + 1.0
        rows.append(row)
    belongs = np.zeros((len(rows), len(places)))  # which leaves each tree has
    for i, row in enumerate(rows):
        belongs[i, list(row)] = list(row.values())
    prior = np.log([p for _, p in all_trees(score)])
    value = _accuracy if score == ACCURACY else _minus_mass

    def laws(tables: Array) -> Array:
        counts = tables.reshape(len(tables), 2, -1)
        worth = np.stack([value(counts @ np.frombuffer(part))[label or 0] for part, label in places], axis=1)
        return normalised(rate * worth @ belongs.T + prior)

    return laws


Weights = Callable[[TreeProblem, int], Law]


def law_of_choices(problem: Posed, depth: int) -> Law:
    """Every tree with its probability, from the sampler's own code."""
    return multiplied_out(WeighedTrees(problem, depth).draw_by)


def law_on_tuples(problem: TreeProblem, depth: int) -> Law:
    """The same from joint counts of columns: each test is a Boolean column."""
    tests, tuples = counted(problem.truth, problem.counts, max(2, depth), Candidates.of_tests)
    weights = np.ones(len(problem.counts))
    return law_of_choices(TupleTrees(tuples, tests, weights, problem.prior, problem.rate, problem.score), depth)


def laws_by_problem(
    rate: float,
    score: str,
    change: Callable[[TreeProblem], TreeProblem] = lambda problem: problem,
    weights: Weights = law_of_trees,
) -> Laws:
    """The same from what the sampler gets, perhaps changed (as a twin would); a table at a time."""

    def law(counts: Array) -> Law:
        trees, logs = weights(change(TreeProblem(TRUTH, counts, PRIOR, rate, score)), DEPTH)
        return trees, logs - np.logaddexp.reduce(logs)

    return by_table([tree for tree, _ in all_trees(score)], law)


def worst_tree(rate: float, most: int, score: str, laws: Laws | None = None) -> Iterator[Finding]:
    """Compare all tables of 0, 1, ... most records with all that have one more; one finding for each size."""
    trees = [tree for tree, _ in all_trees(score)]
    return worst_draw(rate, most, laws or laws_by_definition(rate, score), trees)


def disagreement(rate: float, tables: int, most: int, seed: int, weights: Weights = law_of_trees) -> float:
    """Between the law by definition and that of what the sampler gets (or does), on random tables."""
    return max(
        largest_disagreement(
            laws_by_definition(rate, score), laws_by_problem(rate, score, weights=weights), tables, most, seed
        )
        for score in (ACCURACY, MASS)
    )

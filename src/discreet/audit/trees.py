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
from .explore import Explorer
from .lists import KINDS, N_RULES, TRUTH, Laws, counted, worst_draw
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
        logs = rate * worth @ belongs.T + prior
        top = logs.max(1, keepdims=True)
        law: Array = logs - top - np.log(np.exp(logs - top).sum(1, keepdims=True))
        return law

    return laws


Change = Callable[[TreeProblem], TreeProblem]
Weights = Callable[[TreeProblem, int], tuple[list[NumberedTree], Array]]


def law_of_choices(problem: Posed, depth: int) -> tuple[list[NumberedTree], Array]:
    """Every tree with its probability, from the sampler's own code: each of its choices is a fork."""
    weighed, explorer = WeighedTrees(problem, depth), Explorer()
    trees, found = [], []
    for _ in explorer.paths():
        trees.append(weighed.draw_by(explorer.choose))
        found.append(explorer.log_p)
    return trees, np.array(found)


def law_on_tuples(problem: TreeProblem, depth: int) -> tuple[list[NumberedTree], Array]:
    """The same from joint counts of columns: each test is a Boolean column."""
    tests, tuples = counted(problem.truth, problem.counts, max(2, depth), Candidates.of_tests)
    weights = np.ones(len(problem.counts))
    return law_of_choices(TupleTrees(tuples, tests, weights, problem.prior, problem.rate, problem.score), depth)


def _normalised(trees: list[NumberedTree], logs: Array) -> tuple[list[NumberedTree], Array]:
    """From logarithms of weights to those of probabilities."""
    return trees, logs - np.logaddexp.reduce(logs)


def laws_by_problem(rate: float, score: str, change: Change = lambda p: p, weights: Weights = law_of_trees) -> Laws:
    """The same from what the sampler gets, perhaps changed (as a twin would); a table at a time."""

    place = {tree: i for i, (tree, _) in enumerate(all_trees(score))}

    @lru_cache(maxsize=1000)
    def law(table: tuple[float, ...]) -> Array:
        problem = TreeProblem(TRUTH, np.array(table).reshape(2, -1), PRIOR, rate, score)
        row = np.full(len(place), -np.inf)
        for tree, log in zip(*_normalised(*weights(change(problem), DEPTH)), strict=True):
            row[place[tree]] = np.logaddexp(row[place[tree]], log)
        return row

    def laws(tables: Array) -> Array:
        return np.array([law(tuple(table.tolist())) for table in tables])

    return laws


def worst_tree(rate: float, most: int, score: str, laws: Laws | None = None) -> Iterator[Finding]:
    """Compare all tables of 0, 1, ... most records with all that have one more; one finding for each size."""
    trees = [tree for tree, _ in all_trees(score)]
    return worst_draw(rate, most, laws or laws_by_definition(rate, score), trees)


def largest_disagreement(rate: float, tables: int, most: int, seed: int, weights: Weights = law_of_trees) -> float:
    """Between the law by definition and that of what the sampler gets (or does), on random tables."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.multinomial(rng.integers(most + 1), np.ones(len(KINDS)) / len(KINDS)) for _ in range(tables)])
    return max(
        float(np.abs(laws_by_definition(rate, s)(drawn) - laws_by_problem(rate, s, weights=weights)(drawn)).max())
        for s in (ACCURACY, MASS)
    )

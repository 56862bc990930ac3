"""Trees of up to three levels from joint counts of columns: the enumerated distribution, and the same trees as from patterns."""

import numpy as np
import pytest

from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.optimum import best_tree
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees.drawing import WeighedTrees
from discreet.private.sampling.trees.log_weights import SCORES
from discreet.private.sampling.trees.problems import MarginalTrees, TreeProblem
from discreet.private.sampling.trees.ranges import sum_for
from discreet.private.sampling.trees.sums import TreeSums
from discreet.rules.prior import TreePrior

from ..support.slices import slow_but
from ..support.small_tables import small_table

KINDS = [(depth, classes, score) for depth in (1, 2, 3) for classes in (2, 3) for score in SCORES]
PROBLEMS = slow_but([(seed, *KINDS[seed % len(KINDS)]) for seed in range(24)], lambda problem: problem[0] < len(KINDS))


def problem(seed, depth, n_classes, score):
    """The same from marginals and from patterns: a few tests, some of no weight, class weights for some."""
    rng = np.random.default_rng(seed)
    table = small_table(seed, n_classes, n_rules=2 if depth == 3 else 4, tests=True)
    weights = np.ones(n_classes) if seed % 3 else rng.uniform(0.3, 1.0, n_classes)
    tests = rng.choice([1.0, 2.0, 0.0], len(table.candidates))
    tests[0] = 1.0
    prior, rate = TreePrior(float(rng.uniform(0.2, 0.8)), tests / tests.sum()), float(rng.uniform(0.05, 1.5))
    on_marginals = MarginalTrees(table.marginals(max(2, depth)), table.candidates, weights, prior, rate, score)
    return on_marginals, TreeProblem(table.truth(), table.counts(weights), prior, rate, score)


@pytest.mark.parametrize(("seed", "depth", "n_classes", "score"), PROBLEMS)
def test_the_sum_over_all_trees_is_that_of_the_enumeration(seed, depth, n_classes, score):
    on_marginals, on_patterns = problem(seed, depth, n_classes, score)
    flipped, _, _ = on_marginals.flipped()
    log_weights = sum_for(flipped)
    found = float(TreeSums(flipped, depth, log_weights, lambda: None).tables[depth][0][0]) + log_weights.left_out(
        on_marginals.class_counts({})
    )
    _, logs = distribution_of_trees(on_patterns, depth)
    assert found == pytest.approx(float(np.logaddexp.reduce(logs)), abs=1e-9)


@pytest.mark.parametrize(("seed", "depth", "n_classes", "score"), PROBLEMS)
def test_the_same_random_numbers_give_the_same_tree(seed, depth, n_classes, score):
    on_marginals, on_patterns = problem(seed, depth, n_classes, score)
    for draw in range(20):
        expected = WeighedTrees(on_patterns, depth).draw(SeededEntropy(draw))
        assert WeighedTrees(on_marginals, depth).draw(SeededEntropy(draw)) == expected


@pytest.mark.parametrize(("seed", "depth", "n_classes", "score"), PROBLEMS)
def test_the_best_tree_is_as_good(seed, depth, n_classes, score):
    on_marginals, on_patterns = problem(seed, depth, n_classes, score)
    assert best_tree(on_marginals, depth)[1] == pytest.approx(best_tree(on_patterns, depth)[1], abs=1e-6)


def test_more_than_three_tests_are_not_counted_together():
    on_marginals, _ = problem(2, 3, 2, "accuracy")
    with pytest.raises(AssertionError, match="three tests"):
        WeighedTrees(on_marginals, 4).draw(SeededEntropy(0))

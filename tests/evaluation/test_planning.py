"""What is said about an epsilon beforehand, against exact distributions."""

import math
from itertools import pairwise

import numpy as np
import pytest

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    Numeric,
    Schema,
)
from discreet.audit.draws import KINDS, LISTS, N_RULES, list_distributions
from discreet.evaluation.planning import EPSILONS, attackers_chance, expect, worst_loss, worst_loss_of_trees
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.rules.candidates import NumberedFork, leaves_of
from discreet.rules.prior import TreePrior


def correct():
    """(lists, kinds): whether a list classifies a record of a kind correctly, from the distribution at an enormous rate."""
    one_record_each = np.eye(len(KINDS))
    logs = list_distributions(50.0)(one_record_each)  # (kinds, lists); right ones are likelier by e^50
    prior = list_distributions(0.0)(one_record_each)
    return (logs - prior > -25.0).T


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
def test_a_list_is_as_good_as_was_said_in_95_of_100_draws(epsilon):
    rng = np.random.default_rng(0)
    right, worst = correct(), 0.0
    for _ in range(30):
        table = rng.integers(0, 30, len(KINDS)).astype(float)
        n = int(table.sum())
        found = np.exp(list_distributions(epsilon)(table[None])[0])
        accuracy = right @ table / n
        bound = worst_loss(epsilon, n, N_RULES, 2, N_RULES + 1, counts_share=0.0)
        assert found[accuracy < accuracy.max() - bound - 1e-12].sum() <= 0.05
        worst = max(worst, found[accuracy < accuracy.max() - bound / 6].sum())
    if epsilon < 1:
        assert worst > 0.05  # a sixth of it would not do


def test_lists_are_counted_as_the_prior_counts_them():
    longest = [x for x in LISTS if len(x[0]) == N_RULES]
    log_prior = -math.log(N_RULES + 1) - math.log(len(longest))
    expected = (-log_prior + math.log(20)) / (0.5 * 0.9) / 1000
    assert worst_loss(0.5, 1000, N_RULES, 2, N_RULES + 1) == pytest.approx(expected)
    assert worst_loss(1e-6, 10, 50) == 1.0


def expected(learner, schema, **parameters):
    """Of a thousand records, at each epsilon."""
    return [expect(learner(schema=schema, epsilon=e, **parameters).plan(), 1000) for e in EPSILONS]


def test_more_epsilon_is_less_loss_and_less_privacy():
    schema = Schema([Boolean("a"), Boolean("b")], classes=["x", "y", "z"])
    found = expected(DPOptimalRuleListClassifier, schema)
    assert found[-1].loss == worst_loss(10.0, 1000, 4, 3)
    assert all(a.loss >= b.loss and a.attacker < b.attacker for a, b in pairwise(found))
    assert attackers_chance(0.0) == 0.5
    assert attackers_chance(math.log(3)) == pytest.approx(0.75)
    assert attackers_chance(1.0, prior=0.01) == pytest.approx(math.e / (math.e + 99))


def correct_of(tree, problem):
    """How many records a tree classifies correctly."""
    total = 0.0
    for path, leaf in leaves_of(tree):
        inside = np.ones(problem.truth.shape[1], bool)
        for test, side in path:
            inside &= problem.truth[test] == side
        total += problem.counts[leaf.label, inside].sum()
    return total


@pytest.mark.parametrize("split", [0.2, 0.5, 0.97])
@pytest.mark.parametrize(("epsilon", "depth"), [(0.1, 1), (0.1, 2), (0.5, 2)])
def test_a_tree_is_as_good_as_was_said_in_95_of_100_draws(epsilon, depth, split):
    rng = np.random.default_rng(0)
    weights = np.array([0.6, 0.3, 0.1])
    worst = 0.0
    for _ in range(10):
        counts = rng.integers(0, 30, (2, 8)).astype(float)
        truth = np.array([[(cell >> test) & 1 for cell in range(8)] for test in range(3)], bool)
        problem = TreeProblem(truth, counts, TreePrior(split, weights), epsilon)
        trees, logs = distribution_of_trees(problem, depth)
        chances = np.exp(logs - np.logaddexp.reduce(logs))
        accuracy = np.array([correct_of(tree, problem) for tree in trees]) / counts.sum()
        bound = worst_loss_of_trees(epsilon, int(counts.sum()), 3, 2, depth, split, 0.1, counts_share=0.0)
        assert chances[accuracy < accuracy.max() - bound - 1e-12].sum() <= 0.05
        worst = max(worst, chances[accuracy < accuracy.max() - bound / 8].sum())
    assert worst > 0.05  # an eighth of it would not do


@pytest.mark.parametrize("split", [0.05, 0.5, 0.999])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_rarest_tree_is_the_one_that_counts(depth, split):
    nothing = TreeProblem(np.zeros((3, 0), bool), np.zeros((2, 0)), TreePrior(split, np.array([0.5, 0.3, 0.2])), 1.0)
    trees, log_priors = distribution_of_trees(nothing, depth)
    assert np.logaddexp.reduce(log_priors) == pytest.approx(0.0, abs=1e-12)
    assert any(isinstance(tree, NumberedFork) for tree in trees) == (depth > 0)
    expected = (-log_priors.min() + math.log(20)) / (0.5 * 0.9) / 1000
    assert worst_loss_of_trees(0.5, 1000, 3, 2, depth, split, 0.2) == pytest.approx(expected)


def test_what_is_expected_of_trees():
    schema = Schema([Numeric("a", cuts=range(9)), Boolean("b")], classes=["x", "y", "z"])
    found = expected(DPOptimalTreeClassifier, schema)
    assert all(a.loss >= b.loss and a.attacker < b.attacker for a, b in pairwise(found))
    assert [e.attacker for e in found] == [e.attacker for e in expected(DPOptimalRuleListClassifier, schema)]
    assert found[-1].loss == worst_loss_of_trees(10.0, 1000, 10, 3)
    by_column = expected(DPOptimalTreeClassifier, schema, prior="columns")[-1].loss
    assert by_column == worst_loss_of_trees(10.0, 1000, 10, 3, rarest=1 / 18) > found[-1].loss
    twice, weights = expected(DPOptimalTreeClassifier, schema, records_per_person=2), {"class_weight": {"x": 2}}
    assert twice[-1].loss == worst_loss_of_trees(5.0, 1000, 10, 3)
    for parameters in ({"stages": (1, 1)}, {"criterion": "gini"}, weights):
        assert {e.loss for e in expected(DPOptimalTreeClassifier, schema, **parameters)} == {None}
    for parameters in (
        {"rules_per_draw": 1},
        {"prior": [1, 1, 1, 2]},
        {"prior": {"cards": [1, 2]}, "max_literals": 2},
        weights,
    ):
        assert {e.loss for e in expected(DPOptimalRuleListClassifier, schema, **parameters)} == {None}
    assert {e.loss for e in expected(DPGreedyRuleListClassifier, schema)} == {None}

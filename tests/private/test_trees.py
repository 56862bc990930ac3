"""Trees are drawn exactly from their distribution, computed tree by tree; and the best tree is found."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.private.mechanisms.draws import DrawBudget
from discreet.private.noise.decisions import Chances
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.queries.trees import TreeQueries
from discreet.private.sampling.optimum import best_tree
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees import log_weights, problems, sums
from discreet.private.sampling.trees.drawing import WeighedTrees
from discreet.private.sampling.trees.log_weights import ACCURACY, GINI, SCORES
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.private.sampling.trees.ranges import sum_for
from discreet.private.sampling.trees.sums import TreeSums
from discreet.rules.candidates import Candidates, NumberedFork, NumberedLeaf, leaves_of
from discreet.rules.prior import TreePrior
from tests.privacy.twins import Free

from ..support.small_trees import (
    counts_with_gaps,
    distribution_on_records,
    p_value,
    plain_sum,
    random_tree_problem,
    table_with_gaps,
)

DRAWS = 1_000
LEAST_P = 1e-4

# (seed, depth, classes, score): 36 problems, of which a few are quick
KINDS = [(depth, classes, score) for depth in (1, 2, 3) for classes in (2, 3) for score in SCORES]
PROBLEMS = [(seed, *KINDS[seed % len(KINDS)]) for seed in range(36)]
FAST = {1, 4, 15, 21}


def by_seed(cases):
    return [case if case[0] in FAST else pytest.param(*case, marks=pytest.mark.slow) for case in cases]


def log_sum(problem, depth):
    """The logarithm of Z, from the tables."""
    flipped, _, _ = problem.flipped()
    how = sum_for(flipped)
    return float(TreeSums(flipped, depth, how, lambda: None).tables[depth][0][0]) + how.left_out(problem.counts)


@pytest.mark.parametrize(("seed", "depth", "classes", "score"), by_seed(PROBLEMS))
def test_draws_have_the_distribution_of_the_enumeration(seed, depth, classes, score):
    problem = random_tree_problem(seed, depth, classes, score)
    entropy = SeededEntropy(seed)
    drawn = [WeighedTrees(problem, depth).draw(entropy) for _ in range(DRAWS)]
    assert p_value(*distribution_of_trees(problem, depth), drawn) > LEAST_P


@pytest.mark.parametrize(("seed", "depth", "classes", "score"), PROBLEMS)
def test_the_sum_over_all_trees_is_that_of_the_enumeration(seed, depth, classes, score):
    problem = random_tree_problem(seed, depth, classes, score)
    _, logs = distribution_of_trees(problem, depth)
    assert log_sum(problem, depth) == pytest.approx(float(np.logaddexp.reduce(logs)), abs=1e-9)


def test_the_random_problems_are_what_they_should_be():
    problems = [random_tree_problem(*case) for case in PROBLEMS]
    assert {len(x.counts) for x in problems} == {2, 3}
    assert {x.score for x in problems} == set(SCORES)
    assert any(x.truth.shape[1] == 0 for x in problems)
    assert all((x.prior.tests == 0).any() for x in problems)
    assert any(np.ptp(x.prior.tests[x.prior.tests > 0]) > 0 for x in problems)
    assert any((x.counts != np.rint(x.counts)).any() and x.score == GINI for x in problems)
    assert any((x.truth[0] == ~x.truth[1]).all() and x.truth.shape[1] for x in problems)
    assert min(x.rate for x in problems) < 0.1
    assert max(x.rate for x in problems) > 1.5


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("depth", "tests"), [(3, 6), (4, 5), (5, 4), (5, 1), (6, 2)])
def test_deep_sums_are_those_of_a_plain_recursion(depth, tests, score, n_classes):
    rng = np.random.default_rng(depth + tests)
    weights = rng.uniform(0.5, 2.0, tests)
    for weighted in (False, True):
        counts = rng.integers(0, 3, (n_classes, 20)) * (rng.uniform(0.2, 1.0, (n_classes, 1)) if weighted else 1.0)
        prior = TreePrior(0.6, weights / weights.sum())
        problem = TreeProblem(rng.random((tests, 20)) < 0.45, counts, prior, 0.7, score)
        assert log_sum(problem, depth) == pytest.approx(math.log(plain_sum(problem, depth)), abs=1e-9)


def test_blocks_of_any_size_give_the_same_sums(monkeypatch):
    problem = random_tree_problem(5, 3, 3, GINI)
    expected = log_sum(problem, 3)
    for block in (1, 7, 50):
        for module in (problems, sums):
            monkeypatch.setattr(module, "BLOCK", block)
        assert log_sum(problem, 3) == pytest.approx(expected, abs=1e-12)


def test_a_table_too_large_for_single_precision_loses_no_record(monkeypatch):
    """One record among 2^24 and more: the sums are those of double precision."""
    counts = np.array([[2.0**24 + 1, 3.0, 0.0], [0.0, 5.0, 2.0**23 + 1]])
    truth = np.array([[True, False, True], [False, True, True]])
    problem = TreeProblem(truth, counts, TreePrior(0.5, np.array([0.5, 0.5])), 0.5)
    found = log_sum(problem, 3)
    monkeypatch.setattr(problems, "EXACT_IN_FLOAT32", 0)
    assert found == log_sum(problem, 3)
    monkeypatch.setattr(problems, "EXACT_IN_FLOAT32", 2**60)
    assert found != log_sum(problem, 3)  # in single precision the record would be lost


@pytest.mark.parametrize(("n", "rate"), [(40_000, 1.0), (5_000_000, 0.5), (16_000_000, 2.0)])
def test_weights_far_beyond_what_a_number_can_hold_are_drawn_from(n, rate):
    truth = np.array([[True, False, True, False], [True, True, False, False]])
    for score, classes in ((ACCURACY, 2), (ACCURACY, 3), (GINI, 2)):
        counts = np.zeros((classes, 4))
        counts[0, :2], counts[1, 2:] = n, n
        problem = TreeProblem(truth, counts, TreePrior(0.5, np.array([0.5, 0.5])), rate, score)
        tree = WeighedTrees(problem, 2).draw(SeededEntropy(0))
        labels = {path[-1][1]: leaf.label for path, leaf in leaves_of(tree) if path}
        assert tree.test == 1
        assert math.isfinite(log_sum(problem, 2))
        assert score == GINI or (labels[True], labels[False]) == (0, 1)


@pytest.mark.parametrize("score", SCORES)
def test_depth_0_and_no_records(score):
    problem = random_tree_problem(3, 0, 2, score)
    labels = [WeighedTrees(problem, 0).draw(SeededEntropy(i)) for i in range(DRAWS)]
    assert p_value(*distribution_of_trees(problem, 0), labels) > LEAST_P
    empty = replace(problem, truth=problem.truth[:, :0], counts=problem.counts[:, :0])
    drawn = [WeighedTrees(empty, 2).draw(SeededEntropy(i)) for i in range(DRAWS)]
    assert p_value(*distribution_of_trees(empty, 2), drawn) > LEAST_P
    assert log_sum(empty, 3) == pytest.approx(0.0, abs=1e-12)  # the prior adds up to 1


def test_without_tests_a_tree_is_a_leaf():
    problem = TreeProblem(np.zeros((0, 2), bool), np.array([[1.0, 4.0], [2.0, 0.0]]), TreePrior(0.5, np.zeros(0)), 1.0)
    drawn = [WeighedTrees(problem, 3).draw(SeededEntropy(i)) for i in range(DRAWS)]
    assert p_value(*distribution_of_trees(problem, 3), drawn) > LEAST_P


# -- from records, with values that are missing, by the queries, in stages ----------------------------------------------------


CASES = [
    # (seed, classes, score, weights of tests, class weights, stages)
    (1, 2, ACCURACY, (1, 1, 0, 0), (1.0, 1.0), (2,)),
    (2, 2, ACCURACY, (2, 0, 1, 0), (1.0, 0.4), (1, 1)),
    (3, 3, ACCURACY, (0, 1, 0, 1), (1.0, 0.5, 0.7), (1, 1)),
    (4, 2, GINI, (1, 3, 1, 0), (1.0, 1.0), (2, 1)),
    (5, 3, GINI, (0, 1, 1, 2), (0.3, 1.0, 0.2), (1, 1, 1)),
    (6, 3, GINI, (1, 1, 1, 1), (1.0, 1.0, 1.0), (2,)),
]


@pytest.mark.parametrize(
    ("seed", "classes", "score", "tests", "weights", "stages"),
    [case if case[0] == 2 else pytest.param(*case, marks=pytest.mark.slow) for case in CASES],
)
def test_the_queries_draw_by_the_distribution_of_the_records(seed, classes, score, tests, weights, stages):
    columns, y, schema = table_with_gaps(seed, classes=classes)
    candidates = Candidates.of_tests(schema)
    chances = np.resize(np.array(tests, float), len(candidates))
    prior = TreePrior(0.6, chances / chances.sum())
    budget = DrawBudget(Fraction(1), Fraction(0), Fraction(1, 2))
    distribution = distribution_on_records(columns, y, schema, weights, prior, 0.5, score, stages)
    queries = TreeQueries(
        counts_with_gaps(columns, y, schema), candidates, budget, prior, np.array(weights), score, stages
    ).prepare()
    queries.open(Free(), SeededEntropy(seed))

    def drawn():
        tree = NumberedLeaf()
        for depth in stages:
            tree = queries.grow(tree, depth)
        return tree

    trees, chances = zip(*distribution.items(), strict=True)
    assert sum(chances) == pytest.approx(1.0)
    assert p_value(trees, np.log(chances), [drawn() for _ in range(DRAWS)]) > LEAST_P


def test_the_tables_of_these_tests_have_gaps_and_tests_that_notice():
    columns, _, schema = table_with_gaps(1)
    assert all(None in values or "poet" in values for values in columns.values())
    assert [str(rule) for rule in Candidates.of_tests(schema)] == [
        *("age <= 30", "age is missing", "job = cook", "job = spy", "job is missing", "member"),
    ]


# -- the best tree ------------------------------------------------------------------------------------------------------------


def score_of(problem, tree):
    """Counted on the patterns, and the number of splits. Leaves without a label have the best one, if the score needs one."""
    total, splits = 0.0, -1
    for path, leaf in leaves_of(tree):
        inside = np.ones(problem.truth.shape[1], bool)
        for test, side in path:
            inside &= problem.truth[test] == side
        counts = problem.counts[:, inside].sum(1)
        n = counts.sum()
        if problem.score == ACCURACY:
            total += counts.max() if leaf.label is None else counts[leaf.label]
        else:
            total -= (n - (counts**2).sum() / max(n, 1)) / 2
        splits += 1
    return total, splits


@pytest.mark.parametrize(("score", "n_classes"), [(ACCURACY, 2), (ACCURACY, 3), (GINI, 2), (GINI, 3)])
@pytest.mark.parametrize("part", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 10))])
def test_the_best_tree_is_the_best_of_all(part, score, n_classes):
    """25 problems a part: 1,000 in all."""
    for seed in range(25 * part, 25 * part + 25):
        depth = (2, 1, 2, 3, 0)[seed % 5]
        tests = (2, 6, 4, 2)[depth]
        rng = np.random.default_rng(seed)
        n_patterns = int(rng.integers(0, 8))
        problem = TreeProblem(
            rng.random((tests, n_patterns)) < 0.5,
            rng.integers(0, 4, (n_classes, n_patterns)).astype(float),
            TreePrior(0.5, np.full(tests, 1.0 / tests)),
            1.0,
            score,
        )
        unlabelled, _ = distribution_of_trees(replace(problem, score=GINI), depth)
        found = [score_of(problem, tree) for tree in unlabelled]
        best = max(total for total, _ in found)
        tree, bound = best_tree(problem, depth)
        total, splits = score_of(problem, tree)
        if score == ACCURACY:
            assert total == best == bound
            assert splits == min(s for t, s in found if t == best)
        else:
            assert total == pytest.approx(best, abs=2e-8)
            assert best - 1e-9 <= bound <= best + 2e-8


def test_flipped_tests_are_flipped_back():
    """A test that is true nearly everywhere is asked as it was given."""
    truth = np.array([[True, True, True, False]])
    counts = np.array([[5.0, 5.0, 5.0, 0.0], [0.0, 0.0, 0.0, 5.0]])
    problem = TreeProblem(truth, counts, TreePrior(0.5, np.ones(1)), 1.0)
    assert best_tree(problem, 1) == (NumberedFork(0, NumberedLeaf(0), NumberedLeaf(1)), 20.0)


# -- nothing in it is idle ----------------------------------------------------------------------------------------------------


def flipped_without_flipping_back(self, part, depth, place):
    test = int(self._as_given[place])
    return NumberedFork(test, *(self.tree(sums.side_of(part, test, side), depth - 1) for side in (True, False)))


def asked_twice(part, test, side):
    """A test that was asked before, taken for one that was not."""
    return {**(part or {}), test: side}


@pytest.mark.parametrize(
    ("owner", "name", "broken"),
    [
        (sums.TreeChoices, "fork", flipped_without_flipping_back),
        (sums, "side_of", asked_twice),
        (log_weights.SumProduct, "forked", lambda self, below: self.log_stop + self.log_tests + below),
        (log_weights.SumProduct, "either", lambda self, leaf, splits: np.logaddexp(leaf, splits)),
    ],
)
def test_a_sampler_with_a_piece_broken_is_seen(monkeypatch, owner, name, broken):
    truth = np.array([[1, 1, 1, 1, 0, 1], [0, 1, 0, 0, 1, 0]], bool)
    counts = np.array([[5.0, 0.0, 3.0, 1.0, 0.0, 2.0], [0.0, 4.0, 1.0, 0.0, 5.0, 1.0]])
    problem = TreeProblem(truth, counts, TreePrior(0.3, np.array([0.8, 0.2])), 0.6)
    distribution = distribution_of_trees(problem, 2)
    entropy = SeededEntropy(1)

    def drawn():  # by the choices alone: the coin at the end would correct some of this
        weighed = WeighedTrees(problem, 2)
        return [weighed.draw_by(Chances(entropy).choose) for _ in range(DRAWS)]

    assert p_value(*distribution, drawn()) > LEAST_P
    monkeypatch.setattr(owner, name, broken)
    assert p_value(*distribution, drawn()) < 1e-9

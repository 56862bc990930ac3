"""Models with limits are drawn from the unlimited distribution, given that they keep to them: checked model by model."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from discreet.audit.draws import distribution_of_choices
from discreet.audit.explorer import Explorer
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.limited_lists import LimitedListSums
from discreet.private.sampling.optimum import BestLimitedList, best_tree
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees.drawing import WeighedTrees
from discreet.private.sampling.trees.log_weights import ACCURACY, GINI
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.private.sampling.trees.ranges import LimitedSums, Ranged, RangedSumProduct, Ranges
from discreet.rules.candidates import leaves_of
from discreet.rules.limits import Limits
from discreet.rules.prior import TreePrior

from ..support.exact_distributions import of_lists, of_trees
from ..support.limited import distribution_of_limited_lists, distribution_of_limited_trees, tree_keeps_to
from ..support.slices import slow_but
from ..support.small_problems import p_value as p_value_of_lists
from ..support.small_trees import p_value as p_value_of_trees
from .test_list_sums import random_lists

LEAST_P = 1e-4


def random_limits(seed, n, classes):
    """Of n candidates: compared or not, upwards, downwards or both; of columns that are forbidden in twos or threes, or not."""
    rng = np.random.default_rng(seed)
    kinds, columns = rng.integers(0, 4, n), rng.choice([0, 1, 2, 4], n).astype(np.int64)
    forbidden = ((3,), (3, 7), ())[seed % 3]
    order = tuple(rng.permutation(classes).tolist())
    return Limits((kinds & 1) > 0, (kinds & 2) > 0, columns, forbidden, order, 0, classes - 1, used=seed % 4 // 3 * 4)


def limited_trees(seed, tests=3, classes=2, score=ACCURACY, scale=1.0):
    rng = np.random.default_rng(seed)
    truth, counts = rng.random((tests, 9)) < 0.5, rng.integers(0, 5, (classes, 9)) * scale
    weights = rng.uniform(0.5, 2.0, tests)
    if seed % 2:
        weights[rng.integers(tests)] = 0.0
    limits = random_limits(seed, tests, classes)
    if score == GINI:
        limits = replace(limits, not_above=np.zeros(tests, bool), not_below=np.zeros(tests, bool))
    return TreeProblem(truth, counts, TreePrior(0.4, weights / weights.sum()), 0.5, score, limits)


TREES = [(seed, *case) for seed, case in enumerate([(3, 2, 2), (3, 3, 2), (4, 2, 2), (2, 2, 3), (5, 3, 1)] * 4)]


@pytest.mark.parametrize(("seed", "tests", "classes", "depth"), TREES)
def test_the_choices_of_a_tree_multiply_to_the_distribution_of_the_enumeration(seed, tests, classes, depth):
    problem = limited_trees(seed, tests, classes)
    trees, logs = distribution_of_limited_trees(problem, depth)
    whole = float(np.logaddexp.reduce(logs))
    weighed = WeighedTrees(problem, depth)
    total = weighed._sums.log_whole
    assert total + weighed._log_weights.left_out(problem.class_counts({})) == pytest.approx(whole, abs=1e-9)
    if len(trees) < 3_000:
        expected = dict(zip(trees, logs - whole, strict=True))
        found = {tree: log for tree, log in zip(*distribution_of_choices(problem, depth), strict=True) if log > -np.inf}
        assert found.keys() == expected.keys()
        assert max(abs(found[tree] - expected[tree]) for tree in found) < 1e-9


@pytest.mark.parametrize(("classes", "depth"), slow_but([(2, 2), (3, 2), (2, 3)], [(3, 2)]))
def test_drawn_trees_follow_the_enumeration_and_all_keep_to_the_limits(classes, depth):
    problem = limited_trees(2, 3 if depth == 2 else 2, classes)
    entropy, weighed = SeededEntropy(0), WeighedTrees(problem, depth)
    drawn = [weighed.draw(entropy) for _ in range(1_000)]
    assert all(tree_keeps_to(tree, problem.limits) for tree in drawn)
    assert p_value_of_trees(*distribution_of_limited_trees(problem, depth), drawn) > LEAST_P
    free = replace(problem, limits=None)
    assert not all(tree_keeps_to(tree, problem.limits) for tree in distribution_of_trees(free, depth)[0])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_trees_by_gini_take_columns_that_may_not_be_used_together(depth):
    problem = limited_trees(4, 2 if depth == 3 else 3, 3, GINI)
    columns = np.array([1, 2, 0][: problem.n_tests], np.int64)
    problem = replace(problem, limits=replace(problem.limits, columns=columns, forbidden=(3,), used=0))
    trees, logs = distribution_of_limited_trees(problem, depth)
    expected = dict(zip(trees, logs - np.logaddexp.reduce(logs), strict=True))
    found = dict(zip(*distribution_of_choices(problem, depth), strict=True))
    assert {tree: log for tree, log in found.items() if log > -np.inf} == pytest.approx(expected, abs=1e-9)
    assert len(expected) < len(distribution_of_trees(replace(problem, limits=None), depth)[0]) or depth == 1


@pytest.mark.parametrize(("seed", "tests", "classes", "depth"), [case for case in TREES if case[3] < 3])
def test_the_best_tree_that_keeps_to_the_limits_is_the_best_of_the_enumeration(seed, tests, classes, depth):
    problem = limited_trees(seed, tests, classes)
    problem = replace(problem, prior=TreePrior(0.5, np.full(tests, 1 / tests)))

    def score(tree):
        return sum(problem.counts[leaf.label, problem.patterns_in(path)].sum() for path, leaf in leaves_of(tree))

    trees, _ = distribution_of_limited_trees(problem, depth)
    tree, bound = best_tree(problem, depth)
    assert tree in trees
    assert score(tree) == bound == max(map(score, trees))


@pytest.mark.parametrize(
    ("rate", "scale"),
    slow_but(
        [(1e-9, 1), (0.3, 1), (2.0, 1), (1.0, 100_000), (1024.0, 10**7)], [(1e-9, 1), (1.0, 100_000), (1024.0, 10**7)]
    ),
)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_no_limited_tree_is_accepted_with_more_than_certainty(classes, depth, rate, scale):
    """So the distribution is exact: to fifty digits (docs/theory/rounding.md, Theorem 28a)."""
    for seed in (4, 5):
        problem = replace(limited_trees(seed, 2, classes, scale=float(scale)), rate=rate)
        weighed = WeighedTrees(problem, depth)
        found, most = of_trees(weighed), weighed._log_most()
        assert found.largest() <= Decimal(most)
        assert found.furthest(most) < Decimal("1e-50")
        assert found.too_soon(most, weighed._doubt())[0] <= 0
        assert float(Decimal(most) - found.largest()) < 1e-5 + 1e-9 * rate * scale  # and hardly any is refused


@pytest.mark.parametrize("split", [5e-324, 0.4, 1 - 2**-53])
@pytest.mark.parametrize(("tests", "classes", "depth"), [(2, 5, 1), (1, 3, 2)])
def test_limited_trees_of_many_classes_and_uneven_priors_are_exact(tests, classes, depth, split):
    for seed, weights in ((4, np.array([1.0, 1e-9])), (7, np.ones(2))):
        prior = TreePrior(split, weights[:tests] / weights[:tests].sum())
        problem = replace(limited_trees(2 * seed, tests, classes), prior=prior, rate=1e-3)
        limits = replace(problem.limits, not_above=np.arange(tests) == 0, not_below=np.zeros(tests, bool))
        weighed = WeighedTrees(replace(problem, limits=limits), depth)
        found, most = of_trees(weighed), weighed._log_most()
        assert found.largest() <= Decimal(most)
        assert found.too_soon(most, weighed._doubt())[0] <= 0


def break_ranges(patch, size):
    """Each leaf, and each sum (over pairs of ranges, over tests, of a leaf and splits, of all ranges) is off by up to so much."""

    def off(method):
        def broken(self, *given):
            found = method(self, *given)
            return found + size * np.sin(1e4 * np.where(np.isfinite(found), found, 0.0))

        return broken

    for name in ("of_label", "put_together", "either"):
        patch.setattr(RangedSumProduct, name, off(getattr(RangedSumProduct, name)))


def with_margin_for(patch, size):
    exact = RangedSumProduct.error
    patch.setattr(RangedSumProduct, "error", lambda self, counts: exact(self, counts) + size)


def test_limited_trees_need_a_margin_for_four_sums_and_no_more(monkeypatch):
    """Three at each node and a fourth at the root, where two errors are allowed for each: docs/theory, Theorem 28a."""
    size, too_small, too_soon = 1e-4, [], []
    for seed in (4, 5, 6):
        with monkeypatch.context() as patch:
            break_ranges(patch, size)
            weighed = WeighedTrees(limited_trees(seed, 2, 3), 2)
            found, rash, doubt = of_trees(weighed), weighed._log_most(), weighed._doubt()
            too_small.append(found.largest() > Decimal(rash))
            with_margin_for(patch, 2 * size)
            assert found.largest() <= Decimal(weighed._log_most())
            assert found.too_soon(weighed._log_most(), weighed._doubt())[0] <= 0
            too_soon.append(found.too_soon(weighed._log_most(), doubt)[0] > 0)
    assert any(too_small)
    assert any(too_soon)


def test_a_range_is_put_together_from_as_many_pairs_as_the_proof_says():
    for classes in range(1, 8):
        free = Limits(*np.zeros((2, 3), bool), np.zeros(3, np.int64), (), tuple(range(classes)), 0, classes - 1)
        pairs = np.bincount([way.both for way in Ranges(free).ways])
        assert pairs.max() == 3 * classes**2 - 3 * classes + 1


@pytest.mark.parametrize("seed", range(12))
def test_a_sum_of_two_labels_or_more_is_at_least_one_split(seed):
    """So that no logarithm is far below 0, however deep trees are: docs/theory/rounding.md, Theorem 28a."""
    problem = replace(limited_trees(seed, 3, 3), prior=TreePrior(5e-324, np.array([1.0, 1e-9, 1e-9]) / (1 + 2e-9)))
    limits = replace(problem.limits, not_above=np.array([True, False, seed % 2 > 0]))
    weighed = WeighedTrees(replace(problem, limits=limits), 3)
    logs = np.concatenate([table.ravel() for tables in weighed._sums.tables for table in tables])
    there = logs[logs > -np.inf]
    assert len(there) < len(logs)
    assert not np.isnan(logs).any()
    assert np.log(5e-324) + weighed._log_weights.log_tests.min() - 2 * np.log(3) - 1e-9 < there.min() < -700


# -- lists ------------------------------------------------------------------------------------------------------------------


def limited_lists(seed):
    table, prior, weights, rate = random_lists(seed)
    limits = random_limits(seed, len(table.candidates), table.n_classes)
    if seed % 5 == 0:  # as after rules of an earlier draw
        limits = replace(limits, lowest=0 if seed % 2 else 1)
    return table, prior, np.rint(weights * 2**20) / 2**20, rate, limits


def list_sums(table, prior, weights, rate, limits, kind=LimitedListSums):
    return kind(table.marginals(max(1, len(prior.lengths) - 1)), table.candidates, prior, weights, rate, limits=limits)


def list_distribution(table, prior, weights, rate, limits):
    return distribution_of_limited_lists(table.truth(), table.counts(weights), prior, rate, limits)


@pytest.mark.parametrize("seed", slow_but(range(32), range(0, 32, 3)))
def test_the_choices_of_a_list_multiply_to_the_distribution_of_the_enumeration(seed):
    case = limited_lists(seed)
    distribution, sums, explorer, found = list_distribution(*case), list_sums(*case), Explorer(), {}
    for _ in explorer.paths():
        rules, labels = sums.draw_by(explorer.choose)
        if explorer.log_p > -np.inf:
            assert (tuple(rules), tuple(labels)) not in found
            found[tuple(rules), tuple(labels)] = explorer.log_p
    assert found == pytest.approx(dict(zip(distribution.lists, distribution.logs, strict=True)), abs=1e-9)


@pytest.mark.parametrize("seed", [3, 7, 11])
def test_drawn_lists_follow_the_enumeration(seed):
    case = limited_lists(seed)
    sums, entropy = list_sums(*case), SeededEntropy(seed)
    assert p_value_of_lists(list_distribution(*case), [sums.draw(entropy) for _ in range(1_000)]) > LEAST_P


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 6, 7, 14])
def test_no_limited_list_is_accepted_with_more_than_certainty(seed):
    """docs/theory/rounding.md, Theorem 28a."""
    sums = list_sums(*limited_lists(seed))
    found, most = of_lists(sums), sums._log_most()
    assert found.largest() <= Decimal(most)
    assert found.furthest(most) < Decimal("1e-50")
    assert found.too_soon(most, sums._doubt())[0] <= 0
    assert float(Decimal(most) - found.largest()) < 1e-5


def test_limited_lists_need_a_margin_for_all_sums_and_no_more(monkeypatch):
    size, too_small = 1e-4, []
    for seed in (0, 1, 2, 3, 4, 6):
        with monkeypatch.context() as patch:
            break_ranges(patch, size)
            sums = list_sums(*limited_lists(seed))
            found, rash = of_lists(sums), sums._log_most()
            too_small.append(found.largest() > Decimal(rash))
            with_margin_for(patch, 3 * size)
            del sums._error
            assert found.largest() <= Decimal(sums._log_most())
            assert found.too_soon(sums._log_most(), sums._doubt())[0] <= 0
    assert any(too_small)


@pytest.mark.parametrize("seed", range(0, 32, 2))
def test_the_best_list_that_keeps_to_the_limits_is_the_best_of_the_enumeration(seed):
    table, prior, _, _, limits = limited_lists(seed)  # even seeds: all rules have a weight
    every = np.ones(table.n_classes)
    distribution = list_distribution(table, prior, every, 1.0, limits)
    rules, labels, bound = list_sums(table, prior, every, 1.0, limits, BestLimitedList).found()
    scores = dict(zip(distribution.lists, distribution.scores.tolist(), strict=True))
    assert scores[tuple(rules), tuple(labels)] == bound == max(scores.values())
    assert len(rules) == min(len(chosen) for (chosen, _), score in scores.items() if score == bound)


# -- nothing in it is idle --------------------------------------------------------------------------------------------------


def all_allowed(patch):
    patch.setattr(Limits, "allowed", lambda self, used: np.ones((*used.shape, len(self.columns)), bool))


def compared_downwards_only(patch):
    init = Ranges.__init__
    patch.setattr(
        Ranges, "__init__", lambda self, limits: init(self, replace(limits, not_above=np.zeros_like(limits.not_above)))
    )


def asked_again_is_compared(patch):
    """What no record reaches, taken for a leaf: it would have labels to compare."""
    joined = Ranged.joined
    patch.setattr(LimitedSums, "one_split", lambda self, total, inside, k, place: self.log_weights.over_tests(
        joined(self.log_weights, self.log_weights.leaf(inside.astype(float)), self.log_weights.leaf(total[..., None] - inside),
               np.arange(self.n_tests), leaves=True), axis=total.ndim - 1))  # fmt: skip


@pytest.mark.parametrize("broken", [all_allowed, compared_downwards_only, asked_again_is_compared])
def test_a_sum_with_a_piece_broken_is_seen(monkeypatch, broken):
    problem = replace(limited_trees(0, 3, 2), limits=replace(random_limits(0, 3, 2), columns=np.array([1, 2, 4])))
    problem = replace(problem, limits=replace(problem.limits, not_above=np.array([True, False, True])))
    _, logs = distribution_of_limited_trees(problem, 2)
    expected = float(np.logaddexp.reduce(logs))

    def total():
        weighed = WeighedTrees(problem, 2)
        return weighed._sums.log_whole

    assert total() == pytest.approx(expected, abs=1e-9)
    broken(monkeypatch)
    assert abs(total() - expected) > 1e-3

"""Draws of trees: what one record changes, all neighbours of small tables, and what a fit hands to its sampler."""

import copy
import pickle
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet import DPOptimalTreeClassifier
from discreet.audit.draws import all_trees, tree_distributions, worst_draw
from discreet.audit.explore import worst_of
from discreet.audit.learners import is_broken
from discreet.datasets import load_compas
from discreet.private.queries import base, trees
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees import drawing
from discreet.private.sampling.trees.log_weights import SCORES, leaf_mass
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.private.sampling.trees.ranges import sum_for
from discreet.private.sampling.trees.sums import TreeChoices, TreeSums
from discreet.rules.candidates import NumberedFork, NumberedLeaf, leaves_of
from discreet.rules.prior import TreePrior

X, Y = load_compas(binary=True, sensitive=False, return_X_y=True)
X, Y = X.astype(bool), np.asarray(Y)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
def test_all_neighbours_of_up_to_five_records(rate, score):
    """Over three tests, all trees up to depth 2."""
    found = worst_of(worst_draw(rate, 4, tree_distributions(rate, score), all_trees(score)[0]))
    assert not is_broken(found.ratio)
    assert found.ratio > 0.5  # it is no empty promise


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (1.0, 0.6, 0.3)])
def test_three_classes_with_and_without_weights(score, weights):
    """Up to 3 records over two tests, all trees of depth 1, and tables with many records of one kind."""
    rate, truth = 0.5, np.array(list(product([False, True], repeat=2))).T
    prior = TreePrior(0.5, np.array([0.3, 0.7]))

    def distribution(table):
        _, logs = distribution_of_trees(TreeProblem(truth, table * np.array(weights)[:, None], prior, rate, score), 1)
        return logs - np.logaddexp.reduce(logs)

    kinds = list(product(range(3), range(4)))
    tables = []
    for records in (c for n in range(3) for c in combinations_with_replacement(kinds, n)):
        table = np.zeros((3, 4))
        for kind in records:
            table[kind] += 1
        tables.append(table)
    for kind in kinds:
        tables.append(np.zeros((3, 4)))
        tables[-1][kind] = 60
    worst = 0.0
    for table in tables:
        here = distribution(table)
        for kind in kinds:
            more = table.copy()
            more[kind] += 1
            worst = max(worst, np.abs(distribution(more) - here).max())
    assert 0.5 * rate < worst <= rate * (1 + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_a_record_raises_the_mass_of_its_leaf_by_no_more_than_its_weight(n_classes):
    """Docs/theory/lists-and-trees.md, Theorem 20: also for leaves that weigh less than one record."""
    rng = np.random.default_rng(n_classes)
    weights = rng.choice([1.0, 0.9, 0.5, 0.3, 1e-3], (2_000, n_classes))
    counts = rng.integers(0, 4, (2_000, n_classes)) * (rng.random((2_000, n_classes)) < 0.6)
    counts[:50] = 0
    for c in range(n_classes):
        more = counts.copy()
        more[:, c] += 1
        raised = leaf_mass((more * weights).T) - leaf_mass((counts * weights).T)
        assert (raised >= -1e-12).all()
        assert (raised <= weights[:, c] + 1e-12).all()
    pure = np.eye(n_classes)[0]
    assert leaf_mass(0.3 * pure) == pytest.approx(
        0.0, abs=1e-15
    )  # a leaf of one class is pure, however little it weighs


@pytest.mark.parametrize(("n", "rate"), [(48_842, 0.09), (1_000_000, 0.009), (20_000_000, 0.09)])
def test_large_tables_lose_no_more(n, rate):
    """From the sums that the sampler works with. In single precision a record among millions would be lost, or count twice."""
    truth = np.array([[True, False, True], [False, True, True]])
    prior = TreePrior(0.5, np.array([0.5, 0.5]))
    for extra in range(0, 30, 3):
        logs = []
        for stranger in (0.0, 1.0):
            counts = np.array([[40.0, 0.0, 0.0], [0.0, n + extra, 7.0 + stranger]])
            flipped, _, _ = TreeProblem(truth, counts, prior, rate).flipped()
            log_weights = sum_for(flipped)
            sums = TreeSums(flipped, 2, log_weights, lambda: None)
            terms = np.append(
                log_weights.forked(sum(sums.branches({}, 1))), log_weights.stopped(float(sums.leaf[0][0]))
            )
            logs.append(terms - np.logaddexp.reduce(terms))
        assert np.abs(logs[0] - logs[1]).max() <= rate * (1 + 1e-6)


# -- what a fit hands to its sampler --------------------------------------------------------------------------------------------


@pytest.fixture
def problems_of_a_fit(monkeypatch):
    """(problem, depth, the tree that was drawn) of each draw of a fit."""
    seen = []

    class Seen(drawing.WeighedTrees):
        def __init__(self, problem, depth, *more):
            super().__init__(problem, depth, *more)
            self._asked = problem, depth

        def draw(self, entropy):
            tree = super().draw(entropy)
            seen.append((*self._asked, tree))
            return tree

    monkeypatch.setattr(trees, "WeighedTrees", Seen)
    return seen


@pytest.mark.parametrize("stages", [(2,), (1, 1), (1, 2, 1)])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_the_rates_of_a_fit_add_up_to_its_epsilon(problems_of_a_fit, stages, share):
    for epsilon in (0.1, 0.7, 3.0):
        problems_of_a_fit.clear()
        DPOptimalTreeClassifier(epsilon=epsilon, stages=stages, counts_share=share).fit(X, Y)
        (rate,) = {problem.rate for problem, _, _ in problems_of_a_fit}
        total = len(stages) * Fraction(rate) + Fraction(str(share)) * Fraction(str(epsilon))
        assert 0.999999 * epsilon < total <= Fraction(str(epsilon))


def test_each_leaf_of_a_stage_is_grown_once_from_its_own_records(problems_of_a_fit):
    DPOptimalTreeClassifier(epsilon=50.0, stages=(2, 1)).fit(X, Y)
    (whole, depth, tree), *later = problems_of_a_fit
    assert depth == 2
    assert {depth for _, depth, _ in later} == {1}
    assert len(later) == len(list(leaves_of(tree)))
    assert (whole.counts.sum(1) == np.bincount(Y)).all()
    assert (sum(problem.counts.sum(1) for problem, _, _ in later) == np.bincount(Y)).all()


@pytest.mark.parametrize("criterion", SCORES)
def test_class_weights_of_a_fit_are_at_most_one(problems_of_a_fit, criterion):
    DPOptimalTreeClassifier(class_weight={1: 50.0, 0: 10.0}, max_depth=1, criterion=criterion).fit(X, Y)
    ((problem, _, _),) = problems_of_a_fit
    assert problem.counts.sum(1) == pytest.approx(np.bincount(Y) * [0.2, 1.0])
    assert problem.score == criterion


def test_class_counts_are_those_of_the_leaves_with_the_noise_that_is_charged(monkeypatch, problems_of_a_fit):
    released = []

    def spy(counts, epsilon, entropy):
        released.append((counts.copy(), epsilon))
        return counts

    monkeypatch.setattr(base, "release", spy)
    DPOptimalTreeClassifier(epsilon=1.0, max_depth=2, class_weight={1: 2.0}).fit(X, Y)
    ((counts, epsilon),) = released  # one release for all leaves
    assert epsilon == Fraction(1, 10)
    ((problem, _, tree),) = problems_of_a_fit
    expected = []
    for path, _ in leaves_of(tree):
        inside = np.all([np.ones(problem.truth.shape[1], bool), *(problem.truth[j] == s for j, s in path)], axis=0)
        expected += (problem.counts[:, inside].sum(1) / [0.5, 1.0]).tolist()
    assert counts.tolist() == pytest.approx(expected)
    assert counts.sum() == len(Y)


def test_settings_of_numpy_do_not_make_an_error_of_the_records():
    with np.errstate(all="raise"):
        for criterion in SCORES:
            DPOptimalTreeClassifier(epsilon=5.0, stages=(2, 2), criterion=criterion).fit(X, Y)
            DPOptimalTreeClassifier(epsilon=5.0, max_depth=2, criterion=criterion).fit(X[:0], Y[:0])


def test_what_the_sampler_holds_cannot_be_seen_or_copied():
    truth, counts = np.eye(3, dtype=bool), np.ones((2, 3)) + np.eye(2, 3)
    problem = TreeProblem(truth, counts, TreePrior(0.5, np.full(3, 1 / 3)), 0.5)
    log_weights = sum_for(problem)
    sums = TreeSums(problem, 2, log_weights, lambda: None)
    choices = TreeChoices(problem, sums, np.arange(3), np.zeros(3, bool), lambda logs: 0)
    for holder in (problem, sums, choices):
        assert repr(holder) == f"<{type(holder).__name__}>"
        for copier in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                copier(holder)


def test_a_tree_has_no_leaves_that_overlap():
    """Whatever tree is asked about, each record is in one of its leaves: there is no other way to ask."""
    tree = NumberedFork(
        0,
        NumberedFork(1, NumberedLeaf(), NumberedFork(0, NumberedLeaf(), NumberedLeaf())),
        NumberedFork(0, NumberedLeaf(), NumberedLeaf()),
    )
    for record in product([False, True], repeat=2):
        leaves = [path for path, _ in leaves_of(tree) if all(record[test] == side for test, side in path)]
        assert len(leaves) == 1


def test_weights_of_a_prior_may_be_as_large_as_numbers_are(problems_of_a_fit):
    DPOptimalTreeClassifier(prior=dict.fromkeys(X.columns, 1.7e308), max_depth=1).fit(X, Y)
    ((problem, _, _),) = problems_of_a_fit
    assert problem.prior.tests.sum() == pytest.approx(1.0)

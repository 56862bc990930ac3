"""Limits cost nothing: on all small tables a limited draw loses at most epsilon; and what would make them cost is caught."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from discreet.audit.draws import TRUTH
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.rules.limits import Limits
from discreet.rules.prior import Prior, TreePrior

from ..support.limited import distribution_of_limited_lists, distribution_of_limited_trees

RATE = 0.5
TESTS, CELLS = TRUTH.shape
LIMITS = Limits(
    np.array([True, False, False]), np.array([False, True, False]), np.array([1, 0, 2], np.int64), (3,), (0, 1), 0, 1
)
KINDS = [(label, cell) for label in range(2) for cell in range(CELLS)]
PRIOR = TreePrior(0.5, np.full(TESTS, 1 / TESTS))


def tables(most):
    """All tables of up to so many records, as class counts by cell."""
    for n in range(most + 1):
        for records in product(range(len(KINDS)), repeat=n):
            if list(records) == sorted(records):
                counts = np.zeros((2, CELLS))
                for record in records:
                    counts[KINDS[record]] += 1.0
                yield counts


def distribution_of_tree(counts, limits):
    trees, logs = distribution_of_limited_trees(TreeProblem(TRUTH.astype(bool), counts, PRIOR, RATE, limits=limits), 1)
    return dict(zip(trees, logs - np.logaddexp.reduce(logs), strict=True))


def distribution_of_list(counts, limits):
    prior = Prior((1.0, 1.0, 1.0), np.ones(TESTS))
    distribution = distribution_of_limited_lists(TRUTH.astype(bool), counts, prior, RATE, limits)
    return dict(zip(distribution.lists, distribution.logs.tolist(), strict=True))


def worst(distribution, most):
    """The largest logarithm of a ratio between neighbours: infinite if one can draw what the other cannot."""
    found = 0.0
    for counts in tables(most):
        here = distribution(counts)
        for kind in KINDS:
            more = counts.copy()
            more[kind] += 1.0
            there = distribution(more)
            if here.keys() != there.keys():
                return np.inf
            found = max(found, *(abs(here[x] - there[x]) for x in here))
    return found


@pytest.mark.parametrize("distribution", [distribution_of_tree, distribution_of_list])
def test_no_two_neighbours_are_told_apart_by_more_than_epsilon(distribution):
    assert 0.3 * RATE < worst(lambda counts: distribution(counts, LIMITS), 1) <= RATE * (1 + 1e-9)


@pytest.mark.parametrize("distribution", [distribution_of_tree, distribution_of_list])
def test_limits_that_are_read_off_the_records_are_caught(distribution):
    """A twin: columns are compared in whatever direction the records have them."""

    def by_records(counts):
        rises = (counts[1] * TRUTH[0]).sum() * counts[0].sum() >= (counts[0] * TRUTH[0]).sum() * counts[1].sum()
        flipped = replace(LIMITS, not_above=LIMITS.not_below, not_below=LIMITS.not_above)
        return distribution(counts, LIMITS if rises else flipped)

    assert worst(by_records, 1) > RATE * 1.5


def test_labels_that_are_mended_after_the_draw_do_not_have_the_distribution():
    """A twin: draw without limits, then change labels that break them. It is private, but not the stated distribution."""
    counts = np.zeros((2, CELLS))
    counts[0, 0], counts[1, -1] = 3.0, 2.0

    def mended(tree):
        labels = {LIMITS.labels.index(leaf.label) for leaf in (tree.true, tree.other)}
        return replace(tree, true=replace(tree.true, label=min(labels)), other=replace(tree.other, label=max(labels)))

    stated, found = distribution_of_tree(counts, LIMITS), {}
    for tree, log in distribution_of_tree(counts, None).items():
        kept = tree if tree in stated else mended(tree) if tree.test == 0 else None
        kept = kept or replace(tree, true=tree.other, other=tree.true)
        found[kept] = found.get(kept, 0.0) + np.exp(log)
    assert max(abs(np.log(found.get(tree, 1e-9)) - log) for tree, log in stated.items()) > 0.1

"""Which lists and trees keep to limits, one by one; and the distribution of those that do, from that of all."""

from dataclasses import replace

import numpy as np

from discreet.private.sampling.reference import ReferenceDraw, distribution_of_draw, distribution_of_trees
from discreet.rules.candidates import NumberedLeaf


def distribution_of_limited_lists(truth, counts, prior, rate, limits):
    """Every list that keeps to limits, with its score and the logarithm of its probability."""
    lists, scores, logs = distribution_of_draw(truth, counts, prior, rate)
    kept = [i for i, (rules, labels) in enumerate(lists) if keeps_to(rules, labels, limits)]
    return ReferenceDraw([lists[i] for i in kept], scores[kept], logs[kept] - np.logaddexp.reduce(logs[kept]))


def distribution_of_limited_trees(problem, depth):
    """Every tree that keeps to the limits of a problem, and the logarithm of its weight; they are not normalised."""
    every = zip(*distribution_of_trees(replace(problem, limits=None), depth), strict=True)
    trees, logs = zip(*(one for one in every if tree_keeps_to(one[0], problem.limits)), strict=True)
    return list(trees), np.array(logs)


def keeps_to(rules, labels, limits):
    """Whether a list, the label of its default last, can be drawn."""
    used, ranks = limits.used, [limits.labels.index(label) for label in labels]
    for rule in rules:
        used |= int(limits.columns[rule])
    if any(used & columns == columns for columns in limits.forbidden):
        return False
    if not all(limits.lowest <= rank <= limits.highest for rank in ranks):
        return False
    pairs = [(rule, ranks[i], later) for i, rule in enumerate(rules) for later in ranks[i + 1 :]]
    above = any(limits.not_above[rule] and rank > later for rule, rank, later in pairs)
    return not above and not any(limits.not_below[rule] and rank < later for rule, rank, later in pairs)


def tree_keeps_to(tree, limits):
    """Whether a tree can be drawn. What is behind a test that was asked before is free."""
    return limits is None or _labels(tree, limits, {}) is not None


def _labels(tree, limits, asked):
    """The ranks of the labels of a tree; None if it does not keep to the limits."""
    if isinstance(tree, NumberedLeaf):
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

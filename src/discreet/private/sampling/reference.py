"""The distribution of a draw by its definition, list by list and tree by tree: slow, obvious, and the measure of the samplers.

A labelled list is a sequence of different rules and a label for each of its parts, the default's last. Its score is the number of
records (of class weight 1) that it classifies correctly, and a draw returns it with probability

    P(list) = prior(list) * exp(rate * score) / the sum of this over all lists                 (docs/theory, Theorem 13).

For trees likewise (Theorem 20). Nothing here is merged, flipped, bounded, cut off or shared with the samplers. It works for a
handful of rules or tests.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...rules.candidates import NumberedFork, NumberedLeaf, NumberedTree
from ...rules.prior import Prior
from ..counts.patterns import Array

Rules = tuple[int, ...]
Truth = npt.NDArray[np.bool_]  # (rules, patterns): where each rule is true; counts are (classes, patterns)


class ReferenceDraw(NamedTuple):
    """Every labelled list that can be drawn: rules and labels; its score, and the logarithm of its probability."""

    lists: list[tuple[Rules, tuple[int, ...]]]
    scores: Array
    logs: Array


def distribution_of_draw(truth: Truth, counts: Array, prior: Prior, rate: float) -> ReferenceDraw:
    """The exponential mechanism over all lists."""
    return weighed(truth, counts, log_priors(prior, len(counts)), rate)


def log_priors(prior: Prior, n_classes: int) -> dict[Rules, float]:
    """For each sequence of different rules, the logarithm of the prior probability of each of its labellings.

    First a length, in proportion to its weight, of those for which there are enough rules; then a sequence, in proportion to the
    product of its rules' weights; then labels, all alike.
    """
    usable = [rule for rule, weight in enumerate(prior.rules) if weight > 0]
    lengths = prior.lengths[: len(usable) + 1]
    logs: dict[Rules, float] = {}
    for length, weight in enumerate(lengths):
        if weight > 0:
            weights = {rules: math.prod(prior.rules[list(rules)]) for rules in permutations(usable, length)}
            total = sum(weights.values()) * sum(lengths) * n_classes ** (length + 1)
            logs |= {rules: math.log(weight * of_rules / total) for rules, of_rules in weights.items()}
    return logs


def weighed(truth: Truth, counts: Array, log_priors: Mapping[Rules, float], rate: float) -> ReferenceDraw:
    """All labellings of some sequences of rules, in proportion to prior * exp(rate * score)."""
    lists, scores, logs = [], [], []
    for rules, log_prior in log_priors.items():
        left, parts = np.ones(truth.shape[1], bool), []
        for rule in rules:
            parts.append(counts[:, left & truth[rule]].sum(1).tolist())
            left = left & ~truth[rule]
        parts.append(counts[:, left].sum(1).tolist())
        for labels in product(range(len(counts)), repeat=len(parts)):
            lists.append((rules, labels))
            scores.append(sum(part[label] for part, label in zip(parts, labels, strict=True)))
            logs.append(log_prior + rate * scores[-1])
    relative = np.array(logs) - max(logs)
    return ReferenceDraw(lists, np.array(scores), relative - math.log(np.exp(relative).sum()))


def distribution_of_trees(problem: Any, depth: int) -> tuple[list[NumberedTree], Array]:
    """Every tree that can be drawn, and the logarithm of its weight, ``prior * exp(rate * score)``; they are not normalised.

    ``problem`` is a ``TreeProblem``: only its fields are read, and none of its methods is called.
    """
    everywhere = np.ones(problem.truth.shape[1], bool)
    trees, logs = zip(*_trees(problem, depth, everywhere), strict=True)
    return list(trees), np.array(logs)


def _trees(problem: Any, depth: int, inside: npt.NDArray[np.bool_]) -> Iterator[tuple[NumberedTree, float]]:
    prior = problem.prior
    counts = [float(c[inside].sum()) for c in problem.counts]
    stop = math.log(1.0 - prior.split) if depth and problem.n_tests else 0.0
    if problem.score == "accuracy":
        for label, count in enumerate(counts):
            yield NumberedLeaf(label), stop - math.log(len(counts)) + problem.rate * count
    else:
        n = sum(counts)
        mass = (n - sum(c * c for c in counts) / n) / 2 if n else 0.0
        yield NumberedLeaf(), stop - problem.rate * mass
    if not depth:
        return
    for test, truth in enumerate(problem.truth):
        if prior.tests[test] > 0:
            log_prior = math.log(prior.split) + math.log(prior.tests[test])
            below = list(_trees(problem, depth - 1, inside & ~truth))
            for true, log_true in _trees(problem, depth - 1, inside & truth):
                for other, log_other in below:
                    yield NumberedFork(test, true, other), log_prior + log_true + log_other

"""The law of a draw by its definition, list by list: slow, obvious, and the measure of the samplers.

A labelled list is a sequence of different rules and a label for each of its parts, the default's last. Its score is the number of
records (of class weight 1) that it classifies correctly, and a draw returns it with probability

    P(list) = prior(list) * exp(rate * score) / the sum of this over all lists                 (docs/theory.md, Theorem 13).

Nothing here is merged, bounded, cut off or shared with the samplers. It works for a handful of rules.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...rules.limits import Limits
from ...rules.prior import Prior
from ..counts.cells import Array

Rules = tuple[int, ...]
Truth = npt.NDArray[np.bool_]  # (rules, cells): where each rule is true; counts are (classes, cells)


class Law(NamedTuple):
    """Every labelled list that can be drawn: rules and labels; its score, and the logarithm of its probability."""

    lists: list[tuple[Rules, tuple[int, ...]]]
    scores: Array
    logs: Array


def law_of_draw(truth: Truth, counts: Array, prior: Prior, rate: float, limits: Limits | None = None) -> Law:
    """The exponential mechanism over all lists, or over those that keep to limits."""
    return weighed(truth, counts, log_priors(prior, len(counts)), rate, limits)


def keeps_to(rules: Rules, labels: Sequence[int], limits: Limits | None) -> bool:
    """Whether a list, the label of its default last, can be drawn."""
    if limits is None:
        return True
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


def weighed(
    truth: Truth, counts: Array, log_priors: Mapping[Rules, float], rate: float, limits: Limits | None = None
) -> Law:
    """All labellings of some sequences of rules, in proportion to prior * exp(rate * score)."""
    lists, scores, logs = [], [], []
    for rules, log_prior in log_priors.items():
        left, parts = np.ones(truth.shape[1], bool), []
        for rule in rules:
            parts.append(counts[:, left & truth[rule]].sum(1).tolist())
            left = left & ~truth[rule]
        parts.append(counts[:, left].sum(1).tolist())
        for labels in product(range(len(counts)), repeat=len(parts)):
            if not keeps_to(rules, labels, limits):
                continue
            lists.append((rules, labels))
            scores.append(sum(part[label] for part, label in zip(parts, labels, strict=True)))
            logs.append(log_prior + rate * scores[-1])
    relative = np.array(logs) - max(logs)
    return Law(lists, np.array(scores), relative - math.log(np.exp(relative).sum()))

"""The exact law of a choice by ``noisy-counts``, for one candidate rule.

Its four counts get independent noise and are cut off at 0. Far from a count the noise is negligible, so what is chosen can be
tabled for all noisy counts that matter, and its probability is a sum over the table, one axis after the other.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..cells.counting import NodeCounts
from ..mechanisms.published import NoisyCountsSelector, gini_of_noisy
from ..noise.discrete_laplace import log_pmf, scale_for, tail
from ..noise.entropy import Integers
from .choices import Finding
from .loss import Array

NEGLIGIBLE = 1e-17
LARGEST_TABLE = 30_000_000


def law_of_noisy_counts(selector: NoisyCountsSelector, counts: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """log P(the rule) and log P(no rule), for all combinations of counts.

    Four sequences of counts: captured of class 0, of class 1; left of class 0, of class 1.
    """
    a = 1.0 / scale_for(selector.epsilon / selector.candidates)
    far = math.ceil(-math.log(NEGLIGIBLE) / a)
    values = [np.arange(max(0, min(one) - far), max(one) + far + 1) for one in counts]
    if math.prod(map(len, values)) > LARGEST_TABLE:
        raise ValueError("the law of noisy counts cannot be written down: epsilon is too small")
    grid = np.stack(np.meshgrid(*values, indexing="ij")).astype(np.float64)
    sides = grid.reshape(2, 2, *grid.shape[1:])
    chosen = gini_of_noisy(sides) < gini_of_noisy(sides.sum(0)[None])
    laws = []
    for table in (chosen, ~chosen):
        law = table.astype(np.float64)
        for axis, one in zip(values, counts, strict=True):  # each turn takes the first axis and puts the new one last
            law = np.tensordot(law, np.array([_law_of_one(axis, count, a) for count in one]), axes=([0], [1]))
        with np.errstate(divide="ignore"):
            laws.append(np.log(law))
    return laws[0], laws[1]


def _law_of_one(values: Integers, count: int, a: float) -> Array:
    """The chances of these values for a noisy count; what falls below or above is cut off."""
    law: Array = np.exp(log_pmf(values - count, a))
    law[0] += tail(int(count - values[0]) + 1, a)
    law[-1] += tail(int(values[-1] - count) + 1, a)
    return law


def log_prob_of_noisy_counts(selector: NoisyCountsSelector, node: NodeCounts) -> Array:
    """The logarithm of the probability of the candidate, then of no rule. Without a candidate there is no rule for sure."""
    if node.captured.shape[1] == 0:
        return np.zeros(1)
    if selector.candidates != 1:
        raise ValueError("the law of noisy counts is known for one candidate only")
    captured = node.captured[:, 0].astype(int)
    logs = law_of_noisy_counts(selector, [[int(c)] for c in (*captured, *(node.left.astype(int) - captured))])
    return np.array([logs[0].item(), logs[1].item()])


def worst_noisy_choice(selector: NoisyCountsSelector, most: int) -> Finding:
    """All nodes whose four counts are at most ``most``, against all that have one record more."""
    logs = law_of_noisy_counts(selector, [range(most + 1)] * 4)
    changes = [np.abs(np.diff(log, axis=axis)) for log in logs for axis in range(4)]
    loss = max(float(change.max()) for change in changes)
    where = f"captured and left records of each class from 0 to {most}"
    return Finding(loss, selector.price(1), sum(change.size for change in changes[:4]), where)

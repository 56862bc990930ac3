"""Single choices by weight, and what is chosen last: the members and the labels of a list whose groups are known."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...cells.cells import Array
from ...noise.entropy import Entropy
from ..problem import Problem


def concrete(problem: Problem, groups: Sequence[int], entropy: Entropy) -> list[int]:
    """A rule of each group, none twice, all choices alike.

    **Identity.** The members of a group have the same prior weight and capture the same records, so all choices of them weigh the
    same. There are as many as ``Problem.log_free`` counted: g - k + 1 for the k-th rule of a group of g. So a list of groups,
    drawn by the weight of all its choices, and then one of these, is a list of rules drawn by its own weight.
    """
    rules: list[int] = []
    for group, u in zip(groups, entropy.uniform(len(groups)), strict=True):
        unused = np.setdiff1d(problem.members[group], rules)
        rules.append(int(unused[int(u * len(unused))]))
    return rules


def draw_labels(problem: Problem, groups: Sequence[int], entropy: Entropy) -> list[int]:
    """The labels of the parts of a list, the default last, each in proportion to ``exp(rate * count)``.

    **Identity.** The score is a sum over parts, so the sum of the weights of all labellings is a product over parts:

        sum over labels of exp(rate * score) = product over parts of (sum over y of exp(rate * count of y)).

    So labels are independent given the rules, and rules can be drawn first, by that product (``Problem.log_sum``).
    """
    alive = np.ones(len(problem.truth), problem.truth.dtype)
    labels = []
    for group, u in zip([*groups, None], entropy.uniform(len(groups) + 1), strict=True):
        part = alive if group is None else alive * problem.truth[:, group]
        log = problem.rate * (problem.counts @ part).astype(np.float64)
        labels.append(pick(log, float(u)))
        alive = alive - part
    return labels


def pick(logs: Array, u: float) -> int:
    """An index in proportion to ``exp(logs)``, given a uniform number: where it falls among the cumulated weights."""
    return int(pick_each(logs[None], np.array([u]))[0])


def pick_each(logs: Array, u: Array) -> npt.NDArray[np.intp]:
    """The same for each row and number. One row stands for all. Rounding does not lead to an index of weight 0."""
    p = np.exp(logs - logs.max(1, keepdims=True))
    sums = np.cumsum(p, axis=1)
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    if len(logs) == 1:
        places: npt.NDArray[np.intp] = np.searchsorted(sums[0], u * sums[0, -1], side="right")
    else:
        places = (sums <= u[:, None] * sums[:, -1:]).sum(1)
    places = np.minimum(places, last)
    return places

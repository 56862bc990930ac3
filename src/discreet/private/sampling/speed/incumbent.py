"""The weight of some good lists, found by local search. It sets a threshold, so it may be anything."""

from collections.abc import Callable

import numpy as np

from ...counts.cells import Array
from ..problem import Problem, Sets
from .deadline import Deadline
from .reach import best_split

STARTS = 3  # of the local search
SWEEPS = 20  # from each of them, at most


def good_weight(problem: Problem, bound_of: Callable[[Sets], Array], deadline: Deadline) -> float:
    """The logarithm of the weight of good lists: a set of all rules but the last, which is then the best one.

    ``bound_of`` says for a set and each rule how much the lists that go on so can weigh.
    """
    t = problem.longest - 1
    best = -np.inf
    for start in np.argsort(-bound_of(np.zeros((1, 0), np.int32))[0])[:STARTS]:
        sets = np.array([[start]], np.int32)
        while sets.shape[1] < t:  # greedily by the bound
            sets = np.column_stack([sets, [int(bound_of(sets).argmax())]]).astype(np.int32)
        value = -np.inf
        for _ in range(SWEEPS):
            before = value
            for position in range(t):
                deadline.check()
                swaps = np.repeat(sets, problem.n_groups, axis=0)
                swaps[:, position] = np.arange(problem.n_groups)
                values = _weight_of(problem, swaps)
                if values.max() > value:
                    value, sets = float(values.max()), swaps[[int(values.argmax())]]
            if value <= before:
                break
        best = max(best, value)
    return best


def _weight_of(problem: Problem, sets: Sets) -> Array:
    """About the weight of all lists that begin with the rules of a set, in its own order, and add one."""
    return np.concatenate([_weight_of_part(problem, sets[rows]) for rows in problem.parts(len(sets))])


def _weight_of_part(problem: Problem, sets: Sets) -> Array:
    weight = np.zeros(len(sets))
    alive = np.ones((len(sets), len(problem.truth)), problem.truth.dtype)
    for i in range(sets.shape[1]):
        part = alive * problem.truth.T[sets[:, i]]
        weight += problem.log_sum(problem.left(part))
        weight += problem.log_free(sets[:, :i])[np.arange(len(sets)), sets[:, i]]
        alive -= part
    split = problem.rate * best_split(problem, alive).astype(np.float64)
    weight += split + problem.log_length[-1]
    return np.where(np.isnan(weight), -np.inf, weight)

"""How finely to divide all lists, and in which portions to work. Whatever is decided here, the distribution is the same.

A fine division takes long to make and a coarse one long to draw from. Elements are divided if they may weigh as much as the lists
that are known already; local search finds some good ones.
"""

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import numpy as np
import numpy.typing as npt

from ..counts.patterns import Array
from ..counts.secret import Secret
from .bounds import best_split
from .deadline import Deadline
from .problem import ROWS, Problem, Sets, blocks

SLACK = 0.0  # how far below the best weight found (as a logarithm) an element need not be divided
EDGES = 4_000_000  # about how many ways to reach the last level are merged at once
STARTS = 3  # of the local search
SWEEPS = 20  # from each of them, at most
WASTE = 10_000.0  # how many times the known weight the undivided rest of the last level may have

Rows = npt.NDArray[np.intp]


def finenesses() -> Iterator[tuple[float, int, int]]:
    """How fine a division to try (its slack), for how many attempts for each group of rules, and how many sets a level may have
    before the next division is tried instead. Coarse ones first: they will do where no list stands out.

    The last one is made ever finer: in the end every list is weighed by itself, so that a draw ends, whatever the table and the
    prior (tests/private/test_samplers.py: ``test_every_draw_ends``).
    """
    yield -20.0, 8, 10_000
    yield -10.0, 32, 10_000
    yield SLACK, 1_000, sys.maxsize
    for i in count():
        yield 6.0 * 4.0**i, 1_000, sys.maxsize


class Threshold(Secret):
    """Which elements to divide, by a bound on their weight."""

    def __init__(self, known: float, slack: float = SLACK, most: int = sys.maxsize) -> None:
        self.known = known  # about the logarithm of the weight of lists found
        self._slack, self._most = slack, most
        self._threshold = known - slack

    def keep(self, bound: Array) -> npt.NDArray[np.bool_]:
        """Which sets with one more rule to look at by themselves."""
        return np.asarray(bound >= self._threshold)

    def too_many(self, n_sets: int) -> bool:
        """Whether a level is too large for a division as coarse as this."""
        return n_sets > self._most

    def to_split(self, mass: Array, stop: Array, share: float) -> Iterator[Rows]:
        """Sets of the last level for which to compute the best split.

        The bounds of ``bounds.py`` will do for the rest when it has little mass: its share of WASTE.
        """
        self.known = float(np.logaddexp.reduce(stop, initial=self.known))
        order = np.argsort(-mass)
        rest = np.logaddexp.accumulate(mass[order][::-1])[::-1]  # of what is not looked at yet
        start, step = 0, ROWS
        waste = math.log(WASTE * share)
        while start < (end := int(np.count_nonzero(rest >= self.known + waste - max(0.0, self._slack)))):
            rows = np.sort(order[start : min(start + step, end)])
            start, step = start + len(rows), len(order)
            yield rows

    def to_sum(self, rows: Rows, mass: Array) -> Iterator[Rows]:
        """Those of them for which to sum up all lists. Their masses are looked at again after each portion."""
        rows = rows[mass[rows] >= max(self._threshold, self.known - self._slack)]
        rows = rows[np.argsort(-mass[rows])]
        for block in blocks(len(rows)):
            good = rows[block][mass[rows[block]] >= self.known - self._slack]
            yield good
            self.known = float(np.logaddexp.reduce(mass[good], initial=self.known))


def good_weight(problem: Problem, bound_of: Callable[[Sets], Array], deadline: Deadline) -> float:
    """The logarithm of the weight of good lists: a set of all rules but the last, which is then the best one.

    ``bound_of`` says for a set and each rule how much the lists that go on so can weigh.
    """
    most = problem.longest - 1
    if most < 1:
        return -np.inf
    starts = np.argsort(-bound_of(np.zeros((1, 0), np.int32))[0])[:STARTS]
    climbs = (
        climb(problem, greedily(np.array([[start]], np.int32), most, bound_of), partial(_weights, problem), deadline)
        for start in starts
    )
    return max((weight for _, weight in climbs), default=-np.inf)


def greedily(sets: Sets, size: int, bound_of: Callable[[Sets], Array]) -> Sets:
    """A set with more rules, each of which has the largest bound after those before it."""
    while sets.shape[1] < size:
        sets = np.column_stack([sets, [int(bound_of(sets).argmax())]]).astype(np.int32)
    return sets


def climb(problem: Problem, sets: Sets, value_of: Callable[[Sets], Array], deadline: Deadline) -> tuple[Sets, float]:
    """From one set to a better one, by one rule exchanged at a time while that helps; and its value."""
    value = -np.inf
    for _ in range(SWEEPS):
        before = value
        for position in range(sets.shape[1]):
            deadline.check()
            swaps = np.repeat(sets, problem.n_groups, axis=0)
            swaps[:, position] = np.arange(problem.n_groups)
            values = value_of(swaps)
            if values.max() > value:
                value, sets = float(values.max()), swaps[[int(values.argmax())]]
        if value <= before:
            break
    return sets, value


def _weights(problem: Problem, sets: Sets) -> Array:
    """About the weight of all lists that begin with the rules of a set, in its own order, and add one."""
    return np.concatenate([_weights_of_some(problem, sets[rows]) for rows in problem.parts(len(sets))])


def _weights_of_some(problem: Problem, sets: Sets) -> Array:
    weight, rows, parts = np.zeros(len(sets)), np.arange(len(sets)), problem.parts_of(sets)
    for i, groups in enumerate(sets.T):
        weight += problem.log_sum(problem.left(next(parts)))
        weight += problem.log_free(sets[:, :i])[rows, groups]
    weight += problem.rate * best_split(problem, next(parts)).astype(np.float64) + problem.log_length[-1]
    return np.where(np.isnan(weight), -np.inf, weight)

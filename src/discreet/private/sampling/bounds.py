"""Upper bounds on the score that a few more rules and a default can reach on what a prefix leaves; and on a sum of weights.

Let ``C_s(A)`` be the best score that s rules and a default reach on the patterns A. It cannot grow when patterns are taken away
(the same list classifies the rest just as well), so the value for *any part of a prefix* bounds that of the whole prefix:

    C_s(A without a, b, c, ...) <= min over pairs {a, b} of  C_s(A without a and b),   and   <= sum of each pattern's best class.

Tables of ``C_s`` for all pairs follow by looking one rule ahead. ``C_0`` and ``C_1`` are exact, the next ones are bounds:

    C_s(A_ab) <= max over rules r of  best(A_ab and r) + min(C_{s-1}(A_ab), C_{s-1}(A_ar), C_{s-1}(A_br), bests of A_abr).

``C_s(A_a)`` stands on the diagonal of the table. For five rules and more there is also a table of ``C_1`` for all triples (if it
is not too large): then ``C_2`` is exact for pairs, and ``C_1(A_abcd)`` is bounded by the four triples in it.

**If one of them were too low**, the best lists would come out too rarely: the envelope cannot accept a list with a probability
above 1. tests/private/test_bounds.py compares each of them with brute force; ``test_bounds_that_do_not_hold_are_caught`` has the
envelope with bounds that are too low.
"""

import itertools
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..counts.patterns import Array
from ..counts.secret import Secret
from .deadline import Deadline
from .problem import Problem, Sets

LARGEST = 2**30  # bytes that a table may take
RUN = 64  # sets that must have their first rules in common before it pays to look at what these leave


def best_split(problem: Problem, alive: Array) -> Array:
    """``C_1`` of each row of patterns, exactly.

    A rule with label y and a default z reach ``count of z in all patterns + (count of y - count of z) in the rule's patterns``,
    so the largest and the smallest difference of each two classes are enough; with y = z the rule does not matter.
    """
    whole: Array = problem.counts @ alive.T
    # for each class but the last, how many more there are of it than of the last one inside each rule
    inside = [(alive * (count - problem.counts[-1])) @ problem.truth for count in problem.counts[:-1]]
    best: Array = whole.max(0)
    for z in range(len(whole)):
        for y, x in enumerate(inside[:z]):
            more = x if z == len(inside) else x - inside[z]
            np.maximum(best, whole[z] + more.max(1, initial=0), out=best)
            np.maximum(best, whole[y] - more.min(1, initial=0), out=best)
    return best


def best_split_after(problem: Problem, sets: Sets, deadline: Deadline) -> Array:
    """``C_1`` after each set of rules, exactly; fast if sets that begin with the same rules are neighbours.

    What those capture is left out of the matrix product. It is most of the patterns if wide groups come first in a set.
    """
    best = np.empty(len(sets), problem.truth.dtype)
    shared, starts = _shared(sets)
    for start, end in itertools.pairwise([*starts.tolist(), len(sets)]):
        patterns = problem.alive(sets[start : start + 1, :shared])[0] > 0
        part = replace(problem, truth=problem.truth[patterns], counts=problem.counts[:, patterns])
        run = sets[start:end, shared:]
        for rows in part.parts(len(run)):
            deadline.check()
            best[start:end][rows] = best_split(part, part.alive(run[rows]))
    return best


def _shared(sets: Sets) -> tuple[int, npt.NDArray[np.intp]]:
    """How many rules at the beginning to share, and where runs of sets that share them start: runs must be long enough."""
    starts = np.zeros(min(len(sets), 1), np.intp)
    for shared in range(sets.shape[1], 0, -1):
        new = (sets[1:, :shared] != sets[:-1, :shared]).any(1)
        if len(sets) >= RUN * (1 + np.count_nonzero(new)):
            return shared, np.append(starts, 1 + np.flatnonzero(new))
    return 0, starts


def little_more_than_log_sum(logs: Array) -> Array:
    """``log sum exp`` of each row in single precision, and 0.001 more: never less than it is. Rows of -inf give -inf.

    **Lemma.** *Proof.* A difference d from the largest is rounded by at most |d| 2^-24, and its exponential by 2^-20 (8 units in
    the last place). Where d < -87 it may be lost: less than n e^-87 of n terms. The others are too small by a factor of 1 - 7e-6
    at most, and they are added in double precision. So the sum is above 1 - 0.0009 of what it should be.  []

    **If it were too low**, an element would be drawn more rarely than its lists deserve, and no acceptance could make up for it:
    they would come out too rarely. tests/private/test_bounds.py compares it with sums in double precision, and finds an
    acceptance above 1.
    """
    top = logs.max(1, initial=-np.inf)
    with np.errstate(invalid="ignore", under="ignore"):
        sums: Array = np.exp((logs - top[:, None]).astype(np.float32)).sum(1, dtype=np.float64)
    return np.where(np.isneginf(top), -np.inf, top + np.log(sums, where=sums > 0, out=np.zeros(len(sums))) + 0.001)


class Bounds(Secret):
    """The tables, and the bounds that follow from them, for lists of up to ``problem.longest`` rules."""

    def __init__(self, problem: Problem, deadline: Deadline) -> None:
        self._problem = problem
        self._pattern_best = problem.counts.max(0)
        self._is_sum = bool((self._pattern_best == problem.counts.sum(0)).all())  # always so with two classes
        if problem.longest < 2:
            return  # nothing follows the first rule, so nothing needs a bound
        without, captured, pairs = self._after_one()
        self._single, self._pairs = [without], [pairs]
        size = problem.n_groups**3 * problem.truth.itemsize
        self._triples = self._table_of_triples(deadline) if problem.longest > 4 and size <= LARGEST else None
        for s in range(1, problem.longest):
            if s <= problem.longest - 3:
                self._pairs.append(self._table(s, deadline))
            self._single.append((captured + self._after_two(s - 1)).max(1, initial=0).clip(min=without))

    def _after_one(self) -> tuple[Array, Array, Array]:
        """After each group: ``C_0``; the best class of what each group captures then, and ``C_0`` after both (groups, groups)."""
        problem, n = self._problem, self._problem.n_groups
        sets = np.arange(n, dtype=np.int32)[:, None]
        without, captured, pairs = (np.empty(shape, problem.truth.dtype) for shape in (n, (n, n), (n, n)))
        for rows in problem.parts(n):
            alive = problem.alive(sets[rows])
            left, inside = problem.left(alive), problem.captured(alive)
            without[rows], captured[rows] = left.max(0), inside.max(0)
            pairs[rows] = (left[:, :, None] - inside).max(0)
        return without, captured, pairs

    def _after_two(self, s: int) -> Array:
        """A bound on ``C_s`` after each pair: by table, or by its single rules."""
        return self._pairs[s] if s < len(self._pairs) else np.minimum(self._single[s][:, None], self._single[s])

    def _table(self, s: int, deadline: Deadline) -> Array:
        problem = self._problem
        first, second = np.triu_indices(problem.n_groups)
        pairs = np.column_stack([first, second]).astype(np.int32)
        best = best_split_after(problem, pairs, deadline) if s == 1 else np.empty(len(pairs), problem.truth.dtype)
        for rows in problem.parts(len(pairs)) if s > 1 else ():
            deadline.check()
            alive = problem.alive(pairs[rows])
            captured = problem.captured(alive)
            best[rows] = (captured.max(0) + self.after_next(pairs[rows], alive, s - 1, captured)).max(1)
        table = np.empty((problem.n_groups, problem.n_groups), problem.truth.dtype)
        table[first, second] = table[second, first] = best
        return table

    def _table_of_triples(self, deadline: Deadline) -> Array:
        """``C_1`` of all triples, exactly."""
        problem, n = self._problem, self._problem.n_groups
        table = np.empty((n, n, n), problem.truth.dtype)
        for a in range(n):
            b, c = np.add(np.triu_indices(n - a), a)
            triples = np.column_stack([np.full(len(b), a), b, c]).astype(np.int32)
            best = best_split_after(problem, triples, deadline)
            for axes in itertools.permutations(range(3)):
                table.transpose(axes)[a, b, c] = best
        return table

    def after_next(self, sets: Sets, alive: Array, s: int, captured: Array) -> Array:
        """(rows, groups): a bound on ``C_s`` after each set of rules and one more."""
        inside = captured.sum(0) if self._is_sum else (alive * self._pattern_best) @ self._problem.truth
        bound: Array = (alive @ self._pattern_best)[:, None] - inside
        if sets.shape[1] == 0:
            return np.minimum(bound, self._single[s])
        after_two = self._after_two(s)
        for i, column in enumerate(sets.T):
            if s == 1 and self._triples is not None and sets.shape[1] > 1:
                for other in sets.T[:i]:
                    np.minimum(bound, self._triples[other, column], out=bound)
            else:
                np.minimum(bound, after_two[column], out=bound)
        return np.minimum(bound, self.after(sets, s)[:, None], out=bound)

    def after(self, sets: Sets, s: int) -> Array:
        """A bound on ``C_s`` after each set of rules, without a look at its patterns."""
        after_two = self._after_two(s)
        bound = np.full(len(sets), np.inf, self._problem.truth.dtype)
        for i, a in enumerate(sets.T):
            for j, b in enumerate(sets.T[: i + 1]):
                np.minimum(bound, after_two[a, b], out=bound)
                if s == 1 and self._triples is not None:
                    for c in sets.T[:j]:
                        np.minimum(bound, self._triples[a, b, c], out=bound)
        return bound

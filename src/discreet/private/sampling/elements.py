"""The elements into which all lists are divided, and the mass of each: a bound on its weights times its prior.

**Division.** What a prefix leaves does not depend on the order of its rules, so prefixes are *sets* T of groups, with
``W(T)`` = the sum over orders of prior times weight of their parts, labels summed out. Level t holds the sets of t rules that
were kept. A list of which the first t rules form T either

    stops there                                  an element with an exact weight, or
    goes on with a rule l, and (T, l) is kept    then it belongs to the set T + l of the next level, or
    goes on with a rule l, and is not kept       an element "T, then l, then anything".

On the last level, t = longest - 1, one more rule may follow: its sum over all rules is computed exactly, or bounded by the
exact best split ``C_1(T)``, or by ``bounds.py`` where even that costs too much.

**Disjoint and complete.** By induction over t: a list is in an element of an earlier level, or its first t rules form exactly one
set of level t, and then exactly one of the three cases is its own. Whether (T, l) was kept is written down, not computed again,
so this holds whatever rounding does, and whatever ``thresholds.py`` decides to keep.

The last level can be large, so it is made in parts, each from a range of sets of the level before. A set with parents in two
ranges is in both parts, each time with the weight of the orders that come from there. So these are different elements: a list is
in the part that has its first t - 1 rules in its range, and in no other.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..counts.patterns import Array
from ..counts.secret import Secret
from ..noise.decisions import Choose
from ..noise.entropy import Integers
from .bounds import Bounds, best_split_after, little_more_than_log_sum
from .choices import cumulated
from .deadline import Deadline
from .problem import Problem, Sets, blocks, log_sum_exp
from .thresholds import EDGES, Threshold


@dataclass(eq=False, repr=False)
class Level(Secret):
    """Sets of equally many groups, in order of their keys, and the logarithms of their weights."""

    sets: Sets
    keys: npt.NDArray[np.int64]
    weight: Array  # W(T)
    stop: Array  # of the lists that stop here
    pruned: Array  # the bounds of all "T, then l, then anything" together, or a little more
    kept: npt.NDArray[np.uint8]  # for each T, a bit for each group


@dataclass(eq=False, repr=False)
class Last(Secret):
    """Some sets of the last level: all that come from a range of sets of the level before, with the weight from there."""

    sets: npt.NDArray[np.unsignedinteger]  # as short as they can be: there may be tens of millions
    weight: Array
    stop: Array
    mass: Array  # of all lists that add one more rule: a bound, or the exact sum
    exact: npt.NDArray[np.bool_]
    parents: range  # of sets of the level before


class Edges(NamedTuple):
    """All (T, l) for some sets T; (rows, groups) where not said otherwise."""

    left: Array  # (classes, rows): what T leaves
    captured: Array  # (classes, rows, groups): what l captures of it
    after: Array  # a bound on the score of what follows l
    score: Array  # rate times the best score that l and anything after it can reach
    before: Array  # W(T) times the prior weight of l
    bound: Array  # on all lists "T, then l, then anything"


class _Children(NamedTuple):
    """Sets with one rule more, each with the weight from all of its parents among some sets."""

    sets: Sets
    weight: Array
    left: Array  # (classes, rows)
    after: Array  # a bound on the score of one more rule and a default


def terms(problem: Problem, t: int) -> Array:
    """For s = 0, 1, ... rules after the next one: the logarithm of prior and labels of all lists "T, l, s rules".

    Rules that a list has already are counted as if it could take them again: these lists are proposed, and never accepted.
    """
    s = np.arange(problem.longest - t)
    logs: Array = problem.log_length[t + 1 :] + s * problem.log_rules + (s + 2) * math.log(problem.n_classes)
    return logs


def edges(problem: Problem, bounds: Bounds, sets: Sets, weight: Array) -> Edges:
    """All ways to go on from these sets, and a bound on what they weigh.

    **Identity.** A list "T, l, s rules" weighs its prior times, for each labelling of l and what follows, at most
    exp(rate * (the best class of what l captures + what can follow)). Summed over s, rules and labels that is ``terms``.
    """
    parts = [_edges(problem, bounds, sets[rows], weight[rows]) for rows in problem.parts(len(sets))]
    if len(parts) == 1:
        return parts[0]
    left, captured, *others = zip(*parts, strict=True)
    return Edges(np.concatenate(left, axis=1), np.concatenate(captured, axis=1), *map(np.concatenate, others))


def _edges(problem: Problem, bounds: Bounds, sets: Sets, weight: Array) -> Edges:
    alive, t = problem.alive(sets), sets.shape[1]
    captured = problem.captured(alive)
    after = bounds.after_next(sets, alive, problem.longest - t - 1, captured)
    score = (captured.max(0).astype(np.float64) + after) * problem.rate
    before = problem.log_free(sets) + weight[:, None]
    bound = score + before + float(log_sum_exp(terms(problem, t)))
    return Edges(problem.left(alive), captured, after, score, before, bound)


def last_rules(problem: Problem, sets: Sets, weight: Array) -> Array:
    """(rows, groups): the exact logarithm of the weight of "T, then l, then the default"."""
    logs = np.empty((len(sets), problem.n_groups))
    for rows in problem.parts(len(sets)):
        alive = problem.alive(sets[rows])
        captured = problem.captured(alive)
        logs[rows] = problem.log_sum(captured) + problem.log_sum(problem.left(alive)[:, :, None] - captured)
    logs += problem.log_free(sets) + (weight[:, None] + problem.log_length[-1])
    return logs


def keys_of(problem: Problem, sets: Sets) -> npt.NDArray[np.int64]:
    """A number for each set, in the order of the sets; another one for each."""
    if problem.n_groups ** sets.shape[1] >= 2**63:
        raise AssertionError(
            "sets of so many groups have no keys: this is a bug in the learner, which should have refused"
        )
    keys = np.zeros(len(sets), np.int64)
    for column in sets.T:
        keys = keys * problem.n_groups + column
    return keys


class Elements(Secret):
    """A division of all lists. If the threshold gave up, it is not complete, and nothing may be drawn from it."""

    def __init__(self, problem: Problem, bounds: Bounds, threshold: Threshold, deadline: Deadline) -> None:
        self.problem, self.bounds = problem, bounds
        self._threshold, self._deadline = threshold, deadline
        self.levels: list[Level] = []
        self.last: list[Last] = []
        self.complete = self._divide()

    @cached_property
    def by_prior(self) -> Integers:
        """To choose any group by the prior weight of its members."""
        return cumulated(self.problem.log_members)

    def _divide(self) -> bool:
        problem, longest = self.problem, self.problem.longest
        everything = problem.counts.sum(1)[:, None]
        root = _Children(np.zeros((1, 0), np.int32), np.zeros(1), everything, problem.counts.max(0).sum(keepdims=True))
        if longest == 1:
            self.last = [self._finish(root, range(0), 1.0)]
            return True
        self.levels = [self._new_level(root)]
        while len(self.levels) < longest - 1 and len(self.levels[-1].sets):
            ((_, children),) = self._extend(self.levels[-1], sys.maxsize)
            self.levels.append(self._new_level(children))
            if self._threshold.too_many(len(children.sets)):
                return False
        if len(self.levels) == longest - 1:
            before = self.levels[-1]
            for parents, children in self._extend(before, EDGES):
                self.last.append(self._finish(children, parents, len(parents) / len(before.sets)))
        return True

    def _new_level(self, children: _Children) -> Level:
        n = len(children.sets)
        kept = np.zeros((n, (self.problem.n_groups + 7) // 8), np.uint8)
        keys, pruned = keys_of(self.problem, children.sets), np.full(n, -np.inf)
        return Level(children.sets, keys, children.weight, self._weight_of_stopping(children), pruned, kept)

    def _weight_of_stopping(self, children: _Children) -> Array:
        """``W(T)`` times the prior of the length times the labels of the default: exact."""
        stop: Array = children.weight + self.problem.log_sum(children.left)
        stop += self.problem.log_length[children.sets.shape[1]]
        return stop

    def _extend(self, level: Level, most: int) -> Iterator[tuple[range, _Children]]:
        """The next level: sets T + l of all (T, l) that are kept. The others are booked as pruned.

        It comes in parts, from about ``most`` pairs (T, l) each, with the sets T they come from.
        """
        found: list[_Children] = []
        start = n_edges = 0
        for rows in blocks(len(level.sets)):
            self._deadline.check()
            ways = edges(self.problem, self.bounds, level.sets[rows], level.weight[rows])
            keep = self._threshold.keep(ways.bound) & (ways.bound > -np.inf)  # not a group with no member left
            level.kept[rows] = np.packbits(keep, axis=1)
            row, rule = np.nonzero(keep)
            ways.bound[keep] = -np.inf
            level.pruned[rows] = little_more_than_log_sum(ways.bound)
            captured = ways.captured[:, row, rule]
            sets = np.column_stack([level.sets[rows][row], rule.astype(np.int32)])
            weight = ways.before[row, rule] + self.problem.log_sum(captured)
            found.append(_Children(sets, weight, ways.left[:, row] - captured, ways.after[row, rule]))
            n_edges += len(row)
            if n_edges >= most or rows.stop == len(level.sets):
                yield range(start, rows.stop), self._merge(found)
                found, start, n_edges = [], rows.stop, 0

    def _merge(self, found: list[_Children]) -> _Children:
        """Equal sets become one, with the sum of their weights.

        **Identity.** ``W(T) = sum over l in T of W(T - l) * prior of l * labels of what l captures after T - l``: an order of T
        is an order of the others, and the rule that comes last.
        """
        sets = np.sort(np.concatenate([c.sets for c in found]), axis=1)
        keys = keys_of(self.problem, sets)
        order = np.argsort(keys, kind="stable")
        weight = np.concatenate([c.weight for c in found])[order]
        first = np.flatnonzero(np.diff(keys[order], prepend=-1))
        if len(first):
            top = np.maximum.reduceat(weight, first)
            times = np.diff(np.append(first, len(weight)))
            weight = top + np.log(np.add.reduceat(np.exp(weight - np.repeat(top, times)), first))
        first = order[first]
        left = np.concatenate([c.left for c in found], axis=1)[:, first]
        return _Children(sets[first], weight, left, np.concatenate([c.after for c in found])[first])

    def _finish(self, children: _Children, parents: range, share: float) -> Last:
        """For each set of the last level, all lists that add one more rule: a bound, or the exact sum.

        **Identity.** A bound is W(T) times the prior of the length, of all rules and of all labels (4 for two classes), times
        exp(rate * what a rule and a default can reach): by ``bounds.py`` at first, by the best split for some, and for some of
        these the sum itself. The last that was written down counts.
        """
        problem, sets, weight = self.problem, children.sets, children.weight
        stop = self._weight_of_stopping(children)
        mass = weight + (problem.log_rules + problem.log_length[-1] + 2 * math.log(problem.n_classes))
        before = mass.copy()
        mass += problem.rate * children.after.astype(np.float64)
        exact = np.zeros(len(mass), bool)
        for rows in self._threshold.to_split(mass, stop, share):
            split = best_split_after(problem, sets[rows], self._deadline)
            mass[rows], exact[rows] = before[rows] + problem.rate * split.astype(np.float64), False
            for good in self._threshold.to_sum(rows, mass):
                exact[good] = True
                mass[good] = log_sum_exp(last_rules(problem, sets[good], weight[good]))
        return Last(sets.astype(np.min_scalar_type(problem.n_groups)), weight, stop, mass, exact, parents)


def draw_order(elements: Elements, level: Level | Last, place: int, choose: Choose) -> list[int]:
    """An order for the rules of a set, in proportion to its weight: which of them was added last, and so on back.

    **Identity.** ``W(T) = sum over l of W(T - l) * gain of l after T - l``, over all (T - l, l) that were kept; orders that
    were not kept are in other elements. So the rule that came last is l with probability (its summand) / W(T), and the order of
    the others has the distribution of T - l. In a part of the last level, the sum is over the parents from which that part was
    made: what comes from others is in other parts. So an order can be drawn in one way only.
    """
    problem = elements.problem
    rules: list[int] = []
    rules_now = level.sets[place]
    for t in range(len(rules_now), 0, -1):
        before = elements.levels[t - 1]
        among = level.parents if isinstance(level, Last) and not rules else range(len(before.sets))
        parents, logs = [], []
        for group in np.unique(rules_now):
            rest = rules_now.tolist()
            rest.remove(group)
            sets = np.array([rest], np.int32).reshape(1, t - 1)
            key = keys_of(problem, sets)[0]
            parent = int(np.searchsorted(before.keys, key))
            known = parent in among and before.keys[parent] == key
            if not known or not np.unpackbits(before.kept[parent])[group]:
                continue
            part = problem.alive(sets) * problem.truth.T[[group]]
            gained = problem.log_free(sets)[0, group] + problem.log_sum(problem.left(part))[0]
            parents.append((parent, int(group)))
            logs.append(before.weight[parent] + gained)
        place, group = parents[choose(np.array(logs))]
        rules.append(group)
        rules_now = before.sets[place]
    return rules[::-1]

"""An exact draw of a whole rule list by rejection from a branch-and-bound envelope.

All lists are divided into *elements*, each with an upper bound on the weight of its lists. Draw an element in proportion to
(bound * number of lists, weighted by the prior), propose a list in it by the prior, and accept it with probability
weight / bound; otherwise start again.

**Exactness.** An attempt returns the list x with probability (bound * prior(x)) / total * weight(x) / (bound * prior(x)) =
weight(x) / total, whatever the elements and their bounds, as long as the elements are disjoint and cover all lists and the
bounds hold. So the accepted list has the law of the weights, for any division. Divisions are made by looking at the data, and
made anew if too many attempts fail: that costs time and changes nothing, because every single attempt has the same law.

**Division.** What a prefix leaves does not depend on the order of its rules, so prefixes are *sets* T of groups, with
``W(T)`` = the sum over orders of prior times weight of their parts, labels summed out. Level t holds the sets of t rules that
were kept. A list of which the first t rules form T either

    stops there                                                  an element with an exact weight, or
    goes on with a rule l whose bound is above a threshold       kept: it belongs to the set T + l of the next level, or
    goes on with a rule l whose bound is below it                an element "T, then l, then anything".

On the last level, t = longest - 1, one more rule may follow: its sum over all rules is computed exactly, or bounded by the
exact best split ``C_1(T)``, or by ``reach.py`` where even that is not worth it. Whether (T, l) was kept is written down, not
computed again, so the elements are disjoint and cover everything whatever rounding does.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..cells import Array
from ..entropy import Entropy
from .deadline import Deadline
from .problem import Problem, Sets, concrete, draw_labels, pick
from .reach import ROWS, Reach, best_split, best_split_after, blocks

SLACK = 6.0  # how far below the best weight found (as a logarithm) an element need not be divided
ATTEMPTS = 20_000  # before the division is made finer
WASTE = 3000.0  # how many times the exact weight the undivided rest of the last level may have


def draw_by_envelope(problem: Problem, entropy: Entropy, deadline: Deadline) -> tuple[list[int], list[int]]:
    """Rules (by their numbers) and labels (the default's last) of one list."""
    slack = SLACK
    while True:
        envelope = Envelope(problem, deadline, slack)
        groups = envelope.draw(entropy, ATTEMPTS)
        if groups is not None:
            return concrete(problem, groups, entropy), draw_labels(problem, groups, entropy)
        slack += SLACK


@dataclass(eq=False)
class _Level:
    """Sets of equally many groups, in order of their keys, and the logarithms of their weights."""

    sets: Sets
    keys: npt.NDArray[np.int64]
    weight: Array  # W(T)
    stop: Array  # of the lists that stop here
    pruned: Array  # the bounds of all "T, then l, then anything" together
    kept: npt.NDArray[np.uint8]  # for each T, a bit for each group


class _Edges(NamedTuple):
    """All (T, l) for some sets T; (rows, groups) where not said otherwise."""

    left: Array  # (classes, rows): what T leaves
    captured: Array  # (classes, rows, groups): what l captures of it
    score: Array  # rate times the best score that l and anything after it can reach
    before: Array  # W(T) times the prior weight of l
    bound: Array  # on all lists "T, then l, then anything"


class Envelope:
    """A division of all lists into elements, to draw from as often as one likes."""

    def __init__(self, problem: Problem, deadline: Deadline, slack: float = SLACK) -> None:
        self._problem, self._deadline, self._slack = problem, deadline, slack
        self._labels = math.log(problem.n_classes)
        self._log_rules = float(np.logaddexp.reduce(problem.log_members, initial=-np.inf))
        longest = problem.longest
        if longest:
            self._reach = Reach(problem, deadline)
        everything = problem.counts.sum(1)[None]
        root = self._new_level(np.zeros((1, 0), np.int32), np.zeros(1), everything)
        self._levels = [root]
        self._threshold = self._incumbent() - slack if longest > 1 else -np.inf
        while len(self._levels) < longest and len(self._levels[-1].sets):
            self._levels.append(self._extend(self._levels[-1]))
        self._last, self._last_is_exact = np.empty(0), np.empty(0, bool)
        if len(self._levels) == longest:
            self._last, self._last_is_exact = self._finish(self._levels[-1])
        masses = np.concatenate([m for level in self._levels for m in (level.stop, level.pruned)] + [self._last])
        self._top = float(masses.max())
        self._sums = np.cumsum(np.exp(masses - self._top))

    # -- building

    def _new_level(self, sets: Sets, weight: Array, left: Array) -> _Level:
        stop = weight + self._problem.log_length[sets.shape[1]] + self._problem.log_sum(left.T)
        kept = np.zeros((len(sets), (self._problem.n_groups + 7) // 8), np.uint8)
        return _Level(sets, self._keys(sets), weight, stop, np.full(len(sets), -np.inf), kept)

    def _keys(self, sets: Sets) -> npt.NDArray[np.int64]:
        keys = np.zeros(len(sets), np.int64)
        for column in sets.T:
            keys = keys * self._problem.n_groups + column
        return keys

    def _terms(self, t: int) -> Array:
        """For s = 0, 1, ... rules after the next one: the logarithm of prior and labels of all lists "T, l, s rules"."""
        s = np.arange(self._problem.longest - t)
        terms: Array = self._problem.log_length[t + 1 :] + s * self._log_rules + (s + 2) * self._labels
        return terms

    def _edges(self, sets: Sets, weight: Array) -> _Edges:
        """All ways to go on from these sets."""
        problem = self._problem
        alive, t = problem.alive(sets), sets.shape[1]
        captured = problem.captured(alive)
        score = self._reach.after_next(sets, alive, problem.longest - t - 1).astype(np.float64)
        score += captured.max(0)
        score *= problem.rate
        before = problem.log_free(sets)
        before += weight[:, None]
        total = float(np.logaddexp.reduce(self._terms(t)))
        return _Edges(problem.left(alive), captured, score, before, score + (before + total))

    def _extend(self, level: _Level) -> _Level:
        """The next level: sets T + l of all (T, l) above the threshold. The others are booked as pruned."""
        sets, weights, lefts = [], [], []
        for rows in blocks(0, len(level.sets)):
            self._deadline.check()
            edges = self._edges(level.sets[rows], level.weight[rows])
            keep = edges.bound >= self._threshold
            level.kept[rows] = np.packbits(keep, axis=1)
            row, rule = np.nonzero(keep)
            edges.bound[keep] = -np.inf
            level.pruned[rows] = _log_sum_of_rows(edges.bound)
            captured = edges.captured[:, row, rule]
            sets.append(np.column_stack([level.sets[rows][row], rule.astype(np.int32)]))
            weights.append(edges.before[row, rule] + self._problem.log_sum(captured))
            lefts.append((edges.left[:, row] - captured).T)
        return self._merge(np.sort(np.concatenate(sets), axis=1), np.concatenate(weights), np.concatenate(lefts))

    def _merge(self, sets: Sets, weight: Array, left: Array) -> _Level:
        """Equal sets become one, with the sum of their weights."""
        keys = self._keys(sets)
        order = np.argsort(keys, kind="stable")
        keys, weight = keys[order], weight[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        if len(first):
            top = np.maximum.reduceat(weight, first)
            times = np.diff(np.append(first, len(weight)))
            weight = top + np.log(np.add.reduceat(np.exp(weight - np.repeat(top, times)), first))
        return self._new_level(sets[order[first]], weight, left[order[first]])

    def _finish(self, level: _Level) -> tuple[Array, npt.NDArray[np.bool_]]:
        """For each set of the last level, all lists that add one more rule: a bound, or the exact sum."""
        problem = self._problem
        two_labels = self._log_rules + problem.log_length[-1] + 2 * self._labels
        mass = level.weight + two_labels + problem.rate * self._reach.after(level.sets, 1).astype(np.float64)
        exact = np.zeros(len(mass), bool)
        order = np.argsort(-mass)
        rest = np.logaddexp.accumulate(mass[order][::-1])[::-1]  # of what is not looked at yet
        total = float(np.logaddexp.reduce([m for other in self._levels for m in other.stop]))
        start, step = 0, ROWS
        while start < len(order) and not (rest[start] < total + math.log(WASTE) and total > self._threshold):
            rows = np.sort(order[start : start + step])
            start, step = start + step, 2 * step
            split = best_split_after(problem, level.sets[rows], self._deadline)
            mass[rows] = level.weight[rows] + two_labels + problem.rate * split.astype(np.float64)
            rows = rows[mass[rows] >= max(self._threshold, total - self._slack)]
            exact[rows] = True
            if len(rows):
                mass[rows] = np.logaddexp.reduce(self._last_rules(level.sets[rows], level.weight[rows]), axis=1)
                total = float(np.logaddexp.reduce(mass[rows], initial=total))
        return mass, exact

    def _last_rules(self, sets: Sets, weight: Array) -> Array:
        """(rows, groups): the exact logarithm of the weight of "T, then l, then the default"."""
        problem = self._problem
        alive = problem.alive(sets)
        captured = problem.captured(alive)
        logs = problem.log_sum(captured) + problem.log_sum(problem.left(alive)[:, :, None] - captured)
        logs += problem.log_free(sets) + (weight[:, None] + problem.log_length[-1])
        return logs

    def _incumbent(self) -> float:
        """The weight of good sets, found by local search. It sets the threshold, so it may be anything."""
        problem = self._problem
        t = problem.longest - 1
        best = -np.inf
        bound = self._edges(np.zeros((1, 0), np.int32), np.zeros(1)).bound
        for start in np.argsort(-bound[0])[:3]:
            sets = np.array([[start]], np.int32)
            while sets.shape[1] < t:  # greedily by the bound
                bound = self._edges(sets, np.zeros(1)).bound
                sets = np.column_stack([sets, [int(bound.argmax())]]).astype(np.int32)
            value, improved = -np.inf, True
            while improved:
                improved = False
                for position in range(t):
                    self._deadline.check()
                    swaps = np.repeat(sets, problem.n_groups, axis=0)
                    swaps[:, position] = np.arange(problem.n_groups)
                    values = self._weight_of(swaps)
                    if values.max() > value + 1e-9:
                        value, sets, improved = float(values.max()), swaps[[int(values.argmax())]], True
            best = max(best, value)
        return best

    def _weight_of(self, sets: Sets) -> Array:
        """The weight of all lists that begin with the rules of a set, in its own order, and add at most one."""
        problem = self._problem
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

    # -- drawing

    def draw(self, entropy: Entropy, attempts: int) -> list[int] | None:
        """A list of groups, or None if all attempts failed."""
        for _ in range(attempts):
            self._deadline.check()
            u = float(entropy.uniform(1)[0])
            place = int(np.searchsorted(self._sums, u * self._sums[-1], side="right"))
            groups = self._propose(min(place, len(self._sums) - 1), entropy)
            if groups is not None:
                return groups
        return None

    def _propose(self, place: int, entropy: Entropy) -> list[int] | None:
        """A list in one element, if it is accepted."""
        for level in self._levels:
            if place < len(level.sets):
                return self._order(level, place, entropy)
            place -= len(level.sets)
            if place < len(level.sets):
                return self._propose_pruned(level, place, entropy)
            place -= len(level.sets)
        level, problem = self._levels[-1], self._problem
        if self._last_is_exact[place]:
            logs = self._last_rules(level.sets[[place]], level.weight[[place]])[0]
            return [*self._order(level, place, entropy), pick(logs, float(entropy.uniform(1)[0]))]
        u, v = entropy.uniform(2)
        rule = pick(problem.log_members, float(u))
        used = level.sets[place]
        free = 1.0 - (used == rule).sum() / problem.sizes[rule]
        alive = problem.outside[used].prod(0)
        part = alive * problem.truth[:, rule]
        log = problem.log_sum(problem.counts @ part) + problem.log_sum(problem.counts @ (alive - part))
        bound = self._last[place] - level.weight[place] - problem.log_length[-1] - self._log_rules
        if free <= 0.0 or math.log(v / free) >= log - bound:
            return None
        return [*self._order(level, place, entropy), rule]

    def _propose_pruned(self, level: _Level, place: int, entropy: Entropy) -> list[int] | None:
        problem = self._problem
        sets = level.sets[[place]]
        edges = self._edges(sets, level.weight[[place]])
        kept = np.unpackbits(level.kept[place], count=problem.n_groups).astype(bool)
        u, v, w = entropy.uniform(3)
        rule = pick(np.where(kept, -np.inf, edges.bound[0]), float(u))
        more = pick(self._terms(sets.shape[1]), float(v))
        rules = [rule, *(pick(problem.log_members, float(x)) for x in entropy.uniform(more))]
        log_accept = -edges.score[0, rule] - (more + 2) * self._labels
        used = sets[0].tolist()
        alive = problem.alive(sets)[0]
        for i, r in enumerate(rules):
            part = alive * problem.truth[:, r]
            alive = alive - part
            log_accept += float(problem.log_sum(problem.counts @ part))
            if i:  # proposed among all members of the group, those used already included
                free = 1.0 - used.count(r) / problem.sizes[r]
                log_accept += math.log(free) if free > 0.0 else -math.inf
            used.append(r)
        log_accept += float(problem.log_sum(problem.counts @ alive))
        if math.log(w) >= log_accept:
            return None
        return [*self._order(level, place, entropy), *rules]

    def _order(self, level: _Level, place: int, entropy: Entropy) -> list[int]:
        """An order for the rules of a set, in proportion to its weight: which of them was added last, and so on back."""
        problem, rules = self._problem, []
        for t in range(level.sets.shape[1], 0, -1):
            here, before = self._levels[t], self._levels[t - 1]
            groups = np.unique(here.sets[place])
            parents, logs = [], []
            for group in groups:
                rest = here.sets[place].tolist()
                rest.remove(group)
                sets = np.array([rest], np.int32).reshape(1, t - 1)
                parent = int(np.searchsorted(before.keys, self._keys(sets)[0]))
                known = parent < len(before.keys) and before.keys[parent] == self._keys(sets)[0]
                if not known or not np.unpackbits(before.kept[parent])[group]:
                    continue
                part = problem.alive(sets) * problem.truth.T[[group]]
                gained = problem.log_free(sets)[0, group] + problem.log_sum(problem.left(part))[0]
                parents.append((parent, int(group)))
                logs.append(before.weight[parent] + gained)
            place, group = parents[pick(np.array(logs), float(entropy.uniform(1)[0]))]
            rules.append(group)
        return rules[::-1]


def _log_sum_of_rows(logs: Array) -> Array:
    """``log sum exp`` of each row. Rows of -inf give -inf."""
    top = logs.max(1, initial=-np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        sums: Array = np.where(np.isneginf(top), -np.inf, top + np.log(np.exp(logs - top[:, None]).sum(1)))
    return sums

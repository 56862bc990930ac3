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

The last level can be large, so it is made in parts, each from a range of sets of the level before. A set with parents in two
ranges is in both parts, each time with the weight that comes from there, together W(T). So a set and what follows it have the
right law, and so does the order, which is drawn from all parents, given the set, in the end.

The sum of the bounds of all "T, then l, then anything" is booked a little too high, in single precision. It is computed again,
in double precision, when such an element is drawn, and what was too much is rejected.
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..cells.cells import Array
from ..cells.secret import Secret
from ..noise.entropy import Entropy
from .deadline import Deadline
from .problem import Problem, Sets, concrete, draw_labels, pick, pick_each
from .reach import ROWS, Reach, best_split, best_split_after, blocks

SLACK = 0.0  # how far below the best weight found (as a logarithm) an element need not be divided
# Divisions to try: slack, attempts for each group of rules, and how many sets a level may have before the next is tried instead.
# Coarse ones first: they will do where no list stands out. The last one is made ever finer: in the end every list
# is weighed by itself, so that a draw ends, whatever the table and the prior.
DIVISIONS = ((-20.0, 8, 10_000), (-10.0, 32, 10_000), (SLACK, 1_000, sys.maxsize))
FINER = 6.0  # the slack after these, and four times as much each time
EDGES = 4_000_000  # about how many ways to reach the last level are merged at once
SWEEPS = 20  # of the local search for good sets, at most
WASTE = 10_000.0  # how many times the known weight the undivided rest of the last level may have


def draw_by_envelope(problem: Problem, entropy: Entropy, deadline: Deadline) -> tuple[list[int], list[int]]:
    """Rules (by their numbers) and labels (the default's last) of one list."""
    envelope = None
    for slack, attempts, most in chain(DIVISIONS, ((FINER * 4.0**i, *DIVISIONS[-1][1:]) for i in count())):
        envelope = Envelope(problem, deadline, slack, envelope, most)
        groups = None if envelope.gave_up else envelope.draw(entropy, attempts * (1 + problem.n_groups))
        if groups is not None:
            return concrete(problem, groups, entropy), draw_labels(problem, groups, entropy)
    raise AssertionError("there is always a finer division")


@dataclass(eq=False, repr=False)
class _Level(Secret):
    """Sets of equally many groups, in order of their keys, and the logarithms of their weights."""

    sets: Sets
    keys: npt.NDArray[np.int64]
    weight: Array  # W(T)
    stop: Array  # of the lists that stop here
    pruned: Array  # the bounds of all "T, then l, then anything" together, or a little more
    kept: npt.NDArray[np.uint8]  # for each T, a bit for each group


@dataclass(eq=False, repr=False)
class _Last(Secret):
    """Some sets of the last level: all that come from a range of sets of the level before, with the weight from there."""

    sets: npt.NDArray[np.unsignedinteger]  # as short as they can be: there may be tens of millions
    weight: Array
    stop: Array
    mass: Array  # of all lists that add one more rule: a bound, or the exact sum
    exact: npt.NDArray[np.bool_]


class _Edges(NamedTuple):
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


class _Proposals(NamedTuple):
    """How lists go on after the first rules, which are the set ``sets[place]``, and whether to accept them."""

    log_accept: Array
    rules: Sets  # (rows, as many as possible)
    lengths: npt.NDArray[np.intp]


Places = npt.NDArray[np.integer]
Propose = Callable[["_Level | _Last", Places, Entropy], _Proposals]


class Envelope(Secret):
    """A division of all lists into elements, to draw from as often as one likes."""

    def __init__(
        self,
        problem: Problem,
        deadline: Deadline,
        slack: float = SLACK,
        coarser: "Envelope | None" = None,
        most: int = sys.maxsize,
    ) -> None:
        self._problem, self._deadline, self._slack = problem, deadline, slack
        self._labels = math.log(problem.n_classes)
        self._log_rules = float(np.logaddexp.reduce(problem.log_members, initial=-np.inf))
        longest = problem.longest
        everything = problem.counts.sum(1)[:, None]
        root = _Children(np.zeros((1, 0), np.int32), np.zeros(1), everything, problem.counts.max(0).sum(keepdims=True))
        self._levels: list[_Level] = []
        self._last: list[_Last] = []
        self.gave_up = False  # with too many sets; then there is nothing to draw from
        self._known = -np.inf  # about the logarithm of the weight of lists found; for decisions only
        self.reach: Reach = Reach(problem, deadline) if coarser is None else coarser.reach
        if longest > 1:
            self._known = self._incumbent() if coarser is None else coarser._known
        self._threshold = self._known - slack
        if longest == 1:
            self._last = [self._finish(root, 1.0)]
        else:
            self._levels = [self._new_level(root)]
        while len(self._levels) < longest - 1 and len(self._levels[-1].sets):
            ((_, children),) = self._extend(self._levels[-1], sys.maxsize)
            self._levels.append(self._new_level(children))
            self.gave_up = len(children.sets) > most
            if self.gave_up:
                return
        if longest > 1 and len(self._levels) == longest - 1:
            self._last = [self._finish(children, share) for share, children in self._extend(self._levels[-1], EDGES)]
        pieces: list[tuple[Propose, _Level | _Last, Array]] = []
        for level in self._levels:
            pieces += [(self._stop, level, level.stop), (self._go_on, level, level.pruned)]
        for last in self._last:
            pieces += [(self._stop, last, last.stop), (self._one_more, last, last.mass)]
        self._pieces = [(propose, level) for propose, level, _ in pieces]
        self._starts = np.cumsum([0] + [len(mass) for _, _, mass in pieces])
        masses = np.concatenate([mass for _, _, mass in pieces])
        self._top = float(masses.max())
        masses -= self._top
        self._sums = np.cumsum(np.exp(masses, out=masses), out=masses)

    # -- building

    def _new_level(self, children: _Children) -> _Level:
        n = len(children.sets)
        kept = np.zeros((n, (self._problem.n_groups + 7) // 8), np.uint8)
        keys, pruned = self._keys(children.sets), np.full(n, -np.inf)
        return _Level(children.sets, keys, children.weight, self._weight_of_stopping(children), pruned, kept)

    def _weight_of_stopping(self, children: _Children) -> Array:
        stop: Array = children.weight + self._problem.log_sum(children.left)
        stop += self._problem.log_length[children.sets.shape[1]]
        return stop

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
        after = self.reach.after_next(sets, alive, problem.longest - t - 1, captured)
        score = captured.max(0).astype(np.float64)
        score += after
        score *= problem.rate
        before = problem.log_free(sets)
        before += weight[:, None]
        bound = score + before
        bound += float(np.logaddexp.reduce(self._terms(t)))
        return _Edges(problem.left(alive), captured, after, score, before, bound)

    def _extend(self, level: _Level, most: int) -> Iterator[tuple[float, _Children]]:
        """The next level: sets T + l of all (T, l) above the threshold. The others are booked as pruned.

        It comes in parts, from about ``most`` pairs (T, l) each, with the share of the sets T they come from.
        """
        found: list[_Children] = []
        start = n_edges = 0
        for rows in blocks(0, len(level.sets)):
            self._deadline.check()
            edges = self._edges(level.sets[rows], level.weight[rows])
            keep = edges.bound >= self._threshold
            level.kept[rows] = np.packbits(keep, axis=1)
            row, rule = np.nonzero(keep)
            edges.bound[keep] = -np.inf
            level.pruned[rows] = _little_more_than_log_sum(edges.bound)
            captured = edges.captured[:, row, rule]
            sets = np.column_stack([level.sets[rows][row], rule.astype(np.int32)])
            weight = edges.before[row, rule] + self._problem.log_sum(captured)
            found.append(_Children(sets, weight, edges.left[:, row] - captured, edges.after[row, rule]))
            n_edges += len(row)
            if n_edges >= most or rows.stop == len(level.sets):
                yield (rows.stop - start) / len(level.sets), self._merge(found)
                found, start, n_edges = [], rows.stop, 0

    def _merge(self, found: list[_Children]) -> _Children:
        """Equal sets become one, with the sum of their weights."""
        sets = np.sort(np.concatenate([c.sets for c in found]), axis=1)
        keys = self._keys(sets)
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

    def _finish(self, children: _Children, share: float) -> _Last:
        """For each set of the last level, all lists that add one more rule: a bound, or the exact sum.

        Bounds of ``reach.py`` will do for the rest when it has little mass (its share of WASTE); else those of the best split.
        """
        problem, sets, weight = self._problem, children.sets, children.weight
        stop = self._weight_of_stopping(children)
        known = float(np.logaddexp.reduce(stop, initial=self._known))
        mass = weight + (self._log_rules + problem.log_length[-1] + 2 * self._labels)
        before = mass.copy()
        mass += problem.rate * children.after.astype(np.float64)
        exact = np.zeros(len(mass), bool)
        order = np.argsort(-mass)
        rest = np.logaddexp.accumulate(mass[order][::-1])[::-1]  # of what is not looked at yet
        start, step = 0, ROWS
        while start < (end := int(np.count_nonzero(rest >= known + math.log(WASTE * share) - max(0.0, self._slack)))):
            rows = np.sort(order[start : min(start + step, end)])
            start, step = start + len(rows), len(order)
            split = best_split_after(problem, sets[rows], self._deadline)
            mass[rows] = before[rows] + problem.rate * split.astype(np.float64)
            rows = rows[mass[rows] >= max(self._threshold, known - self._slack)]
            rows = rows[np.argsort(-mass[rows])]
            for block in blocks(0, len(rows)):
                good = rows[block][mass[rows[block]] >= known - self._slack]
                exact[good] = True
                mass[good] = np.logaddexp.reduce(self._last_rules(sets[good], weight[good]), axis=1)
                known = float(np.logaddexp.reduce(mass[good], initial=known))
        self._known = known
        return _Last(sets.astype(np.min_scalar_type(problem.n_groups)), weight, stop, mass, exact)

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
            value = -np.inf
            for _ in range(SWEEPS):
                before = value
                for position in range(t):
                    self._deadline.check()
                    swaps = np.repeat(sets, problem.n_groups, axis=0)
                    swaps[:, position] = np.arange(problem.n_groups)
                    values = self._weight_of(swaps)
                    if values.max() > value:
                        value, sets = float(values.max()), swaps[[int(values.argmax())]]
                if value <= before:
                    break
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
        """A list of groups, or None if all attempts failed. Attempts are made together; the first that succeeds counts."""
        done, together = 0, 1
        while done < attempts:
            self._deadline.check()
            u = entropy.uniform(together)
            places = np.searchsorted(self._sums, u * self._sums[-1], side="right").clip(max=len(self._sums) - 1)
            pieces = np.searchsorted(self._starts, places, side="right") - 1
            first, found = together, None
            for piece in np.unique(pieces):
                here = np.flatnonzero(pieces == piece)
                propose, level = self._pieces[piece]
                at = places[here] - self._starts[piece]
                proposals = propose(level, at, entropy)
                accepted = np.flatnonzero(np.log(entropy.uniform(len(here))) < proposals.log_accept)
                if len(accepted) and here[accepted[0]] < first:
                    i = int(accepted[0])
                    first = int(here[i])
                    found = level, int(at[i]), proposals.rules[i, : proposals.lengths[i]].tolist()
            if found is not None:
                return [*self._order(found[0], found[1], entropy), *found[2]]
            done += together
            together = min(4 * together, ROWS, attempts - done)
        return None

    def _stop(self, level: _Level | _Last, at: Places, entropy: Entropy) -> _Proposals:
        """Nothing more."""
        return _Proposals(np.zeros(len(at)), np.zeros((len(at), 0), np.int32), np.zeros(len(at), np.intp))

    def _one_more(self, level: _Level | _Last, at: Places, entropy: Entropy) -> _Proposals:
        """One rule after a set of the last level."""
        assert isinstance(level, _Last)
        problem, sets = self._problem, level.sets[at].astype(np.int32)
        rule = pick_each(problem.log_members[None], entropy.uniform(len(at)))
        alive = problem.alive(sets)
        part = alive * problem.truth.T[rule]
        log = problem.log_sum(problem.left(part)) + problem.log_sum(problem.left(alive - part))
        log += self._log_unused(sets, rule)
        log += level.weight[at] + (problem.log_length[-1] + self._log_rules) - level.mass[at]
        exact = np.flatnonzero(level.exact[at])
        if len(exact):
            logs = self._last_rules(sets[exact], level.weight[at[exact]])
            rule[exact], log[exact] = pick_each(logs, entropy.uniform(len(exact))), 0.0
        return _Proposals(log, rule[:, None].astype(np.int32), np.ones(len(at), np.intp))

    def _go_on(self, level: _Level | _Last, at: Places, entropy: Entropy) -> _Proposals:
        """A rule that was pruned after a set, and anything after it."""
        assert isinstance(level, _Level)
        problem, sets = self._problem, level.sets[at]
        edges = self._edges(sets, level.weight[at])
        kept = np.unpackbits(level.kept[at], axis=1, count=problem.n_groups).astype(bool)
        bound = np.where(kept, -np.inf, edges.bound)
        terms = self._terms(sets.shape[1])
        more = pick_each(terms[None], entropy.uniform(len(at)))
        rules = np.empty((len(at), len(terms)), np.int32)
        rules[:, 0] = pick_each(bound, entropy.uniform(len(at)))
        log = np.logaddexp.reduce(bound, axis=1) - level.pruned[at]  # a little more was booked
        log -= edges.score[np.arange(len(at)), rules[:, 0]] + (more + 2) * self._labels
        alive = problem.alive(sets)
        for i in range(len(terms)):
            if i:  # proposed among all members of the group, those used already included
                rules[:, i] = pick_each(problem.log_members[None], entropy.uniform(len(at)))
                log += np.where(i <= more, self._log_unused(np.hstack([sets, rules[:, :i]]), rules[:, i]), 0.0)
            part = alive * problem.truth.T[rules[:, i]] * (i <= more)[:, None].astype(alive.dtype)
            log += np.where(i <= more, problem.log_sum(problem.left(part)), 0.0)
            alive -= part
        return _Proposals(log + problem.log_sum(problem.left(alive)), rules, more + 1)

    def _log_unused(self, sets: Sets, rule: Places) -> Array:
        """The logarithm of the share of a group's members that a list does not have yet."""
        with np.errstate(divide="ignore"):
            log: Array = np.log(np.maximum(1.0 - (sets == rule[:, None]).sum(1) / self._problem.sizes[rule], 0.0))
        return log

    def _order(self, level: _Level | _Last, place: int, entropy: Entropy) -> list[int]:
        """An order for the rules of a set, in proportion to its weight: which of them was added last, and so on back."""
        problem, rules = self._problem, []
        rules_now = level.sets[place]
        for t in range(len(rules_now), 0, -1):
            before = self._levels[t - 1]
            groups = np.unique(rules_now)
            parents, logs = [], []
            for group in groups:
                rest = rules_now.tolist()
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
            rules_now = before.sets[place]
        return rules[::-1]


def _little_more_than_log_sum(logs: Array) -> Array:
    """``log sum exp`` of each row in single precision, and 0.001 more: never less than it is. Rows of -inf give -inf."""
    top = logs.max(1, initial=-np.inf)
    with np.errstate(invalid="ignore", under="ignore"):
        sums: Array = np.exp((logs - top[:, None]).astype(np.float32)).sum(1).astype(np.float64)
    return np.where(np.isneginf(top), -np.inf, top + np.log(sums, where=sums > 0, out=np.zeros(len(sums))) + 0.001)

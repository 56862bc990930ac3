"""The best rule list, without noise: branch and bound over sets of rules, level by level.

What a prefix leaves depends on the set of its rules, not on their order, so of all orders of a set only the best is kept. A
set is given up if ``its score + what can follow (speed/reach.py)`` is not above the best list found so far. When nothing is left,
no list is better: that is the certificate. Not private; nothing of it is shown for a private fit.
"""

import numpy as np
import numpy.typing as npt

from ..counts.secret import Secret
from .problem import ROWS, Problem, Sets
from .speed.deadline import Deadline
from .speed.reach import Reach, best_split

SWEEPS = 20  # of the local search for a good list to begin with, at most


class _Level(Secret):
    """Sets of equally many rules, in the best order found: the score of their parts, and how they came about."""

    def __init__(self, sets: Sets, score: npt.NDArray[np.float64], parent: Sets, rule: Sets) -> None:
        self.sets, self.score, self.parent, self.rule = sets, score, parent, rule


def best_list(problem: Problem, deadline: Deadline) -> tuple[list[int], float]:
    """The groups of a list with the largest score, of those one with fewest rules; and a bound on all that was given up."""
    best, ceiling = float(problem.counts.sum(1).max(initial=0.0)), -np.inf
    found: list[int] = []
    if problem.longest == 0:
        return [], best
    reach = Reach(problem, deadline)
    for groups in (_climb(problem, reach, k, deadline) for k in range(1, problem.longest + 1)):
        if (score := _score(problem, groups)) > best:
            best, found = score, groups
    levels = [_Level(*(np.zeros((1, 0), np.int32), np.zeros(1), np.zeros(1, np.int32), np.zeros(1, np.int32)))]
    for t in range(problem.longest):
        level, s = levels[-1], problem.longest - t - 1
        pieces: list[tuple[npt.NDArray[np.float64], Sets, Sets]] = []
        for start in range(0, len(level.sets), ROWS):
            deadline.check()
            rows = slice(start, start + ROWS)
            sets = level.sets[rows]
            alive = problem.alive(sets)
            captured = problem.captured(alive)
            score = level.score[rows, None] + captured.max(0)
            stop = score + (problem.left(alive)[:, :, None] - captured).max(0)
            stop[_used_up(problem, sets)] = -np.inf
            top = float(stop.max(initial=-np.inf))
            if top > best or (top == best and t + 1 < len(found)):
                at = divmod(int(stop.argmax()), problem.n_groups)
                best, found = top, [*_path(levels, start + at[0]), at[1]]
            if s:
                bound = score + reach.after_next(sets, alive, s)
                bound[_used_up(problem, sets)] = -np.inf
                keep = bound >= best if t + 2 < len(found) else bound > best
                ceiling = max(ceiling, float(bound[~keep].max(initial=-np.inf)))
                row, rule = np.nonzero(keep)
                pieces.append((score[row, rule], (start + row).astype(np.int32), rule.astype(np.int32)))
        if not s or not sum(len(piece[0]) for piece in pieces):
            break
        levels.append(_next_level(problem, level, *(np.concatenate(arrays) for arrays in zip(*pieces, strict=True))))
    return found, ceiling


def _next_level(problem: Problem, level: _Level, score: npt.NDArray[np.float64], parent: Sets, rule: Sets) -> _Level:
    sets = np.sort(np.column_stack([level.sets[parent], rule]), axis=1)
    keys = np.zeros(len(sets), np.int64)
    for column in sets.T:
        keys = keys * problem.n_groups + column
    order = np.lexsort((-score, keys))
    first = order[np.flatnonzero(np.diff(keys[order], prepend=-1))]
    return _Level(sets[first], score[first], parent[first], rule[first])


def _path(levels: list[_Level], place: int) -> list[int]:
    rules = []
    for level in levels[:0:-1]:
        rules.append(int(level.rule[place]))
        place = int(level.parent[place])
    return rules[::-1]


def _used_up(problem: Problem, sets: Sets) -> npt.NDArray[np.bool_]:
    """(rows, groups): where all members of a group are in the set already."""
    return np.isneginf(problem.log_free(sets))


def _score(problem: Problem, groups: list[int]) -> float:
    alive, score = np.ones(len(problem.truth), problem.truth.dtype), 0.0
    for group in groups:
        part = alive * problem.truth[:, group]
        score += float((problem.counts @ part).max())
        alive = alive - part
    return score + float((problem.counts @ alive).max())


def _climb(problem: Problem, reach: Reach, length: int, deadline: Deadline) -> list[int]:
    """A good list of this many rules: greedily by the bound, then one rule exchanged at a time while that helps."""
    groups: list[int] = []
    for i in range(length - 1):
        sets = np.array([groups], np.int32).reshape(1, i)
        alive = problem.alive(sets)
        bound = problem.captured(alive).max(0) + reach.after_next(sets, alive, problem.longest - i - 1)
        bound[_used_up(problem, sets)] = -np.inf
        groups.append(int(bound.argmax()))
    best = -np.inf
    for _ in range(SWEEPS):
        before = best
        for i in range(length - 1):
            deadline.check()
            swaps = np.repeat(np.array([groups], np.int32), problem.n_groups, axis=0)
            swaps[:, i] = np.arange(problem.n_groups)
            value = _with_best_last(problem, swaps)
            if value.max() > best:
                best, groups = float(value.max()), swaps[int(value.argmax())].tolist()
        if best == before:
            break
    last = [(_score(problem, [*groups, g]), -g) for g in range(problem.n_groups)]
    return [*groups, -max(last)[1]]


def _with_best_last(problem: Problem, lists: Sets) -> npt.NDArray[np.float64]:
    """The score of each list with the best rule added at its end; -inf where a list uses a rule too often."""
    alive = np.ones((len(lists), len(problem.truth)), problem.truth.dtype)
    score = np.zeros(len(lists))
    for i, column in enumerate(lists.T):
        part = alive * problem.truth.T[column]
        score += problem.left(part).max(0)
        alive -= part
        score[_used_up(problem, lists[:, :i])[np.arange(len(lists)), column]] = -np.inf
    return score + best_split(problem, alive)

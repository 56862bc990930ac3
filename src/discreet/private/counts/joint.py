"""From marginals to literals: how many records of each class two or three literals hold of, for all of them at once.

A literal is a set of bins of its column. So with the 0/1 matrix ``L`` (literals x bins) of each column,

    records of which a, b and c hold  =  sum over bins u, v, w of  L[a, u] L[b, v] L[c, w] table[u, v, w]

which is three small products of matrices for each three columns, or two where two of the literals are about the same column.
Other counts that lists and trees need ("b, but not a") follow by differences, or are counted in the box of these conditions.

What is added up are *channels*: linear combinations of the class counts, such as the difference of two classes.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from ...rules.candidates import Candidates
from ...schema.columns import Column
from .division import Bins, Box, column_numbers, joined
from .groups import Groups
from .marginals import MarginalTables, Tables
from .patterns import Array
from .secret import Secret

Placed = tuple[npt.NDArray[np.intp], list[int], list[slice], list[Array]]
FEW = 1 << 20  # counts of a channel: eight megabytes


class JointCounts(Secret):
    """Counts of candidates that are single literals, in one part of the records.

    Literals stand here in the order of the groups that their columns are in (marginals.py): ``order`` has their candidate
    numbers, ``slices`` where each group's are.
    """

    def __init__(self, marginals: MarginalTables, candidates: Candidates, channels: Array, part: int = 0) -> None:
        """``channels`` (channels x classes): what is counted of each class."""
        self._marginals, self._channels, self._part = marginals, channels, part
        self.order, self.group_of, self.slices, self.truths = _placed(candidates, marginals.groups, marginals.columns)
        self.used = [i for i, s in enumerate(self.slices) if s.stop > s.start]

    def __len__(self) -> int:
        return len(self.order)

    def truth(self, literal: int) -> Bins:
        """The bins of its group in which a literal is true."""
        group = self.group_of[literal]
        true: Bins = self.truths[group][literal - self.slices[group].start] > 0
        return true

    @property
    def n_channels(self) -> int:
        """How many numbers stand for the class counts of a part."""
        return len(self._channels)

    def classes_in(self, box: Box) -> Array:
        """Class counts of the records in a box of groups, at most as many as are counted together: (classes,)."""
        numbers = list(box)
        counts: Array = self._marginals.in_part(self._part).table(numbers).astype(np.float64)
        for column in reversed(numbers):
            counts = counts @ box[column]
        return counts

    @cached_property
    def none(self) -> Array:
        """Of all records: (channels,)."""
        return self._channels @ self._marginals.in_part(self._part).table(())

    @cached_property
    def one(self) -> Array:
        """Of each literal: (channels, literals)."""
        return self._literals(self._tables.family(())[:, None], 0)[:, 0]

    @cached_property
    def two(self) -> Array:
        """Of each literal with each literal: (channels, literals, literals)."""
        joint = np.empty((self.n_channels, len(self), len(self)))
        for i in self.used:
            mine, rows = self.truths[i], self.slices[i]
            joint[:, rows, rows] = (self._tables.table((i,))[:, None] * mine) @ mine.T
            if rows.stop < len(self):
                both = self._literals(mine @ self._tables.family((i,)), i + 1)
                joint[:, rows, rows.stop :] = both
                joint[:, rows.stop :, rows] = both.swapaxes(1, 2)
        return joint

    def three(self, i: int, j: int) -> Array:
        """Of each literal of two groups, or twice of one, with each literal: (channels, of i, of j, literals)."""
        if i > j:
            return self.three(j, i).swapaxes(1, 2)
        return self._multiplied(i, j, self.truths[i], self._by_bins(i, j, 0))

    def three_from(self, i: int) -> Array:
        """Of each literal of a group, with each of it or a later one, with each: (channels, of i, from i on, literals)."""
        if self._every_three is not None:
            return self._every_three[:, self.slices[i], self.slices[i].start :]
        return np.concatenate([self.three(i, j) for j in self.used if j >= i], axis=2)

    @cached_property
    def _every_three(self) -> Array | None:
        """What ``three_from`` answers, if it is little: each three groups are multiplied once, not three times. Where the second
        literal's group is before the first's, nothing is written."""
        if self.n_channels * len(self) ** 3 > FEW:
            return None
        every = np.empty((self.n_channels, len(self), len(self), len(self)))
        for at, i in enumerate(self.used):
            for j in self.used[at:]:
                mine, other, later = self.slices[i], self.slices[j], slice(self.slices[j].start, len(self))
                joint = self._multiplied(i, j, self.truths[i], self._by_bins(i, j, later.start))
                every[:, mine, other, later] = joint
                every[:, mine, later, other] = joint.swapaxes(2, 3)
                every[:, other, later, mine] = joint.transpose(0, 2, 3, 1)
        return every

    def parts_of_three(self, i: int, j: int, most: int) -> Iterator[tuple[slice, Array]]:
        """The same for some literals of i at a time (which of its literals, and their counts): at most so many numbers, if two
        literals have not more. Group i is not after j."""
        first, second = self.truths[i], self.truths[j]
        counts = self._by_bins(i, j, 0)
        step = max(1, most // (self.n_channels * len(second) * len(self)))
        for start in range(0, len(first), step):
            some = first[start : start + step]
            yield slice(start, start + len(some)), self._multiplied(i, j, some, counts)

    def _by_bins(self, i: int, j: int, begin: int) -> Array:
        """By the bins of i, of j if it is another, and by literals: all of them, or those from the first of j on."""
        groups = (i,) if i == j else (i, j)
        pair, end = self._tables.table(groups), self.slices[j].stop - begin
        counts = np.empty((*pair.shape, len(self) - begin))
        for k in self.used[self.used.index(j) if begin else 0 : self.used.index(j) + 1]:
            literals, there = self.truths[k].T, counts[..., self.slices[k].start - begin : self.slices[k].stop - begin]
            if k == j:  # true or not in each bin of j
                np.multiply(pair[..., None], literals, out=there)
            elif k == i:
                np.multiply(pair[..., None], literals[:, None], out=there)
            else:
                np.matmul(self._tables.table((*groups, k)), literals, out=there)
        if end < counts.shape[-1]:
            flat = counts.reshape(len(pair), -1, counts.shape[-1])
            self._literals(self._tables.family(groups).reshape(*flat.shape[:2], -1), j + 1, flat[..., end:])
        return counts

    def _literals(self, counts: Array, group: int, out: Array | None = None) -> Array:
        """From the bins of all groups from this one on to their literals: both in the last of three axes."""
        begins, place = self._marginals.groups.begins, self.slices[group].start
        found = np.empty((*counts.shape[:-1], len(self) - place)) if out is None else out
        for i in self.used[bisect_left(self.used, group) :]:
            own, there = counts[..., begins[i] - begins[group] : begins[i + 1] - begins[group]], self.slices[i]
            np.matmul(own, self.truths[i].T, out=found[..., there.start - place : there.stop - place])
        return found

    def _multiplied(self, i: int, j: int, some: Array, counts: Array) -> Array:
        """From bins to literals, some of those of i and all of j: (channels, some, of j, as many as there are of others)."""
        second, n = self.truths[j], counts.shape[-1]
        if i == j:
            both = (some[:, None, :] * second).reshape(-1, some.shape[1])  # pairs of literals x bins
            return (both @ counts).reshape(-1, len(some), len(second), n)
        by_first = some @ counts.reshape(len(counts), some.shape[1], -1)
        joint: Array = second @ by_first.reshape(len(counts), len(some), -1, n)
        return joint

    @cached_property
    def _tables(self) -> Tables:
        """The channels of all sets: at once if they are few, else of each set when it is asked for."""
        tables = self._marginals.in_part(self._part)
        if tables.counts.shape[1] > FEW:
            return Tables(tables.groups, tables.counts, self._mixed)
        return Tables(tables.groups, self._mixed(tables.counts))

    def _mixed(self, counts: npt.NDArray[np.unsignedinteger]) -> Array:
        """From classes, in the first axis, to channels."""
        found = np.empty((self.n_channels, *counts.shape[1:]))
        for channel, weights in zip(found, self._channels.tolist(), strict=True):
            np.multiply(counts[0], weights[0], out=channel)
            for label, weight in enumerate(weights[1:], 1):
                if weight == -1.0:
                    channel -= counts[label]
                elif weight:
                    channel += weight * counts[label]
        return found


@lru_cache(maxsize=16)  # the same for each leaf of a tree, and each kind of channels
def _placed(candidates: Candidates, groups: Groups, columns: tuple[Column, ...]) -> Placed:
    """The order of literals, their groups, where those of each group are, and the bins in which they are true."""
    literals, of_literal = candidates.members[:, 0].tolist(), column_numbers(columns, candidates)
    group_of = {column: group for group, members in enumerate(groups.members) for column in members}
    of_rule = np.array([group_of[of_literal[i]] for i in literals])
    order: npt.NDArray[np.intp] = np.argsort(of_rule, kind="stable")
    ends = np.searchsorted(of_rule[order], range(len(groups.members) + 1)).tolist()
    slices = [slice(begin, end) for begin, end in pairwise(ends)]
    ordered: list[int] = of_rule[order].tolist()
    placed, bins = [literals[rule] for rule in order], [column.n_bins for column in columns]
    true = [
        _in_group(candidates.truths[i], of_literal[i], groups.members[group], bins)
        for i, group in zip(placed, ordered, strict=True)
    ]
    truths = [np.array(true[s], float).reshape(-1, n) for s, n in zip(slices, groups.bins, strict=True)]
    return order, ordered, slices, truths


def _in_group(true: Bins, column: int, group: Sequence[int], bins: Sequence[int]) -> Bins:
    """The bins of a group in which something is true that is true in these bins of one of its columns."""
    at = group.index(column)
    return np.tile(np.repeat(true, prod(bins[i] for i in group[:at])), prod(bins[i] for i in group[at + 1 :]))


class ListCounts(JointCounts):
    """What lists of up to three single literals capture, in one part of the records, by inclusion and exclusion.

    With x the records of a part (their class counts, or the difference of two classes), the rules a, b, c after each other have
    the parts ``x(a)``, ``x(b) - x(ab)``, ``x(c) - x(ac) - x(bc) + x(abc)``, and the rest.
    """

    @cached_property
    def place(self) -> dict[int, int]:
        """Where each candidate stands."""
        return {rule: i for i, rule in enumerate(self.order.tolist())}

    def classes_of(self, rules: Sequence[int]) -> list[Array]:
        """Class counts of the parts of a list of rules, given by their candidate numbers; the default last."""
        before: list[tuple[int, Bins]] = []
        parts = []
        for rule in map(self.place.__getitem__, rules):
            group, true = self.group_of[rule], self.truth(rule)
            parts.append(self.classes_in(joined([*before, (group, true)])))
            before.append((group, ~true))
        return [*parts, self.classes_in(joined(before))]

    def second_rules(self) -> tuple[Array, Array]:
        """(channels, a, b): what b captures after a, and what both leave."""
        of_b = self.one[:, None, :] - self.two
        return of_b, (self.none[:, None] - self.one)[:, :, None] - of_b

    def third_rules(self, a: int, b: int) -> tuple[Array, Array]:
        """(channels, c): what each c captures after a and b; and what these leave."""
        i, j = self.group_of[a], self.group_of[b]
        joint = self.three(i, j)[:, a - self.slices[i].start, b - self.slices[j].start]
        one, first, second = self.one, self.two[:, a], self.two[:, b]
        return one - first - second + joint, self.none - one[:, a] - one[:, b] + first[:, b]

    def third_rules_after(self, i: int, j: int, most: int) -> Iterator[tuple[slice, slice, Array]]:
        """What each c captures after all a of group i and b of group j, which is not before it: for some a at a time, all b."""
        columns, start = self.slices[j], self.slices[i].start
        for some, of_c in self.parts_of_three(i, j, most):
            rows = slice(start + some.start, start + some.stop)
            of_c += self.one[:, None, None, :]
            of_c -= self.two[:, rows, None, :]
            of_c -= self.two[:, None, columns, :]
            yield rows, columns, of_c

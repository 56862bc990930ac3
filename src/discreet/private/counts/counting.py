"""Exact class counts of all candidate rules at once, among the records that no rule of a prefix captures.

They are sums of joint counts of columns (joint.py): of each column for single literals, of every two for rules of two. For longer
rules the records of which all literals but the last two hold are counted so, for each beginning that rules have. So rules times
patterns is never written down. Sums of integers below 2**53 are exact in float64 in any order.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...rules.candidates import Candidates
from .division import OUTSIDE, Division, column_numbers, joined, left_by
from .joint import JointCounts
from .marginals import MarginalTables, marginals_of
from .patterns import Array, PatternCounts
from .secret import Secret

MEMORY_BYTES = 1 << 26  # of counts remembered
Numbers = npt.NDArray[np.integer]


class NodeCounts(NamedTuple):
    """What is left after a prefix: records per class, and how many of them each candidate captures."""

    left: Array  # (classes,)
    captured: Array  # (classes, candidates)

    def __repr__(self) -> str:
        """They are exact, and not shown."""
        return "<NodeCounts>"


def counts_by_part(marginals: MarginalTables, candidates: Candidates) -> list[NodeCounts]:
    """For each part of the records: what there is, and what each candidate, a single literal, captures of it."""
    parts = [JointCounts(marginals, candidates, np.eye(marginals.n_classes), i) for i in range(marginals.n_parts)]
    return [NodeCounts(counts.none, counts.one[:, np.argsort(counts.order)]) for counts in parts]


class RuleCounts(Secret, ABC):
    """Class counts of every candidate among the records that no rule of a prefix captures. It remembers the prefixes seen."""

    def __init__(self, memory: int = MEMORY_BYTES) -> None:
        self._memory, self._room = OrderedDict[frozenset[int], NodeCounts](), memory

    @abstractmethod
    def _count(self, prefix: frozenset[int]) -> NodeCounts:
        """Count at a prefix that is not remembered."""

    def counts(self, prefix: Iterable[int] = ()) -> NodeCounts:
        """Class counts of all candidates after a prefix. Only the set of its rules matters, not their order."""
        key = frozenset(prefix)
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        node = self._memory[key] = self._count(key)
        self._room -= node.captured.nbytes
        while self._room < 0 and len(self._memory) > 1:
            self._room += self._memory.popitem(last=False)[1].captured.nbytes
        return node

    def left(self, prefix: Sequence[int]) -> Array:
        """Records per class after a prefix, without counting every candidate there."""
        if not prefix or frozenset(prefix) in self._memory:
            return self.counts(prefix).left
        left, captured = self.counts(prefix[:-1])
        rest: Array = left - captured[:, prefix[-1]]
        return rest

    def part(self, prefix: Sequence[int], rule: int | None) -> Array:
        """Records per class that a rule captures after a prefix; without a rule, all that is left."""
        return self.left(prefix) if rule is None else self.counts(prefix).captured[:, rule]


class PatternCounter(RuleCounts):
    """Counts from patterns."""

    def __init__(self, patterns: PatternCounts, candidates: Candidates, memory: int = MEMORY_BYTES) -> None:
        super().__init__(memory)
        self._patterns, self._candidates = patterns, candidates
        self._columns = column_numbers(patterns.columns, candidates)
        self._literals = replace(candidates, members=np.arange(len(candidates.literals))[:, None])
        self._plan = list(_by_first_literals(candidates.members))

    def _count(self, prefix: frozenset[int]) -> NodeCounts:
        before = left_by(prefix, self._candidates, self._columns).boxes
        left, captured = np.empty(0), np.empty((self._patterns.n_classes, len(self._candidates)))
        for first, rules, last in self._plan:
            box = joined((self._columns[i], self._candidates.truths[i]) for i in first)
            division = Division([*before, (box, 0)], OUTSIDE)
            marginals = marginals_of(self._patterns, self._patterns.columns, len(last), division)
            counts = JointCounts(marginals, self._literals, np.eye(self._patterns.n_classes))
            places = np.argsort(counts.order)[last]
            captured[:, rules] = counts.one[:, places[0]] if len(last) == 1 else counts.two[:, places[0], places[1]]
            left = left if first else counts.none
        return NodeCounts(left, captured)


def _by_first_literals(members: Numbers) -> Iterator[tuple[list[int], Numbers, Numbers]]:
    """All literals but the last one or two, the rules that begin so, and in one or two rows how they end.

    Rules of one literal come first, whether there are any or not.
    """
    size = (members >= 0).sum(1)
    single = np.flatnonzero(size == 1)
    yield [], single, members[single, :1].T
    for n in range(2, members.shape[1] + 1):
        rules = np.flatnonzero(size == n)
        rules = rules[np.lexsort((rules, *members[rules, : n - 2].T))]
        first = members[rules, : n - 2]
        for some in np.split(rules, 1 + np.flatnonzero((first[1:] != first[:-1]).any(1))):
            if len(some):
                yield members[some[0], : n - 2].tolist(), some, members[some, n - 2 : n].T

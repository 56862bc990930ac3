"""Exact class counts of all candidate rules at once.

Let the columns of a 0/1 matrix ``B`` (patterns x base) be the constant 1, each positive test that the candidates use, and
"is missing" where needed. Every literal is a sum of such columns: a test is one of them, and its negation, which is
false where the value is missing, is ``1 - test - missing``. So with the (sparse) matrix ``T`` that says which, and ``w``
the records of a class in each pattern,

    counts of all single literals  =  T B' w               (one product)
    counts of all pairs            =  T (B' diag(w) B) T'  (one Gram matrix, negations by subtraction)

and rules x patterns is never written down. Longer rules take one Gram matrix for each of their leading literals. Sums of
integers below 2**53 are exact in float64 in any order.

Where all rules are single literals and B is large, not even B is: the records of each class in each bin say all of them.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...rules.candidates import Candidates
from .division import column_numbers, left_by
from .marginals import MarginalTables, marginals_of
from .patterns import Array, PatternCounts
from .secret import Secret

POSITIVE = ("<=", ">=", "in", "=", "is true", "is missing")
BLOCK_BYTES = 1 << 24  # of B at a time
MEMORY_BYTES = 1 << 26  # of counts remembered


class NodeCounts(NamedTuple):
    """What is left after a prefix: records per class, and how many of them each candidate captures."""

    left: Array  # (classes,)
    captured: Array  # (classes, candidates)

    def __repr__(self) -> str:
        """They are exact, and not shown."""
        return "<NodeCounts>"


def counts_by_part(marginals: MarginalTables, candidates: Candidates, columns: Sequence[int]) -> list[NodeCounts]:
    """For each part of the records: what there is, and what each candidate, a single literal, captures of it.

    ``columns`` has the number of the column of each literal.
    """
    by_bin = [marginals.in_parts(column) for column in range(len(marginals.columns))]
    captured = np.empty((*by_bin[0].shape[:2], len(candidates)))
    for rule, literal in enumerate(candidates.members[:, 0]):
        captured[..., rule] = by_bin[columns[literal]][..., candidates.truths[literal]].sum(-1)
    left = by_bin[0].sum(-1).astype(np.float64)
    return [NodeCounts(*node) for node in zip(left, captured, strict=True)]


class _Plan:
    """Which counts a set of rules takes: those of single literals, of pairs, and longer rules by their first literal.

    It depends on the rules alone, so it is made once.
    """

    def __init__(self, which: npt.NDArray[np.intp], members: npt.NDArray[np.int32], n_literals: int) -> None:
        size = (members >= 0).sum(1)
        single, pair = size == 1, size == 2
        self.singles = which[single]
        self.single_literals = members[single, 0]
        self.pairs = which[pair]
        # where the pair stands in the flattened Gram matrix of literals
        self.pair_places = members[pair, 0].astype(np.intp) * n_literals + (members[pair, 1] if pair.any() else 0)
        self.longer: list[tuple[int, _Plan]] = []
        for literal in np.unique(members[size > 2, 0]):
            here = (size > 2) & (members[:, 0] == literal)
            self.longer.append((int(literal), _Plan(which[here], members[here, 1:], n_literals)))


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
        self._members, self._columns = candidates.members, column_numbers(patterns.columns, candidates)
        self._plan = _Plan(np.arange(len(candidates)), candidates.members, len(candidates.literals))
        self._base, self._parts = self._basis([literal.op for literal in candidates.literals])
        rows = max(1, BLOCK_BYTES // (8 * (len(self._base) + 2)))
        self._blocks = [slice(i, min(i + rows, len(patterns))) for i in range(0, len(patterns), rows)]
        self._whole = self._matrix(self._blocks[0]) if len(self._blocks) == 1 else None
        self._only_singles = len(self._plan.singles) == len(self._members)

    def _basis(self, ops: Sequence[str]) -> tuple[list[tuple[int, npt.NDArray[np.bool_]]], npt.NDArray[np.intp]]:
        """The columns of B after the leading 1, as (column, bins in which it is 1); and T, as three numbers a literal.

        A literal is the first of its three columns of B minus the other two; -1 stands for a column of zeros.
        """
        base: dict[tuple[int, bytes], int] = {}
        parts = np.full((3, len(ops)), -1)
        for i, (column, true, op) in enumerate(zip(self._columns, self._candidates.truths, ops, strict=True)):
            terms = [(0, true)]
            if op not in POSITIVE:
                parts[0, i] = 0
                missing = np.arange(len(true)) == len(true) - 1  # the last bin holds the missing values
                terms = [(1, missing)] if op == "is not missing" else [(1, missing), (2, ~true & ~missing)]
            for term, bins in terms:
                parts[term, i] = base.setdefault((column, bins.tobytes()), len(base) + 1)
        return [(column, np.frombuffer(bins, bool)) for column, bins in base], parts

    def _literals(self, sums: Array, which: slice | npt.NDArray[np.integer] = slice(None)) -> Array:
        """From sums over (or values of) the columns of B, in the first axis with a zero behind them, those of literals."""
        plus, missing, test = self._parts[:, which]
        values: Array = sums[plus]
        values -= sums[missing]
        values -= sums[test]
        return values

    def _matrix(self, rows: slice) -> Array:
        """Some rows of B, and a last column of zeros."""
        matrix = np.ones((rows.stop - rows.start, len(self._base) + 2))
        matrix[:, -1] = 0.0
        bins = {column: self._patterns.bins(column, rows) for column in {column for column, _ in self._base}}
        for i, (column, true) in enumerate(self._base, start=1):
            matrix[:, i] = true[bins[column]]
        return matrix

    def _count(self, prefix: frozenset[int]) -> NodeCounts:
        if self._whole is None and self._only_singles:
            division = left_by(prefix, self._candidates, self._columns)
            marginals = marginals_of(self._patterns, self._patterns.columns, 1, division)
            return counts_by_part(marginals, self._candidates, self._columns)[0]
        left = np.zeros(self._patterns.n_classes)
        captured = np.zeros((self._patterns.n_classes, len(self._members)))
        for rows in self._blocks:
            matrix = self._matrix(rows) if self._whole is None else self._whole
            weights = self._patterns.counts[rows].T.astype(np.float64)
            if prefix:  # go on with the rows that no rule of it captures
                alive = ~np.logical_or.reduce([self._true(matrix, rule) for rule in prefix])
                matrix, weights = matrix[alive], weights[:, alive]
            left += weights.sum(1)
            self._add(captured, matrix, weights, self._plan)
        return NodeCounts(left, captured)

    def _true(self, matrix: Array, rule: int) -> npt.NDArray[np.bool_]:
        """In which rows a candidate is true."""
        literals = self._members[rule][self._members[rule] >= 0]
        true: npt.NDArray[np.bool_] = np.logical_and.reduce(self._literals(matrix.T, literals) > 0.5)
        return true

    def _add(self, captured: Array, matrix: Array, weights: Array, plan: _Plan) -> None:
        """Add the weights of the rows in which each rule of the plan is true."""
        for counts, weight in zip(captured, weights, strict=True):
            if len(plan.singles):
                counts[plan.singles] += self._literals(weight @ matrix)[plan.single_literals]
            if len(plan.pairs):
                rows_of = self._literals(matrix.T @ (matrix * weight[:, None]))
                gram = self._literals(np.ascontiguousarray(rows_of.T))
                counts[plan.pairs] += gram.ravel()[plan.pair_places]
        for literal, rest in plan.longer:
            self._add(captured, matrix, weights * self._literals(matrix.T, np.array([literal]))[0], rest)

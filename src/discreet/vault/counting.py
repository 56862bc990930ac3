"""Exact class counts of all candidate rules at once.

Let the columns of a 0/1 matrix ``B`` (cells x base) be the constant 1, each positive test that the candidates use, and
"is missing" where needed. Every literal is a sum of such columns: a test is one of them, and its negation, which is
false where the value is missing, is ``1 - test - missing``. So with the matrix ``T`` that says which, and ``w`` the
records of a class in each cell,

    counts of all single literals  =  T B' w               (one product)
    counts of all pairs            =  T (B' diag(w) B) T'  (one Gram matrix, negations by subtraction)

and rules x cells is never written down. Longer rules take one Gram matrix for each of their leading literals. Sums of
whole numbers below 2**53 are exact in float64 in any order.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from ..candidates import Candidates
from ..columns import NEGATION
from .cells import Array, Cells

POSITIVE = ("<=", ">=", "in", "=", "is true", "is missing")
BLOCK_BYTES = 1 << 24  # of B at a time
MEMORY_BYTES = 1 << 26  # of counts remembered


class NodeCounts(NamedTuple):
    """What is left after a prefix: records per class, and how many of them each candidate captures."""

    left: Array  # (classes,)
    captured: Array  # (candidates, classes)


class Counter:
    """Counts every candidate among the records that no rule of a prefix captures, remembering the prefixes seen."""

    def __init__(self, cells: Cells, candidates: Candidates, memory: int = MEMORY_BYTES) -> None:
        self._cells = cells
        self._members = candidates.members
        self._column_of = {column.name: i for i, column in enumerate(cells.columns)}
        self._truth: list[tuple[int, npt.NDArray[np.bool_]]] = [
            (self._column_of[literal.column], true)
            for literal, true in zip(candidates.literals, candidates.truths, strict=True)
        ]
        self._base, self._combine = self._basis(candidates)
        rows = max(1, BLOCK_BYTES // (8 * len(self._base)))
        self._blocks = [slice(i, min(i + rows, len(cells))) for i in range(0, len(cells), rows)]
        self._whole = self._matrix(self._blocks[0]) if len(self._blocks) == 1 else None
        self._memory, self._room = OrderedDict[frozenset[int], NodeCounts](), memory

    def counts(self, prefix: Iterable[int] = ()) -> NodeCounts:
        """Class counts of all candidates after a prefix. Only the set of its rules matters, not their order."""
        key = frozenset(prefix)
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        node = self._count(self._alive(key))
        self._room -= node.captured.nbytes
        self._memory[key] = node
        while self._room < 0 and len(self._memory) > 1:
            self._room += self._memory.popitem(last=False)[1].captured.nbytes
        return node

    def _basis(self, candidates: Candidates) -> tuple[list[tuple[int, npt.NDArray[np.bool_]]], Array]:
        """The columns of B, as (column, true bins), after the leading 1; and the matrix T."""
        base: dict[tuple[int, bytes], npt.NDArray[np.bool_]] = {}
        rows: list[tuple[bool, list[tuple[int, bytes]]]] = []
        for literal, (column, true) in zip(candidates.literals, self._truth, strict=True):
            positive = literal.op in POSITIVE
            facts = candidates.schema[literal.column]
            wanted = [true if positive else facts.where(NEGATION[literal.op], literal.value)]
            if not positive and literal.op != "is not missing":
                wanted.append(facts.where("is missing"))
            keys = [(column, bins.tobytes()) for bins in wanted]
            base.update(zip(keys, wanted, strict=True))
            rows.append((positive, keys))
        place = {key: i + 1 for i, key in enumerate(base)}
        combine = np.zeros((len(rows), len(base) + 1))
        for row, (positive, keys) in zip(combine, rows, strict=True):
            row[0] = 0.0 if positive else 1.0
            row[[place[key] for key in keys]] = 1.0 if positive else -1.0
        return [(0, np.ones(0, bool)), *((column, bins) for (column, _), bins in base.items())], combine

    def _matrix(self, rows: slice) -> Array:
        """Some rows of B."""
        matrix = np.ones((rows.stop - rows.start, len(self._base)))
        bins: dict[int, npt.NDArray[np.intp]] = {}
        for i, (column, true) in enumerate(self._base[1:], start=1):
            if column not in bins:
                bins[column] = self._cells.bins(column, rows)
            matrix[:, i] = true[bins[column]]
        return matrix

    def _alive(self, prefix: frozenset[int]) -> npt.NDArray[np.bool_]:
        """Which cells no rule of the prefix captures."""
        alive = np.ones(len(self._cells), bool)
        for rule in prefix:
            alive &= ~self.captures(rule)
        return alive

    def captures(self, rule: int) -> npt.NDArray[np.bool_]:
        """In which cells a candidate is true."""
        true = np.ones(len(self._cells), bool)
        for literal in self._members[rule]:
            if literal >= 0:
                column, bins = self._truth[literal]
                true &= bins[self._cells.bins(column)]
        return true

    def _count(self, alive: npt.NDArray[np.bool_]) -> NodeCounts:
        n_classes = self._cells.n_classes
        left = np.zeros(n_classes)
        captured = np.zeros((len(self._members), n_classes))
        for rows in self._blocks:
            matrix = self._matrix(rows) if self._whole is None else self._whole
            weights = self._cells.counts[rows] * alive[rows, None].astype(np.float64)
            left += weights.sum(0)
            self._add(captured, matrix, weights, np.arange(len(self._members)), self._members)
        return NodeCounts(left, captured)

    def _add(
        self, captured: Array, matrix: Array, weights: Array, which: npt.NDArray[np.intp], members: npt.NDArray[np.int32]
    ) -> None:
        """Add to ``captured[which]`` the weights of the rows in which all of ``members`` are true."""
        longer = (members[:, 2:] >= 0).any(1) if members.shape[1] > 2 else np.zeros(len(members), bool)
        paired = ~longer & (members[:, 1] >= 0) if members.shape[1] > 1 else np.zeros(len(members), bool)
        single = ~longer & ~paired
        if single.any():
            sums = self._combine @ (matrix.T @ weights)
            captured[which[single]] += sums[members[single, 0]]
        if paired.any():
            first, second = members[paired, 0], members[paired, 1]
            for c in range(weights.shape[1]):
                gram = self._combine @ (matrix.T @ (matrix * weights[:, c, None])) @ self._combine.T
                captured[which[paired], c] += gram[first, second]
        for literal in np.unique(members[longer, 0]):
            here = longer & (members[:, 0] == literal)
            true = matrix @ self._combine[literal]
            self._add(captured, matrix, weights * true[:, None], which[here], members[here, 1:])

    def __repr__(self) -> str:
        return "<Counter>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a counter holds exact counts of records and cannot be pickled or copied")

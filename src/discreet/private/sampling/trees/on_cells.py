"""Trees from cells: where each test is true, and the class counts there. Trees of any depth can be drawn from them.

Sets of tests are counted from the cells in which all but two of them are true, by a product of matrices. Tests are turned before,
so that each is true in fewer cells than not, and rare ones come first: their sets are small.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....rules.limits import Limits
from ....rules.numbered_tree import Path
from ....rules.tree_prior import TreePrior
from ...counts.cells import Array
from ...counts.secret import Secret
from .parts import Counted, Parts, Prefix
from .worth import ACCURACY, Flags, Numbers, Part, Sum

EXACT_IN_FLOAT32 = 2**24


@dataclass(frozen=True, eq=False, repr=False)
class TreeProblem(Secret):
    """Tests over cells, class counts (times class weights), and the prior."""

    truth: Flags  # (tests, cells)
    counts: Array  # (classes, cells)
    prior: TreePrior
    rate: float
    score: str = ACCURACY
    limits: Limits | None = None

    @property
    def n_tests(self) -> int:
        """How many tests a split can choose from."""
        return len(self.truth)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.counts)

    def cells_in(self, path: Iterable[tuple[int, bool]]) -> Flags:
        """Which cells are on the given side of each of these tests."""
        inside = np.ones(self.truth.shape[1], bool)
        for test, side in path:
            inside &= self.truth[test] if side else ~self.truth[test]
        return inside

    def class_counts(self, part: Part | None) -> Array:
        """Of one part of the records: (classes,)."""
        if part is None:
            return np.zeros(len(self.counts))
        counts: Array = self.counts @ self.cells_in(part.items())
        return counts

    def total(self) -> Array:
        """Class counts of all records."""
        total: Array = self.counts.sum(1)
        return total

    def inside(self, part: Part, worth: Sum) -> Array:
        """What each test takes of a part: (channels, tests)."""
        cells = np.flatnonzero(self.cells_in(part.items()))
        inside: Array = worth.channels(self.counts[:, cells]) @ self.truth[:, cells].T
        return inside

    def turned(self) -> tuple["TreeProblem", Numbers, Flags]:
        """The same with other tests: true in fewer cells than not, and rare ones first; which they were, and which were turned.

        Tests without any weight in the prior are left out. This decides only how fast the sums are (sums.py).
        """
        true, n = np.array([np.count_nonzero(row) for row in self.truth], np.intp), self.truth.shape[1]
        often = true * 2 > n
        order = np.argsort(np.where(often, n - true, true), kind="stable")
        order = order[self.prior.tests[order] > 0]
        prior = replace(self.prior, tests=self.prior.tests[order])
        limits = self.limits and self.limits.turned(order, often[order])
        inside = self.truth[order] ^ often[order, None]
        return replace(self, truth=inside, prior=prior, limits=limits), order, often[order]

    def within(self, inside: Flags) -> "TreeProblem":
        """The same for some of the cells."""
        return replace(self, truth=self.truth[:, inside], counts=self.counts[:, inside])

    def below(self, path: Path) -> "TreeProblem":
        """The same for the records that a way of tests leads to."""
        if not path:
            return self
        limits = self.limits and self.limits.after(test for test, _ in path)
        return replace(self.within(self.cells_in(path)), limits=limits)

    def parts(self, worth: Sum) -> "CellParts":
        """What the sums need."""
        return CellParts(self, worth)


class CellParts(Parts):
    """Sets of tests, counted by products of matrices."""

    def __init__(self, problem: TreeProblem, worth: Sum) -> None:
        channels = worth.channels(problem.counts)
        whole = bool((channels == np.rint(channels)).all())
        small = bool(np.abs(channels).sum(1).max(initial=0.0) < EXACT_IN_FLOAT32)
        kind: Any = np.float32 if whole and small else np.float64
        super().__init__(problem.n_tests, len(channels), kind)
        self._truth = problem.truth
        columns = np.ones((problem.n_tests + 1, problem.truth.shape[1]), kind)
        columns[:-1] = problem.truth
        # a row for each cell; one column for each test, and a last one that is always true. (NumPy takes five times as long to
        # turn Booleans into numbers and rows into columns at once.)
        self._rows = np.ascontiguousarray(columns.T)
        self._channels = channels.T.astype(kind)

    def prefixes(self, size: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """The cells of a set are those of a shorter one in which one test more is true."""
        return self._visit((), np.arange(len(self._rows)), size, longest)

    def _visit(self, prefix: Prefix, cells: Numbers, more: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """All prefixes of so many tests more, of which this is the beginning: the ``cells`` are those where all of it is true."""
        first = prefix[-1] + 1 if prefix else 0
        if more:
            for test, true in enumerate(self._truth[first:].take(cells, 1), first):
                yield from self._visit((*prefix, test), cells[true], more - 1, longest)
            return
        truth, channels = self._rows, self._channels
        if prefix:
            truth, channels = truth.take(cells, 0), channels.take(cells, 0)
        later = truth[:, first:] if longest else truth
        counted = np.empty((channels.shape[1], later.shape[1], truth.shape[1]), truth.dtype)
        for channel, product in zip(channels.T, counted, strict=True):
            np.matmul((later * channel[:, None]).T, truth, out=product)
        yield prefix, counted

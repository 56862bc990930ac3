"""What trees are drawn from, and class counts of parts of the records: for all sets of tests with a side each, and every further
test.

- From patterns (``TreeProblem``): where each test is true, and the class counts there. Trees of any depth can be drawn from them.
- From marginals (``MarginalTrees``): joint class counts of every two or three columns (counts/joint.py), enough for a depth of
  two or three. Nothing here grows with the number of patterns.

Only sets of tests that are all true are counted. What is true of some and not of others follows by differences: "f and not g" is
"f" minus "f and g". From patterns they are counted where all but two of them are true, by a product of matrices. Before that,
tests are flipped so that each is true in fewer patterns than not, and rare ones come first: their sets are small.

Counts are of the *channels* of ``SumProduct.channels``, in the first axis; tests come in the last, after them the whole part.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from ....rules.candidates import Candidates, Path
from ....rules.limits import Limits
from ....rules.prior import TreePrior
from ...counts.division import joined
from ...counts.joint import JointCounts
from ...counts.marginals import MarginalTables
from ...counts.patterns import Array
from ...counts.secret import Secret
from .log_weights import ACCURACY, Flags, Numbers, Part, SumProduct

BLOCK = 1 << 15  # numbers looked at together: they should stay in the processor's cache
EXACT_IN_FLOAT32 = 2**24
Prefix = tuple[int, ...]  # tests, ascending
Counted = npt.NDArray[np.float64]  # or float32, where that is exact


class Parts(Secret):
    """Counts of sets of tests. A class for each kind of counts says how they are counted where all tests are true."""

    def __init__(self, n_tests: int, n_channels: int, kind: Any) -> None:
        self._n_tests, self._n_channels, self._kind = n_tests, n_channels, kind

    @abstractmethod
    def prefixes(self, size: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """All sets of so many tests, in lexicographic order, with two tests more: (channels, tests + 1, tests + 1).

        Of the ``longest`` sets there are rows of later tests only, and of the set alone.
        """

    def up_to(self, depth: int, seen: Callable[[], None]) -> Iterator[tuple[int, slice, Counted]]:
        """For all sets of 0 to ``depth`` - 1 tests: how many, which of these sets, and (channels, 2, ..., 2, sets, tests + 1).

        There is an axis of two sides (0: not true, 1: true) for each test of a set. ``seen`` is called as it goes on.
        """
        shorter: dict[Prefix, Counted] = {}  # differences need them
        for size in range(max(1, depth - 1)):
            longest, done, filled = size >= depth - 2, 0, 0
            room = max(1, BLOCK // (self._n_channels * (self._n_tests + 1) << (size + 1)))
            # with a side of each test of the prefix, and of one test more
            sides = np.empty((self._n_channels, *(2,) * (size + 1), room, self._n_tests + 1), self._kind)
            for prefix, counted in self.prefixes(size, longest):
                seen()
                if not longest:
                    shorter[prefix] = counted
                if not prefix:
                    yield 0, slice(1), counted[:, -1:]
                low, later = 0, self._n_tests - (prefix[-1] + 1 if prefix else 0)
                if depth == 1:
                    continue
                rows = counted[:, -(later + 1) :]
                while low < later:
                    high = min(later, low + room - filled)
                    place = slice(filled, filled + high - low)
                    for bits in np.ndindex((2,) * size):
                        chosen = tuple(test for test, bit in zip(prefix, bits, strict=True) if bit)
                        some = rows if len(chosen) == size else shorter[chosen][:, -(later + 1) :]
                        sides[(slice(None), *bits, 1, place)] = some[:, low:high]
                        np.subtract(some[:, -1:], some[:, low:high], out=sides[(slice(None), *bits, 0, place)])
                    filled, low = place.stop, high
                    if filled == room:
                        yield size + 1, slice(done, done + filled), _by_differences(sides, size)
                        done, filled = done + filled, 0
            if filled:
                yield size + 1, slice(done, done + filled), _by_differences(sides[..., :filled, :], size)


@dataclass(frozen=True, eq=False, repr=False)
class TreeProblem(Secret):
    """Tests over patterns, class counts (times class weights), and the prior; and the counts that are released, if need be."""

    truth: Flags  # (tests, patterns)
    counts: Array  # (classes, patterns)
    prior: TreePrior
    rate: float
    score: str = ACCURACY
    limits: Limits | None = None
    unweighted: Array | None = None

    @property
    def n_tests(self) -> int:
        """How many tests a split can choose from."""
        return len(self.truth)

    def patterns_in(self, path: Iterable[tuple[int, bool]]) -> Flags:
        """Which patterns are on the given side of each of these tests."""
        inside = np.ones(self.truth.shape[1], bool)
        for test, side in path:
            inside &= self.truth[test] if side else ~self.truth[test]
        return inside

    def class_counts(self, part: Part | None) -> Array:
        """Of one part of the records: (classes,)."""
        if part is None:
            return np.zeros(len(self.counts))
        counts: Array = self.counts @ self.patterns_in(part.items())
        return counts

    def exact_counts(self, path: Path) -> Array:
        """Of the records that a way of tests leads to, without weights: (classes,)."""
        assert self.unweighted is not None
        counts: Array = self.unweighted @ self.patterns_in(path)
        return counts

    def inside(self, part: Part, log_weights: SumProduct) -> Array:
        """What each test takes of a part: (channels, tests)."""
        patterns = np.flatnonzero(self.patterns_in(part.items()))
        inside: Array = log_weights.channels(self.counts[:, patterns]) @ self.truth[:, patterns].T
        return inside

    def flipped(self) -> tuple["TreeProblem", Numbers, Flags]:
        """The same with tests true in fewer patterns than not, rare ones first; which they were, and which are flipped.

        Tests without any weight in the prior are left out. This decides only how fast the sums are (sums.py).
        """
        true, n = np.array([np.count_nonzero(row) for row in self.truth], np.intp), self.truth.shape[1]
        often = true * 2 > n
        order = np.argsort(np.where(often, n - true, true), kind="stable")
        order = order[self.prior.tests[order] > 0]
        prior = replace(self.prior, tests=self.prior.tests[order])
        limits = self.limits and self.limits.flipped(order, often[order])
        inside = self.truth[order] ^ often[order, None]
        return replace(self, truth=inside, prior=prior, limits=limits), order, often[order]

    def below(self, path: Path) -> "TreeProblem":
        """The same for the records that a way of tests leads to."""
        assert self.unweighted is not None
        inside, limits = self.patterns_in(path), self.limits and self.limits.after(test for test, _ in path)
        counts, unweighted = (own[:, inside] for own in (self.counts, self.unweighted))
        return replace(self, truth=self.truth[:, inside], counts=counts, unweighted=unweighted, limits=limits)

    def parts(self, log_weights: SumProduct) -> "PatternParts":
        """What the sums need."""
        return PatternParts(self, log_weights)


class PatternParts(Parts):
    """Sets of tests, counted by products of matrices."""

    def __init__(self, problem: TreeProblem, log_weights: SumProduct) -> None:
        channels = log_weights.channels(problem.counts)
        whole = bool((channels == np.rint(channels)).all())
        small = bool(np.abs(channels).sum(1).max(initial=0.0) < EXACT_IN_FLOAT32)
        kind: Any = np.float32 if whole and small else np.float64
        super().__init__(problem.n_tests, len(channels), kind)
        self._truth = problem.truth
        columns = np.ones((problem.n_tests + 1, problem.truth.shape[1]), kind)
        columns[:-1] = problem.truth
        # a row for each pattern; one column for each test, and a last one that is always true. (NumPy takes five times as long to
        # turn Booleans into numbers and rows into columns at once.)
        self._rows = np.ascontiguousarray(columns.T)
        self._channels = channels.T.astype(kind)

    def prefixes(self, size: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """The patterns of a set are those of a shorter one in which one test more is true."""
        return self._visit((), np.arange(len(self._rows)), size, longest)

    def _visit(self, prefix: Prefix, patterns: Numbers, more: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """All prefixes of so many tests more, of which this is the beginning: the ``patterns`` are where all of it is true."""
        first = prefix[-1] + 1 if prefix else 0
        if more:
            for test, true in enumerate(self._truth[first:].take(patterns, 1), first):
                yield from self._visit((*prefix, test), patterns[true], more - 1, longest)
            return
        truth, channels = self._rows, self._channels
        if prefix:
            truth, channels = truth.take(patterns, 0), channels.take(patterns, 0)
        later = truth[:, first:] if longest else truth
        counted = np.empty((channels.shape[1], later.shape[1], truth.shape[1]), truth.dtype)
        for channel, product in zip(channels.T, counted, strict=True):
            np.matmul((later * channel[:, None]).T, truth, out=product)
        yield prefix, counted


@dataclass(frozen=True, eq=False, repr=False)
class MarginalTrees(Secret):
    """Tests over the bins of columns, their joint counts in one part of the records, class weights, and the prior."""

    marginals: MarginalTables
    tests: Candidates
    class_weights: Array
    prior: TreePrior
    rate: float
    score: str = ACCURACY
    part: int = 0
    limits: Limits | None = None

    @property
    def n_tests(self) -> int:
        """How many tests a split can choose from."""
        return len(self.tests)

    @cached_property
    def classes(self) -> JointCounts:
        """Counts of each class."""
        return JointCounts(self.marginals, self.tests, np.diag(self.class_weights), self.part)

    def in_part(self, part: int, path: Path) -> "MarginalTrees":
        """The same for the records that a way of tests leads to, which were counted as a part of their own."""
        return replace(self, part=part, limits=self.limits and self.limits.after(test for test, _ in path))

    def flipped(self) -> tuple["MarginalTrees", Numbers, Flags]:
        """The same without tests that have no weight in the prior, in the order of their columns. No test is flipped."""
        order = self.classes.order[self.prior.tests[self.classes.order] > 0]
        prior = replace(self.prior, tests=self.prior.tests[order])
        flipped = np.zeros(len(order), bool)
        limits = self.limits and self.limits.flipped(order, flipped)
        return replace(self, tests=self.tests.only(order), prior=prior, limits=limits), order, flipped

    def parts(self, log_weights: SumProduct) -> "MarginalParts":
        """What the sums need."""
        return MarginalParts(self._channels(log_weights))

    def class_counts(self, part: Part | None) -> Array:
        """Of one part of the records, times class weights: (classes,)."""
        counts: Array = self.class_weights * (0.0 if part is None else self.exact_counts(part.items()))
        return counts

    def exact_counts(self, path: Iterable[tuple[int, bool]]) -> Array:
        """Of the records that a way of tests leads to, without weights: (classes,)."""
        counts = self.classes
        place = {int(test): i for i, test in enumerate(counts.order)}
        ways = [(counts.group_of[place[test]], counts.truth(place[test]), side) for test, side in path]
        return counts.classes_in(joined((group, true if side else ~true) for group, true, side in ways))

    def inside(self, part: Part, log_weights: SumProduct) -> Array:
        """What each test takes of a part: (channels, tests)."""
        counts = self._channels(log_weights)
        return _taken(counts, [t for t, side in part.items() if side], [t for t, side in part.items() if not side])

    @cached_property
    def _known(self) -> dict[bytes, JointCounts]:
        return {}

    def _channels(self, log_weights: SumProduct) -> JointCounts:
        """The counts that the sums are made of."""
        channels = log_weights.channels(np.diag(self.class_weights))
        if (key := channels.tobytes()) not in self._known:
            self._known[key] = JointCounts(self.marginals, self.tests, channels, self.part)
        return self._known[key]


DrawProblem = TreeProblem | MarginalTrees


def _taken(counts: JointCounts, true: list[int], false: list[int]) -> Array:
    """By differences: what is not true of a test is everything minus what is."""
    if false:
        return _taken(counts, true, false[1:]) - _taken(counts, [*true, false[0]], false[1:])
    if not true:
        return counts.one
    if len(true) == 1:
        return counts.two[:, true[0]]
    i, j = (counts.group_of[test] for test in true)
    first, second = true[0] - counts.slices[i].start, true[1] - counts.slices[j].start
    return counts.three(i, j)[:, first, second]


class MarginalParts(Parts):
    """Sets of up to three tests, in the order of their columns."""

    def __init__(self, counts: JointCounts) -> None:
        super().__init__(len(counts), counts.n_channels, np.float64)
        self._counts = counts

    def prefixes(self, size: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """Of no test, or of one."""
        counts, one = self._counts, self._counts.one
        pairs = counts.two
        if size == 0:
            yield (), _with_last(pairs, one, counts.none)
            return
        assert size == 1 and longest, "three tests are counted together, not more"  # noqa: PT018
        for i in counts.used:
            rows, later = counts.slices[i], counts.three_from(i)
            for test in range(rows.start, rows.stop):
                some = later[:, test - rows.start, test + 1 - rows.start :]
                yield (test,), _with_last(some, pairs[:, test], one[:, test])


def _with_last(inner: Array, last: Array, corner: Array) -> Counted:
    """With a last row, and a last column, for no further test."""
    rows, n = inner.shape[1:]
    whole = np.empty((len(inner), rows + 1, n + 1))
    whole[:, :-1, :-1], whole[:, -1, :-1], whole[:, -1, -1] = inner, last, corner
    whole[:, :-1, -1] = last[:, n - rows :]
    return whole


def _by_differences(sides: Counted, size: int) -> Counted:
    """Where a bit of a prefix of this size is 0 there is, so far, everything: what is true of the test is subtracted."""
    for axis in range(1, 1 + size):
        false, true = (tuple([slice(None)] * axis + [side]) for side in (0, 1))
        sides[false] -= sides[true]
    return sides


def subsets(m: int, size: int) -> Numbers:
    """All subsets of a size, one a row, ascending.

    >>> subsets(4, 2).tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    flat = np.fromiter((x for s in combinations(range(m), size) for x in s), np.intp, comb(m, size) * size)
    return flat.reshape(comb(m, size), size)


def numbers_of(sets: Numbers, m: int) -> Numbers:
    """The number of each subset among those of its size.

    >>> numbers_of(subsets(5, 3), 5).tolist() == list(range(10))
    True
    """
    size = sets.shape[1]
    number = np.full(len(sets), comb(m, size) - 1, np.intp)
    for place in range(size):
        # those that agree up to this place and have a larger test there
        larger = np.array([comb(m - 1 - test, size - place) for test in range(m)], np.intp)
        number -= larger[sets[:, place]]
    return number

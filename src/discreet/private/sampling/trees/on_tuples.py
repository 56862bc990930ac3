"""Trees from tuples: joint class counts of every two or three columns (counts/joint.py), enough for a depth of two or three.

However many patterns the records have, nothing here grows with them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ....rules.candidates import Candidates
from ....rules.limits import Limits
from ....rules.tree_prior import TreePrior
from ...counts.cells import Array
from ...counts.division import joined
from ...counts.joint import JointCounts
from ...counts.secret import Secret
from ...counts.tuples import Tuples
from .parts import Counted, Parts, Prefix
from .worth import ACCURACY, Flags, Numbers, Part, Sum


@dataclass(frozen=True, eq=False, repr=False)
class TupleTrees(Secret):
    """Tests over the bins of columns, their joint counts in one part of the records, class weights, and the prior."""

    tuples: Tuples
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

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_weights)

    @cached_property
    def classes(self) -> JointCounts:
        """Counts of each class."""
        return JointCounts(self.tuples, self.tests, np.diag(self.class_weights), self.part)

    def turned(self) -> tuple["TupleTrees", Numbers, Flags]:
        """The same without tests that have no weight in the prior, in the order of their columns. No test is turned."""
        order = self.classes.order[self.prior.tests[self.classes.order] > 0]
        prior = replace(self.prior, tests=self.prior.tests[order])
        turned = np.zeros(len(order), bool)
        limits = self.limits and self.limits.turned(order, turned)
        return replace(self, tests=self.tests.only(order), prior=prior, limits=limits), order, turned

    def parts(self, worth: Sum) -> "TupleParts":
        """What the sums need."""
        return TupleParts(self._channels(worth))

    def class_counts(self, part: Part | None) -> Array:
        """Of one part of the records, times class weights: (classes,)."""
        return np.zeros(self.n_classes) if part is None else self.class_weights * self.exact_counts(part.items())

    def exact_counts(self, path: Iterable[tuple[int, bool]]) -> Array:
        """Of the records that a way of tests leads to, without weights: (classes,)."""
        counts = self.classes
        place = {int(test): i for i, test in enumerate(counts.order)}
        ways = [(counts.group_of[place[test]], counts.truth(place[test]), side) for test, side in path]
        return counts.classes_in(joined((group, true if side else ~true) for group, true, side in ways))

    def total(self) -> Array:
        """Class counts of all records, times class weights."""
        return self.class_counts({})

    def inside(self, part: Part, worth: Sum) -> Array:
        """What each test takes of a part: (channels, tests)."""
        counts = self._channels(worth)
        return _taken(counts, [t for t, side in part.items() if side], [t for t, side in part.items() if not side])

    @cached_property
    def _known(self) -> dict[bytes, JointCounts]:
        return {}

    def _channels(self, worth: Sum) -> JointCounts:
        """The counts that the sums are made of."""
        channels = worth.channels(np.diag(self.class_weights))
        if (key := channels.tobytes()) not in self._known:
            self._known[key] = JointCounts(self.tuples, self.tests, channels, self.part)
        return self._known[key]


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


class TupleParts(Parts):
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

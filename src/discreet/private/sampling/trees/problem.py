"""What a tree is drawn for: where tests are true, class counts, a public prior, and what a leaf is worth.

A tree has the weight

    prior(tree) * exp(rate * score),      score = sum over leaves of g(class counts of the leaf, its label)

where ``rate`` is epsilon and one record more changes g by at most 1, in one direction, in the one leaf that it falls into:

- ``"accuracy"``: g is the number of the leaf's records that have its label (times public class weights of at most 1), a draw has
  labels, and a record raises g by 0 to 1;
- ``"mass"``: g is minus the impurity mass of the leaf (worth.py), leaves have no labels yet, and a record lowers g by 0 to 1.

So a draw in proportion to the weights costs epsilon, once (docs/theory.md, Theorem 20). Where trees have to keep to public limits
(rules/limits.py), the others have no weight, and it costs the same.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ....rules.limits import Limits
from ....rules.prior import TreePrior
from ...counts.cells import Array

if TYPE_CHECKING:
    from .worth import Worth

ACCURACY, MASS = "accuracy", "mass"
SCORES = (ACCURACY, MASS)

Numbers = npt.NDArray[np.intp]
Part = Mapping[int, bool]  # tests, and on which side of each
Prefix = tuple[int, ...]  # tests, ascending
Counted = npt.NDArray[np.float64]  # or float32, where that is exact


class CountedSets(Protocol):
    """Counts of all sets of some tests with any two more, where all of them are true."""

    @property
    def n_channels(self) -> int:
        """How many numbers stand for the class counts of a part (worth.py)."""

    @property
    def kind(self) -> Any:
        """The type of the counts."""

    def prefixes(self, size: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """All sets of so many tests in lexicographic order, and of each its counts: (channels, tests + 1, tests + 1).

        The last row and column stand for no further test. The ``longest`` sets have no rows of tests up to their own last one.
        """


class Posed(Protocol):
    """What trees are drawn from, however it was counted."""

    @property
    def rate(self) -> float:
        """Epsilon of the draw."""

    @property
    def score(self) -> str:
        """What a tree is drawn by."""

    @property
    def prior(self) -> TreePrior:
        """How likely a tree is before any record is seen."""

    @property
    def limits(self) -> Limits | None:
        """What every tree keeps to."""

    @property
    def n_tests(self) -> int:
        """How many tests a split can choose from."""

    @property
    def n_classes(self) -> int:
        """How many classes there are."""

    def turned(self) -> tuple["Posed", Numbers, npt.NDArray[np.bool_]]:
        """The same with other tests; which they were, and which of them are the other way round."""

    def sets(self, worth: "Worth") -> CountedSets:
        """What the sums need."""

    def class_counts(self, part: Part | None) -> Array:
        """Of one part of the records, times class weights: (classes,). None is the part that has no records."""

    def inside(self, part: Part, worth: "Worth") -> Array:
        """What each test takes of a part: (channels, tests)."""

    def total(self) -> Array:
        """Class counts of all records, times class weights."""

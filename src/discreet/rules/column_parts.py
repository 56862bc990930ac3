"""The values of a column in parts, as a score card has them: the first condition that is true of a value gives its part.

What a person can read is a list of conditions, the last one empty: "age <= 25", "age <= 40", "age is missing", "otherwise". Each
part should be as small as the schema allows, a single bin. So of the column's tests the one comes next that is true in the fewest
of the bins that are left: cuts come in ascending order, and each takes one bin. (Where tests overlap, as ranges may, a part can
be several bins: a card is then a little coarser than the schema.) All of it follows from the schema alone.

Where columns are counted one after the other, a record's weight is public, too, given the card so far (``Weights``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..schema.columns import Column
from .rules import Condition, Literal

WHOLE = 64  # weights are so many parts of a record


@dataclass(frozen=True, eq=False)
class ColumnParts:
    """Conditions in order, the last one empty, and the number of the part of each bin.

    ``ordered`` are the numbers of the parts that follow each other from small values to large ones; none if there is no order.
    """

    column: str
    conditions: tuple[Condition, ...]
    part_of_bin: npt.NDArray[np.intp]
    ordered: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.conditions)

    def by_part(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """From counts by bin, in the last axis, to counts by part."""
        return np.stack([counts[..., self.part_of_bin == part].sum(-1) for part in range(len(self))], -1)


@lru_cache(maxsize=4096)
def parts_of(column: Column) -> ColumnParts:
    """How a card divides the values of a column.

    >>> from discreet.schema.columns import Numeric
    >>> parts = parts_of(Numeric("age", cuts=[25, 40], missing=True))
    >>> [" and ".join(map(str, condition)) or "otherwise" for condition in parts.conditions]
    ['age <= 25', 'age <= 40', 'age is missing', 'otherwise']
    >>> parts.part_of_bin.tolist(), parts.ordered
    ([0, 1, 3, 2], (0, 1, 3))
    """
    asked = [test for test in column.tests() if test[0] != "is missing"]
    tests = [(Literal(column.name, *test), column.where(*test)) for test in asked]
    left = np.ones(column.n_bins, bool)
    found: list[tuple[Condition, npt.NDArray[np.bool_]]] = []
    while tests:
        tests.sort(key=lambda test: int((test[1] & left).sum()))  # stable: of equals, the schema's first
        literal, true = tests.pop(0)
        if (true & left).any() and (left & column.domain & ~true).any():
            found.append(((literal,), true & left))
            left &= ~true
    if column.can_be_missing and left[-1] and left[:-1].any():
        found.append(((Literal(column.name, "is missing"),), column.where("is missing") & left))
        left[-1] = False
    found.append(((), left))
    part_of_bin = np.zeros(column.n_bins, np.intp)
    for number, (_, bins) in enumerate(found):
        part_of_bin[bins] = number
    # in order by their smallest bins, if each part is a stretch of bins; the bin of missing values, the last, is in no order
    ordered, numbers = (), part_of_bin[:-1]
    if column.ordered and np.count_nonzero(np.diff(numbers)) == len(set(numbers.tolist())) - 1:
        ordered = tuple(dict.fromkeys(numbers.tolist()))
    return ColumnParts(column.name, tuple(condition for condition, _ in found), part_of_bin, ordered)


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of records, in parts of ``WHOLE``, by their class and the range of their total on the card so far.

    There is a card for each leaf: where to start, and by the numbers of columns the points of each of their parts.
    ``by_range`` is (classes, ranges). No record counts for more than one, and only integers have exact noise: anything
    else is refused.
    """

    cards: Sequence[tuple[float, Mapping[int, npt.NDArray[np.float64]]]]
    limits: Sequence[float]
    by_range: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.by_range.dtype != np.int64 or self.by_range.shape[1] != len(self.limits) + 1:
            raise AssertionError("weights have to be integers, one for each range: this is a bug in the learner")
        if self.by_range.min() < 0 or self.by_range.max() > WHOLE:
            raise AssertionError("a record counts for less than nothing or more than one: this is a bug in the learner")

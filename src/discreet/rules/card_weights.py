"""How much a record counts for when a score card's columns are counted one after the other: public, given the card so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WHOLE = 64  # weights are so many parts of a record


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

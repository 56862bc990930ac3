"""Private cut points of some columns. A level is charged first, then answered with candidates' numbers."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...schema.columns import Column
from ..counts.counts import Counts
from ..mechanisms.quantile import CutsBudget, QuantileSelector, Stretch
from ..noise.entropy import Integers
from .base import Queries


class CutQueries(Queries):
    """The cuts of several stretches of a column, one charge for all that are asked for together: **they must be disjoint**.

    Of each column there are counts by its bins alone, whose cuts are the candidates. Records without a value belong to no
    stretch.
    """

    def __init__(self, counts: Counts, columns: Sequence[Column], noise: CutsBudget) -> None:
        self._noise = noise
        by_bin = counts.joint(columns, 1)
        self._counts: dict[str, Integers] = {  # but for the last bin, which is of missing values
            column.name: by_bin.of_column(i).sum(0).astype(np.int64)[:-1] for i, column in enumerate(columns)
        }
        self._selector = QuantileSelector(noise.choice_epsilon)

    def cut(self, column: str, stretches: Sequence[Stretch]) -> list[int]:
        """For each stretch the number of a candidate in it."""
        if any(one.last >= other.first for one, other in pairwise(stretches)):
            raise RuntimeError("stretches that overlap, or in another order: this is a bug in the learner")
        self._charge(self._noise.choice_epsilon, "level of cut points")
        counts = self._counts[column]
        return [
            s.first + self._selector.select(counts[s.first : s.last + 1], s.part, s.parts, self._entropy)
            for s in stretches
        ]

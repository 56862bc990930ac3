"""Class counts of the parts of a rule list, whoever made the list."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from ..counts.patterns import Array
from .base import Queries, as_row


class ListParts(Queries):
    """The class counts of one rule list, part by part. Its parts are disjoint, so together they cost one epsilon."""

    _counts_together = True  # whether that is charged, or an epsilon for each part (as published)
    # the rules whose class counts were given; None at the end is the default
    _listed: tuple[int | None, ...] | None = None

    @abstractmethod
    def _part(self, prefix: Sequence[int], rule: int | None) -> Array:
        """Records per class that a rule captures after a prefix; without a rule, all that is left."""

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left.

        Charged together, they are so at the first (docs/theory/greedy.md, Lemma 7). That they belong to one list is checked:
        each call must go on with the list of the one before, and after the default there is none.
        """
        if self._listed is None or not self._counts_together:
            self._charge(self._noise.counts_epsilon, "class counts")
        if tuple(prefix) != (self._listed or ()):
            raise RuntimeError(
                "class counts of parts that are not those of one rule list: this is a bug in the learner"
            )
        self._listed = (*prefix, rule)
        return as_row(self._noisy(self._part(prefix, rule).astype(np.int64), self._noise.counts_epsilon))

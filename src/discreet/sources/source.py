"""What all tables that can be counted have in common: from a plan of counting to exact counts.

**At nodes** the records are not counted beforehand: the engine counts anew for each rule of a list, and the counts come here
alone. They are the same numbers as those of patterns, so the queries, what they charge and what is proved are the same; with one
more assumption. The engine is asked several times, and **the table may not change in between**: several parts of the list might
count a record that was changed, and their class counts are charged once, because parts of one table are disjoint (docs/theory.md,
Lemma 7). The statement of such a fit says so.

A query names the rules that were chosen before it, and the engine may keep it in a log: they are released there. That is why the
budget stays booked if a later query fails, and why only the first is asked before the budget is reserved.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..private.counts.cells import CellsInProgress
from ..private.counts.counting import CellCounter, NodeCounts, RuleCounts
from ..private.counts.counts import Countable, Counts, Marginals, Patterns
from ..private.counts.division import Division, column_numbers, left_by
from ..rules.candidates import Candidates
from ..schema.columns import Column
from ..schema.schema import sorted_classes
from .bin_cache import ReadOnce
from .plan import NODES, TUPLES, Counting


class Source(ABC):
    """A table whose records can be counted again and again."""

    is_read_anew = False  # whether its records come to this process each time

    @abstractmethod
    def add_to(self, filling: Any) -> None:
        """Count its records."""

    def count(self, counting: Counting) -> Counts:
        """Exact counts of its records, as planned."""
        schema, classes = counting.schema, sorted_classes(counting.schema)
        if counting.way == NODES:
            assert counting.candidates is not None
            return Marginals.at_nodes(schema, classes, SourceCounts(self, counting.candidates, counting.sets))
        if counting.way == TUPLES:
            several: Countable = self
            if counting.keeps_bins and self.is_read_anew:
                several = ReadOnce(self, counting.columns, len(classes))
            try:
                return Marginals(schema, classes, several, counting.columns, counting.together)
            except BaseException:
                if isinstance(several, ReadOnce):
                    several.close()
                raise
        cells = CellsInProgress(schema.used, len(classes))
        self.add_to(cells)
        return Patterns(schema, classes, cells.finish())

    @property
    def columns(self) -> Sequence[Column]:
        """The columns that an engine counts, in order."""
        raise NotImplementedError("only engines count at nodes")

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        raise NotImplementedError("only engines count at nodes")

    def count_sets(
        self, sets: Sequence[Sequence[int]], division: Division, booked: bool = False
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """An engine's counts by the bins of each set of columns."""
        raise NotImplementedError("only engines count at nodes")


class SourceCounts(RuleCounts):
    """Counts from an engine, by sets of columns such that the columns of each candidate are in one of them."""

    def __init__(self, source: Source, candidates: Candidates, sets: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self._asked = False
        self._source, self._sets, self._candidates = source, [tuple(numbers) for numbers in sets], candidates
        self._of_literal = column_numbers(source.columns, candidates)
        which = np.array([self._set_of({self._of_literal[i] for i in row if i >= 0}) for row in candidates.members])
        self._parts = [(np.flatnonzero(which == i), candidates.only(which == i)) for i in range(len(self._sets))]

    def _set_of(self, columns: set[int]) -> int:
        return next(i for i, numbers in enumerate(self._sets) if columns <= set(numbers))

    def _count(self, prefix: frozenset[int]) -> NodeCounts:
        columns, n_classes = self._source.columns, self._source.n_classes
        filling = [CellsInProgress([columns[i] for i in numbers], n_classes) for numbers in self._sets]
        division = left_by(sorted(prefix), self._candidates, self._of_literal)
        # only the first query comes before the reservation, and all records may be asked about again, if they were forgotten
        booked, self._asked = self._asked, True
        for which, patterns, labels, times in self._source.count_sets(self._sets, division, booked):
            filling[which].add_counted([patterns * n_classes], labels, times)  # the label varies fastest there
        node = NodeCounts(np.zeros(n_classes), np.zeros((n_classes, len(self._candidates))))
        for (rules, candidates), cells in zip(self._parts, filling, strict=True):
            part = CellCounter(cells.finish(), candidates).counts()
            node.captured[:, rules] = part.captured
            node = node._replace(left=part.left)  # the same in each
        return node

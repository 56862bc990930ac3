"""A vault that is never filled: the engine counts anew for each rule of a list, and the counts come here alone.

They are the same numbers as those of a filled vault, so the doors, what they charge and what is proved are the same; with one
more assumption. The engine is asked several times, and **the table may not change in between**: several parts of the list might
count a record that was changed, and their class counts are charged once, because parts of one table are disjoint (docs/theory.md,
Lemma 7). The statement of such a fit says so.

A query names the rules that were chosen before it, and the engine may keep it in a log: they are released there. That is why the
budget stays booked if a later query fails, and why only the first is asked before the budget is reserved.
"""

from collections.abc import Sequence

import numpy as np

from ..private.counts.cells import CellsInProgress
from ..private.counts.counting import CellCounter, NodeCounts, RuleCounts
from ..private.counts.division import column_numbers, left_by
from ..private.queries.vault import Vault
from ..rules.candidates import Candidates
from ..schema import Label, Schema
from .engine import EngineTable


class SourceCounts(RuleCounts):
    """Counts from an engine, by sets of columns such that the columns of each candidate are in one of them."""

    def __init__(self, source: EngineTable, candidates: Candidates, sets: Sequence[Sequence[int]]) -> None:
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
        for which, patterns, labels, times in self._source.count(self._sets, division, booked):
            filling[which].add_counted([patterns * n_classes], labels, times)  # the label varies fastest there
        node = NodeCounts(np.zeros(n_classes), np.zeros((n_classes, len(self._candidates))))
        for (rules, candidates), cells in zip(self._parts, filling, strict=True):
            part = CellCounter(cells.finish(), candidates).counts()
            node.captured[:, rules] = part.captured
            node = node._replace(left=part.left)  # the same in each
        return node


class VaultAtSource(Vault):
    """A vault for one set of candidates, whose counts stay with the engine until a door asks for them."""

    def __init__(self, schema: Schema, classes: Sequence[Label], counts: SourceCounts) -> None:
        self.schema, self.classes = schema, tuple(classes)
        self._counts = counts

    @classmethod
    def opened(
        cls,
        source: EngineTable,
        schema: Schema,
        classes: Sequence[Label],
        candidates: Candidates,
        sets: Sequence[Sequence[int]],
    ) -> "VaultAtSource":
        """With the first of the queries asked: what fails from the beginning costs nothing."""
        counts = SourceCounts(source, candidates, sets)
        counts.counts()
        return cls(schema, classes, counts)

    def _counter(self, candidates: Candidates) -> RuleCounts:
        return self._counts

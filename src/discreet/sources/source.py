"""What all tables that can be counted have in common: from a plan of counting to exact counts.

**At nodes** the records are not counted beforehand: the engine counts anew for each rule of a list, and the counts come here
alone. They are the same numbers as those of patterns, so the queries, what they charge and what is proved are the same; with
one more assumption. The engine is asked several times, and **the table may not change in between**: several parts of the list
might count a record that was changed, and their class counts are charged once, because parts of one table are disjoint
(docs/theory/greedy.md, Lemma 7). The statement of such a fit says so.

A query names the rules that were chosen before it, and the engine may keep it in a log: they are released there. That is why the
budget stays booked if a later query fails, and why only the first is asked before the budget is reserved.

**Bins are kept.** Where records are counted many times, a table is read once, and after that the small numbers of its bins in its
place. They are in a file on this machine, some records at a time and within these column by column, so that memory does not grow
with the records. The file has no name (on Windows one that nobody else may open), and it is gone when it is closed, or when this
process ends in whatever way. Where less than a gigabyte is free nothing is kept, and the table is read again: the counts are the
same. So it is if the room is used up nevertheless.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from os import SEEK_END
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .._utils.errors import EngineError
from ..private.counts.counting import NodeCounts, PatternCounter, RuleCounts
from ..private.counts.counts import Counts, Marginals, Patterns
from ..private.counts.division import column_numbers, left_by
from ..private.counts.marginals import MarginalsInProgress
from ..private.counts.patterns import PatternsInProgress
from ..private.counts.secret import Secret
from ..private.counts.totals import TotalsInProgress
from ..rules.candidates import Candidates
from ..schema.columns import Column
from ..schema.schema import sorted_classes
from .plan import NODES, PATTERNS, Counting

ROWS_AT_A_TIME = 1 << 18
BOOKED = "A part of the model had been chosen before: the budget that was set aside stays booked"
ROOM = 1 << 30  # bytes free: a public number decides whether a file is used, not how many records there happen to be
Filling = PatternsInProgress | MarginalsInProgress | TotalsInProgress
Numbers = npt.NDArray[np.integer]
Block = tuple[
    Sequence[Numbers], Numbers
]  # of some records: their bins in each column, and the numbers of their classes


class Source(ABC):
    """A table whose records can be counted again and again."""

    is_read_anew = False  # whether its records come to this process each time

    @abstractmethod
    def blocks(self, filling: Filling) -> Iterator[Block]:
        """Its records that have a class, some at a time, by the columns that are to be counted."""

    def add_to(self, filling: Filling) -> None:
        """Count its records."""
        for bins, labels in self.blocks(filling):
            filling.add(bins, labels)

    def count(self, counting: Counting) -> Counts:
        """Exact counts of its records, as planned."""
        schema, classes = counting.schema, sorted_classes(counting.schema)
        if counting.way == PATTERNS:
            patterns = PatternsInProgress(schema.used, len(classes))
            self.add_to(patterns)
            return Patterns(schema, classes, patterns.finish())
        if counting.way == NODES:
            assert counting.candidates is not None
            return Marginals(schema, classes, self, rules=SourceCounts(self, counting.candidates, counting.sets))
        kept = BinCache(counting.columns, len(classes), self) if counting.keeps_bins and self.is_read_anew else None
        try:
            return Marginals(schema, classes, kept or self, counting.columns, counting.together)
        except BaseException:
            if kept:
                kept.close()
            raise


class SourceCounts(RuleCounts):
    """Counts from an engine, by sets of columns such that the columns of each candidate are in one of them."""

    def __init__(self, engine: Any, candidates: Candidates, sets: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self._engine, self._sets, self._candidates = engine, [tuple(numbers) for numbers in sets], candidates
        self._is_asked = False
        self._of_literal = column_numbers(engine.columns, candidates)
        used = [{self._of_literal[i] for i in row if i >= 0} for row in candidates.members]
        which = np.array([next(i for i, own in enumerate(self._sets) if columns <= set(own)) for columns in used])
        self._parts = [(np.flatnonzero(which == i), candidates.only(which == i)) for i in range(len(self._sets))]

    def _count(self, prefix: frozenset[int]) -> NodeCounts:
        columns, n_classes = self._engine.columns, self._engine.n_classes
        filling = [PatternsInProgress([columns[i] for i in numbers], n_classes) for numbers in self._sets]
        division = left_by(sorted(prefix), self._candidates, self._of_literal)
        # only the first query comes before the reservation, and all records may be asked about again, if they were forgotten
        booked, self._is_asked = self._is_asked, True
        for which, patterns, labels, times in self._engine.count_sets(self._sets, division, booked):
            filling[which].add_counted([patterns * n_classes], labels, times)  # the label varies fastest there
        captured = np.zeros((n_classes, len(self._candidates)))
        for (rules, candidates), patterns in zip(self._parts, filling, strict=True):
            counted = PatternCounter(patterns.finish(), candidates).counts()
            left, captured[:, rules] = counted  # what is left is the same in each
        return NodeCounts(left, captured)


def with_class(bins: Sequence[np.ndarray], labels: np.ndarray) -> Block:
    """Those of some records that have a class. Nearly always all have, and then nothing need be copied."""
    known = labels >= 0
    return (bins, labels) if known.all() else ([b[known] for b in bins], labels[known])


class BinCache(Secret):
    """A table that hands over its records: the first time that they are counted, their bins are kept for the next times."""

    def __init__(self, columns: Sequence[Column], n_classes: int, source: Source | None = None) -> None:
        """The first time, all of these columns must be counted. Without a source records are to be added before."""
        self._source, self._is_read = source, source is None
        self._number = {column.name: i for i, column in enumerate(columns)}
        self._types = [np.min_scalar_type(n - 1) for n in (*(column.n_bins for column in columns), n_classes)]
        self._places: list[list[int]] = []  # where in the file the bins of some records, and their classes, begin
        self._file: IO[bytes] | None = None
        with suppress(OSError):
            if disk_usage(gettempdir()).free >= ROOM:
                self._file = TemporaryFile()  # noqa: SIM115  # open until ``close``

    @property
    def is_whole(self) -> bool:
        """Whether there was room for all that was added."""
        return self._file is not None

    def close(self) -> None:
        """Give the room back: what was kept is gone."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def add(self, bins: Sequence[Numbers], labels: Numbers) -> None:
        """Keep some records."""
        if self._file is None or not len(labels):
            return
        places = []
        try:
            for numbers, kind in zip((*bins, labels), self._types, strict=True):
                places.append(self._file.seek(0, SEEK_END))
                np.save(self._file, numbers.astype(kind))
            self._file.flush()
        except OSError:
            self.close()
        self._places.append(places)

    def add_to(self, filling: MarginalsInProgress | TotalsInProgress) -> None:
        """Count the records."""
        if self._is_read and self.is_whole:
            which = [*(self._number[column.name] for column in filling.columns), -1]
            for places in self._places:
                *bins, labels = [self._read(places[i]) for i in which]
                filling.add(bins, labels)
            return
        assert self._source is not None
        for block in self._source.blocks(filling):
            if not self._is_read:
                self.add(*block)
            filling.add(*block)
        self._is_read = True

    def _read(self, place: int) -> Numbers:
        assert self._file is not None
        with suppress(OSError, ValueError, EOFError):
            self._file.seek(place)
            numbers: Numbers = np.load(self._file)
            return numbers
        raise EngineError(f"what was kept of the records in a temporary file cannot be read again. {BOOKED}")

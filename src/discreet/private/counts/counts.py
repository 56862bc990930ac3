"""Exact counts of a table, in the form that a plan asked for: distinct patterns, or k-way marginals.

**Patterns** are counted once and hold everything. **Marginals** are joint counts of every two or three columns, or of what the
candidates need at one node of a list: they are counted once before anything is booked, and once more for each further draw of a
fit, by the parts that the records are in then. Two things follow: **the table may not change in between**, which the statement of
such a fit says; and an engine is told what was drawn before, so that the budget stays booked if a later query fails.

Counts can be queried for one fit or for many. They cannot be printed, pickled or copied.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from ...rules.candidates import Candidates
from ...schema import Label, Schema
from ...schema.columns import Column
from ..noise.entropy import Integers
from .counting import PatternCounter, RuleCounts
from .division import Division
from .marginals import MarginalsInProgress, MarginalTables, marginals_of
from .patterns import PatternCounts
from .secret import Secret
from .totals import ByTotal, TotalsInProgress

MOST_COUNTERS = 8


class Countable(Protocol):
    """A table whose records can be counted again and again."""

    def add_to(self, filling: Any) -> None:
        """Add all records."""


class Counts(Secret, ABC):
    """``drafted``: a schema was drafted from the table that was counted, so nothing is proved about what is learned from it."""

    drafted = False

    def __init__(self, schema: Schema, classes: Sequence[Label], source: Countable) -> None:
        self.schema, self.classes, self._source = schema, tuple(classes), source

    @abstractmethod
    def joint(self, columns: Sequence[Column], size: int, division: Division | None = None) -> MarginalTables:
        """Class counts by the bins of every so many of these columns, in parts of the records."""

    def totals(self, columns: Sequence[Column], division: ByTotal, beside: int | None = None) -> Integers:
        """Records of each class by the range of their total, and by the bins of a column: (classes, ranges[, bins])."""
        filling = TotalsInProgress(columns, len(self.classes), division, beside)
        self._source.add_to(filling)
        return filling.finish()

    @abstractmethod
    def of_rules(self, candidates: Candidates) -> RuleCounts:
        """Class counts of all candidates after any prefix."""

    def close(self) -> None:  # most have nothing to do
        """Free what is kept elsewhere: the release is over."""


class Patterns(Counts):
    """Distinct rows of bins, with their class counts: all other counts follow from them."""

    def __init__(self, schema: Schema, classes: Sequence[Label], patterns: PatternCounts) -> None:
        super().__init__(schema, classes, patterns)
        self.patterns = patterns
        self._counters: dict[Candidates, PatternCounter] = {}

    def joint(self, columns: Sequence[Column], size: int, division: Division | None = None) -> MarginalTables:
        """From the patterns; those of all records are kept for the next fit."""
        return marginals_of(self.patterns, columns, size, division)

    def of_rules(self, candidates: Candidates) -> RuleCounts:
        """A counter that is kept for the next fit with the same candidates."""
        if candidates not in self._counters:
            while len(self._counters) >= MOST_COUNTERS:
                self._counters.pop(next(iter(self._counters)))
            self._counters[candidates] = PatternCounter(self.patterns, candidates)
        return self._counters[candidates]


class Marginals(Counts):
    """Joint counts of columns, however many patterns the records have. What depends on a released answer is counted again.

    Or, with ``rules``, what each candidate captures at one node of a list after the other. The first is asked for now.
    """

    def __init__(
        self,
        schema: Schema,
        classes: Sequence[Label],
        source: Countable,
        columns: Sequence[Column] = (),
        size: int = 0,
        rules: RuleCounts | None = None,
    ) -> None:
        super().__init__(schema, classes, source)
        self._columns, self._size, self._rules = tuple(columns), size, rules
        if rules is None:
            self._whole = self._count(Division(), size)
        else:
            rules.counts()  # an early failure costs nothing

    def joint(self, columns: Sequence[Column], size: int, division: Division | None = None) -> MarginalTables:
        """As they were counted; in parts of the records they are counted once more."""
        if tuple(columns) != self._columns or min(size, len(self._columns)) > self._size:
            raise AssertionError("these columns were not counted: this is a bug in the learner")
        return self._whole if division is None else self._count(division, size)

    def of_rules(self, candidates: Candidates) -> RuleCounts:
        """Of the candidates that were planned for."""
        if self._rules is None:
            raise AssertionError("counts of rules were not planned: this is a bug in the learner")
        return self._rules

    def close(self) -> None:
        """Drop the cached bins of the table."""
        if hasattr(self._source, "close"):
            self._source.close()

    def _count(self, division: Division, size: int) -> MarginalTables:
        filling = MarginalsInProgress(self._columns, len(self.classes), size, division)
        self._source.add_to(filling)
        return filling.finish()

"""A vault of joint counts of columns. It is filled once before anything is booked, and once more for each further draw of a fit.

A later draw is about what an earlier one left, so that the records are counted again, by the parts that they are in now. Two
things follow, as for a vault that is never filled (at_source.py): **the table may not change in between**, which the statement of
such a fit says; and an engine is told what was drawn before, so that the budget stays booked if a later query fails.
"""

from collections.abc import Sequence

from ..cells.division import Division
from ..cells.tuples import Tuples, TuplesInProgress, tuples_of
from ..schema import Label, Schema
from ..schema.columns import Column
from ..sources.engine import EngineTable
from ..sources.kept import KeptBins
from ..sources.memory import FileTable, MemoryTable
from .vault import Vault

Source = EngineTable | FileTable | MemoryTable  # a table that can be counted again and again


class TupleVault(Vault):
    """Joint counts of the columns that candidates are about."""

    def __init__(
        self,
        schema: Schema,
        classes: Sequence[Label],
        source: Source,
        columns: Sequence[Column],
        size: int,
        kept: KeptBins | None = None,
    ) -> None:
        """With ``kept``, records are counted from there the next time, if there is room for them."""
        self.schema, self.classes = schema, tuple(classes)
        self._source: Source | KeptBins = source
        self._columns, self._size = tuple(columns), size
        self._whole = self._count(Division(), size, kept)
        if kept is not None and kept.is_whole:
            self._source = kept

    def _tuples(self, columns: Sequence[Column], size: int, division: Division | None = None) -> Tuples:
        if tuple(columns) != self._columns or min(size, len(self._columns)) > self._size:
            raise AssertionError("other columns are asked for than were counted: this is a bug in the learner")
        return self._whole if division is None else self._count(division, size)

    def _count(self, division: Division, size: int, kept: KeptBins | None = None) -> Tuples:
        keep = None if kept is None else kept.add
        filling = TuplesInProgress(self._columns, len(self.classes), size, division, keep)
        self._source.add_to(filling)
        return filling.finish()


def joint_counts(vault: Vault, columns: Sequence[Column], size: int, division: Division | None = None) -> Tuples:
    """Of so many columns, in parts of the records: as they were counted, or from the patterns that a vault holds."""
    if isinstance(vault, TupleVault):
        return vault._tuples(columns, size, division)
    return tuples_of(vault._cells, columns, size, division)

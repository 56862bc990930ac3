"""A vault of joint counts of columns. It is filled once before anything is booked, and once more for each further draw of a fit.

A later draw is about what an earlier one left, so that the records are counted again, by the parts that they are in now. Two
things follow, as for ``VaultAtSource``: **the table may not change in between**, which the statement of
such a fit says; and an engine is told what was drawn before, so that the budget stays booked if a later query fails.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from ...schema import Label, Schema
from ...schema.columns import Column
from ..counts.division import Division
from ..counts.tuples import Tuples, TuplesInProgress, tuples_of
from .vault import Vault


class Countable(Protocol):
    """A table whose records can be counted, once or several times."""

    def add_to(self, filling: Any) -> None:
        """Add all records."""


class TupleVault(Vault):
    """Joint counts of the columns that candidates are about."""

    def __init__(
        self, schema: Schema, classes: Sequence[Label], source: Countable, columns: Sequence[Column], size: int
    ) -> None:
        self.schema, self.classes, self._source = schema, tuple(classes), source
        self._columns, self._size = tuple(columns), size
        self._whole = self._count(Division(), size)

    def _tuples(self, columns: Sequence[Column], size: int, division: Division | None = None) -> Tuples:
        if tuple(columns) != self._columns or min(size, len(self._columns)) > self._size:
            raise AssertionError("other columns are asked for than were counted: this is a bug in the learner")
        return self._whole if division is None else self._count(division, size)

    def _count(self, division: Division, size: int) -> Tuples:
        filling = TuplesInProgress(self._columns, len(self.classes), size, division)
        self._source.add_to(filling)
        return filling.finish()


def joint_counts(vault: Vault, columns: Sequence[Column], size: int, division: Division | None = None) -> Tuples:
    """Of so many columns, in parts of the records: as they were counted, or from the patterns that a vault holds."""
    if isinstance(vault, TupleVault):
        return vault._tuples(columns, size, division)
    return tuples_of(vault._cells, columns, size, division)

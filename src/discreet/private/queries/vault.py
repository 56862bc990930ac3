"""The vault: it holds cells. What leads out are doors, and each charges first, then answers with noise.

A vault can be filled once and fitted many times. It cannot be printed, pickled or copied.
"""

from collections.abc import Sequence

from ...rules.candidates import Candidates
from ...schema import Label, Schema
from ..counts.cells import Cells
from ..counts.counting import CellCounter, RuleCounts
from ..counts.secret import Secret

MOST_COUNTERS = 8


class Vault(Secret):
    """Cells under lock: exact counts go in, only the doors lead out.

    ``drafted``: a schema was drafted from the table that fills it, so nothing is proved about what is learned from it.
    """

    drafted = False

    def __init__(self, schema: Schema, classes: Sequence[Label], cells: Cells) -> None:
        self.schema = schema
        self.classes = tuple(classes)
        self._cells = cells
        self._counters: dict[Candidates, CellCounter] = {}

    def _counter(self, candidates: Candidates) -> RuleCounts:
        """The counter of a candidate set, kept for the next fit that uses the same one."""
        if candidates not in self._counters:
            while len(self._counters) >= MOST_COUNTERS:
                self._counters.pop(next(iter(self._counters)))
            self._counters[candidates] = CellCounter(self._cells, candidates)
        return self._counters[candidates]

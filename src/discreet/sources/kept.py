"""The bins of records that are counted many times: the table is read once, and these small numbers in place of it after that.

They are in a file of this machine, some records at a time and within these column by column, so that memory does not grow with
the records. The file has no name (on Windows one that nobody else may open) and is gone when it is closed, or when this process
ends in whatever way. Where there is no room for it, nothing is kept, and the table is read again.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from tempfile import TemporaryFile

import numpy as np
import numpy.typing as npt

from ..cells.secret import Secret
from ..cells.totals import TotalsInProgress
from ..cells.tuples import TuplesInProgress
from ..common.errors import EngineError
from ..schema.columns import Column

LOST = "what was kept of the records could not be read again. A part of the model had been chosen before: the budget stays booked"
Bins = Sequence[npt.NDArray[np.integer]]


class KeptBins(Secret):
    """The bins of each record in some columns, and its class. It is a source, once the records were added."""

    is_read_anew = False

    def __init__(self, columns: Sequence[Column], n_classes: int) -> None:
        self._columns = tuple(columns)
        self._types = [np.min_scalar_type(n - 1) for n in (*(column.n_bins for column in columns), n_classes)]
        self._records: list[int] = []  # of each part
        self._file = None
        with suppress(OSError):
            self._file = TemporaryFile(buffering=0)  # noqa: SIM115  # it stays open until ``close``

    @property
    def is_whole(self) -> bool:
        """Whether there was room for all that was added."""
        return self._file is not None

    def close(self) -> None:
        """Give the room back. What was kept is lost."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def add(self, bins: Bins, labels: npt.NDArray[np.integer]) -> None:
        """Keep some records."""
        if self._file is None or not len(labels):
            return
        these = (x.astype(t).tobytes() for x, t in zip((*bins, labels), self._types, strict=True))
        left = memoryview(b"".join(these))
        try:
            while left:  # of a large part, a system may write only some at once
                left = left[self._file.write(left) :]
        except OSError:
            self.close()
        self._records.append(len(labels))

    def add_to(self, filling: TuplesInProgress | TotalsInProgress) -> None:
        """Count the records again."""
        number = {column.name: i for i, column in enumerate(self._columns)}
        for *bins, labels in self._parts([*(number[column.name] for column in filling.columns), len(self._columns)]):
            filling.add(bins, labels)

    def _parts(self, which: Sequence[int]) -> Iterator[list[npt.NDArray[np.integer]]]:
        ends = np.cumsum([0, *(t.itemsize for t in self._types)]).tolist()
        start = 0
        for n in self._records:
            yield [self._read(start + n * ends[i], n, self._types[i]) for i in which]
            start += n * ends[-1]

    def _read(self, start: int, n: int, kind: np.dtype[np.integer]) -> npt.NDArray[np.integer]:
        values, done = np.empty(n, kind), 0
        left = memoryview(values).cast("B")
        try:
            self._file.seek(start)
            while left and (done := self._file.readinto(left)):
                left = left[done:]
        except (OSError, AttributeError):
            pass
        if left:
            raise EngineError(LOST)
        return values


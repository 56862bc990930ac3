"""Where records are counted many times, a table is read once, and after that the small numbers of its bins in its place.

They are in a file on this machine, some records at a time and within these column by column, so that memory does not grow with
the records. The file has no name (on Windows one that nobody else may open), and it is gone when it is closed, or when this
process ends in whatever way. Where less than a gigabyte is free nothing is kept, and the table is read again: the counts are the
same. So it is if the room is used up nevertheless.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import FileIO
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import cast

import numpy as np
import numpy.typing as npt

from .._utils.errors import EngineError
from ..private.counts.counts import Countable
from ..private.counts.secret import Secret
from ..private.counts.totals import TotalsInProgress
from ..private.counts.tuples import TuplesInProgress
from ..schema.columns import Column

BOOKED = "A part of the model had been chosen before: the budget that was set aside stays booked"
ROOM = 1 << 30  # bytes free: a public number decides whether a file is used, not how many records there happen to be
Numbers = npt.NDArray[np.integer]


class BinCache(Secret):
    """The bins of each record in some columns, and its class. It is a source, once the records were added."""

    def __init__(self, columns: Sequence[Column], n_classes: int) -> None:
        self._number = {column.name: i for i, column in enumerate(columns)}
        self._types = [np.min_scalar_type(n - 1) for n in (*(column.n_bins for column in columns), n_classes)]
        self._records: list[int] = []  # of each part
        self._file: FileIO | None = None
        with suppress(OSError):
            if disk_usage(gettempdir()).free >= ROOM:
                self._file = TemporaryFile(buffering=0)  # noqa: SIM115  # open until ``close``

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
        these = [x.astype(t).tobytes() for x, t in zip((*bins, labels), self._types, strict=True)]
        left = memoryview(b"".join(these))
        try:
            while left:  # a system may write only some at once
                left = left[self._file.write(left) :]
        except OSError:
            self.close()
        self._records.append(len(labels))

    def add_to(self, filling: TuplesInProgress | TotalsInProgress) -> None:
        """Count the records again."""
        for *bins, labels in self._parts([*(self._number[column.name] for column in filling.columns), -1]):
            filling.add(bins, labels)

    def _parts(self, which: Sequence[int]) -> Iterator[list[Numbers]]:
        """The bins in some columns, by their numbers, of some records after others; -1 stands for their classes."""
        ends = np.cumsum([t.itemsize for t in self._types]).tolist()
        begin = 0
        for n in self._records:
            yield [self._read(begin + n * (ends[i] - self._types[i].itemsize), n, self._types[i]) for i in which]
            begin += n * ends[-1]

    def _read(self, begin: int, n: int, kind: np.dtype[np.integer]) -> Numbers:
        assert self._file is not None
        numbers = bytearray(n * kind.itemsize)
        left = memoryview(numbers)
        with suppress(OSError):
            self._file.seek(begin)
            while left and (done := self._file.readinto(left)):
                left = left[done:]
        if left:
            raise EngineError(f"what was kept of the records in a temporary file cannot be read again. {BOOKED}")
        return np.frombuffer(numbers, kind)


class ReadOnce:
    """A table that hands over its records. The first time that they are counted, their bins are kept for the next times."""

    def __init__(self, source: Countable, columns: Sequence[Column], n_classes: int) -> None:
        self._source, self._kept, self._is_read = source, BinCache(columns, n_classes), False

    def add_to(self, filling: TuplesInProgress | TotalsInProgress) -> None:
        """Count the records: those of the first time must have all columns."""
        if not self._is_read:
            self._source.add_to(cast(TuplesInProgress, _Both(filling, self._kept)))
            self._is_read = True
        elif self._kept.is_whole:
            self._kept.add_to(filling)
        else:
            self._source.add_to(filling)

    def close(self) -> None:
        """Keep nothing any more."""
        self._kept.close()


class _Both:
    """Gets records in place of what counts them, and has their bins kept as well."""

    def __init__(self, filling: TuplesInProgress | TotalsInProgress, kept: BinCache) -> None:
        self.columns, self.division = filling.columns, filling.division
        self._filling, self._kept = filling, kept

    def add(self, bins: Sequence[Numbers], labels: Numbers) -> None:
        self._kept.add(bins, labels)
        self._filling.add(bins, labels)

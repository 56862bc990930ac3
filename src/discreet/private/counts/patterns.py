"""The table as a learner needs it: each distinct pattern of bin numbers, with the number of records of each class in it.

Learners need only sums over patterns, so after one pass over the records no cost depends on how many records there are. Adult's
48,842 records, in the published Boolean features, are 540 patterns.

Finding distinct rows is the one step whose cost grows with the number of records, so it works on packed keys: a row of
bin numbers is one number in mixed radix. Where that does not fit in 63 bits (engines have no unsigned numbers), a key is several
such words, kept as a string of bytes that sorts in the same order.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...rules.candidates import Candidates
from ...schema.columns import Column
from .secret import Secret

Array = npt.NDArray[np.float64]
Keys = npt.NDArray[Any]  # uint64, or bytes of one length
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.integer]
Counts = npt.NDArray[np.unsignedinteger]
BLOCK = 1 << 18


class Packing:
    """Where each column of numbers (each below its radix) stands in a key. The first column varies fastest."""

    def __init__(self, radices: Sequence[int]) -> None:
        self.radices = list(radices)
        self.places: list[tuple[int, int]] = []  # (word, stride) of each column
        self.ends = [1]  # for each word, what no number in it reaches
        for radix in self.radices:
            if self.ends[-1] * radix > 2**63:
                self.ends.append(1)
            self.places.append((len(self.ends) - 1, self.ends[-1]))
            self.ends[-1] *= radix
        self.n_words = len(self.ends)

    def pack(self, columns: Sequence[Numbers], length: int) -> Keys:
        """One key per row."""
        words = np.zeros((length, self.n_words), np.uint64)
        for numbers, (word, stride) in zip(columns, self.places, strict=True):
            words[:, word] += numbers.astype(np.uint64) * np.uint64(stride)
        return self.keys(words)

    def keys(self, words: Words) -> Keys:
        """The keys of rows that are packed into words already."""
        if self.n_words == 1:
            return words[:, 0]
        # big-endian, most significant word first, so that bytes sort as numbers do
        keys: Keys = words[:, ::-1].astype(">u8").view(f"S{8 * self.n_words}")[:, 0]
        return keys

    def words(self, keys: Keys) -> Words:
        """The words of each key."""
        if self.n_words == 1:
            return keys.astype(np.uint64, copy=False)[:, None]
        return np.ascontiguousarray(keys[:, None].view(">u8")[:, ::-1]).astype(np.uint64)

    def unpack(self, words: Words, column: int) -> Words:
        """One column of numbers back."""
        word, stride = self.places[column]
        numbers: Words = words[:, word] // np.uint64(stride) % np.uint64(self.radices[column])
        return numbers


class Tally:
    """Distinct keys in order, with how often each was added.

    New keys wait in a buffer and are sorted in when it is full: at a sixteenth of what is there already, so that sorting
    in stays cheap however many chunks come, and the memory needed stays near twice that of the result.
    """

    SMALLEST_BUFFER = 1 << 18

    def __init__(self, none: Keys) -> None:
        """``none`` are no keys, of the type that keys will have."""
        self._none = self._keys = none
        self._counts: Counts = np.zeros(0, np.uint32)
        self._waiting: list[tuple[Keys, Words | None]] = []
        self._n_waiting = 0
        self._total = 0

    def add(self, keys: Keys, times: Words | None = None) -> None:
        """Count these keys: once each, or as many times as is said of each."""
        self._waiting.append((keys, times))
        self._n_waiting += len(keys)
        if self._n_waiting >= max(self.SMALLEST_BUFFER, len(self._counts) // 16):
            self._sort_in()

    def result(self) -> tuple[Keys, Counts]:
        """The distinct keys in order, and their counts. The tally is empty afterwards."""
        self._sort_in()
        keys, counts = self._keys, self._counts
        self.__init__(self._none)  # type: ignore[misc]
        return keys, counts

    def _sort_in(self) -> None:
        if not self._waiting:
            return
        parts, self._waiting, self._n_waiting = self._waiting, [], 0
        waiting: Keys = np.concatenate([keys for keys, _ in parts])
        if all(times is None for _, times in parts):
            waiting.sort()
            first = np.flatnonzero(starts(waiting))
            n_new = np.diff(first, append=len(waiting))
        else:
            times = np.concatenate([np.ones(len(keys), np.uint64) if n is None else n for keys, n in parts])
            order = np.argsort(waiting)
            waiting = waiting[order]
            first = np.flatnonzero(starts(waiting))
            n_new = np.add.reduceat(times[order], first) if len(first) else times
        new = waiting[first]
        self._total += int(n_new.sum())
        if self._total >= 2**32:  # four bytes a count are enough until then
            self._counts = self._counts.astype(np.uint64, copy=False)
        n_new = n_new.astype(self._counts.dtype)
        if not len(self._keys):
            self._keys, self._counts = new, n_new
            return
        at = np.searchsorted(self._keys, new)
        known = self._keys[np.minimum(at, len(self._keys) - 1)] == new
        self._counts[at[known]] += n_new[known]
        if not known.all():
            self._keys = np.insert(self._keys, at[~known], new[~known])
            self._counts = np.insert(self._counts, at[~known], n_new[~known])


def starts(keys: Keys) -> npt.NDArray[np.bool_]:
    """Where a new value begins in sorted keys."""
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return new


class PatternsInProgress:
    """PatternCounts being filled, chunk by chunk. Equal records in any order and any chunks give equal patterns."""

    def __init__(self, columns: Sequence[Column], n_classes: int) -> None:
        self.columns = tuple(columns)
        self._n_classes = n_classes
        # The label varies fastest, so that the classes of one pattern end up side by side.
        self._packing = Packing([n_classes, *(column.n_bins for column in columns)])
        self._tally = Tally(self._packing.keys(np.zeros((0, self._packing.n_words), np.uint64)))

    def add(self, bins: Sequence[Numbers], labels: Numbers) -> None:
        """Count records, given by their bin number in each column and the number of their class."""
        self._tally.add(self._packing.pack([labels, *bins], len(labels)))

    @property
    def places(self) -> Sequence[tuple[int, int]]:
        """The word that each column is packed into, and by what its bin number is multiplied there."""
        return self._packing.places[1:]

    def add_counted(self, words: Sequence[Numbers], labels: Numbers, times: Numbers) -> None:
        """Count records that an engine has counted: how many there are of each pattern, packed as ``places`` says, and class."""
        packed = np.zeros((len(labels), self._packing.n_words), np.uint64)
        for numbers, word in zip(words, packed.T, strict=True):
            word[:] = numbers
        for numbers, end in zip([labels, *words], [self._n_classes, *self._packing.ends], strict=True):
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < end):
                raise AssertionError("an engine returned an impossible pattern: this is a bug in its source")
        packed[:, 0] += labels.astype(np.uint64)
        self._tally.add(self._packing.keys(packed), times.astype(np.uint64))

    def finish(self) -> "PatternCounts":
        """The patterns of all records added."""
        keys, counts = self._tally.result()
        words = self._packing.words(keys)
        del keys
        # A key is a pattern and a label. Split them a block at a time: this is where memory is at its peak.
        labels = np.empty(len(words), np.min_scalar_type(self._n_classes))
        for block in _blocks(len(words)):
            labels[block] = self._packing.unpack(words[block], 0)
            words[block, 0] -= labels[block]
        first = np.zeros(len(words), bool)  # where a new pattern begins
        for word in words.T:
            first |= starts(word)
        distinct = words[first]
        del words
        by_class = np.zeros((len(distinct), self._n_classes), counts.dtype)
        last = -1
        for block in _blocks(len(counts)):
            row = last + np.cumsum(first[block])
            by_class[row, labels[block]] = counts[block]
            last = row[-1]
        return PatternCounts(self.columns, self._packing, distinct, by_class)


def _blocks(length: int, size: int | None = None) -> Iterator[slice]:
    return (slice(i, i + (size or BLOCK)) for i in range(0, length, size or BLOCK))


def rules_on_patterns(patterns: "PatternCounts", candidates: Candidates) -> tuple[npt.NDArray[np.bool_], Array]:
    """(rules, patterns): where each candidate is true, on the distinct patterns of literals; and their class counts.

    They are kept for the next fit from the same patterns.
    """
    kept: tuple[npt.NDArray[np.bool_], Array] | None = patterns.counted.get(candidates)
    if kept is not None:
        return kept
    number = {column.name: i for i, column in enumerate(patterns.columns)}
    columns = [number[literal.column] for literal in candidates.literals]
    bins = {i: patterns.bins(i).astype(np.min_scalar_type(patterns.columns[i].n_bins)) for i in dict.fromkeys(columns)}
    counts = patterns.counts.T.astype(np.float64)
    order, first = _same_patterns(candidates, columns, bins)
    if len(first) < len(order):  # patterns in which the same literals are true become one
        counts = np.add.reduceat(counts[:, order], first, axis=1)
        bins = {column: own[order[first]] for column, own in bins.items()}
    truths = np.ones((len(columns) + 1, counts.shape[1]), bool)  # a last row, for -1, is always true
    for row, column, true in zip(truths, columns, candidates.truths, strict=False):
        row[:] = true[bins[column]]
    truth = truths[candidates.members[:, 0]]
    for members in candidates.members.T[1:]:
        truth &= truths[members]
    truth.flags.writeable = counts.flags.writeable = False
    patterns.counted = {candidates: (truth, counts)}  # not more than one: they may be large
    return truth, counts


def _same_patterns(
    candidates: Candidates, columns: Sequence[int], bins: Mapping[int, npt.NDArray[np.integer]]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """An order of the patterns in which those of one pattern of literals are next to each other, and where patterns begin."""
    radices, numbers = [], []
    for column, own in bins.items():
        literals = [true for true, place in zip(candidates.truths, columns, strict=True) if place == column]
        kinds: dict[bytes, int] = {}  # of bins: those in which the same literals are true
        kind = np.array([kinds.setdefault(true.tobytes(), len(kinds)) for true in np.array(literals).T], own.dtype)
        radices.append(len(kinds))
        numbers.append(kind[own])
    keys = Packing(radices).pack(numbers, len(numbers[0]))
    order: npt.NDArray[np.intp] = np.argsort(keys, kind="stable")
    return order, np.flatnonzero(starts(keys[order]))


class PatternCounts(Secret):
    """Distinct patterns and their exact class counts. They stay private: no printing, no pickling, no copying."""

    def __init__(self, columns: tuple[Column, ...], packing: Packing, words: Words, counts: Counts) -> None:
        self.columns, self.counts = columns, counts
        self._packing, self._words = packing, words
        self.counted: dict[Any, Any] = {}  # what was asked for before (marginals.py, private/sampling/problem.py)

    def __len__(self) -> int:
        return len(self._words)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.counts.shape[1])

    def bins(self, column: int, rows: slice = slice(None)) -> npt.NDArray[np.intp]:
        """The bin number of each pattern (or of some rows of them) in one column."""
        return self._packing.unpack(self._words[rows], column + 1).astype(np.intp)

    def add_to(self, filling: Any) -> None:
        """Count the records once more, in another form."""
        number = {column.name: i for i, column in enumerate(self.columns)}
        which = [number[column.name] for column in filling.columns]
        for rows in _blocks(len(self), BLOCK // 8):  # all columns at once
            bins = [self.bins(i, rows) for i in which]
            for label, counts in enumerate(self.counts[rows].T):
                some = np.flatnonzero(counts)
                filling.add([b[some] for b in bins], np.full(len(some), label), counts[some].astype(np.float64))

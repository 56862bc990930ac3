"""Class counts of parts of the records: of all sets of tests with a side of each, and of what each further test takes of them.

Only sets of tests that are all true are counted (from cells in on_cells.py, from tuples in on_tuples.py). What is true of some
and not of others follows by differences: "f and not g" is "f" minus "f and g".

What is counted are the *channels* of ``Sum.channels``, in the first axis; tests come in the last, and after them the whole part.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from ...counts.secret import Secret

BLOCK = 1 << 15  # numbers looked at together: they should stay in the processor's cache
Prefix = tuple[int, ...]  # tests, ascending
Numbers = npt.NDArray[np.intp]
Counted = npt.NDArray[np.float64]  # or float32, where that is exact


class Parts(Secret):
    """Counts of sets of tests: a class for each kind of counts says how they are counted where all tests are true."""

    def __init__(self, n_tests: int, n_channels: int, kind: Any) -> None:
        self._n_tests, self._n_channels, self._kind = n_tests, n_channels, kind

    @abstractmethod
    def prefixes(self, size: int, longest: bool) -> Iterator[tuple[Prefix, Counted]]:
        """All sets of so many tests, in lexicographic order, with two tests more: (channels, tests + 1, tests + 1).

        Of the ``longest`` sets there are rows of later tests only, and of the set alone.
        """

    def up_to(self, depth: int, seen: Callable[[], None]) -> Iterator[tuple[int, slice, Counted]]:
        """For all sets of 0 to ``depth`` - 1 tests: how many, which of these sets, and (channels, 2, ..., 2, sets, tests + 1).

        There is an axis of two sides (0: not true, 1: true) for each test of a set. ``seen`` is called as it goes on.
        """
        shorter: dict[Prefix, Counted] = {}  # differences need them
        for size in range(max(1, depth - 1)):
            longest, done, filled = size >= depth - 2, 0, 0
            room = max(1, BLOCK // (self._n_channels * (self._n_tests + 1) << (size + 1)))
            # with a side of each test of the prefix, and of one test more
            sides = np.empty((self._n_channels, *(2,) * (size + 1), room, self._n_tests + 1), self._kind)
            for prefix, counted in self.prefixes(size, longest):
                seen()
                if not longest:
                    shorter[prefix] = counted
                if not prefix:
                    yield 0, slice(1), counted[:, -1:]
                low, later = 0, self._n_tests - (prefix[-1] + 1 if prefix else 0)
                if depth == 1:
                    continue
                rows = counted[:, -(later + 1) :]
                while low < later:
                    high = min(later, low + room - filled)
                    place = slice(filled, filled + high - low)
                    for bits in np.ndindex((2,) * size):
                        chosen = tuple(test for test, bit in zip(prefix, bits, strict=True) if bit)
                        some = rows if len(chosen) == size else shorter[chosen][:, -(later + 1) :]
                        sides[(slice(None), *bits, 1, place)] = some[:, low:high]
                        np.subtract(some[:, -1:], some[:, low:high], out=sides[(slice(None), *bits, 0, place)])
                    filled, low = place.stop, high
                    if filled == room:
                        yield size + 1, slice(done, done + filled), _by_differences(sides, size)
                        done, filled = done + filled, 0
            if filled:
                yield size + 1, slice(done, done + filled), _by_differences(sides[..., :filled, :], size)


def _by_differences(sides: Counted, size: int) -> Counted:
    """Where a bit of a prefix of this size is 0 there is, so far, everything: what is true of the test is subtracted."""
    for axis in range(1, 1 + size):
        false, true = (tuple([slice(None)] * axis + [side]) for side in (0, 1))
        sides[false] -= sides[true]
    return sides


def subsets(m: int, size: int) -> Numbers:
    """All subsets of a size, one a row, ascending.

    >>> subsets(4, 2).tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    flat = np.fromiter((x for s in combinations(range(m), size) for x in s), np.intp, comb(m, size) * size)
    return flat.reshape(comb(m, size), size)


def numbers_of(sets: Numbers, m: int) -> Numbers:
    """The number of each subset among those of its size.

    >>> numbers_of(subsets(5, 3), 5).tolist() == list(range(10))
    True
    """
    size = sets.shape[1]
    number = np.full(len(sets), comb(m, size) - 1, np.intp)
    for place in range(size):
        # those that agree up to this place and have a larger test there
        larger = np.array([comb(m - 1 - test, size - place) for test in range(m)], np.intp)
        number -= larger[sets[:, place]]
    return number

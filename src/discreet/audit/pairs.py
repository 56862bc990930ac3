"""Pairs of neighbouring tables on which learners are compared: class counts in each pattern of a few Boolean columns.

Thousands of records in a few patterns cost no more than three, and that is where the published methods fail.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pair:
    """``less`` has class counts for each pattern (rows; the last rule varies fastest); ``more`` has one record more."""

    less: Counts
    place: tuple[int, int]  # pattern and class of the record that ``more`` has more

    @property
    def more(self) -> Counts:
        """The larger table."""
        more = self.less.copy()
        more[self.place] += 1
        return more

    @property
    def n_records(self) -> int:
        """Of the larger table."""
        return int(self.less.sum()) + 1

    def __str__(self) -> str:
        n_rules = len(self.less).bit_length() - 1
        filled = [
            f"{pattern:0{n_rules}b}: {'+'.join(map(str, row))}"
            for pattern, row in enumerate(self.less.tolist())
            if any(row)
        ]
        return f"[{', '.join(filled) or 'no records'}] and one more in {self.place[0]:0{n_rules}b} of class {self.place[1]}"


def smallest_pairs(n_rules: int, n_classes: int, most: int) -> Iterator[Pair]:
    """All tables of up to so many records, with each newcomer."""
    shape = (2**n_rules, n_classes)
    places = list(product(range(shape[0]), range(shape[1])))
    for size in range(most + 1):
        for records in combinations_with_replacement(range(len(places)), size):
            less = np.bincount(np.array(records, int), minlength=len(places)).reshape(shape)
            for place in places:
                yield Pair(less, place)


def random_pairs(rng: np.random.Generator, n_rules: int, n_classes: int, scales: Sequence[int]) -> Iterator[Pair]:
    """Without end: a few patterns of very different sizes, and a newcomer anywhere."""
    shape = (2**n_rules, n_classes)
    while True:
        scale = rng.choice(scales)
        less = np.floor(rng.random(shape) * scale ** rng.random(shape)).astype(np.int64)
        less[rng.random(shape) < rng.choice([0.3, 0.6])] = 0
        yield Pair(less, (int(rng.integers(shape[0])), int(rng.integers(n_classes))))


def hard_pairs(n_rules: int, n_classes: int, sizes: Sequence[int], rests: Sequence[int]) -> Iterator[Pair]:
    """Many records in one place, few in another, and a newcomer to either: the worst tables for most methods look so.

    *Strangers*: n records of one class, all captured by the same rules; the newcomer is of another class. *Leftovers*: the first
    rule captures n records and leaves a few, which the others tell apart or not; the newcomer is among those.
    """
    last = 2**n_rules - 1
    for n in sizes:
        for home, place in product((0, last, 2 ** (n_rules - 1)), range(last + 1)):
            less = np.zeros((last + 1, n_classes), np.int64)
            less[home, 0] = n
            yield Pair(less, (place, 1))
        for rest in rests:
            less = np.zeros((last + 1, n_classes), np.int64)
            less[2 ** (n_rules - 1), 0], less[2 ** (n_rules - 1), 1] = n - n // 2, n // 2
            less[0, 1] = rest
            yield Pair(less, (min(1, last), 0))
            yield Pair(less, (0, 0))


def changed(pair: Pair, rng: np.random.Generator) -> Pair:
    """A pair that differs a little: another count somewhere, or another newcomer."""
    less, place = pair.less.copy(), pair.place
    spot = (int(rng.integers(less.shape[0])), int(rng.integers(less.shape[1])))
    match int(rng.integers(6)):
        case 0:
            place = spot
        case 1:
            less[spot] = 0
        case 2:
            less[spot] += 1
        case 3:
            less[spot] = max(0, less[spot] - 1)
        case 4:
            less[spot] = 2 * less[spot] + 1
        case _:
            less[spot] = less[spot] // 2
    return Pair(less, place)


def as_table(counts: Counts) -> tuple[npt.NDArray[np.bool_], npt.NDArray[Any]]:
    """The records themselves: a Boolean array, and labels."""
    n_rules = len(counts).bit_length() - 1
    patterns = np.array(list(product([False, True], repeat=n_rules)), bool).reshape(len(counts), n_rules)
    kinds = np.repeat(np.arange(counts.size), counts.ravel())
    return patterns[kinds // counts.shape[1]], kinds % counts.shape[1]

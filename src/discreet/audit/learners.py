"""Level 2: whole learners, and the worst pair of neighbouring tables that can be found for each.

A table is class counts in each pattern of a few Boolean columns. Thousands of records in a few patterns cost no more than three,
and that is where the published methods fail.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations_with_replacement, islice, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..accounting.statement import Guarantee
from ..estimators.cards import Cards
from ..estimators.trees import Trees
from .explore import Distribution, Loss, explore, losses, uncharged, unpaid_checks
from .explorer import explored, schema_of_rules

Counts = npt.NDArray[np.int64]
SCALES = (3, 10, 100, 1000)


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
        rows = [(f"{pattern:0{n_rules}b}", row) for pattern, row in enumerate(self.less.tolist())]
        filled = [f"{pattern}: {'+'.join(map(str, row))}" for pattern, row in rows if any(row)]
        return f"[{', '.join(filled) or 'no records'}] and one more in {self.place[0]:0{n_rules}b} of class {self.place[1]}"


@dataclass(frozen=True)
class Subject:
    """A classifier with its parameters, and the number of Boolean columns and classes of the tables it is tried on."""

    name: str
    classifier: type
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_rules: int = 2
    n_classes: int = 2
    hard: tuple[int, ...] = (5, 100, 1000)  # sizes of the large part of hard tables
    most: int = 10**9  # records of one kind: where the distribution cannot be written down beyond it
    known: tuple[Pair, ...] = ()  # pairs to begin with
    explored: type | None = None  # a twin brings its own

    def make(self) -> Any:
        """The classifier as a user has it."""
        return self._made(self.classifier)

    def make_explored(self) -> Any:
        """The same with its noise explored."""
        return self._made(self.explored or explored(self.classifier))

    def _made(self, classifier: type) -> Any:
        schema = schema_of_rules(self.n_rules, self.n_classes)
        few = {} if issubclass(classifier, Trees | Cards) else {"negations": False}  # a test of a tree has no negation
        return classifier(schema=schema, **(few | dict(self.parameters)))

    def distributions(self, pair: Pair) -> tuple[Distribution, Distribution]:
        """All outputs with their probabilities, on both tables."""
        classifier = self.make_explored()
        less, more = (explore(classifier, classifier.filled(counts)) for counts in (pair.less, pair.more))
        return less, more

    def promises(self) -> tuple[Guarantee | None, Guarantee | None]:
        """What is proved about the fit, and what its authors claim."""
        classifier = self.make_explored()
        counts = np.zeros((2**self.n_rules, self.n_classes), int)
        explore(classifier, classifier.filled(counts))
        return classifier.privacy_.proved, classifier.privacy_.published


class Compared(NamedTuple):
    """One pair: the loss in both directions, and by how much that of a way, or of a check, exceeds what was charged for it."""

    pair: Pair
    up: Loss  # outputs on the smaller table against the larger
    down: Loss
    uncharged: float
    unpaid_checks: float

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon for which both directions keep to this delta."""
        return max(self.up.epsilon(delta), self.down.epsilon(delta))

    def delta(self, epsilon: float) -> float:
        """The smallest delta for which both directions keep to this epsilon."""
        return max(self.up.delta(epsilon), self.down.delta(epsilon))


def compare(subject: Subject, pair: Pair) -> Compared:
    """The exact loss of a learner on one pair of tables."""
    less, more = subject.distributions(pair)
    return Compared(
        pair,
        losses(less, more),
        losses(more, less),
        max(uncharged(less, more), uncharged(more, less)),
        unpaid_checks(less, more),
    )


def excess(compared: Compared, promise: Guarantee) -> float:
    """Above 1 the promise is broken: the epsilon needed in parts of the one promised; or the delta, where that is not 0."""
    delta = promise.delta or 0.0
    by_epsilon = compared.epsilon(delta) / promise.epsilon
    if delta > 0.0 and is_broken(by_epsilon):
        return max(by_epsilon, compared.delta(promise.epsilon) / delta)
    return by_epsilon


def search(subject: Subject, promise: Guarantee, pairs: int, seed: int) -> Iterator[Compared]:
    """Compare small, hard and random pairs, then vary the worst ones; about ``pairs`` in all."""
    rng = np.random.default_rng(seed)
    found: list[tuple[float, Compared]] = []  # the worst until now

    def note(compared: Compared) -> Compared:
        found.append((excess(compared, promise), compared))
        found.sort(key=lambda item: -item[0])
        del found[8:]
        return compared

    shape = (subject.n_rules, subject.n_classes)
    hard, small = hard_pairs(*shape, subject.hard, rests=(0, 1, 2, 5)), smallest_pairs(*shape, most=2)
    systematic = [pair for pair in chain(hard, islice(small, pairs // 6)) if pair.less.max() <= subject.most]
    if len(systematic) > pairs // 3:
        chosen = np.sort(rng.choice(len(systematic), pairs // 3, replace=False))
        systematic = [systematic[i] for i in chosen]
    scales = tuple(scale for scale in SCALES if scale <= subject.most)
    for pair in chain(subject.known, systematic, islice(random_pairs(rng, *shape, scales), pairs // 3)):
        yield note(compare(subject, pair))
    for _ in range(pairs - pairs // 3 - len(systematic) - len(subject.known)):
        start = found[min(int(rng.geometric(0.5)) - 1, len(found) - 1)][1].pair
        new = start
        for _ in range(int(rng.geometric(0.5))):
            new = changed(new, rng)
        yield note(compare(subject, new if new.less.max() <= subject.most else start))


def is_broken(ratio: float) -> bool:
    """Whether more is needed than promised, by more than rounding."""
    return ratio > 1.0 + 1e-6 or math.isnan(ratio)


# --- pairs of neighbouring tables --------------------------------------------------------------------------------------------


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
            less[2 ** (n_rules - 1), :2], less[0, 1] = (n - n // 2, n // 2), rest
            yield from (Pair(less, (min(1, last), 0)), Pair(less, (0, 0)))


def changed(pair: Pair, rng: np.random.Generator) -> Pair:
    """A pair that differs a little: another count somewhere, or another newcomer."""
    less = pair.less.copy()
    spot = (int(rng.integers(less.shape[0])), int(rng.integers(less.shape[1])))
    n, way = int(less[spot]), int(rng.integers(6))
    if way == 0:
        return Pair(less, spot)
    less[spot] = (0, n + 1, max(0, n - 1), 2 * n + 1, n // 2)[way - 1]
    return Pair(less, pair.place)


def as_table(counts: Counts) -> tuple[npt.NDArray[np.bool_], npt.NDArray[Any]]:
    """The records themselves: a Boolean array, and labels."""
    n_rules = len(counts).bit_length() - 1
    patterns = np.array(list(product([False, True], repeat=n_rules)), bool).reshape(len(counts), n_rules)
    kinds = np.repeat(np.arange(counts.size), counts.ravel())
    return patterns[kinds // counts.shape[1]], kinds % counts.shape[1]

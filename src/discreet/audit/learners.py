"""Level 2: whole learners, and the worst pair of tables that can be found for each."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from ..accounting.statement import Guarantee
from ..estimators.cards import Cards
from ..estimators.trees import Trees
from .explore import Law, explore, explored, losses, schema_of_rules, uncharged, unpaid_checks
from .loss import Loss
from .pairs import Pair, changed, hard_pairs, random_pairs, smallest_pairs

SCALES = (3, 10, 100, 1000)


@dataclass(frozen=True)
class Subject:
    """A classifier with its parameters, and the number of Boolean columns and classes of the tables it is tried on."""

    name: str
    classifier: type
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_rules: int = 2
    n_classes: int = 2
    hard: tuple[int, ...] = (5, 100, 1000)  # sizes of the large part of hard tables
    most: int = 10**9  # records of one kind: where the law cannot be written down beyond it
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

    def numbers(self) -> dict[str, int]:
        """The number of each candidate rule, by its text."""
        classifier = self.make()
        return {str(rule): i for i, rule in enumerate(classifier._candidates(classifier.schema))}

    def laws(self, pair: Pair) -> tuple[Law, Law]:
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
    less, more = subject.laws(pair)
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
    found: list[tuple[float, int, Compared]] = []

    def note(compared: Compared) -> Compared:
        found.append((excess(compared, promise), len(found), compared))
        found.sort(key=lambda item: (-item[0], item[1]))
        del found[8:]
        return compared

    shape = (subject.n_rules, subject.n_classes)
    systematic = [
        *hard_pairs(*shape, sizes=subject.hard, rests=(0, 1, 2, 5)),
        *islice(smallest_pairs(*shape, most=2), pairs // 6),
    ]
    systematic = [pair for pair in systematic if pair.less.max(initial=0) <= subject.most]
    if len(systematic) > pairs // 3:
        chosen = np.sort(rng.choice(len(systematic), pairs // 3, replace=False))
        systematic = [systematic[i] for i in chosen]
    scales = tuple(scale for scale in SCALES if scale <= subject.most)
    for pair in chain(subject.known, systematic, islice(random_pairs(rng, *shape, scales), pairs // 3)):
        yield note(compare(subject, pair))
    for _ in range(pairs - pairs // 3 - len(systematic) - len(subject.known)):
        start = found[min(int(rng.geometric(0.5)) - 1, len(found) - 1)][2].pair
        new = start
        for _ in range(int(rng.geometric(0.5))):
            new = changed(new, rng)
        yield note(compare(subject, new if new.less.max(initial=0) <= subject.most else start))


def is_broken(ratio: float) -> bool:
    """Whether more is needed than promised, by more than rounding."""
    return ratio > 1.0 + 1e-6 or math.isnan(ratio)

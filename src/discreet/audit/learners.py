"""Level 2: whole learners. Which are audited, and the worst pair of tables that can be found for each."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..accounting.statement import Guarantee
from ..estimators.cards import Cards, DPScoreCardClassifier
from ..estimators.greedy import DPGreedyRuleListClassifier
from ..estimators.greedy_trees import DPGreedyTreeClassifier
from ..estimators.optimal import DPOptimalRuleListClassifier
from ..estimators.trees import DPOptimalTreeClassifier, Trees
from ..private.mechanisms.audit_cases import WholeFit
from ..private.mechanisms.registry import MECHANISMS
from ..private.sampling.trees.worth import MASS
from .explore import (
    CardsOnTuples,
    Law,
    ListsByEnvelope,
    ListsOnTuples,
    TreesOnTuples,
    explore,
    explored,
    losses,
    schema_of_rules,
    uncharged,
    unpaid_checks,
)
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
    for pair in subject.known:
        yield note(compare(subject, pair))
    systematic = [
        *hard_pairs(*shape, sizes=subject.hard, rests=(0, 1, 2, 5)),
        *islice(smallest_pairs(*shape, most=2), pairs // 6),
    ]
    systematic = [pair for pair in systematic if pair.less.max(initial=0) <= subject.most]
    if len(systematic) > pairs // 3:
        chosen = np.sort(rng.choice(len(systematic), pairs // 3, replace=False))
        systematic = [systematic[i] for i in chosen]
    for pair in systematic:
        yield note(compare(subject, pair))
    scales = tuple(scale for scale in SCALES if scale <= subject.most)
    for pair in islice(random_pairs(rng, *shape, scales), pairs // 3):
        yield note(compare(subject, pair))
    for _ in range(pairs - pairs // 3 - len(systematic) - len(subject.known)):
        start = found[min(int(rng.geometric(0.5)) - 1, len(found) - 1)][2].pair
        new = start
        for _ in range(int(rng.geometric(0.5))):
            new = changed(new, rng)
        yield note(compare(subject, new if new.less.max(initial=0) <= subject.most else start))


GREEDY, WHOLE, TREES = DPGreedyRuleListClassifier, DPOptimalRuleListClassifier, DPOptimalTreeClassifier
GREEDY_TREES, CARDS, CARDS_ON_TUPLES = DPGreedyTreeClassifier, DPScoreCardClassifier, CardsOnTuples
BY_ENVELOPE, LISTS_ON_TUPLES, TREES_ON_TUPLES = ListsByEnvelope, ListsOnTuples, TreesOnTuples

WHOLE_LISTS = (
    Subject("whole lists", WHOLE, {"epsilon": 1.0, "max_length": 3}),
    Subject("whole lists, no counts", WHOLE, {"epsilon": 1.0, "max_length": 3, "counts_share": 0.0}),
    Subject(
        "whole lists, one rule at a time", WHOLE, {"epsilon": 1.0, "max_length": 3, "joint": 1, "counts_share": 0.5}
    ),
    Subject(
        "whole lists, pairs of literals",
        WHOLE,
        {"epsilon": 1.0, "max_length": 2, "max_card": 2, "negations": True, "counts_share": 0.5},
    ),
    Subject(
        "whole lists, weights and a prior",
        WHOLE,
        {"epsilon": 1.0, "max_length": 3, "class_weight": {0: 2.0, 1: 8.0}, "prior": [1, 2, 4], "counts_share": 0.0},
    ),
    Subject("whole lists, three classes", WHOLE, {"epsilon": 0.5, "max_length": 2}, n_classes=3),
    Subject(
        "whole lists, three rules",
        WHOLE,
        {"epsilon": 1.0, "prior": [1, 0, 0, 1], "counts_share": 0.0},
        n_rules=3,
    ),
    Subject("whole lists by envelope", BY_ENVELOPE, {"epsilon": 1.0, "max_length": 3}),
    Subject(
        "whole lists by envelope, one rule at a time",
        BY_ENVELOPE,
        {"epsilon": 1.0, "max_length": 3, "joint": 1, "counts_share": 0.5},
    ),
    Subject(
        "whole lists from tuples, one rule at a time",
        LISTS_ON_TUPLES,
        {"epsilon": 1.0, "max_length": 3, "joint": 1, "counts_share": 0.5},
    ),
)

WHOLE_TREES = (
    Subject("whole trees", TREES, {"epsilon": 1.0, "max_depth": 1}),
    Subject("whole trees, a test asked again", TREES, {"epsilon": 1.0, "max_depth": 2}, n_rules=1),
    Subject("whole trees, no counts", TREES, {"epsilon": 1.0, "max_depth": 1, "counts_share": 0.0}, n_rules=3),
    Subject("whole trees, two stages", TREES, {"epsilon": 1.0, "stages": (1, 1), "counts_share": 0.2}, n_rules=1),
    Subject(
        "whole trees, weights and a prior",
        TREES,
        {
            **{"epsilon": 1.0, "max_depth": 1, "class_weight": {0: 2.0, 1: 8.0}, "prior": {"r0": 3.0}, "split": 0.3},
            "counts_share": 0.0,
        },
    ),
    Subject("whole trees, three classes", TREES, {"epsilon": 0.5, "max_depth": 1}, n_classes=3),
    Subject("whole trees by mass", TREES, {"epsilon": 1.0, "max_depth": 2, "criterion": MASS, "counts_share": 0.3}),
    Subject(
        "whole trees by mass, two stages",
        TREES,
        {"epsilon": 1.0, "stages": (1, 1), "criterion": MASS, "counts_share": 0.2},
    ),
    Subject(
        "whole trees by mass, three classes with weights",
        TREES,
        {
            **{"epsilon": 1.0, "max_depth": 1, "criterion": MASS, "counts_share": 0.1},
            "class_weight": {0: 10.0, 1: 3.0, 2: 1.0},
        },
        n_classes=3,
    ),
    Subject(
        "whole trees, class counts only",
        TREES,
        {"epsilon": 1.0, "max_depth": 0, "criterion": MASS, "counts_share": 0.9},
        n_rules=1,
    ),
    Subject("whole trees from tuples", TREES_ON_TUPLES, {"epsilon": 1.0, "max_depth": 1, "counts_share": 0.2}),
    Subject(
        "whole trees from tuples by mass, two stages",
        TREES_ON_TUPLES,
        {"epsilon": 1.0, "stages": (1, 1), "criterion": MASS, "counts_share": 0.2},
    ),
    Subject(
        "whole trees from tuples, three classes with weights",
        TREES_ON_TUPLES,
        {"epsilon": 1.0, "max_depth": 1, "counts_share": 0.1, "class_weight": {0: 10.0, 1: 3.0, 2: 1.0}},
        n_classes=3,
    ),
)


ONE_BY_ONE = {"epsilon": 1.0, "one_by_one": True}
SCORE_CARDS = (
    Subject("score cards", CARDS, {"epsilon": 1.0, "counts_share": 0.2}),
    Subject("score cards, no counts by total", CARDS, {"epsilon": 1.0, "counts_share": 0.0}, n_rules=3),
    Subject("score cards, one column of two", CARDS, {"epsilon": 1.0, "max_columns": 1, "counts_share": 0.2}),
    Subject("score cards, two columns of three", CARDS, {"epsilon": 1.0, "max_columns": 2}, n_rules=3),
    Subject("score cards, one column after the other", CARDS, {**ONE_BY_ONE, "counts_share": 0.2}, n_rules=3),
    Subject("score cards, one after the other, two of three", CARDS, {**ONE_BY_ONE, "max_columns": 2}, n_rules=3),
    Subject("score cards after a tree", CARDS, {"epsilon": 1.0, "tree_depth": 1, "counts_share": 0.2}),
    Subject("score cards after a tree, one after the other", CARDS, {**ONE_BY_ONE, "tree_depth": 1}),
    Subject("score cards after a tree, one column", CARDS, {"epsilon": 1.0, "tree_depth": 1, "max_columns": 1}),
    Subject("score cards from tuples", CARDS_ON_TUPLES, {"epsilon": 1.0, "max_columns": 1, "tree_depth": 1}),
    Subject("score cards from tuples, one after the other", CARDS_ON_TUPLES, {**ONE_BY_ONE, "tree_depth": 1}),
)


def as_list(fit: WholeFit) -> Subject:
    """A greedy list, as its mechanism wants it tried."""
    return Subject(fit.name, GREEDY, fit.parameters, fit.n_rules, fit.n_classes, fit.hard, fit.most)


def as_tree(fit: WholeFit) -> Subject:
    """A greedy tree with as many levels as the list has rules; two, if it has more, for there are many trees of depth three."""
    parameters = dict(fit.parameters)
    parameters["max_depth"] = min(2, parameters.pop("max_length") - 1)
    name = f"greedy trees, {fit.name}"
    return Subject(name, GREEDY_TREES, parameters, fit.n_rules, fit.n_classes, fit.hard, fit.most)


def subjects() -> tuple[Subject, ...]:
    """All learners that are audited: fits that each mechanism lists, as lists and as trees, and draws of whole models."""
    fits = [fit for mechanism in MECHANISMS.values() for fit in mechanism.audit_fits()]
    return (
        *map(as_list, fits),
        *(as_tree(fit) for fit in fits if "max_card" not in fit.parameters),  # a test is a single literal
        *WHOLE_LISTS,
        *WHOLE_TREES,
        *SCORE_CARDS,
    )


def leftover(n: int, n_rules: int = 2) -> Pair:
    """The first rule captures all of n records but two, one of each class, which the second tells apart; or all but one.

    A third rule captures nothing.
    """
    less = np.zeros((2**n_rules, 2), np.int64)
    less[2 ** (n_rules - 1)] = [(n - 2) // 2, n - 2 - (n - 2) // 2]
    less[0, 1] = 1
    return Pair(less, (2 ** (n_rules - 2), 0))


# Configurations in which what is published does not hold (docs/theory.md, section 6); less is proved for them, or nothing
REFUTED = (
    Subject(
        "sm-laplace, 5,050 records",
        GREEDY,
        {"mechanism": "sm-laplace", "epsilon": 0.05, "delta": 1 / 5050**2, "max_length": 3, "min_support": 252},
        known=(leftover(5050),),
    ),
    Subject(
        "sm-cauchy, 48,842 records",
        GREEDY,
        {"mechanism": "sm-cauchy", "epsilon": 1.0, "max_length": 3, "min_support": 2442},
        n_rules=3,
        known=(leftover(48_842, 3),),
    ),
    Subject(
        "greedy trees, sm-laplace, 5,050 records",
        GREEDY_TREES,
        {"mechanism": "sm-laplace", "epsilon": 0.05, "delta": 1 / 5050**2, "max_depth": 2, "min_support": 252},
        known=(leftover(5050),),
    ),
    Subject(
        "greedy trees, sm-cauchy, 48,842 records",
        GREEDY_TREES,
        {"mechanism": "sm-cauchy", "epsilon": 1.0, "max_depth": 2, "min_support": 2442},
        n_rules=3,
        known=(leftover(48_842, 3),),
    ),
)


def is_broken(ratio: float) -> bool:
    """Whether more is needed than promised, by more than rounding."""
    return ratio > 1.0 + 1e-6 or math.isnan(ratio)

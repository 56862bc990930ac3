"""Level 2: whole learners. Which are audited, and the worst pair of tables that can be found for each."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
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


GREEDY, WHOLE, TREES = DPGreedyRuleListClassifier, DPOptimalRuleListClassifier, DPOptimalTreeClassifier
GREEDY_TREES, CARDS = DPGreedyTreeClassifier, DPScoreCardClassifier
WEIGHTS, SKEWED = {0: 2.0, 1: 8.0}, {0: 10.0, 1: 3.0, 2: 1.0}  # of two classes, and of three


def _tried(classifier: type, name: str, n_rules: int = 2, n_classes: int = 2, **parameters: Any) -> Subject:
    """With these parameters, at epsilon 1 unless said otherwise."""
    return Subject(name, classifier, {"epsilon": 1.0} | parameters, n_rules, n_classes)


WHOLE_LISTS = (
    _tried(WHOLE, "whole lists", max_length=3),
    _tried(WHOLE, "whole lists, no counts", max_length=3, counts_share=0.0),
    _tried(WHOLE, "whole lists, one rule at a time", max_length=3, joint=1, counts_share=0.5),
    _tried(WHOLE, "whole lists, pairs of literals", max_length=2, max_card=2, negations=True, counts_share=0.5),
    _tried(
        WHOLE, "whole lists, weights and a prior", max_length=3, class_weight=WEIGHTS, prior=[1, 2, 4], counts_share=0.0
    ),
    _tried(WHOLE, "whole lists, three classes", n_classes=3, epsilon=0.5, max_length=2),
    _tried(WHOLE, "whole lists, three rules", n_rules=3, prior=[1, 0, 0, 1], counts_share=0.0),
    _tried(ListsByEnvelope, "whole lists by envelope", max_length=3),
    _tried(ListsByEnvelope, "whole lists by envelope, one rule at a time", max_length=3, joint=1, counts_share=0.5),
    _tried(ListsOnTuples, "whole lists from tuples, one rule at a time", max_length=3, joint=1, counts_share=0.5),
)
WHOLE_TREES = (
    _tried(TREES, "whole trees", max_depth=1),
    _tried(TREES, "whole trees, a test asked again", n_rules=1, max_depth=2),
    _tried(TREES, "whole trees, no counts", n_rules=3, max_depth=1, counts_share=0.0),
    _tried(TREES, "whole trees, two stages", n_rules=1, stages=(1, 1), counts_share=0.2),
    _tried(
        TREES,
        "whole trees, weights and a prior",
        max_depth=1,
        class_weight=WEIGHTS,
        prior={"r0": 3.0},
        split=0.3,
        counts_share=0.0,
    ),
    _tried(TREES, "whole trees, three classes", n_classes=3, epsilon=0.5, max_depth=1),
    _tried(TREES, "whole trees by mass", max_depth=2, criterion=MASS, counts_share=0.3),
    _tried(TREES, "whole trees by mass, two stages", stages=(1, 1), criterion=MASS, counts_share=0.2),
    _tried(
        TREES,
        "whole trees by mass, three classes with weights",
        n_classes=3,
        max_depth=1,
        criterion=MASS,
        counts_share=0.1,
        class_weight=SKEWED,
    ),
    _tried(TREES, "whole trees, class counts only", n_rules=1, max_depth=0, criterion=MASS, counts_share=0.9),
    _tried(TreesOnTuples, "whole trees from tuples", max_depth=1, counts_share=0.2),
    _tried(
        TreesOnTuples, "whole trees from tuples by mass, two stages", stages=(1, 1), criterion=MASS, counts_share=0.2
    ),
    _tried(
        TreesOnTuples,
        "whole trees from tuples, three classes with weights",
        n_classes=3,
        max_depth=1,
        counts_share=0.1,
        class_weight=SKEWED,
    ),
)
SCORE_CARDS = (
    _tried(CARDS, "score cards", counts_share=0.2),
    _tried(CARDS, "score cards, no counts by total", n_rules=3, counts_share=0.0),
    _tried(CARDS, "score cards, one column of two", max_columns=1, counts_share=0.2),
    _tried(CARDS, "score cards, two columns of three", n_rules=3, max_columns=2),
    _tried(CARDS, "score cards, one column after the other", n_rules=3, one_by_one=True, counts_share=0.2),
    _tried(CARDS, "score cards, one after the other, two of three", n_rules=3, one_by_one=True, max_columns=2),
    _tried(CARDS, "score cards after a tree", tree_depth=1, counts_share=0.2),
    _tried(CARDS, "score cards after a tree, one after the other", one_by_one=True, tree_depth=1),
    _tried(CARDS, "score cards after a tree, one column", tree_depth=1, max_columns=1),
    _tried(CardsOnTuples, "score cards from tuples", max_columns=1, tree_depth=1),
    _tried(CardsOnTuples, "score cards from tuples, one after the other", one_by_one=True, tree_depth=1),
)


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
        *(Subject(fit.name, GREEDY, fit.parameters, fit.n_rules, fit.n_classes, fit.hard, fit.most) for fit in fits),
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
SM_LAPLACE = {"mechanism": "sm-laplace", "epsilon": 0.05, "delta": 1 / 5050**2, "min_support": 252}
SM_CAUCHY = {"mechanism": "sm-cauchy", "epsilon": 1.0, "min_support": 2442}
REFUTED = tuple(
    Subject(f"{prefix}{name}, {n:,} records", classifier, parameters | size, n_rules, known=(leftover(n, n_rules),))
    for prefix, classifier, size in (
        ("", GREEDY, {"max_length": 3}),
        ("greedy trees, ", GREEDY_TREES, {"max_depth": 2}),
    )
    for name, parameters, n, n_rules in (("sm-laplace", SM_LAPLACE, 5050, 2), ("sm-cauchy", SM_CAUCHY, 48_842, 3))
)


def is_broken(ratio: float) -> bool:
    """Whether more is needed than promised, by more than rounding."""
    return ratio > 1.0 + 1e-6 or math.isnan(ratio)

"""Which learners are audited."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..estimators.cards import DPScoreCardClassifier
from ..estimators.greedy import DPGreedyRuleListClassifier
from ..estimators.optimal import DPOptimalRuleListClassifier
from ..estimators.trees import DPGreedyTreeClassifier, DPOptimalTreeClassifier
from ..private.mechanisms.base import GreedyMechanism
from ..private.mechanisms.inverse import Inverse
from ..private.mechanisms.mass import Mass
from ..private.mechanisms.noisy_counts import NoisyCounts
from ..private.mechanisms.registry import MECHANISMS
from ..private.mechanisms.smooth_gini import SmCauchy, SmLaplace
from ..private.sampling.trees.log_weights import GINI
from .explorer import CardsOnMarginals, ListsByEnvelope, ListsOnMarginals, TreesOnMarginals
from .learners import Pair, Subject

GREEDY, LISTS, TREES = DPGreedyRuleListClassifier, DPOptimalRuleListClassifier, DPOptimalTreeClassifier
GREEDY_TREES, CARDS = DPGreedyTreeClassifier, DPScoreCardClassifier
WEIGHTS, SKEWED = {0: 2.0, 1: 8.0}, {0: 10.0, 1: 3.0, 2: 1.0}  # of two classes, and of three


def _named(classifier: type, name: str, **common: Any) -> Callable[..., Subject]:
    """What makes subjects of this classifier: with more of a name and other parameters, at epsilon 1 unless said otherwise."""

    def subject(more: str = "", **given: Any) -> Subject:
        shape = {key: given.pop(key) for key in ("n_rules", "n_classes", "hard", "most") if key in given}
        return Subject(f"{name}{more}", classifier, {"epsilon": 1.0} | common | given, **shape)

    return subject


_lists, _enveloped = (
    _named(LISTS, "optimal rule lists"),
    _named(ListsByEnvelope, "optimal rule lists by envelope", max_length=3),
)
_trees, _by_gini = _named(TREES, "optimal trees"), _named(TREES, "optimal trees by Gini", criterion=GINI)
_wide_lists = _named(ListsOnMarginals, "optimal rule lists from marginals")
_wide_trees = _named(TreesOnMarginals, "optimal trees from marginals")
_cards, _wide_cards = _named(CARDS, "score cards"), _named(CardsOnMarginals, "score cards from marginals")

WHOLE_MODELS = (
    _lists(max_length=3),
    _lists(", no counts", max_length=3, counts_share=0.0),
    _lists(", one rule at a time", max_length=3, rules_per_draw=1, counts_share=0.5),
    _lists(", pairs of literals", max_length=2, max_literals=2, negations=True, counts_share=0.5),
    _lists(", weights and a prior", max_length=3, class_weight=WEIGHTS, prior=[1, 2, 4], counts_share=0.0),
    _lists(", three classes", n_classes=3, epsilon=0.5, max_length=2),
    _lists(", three rules", n_rules=3, prior=[1, 0, 0, 1], counts_share=0.0),
    _enveloped(),
    _enveloped(", one rule at a time", rules_per_draw=1, counts_share=0.5),
    _wide_lists(", one rule at a time", max_length=3, rules_per_draw=1, counts_share=0.5),
    _trees(max_depth=1),
    _trees(", a test asked again", n_rules=1, max_depth=2),
    _trees(", no counts", n_rules=3, max_depth=1, counts_share=0.0),
    _trees(", two stages", n_rules=1, stages=(1, 1), counts_share=0.2),
    _trees(", weights and a prior", max_depth=1, class_weight=WEIGHTS, prior={"r0": 3.0}, split=0.3, counts_share=0.0),
    _trees(", three classes", n_classes=3, epsilon=0.5, max_depth=1),
    _by_gini(max_depth=2, counts_share=0.3),
    _by_gini(", two stages", stages=(1, 1), counts_share=0.2),
    _by_gini(", three classes with weights", n_classes=3, max_depth=1, counts_share=0.1, class_weight=SKEWED),
    _trees(", class counts only", n_rules=1, max_depth=0, criterion=GINI, counts_share=0.9),
    _wide_trees(max_depth=1, counts_share=0.2),
    _wide_trees(" by Gini, two stages", stages=(1, 1), criterion=GINI, counts_share=0.2),
    _wide_trees(", three classes with weights", n_classes=3, max_depth=1, counts_share=0.1, class_weight=SKEWED),
    _cards(counts_share=0.2),
    _cards(", no counts by total", n_rules=3, counts_share=0.0),
    _cards(", one column of two", max_columns=1, counts_share=0.2),
    _cards(", two columns of three", n_rules=3, max_columns=2),
    _cards(", one column after the other", n_rules=3, sequential=True, counts_share=0.2),
    _cards(", one after the other, two of three", n_rules=3, sequential=True, max_columns=2),
    _cards(" after a tree", tree_depth=1, counts_share=0.2),
    _cards(" after a tree, one after the other", sequential=True, tree_depth=1),
    _cards(" after a tree, one column", tree_depth=1, max_columns=1),
    _wide_cards(max_columns=1, tree_depth=1),
    _wide_cards(", one after the other", sequential=True, tree_depth=1),
)


def needed_parameters(mechanism: GreedyMechanism) -> dict[str, Any]:
    """The classifier's parameters without which nothing would be proved."""
    needed = dict[str, Any](mechanism=mechanism.name) | ({"delta": 1e-6} if mechanism.needs_delta else {})
    return needed | ({"min_support": 20} if mechanism.needs_support else {})


def fits_of(mechanism: GreedyMechanism) -> list[Subject]:
    """Rule lists by a mechanism."""

    fit = _named(GREEDY, mechanism.name, **needed_parameters(mechanism) | {"epsilon": 2.0, "max_length": 3})
    match mechanism:
        case Mass():
            return [
                fit(epsilon=1.0),
                fit(", three rules", epsilon=3.0, max_length=4, n_rules=3),
                fit(", pairs of literals", epsilon=1.0, max_length=2, max_literals=2, negations=True),
                fit(", class counts only", epsilon=1.0, max_length=1, n_rules=1),
                fit(", three classes", epsilon=0.5, max_length=2, n_classes=3),
            ]
        case Inverse():
            return [fit(), fit(", three classes", epsilon=1.0, max_length=2, n_classes=3)]
        case SmLaplace():  # a support that is often missed, and one of the size that COMPAS has
            return [fit(", small support", epsilon=4.0), fit(epsilon=0.3, min_support=250, hard=(5, 250, 5048))]
        case SmCauchy():
            return [fit(epsilon=0.3, min_support=250, hard=(5, 250, 5048))]
        case NoisyCounts():  # the distribution is known for one candidate and few records
            return [fit(epsilon=6.0, max_length=2, n_rules=1, hard=(3, 8), most=8)]
        case _:
            return [fit()]


def as_tree(fit: Subject) -> Subject:
    """A greedy tree with as many levels as the list has rules; two, if it has more, for there are many trees of depth three."""
    parameters = dict(fit.parameters)
    parameters["max_depth"] = min(2, parameters.pop("max_length") - 1)
    return replace(fit, name=f"greedy trees, {fit.name}", classifier=GREEDY_TREES, parameters=parameters)


def subjects() -> tuple[Subject, ...]:
    """All learners that are audited: fits by each mechanism, as lists and as trees, and draws of whole models."""
    fits = [fit for mechanism in MECHANISMS.values() for fit in fits_of(mechanism)]
    trees = [as_tree(fit) for fit in fits if "max_literals" not in fit.parameters]  # a test is a single literal
    return (*fits, *trees, *WHOLE_MODELS)


def leftover(n: int, n_rules: int = 2) -> Pair:
    """The first rule captures all of n records but two, one of each class, which the second tells apart; or all but one.

    A third rule captures nothing.
    """
    less = np.zeros((2**n_rules, 2), np.int64)
    less[2 ** (n_rules - 1)] = [(n - 2) // 2, n - 2 - (n - 2) // 2]
    less[0, 1] = 1
    return Pair(less, (2 ** (n_rules - 2), 0))


# Configurations in which what is published does not hold (docs/theory/published.md); less is proved for them, or nothing
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

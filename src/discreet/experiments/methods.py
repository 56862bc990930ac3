"""The learners that are compared, by name. Add a function to ``METHODS``, and it is in every figure.

A method gets a ``Task`` and returns a fitted classifier, whose ``model_`` is one partition of the records. Seeds make every fit
repeatable, so nothing is private.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import (
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    GreedyRuleListClassifier,
)
from .splits import Split


@dataclass(frozen=True)
class Task:
    """One fit: a split of a dataset, the budget, the paper's K, lambda, and the largest number of literals in a rule."""

    split: Split
    epsilon: float
    max_length: int
    min_support: float
    max_card: int
    seed: int


Method = Callable[[Task], Any]


def _published(mechanism: str) -> Method:
    """As published: delta is 1/n^2, the support a share of n, and smooth methods choose among rules mined from the records."""

    def make(task: Task) -> Any:
        smooth = mechanism.startswith("sm-")
        candidates = task.split.candidates(task.max_card)
        return DPGreedyRuleListClassifier(
            mechanism,
            task.epsilon,
            max_length=task.max_length,
            min_support=task.min_support,
            candidates=task.split.mined(task.max_card, task.min_support) if smooth else candidates,
            random_state=task.seed,
        ).fit_vault(task.split.vault)

    return make


def _mass(task: Task) -> Any:
    return DPGreedyRuleListClassifier(
        "mass",
        task.epsilon,
        max_length=task.max_length,
        candidates=task.split.candidates(task.max_card),
        random_state=task.seed,
    ).fit_vault(task.split.vault)


def _whole_lists(task: Task) -> Any:
    """One rule less than the others may have: four pairs of literals at once would take minutes a fit on Adult."""
    return DPOptimalRuleListClassifier(
        task.epsilon,
        max_length=min(task.max_length, 4),
        candidates=task.split.candidates(task.max_card),
        counts_share=0.0,
        random_state=task.seed,
    ).fit_vault(task.split.vault)


def _whole_trees(task: Task) -> Any:
    """Of depth 4, whatever the length of lists: a way through such a tree has four tests, as a list of four rules has."""
    return DPOptimalTreeClassifier(task.epsilon, max_depth=4, counts_share=0.0, random_state=task.seed).fit_vault(
        task.split.vault
    )


def _greedy(task: Task) -> Any:
    """The authors' GreedyRL has K rules and a default, one rule more than their private methods."""
    split = task.split
    return GreedyRuleListClassifier(
        max_length=task.max_length + 1, candidates=split.candidates(task.max_card), schema=split.schema
    ).fit(split.X_train, split.y_train)


METHODS: dict[str, Method] = {
    "sm-laplace": _published("sm-laplace"),
    "sm-cauchy": _published("sm-cauchy"),
    "gl-laplace": _published("gl-laplace"),
    "gl-gaussian": _published("gl-gaussian"),
    "gl-exponential": _published("gl-exponential"),
    "noisy-counts": _published("noisy-counts"),
    "mass": _mass,
    "whole lists": _whole_lists,
    "whole trees": _whole_trees,
    "GreedyRL": _greedy,
}
WITHOUT_PRIVACY = ("GreedyRL",)

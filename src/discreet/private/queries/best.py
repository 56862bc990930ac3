"""The best rule list and the best tree, exactly: for learners without privacy. Nothing is charged, and nothing has noise.

Such queries are never opened (private/release.py).
"""

from typing import Any, NamedTuple, Self

import numpy as np

from ...rules.candidates import Candidates, NumberedLeaf, NumberedTree, Path, with_leaves
from ...rules.limits import Limits
from ...rules.prior import Prior
from ..counts.counts import Counts, Patterns
from ..mechanisms.impurity import side_mass
from ..sampling.deadline import Deadline
from ..sampling.envelope import PatternLists
from ..sampling.optimum import BestLimitedList, best_list, best_tree
from .trees import TreeQueries


class Optimum(NamedTuple):
    """How many records the best list classifies correctly, and what no list exceeds."""

    correct: float
    bound: float

    @property
    def gap(self) -> float:
        """0: the best possible minus what was found."""
        return self.bound - self.correct


def find_best_list(
    counts: Patterns, candidates: Candidates, most_rules: int, limits: Limits | None, time_limit: float | None
) -> tuple[list[int], list[int], list[tuple[float, ...]], Optimum]:
    """Rules, labels and class counts of the list that classifies most records correctly, and a certificate."""
    prior = Prior((1.0,) * (most_rules + 1), np.ones(len(candidates)))
    class_weights = np.ones(len(counts.classes))
    lists: PatternLists | BestLimitedList
    if limits is None:
        deadline = Deadline(time_limit, booked=False)
        lists = PatternLists(counts, candidates, prior, class_weights, 1.0, deadline)
        groups, bound = best_list(lists.problem, deadline)
        bound += float(lists.counts.min(0).sum())  # what make_problem took off every list's score
        rules: list[int] = []
        for group in groups:  # of rules that say the same of these records, the first that is not in the list yet
            rules.append(next(int(rule) for rule in lists.problem.members[group] if rule not in rules))
        labels = [int(part.argmax()) for part in lists.parts_of(rules)]
    else:
        joint = counts.joint(candidates.columns, max(1, most_rules))
        deadline = Deadline(time_limit, booked=False)
        lists = BestLimitedList(joint, candidates, prior, class_weights, 1.0, deadline, limits=limits)
        rules, labels, bound = lists.found()
    parts = lists.parts_of(rules)
    correct = float(sum(part[label] for part, label in zip(parts, labels, strict=True)))
    return rules, labels, [tuple(part.tolist()) for part in parts], Optimum(correct, max(correct, bound))


class BestScore(NamedTuple):
    """The score of the best tree, counted on the records, and what no tree exceeds."""

    score: float
    bound: float

    @property
    def gap(self) -> float:
        """0, but for rounding: the best possible minus what was found."""
        return self.bound - self.score


class BestTreeQueries(TreeQueries):
    """The same from exact counts of patterns."""

    def __init__(self, counts: Counts, tests: Candidates, *drawn: Any) -> None:
        super().__init__(counts, tests, None, *drawn)

    def prepare(self) -> Self:
        """Count the records."""
        (self._problem,) = self._leaves(NumberedLeaf())
        self._deadline = Deadline(self._time_limit, booked=False)
        return self

    def find_best(self, depth: int) -> tuple[NumberedTree, BestScore]:
        """The tree of the largest score with its class counts, and a certificate."""
        tree, bound = best_tree(self._problem, depth, self._seen)
        scores = []

        def counted(path: Path, drawn: NumberedLeaf) -> NumberedTree:
            own = self._problem.exact_counts(path)
            scores.append(float(-side_mass(own) if drawn.label is None else own[drawn.label]))
            return NumberedLeaf(int(own.argmax()) if drawn.label is None else drawn.label, tuple(own.tolist()))

        return with_leaves(tree, counted), BestScore(sum(scores), bound)

"""The best tree, without noise: for learners that promise nothing. Such queries are never opened (private/release.py)."""

from typing import Any, NamedTuple, Self

from ...rules.candidates import Candidates
from ...rules.numbered_tree import Leaf, NumberedTree, Path, with_leaves
from ..counts.counts import Counts
from ..mechanisms.impurity import side_mass
from ..sampling.deadline import Deadline
from ..sampling.optimum import best_tree
from .trees import TreeQueries


class BestScore(NamedTuple):
    """The score of the best tree, counted on the records, and what no tree exceeds."""

    score: float
    bound: float

    @property
    def gap(self) -> float:
        """0, but for rounding: the best possible minus what was found."""
        return self.bound - self.score


class BestTreeQueries(TreeQueries):
    """The same about exact counts of patterns."""

    def __init__(self, counts: Counts, tests: Candidates, *drawn: Any) -> None:
        super().__init__(counts, tests, None, *drawn)

    def prepare(self) -> Self:
        """Count the records."""
        (self._problem,) = self._leaves(Leaf())
        self._deadline = Deadline(self._time_limit, booked=False)
        return self

    def find_best(self, depth: int) -> tuple[NumberedTree, BestScore]:
        """The tree of the largest score with its class counts, and a certificate."""
        tree, bound = best_tree(self._problem, depth, self._seen)
        scores = []

        def counted(path: Path, drawn: Leaf) -> NumberedTree:
            own = self._class_counts(path)
            scores.append(float(-side_mass(own) if drawn.label is None else own[drawn.label]))
            return Leaf(int(own.argmax()) if drawn.label is None else drawn.label, tuple(own.tolist()))

        return with_leaves(tree, counted), BestScore(sum(scores), bound)

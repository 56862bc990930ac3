"""The parts of the records that are in the leaves of a tree: what is drawn from there, and the exact class counts to be released.

Nothing here draws or charges. **A record is in one leaf**: leaves are paths of tests from the root, and a test has two sides.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...rules.candidates import Candidates
from ...rules.limits import Limits
from ...rules.numbered_tree import NumberedLeaf, NumberedTree, Path, leaves_of
from ...rules.prior import TreePrior
from ..counts.counts import Counts, Patterns
from ..counts.division import column_numbers, divided_by
from ..counts.patterns import Array, rules_on_patterns
from ..sampling.trees.problems import DrawProblem, MarginalTrees, TreeProblem
from .base import Queries, rounded_down


class TreeParts(Queries):
    """The leaves of trees, from patterns or from joint counts of columns."""

    _counts: Counts
    _tests: Candidates
    _prior: TreePrior
    _class_weights: Array
    _score: str
    _stages: Sequence[int]
    _limits: Limits | None

    def __init__(self) -> None:
        self._columns = self._tests.columns
        self._numbers = column_numbers(self._columns, self._tests)
        self._whole: TreeProblem | None = None  # what is drawn from, of all records, where there are patterns
        self._exact: dict[Path, Array] = {}

    def _leaves(self, tree: NumberedTree) -> list[DrawProblem]:
        """What is drawn from in each leaf."""
        rate = 1.0 if self.is_exact else rounded_down(self._noise.draw_epsilon)
        if isinstance(self._counts, Patterns):
            if self._whole is None:
                truth, self._by_class = rules_on_patterns(self._counts.patterns, self._tests)
                weighed = self._by_class * self._class_weights[:, None]
                self._whole = TreeProblem(truth, weighed, self._prior, rate, self._score, self._limits)
            return [self._whole.below(path) for path, _ in leaves_of(tree)]
        division = None if isinstance(tree, NumberedLeaf) else divided_by(tree, self._tests, self._numbers)
        counted = self._counts.joint(self._columns, size_for(self._stages), division)
        problem = MarginalTrees(counted, self._tests, self._class_weights, self._prior, rate, self._score)
        limits = [self._limits and self._limits.after(test for test, _ in path) for path, _ in leaves_of(tree)]
        return [
            replace(problem, part=part, limits=own) for part, own in zip(range(counted.n_parts), limits, strict=True)
        ]

    def _keep(self, path: Path, leaf: DrawProblem, tree: NumberedTree) -> None:
        """The class counts of the leaves of what was drawn in one leaf."""
        for inner, _ in leaves_of(tree):
            of_all = (*path, *inner)
            found = leaf.exact_counts(inner) if isinstance(leaf, MarginalTrees) else self._class_counts(of_all)
            self._exact[of_all] = found

    def _class_counts(self, path: Path) -> Array:
        """Records per class of one part, from patterns, without weights."""
        assert self._whole is not None
        counts: Array = self._by_class @ self._whole.patterns_in(path)
        return counts


def size_for(stages: Sequence[int]) -> int:
    """How many columns trees of these depths need together."""
    return max(2, *stages)

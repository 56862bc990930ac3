"""Optimal trees. A draw of a stage is charged once for all leaves that it grows from, class counts once for all leaves.

Both queries take a whole tree, whose leaves share no record, since they are paths of tests from the root and a test has two
sides: so one charge is enough for all leaves, and leaves that overlap cannot be asked about. Trees are drawn from patterns, at
any depth, or from joint counts of two or three columns, up to depth 3 a stage; the schema decides which, and both have the same
distribution (docs/theory/lists-and-trees.md, Theorem 20). All trees of the first stage are summed before anything is booked:
that takes nearly all of the time, and none of it is released."""

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates, NumberedLeaf, NumberedTree, Path, leaves_of, with_leaves
from ...rules.limits import Limits
from ...rules.prior import TreePrior
from ..counts.counts import Counts, Patterns
from ..counts.division import divided_by
from ..counts.patterns import Array, rules_on_patterns
from ..mechanisms.draws import DrawBudget
from ..noise.entropy import Entropy
from ..sampling.deadline import Deadline
from ..sampling.trees.drawing import WeighedTrees
from ..sampling.trees.problems import DrawProblem, MarginalTrees, TreeProblem
from .base import Queries, as_row, rounded_down


class TreeQueries(Queries):
    """The queries for an optimal tree.

    ``class_weights`` are of at most 1, so that a record changes a score by at most 1. ``stages`` has the depth of each draw.
    """

    def __init__(
        self,
        counts: Counts,
        tests: Candidates,
        noise: DrawBudget | None,
        prior: TreePrior,
        class_weights: Array,
        score: str,
        stages: Sequence[int],
        limits: Limits | None = None,
        time_limit: float | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._counts, self._tests, self._noise, self._prior = counts, tests, noise, prior
        self._class_weights, self._score, self._stages, self._limits = class_weights, score, stages, limits
        self._time_limit, self._progress = time_limit, progress
        self._first: WeighedTrees | None = None
        self._exact: dict[Path, Array] = {}

    def prepare(self) -> Self:
        """Count the records, and weigh all trees of the first stage."""
        # counted before the clock runs: a limit that strikes then would say something about the records
        (leaf,) = self._leaves(NumberedLeaf())
        self._deadline = Deadline(self._time_limit, booked=False)
        self._first = self._weighed(leaf, self._stages[0])
        return self

    def open(self, reservation: Reservation, entropy: Entropy) -> Self:
        """From now on, answers are charged to this reservation."""
        self._deadline.booked = True
        return super().open(reservation, entropy)

    def grow(self, tree: NumberedTree, depth: int) -> NumberedTree:
        """The tree with a drawn one, of at most this depth, in place of each of its leaves.

        Each is drawn in proportion to ``prior * exp(epsilon * score)`` for the records of its leaf (docs/theory, Theorem 20).
        No record is in two leaves, so all of them cost epsilon once (Corollary 21).
        """
        self._charge(self._noise.draw_epsilon, "draw of a tree")
        if not isinstance(tree, NumberedLeaf):
            self._first = None  # it is about all records
        grown = []
        for (path, _), leaf in zip(leaves_of(tree), self._leaves(tree), strict=True):
            weighed, self._first = self._first or self._weighed(leaf, depth), None
            grown.append(weighed.draw(self._entropy))
            self._keep(path, leaf, grown[-1])
        drawn = iter(grown)
        return with_leaves(tree, lambda path, _: next(drawn))

    def count(self, tree: NumberedTree) -> NumberedTree:
        """The tree with noisy class counts of its leaves: one charge for all of them, since no record is in two."""
        self._charge(self._noise.counts_epsilon, "class counts")
        exact = np.stack([self._exact[path] for path, _ in leaves_of(tree)]).astype(np.int64)
        rows = iter(self._noisy(exact, self._noise.counts_epsilon))
        return with_leaves(tree, lambda _, leaf: NumberedLeaf(leaf.label, as_row(next(rows))))

    def _weighed(self, leaf: DrawProblem, depth: int) -> WeighedTrees:
        return WeighedTrees(leaf, depth, self._seen)

    def _seen(self) -> None:
        self._deadline.check()
        self._progress(1)

    def _leaves(self, tree: NumberedTree) -> list[DrawProblem]:
        """What is drawn from in each leaf."""
        rate = 1.0 if self.is_exact else rounded_down(self._noise.draw_epsilon)
        if isinstance(self._counts, Patterns):
            truth, counts = rules_on_patterns(self._counts.patterns, self._tests)
            weighed = counts * self._class_weights[:, None]
            whole = TreeProblem(truth, weighed, self._prior, rate, self._score, self._limits, counts)
            return [whole.below(path) if path else whole for path, _ in leaves_of(tree)]
        columns = self._tests.columns
        division = None if isinstance(tree, NumberedLeaf) else divided_by(tree, self._tests, columns)
        counted = self._counts.joint(columns, size_for(self._stages), division)
        root = MarginalTrees(counted, self._tests, self._class_weights, self._prior, rate, self._score, 0, self._limits)
        return [root.in_part(part, path) for part, (path, _) in enumerate(leaves_of(tree))]

    def _keep(self, path: Path, leaf: DrawProblem, tree: NumberedTree) -> None:
        """The class counts of the leaves of what was drawn in one leaf."""
        for inner, _ in leaves_of(tree):
            self._exact[(*path, *inner)] = leaf.exact_counts(inner)


def size_for(stages: Sequence[int]) -> int:
    """How many columns trees of these depths need together."""
    return max(2, *stages)

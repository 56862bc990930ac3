"""The door through which whole trees are drawn. It charges first, then answers with a tree, or with noisy counts of its leaves.

Both questions are about a whole tree, whose leaves share no record: so one charge is enough for all of them, and there is no way
to ask about leaves that overlap.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates
from ...rules.limits import Limits
from ...rules.numbered_tree import Leaf, NumberedTree, Path, leaves_of, with_leaves
from ...rules.tree_prior import TreePrior
from ..counts.cells import Array
from ..counts.secret import Secret
from ..mechanisms.whole_lists import DrawBudget
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy
from ..sampling.deadline import Deadline
from ..sampling.problem import rules_on_cells
from ..sampling.trees.drawing import draw_tree
from ..sampling.trees.on_cells import TreeProblem
from .list_doors import rounded_down
from .vault import Vault


class TreeDoors(Secret):
    """Whole trees, one charge a stage; class counts of all leaves, one charge for all of them."""

    def __init__(
        self,
        vault: Vault,
        tests: Candidates,
        budget: DrawBudget,
        prior: TreePrior,
        class_weights: Array,
        score: str,
        reservation: Reservation,
        entropy: Entropy,
        time_limit: float | None = None,
        progress: Callable[[int], None] = lambda done: None,
        limits: Limits | None = None,
    ) -> None:
        self._budget, self._reservation, self._entropy = budget, reservation, entropy
        self._deadline, self._progress = Deadline(time_limit), progress
        truth, self._counts = rules_on_cells(vault._cells, tests)
        # class weights are of at most 1, so that a score changes by at most 1
        weighed = self._counts * class_weights[:, None]
        self._problem = TreeProblem(truth, weighed, prior, rounded_down(budget.draw_epsilon), score, limits)

    def grow(self, tree: NumberedTree, depth: int) -> NumberedTree:
        """The tree with a drawn one, of at most this depth, in place of each of its leaves.

        Each is drawn in proportion to ``prior * exp(epsilon * score)`` for the records of its leaf (docs/theory.md, Theorem 20).
        No record is in two leaves, so all of them cost epsilon once (Corollary 21).
        """
        self._reservation.draw(self._budget.draw_epsilon, Fraction(0), "draw of a tree")
        return with_leaves(tree, lambda path, _: self._draw(self._problem.below(path), depth))

    def count(self, tree: NumberedTree) -> NumberedTree:
        """The tree with noisy class counts of its leaves: one charge for all of them, since no record is in two."""
        self._reservation.draw(self._budget.counts_epsilon, Fraction(0), "class counts")
        exact = np.stack([self._counts @ self._inside(path) for path, _ in leaves_of(tree)]).astype(np.int64)
        noisy = release(exact.ravel(), self._budget.counts_epsilon, self._entropy)
        rows = iter(
            [tuple(float(c) for c in noisy[i : i + len(self._counts)]) for i in range(0, len(noisy), len(self._counts))]
        )
        return with_leaves(tree, lambda _, leaf: Leaf(leaf.label, next(rows)))

    def _draw(self, problem: TreeProblem, depth: int) -> NumberedTree:
        """A tree by its weight."""
        return draw_tree(problem, depth, self._entropy, self._deadline, self._progress)

    def _inside(self, path: Path) -> npt.NDArray[np.bool_]:
        """The cells that a way through the tree leads to."""
        return self._problem.cells_in(path)

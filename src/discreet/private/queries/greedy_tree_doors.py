"""The doors for one greedy tree. Each charges first, once for a whole level, then answers for each of its nodes with noise.

A record is at one node of a level, or at none: ``counts/levels.py`` sees to that, whatever nodes are asked about. So of two
neighbouring tables all nodes but one have the same records, and what all of them cost is what one costs (docs/theory.md,
Theorem 21a). How many levels there are is limited by the reservation.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates
from ...rules.numbered_tree import Leaf, NumberedTree, Path, leaves_of, with_leaves
from ..counts.counting import NodeCounts
from ..counts.levels import LevelCounts
from ..mechanisms.base import GreedyBudget, GreedyMechanism
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy
from .greedy_doors import Choices
from .vault import Vault


class GreedyTreeDoors(Choices):
    """What a learner of greedy trees may ask, answered by one mechanism. A node is given by the way to it."""

    def __init__(
        self,
        vault: Vault,
        tests: Candidates,
        mechanism: GreedyMechanism,
        budget: GreedyBudget,
        reservation: Reservation,
        entropy: Entropy,
    ) -> None:
        self._counter, self._n_candidates = LevelCounts(vault._cells, tests), len(tests)
        self._count_all = self._counter.total
        self._mechanism, self._budget, self._reservation, self._entropy = mechanism, budget, reservation, entropy
        self._counted: dict[Path, NodeCounts] = {}

    def exceed(self, nodes: Sequence[Path]) -> list[bool]:
        """Which nodes have, with noise, the minimum support and its margin. Without a minimum support nothing is charged."""
        if not self._mechanism.needs_support:
            return [True] * len(nodes)
        self._reservation.draw(self._budget.check_epsilon, Fraction(0), "support checks of a level")
        sizes = np.array([node.left.sum() for node in self._count(nodes)], np.int64)
        threshold = self._budget.threshold(self._support)
        return [bool(noisy >= threshold) for noisy in release(sizes, self._budget.check_epsilon, self._entropy)]

    def select(self, nodes: Sequence[Path]) -> list[int | None]:
        """For each node a test that its path does not decide, or None for no split."""
        self._reservation.draw(self._budget.choice_epsilon, self._budget.choice_delta, "choices of a level")
        return [self._select(path, node) for path, node in zip(nodes, self._count(nodes), strict=True)]

    def count(self, tree: NumberedTree) -> NumberedTree:
        """The tree with noisy class counts of its leaves."""
        self._reservation.draw(self._budget.counts_epsilon, Fraction(0), "class counts")
        exact = np.stack([node.left for node in self._count([path for path, _ in leaves_of(tree)])]).astype(np.int64)
        noisy = release(exact.ravel(), self._budget.counts_epsilon, self._entropy).reshape(exact.shape)
        rows = iter([tuple(float(c) for c in row) for row in noisy])
        return with_leaves(tree, lambda _, leaf: Leaf(leaf.label, next(rows)))

    def _select(self, path: Path, node: NodeCounts) -> int | None:
        tests = self._counter.undecided(path)
        chosen = self._choose(NodeCounts(node.left, node.captured[:, tests]))
        return None if chosen == len(tests) else int(tests[chosen])

    def _count(self, nodes: Sequence[Path]) -> list[NodeCounts]:
        """Exact counts of nodes of one division of the records. Those of the last one are kept: a level is asked about twice."""
        different = set(nodes)
        if len(different) == len(nodes) and self._counted.keys() >= different:
            return [self._counted[path] for path in nodes]
        counted = self._counter.counts(nodes)  # of a node that is asked about twice, nothing is left the second time
        self._counted = dict(zip(nodes, counted, strict=True))
        return counted

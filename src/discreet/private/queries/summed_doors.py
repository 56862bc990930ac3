"""The doors to short lists and shallow trees that are added up completely, from joint counts of columns.

They are prepared before anything is booked: the records are counted and all lists or trees of the first draw are added up, which
takes nearly all of the time, and none of it leaves the vault. Then they are opened with a reservation, and each charges it before
it answers. What is drawn, and what that costs, is the same as through list_doors.py and tree_doors.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates
from ...rules.limits import Limits
from ...rules.numbered_tree import Leaf, NumberedTree, Path, leaves_of, with_leaves
from ...rules.prior import Prior
from ...rules.tree_prior import TreePrior
from ..counts.cells import Array
from ..counts.division import column_numbers, divided_by, left_by
from ..counts.secret import Secret
from ..mechanisms.whole_lists import DrawBudget
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy
from ..sampling.deadline import Deadline
from ..sampling.limited_lists import LimitedListSums
from ..sampling.list_sums import ListSums
from ..sampling.trees.drawing import WeighedTrees
from ..sampling.trees.on_tuples import TupleTrees
from .histograms import Histograms
from .list_doors import rounded_down
from .tuple_vault import joint_counts
from .vault import Vault


class SummedListDoors(Secret):
    """Whole lists of up to three rules a draw, one charge a draw; class counts of disjoint parts, one charge for all of them."""

    def __init__(
        self,
        vault: Vault,
        candidates: Candidates,
        budget: DrawBudget,
        prior: Prior,
        class_weights: Array,
        draws: Sequence[Sequence[float]],
        time_limit: float | None = None,
        progress: Callable[[int], None] = lambda done: None,
        limits: Limits | None = None,
    ) -> None:
        """``draws`` has for each draw the prior weights of how many rules it may add."""
        self._limits = limits  # of what is drawn next: they follow from what was
        self._vault, self._candidates, self._budget, self._prior = vault, candidates, budget, prior
        self._class_weights = class_weights  # of at most 1, so that a score changes by at most 1
        self._columns = candidates.columns
        self._numbers = column_numbers(self._columns, candidates)
        self._size = max(1, *(len(lengths) - 1 for lengths in draws))
        # counted before the clock runs: a limit that strikes says something about the records then, and costs nothing
        joint_counts(vault, self._columns, self._size)
        self._deadline, self._progress = Deadline(time_limit, booked=False), progress
        self._first: ListSums | None = self._sums((), draws[0])
        self._exact: dict[tuple[tuple[int, ...], int | None], Array] = {}

    def open(self, reservation: Reservation, entropy: Entropy) -> "SummedListDoors":
        """Whatever is asked from now on is charged to this reservation."""
        self._reservation, self._entropy, self._deadline.booked = reservation, entropy, True
        self._histograms = Histograms(self._budget.counts_epsilon, reservation, entropy)
        return self

    def sample_list(self, prefix: Sequence[int], lengths: Sequence[float]) -> tuple[list[int], list[int]]:
        """Rules and labels (the default's last) of a list for the records that a prefix leaves (see ``ListDoors``)."""
        self._reservation.draw(self._budget.draw_epsilon, Fraction(0), "draw of a list")
        sums, self._first = self._first or self._sums(prefix, lengths), None
        rules, labels = self._draw(sums)
        for i, (rule, counts) in enumerate(zip([*rules, None], sums.parts_of(rules), strict=True)):
            self._exact[(*prefix, *rules[:i]), rule] = counts
        self._limits = self._limits and self._limits.after_rules(rules, labels[:-1])
        return rules, labels

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left."""
        return self._histograms.release(prefix, rule, self._part)

    def _sums(self, prefix: Sequence[int], lengths: Sequence[float]) -> ListSums:
        """All lists for the records that a prefix leaves, added up."""
        division = left_by(prefix, self._candidates, self._numbers) if prefix else None
        rules = self._prior.rules.copy()
        rules[list(prefix)] = 0.0
        posed = (
            joint_counts(self._vault, self._columns, self._size, division),
            self._candidates,
            replace(self._prior, lengths=tuple(lengths), rules=rules),
            self._class_weights,
            rounded_down(self._budget.draw_epsilon),
            self._deadline,
            self._progress,
        )
        return ListSums(*posed) if self._limits is None else LimitedListSums(*posed, limits=self._limits)

    def _draw(self, sums: ListSums) -> tuple[list[int], list[int]]:
        """A list by its weight."""
        return sums.draw(self._entropy)

    def _part(self, prefix: Sequence[int], rule: int | None) -> Array:
        """Records per class of one part of the list that was drawn."""
        return self._exact[tuple(prefix), rule]


class SummedTreeDoors(Secret):
    """Whole trees of up to three levels a stage, one charge a stage; class counts of all leaves, one charge for all of them."""

    def __init__(
        self,
        vault: Vault,
        tests: Candidates,
        budget: DrawBudget,
        prior: TreePrior,
        class_weights: Array,
        score: str,
        stages: Sequence[int],
        time_limit: float | None = None,
        progress: Callable[[int], None] = lambda done: None,
        limits: Limits | None = None,
    ) -> None:
        self._vault, self._tests, self._budget, self._prior, self._score = vault, tests, budget, prior, score
        self._limits = limits
        self._class_weights = class_weights  # of at most 1, so that a score changes by at most 1
        self._deadline, self._progress = Deadline(time_limit, booked=False), progress
        self._columns = tests.columns
        self._numbers = column_numbers(self._columns, tests)
        self._size = size_for(stages)
        self._exact: dict[Path, Array] = {}
        (root,) = self._leaves(Leaf())
        self._first: WeighedTrees | None = self._weighed(root, stages[0])

    def open(self, reservation: Reservation, entropy: Entropy) -> "SummedTreeDoors":
        """Whatever is asked from now on is charged to this reservation."""
        self._reservation, self._entropy, self._deadline.booked = reservation, entropy, True
        return self

    def grow(self, tree: NumberedTree, depth: int) -> NumberedTree:
        """The tree with a drawn one, of at most this depth, in place of each of its leaves (see ``TreeDoors``)."""
        self._reservation.draw(self._budget.draw_epsilon, Fraction(0), "draw of a tree")
        if not isinstance(tree, Leaf):
            self._first = None  # it is about all records
        leaves = iter(self._leaves(tree))
        return with_leaves(tree, lambda path, _: self._grown(path, next(leaves), depth))

    def count(self, tree: NumberedTree) -> NumberedTree:
        """The tree with noisy class counts of its leaves: one charge for all of them, since no record is in two."""
        self._reservation.draw(self._budget.counts_epsilon, Fraction(0), "class counts")
        exact = np.stack([self._exact[path] for path, _ in leaves_of(tree)]).astype(np.int64)
        n = exact.shape[1]
        noisy = release(exact.ravel(), self._budget.counts_epsilon, self._entropy)
        rows = iter([tuple(float(c) for c in noisy[i : i + n]) for i in range(0, len(noisy), n)])
        return with_leaves(tree, lambda _, leaf: Leaf(leaf.label, next(rows)))

    def _leaves(self, tree: NumberedTree) -> list[TupleTrees]:
        """What is drawn from in each leaf."""
        division = None if isinstance(tree, Leaf) else divided_by(tree, self._tests, self._numbers)
        counted = joint_counts(self._vault, self._columns, self._size, division)
        rate = rounded_down(self._budget.draw_epsilon)
        posed = TupleTrees(counted, self._tests, self._class_weights, self._prior, rate, self._score)
        limits = [self._limits and self._limits.after(test for test, _ in path) for path, _ in leaves_of(tree)]
        return [replace(posed, part=part, limits=own) for part, own in zip(range(counted.n_parts), limits, strict=True)]

    def _weighed(self, leaf: TupleTrees, depth: int) -> WeighedTrees:
        return WeighedTrees(leaf, depth, self._deadline, self._progress)

    def _grown(self, path: Path, leaf: TupleTrees, depth: int) -> NumberedTree:
        weighed, self._first = self._first or self._weighed(leaf, depth), None
        tree = self._draw(weighed)
        for inner, _ in leaves_of(tree):
            self._exact[(*path, *inner)] = leaf.exact_counts(inner)
        return tree

    def _draw(self, weighed: WeighedTrees) -> NumberedTree:
        """A tree by its weight."""
        return weighed.draw(self._entropy)


def size_for(stages: Sequence[int]) -> int:
    """How many columns trees of these depths need together."""
    return max(2, *stages)

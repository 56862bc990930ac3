"""The doors for one greedy list. Each charges first, then answers with noise. (Those of greedy trees: greedy_tree_doors.py.)"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates
from ..counts.cells import Array
from ..counts.counting import NodeCounts
from ..counts.secret import Secret
from ..mechanisms.base import GreedyBudget, GreedyMechanism
from ..mechanisms.selector import Selector
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy
from .histograms import Histograms
from .vault import Vault


class Choices(Secret):
    """One mechanism's choice at a node of a list or of a tree. The doors that inherit it charge for it.

    A ``min_support`` below 1 means that share of the records, and a ``delta`` of None means 1/n^2, as published: both then
    follow the private number n of records, and the fit's statement says so.
    """

    _mechanism: GreedyMechanism
    _budget: GreedyBudget
    _entropy: Entropy
    _n_candidates: int
    _count_all: Callable[[], Array]  # the records, by class

    def _choose(self, node: NodeCounts) -> int:
        """The number of a candidate, or how many there are for no rule."""
        return self._selector.select(node, self._entropy)

    @cached_property
    def _selector(self) -> Selector:
        delta = float(self._budget.choice_delta)
        if self._mechanism.needs_delta and self._budget.settings.delta is None:
            delta *= 1.0 / max(self._records, 2.0) ** 2  # the budget was split for delta = 1
        return self._mechanism.selector(self._budget.choice_epsilon, delta, self._support, self._n_candidates)

    @cached_property
    def _support(self) -> int:
        if not self._mechanism.needs_support:
            return 1
        given = self._budget.settings.min_support
        return max(1, math.floor(given * self._records) if given < 1 else int(given))

    @cached_property
    def _records(self) -> float:
        return float(self._count_all().sum())


class GreedyDoors(Choices):
    """What a learner of greedy lists may ask, answered by one mechanism."""

    def __init__(
        self,
        vault: Vault,
        candidates: Candidates,
        mechanism: GreedyMechanism,
        budget: GreedyBudget,
        reservation: Reservation,
        entropy: Entropy,
    ) -> None:
        self._counter, self._n_candidates = vault._counter(candidates), len(candidates)
        self._count_all = partial(self._counter.left, ())  # not a lambda: it would hold these doors
        self._mechanism, self._budget, self._reservation, self._entropy = mechanism, budget, reservation, entropy
        self._histograms = Histograms(budget.counts_epsilon, reservation, entropy, together=mechanism.counts_together)

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """Whether the noisy number of records left reaches the minimum support and its margin. Without one nothing is charged."""
        if not self._mechanism.needs_support:
            return True
        epsilon = self._budget.check_epsilon
        self._reservation.draw(epsilon, Fraction(0), "support check")
        noisy = release(np.array([self._counter.left(prefix).sum()], np.int64), epsilon, self._entropy)
        return bool(noisy[0] >= self._budget.threshold(self._support))

    def select(self, prefix: Sequence[int]) -> int | None:
        """A candidate that is not in the prefix yet, or None for no rule."""
        self._reservation.draw(self._budget.choice_epsilon, self._budget.choice_delta, "choice of a rule")
        node, remaining = self._counter.counts(prefix), np.arange(self._n_candidates)
        if prefix:
            remaining = np.delete(remaining, list(prefix))
            node = NodeCounts(node.left, node.captured[:, remaining])
        chosen = self._choose(node)
        return None if chosen == len(remaining) else int(remaining[chosen])

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left."""
        return self._histograms.release(prefix, rule, self._counter.part)

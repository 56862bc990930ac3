"""The doors for one fit with the mechanism "mass". Each charges first, then answers with noise."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..cells.counting import NodeCounts
from ..cells.secret import Secret
from ..conditions.candidates import Candidates
from ..mechanisms.mass import MassSelector
from ..noise.entropy import Entropy
from ..privacy.budget import MassBudget
from ..privacy.ledger import Reservation
from .histograms import Histograms
from .vault import Vault


class MassDoors(Secret):
    """Choices by impurity mass, one charge each; class counts of disjoint parts, one charge for all of them."""

    def __init__(
        self,
        vault: Vault,
        candidates: Candidates,
        budget: MassBudget,
        reservation: Reservation,
        entropy: Entropy,
    ) -> None:
        self._counter = vault._counter(candidates)
        self._budget = budget
        self._reservation = reservation
        self._entropy = entropy
        self._selector = MassSelector(budget.choice_epsilon)
        self._histograms = Histograms(self._counter.part, budget.counts_epsilon, reservation, entropy)

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """There is no minimum support: a choice costs the same at a node of any size."""
        return True

    def select(self, prefix: Sequence[int]) -> int | None:
        """A candidate that is not in the prefix yet, or None for no rule."""
        self._reservation.draw(self._budget.choice_epsilon, Fraction(0), "choice of a rule")
        node = self._counter.counts(prefix)
        remaining = np.delete(np.arange(node.captured.shape[1]), list(prefix))
        chosen = self._selector.select(NodeCounts(node.left, node.captured[:, remaining]), self._entropy)
        return None if chosen == len(remaining) else int(remaining[chosen])

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left."""
        return self._histograms.release(prefix, rule)

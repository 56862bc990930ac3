"""The door through which whole rule lists are drawn. It charges first, then answers with one list."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates
from ...rules.prior import Prior
from ..counts.cells import Array
from ..counts.secret import Secret
from ..mechanisms.whole_lists import DrawBudget
from ..noise.entropy import Entropy
from ..sampling.deadline import Deadline
from ..sampling.envelope import draw_by_envelope
from ..sampling.problem import Problem, make_problem, rules_on_cells
from .histograms import Histograms
from .vault import Vault

# One record more is then a factor of 10^444: larger rates would only make numbers too large to be computed well.
LARGEST_RATE = 1024.0


def rounded_down(value: Fraction) -> float:
    """The largest float that is not above it, nor above LARGEST_RATE: rounding goes towards more privacy."""
    number = float(min(value, Fraction(LARGEST_RATE)))
    return number if Fraction(number) <= value else math.nextafter(number, 0.0)


class ListDoors(Secret):
    """Whole lists, one charge a draw; class counts of disjoint parts, one charge for all of them."""

    def __init__(
        self,
        vault: Vault,
        candidates: Candidates,
        budget: DrawBudget,
        prior: Prior,
        class_weights: Array,
        reservation: Reservation,
        entropy: Entropy,
        time_limit: float | None = None,
    ) -> None:
        self._budget = budget
        self._prior = prior
        self._class_weights = class_weights  # of at most 1, so that a score changes by at most 1
        self._reservation = reservation
        self._entropy = entropy
        self._deadline = Deadline(time_limit)
        self._truth, self._counts = rules_on_cells(vault._cells, candidates)
        self._histograms = Histograms(budget.counts_epsilon, reservation, entropy)

    def sample_list(self, prefix: Sequence[int], lengths: Sequence[float]) -> tuple[list[int], list[int]]:
        """Rules and labels (the default's last) of a list for the records that a prefix leaves.

        ``lengths`` are the prior weights of 0, 1, ... rules. The draw is in proportion to ``prior * exp(epsilon * score)``,
        where adding a record to the table raises the score of each list by 0 to 1 (docs/theory.md, Theorem 13).
        """
        self._reservation.draw(self._budget.draw_epsilon, Fraction(0), "draw of a list")
        alive = np.flatnonzero(self._left(prefix)) if len(prefix) else slice(None)  # of all there is no copy
        rules = self._prior.rules.copy()
        rules[list(prefix)] = 0.0
        problem = make_problem(
            self._truth[:, alive],
            self._counts[:, alive] * self._class_weights[:, None],
            replace(self._prior, lengths=tuple(lengths), rules=rules),
            rounded_down(self._budget.draw_epsilon),
        )
        return self._draw(problem)

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left."""
        return self._histograms.release(prefix, rule, self._part)

    def _draw(self, problem: Problem) -> tuple[list[int], list[int]]:
        """A list by its weights."""
        with np.errstate(all="ignore"):  # weights may underflow, and whether they do depends on the records
            return draw_by_envelope(problem, self._entropy, self._deadline)

    def _left(self, prefix: Sequence[int]) -> npt.NDArray[np.bool_]:
        """The patterns that no rule of a prefix captures."""
        return np.asarray(~self._truth[list(prefix)].any(0))

    def _part(self, prefix: Sequence[int], rule: int | None) -> Array:
        """Records per class that a rule captures after a prefix; without a rule, all that is left."""
        left = self._left(prefix)
        part: Array = self._counts[:, left if rule is None else left & self._truth[rule]].sum(1)
        return part

"""One cut point: the candidate that comes nearest to having a given share of the records at or below it.

**Mechanism.** Let ``low`` records be at or below a candidate and ``high`` above it. To have ``part`` of ``parts`` equal shares
below, it should have ``(parts - part) low = part high``. Its loss is ``|(parts - part) low - part high|``, which is ``parts``
times the number of records by which it misses its rank. Permute-and-flip takes a candidate of small loss, at a scale of
``2 D / e`` with ``D = max(part, parts - part)``. The candidates are public; the number of records is not used.

**Privacy.** One choice is e-DP.

**Proof.** A record that comes raises ``low`` by 1 (for candidates at or above its value) or ``high`` by 1 (for those below). So
what stands between the bars moves by ``parts - part`` or by ``-part``, and the loss by at most D either way. Over all candidates
at once the changes lie in [-D, D], an interval of length 2 D; in units of the scale its length is e. Theorem 5 of ``noisy_max``
with h = 1 gives the claim.  []

OpenDP's ``make_quantile_score_candidates`` has the same loss, but counts records *at* a candidate on neither side, where a rule
says ``x <= cut``, and rounds shares to 1/10000. Its privacy map, too, asks for a scale of ``2 D / e``
(``tests/privacy/test_quantiles.py`` compares both).

**Many at once.** Choices in disjoint sets of records together cost one e: the record that differs is in one of them.
``queries/cuts.py`` charges so, and checks that they are disjoint. docs/theory/accounting.md has the details.

**Numerics.** Losses are integers. Unseeded choices are OpenDP's exact coins, at a scale that is rounded up.

**Reference.** A. Smith: *Privacy-preserving statistical estimation with optimal convergence rates*, STOC 2011. H. Kaplan,
S. Schnapp, U. Stemmer: *Differentially private approximate quantiles*, ICML 2022 (splitting as in ``evaluation/cut_points.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...accounting.costs import PURE, Cost, repeated
from ..noise.discrete_laplace import scale_for
from ..noise.distributions import log_prob
from ..noise.entropy import Array, Entropy, Integers
from ..noise.noisy_max import Exponential


class Stretch(NamedTuple):
    """A stretch of bins, both ends included, to be cut so that ``part`` of ``parts`` of its records are below the cut.

    Candidate i ends bin i, so the candidates for the stretch are numbered from ``first`` to ``last - 1``.
    """

    first: int
    last: int
    part: int
    parts: int


def rank_losses(counts: Integers, part: int, parts: int) -> Integers:
    """The loss of each candidate. ``counts`` are the records up to the first, between it and the second, ..., after the last."""
    low = np.cumsum(counts[:-1])
    losses: Integers = np.abs((parts - part) * low - part * (counts.sum() - low))
    return losses


@dataclass(frozen=True)
class QuantileSelector:
    """Permute-and-flip on the distance from a rank, e-DP."""

    epsilon: Fraction
    noise = Exponential()

    def scale(self, part: int, parts: int) -> float:
        """Of the noise, at least 2 D / e."""
        return scale_for(self.epsilon / (2 * max(part, parts - part)))

    def select(self, counts: Integers, part: int, parts: int, entropy: Entropy) -> int:
        """The chosen candidate's number."""
        return entropy.permute_and_flip(rank_losses(counts, part, parts), self.scale(part, parts))

    def log_prob(self, counts: Integers, part: int, parts: int) -> Array:
        """The exact logarithm of each candidate's probability."""
        losses = rank_losses(counts, part, parts)
        return log_prob((losses.min() - losses) / self.scale(part, parts), self.noise)


@dataclass(frozen=True)
class CutsBudget:
    """The shares of cut points that are computed privately: ``choice_epsilon`` for each level of each column.

    >>> CutsBudget.split(Fraction(1, 10), levels=[3, 2]).choice_epsilon
    Fraction(1, 50)
    """

    epsilon: Fraction
    choice_epsilon: Fraction
    choices: int = 1

    @classmethod
    def split(cls, epsilon: Fraction, levels: Sequence[int]) -> "CutsBudget":
        """Equal shares for all levels of all columns: a record has a value in every column, so columns add up."""
        return cls(epsilon, epsilon / sum(levels), sum(levels))

    @property
    def costs(self) -> tuple[Cost, ...]:
        """One pure choice for each level of each column, for a single record."""
        return repeated(PURE, self.choice_epsilon, self.choices)

"""What a private schema costs: noisy histograms of columns, and noisy counts of the texts that occur.

**Mechanism.** Of each column a histogram over public bins is released (schema/columns/unknown.py). Then, for columns that the
noisy counts show to be of texts, a count with noise of every text that at least L records have, if the noisy count reaches a
threshold; for columns whose numbers lie close together, one more histogram over bins that follow from the first. Of the target,
texts are counted, too, unless its classes are public.

**Privacy** (Theorem 40). With a delta the whole is (epsilon, delta)-DP for a person who has up to k records. Without texts it is
epsilon-DP.

**Proof.** Let a person with up to k records come. A record is in one bin of each histogram, so each histogram changes by at
most k in sum, and so by at most k in Euclidean length; the same holds for the counts of those texts that L records have without
the person.

*Pure.* A share s of epsilon for a histogram: discrete Laplace noise of scale ``k / (s epsilon)`` costs ``s epsilon``
(noise/discrete_laplace.py), and shares add up to one. Which histograms are asked for later follows from noisy answers.

*Concentrated.* A share s of rho: Gaussian noise of ``sigma^2 = k^2 / (2 s rho)`` costs ``s rho`` (noise/discrete_gaussian.py).
zCDP adds up, and ``rho = rho_of(epsilon, delta / 2)`` is (epsilon, delta/2)-DP by Theorem 33. This takes the noise of 28
histograms from 28 times that of one to a little over 5 times; which noise is used follows from the number of columns.

*Texts that L records have only with this person.* There are at most k of them in a column, each of at most ``L - 1 + k`` records,
so each reaches the threshold ``L - 1 + k + m`` with at most the probability that the noise reaches m, which is at most
``d / k``, where d is the column's part of the delta' that is for all texts. (L is 1 and a twentieth of m: that costs little, and
of free text hardly anything has to be counted.) So with probability at least 1 - delta' none of them appears in any column,
whatever was released before, and their noise is apart from all other noise. So what comes out is distributed as 1 - delta' parts
of R and delta' parts of something else, where R is what comes out if only the other texts are counted. About R and the table
without the person the rest of the proof holds, in both directions; and for every set S of outcomes, with (e, d) of the rest,

    P(S) <= (1 - delta') R(S) + delta' <= e^e P'(S) + d + delta',    and    P'(S) <= (1 - delta') P'(S) + delta'
                                                                                  <= e^e P(S) + d + delta'.

For Gaussian noise d is delta/2, for discrete Laplace noise it is 0 and delta' is all of delta. (R is rho-zCDP, so the whole is
delta'-approximately rho-zCDP: Bun and Steinke 2016, Definition 8.1.)  []

**Numerics.** sigma, scales and thresholds are rounded to the side of more noise. Unseeded noise is OpenDP's, and exact.

**Reference.** A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas: *Releasing search queries and clicks privately*, WWW 2009.
M. Bun, T. Steinke: *Concentrated differential privacy*, TCC 2016.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...accounting.costs import APPROXIMATE, CONCENTRATED, NONE, PURE, Cost, rho_of
from ..noise import discrete_gaussian, discrete_laplace
from ..noise.entropy import Entropy, Integers

FIRST, CLASSES = (
    Fraction(1, 3),
    Fraction(1, 4),
)  # of all first histograms, and of the classes; the rest is for closer looks
RARE = 20  # texts below this part of what noise reaches are not counted
UNLIKELY = 0.05  # that any noisy count of all first, or closer, histograms looks like more than noise and is not


@dataclass(frozen=True)
class SchemaBudget:
    """Epsilon and delta of a person with up to ``records`` records, for so many first histograms, and the classes if asked."""

    epsilon: Fraction
    delta: Fraction
    records: int
    histograms: int
    with_classes: bool = True

    @cached_property
    def rho(self) -> Fraction:
        """What Gaussian noise may cost; 0 if there is no delta."""
        return rho_of(self.epsilon, self.delta / 2) if self.delta else NONE

    @cached_property
    def is_gaussian(self) -> bool:
        """Whether that makes less noise in the first histograms."""
        return self.rho > 0 and self._sigma(self.first) < math.sqrt(2) * self._scale(self.first)

    @property
    def first(self) -> Fraction:
        """The share of each first histogram."""
        return FIRST / max(1, self.histograms)

    def stands_out(self, share: Fraction, bins: int) -> int:
        """From which noisy count on a bin is taken for more than noise, among so many bins with this share."""
        return self.beyond(share, UNLIKELY / max(1, bins))

    def each_closer(self, histograms: int) -> Fraction:
        """The share of each of so many closer looks and columns of texts."""
        return (1 - FIRST - (CLASSES if self.with_classes else 0)) / max(1, histograms)

    @property
    def delta_for_texts(self) -> Fraction:
        """What is left of delta for texts that only one person has, of all columns and the target."""
        return self.delta / 2 if self.is_gaussian else self.delta

    def part_of_delta(self, columns: int) -> Fraction:
        """Of each of so many columns of texts. The classes have one half of it all."""
        return self.delta_for_texts / ((2 if self.with_classes else 1) * max(1, columns))

    def charge(self, share: Fraction) -> Fraction:
        """What a histogram with this share counts for, as a part of epsilon, for one record."""
        return self.epsilon * share / self.records

    def noisy(self, counts: Integers, share: Fraction, entropy: Entropy) -> Integers:
        """A histogram with noise."""
        if self.is_gaussian:
            return discrete_gaussian.release(counts, self._sigma(share), entropy)
        return entropy.discrete_laplace(counts, self._scale(share))

    def beyond(self, share: Fraction, chance: float) -> int:
        """A number that the noise of a count reaches with at most this chance."""
        if self.is_gaussian:
            return discrete_gaussian.beyond(self._sigma(share), chance)
        return 1 + math.ceil(-self._scale(share) * math.log(chance) * (1 + 1e-9))  # P(k >= m) is below exp(-m / scale)

    def deviation(self, share: Fraction) -> float:
        """The standard deviation of the noise, or a little more."""
        return self._sigma(share) if self.is_gaussian else math.sqrt(2) * self._scale(share)

    def thresholds(self, share: Fraction, delta: Fraction) -> tuple[int, int]:
        """From which exact, and from which noisy count on a text is released, of a column with this share and part of delta."""
        reach = self.beyond(share, math.nextafter(float(delta / self.records), 0.0))
        least = 1 + reach // RARE
        return least, least - 1 + self.records + reach

    @property
    def costs(self) -> tuple[Cost, ...]:
        """All of it, for the person."""
        texts = (Cost(APPROXIMATE, NONE, self.delta_for_texts),) if self.delta else ()
        if self.is_gaussian:
            return (Cost(CONCENTRATED, self.epsilon, self.delta / 2), *texts)
        return (Cost(PURE, self.epsilon), *texts)

    def _scale(self, share: Fraction) -> float:
        return discrete_laplace.scale_for(self.epsilon * share / self.records)

    def _sigma(self, share: Fraction) -> float:
        return discrete_gaussian.sigma_for(self.rho * share, self.records)

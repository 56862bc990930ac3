"""What the queries of a private schema ask with a budget, what that needs in all, and broken twins of the budget.

Queries are asked about made-up counts, and their noise is taken away by the replay's hooks, so that what each of them adds noise
to, and how much, is seen from outside. What that comes to is computed with other code than the package's: OpenDP's from rho to
epsilon, and tails as sums.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import opendp.prelude as dp

from discreet.accounting.costs import rho_of
from discreet.accounting.reservation import Reservation
from discreet.private.mechanisms.schema_histograms import FIRST, SchemaBudget
from discreet.private.noise import discrete_gaussian
from discreet.private.noise.entropy import Entropy
from discreet.private.queries.schema import SchemaQueries

from ..replay.distributions import DiscreteGaussian
from ..replay.hooks import Session, opened

dp.enable_features("contrib")
ROOM = Fraction(10**6)


class MadeUp:
    """Some columns, of which some are looked at more closely, and so many texts in each column of texts."""

    def __init__(self, n_columns, n_texts):
        self.first, self.least, self._n_texts = [np.zeros(3, np.int64)] * n_columns, [], n_texts

    def by_bins(self, columns):
        return [np.zeros(3, np.int64) for _ in columns]

    def texts(self, name, least):
        self.least.append(least)
        return {f"{i:05}": least for i in range(self._n_texts)}


@dataclass(frozen=True)
class Asked:
    """A histogram or the texts of a column: which noise it gets, and from which exact and noisy counts on texts are told."""

    is_gaussian: bool
    scale: float
    least: int | None = None
    threshold: int | None = None

    def reaches(self, m):
        """The chance that the noise is at least m: the sum of all its chances from there on, within rounding."""
        far = np.arange(m, m + 60 * math.ceil(self.scale) + 60, dtype=float)
        if not self.is_gaussian:
            return math.exp(-m / self.scale) / (1 + math.exp(-1 / self.scale))
        around = np.arange(-60 * math.ceil(self.scale), 60 * math.ceil(self.scale) + 1, dtype=float)
        return sum(np.exp(-((far / self.scale) ** 2) / 2)) / sum(np.exp(-((around / self.scale) ** 2) / 2))

    def shows_a_person(self, k):
        """The chance that a text is told which too few have without a person of k records; in whichever texts these are."""
        if self.threshold is None:
            return 0.0
        return max(n * self.reaches(self.threshold - (self.least - 1 + k // n)) for n in range(1, k + 1))


def asked(budget, closer=2, texts=3, n_texts=20_000, is_roomy=True):
    """All that is asked with such a budget, if so many columns are looked at more closely, and so many are of texts."""
    reservation = Reservation(*((ROOM, ROOM) if is_roomy else (budget.epsilon, budget.delta)), records=budget.records)
    made_up, told = MadeUp(budget.histograms, n_texts), []
    session = Session(lambda noise: range(noise.size) if noise.size == n_texts else noise.values)
    with opened(session):
        queries = SchemaQueries(made_up, budget).open(reservation, Entropy())
        queries.first_look()
        told += queries.look_closer([None] * closer, ["a column"] * texts)[1] if budget.delta else []
        told += [queries.classes()] if budget.with_classes else []
    thresholds = iter([(least, min(found.values())) for least, found in zip(made_up.least, told, strict=True)])
    return [
        Asked(isinstance(noise, DiscreteGaussian), noise.scale, *(next(thresholds) if noise.size == n_texts else ()))
        for noise in session.distributions
    ]


def needed(budget, **columns):
    """The epsilon that all of it needs at the budget's delta, for a person with all the records that one may have."""
    k, told = budget.records, asked(budget, **columns)
    left = float(budget.delta) - sum(one.shows_a_person(k) for one in told)
    if left < 0:
        return math.inf
    if not told[0].is_gaussian:
        return float(sum(k / Fraction(one.scale) for one in told))
    rho = sum(discrete_gaussian._opendp(one.scale).map(k) for one in told)
    assert rho >= sum(k**2 / (2 * one.scale**2) for one in told) * (1 - 1e-12)
    curve = dp.c.make_zCDP_to_approxDP(
        dp.m.make_gaussian(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), k / math.sqrt(2 * rho))
    )
    return curve.map(k).epsilon(left)


def budget_of(epsilon, delta, k, histograms, kind=SchemaBudget, with_classes=True):
    return kind(Fraction(repr(epsilon)), Fraction(repr(delta)), k, histograms, with_classes)


class ForOneRecord(SchemaBudget):
    """The noise is for a person with one record."""

    def _sigma(self, share):
        return discrete_gaussian.sigma_for(self.rho * share, 1)

    def _scale(self, share):
        return super()._scale(share) / self.records


class SharesOfOthers(SchemaBudget):
    """Each first histogram has the share of all of them."""

    @property
    def first(self):
        return FIRST


class EachCloserHasAll(SchemaBudget):
    def each_closer(self, histograms):
        return super().each_closer(1)


class ClassesHaveNoShare(SchemaBudget):
    """They are counted beside shares that add up to one."""

    def each_closer(self, histograms):
        return (1 - FIRST) / max(1, histograms)


class AllOfDeltaTwice(SchemaBudget):
    """For the histograms, and for texts."""

    @cached_property
    def rho(self):
        return rho_of(self.epsilon, self.delta)

    @property
    def delta_for_texts(self):
        return self.delta


class ThresholdWithoutRecords(SchemaBudget):
    def thresholds(self, share, delta):
        least, threshold = super().thresholds(share, delta)
        return least, threshold - self.records


class ThresholdWithoutTheRare(SchemaBudget):
    """It forgets that a text may be of others, too, if rare ones are left out."""

    def thresholds(self, share, delta):
        least, threshold = super().thresholds(share, delta)
        return least, threshold - (least - 1)


class DeltaForEachRecord(SchemaBudget):
    """A person has several texts in a column."""

    def thresholds(self, share, delta):
        return super().thresholds(share, delta * self.records)


class DeltaForEachColumn(SchemaBudget):
    def part_of_delta(self, columns):
        return super().part_of_delta(1)


class DeltaForClassesAgain(SchemaBudget):
    def part_of_delta(self, columns):
        return self.delta_for_texts / max(1, columns)

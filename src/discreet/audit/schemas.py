"""Level 1, private schemas: all their noisy counts together, on tables that differ by a person, in one bin of each histogram.

Which bins these are makes no difference, nor what the other counts are. So one pair of tables is all of them: the exact
distribution of the loss of normal noise, or the sum of the largest losses of discrete Laplace noise; and from delta is taken what
chance there is that a text of this person is told.
"""

import math
from fractions import Fraction

import numpy as np

from ..private.counts.patterns import Array
from ..private.mechanisms.schema_histograms import CLASSES, SchemaBudget
from ..private.noise.sums import log_pmf
from .explore import Finding, Loss

STEPS = 4_000  # of losses, for each epsilon; they are rounded up
FAR, NEGLIGIBLE = 12, 1e-25  # standard deviations of normal noise, and chances
BUDGETS = {
    "a schema, discrete Laplace noise": SchemaBudget(Fraction(1), Fraction(1, 10**6), 2, 1),
    "a schema, normal noise": SchemaBudget(Fraction(1), Fraction(1, 10**6), 2, 14),
}


def worst_schema(budget: SchemaBudget, closer: int = 2, texts: int = 3) -> Finding:
    """With so many closer looks and columns of texts."""
    each, part = budget.each_closer(closer + texts), budget.part_of_delta(texts)
    shares = {budget.first: budget.histograms, each: closer + texts} | ({CLASSES: 1} if budget.with_classes else {})
    told = texts * _told(budget, each, part)
    told += _told(budget, CLASSES, budget.part_of_delta(1)) if budget.with_classes else 0.0
    left = float(budget.delta) - told
    if budget.is_gaussian:
        epsilon = _loss_of_all(budget, shares).epsilon(left)
    else:
        losses = {share: _losses(budget, share)[1].max() for share in shares}
        epsilon = sum(n * losses[share] for share, n in shares.items())
    where = f"{budget.records} records in one bin of each histogram, {budget.records} texts that nobody else has"
    return Finding(float(epsilon) if left >= 0 else math.inf, float(budget.epsilon), 1, where, float(budget.delta))


def _noise(budget: SchemaBudget, share: Fraction) -> tuple[Array, Array]:
    """Numbers around 0, and the chance of each as noise, as logarithms."""
    if not budget.is_gaussian:
        scale = budget.deviation(share) / math.sqrt(2)
        k = np.arange(-(reach := 100 * math.ceil(scale)), reach + 1)
        return k.astype(float), log_pmf(k, 1 / scale)
    sigma = budget.deviation(share)
    z = np.arange(-(reach := math.ceil(FAR * sigma)), reach + 1, dtype=float)
    logs = -((z / sigma) ** 2) / 2
    return z, logs - np.logaddexp.reduce(logs)


def _losses(budget: SchemaBudget, share: Fraction) -> tuple[Array, Array]:
    """Of a count that is larger by all records of a person: the chance of each answer, and its loss."""
    _, logs = _noise(budget, share)
    k = budget.records
    return np.exp(logs[k:]), logs[k:] - logs[:-k]


def _loss_of_all(budget: SchemaBudget, shares: dict[Fraction, int]) -> Loss:
    """Of so many histograms with each of these shares."""
    step, least, mass = float(budget.epsilon) / STEPS, 0, np.ones(1, np.float64)
    for share, n in shares.items():
        chances, losses = _losses(budget, share)
        # the loss of normal noise grows evenly from answer to answer, so that of n histograms follows from their sum
        total = chances
        for _ in range(n - 1):
            total = np.convolve(total, chances)
        kept = total > NEGLIGIBLE
        losses = np.linspace(n * losses[0], n * losses[-1], len(total))[kept]
        places = np.ceil(losses / step - 1e-9).astype(int)
        mass, least = (
            np.convolve(mass, np.bincount(places - places.min(), weights=total[kept])),
            least + places.min(),
        )
    with np.errstate(divide="ignore"):
        logs: Array = np.log(mass)
    return Loss(logs, step * np.arange(least, least + len(mass), dtype=np.float64))


def _told(budget: SchemaBudget, share: Fraction, part: Fraction) -> float:
    """At most the chance that a text is told which only this person has, of a column."""
    least, threshold = budget.thresholds(share, part)
    z, logs = _noise(budget, share)
    return float(budget.records * np.exp(logs[z >= threshold - (least - 1 + budget.records)]).sum())

"""What to expect at which epsilon, before anything is spent: from public numbers, or measured on a public stand-in table.

**The bound.** A list is drawn with probability proportional to ``prior * exp(e * correct)``, e being epsilon without the share
for the counts. All lists that are at least t records worse than the best one together have at most the probability
``exp(-e t) / prior(best)``. So with chance 1 - b the drawn list is at most ``(ln(1/prior(best)) + ln(1/b)) / e`` records worse
than the best, whatever the records are. Usually it is much closer.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..classifiers.optimal import DPOptimalRuleListClassifier
from ..conditions.candidates import Candidates
from ..report.summary import Chance
from ..schema import Schema

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
CONFIDENCE = 0.95


def attackers_chance(epsilon: float, prior: float = 0.5) -> float:
    """How sure an attacker, who was this sure before, can become that a person is in the table.

    >>> round(attackers_chance(1.0), 3)
    0.731
    """
    return Chance(epsilon).after(prior)


def worst_loss(
    epsilon: float, records: int, n_candidates: int, n_classes: int = 2, max_length: int = 4, counts_share: float = 0.1
) -> float:
    """By how much the drawn list is less accurate than the best one, at most, with a chance of 95 %.

    It is about the records that are learned from, and needs public numbers only.

    >>> round(worst_loss(1.0, records=10_000, n_candidates=100), 4)
    0.0023
    """
    rules = min(max_length - 1, n_candidates)
    log_lists = sum(math.log(n_candidates - i) for i in range(rules)) + (rules + 1) * math.log(n_classes)
    log_prior = -math.log(max_length) - log_lists
    worse = (-log_prior + math.log(1.0 / (1.0 - CONFIDENCE))) / (epsilon * (1.0 - counts_share))
    return min(1.0, worse / records)


@dataclass(frozen=True)
class Expected:
    """At one epsilon: the attacker's chance; the loss at most; and, on a stand-in, the measured accuracy and its error."""

    epsilon: float
    attacker: float
    loss: float
    accuracy: float | None = None
    error: float | None = None


def expect(
    schema: Schema, records: int, epsilons: Sequence[float] = EPSILONS, max_length: int = 4, max_card: int = 1
) -> list[Expected]:
    """What public numbers say."""
    n = len(Candidates.of_schema(schema, max_card, True))
    classes = len(schema.classes or (0, 1))
    return [Expected(e, attackers_chance(e), worst_loss(e, records, n, classes, max_length)) for e in epsilons]


def measure(
    X: Any,
    y: np.ndarray,
    schema: Schema,
    epsilons: Sequence[float] = EPSILONS,
    repeats: int = 10,
    max_length: int = 4,
    max_card: int = 1,
) -> Iterator[tuple[float, float]]:
    """Accuracies on held-out records of a public table: (epsilon, accuracy) for each repeat, NaN standing for no privacy."""
    n = len(y)
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(n)
        train, test = order[: int(0.7 * n)], order[int(0.7 * n) :]
        common: dict[str, Any] = {"max_length": max_length, "max_card": max_card, "schema": schema}
        for epsilon in (*epsilons, math.nan):
            # at an enormous epsilon the draw is the best list; values are read as in a private fit
            rate = 1e6 if math.isnan(epsilon) else epsilon
            clf = DPOptimalRuleListClassifier(rate, random_state=seed, **common)
            clf.fit(X.iloc[train], y[train])
            yield epsilon, float((clf.predict(X.iloc[test]) == y[test]).mean())

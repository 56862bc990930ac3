"""From noisy counts to rates and numbers of records, with intervals that cover both the noise and the sampling of records.

A rate is the share ``p`` of the records of some bins, ``a``, among them and those of others, ``w``. What is known are noisy sums
``A`` of m bins and ``W`` of n bins. For the right p, ``T = A (1 - p) - W p`` has mean 0, whatever the number of records, and

    variance(T) = (a + w) p (1 - p)  +  v (m (1 - p)^2 + n p^2),        v: of the noise of one bin

the first part from sampling records of which a share p is of the one kind, the second from the noise. The interval has all p
that T does not refute: Wilson's interval where there is no noise, Fieller's where there is nothing else. Laplace noise has
heavier tails than a normal one, so the bound on T is that of a distribution with its fourth moment (Cornish and Fisher); and
as records are whole, half a record is added where no noise smooths that. Nothing here is a proof: docs/noisy-evaluation.md has
the coverage that was measured (benchmarks/evaluation_coverage.py).

Sums and differences of independent rates get the intervals that follow from those of their parts (Zou and Donner, 2008):
distances add up as deviations do. Where a rate's own interval reaches 0 or 1 its distance is no deviation, and is added as it is.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..accounting.statement import PrivacyStatement
from ..models.display.wording import classes_called, in_labels
from ..models.model import Model
from ..private.noise.entropy import Integers
from ..private.noise.sums import LEVEL, margin, moments
from .evaluated import ALL_OTHERS, Count, EvaluationCounts, Group, NoisyEvaluation, Part, Rate, Rates, Table

Numbers = npt.NDArray[np.float64]
HALVINGS = 50


class Sum(NamedTuple):
    """A noisy number of records, the sum of so many bins; an array of them for as many releases."""

    noisy: npt.ArrayLike
    bins: int


class Interval(NamedTuple):
    """A value, and from where to where it lies."""

    value: Numbers
    low: Numbers
    high: Numbers


def rate(of: Sum, rest: Sum, epsilon: float, level: float = LEVEL) -> Interval:
    """The share of the first among both, where each bin has noise of this epsilon. Without any bins it is 0 or 1, for sure."""
    if not of.bins or not rest.bins:
        certain = np.zeros(np.shape(of.noisy)) + (1.0 if of.bins else 0.0)
        return Interval(certain, certain, certain)
    # A number of records is not below 0. With 0 in its place, T is nearer to 0 for every p, so the interval only grows
    a, w = np.maximum(np.asarray(of.noisy, float), 0.0), np.maximum(np.asarray(rest.noisy, float), 0.0)
    variance, fourth = moments(epsilon)
    z = NormalDist().inv_cdf((1 + level) / 2)
    half_record = 0.5 / (1 + 12 * variance * min(of.bins, rest.bins))

    def is_possible(p: Numbers) -> npt.NDArray[np.bool_]:
        spread = (a + w) * p * (1 - p) + variance * (of.bins * (1 - p) ** 2 + rest.bins * p**2)
        heavier = fourth * (of.bins * (1 - p) ** 4 + rest.bins * p**4) / np.maximum(spread, 1e-300) ** 2
        bound = (z + (z**3 - 3 * z) / 24 * heavier) * np.sqrt(spread) + half_record
        possible: npt.NDArray[np.bool_] = np.abs(a * (1 - p) - w * p) <= bound
        return possible

    def furthest(end: float) -> Numbers:
        inside, outside = value, np.full_like(value, end)
        reaches = is_possible(outside)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            possible = is_possible(middle)
            inside, outside = np.where(possible, middle, inside), np.where(possible, outside, middle)
        return np.where(reaches, end, inside)

    value = np.where(a + w > 0, a / np.maximum(a + w, 1.0), 0.5)
    return Interval(value, furthest(0.0), furthest(1.0))


def is_too_small(of: Sum, rest: Sum, epsilon: float) -> bool:
    """Whether the noise may be half of what the rate is about."""
    bins = of.bins + rest.bins
    return float(np.asarray(of.noisy) + np.asarray(rest.noisy)) < 2 * margin(epsilon, bins)


def mean_rate(rates: Sequence[tuple[Sum, Sum]], epsilon: float) -> Interval:
    """The mean of rates that share no bin: a balanced accuracy."""
    return _combined(rates, [1 / len(rates)] * len(rates), epsilon)


def difference(one: tuple[Sum, Sum], other: tuple[Sum, Sum], epsilon: float) -> Interval:
    """The first rate minus the second. They share no bin."""
    return _combined([one, other], [1.0, -1.0], epsilon)


def _combined(rates: Sequence[tuple[Sum, Sum]], weights: Sequence[float], epsilon: float) -> Interval:
    """A weighted sum of rates.

    Of k parts all but one may be at an end, where they cannot be missed, and then a miss of each is one of the whole: each may
    miss with a k-th of what the whole may.
    """
    usual = [rate(*parts, epsilon) for parts in rates]
    careful = usual if len(rates) <= 2 else [rate(*p, epsilon, 1 - 2 * (1 - LEVEL) / len(rates)) for p in rates]
    value = np.asarray(sum(w * part.value for w, part in zip(weights, usual, strict=True)))
    return Interval(
        value, value - _distance(usual, careful, weights, -1), value + _distance(usual, careful, weights, 1)
    )


def _distance(usual: list[Interval], careful: list[Interval], weights: Sequence[float], sign: int) -> Numbers:
    """How far the sum of rates may be above (or, with sign -1, below) its value."""
    squares, squares_if_careful, added = (np.zeros(np.shape(usual[0].value)) for _ in range(3))
    at_an_end = np.zeros(np.shape(usual[0].value), bool)
    for weight, part, wider in zip(weights, usual, careful, strict=True):
        up = weight * sign > 0
        reaches = part.high >= 1.0 if up else part.low <= 0.0
        far, further = (abs(weight) * (one.high - one.value if up else one.value - one.low) for one in (part, wider))
        squares = squares + np.where(reaches, 0.0, far**2)
        squares_if_careful = squares_if_careful + np.where(reaches, 0.0, further**2)
        added = added + np.where(reaches, far, 0.0)
        at_an_end = at_an_end | reaches
    return np.asarray(added + np.sqrt(np.where(at_an_end, squares_if_careful, squares)))


Pair = tuple[Sum, Sum]  # the records that a rate counts, and the others that it is a share of


def in_tuples(table: Integers) -> Table:
    """Numbers by group, row and class, as values that do not change."""
    return tuple(tuple(map(tuple, group)) for group in table.tolist())


class Named(NamedTuple):
    """A column that divides the records into groups, and the groups that the schema foresees, with what people call them."""

    column: str
    column_called: str
    names: tuple[str, ...]
    called: tuple[str, ...]


def evaluation_of(
    rules: Model, counts: EvaluationCounts, named: Sequence[Named], privacy: PrivacyStatement
) -> NoisyEvaluation:
    """All numbers, from those that were drawn."""
    answer, n_classes = rows_of(rules, counts.by_answer)[0], len(rules.classes)
    tables = [np.array(table, np.int64).reshape(len(table), len(answer), n_classes) for _, table in counts.tables]
    numbers = _Numbers(answer, n_classes, counts.epsilon)
    whole = min(tables, key=len)  # the fewer bins are added up, the less noise
    every = numbers.pairs(whole)
    return NoisyEvaluation(
        rules.classes,
        numbers.count(whole),
        tuple(tuple(numbers.count(whole[:, answer == p, c]) for p in range(n_classes)) for c in range(n_classes)),
        numbers.rates(every),
        numbers.rate(mean_rate(every["recall"], counts.epsilon), *every["recall"]),
        tuple(group for of, table in zip(named, tables, strict=False) for group in numbers.groups(of, table)),
        numbers.parts(rules, whole) if counts.by_answer else (),
        privacy,
        classes_called(rules),
        counts,
    )


def rows_of(rules: Model, by_answer: bool) -> tuple[np.ndarray, np.ndarray]:
    """The class that the model says of each row of a table; there is none for what is never predicted. And each answer's row."""
    predicted = np.array([rules.classes.index(a.label) for a in rules.answers])
    return (predicted, np.arange(len(predicted))) if by_answer else np.unique(predicted, return_inverse=True)


class _Numbers:
    """From tables of noisy counts (groups x rows x classes) to numbers with intervals. A row has one predicted class."""

    def __init__(self, answer: np.ndarray, n_classes: int, epsilon: float) -> None:
        self._answer, self._n_classes, self._epsilon = answer, n_classes, epsilon

    def count(self, bins: Integers) -> Count:
        noisy, far = int(bins.sum()), margin(self._epsilon, bins.size)
        return Count(noisy, max(0, noisy - far), max(0, noisy + far))

    def pairs(self, table: Integers) -> dict[str, list[Pair]]:
        """Of each rate, what it counts and what else there is."""
        classes, says = np.arange(self._n_classes), self._answer
        right = says[:, None] == classes
        return {
            "accuracy": [(_sum(table[:, right]), _sum(table[:, ~right]))],
            "predicted": [(_sum(table[:, says == c]), _sum(table[:, says != c])) for c in classes],
            "recall": [(_sum(table[:, says == c, c]), _sum(table[:, says != c, c])) for c in classes],
            "precision": [
                (_sum(table[:, says == c, c]), _sum(table[:, says == c][:, :, classes != c])) for c in classes
            ],
        }

    def rate(self, found: Interval, *about: Pair) -> Rate:
        too_small = any(of.bins and rest.bins and is_too_small(of, rest, self._epsilon) for of, rest in about)
        value, low, high = (float(x) for x in found)
        return Rate(value, low, high, too_small)

    def rates(self, own: dict[str, list[Pair]], others: dict[str, list[Pair]] | None = None) -> Rates:
        """The rates; or how they differ from those of other records."""

        def one(name: str, i: int) -> Rate:
            pair = own[name][i]
            if others is None:
                return self.rate(rate(*pair, self._epsilon), pair)
            return self.rate(difference(pair, others[name][i], self._epsilon), pair, others[name][i])

        classes = range(self._n_classes)
        precision = tuple(one("precision", c) if c in self._answer else None for c in classes)
        predicted, recall = (tuple(one(name, c) for c in classes) for name in ("predicted", "recall"))
        return Rates(one("accuracy", 0), predicted, recall, precision)

    def groups(self, of: Named, table: Integers) -> list[Group]:
        """Of all groups that the schema foresees, each against the others of them."""
        found, foreseen = [], table[: len(of.names)]
        for i, name in enumerate(of.names):
            own, others = self.pairs(table[[i]]), np.delete(foreseen, i, axis=0)
            less = self.rates(own, self.pairs(others)) if len(others) else None
            numbers = self.count(table[i]), self.rates(own), less
            found.append(Group(of.column, name, *numbers, of.column_called, of.called[i]))
        return found

    def parts(self, model: Model, table: Integers) -> tuple[Part, ...]:
        """Of each answer of the model; none where answers do not say how likely classes are, but a record's own totals do."""
        if model.has_points_by_class:
            return ()
        found, conditions = [], model.answer_conditions
        for i, answer in enumerate(model.answers):
            shares, here = model.shares_of(answer), table[:, i]
            pairs = [(_sum(here[:, c]), _sum(np.delete(here, c, axis=1))) for c in range(self._n_classes)]
            observed = tuple(self.rate(rate(*pair, self._epsilon), pair) for pair in pairs)
            tests = conditions[i], [in_labels(test, model.schema) for test in conditions[i]]
            condition, called = (" and ".join(map(str, named)) or ALL_OTHERS for named in tests)
            numbers = self.count(here), tuple(shares.tolist()), observed
            found.append(Part(i + 1, condition, answer.label, *numbers, called))
        return tuple(found)


def _sum(bins: Integers) -> Sum:
    return Sum(int(bins.sum()), bins.size)

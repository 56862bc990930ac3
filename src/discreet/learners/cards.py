"""Score cards: from noisy class counts by column to points, and from noisy counts by total to risks.

Everything here is computed from what the doors answered (vault/card_doors.py), which is noisy: it costs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..conditions.numbered_tree import Leaf, NumberedTree
from ..conditions.partition import DOUBLING
from .card_points import evidence

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Points = Mapping[int, Array]  # by the number of a column: the points of each of its parts
Start = float | Array  # with more than two classes one for each

STEP = 5  # points from one range of totals to the next
FARTHEST = 80  # totals beyond this are all in the first or the last range: odds of 256 to 1


class DrawsCards(Protocol):
    """What the learner may ask of the data."""

    def grow(self, depth: int) -> NumberedTree:
        """A tree, in whose leaves there will be cards."""

    def choose(self, how_many: int) -> list[list[int]]:
        """For each leaf, the numbers of its columns."""

    def count(self, columns: Sequence[Sequence[int]]) -> list[list[Integers]]:
        """For each leaf, class counts by the parts of each of its columns."""

    def count_totals(self, cards: Sequence[tuple[float, Points]], limits: Sequence[float]) -> Integers:
        """Class counts by ranges of the total."""


@dataclass(frozen=True)
class LearnedCard:
    """A tree, a card for each of its leaves (where to start, and the points), the limits of totals, and what they mean.

    ``risks`` has the share of the second class for each range of totals, ``counts`` its class counts, if they were asked for.
    With more than two classes a card has a start for each of them, and points (classes, parts); there are no limits then.
    """

    tree: NumberedTree
    columns: list[list[int]]  # that were counted in each leaf
    cards: Sequence[tuple[Start, Points]]
    limits: list[float]
    risks: list[float]
    counts: Integers | None


@dataclass(frozen=True)
class Wanted:
    """What a card should look like: public numbers.

    ``scale`` is that of the noise in the class counts of columns, ``totals_scale`` that in the counts by total (None: no such
    counts); of each column ``ordered`` has the parts that follow each other, ``monotone`` whether points rise (1) or fall (-1);
    ``reachable`` says for each leaf of a tree, and each column, in which parts a record of the leaf can be.
    """

    classes: int
    columns: int
    chooses: bool
    depth: int
    decimals: int
    scale: float
    totals_scale: float | None
    ordered: Sequence[Sequence[int]]
    monotone: Sequence[int]
    reachable: Callable[[NumberedTree], list[list[npt.NDArray[np.bool_]]]]


def score_card(doors: DrawsCards, wanted: Wanted) -> LearnedCard:
    """A tree if there is to be one; in each leaf columns, their counts, and points; then the risk of each range of totals."""
    tree: NumberedTree = doors.grow(wanted.depth) if wanted.depth else Leaf()
    every = list(range(len(wanted.ordered)))
    columns = doors.choose(wanted.columns) if wanted.chooses else [every] * _count_leaves(tree)
    counted = zip(columns, doors.count(columns), wanted.reachable(tree), strict=True)
    if wanted.classes != 2:  # a total for each class says how likely each is: none of them is counted
        of_classes = [_card_by_class(own, noisy, [reached[i] for i in own], wanted) for own, noisy, reached in counted]
        return LearnedCard(tree, columns, of_classes, [], [], None)
    cards = [_card(own, noisy, [reached[i] for i in own], wanted) for own, noisy, reached in counted]
    limits = limits_between(*_ends(cards))
    if wanted.totals_scale is None:
        return LearnedCard(tree, columns, cards, limits, risks_of(limits), None)
    counts = doors.count_totals(cards, limits)
    return LearnedCard(tree, columns, cards, limits, risks_of(limits, counts, wanted.totals_scale), counts)


def _count_leaves(tree: NumberedTree) -> int:
    return 1 if isinstance(tree, Leaf) else _count_leaves(tree.true) + _count_leaves(tree.other)


def _card(
    columns: Sequence[int], noisy: Sequence[Integers], reached: Sequence[npt.NDArray[np.bool_]], wanted: Wanted
) -> tuple[float, Points]:
    """Log-odds as points, of which none is below 0: that is easier to add up by hand. The start makes up for it.

    Parts that no record of this leaf can be in hold nothing but noise, and are left out.
    """
    places, base, speaking = _evidence(columns, noisy, reached, wanted)
    start, points = (base[1] - base[0]) * DOUBLING / np.log(2), {}
    for column, some, of_classes, table in zip(columns, places, speaking, noisy, strict=True):
        own = (of_classes[1] - of_classes[0]) * DOUBLING / np.log(2)
        lowest = own.min(initial=np.inf) if len(own) else 0.0
        start += lowest
        points[column] = np.zeros(table.shape[1])
        points[column][some] = np.round(own - lowest, wanted.decimals)
    # a column that makes no difference is not on the card
    return float(np.round(start, wanted.decimals)), {i: p for i, p in points.items() if p.any()}


def _card_by_class(
    columns: Sequence[int], noisy: Sequence[Integers], reached: Sequence[npt.NDArray[np.bool_]], wanted: Wanted
) -> tuple[Array, Points]:
    """The same for each class. What a part gives to all classes alike makes no difference, and is left out."""
    places, base, speaking = _evidence(columns, noisy, reached, wanted)
    start, points = base * DOUBLING / np.log(2), {}
    for column, some, of_classes, table in zip(columns, places, speaking, noisy, strict=True):
        if not len(some):
            continue
        own = (of_classes - of_classes.min(0)) * DOUBLING / np.log(2)
        lowest = own.min(1)
        start = start + lowest
        points[column] = np.zeros(table.shape)
        points[column][:, some] = np.round(own - lowest[:, None], wanted.decimals)
    return np.round(start - start.min(), wanted.decimals), {i: p for i, p in points.items() if p.any()}


def _evidence(
    columns: Sequence[int], noisy: Sequence[Integers], reached: Sequence[npt.NDArray[np.bool_]], wanted: Wanted
) -> tuple[list[npt.NDArray[np.intp]], Array, list[Array]]:
    """Of each column the parts that can be reached, those in order first; then the evidence that its counts are."""
    in_order = [[i for i in wanted.ordered[column] if some[i]] for column, some in zip(columns, reached, strict=True)]
    places = [
        np.array([*first, *(i for i in np.flatnonzero(some) if i not in first)], np.intp)
        for first, some in zip(in_order, reached, strict=True)
    ]
    if not all(map(len, places)):  # no record can be in this leaf
        n = wanted.classes
        return places, np.zeros(n), [np.zeros((n, len(some))) for some in places]
    counts = [table[:, some].astype(float) for table, some in zip(noisy, places, strict=True)]
    return places, *evidence(counts, wanted.scale, list(map(len, in_order)), [wanted.monotone[i] for i in columns])


def _ends(cards: Sequence[tuple[float, Points]]) -> tuple[float, float]:
    """The smallest and the largest total that there can be."""
    low = min(start + sum(p.min() for p in points.values()) for start, points in cards)
    return low, max(start + sum(p.max() for p in points.values()) for start, points in cards)


def limits_between(low: float, high: float) -> list[float]:
    """Where ranges of totals end: multiples of ``STEP`` above the lowest total, up to the highest, not too far out.

    >>> limits_between(-7, 11)
    [-5.0, 0.0, 5.0, 10.0]
    """
    every = np.arange(-FARTHEST, FARTHEST + STEP, STEP, dtype=float)
    return [float(limit) for limit in every if low < limit <= high]


def risks_of(limits: Sequence[float], counts: Integers | None = None, scale: float = 0.0) -> list[float]:
    """How likely the second class is in each range of totals, rounded to three digits, never falling.

    By the points themselves, 10 of them double the odds. Columns that say the same twice make them overconfident, so with counts
    the odds are fitted: ``log odds = a + b * log(2) * total / 10``, by maximum likelihood, drawn towards a = 0 and b = 1 by as
    much as the noise in the counts could move them.
    """
    middles = _middles(limits)
    a, b = (0.0, 1.0) if counts is None else _fitted(middles / DOUBLING * np.log(2), counts.astype(float), scale)
    odds = a + b * middles / DOUBLING * np.log(2)
    return [float(round(risk, 3)) for risk in 1 / (1 + np.exp(-odds))]


def _middles(limits: Sequence[float]) -> Array:
    """A total in the middle of each range; the first and the last have no end."""
    if not limits:
        return np.zeros(1)
    inner = [(low + high) / 2 for low, high in pairwise(limits)]
    return np.array([limits[0] - STEP / 2, *inner, limits[-1] + STEP / 2])


def _fitted(x: Array, counts: Array, scale: float) -> tuple[float, float]:
    """a and b of the log-odds ``a + b x``. Noisy counts may be negative, so the best of a grid is taken: nothing can diverge."""
    a, b = np.linspace(-3, 3, 121)[:, None], np.linspace(0.05, 2, 118)[None, :]
    odds = a[..., None] + b[..., None] * x
    likelihood = (counts[1] * odds - counts.sum(0) * np.logaddexp(0, odds)).sum(-1)
    # how far the noise in the counts moves the slope of the likelihood in a and in b
    noise = scale * np.sqrt(2 * np.array([len(x), (x * x).sum()]))
    likelihood -= noise[0] / 2 * a**2 + noise[1] / 2 * (b - 1) ** 2
    best = np.unravel_index(np.argmax(likelihood), likelihood.shape)
    return float(a[best[0], 0]), float(b[0, best[1]])

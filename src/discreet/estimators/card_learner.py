"""Score cards: from noisy class counts by column to points, and from noisy counts by total to risks.

Everything here is computed from what queries answered (private/queries/cards.py), which is noisy: it costs nothing.

**One column after the other.** What dependent columns say in common would be counted twice if each were counted by itself.
So a column is counted by what the card so far leaves to explain: a record counts for c times the chance that the card so far
gives to the class that it is not of, and for 1 at most. With c = 1 the sums of both classes are equal where the derivative of
a logistic regression vanishes; with a large c all records count for 1, as if there were no other column. A small c takes most
of the sums away, and nothing of the noise. So c is larger the more noise there is against the number of records (which is
known with noise, from the first column), and where it would be very large, all other columns are counted at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..models.partition import DOUBLING
from ..private.queries.cards import CardQueries
from ..rules.candidates import Candidates, NumberedLeaf, NumberedTree, leaves_of
from ..rules.column_parts import WHOLE, ColumnParts, Weights
from .card_points import GRID, evidence, log_likelihood

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Points = Mapping[int, Array]  # by the number of a column: the points of each of its parts
Card = tuple[Any, Points]  # where to start, with more than two classes a number for each, and the points
Reached = Sequence[npt.NDArray[np.bool_]]  # of each column, in which parts a record can be

STEP = 5  # points from one range of totals to the next
FARTHEST = 80  # totals beyond this are all in the first or the last range: odds of 256 to 1
# how c follows from the noise, and from which c on it is not worth a pass for each column: measured (docs/cards.md)
LEAST, BY_NOISE, MOST = 2.0, 240.0, 8.0
SPREAD_OF_A, SPREAD_OF_B = 0.25, 0.5  # around 0 and 1, before totals are counted: measured


@dataclass(frozen=True)
class LearnedCard:
    """A tree, a card for each of its leaves (where to start, and the points), the limits of totals, and what they mean.

    ``risks`` has the share of the second class for each range of totals, ``counts`` its class counts, if they were asked for.
    With more than two classes a card has a start for each of them, and points (classes, parts); there are no limits then.
    """

    tree: NumberedTree
    columns: list[list[int]]  # that were counted in each leaf
    cards: Sequence[Card]
    limits: list[float]
    risks: list[float]
    counts: Integers | None


@dataclass(frozen=True)
class Wanted:
    """What a card should look like: public numbers.

    ``scale`` is that of the noise in the class counts of columns, ``totals_scale`` that in the counts by total (None: no such
    counts). ``tests`` are those of the tree. Of each column there are the ``parts``, and ``signs`` say whether points rise
    (1) or fall (-1). ``sequential`` says whether columns of two classes are counted one after the other (None: if the noise
    allows it).
    """

    classes: int
    columns: int
    depth: int
    decimals: int
    scale: float
    totals_scale: float | None
    tests: Candidates
    parts: Sequence[ColumnParts]
    signs: Sequence[int]
    sequential: bool | None


class Evidence(NamedTuple):
    """Of each column the parts that can be reached, those in order first, and what each of them says of the classes."""

    places: list[npt.NDArray[np.intp]]
    base: Array
    speaking: list[Array]  # (classes, parts)


def score_card(queries: CardQueries, wanted: Wanted) -> LearnedCard:
    """A tree if there is to be one; in each leaf columns, their counts, and points; then the risk of each range of totals."""
    tree: NumberedTree = queries.grow(wanted.depth) if wanted.depth else NumberedLeaf()
    inside = reachable_parts(tree, wanted.tests, wanted.parts)
    every = list(range(len(wanted.parts)))
    columns = queries.choose(wanted.columns) if wanted.columns < len(every) else [every] * len(inside)
    reached = [[parts[i] for i in own] for own, parts in zip(columns, inside, strict=True)]
    if wanted.classes != 2:  # a total for each class says how likely each is: none of them is counted
        return LearnedCard(tree, columns, _at_once(columns, queries.count(columns), reached, wanted), [], [], None)
    cards = _cards(queries, columns, reached, wanted)
    limits = limits_between(*_ends(cards))
    if wanted.totals_scale is None:
        return LearnedCard(tree, columns, cards, limits, risks_of(limits), None)
    counts = queries.count_totals(cards, limits)
    return LearnedCard(tree, columns, cards, limits, risks_of(limits, counts, wanted.totals_scale), counts)


def reachable_parts(tree: NumberedTree, tests: Candidates, parts: Sequence[ColumnParts]) -> list[Reached]:
    """For each leaf, and each column, in which of its parts a record of the leaf can be."""
    place = {part.column: i for i, part in enumerate(parts)}
    found: list[Reached] = []
    for path, _ in leaves_of(tree):
        bins = [np.ones(len(part.part_of_bin), bool) for part in parts]
        for test, side in path:
            literal = int(tests.members[test, 0])
            bins[place[tests.literals[literal].column]] &= tests.truths[literal] == side
        found.append(
            [
                np.isin(np.arange(len(part)), part.part_of_bin[inside & tests.schema[part.column].domain])
                for part, inside in zip(parts, bins, strict=True)
            ]
        )
    return found


def _cards(
    queries: CardQueries, columns: Sequence[Sequence[int]], reached: Sequence[Reached], wanted: Wanted
) -> list[Card]:
    """A card for each leaf. Its first column is counted, and then one column after the other, or all others at once."""
    first = queries.count([own[:1] for own in columns])
    c = _share_counted(first, wanted)
    if wanted.sequential is False or (wanted.sequential is None and c > MOST):
        others = queries.count([own[1:] for own in columns])
        return _at_once(columns, [[*one, *more] for one, more in zip(first, others, strict=True)], reached, wanted)
    found = [
        _evidence(own[:1], noisy, parts[:1], wanted) for own, noisy, parts in zip(columns, first, reached, strict=True)
    ]
    for number in range(1, len(columns[0])):
        next_one = slice(number, number + 1)
        cards = [_card(own[:number], known, wanted) for own, known in zip(columns, found, strict=True)]
        sums = queries.count([own[next_one] for own in columns], _weights(cards, min(c, MOST)))
        for own, known, noisy, parts in zip(columns, found, sums, reached, strict=True):
            places, _, speaking = _evidence(own[next_one], noisy, parts[next_one], wanted)  # the base is known already
            known.places.extend(places)
            known.speaking.extend(speaking)
    return [_card(*of_leaf, wanted) for of_leaf in zip(columns, found, strict=True)]


def _at_once(
    columns: Sequence[Sequence[int]], noisy: Sequence[Sequence[Array]], reached: Sequence[Reached], wanted: Wanted
) -> list[Card]:
    """A card for each leaf, from the counts of all of its columns."""
    leaves = zip(columns, noisy, reached, strict=True)
    return [_card(own, _evidence(own, counts, parts, wanted), wanted) for own, counts, parts in leaves]


def _share_counted(first: Sequence[Sequence[Array]], wanted: Wanted) -> float:
    """c: from the noise in the counts of a column, over all of its parts in all leaves, against the number of records."""
    records = max(sum(float(table.sum()) for own in first for table in own), 1.0)
    noise = wanted.scale * float(np.mean(list(map(len, wanted.parts)))) * len(first)
    return LEAST + BY_NOISE * noise / records


def _weights(cards: Sequence[Card], c: float) -> Weights:
    """Of records by their class and total: c times the chance of the other class, 1 at most."""
    limits = limits_between(*_ends(cards))
    risks = 1 / (1 + np.exp(-_middles(limits) / DOUBLING * np.log(2)))
    by_range = np.round(WHOLE * np.minimum(1.0, c * np.stack([risks, 1 - risks]))).astype(np.int64)
    return Weights(cards, limits, by_range)


def _card(columns: Sequence[int], found: Evidence, wanted: Wanted) -> Card:
    """Log-odds of the second of two classes, or of each of more, as points, of which none is below 0.

    That is easier to add up by hand; the start makes up for it. What a part gives to all of more classes alike makes no
    difference, and is left out. Parts that no record of this leaf can be in hold nothing but noise, and are left out, too.
    """
    points: dict[int, Array] = {}
    start: Any = _in_points(found.base)
    for column, some, of_classes in zip(columns, found.places, found.speaking, strict=True):
        own = _in_points(of_classes)
        lowest = own.min(-1, initial=np.inf) if len(some) else 0.0
        start = start + lowest
        points[column] = np.zeros((*own.shape[:-1], len(wanted.parts[column])))
        points[column][..., some] = np.round(own - np.expand_dims(lowest, -1), wanted.decimals)
    start = start - start.min() if start.ndim else float(start)
    # a column that makes no difference is not on the card
    return np.round(start, wanted.decimals), {i: p for i, p in points.items() if p.any()}


def _in_points(logs: Array) -> Array:
    """By class. Of two, the second against the first; of more, each against the one that has least."""
    own = logs[1] - logs[0] if len(logs) == 2 else logs if logs.ndim == 1 else logs - logs.min(0)
    points: Array = own * DOUBLING / np.log(2)
    return points


def _evidence(columns: Sequence[int], noisy: Sequence[Array], reached: Reached, wanted: Wanted) -> Evidence:
    """What the counts of some columns say of the classes."""
    in_order = [
        [i for i in wanted.parts[column].ordered if some[i]] for column, some in zip(columns, reached, strict=True)
    ]
    places = [
        np.array([*first, *(i for i in np.flatnonzero(some) if i not in first)], np.intp)
        for first, some in zip(in_order, reached, strict=True)
    ]
    if not all(map(len, places)):  # no record can be in this leaf
        n = wanted.classes
        return Evidence(places, np.zeros(n), [np.zeros((n, len(some))) for some in places])
    counts = [table[:, some] for table, some in zip(noisy, places, strict=True)]
    signs = [wanted.signs[i] for i in columns]
    return Evidence(places, *evidence(counts, wanted.scale, list(map(len, in_order)), signs))


def _ends(cards: Sequence[Card]) -> tuple[float, float]:
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
    the odds are fitted, ``log odds = a + b * log(2) * total / 10``: what one expects of a and b given the noisy counts, where the
    noise is known. Where there is nothing but noise, that is a = 0 and b = 1.
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
    """The mean of a and b of the log-odds ``a + b x``, over a grid of both, normal around 0 and around 1. b is above 0."""
    a, b = np.linspace(-3, 3, 121)[:, None], np.linspace(0.05, 1.95, 115)[None, :]
    logs = -0.5 * (a / SPREAD_OF_A) ** 2 - 0.5 * ((b - 1) / SPREAD_OF_B) ** 2
    for total, likely in zip(x, log_likelihood(counts[1], counts[0], 0.0, scale, scale), strict=True):
        logs = logs + np.interp(a + b * total, GRID, likely)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    return float((chances * a).sum()), float((chances * b).sum())

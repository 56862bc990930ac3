"""A score card: points for each answer, a sum, and a risk for each range of sums. A frozen value that prints and goes to JSON.

A card is made of a start, and a table of points for each column. With more than two classes a record gets points for each class,
and what stands for them is a tuple with one number for each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from .._utils.errors import RuleError
from ..rules.rules import Condition, Literal, checked_number, condition_in, truth, write, write_number
from ..schema import Label, Schema
from ..schema.columns import Column
from ..schema.columns.categorical import OTHER
from ..schema.columns.values import NumberBins, TextBins, canonical
from .model import Model
from .partition import DOUBLING, Answer, Partition, Points, numbers_of

Rows = list[tuple[str, ...]]
LARGEST_TOTAL = f"The class with the largest total, the first of equals; {DOUBLING} points more double the odds."
ANY_OTHER = "any other"
MOST_LISTED = 12  # of a group that is what is left
MOST_NAMED = 6  # more categories than this are "any other" in the last line


@dataclass(frozen=True)
class PointsTable:
    """What the values of one column are worth: the first condition that is true of a record gives its points."""

    column: str
    rows: tuple[tuple[Condition, Points], ...]  # the last condition is empty

    def __post_init__(self) -> None:
        rows = tuple((tuple(condition), checked_points(points)) for condition, points in self.rows)
        object.__setattr__(self, "rows", rows)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"column": self.column, "rows": [{"if": condition, "points": points} for condition, points in self.rows]}


@dataclass(frozen=True)
class Card:
    """Where to start, and the tables to add up, for the records of which a condition is true."""

    start: Points
    tables: tuple[PointsTable, ...]
    condition: Condition = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", checked_points(self.start))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"if": self.condition, "start": self.start, "tables": self.tables}


def checked_points(given: object) -> Points:
    """A number, or one for each class."""
    if isinstance(given, tuple | list | np.ndarray):
        return tuple(map(checked_number, given))
    return checked_number(given)


@dataclass(frozen=True)
class ScoreCard(Model):
    """Points that add up to a total, which says how likely the classes are.

    A record uses the first card whose condition is true of it (the last one has none; most score cards are one card). It begins
    with the card's start, adds the points of each table, and looks its total up: the first answer is for totals below the first
    of the ``limits``, the next for those below the second, and so on.

    With more than two classes, points are tuples with a number for each class, and there are no limits: the class with the
    largest total is the answer, the first of them if there are several, and 10 points more double the odds.

    >>> from discreet import Literal
    >>> ages = PointsTable("age", (((Literal("age", "<=", 25),), 12), ((), 0)))
    >>> card = ScoreCard((Card(-5, (ages,)),), (0,), (Answer("no", shares=(0.8, 0.2)), Answer("yes", shares=(0.4, 0.6))))
    >>> print(card)
    start          -5
    age up to 25   12
        above 25    0
    <BLANKLINE>
    total       yes
    below 0      20.0 %   no
    0 or more    60.0 %   yes
    >>> card.predict({"age": [20, 40, None]}).tolist()
    ['yes', 'no', 'no']
    >>> ScoreCard.from_json(card.to_json()) == card
    True
    """

    kind: ClassVar[str] = "score card"

    cards: tuple[Card, ...]
    limits: tuple[float, ...]
    answers: tuple[Answer, ...] = ()
    classes: tuple[Label, ...] = ()
    schema: Schema | None = field(default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", tuple(map(checked_number, self.limits)))
        if not self.answers and not self.limits and self.cards and isinstance(self.cards[0].start, tuple):
            object.__setattr__(self, "answers", tuple(map(Answer, self.classes)))
        if not self.classes:
            object.__setattr__(self, "classes", tuple(dict.fromkeys(answer.label for answer in self.answers)))
        if not self.cards or self.cards[-1].condition or not all(card.condition for card in self.cards[:-1]):
            raise RuleError("the last card of a score card is the one that has no condition")
        for card in self.cards:
            columns = [table.column for table in card.tables]
            if len(set(columns)) < len(columns):
                raise RuleError("a card has two tables of one column")
        self._check()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that give points, in the order of the cards."""
        return tuple(dict.fromkeys(table.column for card in self.cards for table in card.tables))

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """Where to start, and one for each column that gives points."""
        found: list[list[tuple[Condition, Points]]] = [[(card.condition, card.start) for card in self.cards]]
        for column in self.columns:
            found.append([])
            for card in self.cards:
                nothing = (0.0,) * len(card.start) if isinstance(card.start, tuple) else 0.0
                own = next((table.rows for table in card.tables if table.column == column), (((), nothing),))
                found[-1] += [((*card.condition, *condition), points) for condition, points in own]
        return tuple(Partition(tuple(c for c, _ in rows), tuple(points for _, points in rows)) for rows in found)

    def __str__(self) -> str:
        return "\n".join(card_text(self, [*map(write, self.classes)], str, labels=False))

    def without_counts(self) -> "ScoreCard":
        """The same without class counts."""
        return replace(self, answers=tuple(replace(answer, counts=None) for answer in self.answers))

    def _entries(self) -> dict[str, Any]:
        return {"cards": self.cards, "limits": self.limits, "answers": self.answers}

    @classmethod
    def _fields_in(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        def table_in(given: Mapping[str, Any]) -> PointsTable:
            return PointsTable(given["column"], tuple((condition_in(row), row["points"]) for row in given["rows"]))

        def card_in(given: Mapping[str, Any]) -> Card:
            return Card(given["start"], tuple(map(table_in, given["tables"])), condition_in(given))

        cards, answers = tuple(map(card_in, data["cards"])), tuple(map(Answer.from_dict, data["answers"]))
        return {"cards": cards, "limits": tuple(data["limits"]), "answers": answers}


@dataclass(frozen=True)
class PointsLine:
    """A line of a table that a person fills in: what the value is ("above 25 up to 40"), in more words, and the points.

    ``more`` are the categories that a group has.
    """

    value: str
    points: Points
    more: str = ""


def lines_of_table(table: PointsTable, schema: Schema | None, labels: bool = True) -> list[PointsLine]:
    """The lines of a table: no value is in two of them, so their order does not matter.

    What no line names (the schema does not foresee it) gets the points of the last line. With ``labels`` categories are called as
    the schema says.

    >>> from discreet import Numeric
    >>> ages = Schema([Numeric("age", cuts=[25, 40], missing=True)])
    >>> rows = ((Literal("age", "<=", 25),), 12), ((Literal("age", "<=", 40),), 7), ((Literal("age", "is missing"),), 3), ((), 0)
    >>> [(line.value, line.points) for line in lines_of_table(PointsTable("age", rows), ages)]
    [('up to 25', 12.0), ('above 25 up to 40', 7.0), ('above 40', 0.0), ('missing', 3.0)]
    """
    if schema is None or any(literal.column != table.column for condition, _ in table.rows for literal in condition):
        return [
            PointsLine(" and ".join(map(str, condition)) or "otherwise", points) for condition, points in table.rows
        ]
    column, lines = schema[table.column], []
    left = np.ones(column.n_bins, bool)
    for condition, points in table.rows:
        bins = np.logical_and.reduce([left, *(truth(schema, literal) for literal in condition)])
        left = left & ~bins
        if not (bins & column.domain).any() and condition:
            continue  # nothing that the schema foresees is here
        # of numbers and truth values nothing is unforeseen, so that the last line can be that of missing ones
        is_last = not bins[:-1].any() and not isinstance(column.value_bins, TextBins)
        value, more = _said(column, bins & column.domain, condition, labels)
        lines.append((is_last, PointsLine(value, points, more)))
    return [line for _, line in sorted(lines, key=itemgetter(0))]


def _said(column: Column, seen: np.ndarray, condition: Condition, labels: bool) -> tuple[str, str]:
    """What a value is that is in one of these bins, and more words about it."""
    more = ""
    match column.value_bins:
        case NumberBins() as numbers:
            places = np.flatnonzero(seen[:-1]) - numbers.first
            ends = [
                None,
                *((op, numbers.as_value(edge)) for op, edge in numbers.ends),
                None,
            ]  # bin i is from end i to end i + 1
            stretches = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []
            parts = [_range(ends[stretch[0]], ends[stretch[-1] + 1], numbers.types[0]) for stretch in stretches]
        case TextBins() as texts:
            parts, more = _categories(column, texts, seen[:-1], condition, labels)
        case _:
            words = [word for word, true in zip(("false", "true"), seen[:-1], strict=True) if true]
            parts = [(column.value_label(word) if labels else None) or word for word in words]
    if seen[-1]:
        parts.append("missing")
    return " or ".join(parts) or "otherwise", more


def _range(low: tuple[str, float | date] | None, high: tuple[str, float | date] | None, of: str = "number") -> str:
    """From the end of one bin to that of another.

    >>> _range(None, ("<=", 3)), _range(("<=", 3), ("<", 5)), _range(("<", 5), ("<=", 5)), _range(("<", 5), None)
    ('up to 3', 'above 3 below 5', '5', '5 or more')
    """
    if any(end is not None and isinstance(end[1], date) for end in (low, high)):
        return " ".join(f"{word} {end[1]}" for word, end in (("from", low), ("before", high)) if end is not None)
    if low is not None and high is not None and low[1] == high[1]:
        return write_number(low[1])  # a bin of one number
    if low is not None and low[0] == "<" and high is None:
        return f"{write_number(low[1])} or more"
    above = "" if low is None else f"{'above' if low[0] == '<=' else 'from'} {write_number(low[1])}"
    below = "" if high is None else f"{'up to' if high[0] == '<=' else 'below'} {write_number(high[1])}"
    return f"{above} {below}".strip() or f"any {of}"


def _categories(
    column: Column, texts: TextBins, seen: np.ndarray, condition: Condition, labels: bool
) -> tuple[list[str], str]:
    """The categories, or groups of them, that all of these bins are; and what is in the groups."""
    named, rest, more = [], seen.copy(), []
    for op, value in column.tests():
        true = column.where(op, value)[:-1] & column.domain[:-1] if op == "=" else np.zeros(len(rest), bool)
        if not (true & rest).any() or (true & ~seen).any():
            continue
        rest &= ~true
        members = [text for text, place in texts.bin_of.items() if place < len(true) and true[place]]
        collects = value == OTHER and (len(members) > MOST_LISTED or texts.unlisted in np.flatnonzero(true))
        named.append(ANY_OTHER if collects else _called(column, value, labels))
        if members != [canonical(value)] and not collects:
            more += [_called(column, member, labels) for member in members]
    if not rest.any() and len(named) <= MOST_NAMED:
        return named, ", ".join(more)
    if condition:  # of groups that overlap the first counts, as the lines say
        return [" and ".join(_without_column(literal, column, labels) for literal in condition)], ""
    return [*(named if len(named) <= MOST_NAMED else []), ANY_OTHER], ""


def _called(column: Column, value: object, labels: bool) -> str:
    return (column.value_label(value) or str(value)) if labels else write(value)


def _without_column(literal: Literal, column: Column, labels: bool) -> str:
    if literal.value is None:
        return literal.op.removeprefix("is ")
    return f"{'' if literal.op == '=' else 'not '}{_called(column, literal.value, labels)}"


def counts_as_missing(column: Column) -> str:
    """Which values count as missing though they are there: "below 0 or above 99". Mostly none."""
    bins = column.value_bins
    if isinstance(bins, NumberBins):
        ends = zip(("below", "above"), bins.limits, strict=True)
        return " or ".join(f"{side} {write_number(end)}" for side, end in ends if end is not None)
    return "anything else" if getattr(column, "outside", None) == "missing" else ""


def ranges_of_totals(cards: Sequence[Card], limits: Sequence[float]) -> list[str]:
    """The totals that each answer is for. If all points are integers there is nothing between -1 and 0.

    >>> ranges_of_totals([Card(-5, ())], (-5, 0, 1)), ranges_of_totals([Card(-2.5, ())], (-5, 0))
    (['below -5', '-5 to -1', '0', '1 or more'], ['below -5', '-5 to below 0', '0 or more'])
    """
    if not limits:
        return ["any total"]
    points = [card.start for card in cards] + [p for card in cards for table in card.tables for _, p in table.rows]
    whole = all(number.is_integer() for p in (*points, *limits) for number in map(float, numbers_of(p)))
    said = [f"below {write_number(limits[0])}"]
    for low, high in pairwise(limits):
        last = f"to {write_number(high - 1)}" if whole else f"to below {write_number(high)}"
        said.append(write_number(low) + ("" if whole and high - 1 == low else f" {last}"))
    return [*said, f"{write_number(limits[-1])} or more"]


def percent_of(share: float) -> str:
    """A share as people read it: three digits are one decimal of a percentage.

    >>> percent_of(0.107), percent_of(0.5), percent_of(0.12345)
    ('10.7', '50.0', '12.345')
    """
    return f"{100 * share:.1f}" if round(share, 3) == share else f"{100 * share:.10g}"


def card_text(model: ScoreCard, classes: Sequence[str], said: Callable[[Literal], str], labels: bool) -> list[str]:
    """All lines of a score card, with classes and literals in these words; with ``labels``, also columns and categories."""
    lines: list[str] = []
    for number, card in enumerate(model.cards):
        if len(model.cards) > 1:
            opening = f"if {' and '.join(map(said, card.condition))}" if card.condition else ""
            lines.append(f"{'else ' if number else ''}{opening}".rstrip() + ":")
        lines += [*_lines(card_rows(model, card, classes, labels), right=2), ""]
    return [*lines, *_meaning(model, classes)]


def card_rows(model: ScoreCard, card: Card, classes: Sequence[str], labels: bool) -> Rows:
    """The start and the lines of all tables: the column (in its first line), the value, the points (one number, or several)."""
    rows: Rows = [("", "", *classes)] if model.has_points_by_class else []
    rows.append(("start", "", *map(write_number, numbers_of(card.start))))
    for table in card.tables:
        called = (
            model.schema[table.column].called if labels and model.schema is not None else write(table.column, name=True)
        )
        for number, line in enumerate(lines_of_table(table, model.schema, labels)):
            rows.append((called if number == 0 else "", line.value, *map(write_number, numbers_of(line.points))))
    return rows


def _meaning(model: ScoreCard, classes: Sequence[str]) -> list[str]:
    """What totals mean: how likely the second of two classes is, or all of more."""
    if model.has_points_by_class:
        return [LARGEST_TOTAL]
    shown = range(1, 2) if len(classes) == 2 else range(len(classes))
    with_shares = all(answer.shares is not None or answer.counts is not None for answer in model.answers)
    rows: Rows = [("total", *(classes[i] for i in shown), "")] if with_shares else []
    for said, answer in zip(ranges_of_totals(model.cards, model.limits), model.answers, strict=True):
        shares = model.shares_of(answer).tolist()
        percents = [f"{percent_of(shares[i]):>5} %" for i in shown] if with_shares else []
        label = classes[model.classes.index(answer.label)]
        rows.append((said if with_shares else f"total {said}", *percents, label))
    return _lines(rows, right=len(rows[0]), gap="   ")


def aligned(rows: Rows, right: int, gap: str = " ") -> Iterator[list[str]]:
    """The cells of rows, to stand under each other: those on the left joined, those from ``right`` on with room before them."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        left = gap.join(f"{cell:<{wide[i]}}" for i, cell in enumerate(row[:right]))
        yield [left, *(f"   {cell:>{wide[i]}}" for i, cell in enumerate(row[right:], right))]


def _lines(rows: Rows, right: int, gap: str = " ") -> list[str]:
    return ["".join(cells).rstrip() for cells in aligned(rows, right, gap)]

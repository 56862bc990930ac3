"""What a score card is made of: a start, and a table of points for each column; and its lines as a person would write them.

With more than two classes a record gets points for each class, and what stands for them is a tuple with one number for each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..rules.rules import Condition, Literal, checked_number, condition_in, truth
from ..rules.text import write, write_number
from ..schema import Schema
from ..schema.columns import Column
from ..schema.columns.categorical import OTHER
from ..schema.columns.values import NumberBins, TextBins, canonical
from .partition import Points, numbers_of

Bins = npt.NDArray[np.bool_]
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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "PointsTable":
        """Read what ``to_dict`` made."""
        return cls(data["column"], tuple((condition_in(row), row["points"]) for row in data["rows"]))


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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Card":
        """Read what ``to_dict`` made."""
        return cls(data["start"], tuple(map(PointsTable.from_dict, data["tables"])), condition_in(data))


def checked_points(given: object) -> Points:
    """A number, or one for each class."""
    if isinstance(given, tuple | list | np.ndarray):
        return tuple(map(checked_number, given))
    return checked_number(given)


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
    column = schema[table.column]
    left = np.ones(column.n_bins, bool)
    lines: list[PointsLine] = []
    missing: list[PointsLine] = []
    for condition, points in table.rows:
        bins = np.logical_and.reduce([left, *(truth(schema, literal) for literal in condition)])
        left = left & ~bins
        if not (bins & column.domain).any() and condition:
            continue  # nothing that the schema foresees is here
        value, more = _said(column, bins, condition, labels)
        # of numbers and truth values nothing is unforeseen, so that the last line can be that of missing ones
        last = not bins[:-1].any() and not isinstance(column.value_bins, TextBins)
        (missing if last else lines).append(PointsLine(value, points, more))
    return [*lines, *missing]


def _said(column: Column, bins: Bins, condition: Condition, labels: bool) -> tuple[str, str]:
    """What a value is that is in one of these bins, and more words about it."""
    seen, more = bins & column.domain, ""
    match column.value_bins:
        case NumberBins() as numbers:
            parts = _ranges(numbers, seen[:-1])
        case TextBins():
            parts, more = _categories(column, seen, condition, labels)
        case _:
            words = [word for word, true in zip(("false", "true"), seen[:-1], strict=True) if true]
            parts = [(column.value_label(word) if labels else None) or word for word in words]
    if seen[-1]:
        parts.append("missing")
    return " or ".join(parts) or "otherwise", more


def _ranges(numbers: NumberBins, seen: Bins) -> list[str]:
    """Stretches of neighbouring bins, each in words."""
    parts, places = [], np.flatnonzero(seen) - numbers.first
    for stretch in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []:
        low = numbers.ends[stretch[0] - 1] if stretch[0] > 0 else None
        high = numbers.ends[stretch[-1]] if stretch[-1] < len(numbers.ends) else None
        parts.append(_range(low, high))
    return parts


def _range(low: tuple[str, float] | None, high: tuple[str, float] | None) -> str:
    """From the end of one bin to that of another.

    >>> _range(None, ("<=", 3)), _range(("<=", 3), ("<", 5)), _range(("<", 5), ("<=", 5)), _range(("<", 5), None)
    ('up to 3', 'above 3 below 5', '5', '5 or more')
    """
    if low is None and high is None:
        return "any number"
    if low is not None and high is not None and low[1] == high[1]:
        return write_number(low[1])  # a bin of one number
    said = "" if high is None else f"{'up to' if high[0] == '<=' else 'below'} {write_number(high[1])}"
    if low is None:
        return said
    if low[0] == "<=":
        return f"above {write_number(low[1])} {said}".strip()
    return f"from {write_number(low[1])} {said}" if said else f"{write_number(low[1])} or more"


def _categories(column: Column, seen: Bins, condition: Condition, labels: bool) -> tuple[list[str], str]:
    """The categories, or groups of them, that all of these bins are; and what is in the groups."""
    texts, named, rest, more = column.value_bins, [], seen[:-1].copy(), []
    assert isinstance(texts, TextBins)
    for op, value in column.tests():
        true = column.where(op, value)[:-1] & column.domain[:-1] if op == "=" else np.zeros(len(rest), bool)
        if not (true & rest).any() or (true & ~seen[:-1]).any():
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
        low, high = bins.limits
        beyond = [f"below {write_number(low)}"] if low is not None else []
        return " or ".join([*beyond, *([f"above {write_number(high)}"] if high is not None else [])])
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

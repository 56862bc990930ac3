"""A score card: points for each answer, a sum, and a risk for each range of sums. A frozen value that prints and goes to JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .._utils.errors import RuleError
from ..rules.rules import Condition, Literal, checked_number
from ..rules.text import write, write_number
from ..schema import Label, Schema
from .cards import Card as Card
from .cards import PointsTable as PointsTable
from .cards import lines_of_table, percent_of, ranges_of_totals
from .model import Model
from .partition import DOUBLING, Answer, Partition, Points, numbers_of

Rows = list[tuple[str, ...]]
LARGEST_TOTAL = f"The class with the largest total, the first of equals; {DOUBLING} points more double the odds."


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
        starts = Partition(tuple(card.condition for card in self.cards), tuple(card.start for card in self.cards))
        return (starts, *(self._partition(column) for column in self.columns))

    def _partition(self, column: str) -> Partition:
        rows: list[tuple[Condition, Points]] = []
        for card in self.cards:
            nothing = (0.0,) * len(card.start) if isinstance(card.start, tuple) else 0.0
            own = next((table.rows for table in card.tables if table.column == column), (((), nothing),))
            rows += [((*card.condition, *condition), points) for condition, points in own]
        return Partition(tuple(condition for condition, _ in rows), tuple(points for _, points in rows))

    def __str__(self) -> str:
        return "\n".join(card_text(self, [*map(write, self.classes)], str, labels=False))

    def without_counts(self) -> "ScoreCard":
        """The same without class counts."""
        return replace(self, answers=tuple(replace(answer, counts=None) for answer in self.answers))

    def _entries(self) -> dict[str, Any]:
        return {"cards": self.cards, "limits": self.limits, "answers": self.answers}

    @classmethod
    def _fields_in(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        cards, answers = tuple(map(Card.from_dict, data["cards"])), tuple(map(Answer.from_dict, data["answers"]))
        return {"cards": cards, "limits": tuple(data["limits"]), "answers": answers}


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
        called = _called(table.column, model.schema, labels)
        for number, line in enumerate(lines_of_table(table, model.schema, labels)):
            rows.append((called if number == 0 else "", line.value, *map(write_number, numbers_of(line.points))))
    return rows


def _called(column: str, schema: Schema | None, labels: bool) -> str:
    return schema[column].called if labels and schema is not None else write(column, name=True)


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

"""A score card: points for each answer, a sum, and a risk for each range of sums. A frozen value that prints and goes to JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .._utils.errors import RuleError
from ..rules.partition import Answer, Condition, Partition, Points
from ..rules.rules import Rule, checked_number, schema_of
from ..rules.text import write
from ..schema import Label, Schema
from .card_text import card_text
from .cards import Card as Card
from .cards import PointsTable as PointsTable
from .json_form import entries_of, json_text, literal_from_dict, literal_to_dict, reading_entries, schema_from
from .model import PartitionModel

FORMAT, VERSION = "discreet score card", 1


@dataclass(frozen=True)
class ScoreCard(PartitionModel):
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
        if not self.answers and not self.limits and self.has_points_by_class:
            object.__setattr__(self, "answers", tuple(map(Answer, self.classes)))
        classes = self.classes or tuple(dict.fromkeys(answer.label for answer in self.answers))
        object.__setattr__(self, "classes", classes)
        if not self.cards or self.cards[-1].condition or not all(card.condition for card in self.cards[:-1]):
            raise RuleError("the last card of a score card is the one that has no condition")
        for card in self.cards:
            columns = [table.column for table in card.tables]
            if len(set(columns)) < len(columns):
                raise RuleError("a card has two tables of one column")
        if self.schema is None:
            conditions = [condition for partition in self.partitions for condition in partition.conditions if condition]
            object.__setattr__(self, "schema", schema_of(map(Rule, conditions)) if conditions else None)
        self._check()

    @property
    def has_points_by_class(self) -> bool:
        """Whether points are for each class."""
        return bool(self.cards) and isinstance(self.cards[0].start, tuple)

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
        conditions = [" and ".join(map(str, card.condition)) for card in self.cards]
        return "\n".join(card_text(self, [*map(write, self.classes)], conditions, labels=False))

    def without_counts(self) -> "ScoreCard":
        """The same without class counts."""
        return replace(self, answers=tuple(replace(answer, counts=None) for answer in self.answers))

    def to_json(self, indent: int | None = 1) -> str:
        """The card as JSON that ``from_json`` reads back, here or in a later version."""
        data = {"format": FORMAT, "version": VERSION, "classes": list(self.classes)}
        data |= {"cards": [_to_dict(card) for card in self.cards], "limits": list(self.limits)}
        data |= {"answers": [_answer_to_dict(answer) for answer in self.answers]}
        return json_text(data, self.schema, indent)

    @classmethod
    def from_json(cls, text: str) -> "ScoreCard":
        """Read what ``to_json`` wrote."""
        data = entries_of(text, FORMAT, VERSION)
        with reading_entries():
            cards = tuple(_from_dict(card) for card in data["cards"])
            answers = tuple(Answer(a["then"], a.get("counts"), a.get("shares")) for a in data["answers"])
            limits, classes, schema = tuple(data["limits"]), tuple(data["classes"]), schema_from(data)
        return cls(cards, limits, answers, classes, schema)


def _to_dict(card: Card) -> dict[str, Any]:
    tables = [
        {"column": t.column, "rows": [{"if": [literal_to_dict(x) for x in c], "points": p} for c, p in t.rows]}
        for t in card.tables
    ]
    return {"if": [literal_to_dict(x) for x in card.condition], "start": card.start, "tables": tables}


def _from_dict(data: Mapping[str, Any]) -> Card:
    tables = tuple(
        PointsTable(t["column"], tuple((tuple(map(literal_from_dict, r["if"])), r["points"]) for r in t["rows"]))
        for t in data["tables"]
    )
    return Card(data["start"], tables, tuple(map(literal_from_dict, data["if"])))


def _answer_to_dict(answer: Answer) -> dict[str, Any]:
    numbers = {"counts": answer.counts, "shares": answer.shares}
    return {"then": answer.label, **{name: list(given) for name, given in numbers.items() if given is not None}}

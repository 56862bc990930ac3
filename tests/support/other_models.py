"""A kind of model that the package does not have, a score card: what every kind needs, in few lines."""

from dataclasses import dataclass
from typing import ClassVar

from discreet import Schema
from discreet.models.model import Model
from discreet.models.partition import Answer, Partition
from discreet.rules.rules import Condition, Literal
from discreet.rules.text import write


@dataclass(frozen=True)
class ScoreCard(Model):
    kind: ClassVar[str] = "score card"

    tables: tuple[tuple[tuple[Condition, float], ...], ...]
    limits: tuple[float, ...]
    answers: tuple[Answer, ...]
    classes: tuple = ()
    schema: Schema | None = None

    def __post_init__(self):
        self._check()

    @property
    def partitions(self):
        return tuple(Partition(tuple(c for c, _ in t), tuple(p for _, p in t)) for t in self.tables)

    def __str__(self):
        rows = (
            f"{' and '.join(map(str, c)) or 'otherwise'}: {points:g}" for table in self.tables for c, points in table
        )
        return "\n".join([*rows, f"limits {self.limits}: {', '.join(write(a.label) for a in self.answers)}"])

    def _entries(self):
        tables = [[{"if": [x.to_dict() for x in c], "points": p} for c, p in t] for t in self.tables]
        answers = [{"then": a.label, "counts": a.counts, "shares": a.shares} for a in self.answers]
        return {"tables": tables, "limits": self.limits, "answers": answers}

    @classmethod
    def _fields_in(cls, data):
        tables = tuple(
            tuple((tuple(map(Literal.from_dict, row["if"])), row["points"]) for row in table)
            for table in data["tables"]
        )
        return {
            "tables": tables,
            "limits": tuple(data["limits"]),
            "answers": tuple(map(Answer.from_dict, data["answers"])),
        }

"""A kind of model that the package does not have, a score card: what every kind needs, in few lines."""

from dataclasses import dataclass
from typing import ClassVar

from discreet import Schema
from discreet.models.json_form import (
    entries_of,
    json_text,
    literal_from_dict,
    literal_to_dict,
    reading_entries,
    schema_from,
)
from discreet.models.model import PartitionModel
from discreet.rules.partition import Answer, Condition, Partition
from discreet.rules.text import write


@dataclass(frozen=True)
class ScoreCard(PartitionModel):
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

    def to_json(self, indent=1):
        tables = [[{"if": [literal_to_dict(x) for x in c], "points": p} for c, p in t] for t in self.tables]
        answers = [{"then": a.label, "counts": a.counts, "shares": a.shares} for a in self.answers]
        data = {"format": "discreet score card", "version": 1, "classes": self.classes, "tables": tables}
        return json_text(data | {"limits": self.limits, "answers": answers}, self.schema, indent)

    @classmethod
    def from_json(cls, text):
        data = entries_of(text, "discreet score card", 1)
        with reading_entries():
            tables = tuple(
                tuple((tuple(map(literal_from_dict, row["if"])), row["points"]) for row in table)
                for table in data["tables"]
            )
            answers = tuple(
                Answer(a["then"], a["counts"] and tuple(a["counts"]), a["shares"] and tuple(a["shares"]))
                for a in data["answers"]
            )
            parts = tables, tuple(data["limits"]), answers, tuple(data["classes"]), schema_from(data)
        return cls(*parts)

"""Two kinds of models that the package does not have: a tree, and a score card. What every kind needs, in few lines."""

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet import Literal, Schema
from discreet.conditions.partition import Answer, Condition, Partition
from discreet.conditions.text import write
from discreet.models.json_form import (
    entries_of,
    json_text,
    literal_from_dict,
    literal_to_dict,
    reading_entries,
    schema_from,
)
from discreet.models.model import PartitionModel

Node = Any  # an Answer (a leaf), or a Split


@dataclass(frozen=True)
class Split:
    test: Literal
    true: Node
    other: Node


@dataclass(frozen=True)
class Tree(PartitionModel):
    kind: ClassVar[str] = "tree"
    limits: ClassVar[tuple[float, ...]] = ()

    root: Node
    classes: tuple = ()
    schema: Schema | None = None

    def __post_init__(self):
        self._check()

    def leaves(self, node=None, before=()):
        """Leaves, the branch where a test is true first, each with the tests that were true on the way."""
        node = node or self.root
        if isinstance(node, Answer):
            return [(before, node)]
        return self.leaves(node.true, (*before, node.test)) + self.leaves(node.other, before)

    @property
    def partitions(self):
        return (Partition(tuple(condition for condition, _ in self.leaves())),)

    @property
    def answers(self):
        return tuple(answer for _, answer in self.leaves())

    def __str__(self):
        return "\n".join(self._lines(self.root))

    def _lines(self, node):
        if isinstance(node, Answer):
            return [write(node.label)]
        yes, no = ([f"    {line}" for line in self._lines(n)] for n in (node.true, node.other))
        return [f"if {node.test}", *yes, "else", *no]

    def to_json(self, indent=1):
        data = {"format": "discreet tree", "version": 1, "classes": self.classes, "root": _to_dict(self.root)}
        return json_text(data, self.schema, indent)

    @classmethod
    def from_json(cls, text):
        data = entries_of(text, "discreet tree", 1)
        with reading_entries():
            parts = _from_dict(data["root"]), tuple(data["classes"]), schema_from(data)
        return cls(*parts)


def _to_dict(node):
    if isinstance(node, Answer):
        return {"then": node.label, "counts": node.counts}
    return {"if": literal_to_dict(node.test), "true": _to_dict(node.true), "other": _to_dict(node.other)}


def _from_dict(data):
    if "then" in data:
        return Answer(data["then"], data["counts"] and tuple(data["counts"]))
    return Split(literal_from_dict(data["if"]), _from_dict(data["true"]), _from_dict(data["other"]))


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

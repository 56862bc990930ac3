"""A rule list: a frozen value that prints, parses back, goes to JSON and predicts."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._utils.errors import RuleError
from ..rules.rules import Reader, Rule, condition_in, truth
from ..schema import Label, Schema
from .model import Model
from .partition import Answer, Partition

MOST_COMBINATIONS = 1 << 20  # of values that `reachable` looks at


@dataclass(frozen=True)
class RuleList(Model):
    """Rules in order, then a default: the first rule that is true of a record gives its label.

    ``classes`` are the labels in the order of the counts, ``schema`` says what the columns are. Both may be left out: they
    are then what the rules need. ``class_weight``, one for each class, is what mistakes counted when labels were chosen.

    >>> rules = RuleList.parse('''
    ...     if age <= 25 and priors > 2 then yes
    ...     else if priors > 5 then yes
    ...     else no''')
    >>> rules.predict({"age": [20, 20, 50], "priors": [3, 1, 6]})
    array(['yes', 'no', 'yes'], dtype='<U3')
    >>> RuleList.from_json(rules.to_json()) == rules
    True
    """

    kind: ClassVar[str] = "rule list"
    limits: ClassVar[tuple[float, ...]] = ()

    rules: tuple[Rule, ...]
    default: Rule
    classes: tuple[Label, ...] = ()
    schema: Schema | None = field(default=None)
    class_weight: tuple[float, ...] | None = None

    if TYPE_CHECKING:  # a dataclass asks for tuples; any sequence will do, and becomes one

        def __init__(
            self,
            rules: Sequence[Rule],
            default: Rule | Label,
            classes: Sequence[Label] = (),
            schema: Schema | None = None,
            class_weight: Sequence[float] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        if not isinstance(self.default, Rule):
            object.__setattr__(self, "default", Rule((), self.default))
        everyone = (*self.rules, self.default)
        if not all(isinstance(r, Rule) and r.label is not None for r in everyone):
            raise RuleError("every rule of a list, and its default, needs a label")
        if self.default.antecedent or not all(r.antecedent for r in self.rules):
            raise RuleError("the default is the one rule of a list that has no literals")
        self._check()

    def __len__(self) -> int:
        """The paper's length: it counts the default."""
        return len(self.rules) + 1

    def __iter__(self) -> Iterator[Rule]:
        return iter((*self.rules, self.default))

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The rules as they stand, and the default."""
        return (Partition(tuple(rule.antecedent for rule in self)),)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The labels of the rules and of the default, with their counts."""
        return tuple(Answer(rule.label, rule.counts) for rule in self if rule.label is not None)

    @classmethod
    def parse(cls, text: str, classes: Iterable[Label] = (), schema: Schema | None = None) -> "RuleList":
        """Parse a list from a string. Line breaks and indentation do not matter."""
        rules, default = Reader(text).whole(Reader.rule_list)
        return cls(tuple(rules), Rule((), default), tuple(classes), schema)

    def without_counts(self) -> "RuleList":
        """The list without its counts."""
        bare = [replace(rule, counts=None) for rule in self]
        return replace(self, rules=tuple(bare[:-1]), default=bare[-1])

    def merged(self) -> "RuleList":
        """The list with the last rules that repeat the default's label merged into the default: it predicts the same labels.

        Counts are added up, and so is their noise: ``count_intervals`` do not hold for the sums, and probabilities are coarser.
        So only ``print(clf)`` and ``print(saved_model)``, which show no counts, show this list. The model, its file, reports
        and exported code keep every rule as it was released.

        >>> print(RuleList.parse("if a then 1 else if b then 0 else if c then 0 else 0").merged())
        if a then 1
        else 0
        """
        kept = len(self.rules)
        while kept and self.rules[kept - 1].label == self.default.label:
            kept -= 1
        counts = [rule.counts for rule in (*self.rules[kept:], self.default) if rule.counts is not None]
        added = tuple(map(sum, zip(*counts, strict=True))) if len(counts) == len(self) - kept else None
        return replace(self, rules=self.rules[:kept], default=replace(self.default, counts=added))

    def reachable(self) -> "RuleList":
        """The list without the rules that no record the schema foresees can reach, whatever the table.

        It predicts the same for every record that the schema foresees. For others (a category that is not listed and has no group
        to go to, a missing value where none is said to be) it may not: one of the rules left out, or the condition of the last
        one kept, could have told them apart.

        >>> print(RuleList.parse("if a then 1 else if not a then 0 else if b then 1 else 0").reachable())
        if a then 1
        else 0
        """
        used = self.used_columns
        if self.schema is None or math.prod(self.schema[c].n_bins for c in used) > MOST_COMBINATIONS:
            return self
        alive = np.ones((), bool)  # all combinations of bins, an axis a column
        for name in used:
            alive = np.logical_and.outer(alive, self.schema[name].domain)
        kept = []
        for rule in self.rules:
            true = alive
            for literal in rule.antecedent:
                shape = [-1 if name == literal.column else 1 for name in used]
                true = true & truth(self.schema, literal).reshape(shape)
            alive = alive & ~true
            if true.any():
                kept.append(rule)
            if not alive.any():  # it takes all that is left, and so is the default
                return replace(self, rules=tuple(kept[:-1]), default=replace(kept[-1], antecedent=()))
        return replace(self, rules=tuple(kept))

    def _entries(self) -> dict[str, Any]:
        *answers, default = self.answers
        parts = zip(self.rules, answers, strict=True)
        return {"rules": [{"if": rule.antecedent, **answer.to_dict()} for rule, answer in parts], "default": default}

    @classmethod
    def _fields_in(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        rules = tuple(_rule_from_dict(rule) for rule in data["rules"])
        return {"rules": rules, "default": _rule_from_dict({"if": [], **data["default"]})}


def _rule_from_dict(data: Mapping[str, Any]) -> Rule:
    return Rule(condition_in(data), data["then"], data.get("counts"))

"""A model in the words that people use: labels in place of names, where the schema has some."""

from collections.abc import Iterator, Sequence

from ..schema import Schema
from .card_text import card_text
from .cards import cards_of, numbers_of
from .nodes import INDENT, lines_of, root_of
from .partition import Condition, Model, Points, conditions_of_answers
from .rules import Literal
from .text import write, write_number


def in_labels(literal: Literal, schema: Schema | None) -> Literal:
    """A literal to be shown, not evaluated: its column and its category under their labels.

    >>> from discreet import Categorical
    >>> wards = Schema([Categorical("ward", categories=["A", "B"], label="Ward", labels={"A": "surgery"})])
    >>> print(in_labels(Literal("ward", "=", "A"), wards), "|", in_labels(Literal("ward", "!=", "B"), wards))
    Ward = surgery | Ward != B
    """
    if schema is None or literal.column not in schema:  # the total of points is no column
        return literal
    column = schema[literal.column]
    if literal.op in ("is true", "is false"):
        label = column.value_label(literal.op.removeprefix("is "))
        return Literal(column.called, literal.op) if label is None else Literal(column.called, "=", label)
    label = column.value_label(literal.value) if literal.op in ("=", "!=") else None
    return Literal(column.called, literal.op, literal.value if label is None else label)


def classes_called(model: Model) -> tuple[str, ...]:
    """What people call the classes. If two would be called the same, which a schema of other classes can do, their names."""
    names = tuple(str(c) for c in model.classes)
    if model.schema is None:
        return names
    called = tuple(model.schema.class_called(c) for c in model.classes)
    return called if len(set(called)) == len(called) else names


def target_called(model: Model, target: str | None) -> str | None:
    """What people call the target."""
    schema = model.schema
    return schema.target_label if schema is not None and schema.target_label else target


def lines_in_labels(model: Model) -> Iterator[str]:
    """A model as it prints, for people: with labels, and so not to be parsed.

    >>> from discreet import Boolean, RuleList
    >>> jobs = Schema([Boolean("emp", label="Employed")], "y", [0, 1], class_labels={"1": "earns more"})
    >>> print(*lines_in_labels(RuleList.parse("if emp then 1 else 0", (0, 1), jobs)), sep="\\n")
    if Employed then "earns more"
    else 0
    """
    called = dict(zip(model.classes, classes_called(model), strict=True))
    outcomes = [write(called[a.label]) if called[a.label] != str(a.label) else write(a.label) for a in model.answers]
    if (root := root_of(model)) is not None:
        left = iter(outcomes)
        for line in lines_of(root):
            test = "" if line.test is None else f" {in_labels(line.test, model.schema)} then"
            yield f"{INDENT * line.indent}{line.opening}{test}" + ("" if line.answer is None else f" {next(left)}")
        return
    if cards := cards_of(model):
        conditions = [" and ".join(str(in_labels(x, model.schema)) for x in card.condition) for card in cards]
        yield from card_text(model, classes_called(model), conditions, labels=True)
        return
    for partition in model.partitions:
        if partition.points is not None:
            yield from _rules(model, partition.conditions, [f"{_said(p)} points" for p in partition.points])
            yield ""
    yield from _rules(model, conditions_of_answers(model), outcomes)


def _said(points: Points) -> str:
    return ", ".join(map(write_number, numbers_of(points)))


def _rules(model: Model, conditions: Sequence[Condition], outcomes: Sequence[str]) -> Iterator[str]:
    for i, (condition, outcome) in enumerate(zip(conditions, outcomes, strict=True)):
        tests = " and ".join(str(in_labels(literal, model.schema)) for literal in condition)
        if tests:
            yield f"{'else ' if i else ''}if {tests} then {outcome}"
        else:
            yield f"{'else' if i else 'always'} {outcome}"

"""A model in the words that people use: labels in place of names, where the schema has some."""

from collections.abc import Iterator

from ..rules.rules import Literal
from ..rules.text import write, write_number
from ..schema import Schema
from .model import Model
from .partition import Answer, written
from .score_card import ScoreCard, card_text


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


def reason_for_label(model: Model, answer: Answer, noisy: bool) -> str:
    """Why the label is not the class with the largest count; nothing where it is, or there are no counts to compare.

    A label is a decision: it is chosen on the exact records, with the weights of the classes and the limits of the model,
    together with all other labels. The counts are noisy, and as released.

    >>> from discreet import Rule, RuleList
    >>> ill = Rule((), "ill", (4155, 85))
    >>> weighted = RuleList((), ill, ("well", "ill"), class_weight=(1, 100))
    >>> reason_for_label(weighted, weighted.answers[0], noisy=True)
    'a missed case counts 100 times'
    >>> plain = RuleList((), ill, ("well", "ill"))
    >>> reason_for_label(plain, plain.answers[0], noisy=True)
    'drawn with the list; the counts are noisy'
    """
    if answer.counts is None or answer.shares is not None:  # shares of its own are not compared with counts
        return ""
    counts, label = answer.positive, model.classes.index(answer.label)
    most = counts.index(max(counts))
    if counts[label] == counts[most]:
        return ""
    weights = model.class_weight or (1.0,) * len(counts)
    weighted = [weight * count for weight, count in zip(weights, counts, strict=True)]
    if weights[label] > weights[most] and weighted[label] == max(weighted):
        of = "" if len(counts) == 2 else f" as much as one of {classes_called(model)[most]}"
        return f"a missed case counts {write_number(float(f'{weights[label] / weights[most]:.3g}'))} times{of}"
    kind = model.kind.split()[-1]
    return f"drawn with the {kind}; the counts are noisy" if noisy else f"chosen with the whole {kind}"


def lines_in_labels(model: Model, noisy: bool = True) -> Iterator[str]:
    """A model as it prints, for people: with labels, and so not to be parsed. ``noisy``: whether its counts are.

    >>> from discreet import Boolean, RuleList
    >>> jobs = Schema([Boolean("emp", label="Employed")], "y", [0, 1], class_labels={"1": "earns more"})
    >>> print(*lines_in_labels(RuleList.parse("if emp then 1 else 0", (0, 1), jobs)), sep="\\n")
    if Employed then "earns more"
    else 0
    """

    def said(literal: Literal) -> str:
        return str(in_labels(literal, model.schema))

    if isinstance(model, ScoreCard):
        yield from card_text(model, classes_called(model), said, labels=True)
        return
    called = dict(zip(model.classes, classes_called(model), strict=True))

    def outcome(answer: Answer) -> str:
        own = called[answer.label]
        label = write(answer.label if own == str(answer.label) else own)
        if not (reason := reason_for_label(model, answer, noisy)):
            return label
        share, whole = answer.positive[model.classes.index(answer.label)], sum(answer.positive)
        return f"{label}   ({100 * (share / whole):.0f} % of {whole:,.0f}; {reason})"

    for line in model.lines():
        yield written(line, said, outcome)

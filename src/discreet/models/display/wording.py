"""Numbers, conditions, reasons and models as people read them: labels in place of names, where the schema has some."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from ..._utils.html import bar, name, plain
from ..._utils.parameters import rounded_up
from ...rules.rules import Condition, Literal, write, write_number
from ...schema import Schema
from ..model import Model
from ..partition import Answer, Points, numbers_of, written
from ..score_card import PointsLine, PointsTable, ScoreCard, card_text, counts_as_missing, lines_of_table

if TYPE_CHECKING:
    from .summary import Step

MINUS = "\N{MINUS SIGN}"
PALETTE = 6  # colours of classes; further classes begin again
OPERATORS = {
    "<=": "is at most",
    "<": "is below",
    ">=": "is at least",
    ">": "is above",
    "=": "is",
    "!=": "is not",
    "in": "is in",
    "not in": "is not in",
}
OF_DATES = {"<=": "is on or before", "<": "is before", ">=": "is on or after", ">": "is after"}


@dataclass(frozen=True)
class Phrase:
    """A literal in words: ``age``, ``is above``, ``30``; and ``or is missing``, where that is so."""

    column: str
    words: str
    value: str = ""
    besides: str = ""


def in_words(literal: Literal, schema: Schema | None) -> Phrase:
    """A literal as a phrase, with labels."""
    literal = in_labels(literal, schema)
    if literal.value is None:
        return Phrase(literal.column, literal.op)
    values = literal.value if isinstance(literal.value, tuple) else (literal.value,)
    if isinstance(literal.value, date):
        return Phrase(literal.column, OF_DATES[literal.op], literal.value.isoformat())
    said = " to ".join(map(str if literal.op in ("=", "!=") else write_number, values))
    return Phrase(literal.column, OPERATORS[literal.op], said)


def phrases(condition: Condition, schema: Schema | None) -> tuple[Phrase, ...]:
    """The literals of a condition in words."""
    return tuple(in_words(literal, schema) for literal in condition)


def otherwise(literal: Literal, schema: Schema | None) -> Phrase:
    """What is so where a literal is not true: the opposite is, or the value is missing, of which neither is true."""
    opposite = in_words(~literal, schema)
    assert schema is not None
    if literal.op.endswith("missing") or not schema[literal.column].can_be_missing:
        return opposite
    return replace(opposite, besides="or is missing")


def number(value: float) -> str:
    """A count, a negative one with a real minus sign."""
    text = f"{abs(value):,.0f}" if float(value).is_integer() else f"{abs(value):,.1f}"
    return f"{MINUS}{text}" if value < 0 else text


def signed(points: Points) -> str:
    """Points with their signs: they are added. For more than two classes, in the order of the classes."""
    signs = (("+" if p > 0 else MINUS if p < 0 else "", p) for p in numbers_of(points))
    return ", ".join(plain(sign + write_number(abs(p))) for sign, p in signs)


def ends(interval: tuple[int, int]) -> str:
    """From where to where a noisy count may be."""
    return f"{number(interval[0])} to {number(interval[1])}"


def percent(share: float) -> str:
    """A share, rounded, but never to 0 or 100 % if it is not quite that."""
    if 0 < share < 0.005:
        return "under 1\u00a0%"
    if 0.995 < share < 1:
        return "over 99\u00a0%"
    return f"{100 * share:.0f}\u00a0%"


def bound(chance: float) -> str:
    """An upper bound as a percentage with one digit, never below what it is. ``scale.js`` does the same."""
    tenths = math.ceil(round(chance * 1000, 6))
    return ">99.9\u00a0%" if tenths > 999 else f"{tenths / 10:.1f}\u00a0%"


def factor(value: float) -> str:
    """A factor, rounded up. ``scale.js`` does the same."""
    if value >= 1e6:
        return ">1,000,000"
    if value >= 100:
        return f"{math.ceil(round(value, 6)):,}"
    return f"{math.ceil(round(value * 100, 6)) / 100:.2f}"


def condition(tests: Sequence[Phrase]) -> str:
    """The tests of a rule, as HTML."""
    parts = (
        (name(t.column, "column"), plain(t.words), t.value and name(t.value, "value"), plain(t.besides)) for t in tests
    )
    joined = (" ".join(filter(None, words)) for words in parts)
    return ' <span class="and">and</span> '.join(joined) or "no rule above is true"


def said(tests: Sequence[Phrase]) -> str:
    """The same without tags, for an attribute."""
    parts = (" ".join(filter(None, (t.column, t.words, t.value, t.besides))) for t in tests)
    return plain(" and ".join(parts) or "no rule above is true")


def colour(place: int) -> str:
    """The CSS class of a label's colour."""
    return f"class-{place % PALETTE}"


def share_bar(shares: Sequence[float], spoken: str) -> str:
    """A bar of class shares, in the colours of the classes. ``spoken`` says the same."""
    return bar([(share, colour(i)) for i, share in enumerate(shares)], spoken)


def epsilon_text(value: float) -> str:
    """An epsilon, rounded up."""
    return rounded_up(value, 4)


def sentence(text: str) -> str:
    """A reason or assumption of a statement as a sentence. A parameter keeps its small letter."""
    parameter = "_" in text.partition(" ")[0] or text.partition(" ")[2].startswith("= ")
    text = text if parameter else text[:1].upper() + text[1:]
    return plain(text) + ("" if text.endswith(".") else ".")


def answers_of(table: PointsTable, schema: Schema | None) -> tuple[str, list[PointsLine], str]:
    """A table of a score card: its column, its lines, and which values count as missing though they are there ("" if none)."""
    column = None if schema is None else schema[table.column]
    called, beyond = (table.column, "") if column is None else (column.called, counts_as_missing(column))
    return called, lines_of_table(table, schema), beyond


def records(step: "Step", about: str = "", with_ends: bool = True) -> str:
    """How many records a step has, and why its label is not the class with the largest count, where that is so."""
    said = "" if step.support is None else f"{about}{number(round(step.support))} records"
    said += f" ({ends(step.support_ends)})" if step.support_ends and with_ends else ""
    return said + (f"; {plain(step.reason)}" if step.reason else "")


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

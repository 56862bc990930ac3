"""A score card as text: columns, values and points under each other, then what the total means."""

from collections.abc import Sequence

from ..rules.partition import DOUBLING, Model, has_points_by_class, shares_of
from ..rules.text import write, write_number
from ..schema import Schema
from .cards import Card, cards_of, lines_of_table, numbers_of, percent_of, ranges_of_totals

Rows = list[tuple[str, ...]]

LARGEST_TOTAL = f"The class with the largest total, the first of equals; {DOUBLING} points more double the odds."


def card_text(model: Model, classes: Sequence[str], conditions: Sequence[str], labels: bool) -> list[str]:
    """All lines of a score card. Classes, and the conditions of its cards, are given as they are to be shown."""
    lines: list[str] = []
    cards = cards_of(model)
    for number, (card, said) in enumerate(zip(cards, conditions, strict=True)):
        if len(cards) > 1:
            lines.append(f"{'else ' if number else ''}{f'if {said}' if said else ''}".rstrip() + ":")
        lines += [*_aligned(card_rows(model, card, classes, labels), right=2), ""]
    return [*lines, *_meaning(model, classes)]


def card_rows(model: Model, card: Card, classes: Sequence[str], labels: bool) -> Rows:
    """The start and the lines of all tables: the column (in its first line), the value, the points (one number, or several)."""
    rows: Rows = [("", "", *classes)] if has_points_by_class(model) else []
    rows.append(("start", "", *map(write_number, numbers_of(card.start))))
    for table in card.tables:
        called = _called(table.column, model.schema, labels)
        for number, line in enumerate(lines_of_table(table, model.schema, labels)):
            rows.append((called if number == 0 else "", line.value, *map(write_number, numbers_of(line.points))))
    return rows


def _called(column: str, schema: Schema | None, labels: bool) -> str:
    return schema[column].called if labels and schema is not None else write(column, name=True)


def _meaning(model: Model, classes: Sequence[str]) -> list[str]:
    """What totals mean: how likely the second of two classes is, or all of more."""
    if has_points_by_class(model):
        return [LARGEST_TOTAL]
    shown = range(1, 2) if len(classes) == 2 else range(len(classes))
    with_shares = all(answer.shares is not None or answer.counts is not None for answer in model.answers)
    rows: Rows = [("total", *(classes[i] for i in shown), "")] if with_shares else []
    for said, answer in zip(ranges_of_totals(cards_of(model), model.limits), model.answers, strict=True):
        shares = shares_of(model, answer).tolist()
        percents = [f"{percent_of(shares[i]):>5} %" for i in shown] if with_shares else []
        label = classes[model.classes.index(answer.label)]
        rows.append((said if with_shares else f"total {said}", *percents, label))
    return _aligned(rows, right=len(rows[0]), gap="   ")


def _aligned(rows: Rows, right: int, gap: str = " ") -> list[str]:
    """Rows as lines, their cells under each other; those from ``right`` on at the right, with more room before them."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        left = gap.join(f"{cell:<{wide[i]}}" for i, cell in enumerate(row[:right]))
        numbers = (f"{cell:>{wide[i]}}" for i, cell in enumerate(row[right:], right))
        lines.append("   ".join((left, *numbers)).rstrip())
    return lines

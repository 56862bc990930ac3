"""The tables of a model whose points add up: a card that can be filled in by hand."""

from ..._utils.html import plain, wide
from ...rules.text import write_number
from ..cards import numbers_of
from .summary import PointsRule, Summary
from .wording import condition

MINUS = "\N{MINUS SIGN}"


def points(s: Summary) -> str:
    """A table for each partition. Nothing for a model without points."""
    if not s.points:
        return ""
    tables = "".join(_table(rules, number, len(s.points)) for number, rules in enumerate(s.points, 1))
    return (
        "<p>Add up points. Each table gives those of its first line that is true of a record, and of its last line if none "
        f"is.</p>{tables}"
    )


def signed(points: float) -> str:
    """Points with their sign: they are added."""
    sign = "+" if points > 0 else MINUS if points < 0 else ""
    return plain(sign + write_number(abs(points)))


def _table(rules: tuple[PointsRule, ...], number: int, of: int) -> str:
    rows = []
    for place, rule in enumerate(rules):
        what = condition(rule.tests) if rule.tests else "otherwise" if place else "always"
        rows.append(
            f'<tr><th scope="row">{what}</th><td class="n">{", ".join(map(signed, numbers_of(rule.points)))}</td></tr>'
        )
    return wide(
        f"<caption>Table {number} of {of}</caption>"
        '<thead><tr><th scope="col">If</th><th scope="col" class="n">points</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        f"Points, table {number}",
    )

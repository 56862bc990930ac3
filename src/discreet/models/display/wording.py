"""Numbers, conditions and reasons as people read them."""

import math
from collections.abc import Sequence

from ..._utils.html import name, plain
from ...accounting.statement import rounded_up
from ...rules.text import write_number
from .summary import Phrase

MINUS = "\N{MINUS SIGN}"
PALETTE = 6  # colours of classes; further classes begin again


def number(value: float) -> str:
    """A count, a negative one with a real minus sign."""
    text = f"{abs(value):,.0f}" if float(value).is_integer() else f"{abs(value):,.1f}"
    return f"{MINUS}{text}" if value < 0 else text


def signed(points: float) -> str:
    """Points with their sign: they are added."""
    sign = "+" if points > 0 else MINUS if points < 0 else ""
    return plain(sign + write_number(abs(points)))


def ends(interval: tuple[int, int] | None) -> str:
    """From where to where a noisy count may be; nothing if that is not known."""
    return "" if interval is None else f"{number(interval[0])} to {number(interval[1])}"


def count_cells(counts: Sequence[float], intervals: Sequence[tuple[int, int]] | None) -> str:
    """Counts in a table, each with its interval below it."""
    below = [""] * len(counts) if intervals is None else [f"<small>{ends(interval)}</small>" for interval in intervals]
    return "".join(f'<td class="n">{number(c)}{text}</td>' for c, text in zip(counts, below, strict=True))


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
    """The tests of a rule, in words."""
    parts = []
    for test in tests:
        value = f" {name(test.value, 'value')}" if test.value else ""
        besides = f" {plain(test.besides)}" if test.besides else ""
        parts.append(f"{name(test.column, 'column')} {plain(test.words)}{value}{besides}")
    return ' <span class="and">and</span> '.join(parts) or "no rule above is true"


def said(tests: Sequence[Phrase]) -> str:
    """The same without tags, for an attribute."""
    parts = (" ".join(filter(None, (t.column, t.words, t.value, t.besides))) for t in tests)
    return plain(" and ".join(parts) or "no rule above is true")


def colour(place: int) -> str:
    """The CSS class of a label's colour."""
    return f"class-{place % PALETTE}"


def epsilon_text(value: float) -> str:
    """An epsilon, rounded up."""
    return rounded_up(value, 4)


def sentence(text: str) -> str:
    """A reason or assumption of a statement as a sentence. A parameter keeps its small letter."""
    parameter = "_" in text.partition(" ")[0] or text.partition(" ")[2].startswith("= ")
    text = text if parameter else text[:1].upper() + text[1:]
    return plain(text) + ("" if text.endswith(".") else ".")

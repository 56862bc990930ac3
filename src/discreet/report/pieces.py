"""The small parts that pages are made of: safe text, numbers as people read them, bars."""

import math
import re
from collections.abc import Sequence
from html import escape

from ..privacy.statement import rounded_up
from .summary import Test

PALETTE = 6  # colours of classes; further classes begin again
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def plain(text: object) -> str:
    """A text that is safe in an attribute or between tags, whatever it holds."""
    return escape(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True)


def name(text: object, css: str = "name") -> str:
    """A name or value that somebody else chose: escaped, and its writing direction kept to itself."""
    return f'<bdi class="{css}">{plain(text)}</bdi>'


def number(value: float) -> str:
    """A count, a negative one with a real minus sign."""
    text = f"{abs(value):,.0f}" if float(value).is_integer() else f"{abs(value):,.1f}"
    return f"\u2212{text}" if value < 0 else text


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


def condition(tests: Sequence[Test]) -> str:
    """The tests of a rule, in words."""
    parts = []
    for test in tests:
        value = f" {name(test.value, 'value')}" if test.value else ""
        parts.append(f"{name(test.column, 'column')} {plain(test.words)}{value}")
    return ' <span class="and">and</span> '.join(parts) or "no rule above is true"


def said(tests: Sequence[Test]) -> str:
    """The same without tags, for an attribute."""
    parts = (" ".join(filter(None, (t.column, t.words, t.value))) for t in tests)
    return plain(" and ".join(parts) or "no rule above is true")


def bar(parts: Sequence[tuple[float, str]], label: str, start: float = 0.0) -> str:
    """A stacked bar: widths as shares of the whole, each with a CSS class. ``label`` is safe text that says the same."""
    rects = []
    for width, css in parts:
        if width > 0:
            rects.append(f'<rect class="{css}" x="{100 * start:.3f}" width="{100 * width:.3f}" height="10"/>')
        start += width
    return (
        f'<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'<rect class="rest" width="100" height="10"/>{"".join(rects)}</svg>'
    )


def colour(place: int) -> str:
    """The CSS class of a label's colour."""
    return f"class-{place % PALETTE}"


def wide(table: str, label: str) -> str:
    """A table that scrolls by itself where it is too wide, with the keyboard, too."""
    return f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table>{table}</table></div>'


def epsilon_text(value: float) -> str:
    """An epsilon, rounded up."""
    return rounded_up(value, 4)


def sentence(text: str) -> str:
    """A reason or assumption of a statement as a sentence. A parameter keeps its small letter."""
    parameter = "_" in text.partition(" ")[0] or text.partition(" ")[2].startswith("= ")
    text = text if parameter else text[:1].upper() + text[1:]
    return plain(text) + ("" if text.endswith(".") else ".")

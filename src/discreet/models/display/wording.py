"""Numbers, conditions and reasons as people read them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..._utils.html import bar, name, plain
from ..._utils.parameters import rounded_up
from ...rules.rules import Condition, Literal
from ...rules.text import write_number
from ...schema import Schema
from ..labelled import in_labels
from ..partition import Points, numbers_of

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


def records(step: "Step", about: str = "", with_ends: bool = True) -> str:
    """How many records a step has, and why its label is not the class with the largest count, where that is so."""
    said = "" if step.support is None else f"{about}{number(round(step.support))} records"
    said += f" ({ends(step.support_ends)})" if step.support_ends and with_ends else ""
    return said + (f"; {plain(step.reason)}" if step.reason else "")

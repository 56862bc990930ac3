"""Literals and rules: frozen values that print and parse back.

    Juvenile-Felonies <= 3 and Juvenile-Crimes not in [1, 3]

What a literal means for odd values (beyond the bounds, of an unlisted category, missing) is said by the schema.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.errors import RuleError, SchemaError
from ..schema import Label, Schema
from ..schema.columns import KINDS, NEGATION, Categorical, Column, ColumnTest, Value
from ..schema.columns.base import LARGEST_WHOLE
from ..schema.columns.dates import checked_day
from .text import COMPARISONS, Reader, write, write_number

NUMBERS = (int, float, np.number)


@dataclass(frozen=True)
class Literal:
    """One test on one column.

    >>> literal = Literal("age", "<=", 30)
    >>> print(literal, "|", ~literal)
    age <= 30 | age > 30
    >>> Literal.parse("job != clerk")
    Literal(column='job', op='!=', value='clerk')
    """

    column: str
    op: str = "is true"
    value: Value = None

    if TYPE_CHECKING:  # a range may be a list

        def __init__(self, column: str, op: str = "is true", value: Value | list[float] = None) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise RuleError("a literal's column must be a name")
        op, value = self.op, self.value
        if op not in NEGATION:
            raise RuleError(f"a literal's op must be one of {', '.join(NEGATION)}")
        if op in COMPARISONS:
            object.__setattr__(self, "value", checked_day(value) or checked_number(value, "a number or a date"))
        elif op in ("in", "not in"):
            if not isinstance(value, list | tuple) or len(value) != 2:
                raise RuleError(f"`{op}` takes a range [low, high]")
            ends = tuple(map(checked_number, value))
            if ends[0] > ends[1]:
                raise RuleError(f"`{op}` takes a range [low, high] with low not above high")
            object.__setattr__(self, "value", ends)
        elif op in ("=", "!="):
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise RuleError(f"`{op}` takes a category: a string or an integer")
            if isinstance(value, int) and abs(value) >= LARGEST_WHOLE:
                raise RuleError(f"`{op}` takes an integer of at most 300 digits")
        elif value is not None:
            raise RuleError(f"`{op}` takes no value")

    def __invert__(self) -> "Literal":
        return Literal(self.column, NEGATION[self.op], self.value)

    def __str__(self) -> str:
        name = write(self.column, name=True)
        if self.op in ("is true", "is false"):
            return name if self.op == "is true" else f"not {name}"
        if isinstance(self.value, tuple):
            return f"{name} {self.op} [{', '.join(map(write_number, self.value))}]"
        written = write_number(self.value) if self.op in COMPARISONS else write(self.value)
        return f"{name} {self.op}" if self.value is None else f"{name} {self.op} {written}"

    @classmethod
    def parse(cls, text: str) -> "Literal":
        """Parse a literal from a string."""
        return cls(*Reader(text).whole(Reader.literal))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        value = self.value.isoformat() if isinstance(self.value, date) else self.value
        return {"column": self.column, "op": self.op} | ({} if value is None else {"value": value})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Literal":
        """Read what ``to_dict`` made."""
        return cls(data["column"], data["op"], data.get("value"))


Condition = tuple[Literal, ...]  # all of them must be true; without literals it is true of every record


def condition_in(data: Mapping[str, Any]) -> Condition:
    """The condition of an entry of JSON."""
    return tuple(map(Literal.from_dict, data["if"]))


@dataclass(frozen=True)
class Rule:
    """A conjunction of literals, with a label once it stands in a list. Without literals it is true of every record.

    ``counts`` are the class counts (noisy ones, of a private learner) that ``predict_proba`` is computed from.

    >>> print(Rule.parse("age <= 30 and not employed"))
    age <= 30 and not employed
    """

    antecedent: tuple[Literal, ...] = ()
    label: Label | None = None
    counts: tuple[float, ...] | None = None

    if TYPE_CHECKING:  # a dataclass asks for tuples; any sequence will do, and becomes one

        def __init__(
            self,
            antecedent: Literal | Sequence[Literal] = (),
            label: Label | None = None,
            counts: Sequence[float] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        antecedent = (self.antecedent,) if isinstance(self.antecedent, Literal) else tuple(self.antecedent)
        if not all(isinstance(x, Literal) for x in antecedent):
            raise RuleError("a rule's antecedent must consist of literals")
        object.__setattr__(self, "antecedent", antecedent)
        if isinstance(self.label, np.generic):
            object.__setattr__(self, "label", self.label.item())
        if self.label is not None and not is_label(self.label):
            raise RuleError("a rule's label must be a string, a finite number or a Boolean")
        if self.counts is not None:
            object.__setattr__(self, "counts", tuple(checked_number(c) for c in self.counts))

    def __str__(self) -> str:
        condition = " and ".join(str(x) for x in self.antecedent) or "always"
        return condition if self.label is None else f"{condition} then {write(self.label)}"

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Parse a rule from a string, with or without ``then LABEL``."""
        antecedent, label = Reader(text).whole(Reader.rule)
        return cls(tuple(Literal(*x) for x in antecedent), label)


def truth(schema: Schema, literal: Literal) -> np.ndarray:
    """In which bins of its column a literal is true."""
    try:
        return schema[literal.column].where(literal.op, literal.value)
    except SchemaError as error:
        raise RuleError(f"the literal `{literal}` does not fit the schema: {error}") from None


def schema_of(rules: Iterable[Rule]) -> Schema:
    """The smallest schema in which all these rules can be said."""
    tests: dict[str, list[ColumnTest]] = {}
    kinds: dict[str, type[Column]] = {}
    for literal in (x for rule in rules for x in rule.antecedent):
        tests.setdefault(literal.column, []).append((literal.op, literal.value))
        kind = next((kind for kind in KINDS.values() if kind.is_meant_by(literal.op, literal.value)), None)
        if kind is not None and kinds.setdefault(literal.column, kind) is not kind:
            raise RuleError(
                f"column {literal.column!r} is used both as {kind.kind} and as {kinds[literal.column].kind}"
            )
    # A column that is only asked whether it is missing may be of any type.
    return Schema(tuple(kinds.get(name, Categorical).of_tests(name, these) for name, these in tests.items()))


def checked_number(value: Any, what: str = "a finite number") -> float:
    """A literal's value, or a count, as a float, if it is a finite number."""
    is_number = type(value) is float or (isinstance(value, NUMBERS) and not isinstance(value, bool))
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RuleError(f"a literal's value, and a count, must be {what}")
    return number + 0.0  # -0.0 becomes 0.0


def is_label(value: Any) -> bool:
    """Whether a value can be the label of a class."""
    if isinstance(value, int | float):
        return math.isfinite(value) if isinstance(value, float) else abs(value) < LARGEST_WHOLE
    return isinstance(value, str)

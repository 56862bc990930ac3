"""Literals and rules: frozen values that print and parse back.

    Juvenile-Felonies <= 3 and Juvenile-Crimes not in [1, 3]

What a literal means for odd values (beyond the bounds, of an unlisted category, missing) is said by the schema. The texts of
lists and trees, whose values are in models, are read and written here, too.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from .._utils.errors import RuleError, SchemaError
from ..schema import Label, Schema
from ..schema.columns import KINDS, NEGATION, Categorical, Column, ColumnTest, Value
from ..schema.columns.base import LARGEST_WHOLE
from ..schema.columns.dates import checked_day

T = TypeVar("T")

NUMBERS = (int, float, np.number)
COMPARISONS = ("<=", "<", ">=", ">")
MOST_DEPTH = 64  # of a tree: whatever goes down one may call itself at every test
TOO_DEEP = f"a tree may have at most {MOST_DEPTH} tests, one below the other"
_RESERVED = {"if", "else", "then", "and", "not", "in", "is", "missing", "always", *COMPARISONS, "=", "!="}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]\S*')
_INT = re.compile(r"-?[0-9]{1,300}")
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"  # one way to read it: no backtracking
_FLOAT = re.compile(_NUMBER)
_RANGE = re.compile(rf"\[({_NUMBER}),({_NUMBER})\]")


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
        return Reader(text).whole(Reader.literal)

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
        if self.label is not None:
            object.__setattr__(self, "label", checked_label(self.label))
        if self.counts is not None:
            object.__setattr__(self, "counts", tuple(checked_number(c) for c in self.counts))

    def __str__(self) -> str:
        condition = " and ".join(str(x) for x in self.antecedent) or "always"
        return condition if self.label is None else f"{condition} then {write(self.label)}"

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Parse a rule from a string, with or without ``then LABEL``."""
        return Reader(text).whole(Reader.rule)


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


def checked_label(value: Any) -> Label:
    """The label of a class, which may be one of NumPy's."""
    value = value.item() if isinstance(value, np.generic) else value
    small = math.isfinite(value) if isinstance(value, float) else isinstance(value, int) and abs(value) < LARGEST_WHOLE
    if not (small or isinstance(value, str)):
        raise RuleError("a label must be a string, a finite number or a Boolean")
    label: Label = value
    return label


class Reader:
    """A reader of the text form. Tokens are words and "quoted words"; line breaks do not matter."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise RuleError("rules are read from a string")
        self.tokens = _TOKEN.findall(text)
        if _TOKEN.sub("", text).strip():
            raise RuleError("the rule text has a quotation mark that is not closed")
        self.at = 0

    def whole(self, read: Callable[["Reader"], T]) -> T:
        """What ``read`` reads, if that is all there is."""
        result = read(self)
        if self.at < len(self.tokens):
            self.fail("the end")
        return result

    def peek(self) -> str:
        """The next token, or an empty text at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *words: str) -> bool:
        """Whether these words come next; if so, go past them."""
        if tuple(self.tokens[self.at : self.at + len(words)]) != words:
            return False
        self.at += len(words)
        return True

    def need(self, word: str) -> None:
        """Go past this word, which must come next."""
        if not self.take(word):
            self.fail(f"`{word}`")

    def fail(self, expected: str) -> NoReturn:
        """Say what was expected, and where."""
        found = f"`{self.peek()}`" if self.peek() else "the end"
        raise RuleError(f"expected {expected} but found {found} at word {self.at + 1} of the rule text")

    def word(self, expected: str) -> str:
        """The next token, which must not be a reserved word."""
        token = self.peek()
        if not token or token in _RESERVED:
            self.fail(expected)
        self.at += 1
        return token

    def atom(self, expected: str) -> Label:
        """A category or label: a quoted word is a text, others may be numbers or truth values."""
        token = self.word(expected)
        if token.startswith('"'):
            return _unquote(token)
        if token in ("True", "False"):
            return token == "True"
        if _INT.fullmatch(token):
            return int(token)
        return float(token) if _FLOAT.fullmatch(token) else token

    def limit(self) -> float | date:
        """A number or a date."""
        token = self.word("a number or a date")
        if (day := checked_day(token)) is not None:
            return day
        if not _FLOAT.fullmatch(token):
            self.at -= 1
            self.fail("a number or a date")
        return float(token)

    def range(self) -> tuple[float, float]:
        """A range [low, high]."""
        for length in range(1, 6):  # however many words the spaces make of it
            if match := _RANGE.fullmatch("".join(self.tokens[self.at : self.at + length])):
                self.at += length
                return float(match[1]), float(match[2])
        self.fail("a range [low, high]")

    def literal(self) -> Literal:
        """One test."""
        negated = self.take("not")
        name = _unquote(self.word("a column's name"))
        for op, value in VALUES.items():
            if not negated and self.take(*op.split()):
                return Literal(name, op, value(self))
        return Literal(name, "is false" if negated else "is true")

    def antecedent(self) -> Condition:
        """Tests joined by `and`."""
        literals = [self.literal()]
        while self.take("and"):
            literals.append(self.literal())
        return tuple(literals)

    def rule(self) -> Rule:
        """A rule, with or without `then LABEL`."""
        antecedent = () if self.take("always") else self.antecedent()
        return Rule(antecedent, self.atom("a label") if self.take("then") else None)

    def rule_list(self) -> tuple[list[Rule], Label]:
        """A whole list: its rules, and the label of its default."""
        rules: list[Rule] = []
        if not self.take("always"):
            self.need("if")
            while not rules or self.take("if"):
                antecedent = self.antecedent()
                self.need("then")
                rules.append(Rule(antecedent, self.atom("a label")))
                self.need("else")
        return rules, self.atom("a label")

    def tree(self, split: Callable[[Literal, Any, Any], Any]) -> Any:
        """A whole tree, of labels and of what ``split`` makes of a test and two branches. Every `if` has an `else`."""
        if self.take("always"):
            return self.atom("a label")
        if self.peek() != "if":
            self.fail("`if`")
        return self._node(split, MOST_DEPTH)

    def _node(self, split: Callable[[Literal, Any, Any], Any], deeper: int) -> Any:
        if not self.take("if"):
            return self.atom("a label or `if`")
        if not deeper:
            raise RuleError(TOO_DEEP)
        test = self.literal()
        self.need("then")
        true = self._node(split, deeper - 1)
        self.need("else")
        return split(test, true, self._node(split, deeper - 1))


# What follows each operator
VALUES: dict[str, Callable[[Reader], Any]] = {
    **dict.fromkeys(("is missing", "is not missing"), lambda _: None),
    **dict.fromkeys(("in", "not in"), Reader.range),
    **dict.fromkeys(COMPARISONS, Reader.limit),
    **dict.fromkeys(("=", "!="), lambda reader: reader.atom("a category")),
}


def write(value: Any, name: bool = False) -> str:
    """A name, category or label as text; quoted where it could be read as something else."""
    if not isinstance(value, str):
        return repr(value)
    plain = bool(value) and not any(c.isspace() or c == '"' for c in value) and value not in _RESERVED
    if not name:  # a column's name may look like a number, a category or label that is a text may not
        plain = plain and value not in ("True", "False") and not _FLOAT.fullmatch(value)
    return value if plain else json.dumps(value, ensure_ascii=False)


def _unquote(token: str) -> str:
    try:
        return str(json.loads(token, strict=False)) if token.startswith('"') else token
    except ValueError:
        raise RuleError("a quoted word of the rule text is not written as in JSON") from None


def write_number(value: Any) -> str:
    """A number, or a date, as people write it."""
    if isinstance(value, date):
        return value.isoformat()
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))

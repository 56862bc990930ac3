"""How rules are written, and read back. Tokens are words and "quoted words"; line breaks do not matter."""

import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any, NoReturn

from .._utils.errors import RuleError
from ..schema import Label
from ..schema.columns.dates import checked_day

ParsedLiteral = tuple[str, str, Any]  # column, op, value
Labelled = tuple[tuple[ParsedLiteral, ...], Label | None]  # antecedent, label
ParsedNode = Label | tuple[ParsedLiteral, "ParsedNode", "ParsedNode"]  # of a tree: a leaf, or a test and two branches

MOST_DEPTH = 64  # of a tree: whatever goes down one may call itself at every test

TOO_DEEP = f"a tree may have at most {MOST_DEPTH} tests, one below the other"
COMPARISONS = ("<=", "<", ">=", ">")
_RESERVED = {"if", "else", "then", "and", "not", "in", "is", "missing", "always", *COMPARISONS, "=", "!="}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]\S*')
_INT = re.compile(r"-?[0-9]{1,300}")
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"  # one way to read it: no backtracking
_FLOAT = re.compile(_NUMBER)
_RANGE = re.compile(rf"\[({_NUMBER}),({_NUMBER})\]")


class Reader:
    """A reader of the text form. Tokens are words and "quoted words"; line breaks do not matter."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise RuleError("rules are read from a string")
        self.tokens = _TOKEN.findall(text)
        if _TOKEN.sub("", text).strip():
            raise RuleError("the rule text has a quotation mark that is not closed")
        self.at = 0

    def whole(self, read: Any) -> Any:
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

    def literal(self) -> ParsedLiteral:
        """One test."""
        negated = self.take("not")
        name = _unquote(self.word("a column's name"))
        for op, value in VALUES.items():
            if not negated and self.take(*op.split()):
                return name, op, value(self)
        return name, "is false" if negated else "is true", None

    def antecedent(self) -> tuple[ParsedLiteral, ...]:
        """Tests joined by `and`."""
        literals = [self.literal()]
        while self.take("and"):
            literals.append(self.literal())
        return tuple(literals)

    def rule(self) -> Labelled:
        """A rule, with or without `then LABEL`."""
        antecedent = () if self.take("always") else self.antecedent()
        return antecedent, self.atom("a label") if self.take("then") else None

    def rule_list(self) -> tuple[list[Labelled], Label]:
        """A whole list: its rules, and the label of its default."""
        rules: list[Labelled] = []
        if not self.take("always"):
            self.need("if")
            while not rules or self.take("if"):
                antecedent = self.antecedent()
                self.need("then")
                rules.append((antecedent, self.atom("a label")))
                self.need("else")
        return rules, self.atom("a label")

    def tree(self) -> ParsedNode:
        """A whole tree. Every `if` has an `else`, so there is one way to read it."""
        if self.take("always"):
            return self.atom("a label")
        if self.peek() != "if":
            self.fail("`if`")
        return self._node(MOST_DEPTH)

    def _node(self, deeper: int) -> ParsedNode:
        if not self.take("if"):
            return self.atom("a label or `if`")
        if not deeper:
            raise RuleError(TOO_DEEP)
        test = self.literal()
        self.need("then")
        true = self._node(deeper - 1)
        self.need("else")
        return test, true, self._node(deeper - 1)


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

"""How DuckDB, PostgreSQL and Spark write names, texts and numbers, and how each is made to refuse a column of another type.

An engine that silently casts (DuckDB and Spark compare the text "01" with the number 1) could give another prediction than the
rule list does. So the expression states the type that each column must have: PostgreSQL by typed operands, which it does not
cast; the others by a first branch that raises an error.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..._utils.errors import RuleError
from ...rules.text import write_number
from .branches import is_unicode


class Dialect(ABC):
    """What all engines have in common."""

    name: str
    ignores_case = True  # of column names

    def column(self, name: str) -> str:
        """A column's name, quoted."""
        if not self.holds(name) or "\0" in name:
            raise RuleError(f"{self.name} cannot have a column of the name {name!r}; rename it")
        return '"' + name.replace('"', '""') + '"'

    def holds(self, text: str) -> bool:
        """Whether a text can stand in a column at all. Python has texts that no engine has."""
        return is_unicode(text)

    @abstractmethod
    def text(self, text: str) -> str:
        """A text as a literal."""

    def compared_text(self, text: str) -> str:
        """A text as a literal that only a column of texts can be compared with."""
        return self.text(text)

    @abstractmethod
    def number(self, number: float) -> str:
        """A number as a literal of 64-bit floating point, so that every comparison is one of those, as in Python."""

    def is_nan(self, column: str) -> str:
        """Whether a number is NaN, which engines take for the largest number there is."""
        return f"isnan({column})"

    def is_null(self, column: str, kind: str) -> str:
        """Whether a column of this type is NULL."""
        return f"{column} IS NULL"

    def never(self, column: str, kind: str) -> str:
        """What is true of no value of a column of this type."""
        return "FALSE"

    def guards(self, kinds: Mapping[str, str]) -> list[str]:
        """The branches that stop with an error at a column of another type than said."""
        return []


class DuckDB(Dialect):
    """DuckDB. Names are not case sensitive, even in quotation marks; a decimal point alone makes a DECIMAL."""

    name = "DuckDB"
    _other: ClassVar[Mapping[str, str]] = {
        "text": "<> 'VARCHAR'",
        "number": "NOT SIMILAR TO 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*'",
        "boolean": "<> 'BOOLEAN'",
    }
    _error = "error"

    def text(self, text: str) -> str:
        """Quotation marks are doubled; a NUL would end the query in some clients."""
        literal = "'" + text.replace("'", "''").replace("\0", "' || chr(0) || '") + "'"
        return f"({literal})" if "\0" in text else literal

    def number(self, number: float) -> str:
        """With an exponent: 0.1 is a DECIMAL, 0.1e0 a DOUBLE."""
        if math.isinf(number):
            return "'inf'::DOUBLE" if number > 0 else "'-inf'::DOUBLE"
        written = write_number(number)
        return written if "e" in written else f"{written}e0"

    def guards(self, kinds: Mapping[str, str]) -> list[str]:
        """One branch for each type."""
        made = []
        for kind, other in self._other.items():
            names = [name for name, its in kinds.items() if its == kind]
            if names:
                condition = " OR ".join(f"typeof({self.column(name)}) {other}" for name in names)
                message = f"each of these columns must be a {kind}: {', '.join(names)}"
                made.append(f"WHEN {condition} THEN {self._error}({self.text(message)})")
        return made


class Spark(DuckDB):
    """Spark SQL. Backticks around names, backslashes in texts, and ``${...}`` is replaced by a setting wherever it stands."""

    name = "Spark"
    _other: ClassVar[Mapping[str, str]] = {
        "text": "<> 'string'",
        "number": "NOT RLIKE '^(tinyint|smallint|int|bigint|float|double|decimal.*)$'",
        "boolean": "<> 'boolean'",
    }
    _error = "raise_error"

    def column(self, name: str) -> str:
        """In backticks, in which nothing but a backtick can be escaped."""
        super().column(name)
        if "${" in name:
            raise RuleError(f"Spark would put a setting in place of a part of the column name {name!r}; rename it")
        return "`" + name.replace("`", "``") + "`"

    def text(self, text: str) -> str:
        """As in Java."""
        written = text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\u0000").replace("${", "\\u0024{")
        return f"'{written}'"

    def number(self, number: float) -> str:
        """With a D for DOUBLE."""
        if math.isinf(number):
            return "double('Infinity')" if number > 0 else "double('-Infinity')"
        return f"{write_number(number)}D"


class PostgreSQL(Dialect):
    """PostgreSQL. It does not cast: a typed literal is enough to refuse a column of another type."""

    name = "PostgreSQL"
    ignores_case = False
    _types: ClassVar[Mapping[str, str]] = {"text": "text", "number": "float8", "boolean": "boolean"}

    def column(self, name: str) -> str:
        """It would cut a long name off."""
        quoted = super().column(name)
        if len(name.encode()) > 63:
            raise RuleError(f"a column's name in PostgreSQL has at most 63 bytes, {name!r} has more; rename it")
        return quoted

    def holds(self, text: str) -> bool:
        """No NUL in any text."""
        return super().holds(text) and "\0" not in text

    def text(self, text: str) -> str:
        """With E wherever a backslash stands: what one means in an ordinary literal is a setting."""
        literal = "'" + text.replace("'", "''") + "'"
        return "E" + literal.replace("\\", "\\\\") if "\\" in text else literal

    def compared_text(self, text: str) -> str:
        """Without its type it would be taken for whatever the column is."""
        return f"{self.text(text)}::text"

    def number(self, number: float) -> str:
        """Without its type it would be a decimal."""
        if math.isinf(number):
            return "'Infinity'::float8" if number > 0 else "'-Infinity'::float8"
        return f"{write_number(number)}::float8"

    def is_nan(self, column: str) -> str:
        """NaN equals itself."""
        return f"{column} = 'NaN'::float8"

    def is_null(self, column: str, kind: str) -> str:
        """In words that take the type."""
        return f"{column} IS NOT DISTINCT FROM NULL::{self._types[kind]}"

    def never(self, column: str, kind: str) -> str:
        """Nothing equals NULL, but the types are compared."""
        return f"{column} = NULL::{self._types[kind]}"


DIALECTS: Mapping[str, Dialect] = {
    "duckdb": DuckDB(),
    "postgresql": PostgreSQL(),
    "postgres": PostgreSQL(),  # as ibis and sqlglot call it
    "spark": Spark(),
}


def dialect_of(name: str) -> Dialect:
    """The dialect of this name."""
    if not isinstance(name, str) or name not in DIALECTS:
        raise RuleError(f"dialect must be one of {', '.join(DIALECTS)}")
    return DIALECTS[name]


def check_case(dialect: Dialect, used: Sequence[str], names: Sequence[str]) -> None:
    """Stop at a name that the engine could take for that of another column."""
    if dialect.ignores_case:
        times = Counter(name.lower() for name in names)
        for name in used:
            if times[name.lower()] > 1:
                raise RuleError(
                    f"{dialect.name} does not tell column {name!r} from one that differs in case; rename it"
                )

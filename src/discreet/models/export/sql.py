"""A model as one SQL expression, ``CASE WHEN ... THEN ... ELSE ... END``; of points, a sum of such; of a tree, such in such.

It predicts what the model's ``predict`` does for every value that a column of the expected type can hold, NULL and NaN included,
and refuses columns of other types. (An engine that silently casts could give another prediction than the model does: DuckDB and
Spark compare the text "01" with the number 1.) So the expression states the type that each column must have: PostgreSQL by typed
operands, which it does not cast; the others by a first branch that raises an error. (SQLite has types of values, not of columns:
there it is raised at the first value of another type.)
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import partial, reduce
from typing import Any

from ..._utils.errors import RuleError
from ..._utils.escaping import is_unicode
from ...rules.rules import write_number
from ...schema import Label
from ...schema.columns.dates import DayBins
from ..model import Model
from ..partition import DOUBLING, FARTHEST
from .chains import Chain, NumberTest, Test, chains_of, compared, kinds_of, outcomes_of, type_of

SQL_TYPES = {"text": "text", "number": "float8", "boolean": "boolean", "date": "date"}
Lines = list[str]  # a name may have line breaks, and must not be indented with what is around it


@dataclass(frozen=True)
class Dialect:
    """How an engine writes names, texts and numbers, and how it is made to refuse a column of another type."""

    name: str
    literal: Callable[[str], str]  # of a text
    written: Callable[[str], str]  # of a number in 64-bit floating point, so that comparisons are the same as in Python
    infinity: str
    compared: str = "{}"  # a text that only a column of texts can be compared with
    nan: str = "isnan({x})"  # engines take NaN for the largest number there is
    null: str = "{x} IS NULL"
    truths: tuple[str, str] = ("FALSE", "TRUE")
    never: str = "FALSE"  # what is true of no value of a column
    text: str = "{x}"  # a column of texts, to be compared letter by letter
    before: str | None = "{x} < DATE '{day}'"  # None where there are no dates
    since: str = "{x} >= DATE '{day}'"
    extremes: tuple[str, str] = ("least", "greatest")
    error: str = ""  # with a message
    other_types: Mapping[str, str] = field(default_factory=dict)  # what says that a column is of none that will do
    quote: str = '"'
    has_nul: bool = True
    ignores_case: bool = True  # of column names
    longest: float = math.inf  # of names, in bytes
    replaced: str = ""  # what begins a setting, wherever it stands: a name may not have it

    def column(self, name: str) -> str:
        """A column's name, quoted."""
        fits = self.holds(name) and "\0" not in name and len(name.encode()) <= self.longest
        if not fits or (self.replaced and self.replaced in name):
            most = "" if math.isinf(self.longest) else f", to at most {self.longest} bytes"
            raise RuleError(f"{self.name} cannot have a column of the name {name!r}; rename it{most}")
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def holds(self, text: str) -> bool:
        """Whether a text can stand in a column at all. Python has texts that no engine has."""
        return is_unicode(text) and (self.has_nul or "\0" not in text)

    def number(self, number: float) -> str:
        """A number as a literal."""
        if math.isinf(number):
            return self.infinity.format("" if number > 0 else "-")
        return self.written(write_number(number))

    def compare(self, x: str, op: str, end: float | date) -> str:
        """A comparison with a number, or with a day."""
        if not isinstance(end, date):
            return f"{x} {op} {self.number(end)}"
        return str(self.before if op == "<" else self.since).format(x=x, day=end)

    def guards(self, kinds: Mapping[str, str]) -> Iterator[str]:
        """The branches that stop with an error at a column of another type than said."""
        for kind, other in self.other_types.items():
            names = [name for name, its in kinds.items() if its == kind]
            if names:
                columns = map(self.column, names)
                condition = " OR ".join(f"typeof({column}) {other.format(x=column)}" for column in columns)
                message = f"each of these columns must be a {kind}: {', '.join(names)}"
                yield f"WHEN {condition} THEN {self.error.format(self.literal(message))}"

    def check_case(self, used: Sequence[str], names: Sequence[str]) -> None:
        """Stop at a name that the engine could take for that of another column."""
        times = Counter(name.lower() for name in names)
        for name in used:
            if self.ignores_case and times[name.lower()] > 1:
                raise RuleError(f"{self.name} does not tell column {name!r} from one that differs in case; rename it")


def _duckdb_text(text: str, nul: str = "chr(0)") -> str:
    """Quotation marks are doubled; a NUL would end the query in some clients."""
    literal = "'" + text.replace("'", "''").replace("\0", f"' || {nul} || '") + "'"
    return f"({literal})" if "\0" in text else literal


def _postgresql_text(text: str) -> str:
    """With E wherever a backslash stands: what one means in an ordinary literal is a setting."""
    literal = "'" + text.replace("'", "''") + "'"
    return "E" + literal.replace("\\", "\\\\") if "\\" in text else literal


def _spark_text(text: str) -> str:
    """As in Java. ``${...}`` would be replaced by a setting."""
    written = text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\u0000").replace("${", "\\u0024{")
    return f"'{written}'"


def _sqlite_number(number: str) -> str:
    """SQLite may read one of more than 15 digits as its neighbour: it is written as exact steps from an integer.

    >>> _sqlite_number("0.5"), _sqlite_number("0.30000000000000004")
    ('0.5e0', '(1351079888211149e0 / 4503599627370496)')
    """
    _, digits, exponent = Decimal(number).as_tuple()
    if len(digits) <= 15 and isinstance(exponent, int) and abs(exponent) <= 22:
        return number if "e" in number else f"{number}e0"
    mantissa, power = math.frexp(float(number))
    whole = int(mantissa * 2**53)
    shift = (whole & -whole).bit_length() - 1  # zeros at its end
    power += shift - 53
    factors = [2**62] * (abs(power) // 62) + [2 ** (abs(power) % 62)]
    return f"({(' * ' if power > 0 else ' / ').join([f'{whole >> shift}e0', *map(str, factors)])})"


# Names are not case sensitive, even in quotation marks; a decimal point alone makes a DECIMAL
DUCKDB = Dialect(
    "DuckDB",
    literal=_duckdb_text,
    written=lambda number: number if "e" in number else f"{number}e0",
    infinity="'{}inf'::DOUBLE",
    error="error({})",
    other_types={
        "text": "<> 'VARCHAR'",
        "number": "NOT SIMILAR TO 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*'",
        "boolean": "<> 'BOOLEAN'",
        "date": "NOT IN ('DATE', 'TIMESTAMP')",
    },
)
# A typed literal is enough to refuse a column of another type; but times would be compared with a date, in the session's zone: a
# range of dates refuses them. A long name would be cut off; NaN equals itself; nothing equals NULL, but the types are compared
POSTGRESQL = Dialect(
    "PostgreSQL",
    literal=_postgresql_text,
    written="{}::float8".format,
    infinity="'{}Infinity'::float8",
    compared="{}::text",
    nan="{x} = 'NaN'::float8",
    null="{x} IS NOT DISTINCT FROM NULL::{type}",
    never="{x} = NULL::{type}",
    before="{x} <@ daterange(NULL, '{day}')",
    since="{x} <@ daterange('{day}', NULL)",
    has_nul=False,
    ignores_case=False,
    longest=63,
)
# Nothing but a backtick can be escaped in backticks
SPARK = Dialect(
    "Spark",
    literal=_spark_text,
    written="{}D".format,
    infinity="double('{}Infinity')",
    error="raise_error({})",
    other_types={
        "text": "<> 'string'",
        "number": "NOT RLIKE '^(tinyint|smallint|int|bigint|float|double|decimal.*)$'",
        "boolean": "<> 'boolean'",
        "date": "NOT IN ('date', 'timestamp_ntz')",
    },
    quote="`",
    replaced="${",
)
# A name in quotation marks that is not a column's would be a text. NaN is stored as NULL, truth values as 1 and 0; texts are
# compared as the column says. There is no function for errors: one that quotes its argument stands for it
SQLITE = Dialect(
    "SQLite",
    literal=partial(_duckdb_text, nul="char(0)"),
    written=_sqlite_number,
    infinity="{}9e999",
    nan="",
    truths=("0", "1"),  # TRUE would be a column of that name
    never="0",
    text="{x} COLLATE BINARY",
    before=None,
    extremes=("min", "max"),
    error="json_extract('{{}}', {})",
    other_types={
        "text": "NOT IN ('text', 'null')",
        "number": "NOT IN ('integer', 'real', 'null')",
        "boolean": "NOT IN ('integer', 'real', 'null') OR {x} NOT IN (0, 1)",
    },
    quote="`",
)
# PostgreSQL's second name is that of ibis and sqlglot
DIALECTS = {"duckdb": DUCKDB, "postgresql": POSTGRESQL, "postgres": POSTGRESQL, "spark": SPARK, "sqlite": SQLITE}


def to_sql(model: Model, dialect: str, share_of: Label | None, types: Mapping[str, str] | None) -> str:
    """See ``Model.to_sql``."""
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise RuleError(f"dialect must be one of {', '.join(DIALECTS)}")
    engine, outcomes = DIALECTS[dialect], outcomes_of(model, share_of)
    kinds = kinds_of(model, types, engine.name, {DayBins: ("date",)} if engine.before is None else {})
    chains = chains_of(model, kinds)
    engine.check_case(list(kinds), () if model.schema is None else model.schema.names)
    writer, (*first, last) = _Writer(engine, kinds), _literals(engine, outcomes, model.kind)
    guards = list(engine.guards(kinds))
    if not model.has_points:
        return "\n".join(writer.chain(chains[0], [*first, last], guards))
    # Sums stand there once for each comparison: an expression has no place to keep a value
    totals = [writer.total(chains, place) for place in range(len(chains[0].points[0]))]
    if not model.has_points_by_class:
        reached = [_joined("<", totals[0], [engine.number(limit)]) for limit in model.limits]
    elif share_of is not None:
        return "\n".join(writer.share(totals, model.classes.index(share_of), guards))
    else:
        later = ((own, totals[place:]) for place, own in enumerate(totals[:-1], 1))
        reached = [_joined("AND", *(_joined(">=", own, other) for other in others)) for own, others in later]
    return "\n".join(_case([(lines, [then]) for lines, then in zip(reached, first, strict=True)], last, guards))


def _literals(engine: Dialect, outcomes: list[Any], kind: str) -> list[str]:
    """What comes out, as literals of one type: that is what a column of an engine has."""
    match type_of(outcomes, kind, "SQL"):
        case "text":
            if not all(engine.holds(x) for x in outcomes):
                raise RuleError(f"a label of the {kind} has characters that {engine.name} cannot hold")
            return [engine.literal(x) for x in outcomes]
        case "boolean":
            return [engine.truths[x] for x in outcomes]
        case "integer":
            return [str(int(x)) for x in outcomes]
    return [engine.number(float(x)) for x in outcomes]


def _case(ways: Sequence[tuple[Lines, Lines]], last: str, guards: Sequence[str] = ()) -> Lines:
    """Conditions in order, what follows each, and what follows none; a NULL goes on, as what is false does."""
    if not ways:
        return [last]
    lines = list(guards)
    for (first, *more), then in ways:
        lines += [f"WHEN {first}", *more]
        lines[-1] += f" THEN {then[0]}" if len(then) == 1 else " THEN"
        lines += _indented(then) if len(then) > 1 else []
    return ["CASE", *_indented([*lines, f"ELSE {last}"]), "END"]


def _joined(operator: str, *parts: Lines) -> Lines:
    return reduce(lambda one, other: [*one[:-1], f"{one[-1]} {operator} {other[0]}", *other[1:]], parts)


def _indented(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]


@dataclass(frozen=True)
class _Writer:
    """Writes for an engine in which columns are of these kinds."""

    engine: Dialect
    kinds: Mapping[str, str]

    def chain(self, chain: Chain, outcomes: Sequence[str], guards: Sequence[str] = ()) -> Lines:
        """What comes out of a chain; of a tree, a CASE in a CASE."""
        ways = [([" AND ".join(map(self.condition, tests))], self.chain(end, outcomes)) for tests, end in chain.ways]
        return _case(ways, outcomes[chain.last], guards)

    def total(self, chains: Sequence[Chain], place: int) -> Lines:
        """The sum of points (of the class at ``place``), in brackets; from left to right, as ``predict`` adds them."""
        lines: Lines = []
        for chain in chains:
            first, *more = self.chain(chain, [self.engine.number(float(points[place])) for points in chain.points])
            lines += [f"+ {first}" if lines else first, *more]
        return ["(", *_indented(lines), ")"]

    def share(self, totals: Sequence[Lines], place: int, guards: Sequence[str]) -> Lines:
        """The share of one class, of a sum for each."""
        one, two, low, high, doubling = map(self.engine.number, (1, 2, -FARTHEST, FARTHEST, DOUBLING))
        least, greatest = self.engine.extremes
        lines = [f"{one} / (", f"  {one}"]
        for other in (*totals[:place], *totals[place + 1 :]):
            between = _indented(_indented(_joined("-", other, totals[place])))
            lines += [f"  + power({two}, {greatest}({low}, {least}({high}, (", *between, f"  ) / {doubling})))"]
        lines.append(")")
        return ["CASE", *_indented([*guards, f"ELSE {lines[0]}", *lines[1:]]), "END"] if guards else lines

    def condition(self, test: Test) -> str:
        """One test, in brackets where it could be torn apart by AND."""
        engine, kind, x = self.engine, self.kinds[test.column], self.engine.column(test.column)
        # where the column is NaN, where it is NULL, and what is true of none of its values
        forms = ("" if kind == "date" else engine.nan, engine.null, engine.never)
        is_nan, missing, never = (form.format(x=x, type=SQL_TYPES[kind]) for form in forms)
        absent = _or(missing, is_nan) if is_nan else missing  # among numbers
        if isinstance(test, NumberTest):
            within, parts = ([engine.compare(x, *end) for end in some] for some in (test.within, test.comparisons))
            # NaN is above every number, so that whatever is bounded from above is none
            bounds = test.within if test.either else (*test.within, *test.comparisons)
            no_nan = [] if any(op in ("<", "<=") for op, _ in bounds) or not is_nan else [f"NOT {is_nan}"]
            if test.missing:
                return f"({' AND '.join([*within, *no_nan])}) IS NOT {engine.truths[1]}" if within else absent
            if test.either:
                return " AND ".join([_or(*parts), *within, *no_nan]) if parts else never
            return " AND ".join([*parts, *within, *([] if parts or within else [f"NOT ({missing})"]), *no_nan])
        if kind == "boolean":
            ways = {True: x, False: f"NOT {x}", None: missing}
            if {True, False} <= set(test.wanted):
                return engine.truths[1] if test.missing else f"NOT ({missing})"
            return _or(*(ways[value] for value in test.wanted)) or never
        no_nan = []
        if kind == "number":
            listed = [engine.number(number) for number in test.listed]
            missing, no_nan = absent, [f"NOT {is_nan}"] * bool(is_nan)
        else:
            listed = [engine.compared.format(engine.literal(text)) for text in test.listed if engine.holds(text)]
        if kind == "text":
            x = f"lower({x})" if test.of_truths else engine.text.format(x=x)
        among = [compared(x, listed, "=", "IN")] if listed else []
        if test.inside:
            return _or(*among, *[missing] * test.missing) or never
        if not listed:
            return engine.truths[1] if test.missing else f"NOT ({missing})"
        if test.missing:
            return f"({among[0]}) IS NOT {engine.truths[1]}"
        return " AND ".join([compared(x, listed, "<>", "NOT IN"), *no_nan])


def _or(*parts: str) -> str:
    return f"({' OR '.join(parts)})" if len(parts) > 1 else "".join(parts)

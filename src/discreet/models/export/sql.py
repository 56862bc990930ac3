"""A model as one SQL expression, ``CASE WHEN ... THEN ... ELSE ... END``; of points, a sum of such; of a tree, such in such.

It predicts what the model's ``predict`` does for every value that a column of the expected type can hold, NULL and NaN included,
and refuses columns of other types.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..._utils.errors import RuleError
from ...schema import Label
from ...schema.columns.values import TRUTH
from ..model import Model
from ..partition import DOUBLING, FARTHEST
from .branches import (
    Branch,
    Branches,
    BranchSplit,
    BranchTest,
    NumberTest,
    TextTest,
    TruthTest,
    branches,
    exact_numbers,
    kinds_of,
    type_of_labels,
)
from .dialects import Dialect, check_case, dialect_of


def to_sql(
    model: Model,
    dialect: str = "duckdb",
    share_of: Label | None = None,
    types: Mapping[str, str] | None = None,
) -> str:
    """See ``Model.to_sql``."""
    engine = dialect_of(dialect)
    made = branches(model, share_of)
    used = list(dict.fromkeys(test.column for test in made.tests))
    kinds = kinds_of(model, used, types, lambda bins: bins.types, "SQL; cast it in a view first")
    check_case(engine, used, () if model.schema is None else model.schema.names)
    outcomes = _outcomes(engine, list(made.outcomes), model.kind)
    guards = engine.guards(kinds)
    if made.root is not None:
        return "\n".join(_nested(guards, engine, made.root, kinds, outcomes))
    if not made.has_points:
        return "\n".join(_case(guards, _conditions(engine, made.partitions[0], kinds), outcomes))
    if made.by_class:
        return "\n".join(_by_class(guards, engine, made, kinds, outcomes))
    total = _total(engine, made.partitions, kinds)
    # It stands there once for each limit: an expression has no place to keep a value
    below = [[*total[:-1], f"{total[-1]} < {engine.number(limit)}"] for limit in made.limits]
    return "\n".join(_case(guards, below, outcomes))


# Lines are lists: a name may have line breaks, and must not be indented with what is around it.
def _case(guards: list[str], conditions: list[list[str]], outcomes: list[str]) -> list[str]:
    if not conditions:
        return outcomes[:1]
    lines = list(guards)
    for (first, *more), outcome in zip(conditions, outcomes, strict=False):
        *before, last = f"WHEN {first}", *more
        lines += [*before, f"{last} THEN {outcome}"]
    return ["CASE", *_indented([*lines, f"ELSE {outcomes[-1]}"]), "END"]


def _nested(
    guards: list[str], engine: Dialect, root: BranchSplit, kinds: Mapping[str, str], outcomes: list[str]
) -> list[str]:
    """A tree as it is: where a test is false or NULL, a CASE goes on to the next one, which is on the other side."""
    tests, last = root.chain()
    lines = list(guards)
    for test, true in tests:
        when = f"WHEN {_condition(engine, test, kinds[test.column])} THEN"
        if isinstance(true, int):
            lines.append(f"{when} {outcomes[true]}")
        else:
            lines += [when, *_indented(_nested([], engine, true, kinds, outcomes))]
    return ["CASE", *_indented([*lines, f"ELSE {outcomes[last]}"]), "END"]


def _conditions(engine: Dialect, partition: Sequence[Branch], kinds: Mapping[str, str]) -> list[list[str]]:
    """When a record is in each part of a partition but the last, if it is in none before."""
    return [
        [" AND ".join(_condition(engine, test, kinds[test.column]) for test in branch.tests)]
        for branch in partition[:-1]
    ]


def _by_class(
    guards: list[str], engine: Dialect, made: Branches, kinds: Mapping[str, str], outcomes: list[str]
) -> list[str]:
    """Of a sum for each class: the class with the largest, or the share of one. Sums stand there once for each comparison."""
    totals = [_total(engine, made.partitions, kinds, place) for place in range(len(outcomes))]
    if made.share_of is None:
        largest = []
        for place, own in enumerate(totals[:-1]):
            lines = list(own)
            for number, other in enumerate(totals[place + 1 :]):
                lines = (
                    [*lines[:-1], f"{lines[-1]} >= {other[0]}", *other[1:]]
                    if not number
                    else [*lines[:-1], f"{lines[-1]} AND {own[0]}", *own[1:-1], f"{own[-1]} >= {other[0]}", *other[1:]]
                )
            largest.append(lines)
        return _case(guards, largest, outcomes)
    own = totals[made.share_of]
    low, high, doubling = map(engine.number, (-FARTHEST, FARTHEST, DOUBLING))
    lines = [f"{engine.number(1)} / (", f"  {engine.number(1)}"]
    for place, other in enumerate(totals):
        if place != made.share_of:
            between = [*other[:-1], f"{other[-1]} - {own[0]}", *own[1:]]
            lines += [f"  + power({engine.number(2)}, greatest({low}, least({high}, (", *_indented(_indented(between))]
            lines.append(f"  ) / {doubling})))")
    lines.append(")")
    return ["CASE", *_indented([*guards, f"ELSE {lines[0]}", *lines[1:]]), "END"] if guards else lines


def _total(
    engine: Dialect, partitions: Sequence[Sequence[Branch]], kinds: Mapping[str, str], place: int | None = None
) -> list[str]:
    """The sum of points (of the class at ``place``), in brackets; from left to right, as ``predict`` adds them."""
    lines: list[str] = []
    for partition in partitions:
        given = [branch.outcome if place is None else branch.points[place] for branch in partition]
        points = [engine.number(float(number)) for number in given]
        first, *more = _case([], _conditions(engine, partition, kinds), points)
        lines += [f"+ {first}" if lines else first, *more]
    return ["(", *_indented(lines), ")"]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _outcomes(engine: Dialect, outcomes: list[Any], kind: str) -> list[str]:
    """What comes out, as literals of one type: that is what a column of an engine has."""
    match type_of_labels(outcomes, kind, "SQL"):
        case "text":
            if not all(engine.holds(x) for x in outcomes):
                raise RuleError(f"a label of the {kind} has characters that {engine.name} cannot hold")
            return [engine.text(x) for x in outcomes]
        case "boolean":
            return [str(x).upper() for x in outcomes]
        case "integer":
            return [str(int(x)) for x in outcomes]
    return [engine.number(float(x)) for x in outcomes]


def _condition(engine: Dialect, test: BranchTest, kind: str) -> str:
    """One test, in brackets where it could be torn apart by AND."""
    if isinstance(test, NumberTest):
        return _number_condition(engine, test)
    if isinstance(test, TruthTest):
        return _truth_condition(engine, test, kind)
    return _text_condition(engine, test, kind)


def _number_condition(engine: Dialect, test: NumberTest) -> str:
    x = engine.column(test.column)
    ends = zip((">=", "<="), test.limits, strict=True)
    within = " AND ".join(f"{x} {op} {engine.number(end)}" for op, end in ends if end is not None)
    if test.missing:
        if within:
            without_nan = within if test.limits[1] is not None else f"{within} AND NOT {engine.is_nan(x)}"
            return f"({without_nan}) IS NOT TRUE"
        return _or(engine.is_null(x, "number"), engine.is_nan(x))
    if test.either and not test.comparisons:
        return engine.never(x, "number")
    parts = [f"{x} {op} {engine.number(cut)}" for op, cut in test.comparisons]
    compared = _or(*parts) if test.either else " AND ".join(parts)
    # NaN is above every number, so that whatever is bounded from above is none
    bounded = test.limits[1] is not None or (not test.either and any(op in ("<", "<=") for op, _ in test.comparisons))
    no_nan = "" if bounded else f"NOT {engine.is_nan(x)}"
    no_null = f"NOT ({engine.is_null(x, 'number')})" if not (compared or within) else ""
    return " AND ".join(part for part in (compared, within, no_null, no_nan) if part)


def _truth_condition(engine: Dialect, test: TruthTest, kind: str) -> str:
    x = engine.column(test.column)
    missing = None in test.wanted
    if kind == "boolean":
        return _boolean_condition(engine, x, test.wanted)
    wanted = [word for word, value in TRUTH.items() if (bool(value) in test.wanted) != missing]
    numbers = tuple(float(value) for value in (True, False) if (value in test.wanted) != missing)
    words = TextTest(test.column, tuple(wanted), not missing, missing, numbers)
    return _text_condition(engine, words, kind, any_case=True)


def _boolean_condition(engine: Dialect, x: str, wanted: Collection[bool | None]) -> str:
    null = engine.is_null(x, "boolean")
    if {True, False} <= set(wanted):
        return "TRUE" if None in wanted else f"NOT ({null})"
    ways = {True: x, False: f"NOT {x}", None: null}
    return _or(*(way for value, way in ways.items() if value in wanted)) or engine.never(x, "boolean")


def _text_condition(engine: Dialect, test: TextTest, kind: str, any_case: bool = False) -> str:
    x = engine.column(test.column)
    if kind == "boolean":
        found = [value for value in (True, False) if (value in test.truths) == test.inside]
        return _boolean_condition(engine, x, [*found, None] if test.missing else found)
    if kind == "number":
        listed = [engine.number(number) for number in exact_numbers(test.column, test.numbers)]
        missing, known = _or(engine.is_null(x, kind), engine.is_nan(x)), [f"NOT {engine.is_nan(x)}"]
    else:
        listed = [engine.compared_text(text) for text in (*test.listed, *test.words) if engine.holds(text)]
        missing, known = engine.is_null(x, kind), []
    value = f"lower({x})" if any_case and kind == "text" else x
    if test.inside:
        found_there = f"{value} {_among(listed)}" if listed else ""
        return _or(*(part for part in (found_there, missing if test.missing else "") if part)) or engine.never(x, kind)
    if not listed:
        return "TRUE" if test.missing else f"NOT ({missing})"
    if test.missing:
        return f"({value} {_among(listed)}) IS NOT TRUE"
    return " AND ".join([f"{value} {_among(listed, negated=True)}", *known])


def _among(listed: list[str], negated: bool = False) -> str:
    if len(listed) == 1:
        return f"{'<>' if negated else '='} {listed[0]}"
    return f"{'NOT ' if negated else ''}IN ({', '.join(listed)})"


def _or(*parts: str) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"({' OR '.join(parts)})"

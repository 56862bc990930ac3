"""A model as the source of one Python function that needs nothing but the standard library.

Every name, category and label goes through ``repr``; the names of variables have only letters, digits and underscores. So
whatever a schema holds, it cannot become code.
"""

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import count
from typing import Any

from ..._utils.days import DATE_TEXT
from ..._utils.errors import RuleError
from ...rules.rules import write, write_number
from ...schema import Label
from ...schema.columns.dates import DayBins
from ...schema.columns.values import MISSING, NONE, TRUTH, Matching, NumberBins, TextBins, TruthBins
from ..model import Model
from ..partition import DOUBLING, FARTHEST, TOTAL
from .chains import Chain, NumberTest, Test, chains_of, compared, outcomes_of

HELPERS = {
    "day": '''
def day(value):
    """The day of a date, a time (in UTC if it has a zone) or a text such as 2024-01-31, as the number 20240131; else NaN."""
    if not isinstance(value, (str, date, Real, Decimal, type(None))):
        raise TypeError("a value must be a date, a text, a number, a truth value or None")
    try:
        if isinstance(value, str):
            found = match(PATTERN, value)
            year, month, number, hour, minute, sign, hours, minutes = found.groups("0") if found else "0" * 8
            value, zone = date(int(year), int(month), int(number)), timedelta(hours=int(hours), minutes=int(minutes))
            time = timedelta(hours=int(hour), minutes=int(minute)) + (zone if sign == "-" else -zone)
        elif isinstance(value, datetime):
            time = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second) - (value.utcoffset() or timedelta())
        else:
            time = timedelta()
        number = value.toordinal() + time // timedelta(days=1)
    except (AttributeError, ValueError):
        return nan
    found = date.fromordinal(max(1, min(number, date.max.toordinal())))
    return found.year * 10000 + found.month * 100 + found.day
'''.replace("PATTERN", f'r"{DATE_TEXT}"'),
    "number": '''
def number(value):
    """A value as a number; NaN if it is missing or is none."""
    if not isinstance(value, (str, Real, Decimal, type(None))):
        raise TypeError("a value must be a text, a number, a truth value or None")
    try:
        if isinstance(value, str) and "_" in value or value is None:
            return nan
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return float(value.strip().lower() == "true")
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf
    except ValueError:
        return nan
''',
    "category": '''
def category(value, listed, wholes, numbers, truths):
    """The listed category that a value is, of whatever type; None if it is missing. Any other text is itself."""
    missing = {MISSING}
    if isinstance(value, str):
        value = str.__str__(value)
        if value in listed or value in missing:
            return value if value in listed else None
        said = {"true": True, "false": False}.get(value.strip().lower())
        return numbers.get(number(value), value) if said is None else truths.get(said, value)
    if isinstance(value, bool):
        return truths.get(value, False)
    if isinstance(value, Integral):
        return wholes.get(int(value), False)
    found = number(value)
    return numbers.get(found, None if value is None or isnan(found) else False)
'''.replace("{MISSING}", repr(tuple(sorted(MISSING)))),
    "truth": '''
def truth(value):
    """True or False; None if it is missing or neither."""
    words = {WORDS}
    said = str.__str__(value).strip().lower() if isinstance(value, str) else None
    return words[said] if said in words else {0.0: False, 1.0: True}.get(number(value))
'''.replace("WORDS", ", ".join(f'"{word}": {bool(value)}' for word, value in TRUTH.items())),
}
HELPER_FOR = {NumberBins: "number", DayBins: "day", TextBins: "category", TruthBins: "truth"}
TAKEN = {"record", "date", "datetime", "timedelta", "match", "Decimal", "Integral", "Real", "inf", "isnan", "nan"}
TAKEN |= {*HELPERS, *keyword.kwlist, *keyword.softkwlist, *dir(builtins)}

# Python nests what follows an elif and cannot go down thousands of floors; after a return, an if does as well
LONGEST_CHAIN = 100


def to_python(model: Model, name: str, share_of: Label | None) -> str:
    """See ``Model.to_python``."""
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise RuleError("name must be that of a Python function: letters, digits and underscores")
    outcomes, chains, columns = outcomes_of(model, share_of), chains_of(model, {}), model.used_columns
    functions = [f"points_{i}" for i, _ in enumerate(chains, 1)] if model.has_points else []
    variables = _variables(columns, {name, *functions, *[TOTAL] * bool(functions)})
    reads, needed = _reads(model, variables)
    lines = _docstring(model, share_of)
    if columns:
        numbers = "from numbers import Integral, Real" if "category" in needed else "from numbers import Real"
        lines += ["from datetime import date, datetime, timedelta"] * ("day" in needed)
        lines += ["from decimal import Decimal", "from math import inf, isnan, nan", numbers]
        lines += ["from re import match"] * ("day" in needed)
        for helper in (h for h in HELPERS if h in needed):
            lines += ["", *HELPERS[helper].strip().split("\n")]
        lines += ["", *reads, ""]
    for function, chain in zip(functions, chains, strict=False):  # without points there are none
        points = chain.points if model.has_points_by_class else [number for (number,) in chain.points]
        lines += [f"def {function}():", *_indented(_chain(chain, points, variables)), ""]
    lines += _totals(model, functions, outcomes, share_of) if functions else _chain(chains[0], outcomes, variables)
    return "\n".join([f"def {name}(record):", *_indented(lines)]) + "\n"


def _docstring(model: Model, share_of: Label | None) -> list[str]:
    what = f"label that a {model.kind} gives a record"
    about = [
        f"The {what if share_of is None else 'share of a class where a record is captured'}. Written by discreet.",
        "",
        "A record is a mapping of column names to values: texts, numbers, truth values, dates, or None where one is missing.",
        "",
        *([] if share_of is None else [f"The class is {write(share_of)}.", ""]),
        *(f"    {line}" for line in str(model).split("\n")),
    ]
    return ['"""' + _harmless(about[0]), *map(_harmless, about[1:]), '"""']


def _harmless(text: str) -> str:
    """A text as it can stand in a docstring: what ends it, or a line, is escaped."""
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text.replace("\\", "\\\\"))
    return printable.replace('"', '\\"') if '""' in printable or printable.endswith('"') else printable


def _variables(columns: Iterable[str], used: set[str]) -> dict[str, str]:
    """A variable for each column, called as much like it as Python allows; other names are ``used``."""
    variables: dict[str, str] = {}
    for column in columns:
        plain = re.sub("[^a-z0-9]+", "_", column.lower()).strip("_")[:40]
        plain = plain if plain and not plain[0].isdigit() else f"column_{plain}".rstrip("_")
        taken = {*used, *TAKEN, *variables.values()}
        variables[column] = next(v for i in count() if (v := f"{plain}_{i}" if i else plain) not in taken)
    return variables


def _reads(model: Model, variables: Mapping[str, str]) -> tuple[list[str], set[str]]:
    """The lines that read the record, and the helpers that they call."""
    lines, needed = [], set[str]()
    for column, variable in variables.items():
        assert model.schema is not None
        bins = model.schema[column].value_bins
        helper = HELPER_FOR[type(bins)]
        needed |= {helper} if helper == "day" else {helper, "number"}
        given = [f"record[{column!r}]", *(_told_apart(bins) if isinstance(bins, TextBins) else ())]
        lines.append(f"{variable} = {helper}({', '.join(given)})")
        low, high = bins.limits if isinstance(bins, NumberBins) else (None, None)
        if (low, high) != (None, None):
            within = "" if low is None else f"{write_number(low)} <= "
            within += variable + ("" if high is None else f" <= {write_number(high)}")
            lines.append(f"{variable} = {variable} if {within} else nan  # beyond its bounds it is missing")
    return lines, needed


def _told_apart(bins: TextBins) -> Iterator[str]:
    """The listed texts that could be taken for something else, and a listed text for each number and truth value that is one."""
    matching, text = bins.matching, {place: text for text, place in bins.bin_of.items()}
    yield repr(tuple(t for t in bins.bin_of if t in MISSING or Matching({t: 0}).numbers))
    yield repr({n: text[place] for n, place in matching.wholes.items() if place != NONE})
    known = (f"{write_number(n)}: {text[place]!r}" for n, place in matching.numbers.items() if place != NONE)
    yield "{" + ", ".join(known) + "}"
    yield repr({bool(n): text[place] for n, place in matching.truths.items() if place != NONE})


def _totals(model: Model, functions: Sequence[str], outcomes: Sequence[Label], share_of: Label | None) -> list[str]:
    """What follows from the points that these functions give."""
    if not model.has_points_by_class:
        below = [f"{TOTAL} < {write_number(limit)}" for limit in model.limits]
        ways = [(limit, [f"return {then!r}"]) for limit, then in zip(below, outcomes[:-1], strict=True)]
        total = f"{TOTAL} = {' + '.join(f'{function}()' for function in functions)}"
        return [total, *_ifs(ways, f"return {outcomes[-1]!r}")]
    # A sum for each class. (Not by Python's ``sum``, which adds numbers in another way since 3.12.)
    added = " + ".join(f"{function}()[i]" for function in functions)
    total = f"{TOTAL} = [{added} for i in range({len(outcomes)})]"
    if share_of is None:
        return [total, f"return {tuple(outcomes)!r}[{TOTAL}.index(max({TOTAL}))]"]
    odds = f"(other - {TOTAL}[{model.classes.index(share_of)}]) / {write_number(DOUBLING)}"
    return [total, f"return 1 / sum(2.0 ** max(-{FARTHEST}.0, min({FARTHEST}.0, {odds})) for other in {TOTAL})"]


def _chain(chain: Chain, outcomes: Sequence[Any], variables: Mapping[str, str]) -> list[str]:
    """What comes out of a chain, a tree as it is."""
    ways = []
    for tests, end in chain.ways:
        condition = " and ".join(_condition(test, variables[test.column]) for test in tests)
        ways.append((condition, _chain(end, outcomes, variables)))
    return _ifs(ways, f"return {outcomes[chain.last]!r}")


def _ifs(ways: Sequence[tuple[str, list[str]]], last: str) -> list[str]:
    """Conditions in order, what follows each, and what follows none. All of it returns."""
    lines = []
    for i, (condition, then) in enumerate(ways):
        lines += [f"{'elif' if i % LONGEST_CHAIN else 'if'} {condition}:", *_indented(then)]
    return [*lines, "else:", f"    {last}"] if ways else [last]


def _condition(test: Test, x: str) -> str:
    if isinstance(test, NumberTest):
        # NaN stands for what is missing: no comparison is true of it
        if not test.comparisons:
            return f"isnan({x})" if test.missing else "False" if test.either else f"not isnan({x})"
        if len(test.comparisons) == 2 and not test.either:
            (above, low), (below, high) = test.comparisons
            return f"{_limit(low)} {above.replace('>', '<')} {x} {below} {_limit(high)}"
        return _or(f"{x} {op} {_limit(cut)}" for op, cut in test.comparisons)
    if test.of_truths:
        return f"{x} is not None" if test.wanted == [True, False] else _or(f"{x} is {value}" for value in test.wanted)
    listed = [*map(repr, test.listed)]
    if test.inside:
        return _or([*[compared(x, listed, "==", "in")] * bool(listed), *[f"{x} is None"] * test.missing])
    if not listed:
        return "True" if test.missing else f"{x} is not None"
    outside = compared(x, listed, "!=", "not in")
    return outside if test.missing else f"{x} is not None and {outside}"


def _limit(cut: float | date) -> str:
    """A number; a day as one, as ``day`` has it."""
    return str(cut.year * 10_000 + cut.month * 100 + cut.day) if isinstance(cut, date) else write_number(cut)


def _or(parts: Iterable[str]) -> str:
    first, *more = [*parts] or ["False"]
    return f"({' or '.join([first, *more])})" if more else first


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]

"""A model as the source of one Python function that needs nothing but the standard library.

Every name, category and label goes through ``repr``; the names of variables have only letters, digits and underscores. So
whatever a schema holds, it cannot become code.
"""

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..._utils.errors import RuleError
from ...rules.text import write, write_number
from ...schema import Label
from ...schema.columns.values import MISSING, NONE, TRUTH, Matching, TextBins
from ..model import Model
from ..partition import DOUBLING, FARTHEST, TOTAL
from .chains import Chain, Chains, NumberTest, Test, chains_of

HELPERS = {
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
TAKEN = {"record", "Decimal", "Integral", "Real", "inf", "isnan", "nan"}
TAKEN |= {*HELPERS, *keyword.kwlist, *keyword.softkwlist, *dir(builtins)}

MIRRORED = {">": "<", ">=": "<="}
# Python nests what follows an elif and cannot go down thousands of floors; after a return, an if does as well
LONGEST_CHAIN = 100


def to_python(model: Model, name: str = "predict", share_of: Label | None = None) -> str:
    """See ``Model.to_python``."""
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise RuleError("name must be that of a Python function: letters, digits and underscores")
    made = chains_of(model, share_of)
    tests = made.tests
    functions = [f"points_{i}" for i, _ in enumerate(made.points, 1)]
    variables = _variables(tests, {name, *functions, *[TOTAL] * bool(functions)})
    lines = [f"def {name}(record):", *_indented(_docstring(model, share_of))]
    reads, needed = _reads(model, tests, variables)
    if tests:
        numbers = "from numbers import Integral, Real" if "category" in needed else "from numbers import Real"
        lines += _indented(["from decimal import Decimal", "from math import inf, isnan, nan", numbers])
        for helper in (h for h in HELPERS if h in needed):
            lines += ["", *_indented(HELPERS[helper].strip().split("\n"))]
        lines += ["", *_indented(reads), ""]
    return "\n".join([*lines, *_indented(_body(made, functions, variables))]) + "\n"


def _docstring(model: Model, share_of: Label | None) -> list[str]:
    what = f"label that a {model.kind} gives a record"
    about = [
        f"The {what if share_of is None else 'share of a class where a record is captured'}. Written by discreet.",
        "",
        "A record is a mapping of column names to values: texts, numbers, truth values, or None where one is missing.",
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
    numbers: Counter[str] = Counter()
    taken = {*used, *TAKEN}
    for column in columns:
        plain = re.sub("[^a-z0-9]+", "_", column.lower()).strip("_")[:40]
        plain = plain if plain and not plain[0].isdigit() else f"column_{plain}".rstrip("_")
        variable = plain
        while variable in taken:
            numbers[plain] += 1
            variable = f"{plain}_{numbers[plain]}"
        taken.add(variable)
        variables[column] = variable
    return variables


def _reads(model: Model, tests: dict[str, Test], variables: dict[str, str]) -> tuple[list[str], set[str]]:
    """The lines that read the record, and the helpers that they call."""
    lines, needed = [], {"number"}
    for column, test in tests.items():
        variable = variables[column]
        helper = "number" if isinstance(test, NumberTest) else "truth" if test.of_truths else "category"
        needed.add(helper)
        given = [f"record[{column!r}]", *(_told_apart(model, column) if helper == "category" else ())]
        lines.append(f"{variable} = {helper}({', '.join(given)})")
        if isinstance(test, NumberTest) and test.within:
            low, high = ("" if end is None else write_number(end) for end in test.limits)
            within = f"{low} <= " * bool(low) + variable + f" <= {high}" * bool(high)
            lines.append(f"{variable} = {variable} if {within} else nan  # beyond its bounds it is missing")
    return lines, needed


def _told_apart(model: Model, column: str) -> Iterator[str]:
    """The listed texts that could be taken for something else, and a listed text for each number and truth value that is one."""
    assert model.schema is not None
    bins = model.schema[column].value_bins
    assert isinstance(bins, TextBins)
    matching, text = bins.matching, {place: text for text, place in bins.bin_of.items()}
    yield repr(tuple(t for t in bins.bin_of if t in MISSING or Matching({t: 0}).numbers))
    for found in (matching.wholes, matching.numbers):
        known = (f"{_number(n)}: {text[place]!r}" for n, place in found.items() if place != NONE)
        yield "{" + ", ".join(known) + "}"
    yield repr({bool(n): text[place] for n, place in matching.truths.items() if place != NONE})


def _number(number: float) -> str:
    return str(number) if isinstance(number, int) else write_number(number)


def _body(made: Chains, functions: Sequence[str], variables: dict[str, str]) -> list[str]:
    if not made.points:
        return _chain(made.chains[0], _returns(made.outcomes), variables)
    lines = []
    for function, chain, given in zip(functions, made.chains, made.points, strict=True):
        points = given if made.by_class else [number for (number,) in given]
        lines += [f"def {function}():", *_indented(_chain(chain, _returns(points), variables)), ""]
    if not made.by_class:
        lines.append(f"{TOTAL} = {' + '.join(f'{function}()' for function in functions)}")
        below = [f"{TOTAL} < {write_number(limit)}" for limit in made.limits]
        *returns, last = _returns(made.outcomes)
        return [*lines, *_ifs([(limit, [then]) for limit, then in zip(below, returns, strict=True)], last)]
    # A sum for each class. (Not by Python's ``sum``, which adds numbers in another way since 3.12.)
    added = " + ".join(f"{function}()[i]" for function in functions)
    lines.append(f"{TOTAL} = [{added} for i in range({len(made.outcomes)})]")
    if made.share_of is None:
        return [*lines, f"return {made.outcomes!r}[{TOTAL}.index(max({TOTAL}))]"]
    odds = f"(other - {TOTAL}[{made.share_of}]) / {write_number(DOUBLING)}"
    within = f"max(-{FARTHEST}.0, min({FARTHEST}.0, {odds}))"
    return [*lines, f"return 1 / sum(2.0 ** {within} for other in {TOTAL})"]


def _returns(values: Iterable[Any]) -> list[str]:
    return [f"return {value!r}" for value in values]


def _chain(chain: Chain, returns: Sequence[str], variables: dict[str, str]) -> list[str]:
    """What comes out of a chain, a tree as it is."""
    ways = []
    for tests, end in chain.ways:
        condition = " and ".join(_condition(test, variables[test.column]) for test in tests)
        ways.append((condition, [returns[end]] if isinstance(end, int) else _chain(end, returns, variables)))
    return _ifs(ways, returns[chain.last])


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
            return f"{write_number(low)} {MIRRORED[above]} {x} {below} {write_number(high)}"
        return _or([f"{x} {op} {write_number(cut)}" for op, cut in test.comparisons])
    if test.of_truths:
        return f"{x} is not None" if test.wanted == [True, False] else _or([f"{x} is {value}" for value in test.wanted])
    among = ", ".join(map(repr, test.listed))
    is_one = len(test.listed) == 1
    if test.inside:
        found = [f"{x} == {among}" if is_one else f"{x} in ({among})"] if among else []
        return _or([*found, f"{x} is None"] if test.missing else found)
    if not among:
        return "True" if test.missing else f"{x} is not None"
    outside = f"{x} != {among}" if is_one else f"{x} not in ({among})"
    return outside if test.missing else f"{x} is not None and {outside}"


def _or(parts: list[str]) -> str:
    return f"({' or '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "False"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]

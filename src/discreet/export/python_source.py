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

from ..common.errors import RuleError
from ..conditions.partition import DOUBLING, FARTHEST, TOTAL, Model
from ..conditions.text import write, write_number
from ..schema import Label
from ..schema.columns.matching import MISSING, NONE, Matching
from ..schema.columns.value_bins import TRUTH, TextBins
from .branches import Branch, Branches, BranchSplit, BranchTest, NumberTest, TextTest, branches

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
TAKEN = {
    *HELPERS,
    "record",
    "Decimal",
    "Integral",
    "Real",
    "inf",
    "isnan",
    "nan",
    *keyword.kwlist,
    *keyword.softkwlist,
    *dir(builtins),
}

MIRRORED = {">": "<", ">=": "<="}
LONGEST_CHAIN = (
    100  # Python nests what follows an elif and cannot go down thousands of floors; after a return, an if does as well
)


def to_python(model: Model, name: str = "predict", share_of: Label | None = None) -> str:
    """See ``PartitionModel.to_python``."""
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise RuleError("name must be that of a Python function: letters, digits and underscores")
    made = branches(model, share_of)
    tests = {test.column: test for test in made.tests}
    variables = _variables(tests, {name, *_of_points(made)})
    lines = [f"def {name}(record):", *_indented(_docstring(model, share_of))]
    reads, needed = _reads(model, tests, variables)
    if tests:
        numbers = "from numbers import Integral, Real" if "category" in needed else "from numbers import Real"
        lines += _indented(["from decimal import Decimal", "from math import inf, isnan, nan", numbers])
        for helper in (h for h in HELPERS if h in needed):
            lines += ["", *_indented(HELPERS[helper].strip().split("\n"))]
        lines += ["", *_indented(reads), ""]
    return "\n".join([*lines, *_indented(_body(made, variables))]) + "\n"


def _docstring(model: Model, share_of: Label | None) -> list[str]:
    what = (
        f"label that a {model.kind} gives a record"
        if share_of is None
        else "share of a class where a record is captured"
    )
    about = [
        f"The {what}. Written by discreet.",
        "",
        "A record is a mapping of column names to values: texts, numbers, truth values, or None where one is missing.",
        "",
        *([] if share_of is None else [f"The class is {write(share_of)}.", ""]),
        *(f"    {line}" for line in str(model).split("\n")),
    ]
    return ['"""' + _harmless(about[0]), *(_harmless(line) for line in about[1:]), '"""']


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


def _reads(model: Model, tests: dict[str, BranchTest], variables: dict[str, str]) -> tuple[list[str], set[str]]:
    """The lines that read the record, and the helpers that they call."""
    lines, needed = [], {"number"}
    for column, test in tests.items():
        variable = variables[column]
        helper = "number" if isinstance(test, NumberTest) else "category" if isinstance(test, TextTest) else "truth"
        needed.add(helper)
        given = [f"record[{column!r}]", *(_told_apart(model, column) if isinstance(test, TextTest) else ())]
        lines.append(f"{variable} = {helper}({', '.join(given)})")
        if isinstance(test, NumberTest) and test.limits != (None, None):
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


def _of_points(made: Branches) -> list[str]:
    """The names of the functions that give points, one for each partition, and of their sum."""
    return [*(f"points_{i}" for i, _ in enumerate(made.partitions, 1)), TOTAL] if made.has_points else []


def _body(made: Branches, variables: dict[str, str]) -> list[str]:
    if made.root is not None:
        return _nested(made.root, made.outcomes, variables)
    if not made.has_points:
        return _chain(_conditions(made.partitions[0], variables), made.outcomes)
    lines = []
    *functions, total = _of_points(made)
    for function, partition in zip(functions, made.partitions, strict=True):
        points: list[Any] = [branch.points if made.by_class else branch.outcome for branch in partition]
        lines += [f"def {function}():", *_indented(_chain(_conditions(partition, variables), points)), ""]
    if made.by_class:
        return [*lines, *_by_class(made, functions, total)]
    lines.append(f"{total} = {' + '.join(f'{function}()' for function in functions)}")
    return [*lines, *_chain([f"{total} < {write_number(limit)}" for limit in made.limits], made.outcomes)]


def _by_class(made: Branches, functions: Sequence[str], total: str) -> list[str]:
    """A sum for each class. (Not by Python's ``sum``, which adds numbers in another way since 3.12.)"""
    added = " + ".join(f"{function}()[i]" for function in functions)
    lines = [f"{total} = [{added} for i in range({len(made.outcomes)})]"]
    if made.share_of is None:
        return [*lines, f"return {tuple(made.outcomes)!r}[{total}.index(max({total}))]"]
    odds = f"(other - {total}[{made.share_of}]) / {write_number(DOUBLING)}"
    within = f"max(-{FARTHEST}.0, min({FARTHEST}.0, {odds}))"
    return [*lines, f"return 1 / sum(2.0 ** {within} for other in {total})"]


def _nested(root: BranchSplit, outcomes: Sequence[Label], variables: dict[str, str]) -> list[str]:
    """A tree as it is."""
    tests, last = root.chain()
    lines = []
    for i, (test, true) in enumerate(tests):
        lines.append(f"{'elif' if i else 'if'} {_condition(test, variables[test.column])}:")
        then = [f"return {outcomes[true]!r}"] if isinstance(true, int) else _nested(true, outcomes, variables)
        lines += _indented(then)
    return [*lines, "else:", f"    return {outcomes[last]!r}"]


def _conditions(partition: Sequence[Branch], variables: dict[str, str]) -> list[str]:
    return [
        " and ".join(_condition(test, variables[test.column]) for test in branch.tests) for branch in partition[:-1]
    ]


def _chain(conditions: list[str], outcomes: Sequence[Label]) -> list[str]:
    if not conditions:
        return [f"return {outcomes[0]!r}"]
    lines = []
    for i, condition in enumerate(conditions):
        word = "elif" if i % LONGEST_CHAIN else "if"
        lines += [f"{word} {condition}:", f"    return {outcomes[i]!r}"]
    return [*lines, "else:", f"    return {outcomes[-1]!r}"]


def _condition(test: BranchTest, x: str) -> str:
    if isinstance(test, NumberTest):
        return _number_condition(test, x)
    if isinstance(test, TextTest):
        return _text_condition(test, x)
    parts = [f"{x} is {value}" for value in (True, False, None) if value in test.wanted]
    return f"{x} is not None" if test.wanted == {True, False} else _or(parts)


def _number_condition(test: NumberTest, x: str) -> str:
    """NaN stands for what is missing: no comparison is true of it."""
    if not test.comparisons:
        return f"isnan({x})" if test.missing else "False" if test.either else f"not isnan({x})"
    if len(test.comparisons) == 2 and not test.either:
        (above, low), (below, high) = test.comparisons
        return f"{write_number(low)} {MIRRORED[above]} {x} {below} {write_number(high)}"
    return _or([f"{x} {op} {write_number(cut)}" for op, cut in test.comparisons])


def _text_condition(test: TextTest, x: str) -> str:
    among = [repr(text) for text in test.listed]
    if test.inside:
        found = [f"{x} == {among[0]}" if len(among) == 1 else f"{x} in ({', '.join(among)})"] if among else []
        return _or([*found, f"{x} is None"] if test.missing else found)
    if not among:
        return "True" if test.missing else f"{x} is not None"
    outside = f"{x} != {among[0]}" if len(among) == 1 else f"{x} not in ({', '.join(among)})"
    return outside if test.missing else f"{x} is not None and {outside}"


def _or(parts: list[str]) -> str:
    if len(parts) < 2:
        return parts[0] if parts else "False"
    return f"({' or '.join(parts)})"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]

"""A model as plain values that any language can be written from: what is tested of raw values, and what comes out.

A model says ``job = office``; what that means for a value in a table is in the schema: which categories the group has,
what an unlisted value is taken for, where numbers are clipped. Here each literal becomes a test that needs no schema.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from ..._utils.errors import RuleError
from ...rules.rules import Literal, truth
from ...schema import Label, Schema
from ...schema.columns import NEGATION
from ...schema.columns.values import MISSING, NONE, NumberBins, TextBins, TruthBins, ValueBins
from ..model import Model
from ..partition import Answer
from ..tree import Fork, in_other_words, root_of

KINDS = ("text", "number", "boolean")
EXACT = 2**53  # below it, every integer has a floating-point number of its own


@dataclass(frozen=True)
class NumberTest:
    """True of the numbers that pass all comparisons (or, if ``either``, one of them); or of what is missing.

    ``limits`` are the ends of what counts as a number here: what is beyond them is missing. Without comparisons it is true of
    every number, or, if ``either``, of none.
    """

    column: str
    comparisons: tuple[tuple[str, float], ...] = ()
    either: bool = False
    missing: bool = False
    limits: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True)
class TextTest:
    """True of the values whose text is ``listed`` (or, if not ``inside``, is not); if ``missing``, also of what is missing.

    ``words`` stand for a missing value (``NA``), and belong to the texts. ``numbers`` and ``truths`` are what is listed for a
    column of numbers or truth values (``Matching``).
    """

    column: str
    listed: tuple[str, ...]
    inside: bool = True
    missing: bool = False
    numbers: tuple[float, ...] = ()
    truths: tuple[bool, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class TruthTest:
    """True of the truth values in ``wanted``; None stands for what is missing or neither true nor false."""

    column: str
    wanted: frozenset[bool | None]


BranchTest = NumberTest | TextTest | TruthTest


@dataclass(frozen=True)
class Branch:
    """One part: its tests, of which all must be true, and what comes out. The last branch of a partition has no tests."""

    tests: tuple[BranchTest, ...]
    outcome: Label
    points: tuple[float, ...] = ()  # for each class, where points are for each class


BranchSplit = Fork[BranchTest, int]  # of a tree; ends are the numbers of outcomes


@dataclass(frozen=True)
class Branches:
    """What a model does: the branches of its partitions, and the outcomes.

    Without points there is one partition, and what comes out of it is the outcome. With points, what comes out of each is added
    up in this order; the outcome is the first one whose limit the total is below, or else the last. With points for each class
    (``by_class``) the outcome is that of the first class with the largest total, or, with ``share_of``, the share of the class of
    that number (``shares_of_totals``). A tree with tests has its
    ``root``, too: written as it is, each test stands there once, and a record meets no more than the tree is deep.
    """

    partitions: tuple[tuple[Branch, ...], ...]
    outcomes: tuple[Label, ...]
    limits: tuple[float, ...] = ()
    has_points: bool = False
    root: BranchSplit | None = None
    by_class: bool = False
    share_of: int | None = None

    @property
    def tests(self) -> list[BranchTest]:
        """All tests, in order."""
        return [test for partition in self.partitions for branch in partition for test in branch.tests]


def branches(model: Model, share_of: Label | None = None) -> Branches:
    """What a model does, part by part. The outcome is the label, or the share of a class as in ``predict_proba``.

    >>> from discreet import RuleList
    >>> for branch in branches(RuleList.parse("if age > 30 then yes else no")).partitions[0]:
    ...     print(branch.outcome, branch.tests)
    yes (NumberTest(column='age', comparisons=(('>', 30.0),), either=False, missing=False, limits=(None, None)),)
    no ()
    """
    if share_of is not None and share_of not in model.classes:
        raise RuleError(f"share_of must be one of the classes of the {model.kind}")
    outcomes = tuple(_outcome(model, answer, share_of) for answer in model.answers)
    made = []
    for partition in model.partitions:
        parts = zip(partition.conditions, partition.points or outcomes, strict=True)
        made.append(tuple(_branch(tuple(_test(model.schema, x) for x in tests), outcome) for tests, outcome in parts))
    root = root_of(model)
    nested = None if root is None else in_other_words(root, lambda test: _test(model.schema, test), count())
    return Branches(
        tuple(made),
        outcomes,
        model.limits,
        model.has_points,
        nested if isinstance(nested, Fork) else None,
        model.has_points_by_class,
        None if share_of is None else model.classes.index(share_of),
    )


def _branch(tests: tuple[BranchTest, ...], outcome: Label | tuple[float, ...]) -> Branch:
    return Branch(tests, 0.0, outcome) if isinstance(outcome, tuple) else Branch(tests, outcome)


def _outcome(model: Model, answer: Answer, share_of: Label | None) -> Label:
    if share_of is None or model.has_points_by_class:
        return model.classes[model.classes.index(answer.label)]
    return float(model.shares_of(answer)[model.classes.index(share_of)])


def _test(schema: Schema | None, literal: Literal) -> BranchTest:
    assert schema is not None
    true = truth(schema, literal)
    match schema[literal.column].value_bins:
        case NumberBins() as bins:
            return _number_test(literal.column, bins, true)
        case TextBins() as bins:
            return _text_test(literal.column, bins, true)
        case TruthBins():
            wanted = (value for value, wants in zip((False, True, None), true, strict=True) if wants)
            return TruthTest(literal.column, frozenset(wanted))


def _text_test(column: str, bins: TextBins, true: np.ndarray) -> TextTest:
    inside = not true[bins.unlisted]
    told = tuple(bins.listed[i] for i in np.flatnonzero(true[bins.places] == inside))
    matching, missing = bins.matching, bool(true[-1])
    words = tuple(sorted(MISSING - bins.bin_of.keys())) if missing == inside else ()
    numbers, truths = (
        tuple(number for number, place in found.items() if place != NONE and true[place] == inside)
        for found in (matching.numbers, matching.truths)
    )
    return TextTest(column, told, inside, missing, numbers, tuple(map(bool, truths)), words)


def _number_test(column: str, bins: NumberBins, true: np.ndarray) -> NumberTest:
    """A comparison wherever a bin in which the test is true meets one in which it is not."""
    if true[-1]:
        return NumberTest(column, missing=True, limits=bins.limits)
    inside = true[bins.first : bins.first + len(bins.ends) + 1]
    changes = np.flatnonzero(inside[1:] != inside[:-1]).tolist()
    assert len(changes) <= 2, "a test of numbers is true in neighbouring bins, or in all but neighbouring ones"
    ends = [(op if inside[i] else NEGATION[op], edge) for i in changes for op, edge in [bins.ends[i]]]
    # without any comparison, `and` is true of every number, `or` of none
    either = bool(inside[0]) if len(changes) == 2 else not inside.any()
    return NumberTest(column, tuple(ends), bool(either), limits=bins.limits)


def kinds_of(
    model: Model,
    used: Iterable[str],
    types: Mapping[str, str] | None,
    possible: Callable[[ValueBins], Sequence[str]],
    where: str,
) -> dict[str, str]:
    """The type that each used column has elsewhere: as said by ``types``, or the first of those that are ``possible``."""
    types = {} if types is None else types
    if not isinstance(types, Mapping) or not all(kind in KINDS for kind in types.values()):
        raise RuleError(f"types must say for columns whether each is one of {', '.join(KINDS)}")
    for name in types:
        if model.schema is None or name not in model.schema.names:
            raise RuleError(f"types names column {name!r}, which the {model.kind} does not know")
    kinds = {}
    for name in used:
        assert model.schema is not None
        expected, *others = possible(model.schema[name].value_bins)
        kinds[name] = types.get(name, expected)
        if kinds[name] not in (expected, *others):
            raise RuleError(f"column {name!r} must be a {' or '.join((expected, *others))} in {where}")
    return kinds


def type_of_labels(labels: Sequence[Label], kind: str, where: str) -> str:
    """The one type that all these labels of a kind of model have: "text", "boolean", "integer" or "number"."""
    if all(isinstance(x, str) for x in labels):
        return "text"
    numbers = [x for x in labels if not isinstance(x, str)]
    if len(numbers) < len(labels):
        raise RuleError(f"a column of {where} has one type, but some labels are strings and some are numbers")
    if all(isinstance(x, bool) for x in numbers):
        return "boolean"
    if all(isinstance(x, int) for x in numbers):
        if any(abs(x) >= 2**63 for x in numbers):
            raise RuleError(f"a label of the {kind} is an integer of more than 64 bits, which {where} does not have")
        return "integer"
    if any(isinstance(x, int) and abs(x) > EXACT for x in numbers):
        raise RuleError("some labels are integers of more than 53 bits and some are not whole: no type has both")
    return "number"


def exact_numbers(column: str, numbers: Iterable[float]) -> list[float]:
    """The numbers that categories are in a column of numbers, if each has a floating-point number of its own."""
    found = list(numbers)
    if any(EXACT <= abs(number) < math.inf for number in found):
        raise RuleError(f"column {column!r} has categories that are numbers of more than 53 bits; store it as a string")
    return found


def is_unicode(text: str) -> bool:
    """Whether a text can leave Python at all. Half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""A model as plain values that any language can be written from: chains of tests of raw values, and what comes out.

A model says ``job = office``; what that means for a value in a table is in the schema: which categories the group has,
what an unlisted value is taken for, where numbers are clipped. Here each literal becomes a test that needs no schema.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ..._utils.errors import RuleError
from ...rules.rules import Literal, truth
from ...schema import Label, Schema
from ...schema.columns import NEGATION
from ...schema.columns.values import MISSING, NONE, TRUTH, NumberBins, TextBins, TruthBins
from ..model import Model
from ..partition import numbers_of
from ..tree import Node, Split, Tree

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

    @property
    def within(self) -> list[tuple[str, float]]:
        """The comparisons that say what counts as a number."""
        return [(op, end) for op, end in zip((">=", "<="), self.limits, strict=True) if end is not None]


@dataclass(frozen=True)
class ListedTest:
    """True of the values whose text is ``listed`` (or, if not ``inside``, is not); if ``missing``, also of what is missing.

    ``words`` stand for a missing value (``NA``), and belong to the texts. ``numbers`` and ``truths`` are what is listed for a
    column of numbers or truth values (``Matching``). If it is ``of_truths``, what is listed are the words for truth values,
    in lower case, and what is neither true nor false is missing.
    """

    column: str
    listed: tuple[str, ...]
    inside: bool
    missing: bool
    numbers: tuple[float, ...]
    truths: tuple[bool, ...]
    words: tuple[str, ...] = ()
    of_truths: bool = False

    @property
    def wanted(self) -> list[bool | None]:
        """The truth values of which it is true; None stands for a missing one."""
        found: list[bool | None] = [value for value in (True, False) if (value in self.truths) == self.inside]
        return [*found, None] if self.missing else found


Test = NumberTest | ListedTest


@dataclass(frozen=True)
class Chain:
    """Ways in order: a record takes the first one of which all tests are true, or else the ``last``, which has none.

    At the end of a way is the number of what comes out there, or, in a tree, another chain: so each test of a tree stands there
    once, and a record meets no more than the tree is deep.
    """

    ways: tuple[tuple[tuple[Test, ...], "Chain | int"], ...]
    last: int

    def tests(self) -> Iterator[Test]:
        """All tests, in order."""
        for tests, end in self.ways:
            yield from tests
            if isinstance(end, Chain):
                yield from end.tests()


@dataclass(frozen=True)
class Chains:
    """What a model does: a chain for each of its partitions, and the outcomes.

    Without points there is one chain, and its ends are the numbers of outcomes. With ``points``, by the chain and the number of
    its end, what comes out of each is added up in this order; the outcome is the first one whose limit the total is below, or
    else the last. With points for each class (``by_class``) the outcome is that of the first class with the largest total, or,
    with ``share_of``, the share of the class of that number (``shares_of_totals``).
    """

    chains: tuple[Chain, ...]
    points: tuple[tuple[tuple[float, ...], ...], ...]
    outcomes: tuple[Label, ...]
    limits: tuple[float, ...]
    by_class: bool
    share_of: int | None

    @property
    def tests(self) -> dict[str, Test]:
        """A test of each column, in the order in which columns are used."""
        return {test.column: test for chain in self.chains for test in chain.tests()}


def chains_of(model: Model, share_of: Label | None = None) -> Chains:
    """What a model does. The outcome is the label, or the share of a class as in ``predict_proba``.

    >>> from discreet import RuleList
    >>> (chain,) = chains_of(RuleList.parse("if age > 30 then yes else no")).chains
    >>> chain.ways[0][0]
    (NumberTest(column='age', comparisons=(('>', 30.0),), either=False, missing=False, limits=(None, None)),)
    """
    if share_of is not None and share_of not in model.classes:
        raise RuleError(f"share_of must be one of the classes of the {model.kind}")
    by_class, place = model.has_points_by_class, None if share_of is None else model.classes.index(share_of)
    outcomes: list[Label] = [model.classes[model.classes.index(answer.label)] for answer in model.answers]
    if place is not None and not by_class:
        outcomes = [float(model.shares_of(answer)[place]) for answer in model.answers]
    if isinstance(model, Tree):
        below = _below(model.root, model.schema, count())
        chains = [below if isinstance(below, Chain) else Chain((), below)]
    else:
        chains = []
        for partition in model.partitions:
            conditions = enumerate(partition.conditions[:-1])
            ways = [(tuple(_test(model.schema, literal) for literal in tests), end) for end, tests in conditions]
            chains.append(Chain(tuple(ways), len(ways)))
    return Chains(
        tuple(chains),
        tuple(tuple(map(numbers_of, partition.points)) for partition in model.partitions if partition.points),
        tuple(outcomes),
        model.limits,
        by_class,
        place,
    )


def _below(node: Node, schema: Schema | None, numbers: Iterator[int]) -> Chain | int:
    """A node of a tree: the tests that are reached while none is true. Leaves are numbered as answers are."""
    ways = []
    while isinstance(node, Split):
        ways.append(((_test(schema, node.test),), _below(node.true, schema, numbers)))
        node = node.other
    last = next(numbers)
    return Chain(tuple(ways), last) if ways else last


def _test(schema: Schema | None, literal: Literal) -> Test:
    assert schema is not None
    true = truth(schema, literal)
    match schema[literal.column].value_bins:
        case NumberBins() as bins:
            return _number_test(literal.column, bins, true)
        case TextBins() as bins:
            inside = not true[bins.unlisted]
            told = tuple(bins.listed[i] for i in np.flatnonzero(true[bins.places] == inside))
            known = bins.matching
            numbers = tuple(n for n, place in known.numbers.items() if place != NONE and true[place] == inside)
            truths = tuple(bool(n) for n, place in known.truths.items() if place != NONE and true[place] == inside)
            missing = bool(true[-1])
            words = tuple(sorted(MISSING - bins.bin_of.keys())) if missing == inside else ()
            return ListedTest(literal.column, told, inside, missing, numbers, truths, words)
        case TruthBins():
            missing = bool(true[-1])
            told = tuple(word for word, value in TRUTH.items() if true[value] != missing)
            truths = tuple(value for value in (True, False) if true[int(value)] != missing)
            numbers = tuple(map(float, truths))
            return ListedTest(literal.column, told, not missing, missing, numbers, truths, of_truths=True)


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
    model: Model, made: Chains, types: Mapping[str, str] | None, where: str, lacks: Mapping[Any, Collection[str]]
) -> dict[str, str]:
    """The type that each used column has elsewhere: as said by ``types``, or the one that is expected.

    ``lacks`` says which types a column of such bins cannot have there.
    """
    types = {} if types is None else types
    if not isinstance(types, Mapping) or not all(kind in KINDS for kind in types.values()):
        raise RuleError(f"types must say for columns whether each is one of {', '.join(KINDS)}")
    for name in types:
        if model.schema is None or name not in model.schema.names:
            raise RuleError(f"types names column {name!r}, which the {model.kind} does not know")
    kinds = {}
    for name in made.tests:
        assert model.schema is not None
        bins = model.schema[name].value_bins
        possible = [kind for kind in bins.types if kind not in lacks.get(type(bins), ())]
        kinds[name] = types.get(name, possible[0])
        if kinds[name] not in possible:
            raise RuleError(f"column {name!r} must be a {' or '.join(possible)} in {where}")
    return kinds


def type_of(labels: Sequence[Label], kind: str, where: str) -> str:
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

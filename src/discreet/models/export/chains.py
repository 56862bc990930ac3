"""A model as plain values that any language can be written from: chains of tests of raw values, and what comes out.

A model says ``job = office``; what that means for a value in a table is in the schema: which categories the group has,
what an unlisted value is taken for, where numbers are clipped. Here each literal becomes a test that needs no schema.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
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

KINDS = ("text", "number", "boolean", "date")
EXACT = 2**53  # below it, every integer has a floating-point number of its own


@dataclass(frozen=True)
class NumberTest:
    """True of the numbers, or days, that pass all comparisons (or, if ``either``, one of them); or of what is missing.

    What is not ``within`` its bounds does not count as a number here, but as missing. Without comparisons it is true of every
    number, or, if ``either``, of none.
    """

    column: str
    comparisons: tuple[tuple[str, Any], ...] = ()  # numbers, or days
    either: bool = False
    missing: bool = False
    within: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class ListedTest:
    """True of the values that are ``listed`` (or, if not ``inside``, are not); if ``missing``, also of what is missing.

    They are listed as a column of this ``kind`` has them: texts, numbers or truth values. Words that stand for a missing value
    (``NA``) belong to the texts. If it is ``of_truths``, texts are the words for truth values, in lower case, and what is neither
    true nor false is missing. In Python, which has no ``kind``, they are texts without those words, or truth values.
    """

    column: str
    kind: str | None
    listed: tuple[Any, ...]
    inside: bool
    missing: bool
    of_truths: bool = False

    @property
    def wanted(self) -> list[bool | None]:
        """Of truth values, those of which it is true; None stands for a missing one."""
        found: list[bool | None] = [value for value in (True, False) if (value in self.listed) == self.inside]
        return [*found, None] if self.missing else found


Test = NumberTest | ListedTest


@dataclass(frozen=True)
class Chain:
    """Ways in order: a record takes the first one of which all tests are true, or else the outcome ``last``.

    At the end of a way is another chain. It has ways of its own in a tree only: so each test of a tree stands there once, and a
    record meets no more than the tree is deep. With ``points``, by the outcome, they are added up: one number, or one for each
    class.
    """

    ways: tuple[tuple[tuple[Test, ...], "Chain"], ...]
    last: int
    points: tuple[tuple[float, ...], ...] = ()


def chains_of(model: Model, kinds: Mapping[str, str]) -> list[Chain]:
    """A chain for each of the model's partitions, to be asked of columns of these kinds (in Python: of any kind).

    >>> from discreet import RuleList
    >>> (chain,) = chains_of(RuleList.parse("if age > 30 then yes else no"), {"age": "number"})
    >>> chain.ways[0][0]
    (NumberTest(column='age', comparisons=(('>', 30.0),), either=False, missing=False, within=()),)
    """
    if isinstance(model, Tree):
        return [_below(model.root, model.schema, kinds, count())]
    chains = []
    for partition in model.partitions:
        tests = (tuple(_test(model.schema, kinds, x) for x in condition) for condition in partition.conditions[:-1])
        ways = tuple((some, Chain((), end)) for end, some in enumerate(tests))
        chains.append(Chain(ways, len(ways), tuple(map(numbers_of, partition.points or ()))))
    return chains


def outcomes_of(model: Model, share_of: Label | None = None) -> list[Label]:
    """What comes out where each answer is given: the label, or the share of a class as in ``predict_proba``.

    With points for each class it is always the label; there a share follows from the totals (``shares_of_totals``).
    """
    if share_of is not None and share_of not in model.classes:
        raise RuleError(f"share_of must be one of the classes of the {model.kind}")
    if share_of is None or model.has_points_by_class:
        return [model.classes[model.classes.index(answer.label)] for answer in model.answers]
    shares: list[Label] = model.answer_shares[:, model.classes.index(share_of)].tolist()
    return shares


def _below(node: Node, schema: Schema | None, kinds: Mapping[str, str], numbers: Iterator[int]) -> Chain:
    """A node of a tree: the tests that are reached while none is true. Leaves are numbered as answers are."""
    ways = []
    while isinstance(node, Split):
        ways.append(((_test(schema, kinds, node.test),), _below(node.true, schema, kinds, numbers)))
        node = node.other
    return Chain(tuple(ways), next(numbers))


def _test(schema: Schema | None, kinds: Mapping[str, str], literal: Literal) -> Test:
    assert schema is not None
    column, true = literal.column, truth(schema, literal)
    kind, missing = kinds.get(column), bool(true[-1])
    match schema[column].value_bins:
        case NumberBins() as bins:
            return _number_test(column, bins, true)
        case TextBins() as bins:
            inside = not true[bins.unlisted]
            listed: tuple[Any, ...] = tuple(bins.listed[i] for i in np.flatnonzero(true[bins.places] == inside))
            if kind in ("number", "boolean"):
                known = bins.matching.numbers if kind == "number" else bins.matching.truths
                listed = tuple(value for value, place in known.items() if place != NONE and true[place] == inside)
            elif kind == "text" and missing == inside:
                listed += tuple(sorted(MISSING - bins.bin_of.keys()))
            if kind == "number" and any(EXACT <= abs(number) < math.inf for number in listed):
                raise RuleError(
                    f"column {column!r} has categories that are numbers of more than 53 bits; store it as a string"
                )
            return ListedTest(column, kind, listed, inside, missing)
        case TruthBins():
            words: Mapping[Any, float] = TRUTH if kind == "text" else {1.0: 1, 0.0: 0}
            listed = tuple(word for word, value in words.items() if true[int(value)] != missing)
            return ListedTest(column, kind, listed, not missing, missing, of_truths=True)


def _number_test(column: str, bins: NumberBins, true: np.ndarray) -> NumberTest:
    """A comparison wherever a bin in which the test is true meets one in which it is not."""
    within = tuple((op, end) for op, end in zip((">=", "<="), bins.limits, strict=True) if end is not None)
    if true[-1]:
        return NumberTest(column, missing=True, within=within)
    inside = true[bins.first : bins.first + len(bins.ends) + 1]
    changes = np.flatnonzero(inside[1:] != inside[:-1]).tolist()
    assert len(changes) <= 2, "a test of numbers is true in neighbouring bins, or in all but neighbouring ones"
    ends = [(op if inside[i] else NEGATION[op], bins.as_value(edge)) for i in changes for op, edge in [bins.ends[i]]]
    # without any comparison, `and` is true of every number, `or` of none
    either = bool(inside[0]) if len(changes) == 2 else not inside.any()
    return NumberTest(column, tuple(ends), bool(either), within=within)


def kinds_of(
    model: Model, types: Mapping[str, str] | None, where: str, lacks: Mapping[Any, Collection[str]]
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
    for name in model.used_columns:
        assert model.schema is not None
        bins = model.schema[name].value_bins
        possible = [kind for kind in bins.types if kind not in lacks.get(type(bins), ())]
        if not possible:
            raise RuleError(
                f"column {name!r} holds dates, which cannot be written as {where}; write Python, or SQL for another engine"
            )
        kinds[name] = types.get(name, possible[0])
        if kinds[name] not in possible:
            raise RuleError(f"column {name!r} must be a {' or '.join(possible)} in {where}; cast it first")
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


def compared(x: str, listed: Sequence[str], equal: str, among: str) -> str:
    """A comparison with what is listed, as SQL and Python have it."""
    return f"{x} {equal} {listed[0]}" if len(listed) == 1 else f"{x} {among} ({', '.join(listed)})"

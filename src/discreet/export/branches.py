"""A model as plain values that any language can be written from: what is tested of raw values, and what comes out.

A model says ``job = office``; what that means for a value in a table is in the schema: which categories the group has,
what an unlisted value is taken for, where numbers are clipped. Here each literal becomes a test that needs no schema.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.errors import RuleError
from ..conditions.partition import Answer, Condition, Model, has_points
from ..conditions.rules import Literal, truth
from ..schema import Label, Schema
from ..schema.columns import Boolean, Categorical, Numeric, canonical


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
    """True of the values whose text is ``listed`` (or, if not ``inside``, is not); if ``missing``, also of what is missing."""

    column: str
    listed: tuple[str, ...]
    inside: bool = True
    missing: bool = False


@dataclass(frozen=True)
class TruthTest:
    """True of the truth values in ``wanted``; None stands for what is missing or neither true nor false."""

    column: str
    wanted: frozenset[bool | None]


Test = NumberTest | TextTest | TruthTest


@dataclass(frozen=True)
class Branch:
    """One part: its tests, of which all must be true, and what comes out. The last branch of a partition has no tests."""

    tests: tuple[Test, ...]
    outcome: Label


@dataclass(frozen=True)
class Branches:
    """What a model does: the branches of its partitions, and the outcomes.

    Without points there is one partition, and what comes out of it is the outcome. With points, what comes out of each is added
    up in this order; the outcome is the first one whose limit the total is below, or else the last.
    """

    partitions: tuple[tuple[Branch, ...], ...]
    outcomes: tuple[Label, ...]
    limits: tuple[float, ...] = ()
    has_points: bool = False

    @property
    def tests(self) -> list[Test]:
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
    places: dict[str, Places] = {}
    made = []
    for partition in model.partitions:
        parts = zip(partition.conditions, partition.points or outcomes, strict=True)
        made.append(tuple(Branch(_tests(model.schema, literals, places), outcome) for literals, outcome in parts))
    return Branches(tuple(made), outcomes, model.limits, has_points(model))


def _outcome(model: Model, answer: Answer, share_of: Label | None) -> Label:
    if share_of is None:
        return model.classes[model.classes.index(answer.label)]
    return float(answer.shares_among(model.classes)[model.classes.index(share_of)])


def _tests(schema: Schema | None, literals: Condition, places: dict[str, "Places"]) -> tuple[Test, ...]:
    assert schema is not None or not literals
    return tuple(_test(schema, literal, places) for literal in literals)  # type: ignore[arg-type]


Places = tuple[
    list[str], np.ndarray
]  # texts, and their bins; then those of a text that is listed nowhere and of what is missing


def _test(schema: Schema, literal: Literal, places: dict[str, Places]) -> Test:
    column = schema[literal.column]
    if isinstance(column, Numeric):
        return _number_test(column, literal)
    if isinstance(column, Boolean):
        false, true, missing = truth(schema, literal)
        return TruthTest(column.name, frozenset(v for v, t in ((False, false), (True, true), (None, missing)) if t))
    assert isinstance(column, Categorical)
    if column.name not in places:  # once for each column: there may be thousands of categories and of rules
        places[column.name] = _places(column)
    return _text_test(column.name, *places[column.name], truth(schema, literal))


def _places(column: Categorical) -> Places:
    """Ask the column itself where it puts values."""
    members = (category for _, group in column.groups for category in group)
    listed = list(dict.fromkeys(canonical(category) for category in (*column.categories, *members)))
    unlisted = "?" * (1 + max(map(len, listed)))
    return listed, column.encode(np.array([*listed, unlisted, None], dtype=object))


def _text_test(column: str, listed: list[str], bins: np.ndarray, true: np.ndarray) -> TextTest:
    found = true[bins]
    inside = not found[-2]
    told = tuple(listed[i] for i in np.flatnonzero(found[:-2] == inside))
    return TextTest(column, told, inside, bool(found[-1]))


def _number_test(column: Numeric, literal: Literal) -> NumberTest:
    limits = (column.low, column.high) if column.outside == "missing" else (None, None)
    if literal.op in ("is missing", "is not missing"):
        return NumberTest(column.name, missing=literal.op == "is missing", limits=limits)
    either = literal.op == "not in"
    value: Any = literal.value
    pairs = {"in": ((">=", 0), ("<=", 1)), "not in": (("<", 0), (">", 1))}
    comparisons = [(op, value[end]) for op, end in pairs[literal.op]] if literal.op in pairs else [(literal.op, value)]
    left = []
    for op, cut in comparisons:
        decided = _decided(op, cut, column.low, column.high)
        if decided is None:
            left.append((op, cut))
        elif decided == either:  # one that is always true decides an `or`, one that never is decides an `and`
            return NumberTest(column.name, either=not either, limits=limits)
    # without any comparison left, `and` is true of every number, `or` of none
    return NumberTest(column.name, tuple(left), either, limits=limits)


def _decided(op: str, cut: float, low: float | None, high: float | None) -> bool | None:
    """Whether a comparison has the same answer for all numbers from low to high: beyond them numbers are clipped."""
    if op in (">", ">="):
        opposite = _decided("<=" if op == ">" else "<", cut, low, high)
        return None if opposite is None else not opposite
    if high is not None and (cut >= high if op == "<=" else cut > high):
        return True
    if low is not None and (cut < low if op == "<=" else cut <= low):
        return False
    return None

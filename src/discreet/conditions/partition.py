"""What every model is: it divides the records into parts, and each record gets an answer.

A partition is an ordered list of conditions, of which the last is empty: a record is in the first part whose condition is true
of it. Everything that is written from a model (predictions, SQL, Python, reports, a noisy accuracy) can be written from this, so
that a new kind of model needs none of its own. (Where people read a tree, in code and reports, it is written as it is.)

- A *rule list* is one partition, with an answer for each part.
- A *tree* is one, too: its leaves in order, at each test the branch where it is true first. The condition of a leaf is made of
  the tests that were true on the way to it; those that were not are left out. Proof that this divides the records as the tree
  does: the condition of a record's own leaf is true of it. An earlier leaf parts from its way at some test, where the earlier
  leaf is on the true side and the record is not; so that leaf's condition is not true of the record. (A missing value, of which
  neither a test nor its negation may be true, is on the side where the test is not true.)
- A *score card* is several partitions, each of which gives a record points, and an answer for each range of totals.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from ..common.errors import RuleError
from ..schema import Label, Schema
from .rules import Literal, checked_number, is_label

Condition = tuple[Literal, ...]  # all of them must be true; without literals it is true of every record
TOTAL = "total"  # what the sum of points is called in texts


@dataclass(frozen=True)
class Partition:
    """Conditions in order, the last one empty: a record is in the first part whose condition is true of it.

    With ``points``, one for each part, a record of a part gets that many.

    >>> ages = Partition(((Literal("age", "<=", 25),), (Literal("age", "<=", 40),), ()), points=(3, 1, 0))
    >>> age = np.array([50, 20, 30])
    >>> ages.find(3, lambda literal: age <= literal.value)
    array([2, 0, 1])
    """

    conditions: tuple[Condition, ...]
    points: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.conditions or self.conditions[-1] or not all(self.conditions[:-1]):
            raise RuleError("the last part of a partition is the one that has no literals")
        points = (0.0,) * len(self.conditions) if self.points is None else self.points
        if len(points) != len(self.conditions) or not all(map(math.isfinite, points)):
            raise RuleError("a partition's points must be a finite number for each part")

    def find(self, n: int, is_true: Callable[[Literal], np.ndarray]) -> np.ndarray:
        """The part of each of n records, as its number. ``is_true`` says of which records a literal is true."""
        last = len(self.conditions) - 1
        part = np.full(n, last, dtype=np.intp)
        free = np.ones(n, bool)
        for number, condition in enumerate(self.conditions[:last]):
            true = free.copy()
            for literal in condition:
                true &= is_true(literal)
            part[true] = number
            free &= ~true
        return part


@dataclass(frozen=True)
class Answer:
    """What a model says to a record: a class; the class counts that this rests on; and how likely each class is.

    ``shares`` is left out where it follows from the counts.
    """

    label: Label
    counts: tuple[float, ...] | None = None
    shares: tuple[float, ...] | None = None

    if TYPE_CHECKING:  # a dataclass asks for tuples; any sequence will do, and becomes one

        def __init__(
            self, label: Label, counts: Sequence[float] | None = None, shares: Sequence[float] | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.label, np.generic):
            object.__setattr__(self, "label", self.label.item())
        if not is_label(self.label):
            raise RuleError("an answer's label must be a string, a finite number or a Boolean")
        for name in ("counts", "shares"):
            if (numbers := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(checked_number(x) for x in numbers))

    def shares_among(self, classes: tuple[Label, ...]) -> np.ndarray:
        """The share of each class: as given, or those of the counts, or else 1 for the label."""
        shares = np.array([float(self.label == c) for c in classes])
        if self.shares is not None:
            shares = np.array(self.shares)
        elif self.counts is not None and sum(counts := np.maximum(self.counts, 0.0)) > 0:
            shares = counts / counts.sum()
        return shares


class Model(Protocol):
    """What everything that is written from a model may ask of it.

    Without points there is one partition, and an answer for each of its parts. With points, they are added up in the order of
    the partitions; the first answer is for totals below the first of the ``limits``, the next one for those below the second,
    and the last for all others.
    """

    kind: ClassVar[str]  # "rule list": what people call it

    @property
    def schema(self) -> Schema | None:
        """What the columns are. None if the model uses none."""

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels, in the order of counts and shares."""

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """One without points, or some with points."""

    @property
    def limits(self) -> tuple[float, ...]:
        """Between which totals the answer changes, ascending. Empty without points."""

    @property
    def answers(self) -> tuple[Answer, ...]:
        """One for each part of the only partition; with points, one more than there are limits."""


def has_points(model: Model) -> bool:
    """Whether the answer depends on a sum of points, and not on one partition alone."""
    return model.partitions[0].points is not None


def literals_of(model: Model) -> Iterator[Literal]:
    """All literals, in order."""
    return (x for partition in model.partitions for condition in partition.conditions for x in condition)


def columns_used_by(model: Model) -> list[str]:
    """The columns that conditions are about, in their order."""
    return list(dict.fromkeys(literal.column for literal in literals_of(model)))


def conditions_of_answers(model: Model) -> tuple[Condition, ...]:
    """When each answer is given, in order: the parts themselves, or a literal about the total."""
    if not has_points(model):
        return model.partitions[0].conditions
    return (*((Literal(TOTAL, "<", limit),) for limit in model.limits), ())


def find_answers(model: Model, n: int, is_true: Callable[[Literal], np.ndarray]) -> np.ndarray:
    """Which answer each of n records gets, as its number. ``is_true`` says of which records a literal is true."""
    if not has_points(model):
        return model.partitions[0].find(n, is_true)
    total = np.zeros(n)
    # in this order, which SQL and Python keep: sums of floating-point numbers depend on it
    for partition in model.partitions:
        total += np.array(partition.points, float)[partition.find(n, is_true)]
    return np.searchsorted(model.limits, total, side="right")

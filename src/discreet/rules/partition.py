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
- A *score card* is several partitions, each of which gives a record points, and an answer for each range of totals. With more
  than two classes the points are one number for each class, and the answer is the class with the largest total.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from .._utils.errors import RuleError
from ..schema import Label, Schema
from .rules import Literal, checked_number, is_label

Condition = tuple[Literal, ...]  # all of them must be true; without literals it is true of every record
TIE = 1e-9  # a share that decides between equals
TOTAL = "total"  # what the sum of points is called in texts
LARGEST = "largest total"  # likewise, with a sum for each class
DOUBLING = 10  # points that double the odds, where there is a sum for each class
FARTHEST = (
    1000  # powers of 2 beyond this are cut off: engines stop with an error at numbers that are too large or too small
)
Points = float | tuple[float, ...]  # a number, or one for each class


@dataclass(frozen=True)
class Partition:
    """Conditions in order, the last one empty: a record is in the first part whose condition is true of it.

    With ``points``, one for each part, a record of a part gets that many (or, for each class, as many as the part's tuple says).

    >>> ages = Partition(((Literal("age", "<=", 25),), (Literal("age", "<=", 40),), ()), points=(3, 1, 0))
    >>> age = np.array([50, 20, 30])
    >>> ages.find(3, lambda literal: age <= literal.value)
    array([2, 0, 1])
    """

    conditions: tuple[Condition, ...]
    points: tuple[Points, ...] | None = None

    def __post_init__(self) -> None:
        if not self.conditions or self.conditions[-1] or not all(self.conditions[:-1]):
            raise RuleError("the last part of a partition is the one that has no literals")
        points = (0.0,) * len(self.conditions) if self.points is None else self.points
        numbers = [p if isinstance(p, tuple) else (p,) for p in points]
        finite = all(math.isfinite(number) for row in numbers for number in row)
        if len(points) != len(self.conditions) or not finite or len(set(map(len, numbers))) > 1:
            raise RuleError("a partition's points must be a finite number for each part, or one for each class")

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


def checked_weights(weights: Sequence[float] | None) -> tuple[float, ...] | None:
    """Weights of classes as finite numbers; None if there are none."""
    return None if weights is None else tuple(map(checked_number, weights))


class Model(Protocol):
    """What everything that is written from a model may ask of it.

    Without points there is one partition, and an answer for each of its parts. With points, they are added up in the order of
    the partitions; the first answer is for totals below the first of the ``limits``, the next one for those below the second,
    and the last for all others. With points for each class there are no limits, and an answer for each class: the first whose
    total is the largest.
    """

    kind: ClassVar[str]  # "rule list": what people call it

    @property
    def schema(self) -> Schema | None:
        """What the columns are. None if the model uses none."""

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels, in the order of counts and shares."""

    @property
    def class_weight(self) -> tuple[float, ...] | None:
        """What a mistake in each class counted when labels were chosen; None if all counted the same."""

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """One without points, or some with points."""

    @property
    def limits(self) -> tuple[float, ...]:
        """Between which totals the answer changes, ascending. Empty without points."""

    @property
    def answers(self) -> tuple[Answer, ...]:
        """One for each part of the only partition; with points, one more than there are limits, or one for each class."""


def shares_of(model: Model, answer: Answer) -> np.ndarray:
    """How likely each class is where a model gives this answer: what ``predict_proba`` says.

    These are the shares that the answer has, or those of its counts (a negative one is taken as 0), or else 1 for the label. The
    label was chosen on the records, too, and counts are noisy. So, unless classes have weights, it is taken to be as frequent as
    the largest class at least, and of equals it has a billionth more: it is the class with the largest share. With weights a
    label does not say which class is frequent, and the shares are those of the counts; equal ones, where all of them are 0.
    """
    label = model.classes.index(answer.label)
    shares = np.array([float(i == label) for i in range(len(model.classes))])
    if answer.shares is not None:
        shares = np.array(answer.shares)
    elif answer.counts is not None:
        counts = np.maximum(answer.counts, 0.0)
        if model.class_weight is not None:
            return counts / counts.sum() if counts.any() else np.full(len(counts), 1 / len(counts))
        counts[label] = counts.max()  # of this estimate; the counts of the answer stay as they are
        shares = counts / counts.sum() if counts.any() else shares
    if shares[:label].max(initial=-1.0) == shares[label] == shares.max():
        shares = (1.0 - TIE) * shares  # whoever takes the first of the largest shares should find the label
        shares[label] += TIE
    return shares


def has_points(model: Model) -> bool:
    """Whether the answer depends on a sum of points, and not on one partition alone."""
    return model.partitions[0].points is not None


def has_points_by_class(model: Model) -> bool:
    """Whether there is a sum of points for each class."""
    points = model.partitions[0].points
    return points is not None and isinstance(points[0], tuple)


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
    if has_points_by_class(model):
        return (*((Literal(LARGEST, "=", str(answer.label)),) for answer in model.answers[:-1]), ())
    return (*((Literal(TOTAL, "<", limit),) for limit in model.limits), ())


def find_answers(model: Model, n: int, is_true: Callable[[Literal], np.ndarray]) -> np.ndarray:
    """Which answer each of n records gets, as its number. ``is_true`` says of which records a literal is true."""
    if not has_points(model):
        return model.partitions[0].find(n, is_true)
    total = find_totals(model, n, is_true)
    return np.searchsorted(model.limits, total, side="right") if total.ndim == 1 else total.argmax(1)


def find_totals(model: Model, n: int, is_true: Callable[[Literal], np.ndarray]) -> np.ndarray:
    """The total of each of n records; with points for each class, a row for each record."""
    total = np.zeros((n, len(model.classes)) if has_points_by_class(model) else n)
    # in this order, which SQL and Python keep: sums of floating-point numbers depend on it
    for partition in model.partitions:
        total += np.array(partition.points, float)[partition.find(n, is_true)]
    return total


def shares_of_totals(totals: np.ndarray) -> np.ndarray:
    """How likely each class is, by its total and those of the others: ``DOUBLING`` points more double the odds.

    >>> shares_of_totals(np.array([[0.0, 10.0, 0.0], [30.0, 20.0, 20.0]])).tolist()
    [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]
    """
    odds = (totals[:, None, :] - totals[:, :, None]) / DOUBLING  # of each class against each other, as powers of 2
    shares: np.ndarray = 1 / np.exp2(odds.clip(-FARTHEST, FARTHEST)).sum(2)
    return shares

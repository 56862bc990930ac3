"""What every model is: it divides the records into parts, and each record gets an answer.

A partition is an ordered list of conditions, of which the last is empty: a record is in the first part whose condition is true
of it. Everything that is written from a model (predictions, SQL, Python, reports, noisy evaluations) can be written from this, so
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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._utils.errors import RuleError
from ..private.noise.sums import margin
from ..rules.rules import Condition, Literal, checked_label, checked_number
from ..schema import Label

Points = float | tuple[float, ...]  # a number, or one for each class
Ends = tuple[int, int]
IsTrue = Callable[[Literal], np.ndarray]  # of which records a literal is true
TOTAL = "total"  # what the sum of points is called in texts
LARGEST = "largest total"  # likewise, with a sum for each class
DOUBLING = 10  # points that double the odds, where there is a sum for each class
FARTHEST = 1000  # powers of 2 beyond this are cut off: engines stop with an error at numbers too large or too small


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
        if self.points is None:
            return
        numbers = list(map(numbers_of, self.points))
        finite = all(math.isfinite(number) for row in numbers for number in row)
        if len(numbers) != len(self.conditions) or not finite or len(set(map(len, numbers))) > 1:
            raise RuleError("a partition's points must be a finite number for each part, or one for each class")

    @property
    def has_points_by_class(self) -> bool:
        """Whether a part gives points for each class."""
        return self.points is not None and isinstance(self.points[0], tuple)

    def find(self, n: int, is_true: IsTrue) -> np.ndarray:
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

    depth: ClassVar[int] = 0  # as a leaf of a tree: there are no tests below it

    label: Label
    counts: tuple[float, ...] | None = None
    shares: tuple[float, ...] | None = None

    if TYPE_CHECKING:  # a dataclass asks for tuples; any sequence will do, and becomes one

        def __init__(
            self, label: Label, counts: Sequence[float] | None = None, shares: Sequence[float] | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", checked_label(self.label))
        for name in ("counts", "shares"):
            if (numbers := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(checked_number(x) for x in numbers))

    @property
    def positive(self) -> tuple[float, ...]:
        """The counts, with 0 for a negative one."""
        return tuple(max(0.0, count) for count in self.counts or ())

    def count_intervals(self, epsilon: float) -> tuple[Ends, ...] | None:
        """For each class from where to where the exact count is, with 95 %; None without counts.

        A released count is the exact one plus discrete Laplace noise of this ``epsilon``: so it is off by at most
        ``margin(epsilon)``, and a sum of k of them by at most ``margin(epsilon, k)`` (private/noise/sums.py).

        >>> Answer("yes", (40, 90)).count_intervals(0.1)
        ((10, 70), (60, 120))
        """
        return None if self.counts is None else tuple(_ends(c, margin(epsilon)) for c in self.counts)

    def support_interval(self, epsilon: float) -> Ends | None:
        """From where to where the exact number of records of all classes is, with 95 %; None without counts.

        >>> Answer("yes", (40, 90)).support_interval(0.1)
        (89, 171)
        """
        return None if self.counts is None else _ends(sum(self.counts), margin(epsilon, len(self.counts)))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        numbers = {"counts": self.counts, "shares": self.shares}
        return {"then": self.label, **{name: given for name, given in numbers.items() if given is not None}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Answer":
        """Read what ``to_dict`` made."""
        return cls(data["then"], data.get("counts"), data.get("shares"))


Piece = str | Condition | Answer  # of a line that is printed


def _ends(count: float, far: int) -> Ends:
    return max(0, round(count - far)), max(0, round(count + far))


def numbers_of(points: Points) -> tuple[float, ...]:
    """Points as a tuple: one number, or one for each class."""
    return points if isinstance(points, tuple) else (points,)


def shares_of_totals(totals: np.ndarray) -> np.ndarray:
    """How likely each class is, by its total and those of the others: ``DOUBLING`` points more double the odds.

    >>> shares_of_totals(np.array([[0.0, 10.0, 0.0], [30.0, 20.0, 20.0]])).tolist()
    [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]
    """
    odds = (totals[:, None, :] - totals[:, :, None]) / DOUBLING  # of each class against each other, as powers of 2
    shares: np.ndarray = 1 / np.exp2(odds.clip(-FARTHEST, FARTHEST)).sum(2)
    return shares


def written(line: Iterable[Piece], said: Callable[[Literal], str], outcome: Callable[[Answer], str]) -> str:
    """A line of a model's text, with literals and answers in these words."""

    def words(piece: Piece) -> str:
        if isinstance(piece, Answer):
            return outcome(piece)
        return piece if isinstance(piece, str) else " and ".join(map(said, piece))

    return "".join(map(words, line))

"""What ``discreet audit`` looks at, as a mechanism describes it: values, no code of the audit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..counts.cells import Array
from .selector import NoisyMaxSelector

E = Fraction(2)  # the epsilon of one choice at level 1


def small_sizes(quick: bool) -> range:
    """Of nodes that are all compared, with each of their splits."""
    return range(9) if quick else range(18)


def large_sizes(quick: bool) -> tuple[int, ...]:
    """Of nodes of which only extreme ones are compared."""
    return (1, 20, 400) if quick else (1, 2, 20, 21, 40, 400, 10_000)


@dataclass(frozen=True)
class Nodes:
    """Level 1: a choice between two rules, on all nodes of some sizes, and on extreme ones of others with up to 31 rules."""

    selector: NoisyMaxSelector
    sizes: Sequence[int]
    large: Sequence[int] = ()
    n_classes: int = 2


@dataclass(frozen=True)
class Grid:
    """Level 1, for a choice that is no noisy maximum: the laws of many nodes at once.

    ``laws`` gives for each outcome the logarithms of its probability, in an array in which a step along an axis is a record more.
    """

    laws: Callable[[], Sequence[Array]]
    price: float
    where: str


@dataclass(frozen=True)
class WholeFit:
    """Level 2 and 3: the classifier's parameters, and on what tables it is tried."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_rules: int = 2
    n_classes: int = 2
    hard: tuple[int, ...] = (5, 100, 1000)  # sizes of the large part of hard tables
    most: int = 10**9  # records of one kind: where the law cannot be written down beyond it

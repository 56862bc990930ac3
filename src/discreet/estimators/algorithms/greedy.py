"""Greedy rule lists: one rule after the other, each the best for the records that are left.

``greedy`` is the paper's Algorithm 1; the line numbers are the paper's. With doors that add noise it is DP-GreedyRL, with
exact ones it is the baseline GreedyRL. The noise, and what it costs, is behind the doors (``private/queries/greedy_doors.py``).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

Counts = tuple[float, ...]


class Doors(Protocol):
    """What a greedy learner may ask of the data. A prefix is the rules chosen so far, by their candidate numbers."""

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """Whether enough records are left after the prefix."""

    def select(self, prefix: Sequence[int]) -> int | None:
        """The best next candidate, or None if adding no rule is better."""

    def histogram(self, prefix: Sequence[int], rule: int | None) -> Counts:
        """Class counts of what a rule (None: the default) captures after the prefix."""


class Learned(NamedTuple):
    """The candidates chosen, in order, and the class counts of each and then of the default.

    Labels are given where they were drawn; else they follow from the counts.
    """

    chosen: list[int]
    counts: list[Counts] | None
    labels: list[int] | None = None


def greedy(doors: Doors, max_length: int) -> Learned:
    """Choose up to ``max_length - 1`` rules, then the default.

    The methods on global sensitivity do not check the support (the paper's section V.B): their doors let everyone pass.
    """
    chosen: list[int] = []
    counts: list[Counts] = []
    while len(chosen) < max_length - 1:  # line 3
        if not doors.exceeds(chosen):  # lines 4-5
            break
        rule = doors.select(chosen)  # lines 7-16: the smallest Gini, no rule included
        if rule is None:  # lines 17-18
            break
        counts.append(doors.histogram(chosen, rule))  # pred_DP
        chosen.append(rule)  # lines 20-21
    counts.append(doors.histogram(chosen, None))
    return Learned(chosen, counts)


def majority(counts: Counts) -> int:
    """The predicted class; the later one of equals, as in the paper's pred_DP (0 only if c0 > c1)."""
    return max(range(len(counts)), key=lambda c: (counts[c], c))

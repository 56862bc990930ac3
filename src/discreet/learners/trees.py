"""Trees drawn whole, or stage by stage. What a draw costs, and its law, are behind ``vault/tree_doors.py``."""

from collections.abc import Sequence
from math import comb
from typing import Protocol

from ..conditions.numbered_tree import Leaf, NumberedTree


class DrawsTrees(Protocol):
    """What the learner may ask of the data."""

    def grow(self, tree: NumberedTree, depth: int) -> NumberedTree:
        """The tree with another one, of at most this depth, in place of each of its leaves."""

    def count(self, tree: NumberedTree) -> NumberedTree:
        """The tree with class counts of its leaves."""


def whole_tree(doors: DrawsTrees, stages: Sequence[int], counted: bool) -> NumberedTree:
    """A tree of the depth of the first stage, then one in each of its leaves, and so on. One stage is the whole tree at once."""
    tree: NumberedTree = Leaf()
    for depth in stages:
        tree = doors.grow(tree, depth)
    return doors.count(tree) if counted else tree


MOST_TERMS = 2e11  # an hour or so
MOST_BYTES = 8 << 30
TERMS_PER_SECOND = 1e8  # measured for two classes and accuracy: benchmarks/trees.py


def count_terms(tests: int, depth: int) -> int:
    """How many numbers a draw of one tree adds up: for each set of depth - 1 tests, each with two sides, every test.

    >>> count_terms(70, 4)
    30654400
    """
    size = min(depth, tests + 1) - 1
    return tests * comb(tests, size) << size if depth else 1


def count_steps(tests: int, depth: int) -> int:
    """How often a draw of one tree reports that it went on: once for each set of up to depth - 2 tests."""
    return sum(comb(tests, size) for size in range(max(1, depth - 1)))


def count_bytes(tests: int, depth: int, classes: int) -> int:
    """The memory of a draw, apart from the records: tables for sets of depth - 1 tests, and counts for those of depth - 3."""
    tables = sum(3 * 8 * comb(tests, k) << k for k in range(depth))
    return tables + sum(8 * classes * comb(tests, k) * (tests + 1) ** 2 for k in range(max(0, depth - 2)))


def is_feasible(tests: int, depth: int, classes: int) -> bool:
    """Whether a draw of this depth is attempted. From public numbers alone, as stated in docs/trees.md."""
    work = count_terms(tests, depth) * max(1, classes - 1)
    return work <= MOST_TERMS and count_bytes(tests, depth, classes) <= MOST_BYTES


def check_feasible(tests: int, stages: Sequence[int], classes: int, parameter: str) -> None:
    """Raise ValueError, before any record is read, if a draw is out of reach; say which depth is not."""
    depth = max(stages)
    if is_feasible(tests, depth, classes):
        return
    feasible = max(d for d in range(depth) if is_feasible(tests, d, classes))
    seconds = count_terms(tests, depth) * max(1, classes - 1) / TERMS_PER_SECOND
    raise ValueError(
        f"{parameter} is too large for {tests:,} tests: a draw of depth {depth} would take about {seconds / 3600:,.1f} hours "
        f"and {count_bytes(tests, depth, classes) / 2**30:,.1f} GiB. Depth {feasible} is feasible: set max_depth={feasible}, or "
        f"go on in stages, stages=({feasible}, {feasible}); or have fewer tests (exclude, coarser columns). See docs/trees.md"
    )

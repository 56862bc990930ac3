"""Greedy trees: level by level, each node split by the best test for its records.

The noise, and what it costs, is behind the doors (``queries/greedy_tree_doors.py``): a level costs what one of its nodes does.
"""

from collections.abc import Sequence
from typing import Protocol

from ...rules.numbered_tree import Fork, Leaf, NumberedTree, Path, with_leaves


class Doors(Protocol):
    """What the learner may ask of the data. A node is given by the way to it: tests, and whether they were true."""

    def exceed(self, nodes: Sequence[Path]) -> list[bool]:
        """Which nodes of a level have enough records to be split."""

    def select(self, nodes: Sequence[Path]) -> list[int | None]:
        """The best test at each node of a level, or None where no split is better."""

    def count(self, tree: NumberedTree) -> NumberedTree:
        """The tree with class counts of its leaves."""


def greedy_tree(doors: Doors, max_depth: int) -> NumberedTree:
    """Split up to ``max_depth`` levels, the nodes of each at once; then count.

    A node that was not split stays a leaf. Mechanisms on global sensitivity do not check the support: their doors let all pass.
    """
    tree: NumberedTree = Leaf()
    level: list[Path] = [()]
    for _ in range(max_depth):
        large = [path for path, enough in zip(level, doors.exceed(level), strict=True) if enough]
        tests = {path: test for path, test in zip(large, doors.select(large), strict=True) if test is not None}
        if not tests:
            break
        tree = _split(tree, tests)
        level = [(*path, (test, side)) for path, test in tests.items() for side in (True, False)]
    return doors.count(tree)


def _split(tree: NumberedTree, tests: dict[Path, int]) -> NumberedTree:
    """The tree with a test at some of its leaves."""
    return with_leaves(tree, lambda path, leaf: Fork(tests[path], Leaf(), Leaf()) if path in tests else leaf)

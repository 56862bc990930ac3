"""A tree by numbers, as a learner and its queries pass it on: a test is the number of a candidate, a label that of a class."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Counts = tuple[float, ...]
Path = tuple[tuple[int, bool], ...]  # tests, and whether they were true


@dataclass(frozen=True)
class NumberedLeaf:
    """The end of a way through the tree. Its label may still have to be found from its class counts."""

    label: int | None = None
    counts: Counts | None = None


@dataclass(frozen=True)
class NumberedFork:
    """A test, the tree for the records of which it is true, and the tree for the others (where a value is missing, too)."""

    test: int
    true: "NumberedTree"
    other: "NumberedTree"


NumberedTree = NumberedLeaf | NumberedFork


def leaves_of(tree: NumberedTree, path: Path = ()) -> Iterator[tuple[Path, NumberedLeaf]]:
    """The leaves with the way to each, the branch where a test is true first. No record takes two of these ways.

    >>> [path for path, _ in leaves_of(NumberedFork(3, NumberedLeaf(0), NumberedFork(1, NumberedLeaf(1), NumberedLeaf(0))))]
    [((3, True),), ((3, False), (1, True)), ((3, False), (1, False))]
    """
    if isinstance(tree, NumberedLeaf):
        yield path, tree
        return
    yield from leaves_of(tree.true, (*path, (tree.test, True)))
    yield from leaves_of(tree.other, (*path, (tree.test, False)))


def with_leaves(
    tree: NumberedTree, grow: Callable[[Path, NumberedLeaf], NumberedTree], path: Path = ()
) -> NumberedTree:
    """The tree with something else in place of each of its leaves, in the order of ``leaves_of``."""
    if isinstance(tree, NumberedLeaf):
        return grow(path, tree)
    true = with_leaves(tree.true, grow, (*path, (tree.test, True)))
    other = with_leaves(tree.other, grow, (*path, (tree.test, False)))
    return NumberedFork(tree.test, true, other)

"""What a tree is made of: a leaf is an answer, any other node a test and two nodes below it.

A record of which the test is not true goes to the second one. (Of a missing value, no test is true but "is missing".)
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from .._utils.errors import RuleError
from ..rules.partition import Answer, Condition, Model
from ..rules.rules import Literal, truth
from ..rules.text import MOST_DEPTH, TOO_DEEP, write
from ..schema import Label, Schema

INDENT = "    "

Way = tuple[tuple[Literal, bool], ...]  # the tests on the way to a node, and whether each was true


@dataclass(frozen=True)
class Split:
    """A test, the node for records of which it is true, and the one for all others. A label alone stands for a leaf.

    >>> print(Split(Literal("age", "<=", 25), "yes", "no").other)
    Answer(label='no', counts=None, shares=None)
    """

    test: Literal
    true: "Node"
    other: "Node"
    depth: int = field(init=False, repr=False, compare=False)  # the most tests, one below the other, this one included

    if TYPE_CHECKING:  # a label becomes a leaf

        def __init__(self, test: Literal, true: "Node | Label", other: "Node | Label") -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.test, Literal):
            raise RuleError("a split's test must be a literal")
        object.__setattr__(self, "true", as_node(self.true))
        object.__setattr__(self, "other", as_node(self.other))
        object.__setattr__(self, "depth", 1 + max(depth_of(self.true), depth_of(self.other)))
        if self.depth > MOST_DEPTH:
            raise RuleError(TOO_DEEP)


Node = Answer | Split


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree, and the way to it from the root."""

    way: Way
    answer: Answer

    @property
    def condition(self) -> Condition:
        """The tests that were true on the way: what rules/partition.py says of trees."""
        return tuple(test for test, true in self.way if true)


@dataclass(frozen=True)
class Line:
    """A line of a tree's text: a test, an answer, or a test and the answer where it is true."""

    indent: int
    opening: str  # "if", "else if", "else" or "always"
    test: Literal | None
    answer: Answer | None

    def __str__(self) -> str:
        test = "" if self.test is None else f" {self.test} then"
        label = "" if self.answer is None else f" {write(self.answer.label)}"
        return f"{INDENT * self.indent}{self.opening}{test}{label}"


def as_node(given: "Node | Label") -> Node:
    """A node as it is; of a label, a leaf."""
    return given if isinstance(given, Answer | Split) else Answer(given)


def root_of(model: Model) -> Node | None:
    """The root of a model that is a tree; None of any other."""
    root = getattr(model, "root", None)
    return root if isinstance(root, Answer | Split) else None


def depth_of(node: Node) -> int:
    """The most tests, one below the other."""
    return node.depth if isinstance(node, Split) else 0


def leaves_below(node: Node, way: Way = ()) -> Iterator[Leaf]:
    """The leaves in order, at each test those where it is true first."""
    if isinstance(node, Answer):
        yield Leaf(way, node)
    else:
        yield from leaves_below(node.true, (*way, (node.test, True)))
        yield from leaves_below(node.other, (*way, (node.test, False)))


def lines_of(node: Node, indent: int = 0, opening: str = "") -> Iterator[Line]:
    """The text of a tree, line by line. What follows an `else` is not indented, so that a chain reads like a rule list."""
    if isinstance(node, Answer):
        yield Line(indent, opening or "always", None, node)
        return
    leaf = node.true if isinstance(node.true, Answer) else None
    yield Line(indent, f"{opening} if".lstrip(), node.test, leaf)
    if leaf is None:
        yield from lines_of(node.true, indent + 1)
    yield from lines_of(node.other, indent, "else")


def without_counts(node: Node) -> Node:
    """The same node; its leaves have labels only."""
    if isinstance(node, Answer):
        return Answer(node.label)
    return replace(node, true=without_counts(node.true), other=without_counts(node.other))


def simplified(node: Node, schema: Schema, merge: bool = False) -> Node:
    """See ``Tree.simplified``.

    Which records reach a node, of those that the schema foresees, is known exactly without a look at combinations of columns: a
    way is a conjunction of tests and of their complements, each about a single column. So the records are a product of sets of
    bins, one for each column, and a branch is empty if and only if one of its sets is.
    """
    alive = {name: schema[name].domain for name in {test.column for leaf in leaves_below(node) for test, _ in leaf.way}}
    return _simplified(node, schema, alive, merge)


def _simplified(node: Node, schema: Schema, alive: dict[str, np.ndarray], merge: bool) -> Node:
    if isinstance(node, Answer):
        return node
    bins, true = alive[node.test.column], truth(schema, node.test)
    if not (bins & true).any():
        return _simplified(node.other, schema, alive, merge)
    if not (bins & ~true).any():
        return _simplified(node.true, schema, alive, merge)
    first = _simplified(node.true, schema, alive | {node.test.column: bins & true}, merge)
    second = _simplified(node.other, schema, alive | {node.test.column: bins & ~true}, merge)
    if merge and isinstance(first, Answer) and isinstance(second, Answer) and (one := _merged(first, second)):
        return one
    if first == second and not any(any(leaf.answer.counts or ()) for leaf in leaves_below(first)):
        return first  # with counts they are not the same: these are of different records
    return replace(node, true=first, other=second)


def _merged(one: Answer, other: Answer) -> Answer | None:
    """Two leaves of one label as one. Only counts can be added up: how many records stand behind given shares is not known."""
    if one.label != other.label or one.counts is None or other.counts is None or one.shares or other.shares:
        return None
    return Answer(one.label, tuple(a + b for a, b in zip(one.counts, other.counts, strict=True)))

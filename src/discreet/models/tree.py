"""A decision tree: a frozen value that prints, parses back, goes to JSON and predicts.

It is made of nodes: a leaf is an answer, any other node a test and two nodes below it. A record of which the test is not true
goes to the second one. (Of a missing value, no test is true but "is missing".)
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._utils.errors import RuleError
from ..rules.rules import MOST_DEPTH, TOO_DEEP, Literal, Reader, truth
from ..schema import Label, Schema
from .model import Model
from .partition import Answer, Partition, Piece

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
        object.__setattr__(self, "depth", 1 + max(self.true.depth, self.other.depth))
        if self.depth > MOST_DEPTH:
            raise RuleError(TOO_DEEP)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"if": self.test, "true": self.true, "other": self.other}


Node = Answer | Split


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree, and the way to it from the root."""

    way: Way
    answer: Answer


def as_node(given: "Node | Label") -> Node:
    """A node as it is; of a label, a leaf."""
    return given if isinstance(given, Answer | Split) else Answer(given)


def leaves_below(node: Node, way: Way = ()) -> Iterator[Leaf]:
    """The leaves in order, at each test those where it is true first."""
    if isinstance(node, Answer):
        yield Leaf(way, node)
    else:
        yield from leaves_below(node.true, (*way, (node.test, True)))
        yield from leaves_below(node.other, (*way, (node.test, False)))


def lines_of(node: Node, indent: int = 0, opening: str = "") -> Iterator[tuple[Piece, ...]]:
    """The text of a tree, line by line. What follows an `else` is not indented, so that a chain reads like a rule list."""
    opening = INDENT * indent + opening
    if isinstance(node, Answer):
        yield opening if opening.strip() else "always ", node
        return
    asked = f"{opening}if ", (node.test,)
    if isinstance(node.true, Answer):
        yield *asked, " then ", node.true
    else:
        yield *asked, " then"
        yield from lines_of(node.true, indent + 1)
    yield from lines_of(node.other, indent, "else ")


def simplified(node: Node, schema: Schema, alive: Mapping[str, np.ndarray] = MappingProxyType({})) -> Node:
    """See ``Tree.simplified``. ``alive`` are the bins of records that reach the node, of columns that were tested on the way.

    Which records reach a node, of those that the schema foresees, is known exactly without a look at combinations of columns: a
    way is a conjunction of tests and of their complements, each about a single column. So the records are a product of sets of
    bins, one for each column, and a branch is empty if and only if one of its sets is.
    """
    if isinstance(node, Answer):
        return node
    name, true = node.test.column, truth(schema, node.test)
    bins = alive.get(name, schema[name].domain)
    if not (bins & true).any():
        return simplified(node.other, schema, alive)
    if not (bins & ~true).any():
        return simplified(node.true, schema, alive)
    first = simplified(node.true, schema, {**alive, name: bins & true})
    second = simplified(node.other, schema, {**alive, name: bins & ~true})
    if first == second and not any(any(leaf.answer.counts or ()) for leaf in leaves_below(first)):
        return first  # with counts they are not the same: these are of different records
    return replace(node, true=first, other=second)


def merged(node: Node) -> Node:
    """See ``Tree.merged``."""
    if isinstance(node, Answer):
        return node
    first, second = merged(node.true), merged(node.other)
    match first, second:
        # Only counts can be added up: how many records stand behind given shares is not known
        case Answer(label, tuple() as one, None), Answer(same, tuple() as other, None) if same == label:
            return Answer(label, tuple(a + b for a, b in zip(one, other, strict=True)))
        case Answer(counts=None, shares=None), Answer() if first == second:
            return first
    return replace(node, true=first, other=second)


@dataclass(frozen=True)
class Tree(Model):
    """A test at each split, and an answer at each leaf: a record goes down from the root, and its leaf gives its label.

    Where a test is not true of a record, it goes the other way; of a missing value, no test is true but "is missing". ``root``
    is a ``Split``; an answer, or just a label, is a tree without tests. ``classes`` are the labels in the order of the counts,
    ``schema`` says what the columns are. Both may be left out: they are then what the tree needs. Trees have at most 64 tests,
    one below the other. ``class_weight``, one for each class, is what mistakes counted when labels were chosen.

    >>> tree = Tree.parse('''
    ...     if age <= 25 then
    ...         if priors > 2 then yes
    ...         else no
    ...     else if priors > 5 then yes
    ...     else no''')
    >>> tree.predict({"age": [20, 20, 50, None], "priors": [3, 1, 6, 1]})
    array(['yes', 'no', 'yes', 'no'], dtype='<U3')
    >>> tree.depth, len(tree)
    (2, 4)
    >>> Tree.from_json(tree.to_json()) == tree
    True
    """

    kind: ClassVar[str] = "tree"
    limits: ClassVar[tuple[float, ...]] = ()

    root: Node
    classes: tuple[Label, ...] = ()
    schema: Schema | None = field(default=None)
    class_weight: tuple[float, ...] | None = None

    if TYPE_CHECKING:  # a dataclass asks for tuples; any sequence will do, and becomes one

        def __init__(
            self,
            root: Node | Label,
            classes: Sequence[Label] = (),
            schema: Schema | None = None,
            class_weight: Sequence[float] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", as_node(self.root))
        self._check()

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves in order, at each test those where it is true first, each with the way to it.

        >>> for leaf in Tree.parse("if age <= 25 then yes else no").leaves:
        ...     print(leaf.answer.label, [(str(test), true) for test, true in leaf.way])
        yes [('age <= 25', True)]
        no [('age <= 25', False)]
        """
        return tuple(leaves_below(self.root))

    def __len__(self) -> int:
        """How many leaves there are."""
        return len(self.leaves)

    def __iter__(self) -> Iterator[Leaf]:
        return iter(self.leaves)

    @property
    def depth(self) -> int:
        """The most tests that a record can meet."""
        return self.root.depth

    def lines(self) -> Iterator[tuple[Piece, ...]]:
        """The lines that it prints, in pieces: words, conditions and answers."""
        return lines_of(self.root)

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The leaves, each with the tests that were true on the way to it: what models/partition.py says of trees."""
        return (Partition(tuple(tuple(test for test, true in leaf.way if true) for leaf in self)),)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Those of the leaves, in order."""
        return tuple(leaf.answer for leaf in self)

    @classmethod
    def parse(cls, text: str, classes: Iterable[Label] = (), schema: Schema | None = None) -> "Tree":
        """Parse a tree from a string. Line breaks and indentation do not matter: every `if` has its `else`."""
        return cls(Reader(text).whole(lambda reader: reader.tree(Split)), tuple(classes), schema)

    def without_counts(self) -> "Tree":
        """The tree without its counts."""
        return replace(self, root=_bare(self.root))

    def merged(self) -> "Tree":
        """The tree with one leaf in place of two of one label that are the sides of a test: it predicts the same labels.

        Counts are added up, and so is their noise, as by ``RuleList.merged``.

        >>> print(Tree.parse("if a then if b then 0 else 0 else 1").merged())
        if a then 0
        else 1
        """
        return replace(self, root=merged(self.root))

    def simplified(self) -> "Tree":
        """The tree without the tests that make no difference to any record the schema foresees, whatever the table.

        A test goes if no such record can be on one of its sides, or if both sides are the same and have no counts, which are of
        different records. It is computed from the tree and its schema alone, and so costs no privacy. The tree predicts the same
        for every record that the schema foresees, with the same ``predict_proba``. For others (a category that is not listed and
        has no group to go to, a missing value where none is said to be) it may not: a test left out could have told them apart.

        >>> print(Tree.parse("if a then if not a then 0 else 1 else if b then 0 else 0").simplified())
        if a then 1
        else 0
        """
        if self.schema is None:
            return self
        return replace(self, root=simplified(self.root, self.schema))

    def _entries(self) -> dict[str, Any]:
        return {"root": self.root}

    @classmethod
    def _fields_in(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"root": _from_dict(data["root"], MOST_DEPTH)}


def _bare(node: Node) -> Node:
    if isinstance(node, Answer):
        return Answer(node.label)
    return Split(node.test, _bare(node.true), _bare(node.other))


def _from_dict(data: Mapping[str, Any], deeper: int) -> Node:
    if not isinstance(data, Mapping):
        raise TypeError
    if "if" not in data:
        return Answer.from_dict(data)
    if not deeper:
        raise RuleError(TOO_DEEP)
    true, other = (_from_dict(data[side], deeper - 1) for side in ("true", "other"))
    return Split(Literal.from_dict(data["if"]), true, other)

"""A decision tree: a frozen value that prints, parses back, goes to JSON and predicts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._utils.errors import RuleError
from ..rules.partition import Answer, Partition, checked_weights
from ..rules.rules import Literal, Rule, schema_of
from ..rules.text import MOST_DEPTH, TOO_DEEP, ParsedNode, Reader
from ..schema import Label, Schema
from .json_form import (
    entries_of,
    json_text,
    literal_from_dict,
    literal_to_dict,
    reading_entries,
    schema_from,
    weights_entry,
    weights_from,
)
from .model import PartitionModel
from .nodes import Leaf, Node, Split, as_node, depth_of, leaves_below, lines_of, simplified, without_counts

FORMAT, VERSION = "discreet tree", 1

__all__ = ["Leaf", "Node", "Split", "Tree"]


@dataclass(frozen=True)
class Tree(PartitionModel):
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
        object.__setattr__(self, "class_weight", checked_weights(self.class_weight))
        classes = tuple(c.item() if isinstance(c, np.generic) else c for c in self.classes)
        classes = classes or tuple(dict.fromkeys(answer.label for answer in reversed(self.answers)))
        object.__setattr__(self, "classes", classes)
        if self.schema is None and self.depth:
            object.__setattr__(self, "schema", schema_of(Rule(leaf.condition) for leaf in self))
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
        return depth_of(self.root)

    def __str__(self) -> str:
        return "\n".join(map(str, lines_of(self.root)))

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The leaves, each with the tests that were true on the way to it."""
        return (Partition(tuple(leaf.condition for leaf in self)),)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Those of the leaves, in order."""
        return tuple(leaf.answer for leaf in self)

    @classmethod
    def parse(cls, text: str, classes: Iterable[Label] = (), schema: Schema | None = None) -> "Tree":
        """Parse a tree from a string. Line breaks and indentation do not matter: every `if` has its `else`."""
        return cls(_parsed(Reader(text).whole(Reader.tree)), tuple(classes), schema)

    def without_counts(self) -> "Tree":
        """The tree without its counts."""
        return replace(self, root=without_counts(self.root))

    def simplified(self, merge: bool = False) -> "Tree":
        """The tree without the tests that make no difference to any record the schema foresees, whatever the table.

        A test goes if no such record can be on one of its sides, or if both sides are the same and have no counts, which are of
        different records. It is computed from the tree and
        its schema alone, and so costs no privacy. The tree predicts the same for every record that the schema foresees, with the
        same ``predict_proba``. For others (a category that is not listed and has no group to go to, a missing value where none
        is said to be) it may not: a test left out could have told them apart.

        Two leaves of one label that have counts stay two leaves: their counts may give different probabilities. With
        ``merge=True`` they become one where they are the two sides of a test, and their (noisy) counts are added up: a shorter
        tree that predicts the same labels, but coarser probabilities, and a little more noise in each count that is left.

        >>> print(Tree.parse("if a then if not a then 0 else 1 else if b then 0 else 0").simplified())
        if a then 1
        else 0
        """
        if self.schema is None:
            return self
        return replace(self, root=simplified(self.root, self.schema, merge))

    def to_json(self, indent: int | None = 1) -> str:
        """The tree as JSON that ``from_json`` reads back, here or in a later version."""
        data = {"format": FORMAT, "version": VERSION, "classes": list(self.classes), "root": _to_dict(self.root)}
        return json_text(data | weights_entry(self.class_weight), self.schema, indent)

    @classmethod
    def from_json(cls, text: str) -> "Tree":
        """Read what ``to_json`` wrote."""
        data = entries_of(text, FORMAT, VERSION)
        with reading_entries():
            root, classes, schema = _from_dict(data["root"], MOST_DEPTH), tuple(data["classes"]), schema_from(data)
            weights = weights_from(data)
        return cls(root, classes, schema, weights)


def _parsed(node: ParsedNode) -> Node:
    if not isinstance(node, tuple):
        return Answer(node)
    test, true, other = node
    return Split(Literal(*test), _parsed(true), _parsed(other))


def _to_dict(node: Node) -> dict[str, Any]:
    if isinstance(node, Split):
        return {"if": literal_to_dict(node.test), "true": _to_dict(node.true), "other": _to_dict(node.other)}
    numbers = {"counts": node.counts, "shares": node.shares}
    return {"then": node.label, **{name: list(given) for name, given in numbers.items() if given is not None}}


def _from_dict(data: Mapping[str, Any], deeper: int) -> Node:
    if not isinstance(data, Mapping):
        raise TypeError
    if "if" not in data:
        return Answer(data["then"], data.get("counts"), data.get("shares"))
    if not deeper:
        raise RuleError(TOO_DEEP)
    return Split(
        literal_from_dict(data["if"]), _from_dict(data["true"], deeper - 1), _from_dict(data["other"], deeper - 1)
    )

"""Which part of the records is counted: those that a list of rules leaves, or the leaves of a tree, each by itself.

A *box* says for some columns in which of their bins a value may be. One literal is a box, and so is any conjunction of literals
and of negated ones: "not age <= 40" is all other bins of age, that of missing values among them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...rules.candidates import Candidates, NumberedTree, Path, leaves_of
from ...schema.columns import Column

Bins = npt.NDArray[np.bool_]
Box = Mapping[int, Bins]  # by the number of the column: the bins that are inside
OUTSIDE = -1  # the part of records that are not counted


@dataclass(frozen=True, eq=False)
class Division:
    """A record is in the part of the first box that it is in, and in ``rest`` if it is in none."""

    boxes: Sequence[tuple[Box, int]] = ()
    rest: int = 0
    n_parts: int = 1

    def find(self, bins: Sequence[npt.NDArray[np.integer]], n: int) -> npt.NDArray[np.intp] | None:
        """The part of each of n records, by their bins in each column; None if there is only one."""
        if not self.boxes:
            return None
        part = np.full(n, self.rest, np.intp)
        for box, number in reversed(self.boxes):
            inside = np.ones(n, bool)
            for column, true in box.items():
                inside &= true[bins[column]]
            part[inside] = number
        return part


def column_numbers(columns: Sequence[Column], candidates: Candidates) -> list[int]:
    """For each literal of the candidates, the number of its column among those that are counted."""
    number = {column.name: i for i, column in enumerate(columns)}
    return [number[literal.column] for literal in candidates.literals]


def box_of(rule: int, candidates: Candidates, columns: Sequence[int]) -> dict[int, Bins]:
    """Where a rule is true. ``columns`` has the column of each literal."""
    return joined((columns[i], candidates.truths[i]) for i in candidates.members[rule] if i >= 0)


def joined(conditions: Iterable[tuple[int, Bins]]) -> dict[int, Bins]:
    """The box in which all of these conditions hold."""
    box: dict[int, Bins] = {}
    for column, true in conditions:
        box[column] = box[column] & true if column in box else true
    return box


def left_by(rules: Iterable[int], candidates: Candidates, columns: Sequence[int]) -> Division:
    """The records that none of these rules captures."""
    return Division([(box_of(rule, candidates, columns), OUTSIDE) for rule in rules])


def path_as_box(path: Path, tests: Candidates, columns: Sequence[int]) -> dict[int, Bins]:
    """Where a way through a tree leads to. Tests are single literals."""
    literals = ((int(tests.members[test, 0]), side) for test, side in path)
    return joined((columns[i], tests.truths[i] if side else ~tests.truths[i]) for i, side in literals)


def in_boxes(boxes: Sequence[Box]) -> Division:
    """A part for each box."""
    return Division(list(zip(boxes, range(len(boxes)), strict=True)), OUTSIDE, len(boxes))


def divided_by(tree: NumberedTree, tests: Candidates, columns: Sequence[Column]) -> Division:
    """A part for each leaf of a tree."""
    numbers = column_numbers(columns, tests)
    return in_boxes([path_as_box(path, tests, numbers) for path, _ in leaves_of(tree)])

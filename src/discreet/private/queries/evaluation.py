"""How a released model does on the records, with noise: a histogram, or one for each division of the records into groups.

**Privacy.** The bin of a record follows from the group it is in, the answer that the model gives it, and its class. The schema
and the parameters are public, the model is released already, or public: so all three depend on that record alone. A record that
comes or goes changes one bin of a histogram by one, and leaves the others alone; noise on every bin, whether anything is in it or
not, costs one epsilon for the whole histogram (noise/discrete_laplace.py). Which bins there are follows from schema and model.

A record is in one bin of *each* of several histograms: with k of them, each has a k-th of epsilon, and each is charged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ...accounting.ledger import Reservation
from ...rules.rules import Literal, truth
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy, Integers
from .vault import Vault


@dataclass(frozen=True)
class Division:
    """A division of the records into groups: the number of the group of each bin of a column. Without a column, one group."""

    column: str | None = None
    group_of_bin: tuple[int, ...] = (0,)

    @property
    def n_groups(self) -> int:
        """Groups have the numbers from 0 on."""
        return max(self.group_of_bin) + 1


class Answering(Protocol):
    """What is asked of a model: its classes, and which of its answers each of n records gets, as its number."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels."""

    def find_answers(self, n: int, is_true: Callable[[Literal], np.ndarray]) -> np.ndarray:
        """``is_true`` says of which records a literal is true."""


def epsilon_each(epsilon: Fraction, divisions: Sequence[Division]) -> Fraction:
    """What each histogram costs."""
    return epsilon / len(divisions)


def noisy_histograms(
    vault: Vault,
    model: Answering,
    places: Integers,
    n_places: int,
    divisions: Sequence[Division],
    epsilon: Fraction,
    reservation: Reservation,
    entropy: Entropy,
) -> list[Integers]:
    """For each division, noisy numbers of records by group and place. They may be negative.

    ``places`` has a row for each answer of the model and a column for each of its classes: the place of a record that gets this
    answer and is of this class, from 0 to ``n_places`` - 1.
    """
    each, cells = epsilon_each(epsilon, divisions), vault._cells
    number = {column.name: i for i, column in enumerate(vault.schema.used)}

    def is_true(literal: Literal) -> np.ndarray:
        return truth(vault.schema, literal)[cells.bins(number[literal.column])]

    answers = model.find_answers(len(cells), is_true)
    of_cells = places[answers][:, [model.classes.index(label) for label in vault.classes]]
    noisy = []
    for division in divisions:
        reservation.draw(each, Fraction(0), "histogram of answers")
        groups = np.zeros(len(cells), np.int64)
        if division.column is not None:
            groups = np.array(division.group_of_bin, np.int64)[cells.bins(number[division.column])]
        exact = np.zeros(division.n_groups * n_places, np.int64)
        np.add.at(exact, groups[:, None] * n_places + of_cells, cells.counts.astype(np.int64))
        noisy.append(release(exact, each, entropy).reshape(division.n_groups, n_places))
    return noisy

"""How a released model does on the records, with noise: a histogram, or one for each division of the records into groups.

**Privacy.** The bin of a record follows from the group it is in, the answer that the model gives it, and its class. The schema
and the parameters are public, the model is released already, or public: so all three depend on that record alone. A record that
comes or goes changes one bin of a histogram by one, and leaves the others alone; noise on every bin, whether anything is in it or
not, costs one epsilon for the whole histogram (noise/discrete_laplace.py). Which bins there are follows from schema and model.

A record is in one bin of *each* of several histograms: with k of them, each has a k-th of epsilon, and each is charged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...rules.rules import Literal, truth
from ..counts.counts import Counts, Patterns
from ..noise.entropy import Integers
from .base import Queries


@dataclass(frozen=True)
class Grouping:
    """A division of the records into groups: the number of the group of each bin of a column. Without a column, one group."""

    column: str | None = None
    group_of_bin: tuple[int, ...] = (0,)

    @property
    def n_groups(self) -> int:
        """Groups have the numbers from 0 on."""
        return max(self.group_of_bin) + 1


def epsilon_each(epsilon: Fraction, divisions: Sequence[Grouping]) -> Fraction:
    """What each histogram costs."""
    return epsilon / len(divisions)


class EvaluationQueries(Queries):
    """For each division, numbers of records by group and place.

    ``model`` has ``classes``, and ``find_answers(n, is_true)`` says which of its answers each of n records gets, as its number,
    where ``is_true`` says of which records a literal is true.

    ``places`` has a row for each answer of the model and a column for each of its classes: the place of a record that gets this
    answer and is of this class, from 0 to ``n_places`` - 1. ``noise`` is the epsilon of all histograms together.
    """

    def __init__(
        self,
        counts: Counts,
        model: Any,
        places: Integers,
        n_places: int,
        divisions: Sequence[Grouping],
        noise: Fraction,
    ) -> None:
        assert isinstance(counts, Patterns)
        self._counts, self._model, self._places, self._n_places = counts, model, places, n_places
        self._divisions, self._noise = divisions, noise

    def histograms(self) -> list[Integers]:
        """Noisy: they may be negative. Each is charged before it is counted."""
        counts, each = self._counts, epsilon_each(self._noise, self._divisions)
        patterns, number = counts.patterns, {column.name: i for i, column in enumerate(counts.schema.used)}

        def is_true(literal: Literal) -> np.ndarray:
            return truth(counts.schema, literal)[patterns.bins(number[literal.column])]

        answers = self._model.find_answers(len(patterns), is_true)
        of_patterns = self._places[answers][:, [self._model.classes.index(label) for label in counts.classes]]
        noisy = []
        for division in self._divisions:
            self._charge(each, "histogram of answers")
            groups = np.zeros(len(patterns), np.int64)
            if division.column is not None:
                groups = np.array(division.group_of_bin, np.int64)[patterns.bins(number[division.column])]
            exact = np.zeros((division.n_groups, self._n_places), np.int64)
            np.add.at(exact, (groups[:, None], of_patterns), patterns.counts.astype(np.int64))
            noisy.append(self._noisy(exact, each))
        return noisy

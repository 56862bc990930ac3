"""A dataset split into training and test records, ready for many fits and for measuring them.

Records that agree in all columns are counted once with their number, so measuring a model takes microseconds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import PrivateCounts
from discreet.rules.candidates import Candidates

from .setups import SETUPS, SetUp, load

MANY_PATTERNS = 10_000


@dataclass(frozen=True)
class Said:
    """An answer: a label."""

    label: Any


class Predicted:
    """What a model with two answers, of which nothing else is known, says to each distinct record."""

    def __init__(self, classes: Sequence[Any] | None, numbers: npt.NDArray[np.intp]) -> None:
        self.answers, self.numbers = tuple(map(Said, classes or ())), numbers
        self.model_ = self  # as of a fitted classifier


class Split:
    """One split: ``numpy.random.default_rng(seed).permutation(n)``, of which the first part trains."""

    def __init__(self, dataset: str, setup: SetUp, seed: int) -> None:
        self.records = records = load(dataset, setup.sensitive, setup.binary)
        self.schema, self.seed = records.schema, seed
        order = np.random.default_rng(seed).permutation(len(records.y))
        train, test = np.split(order, [int(setup.train_share * len(order))])
        self.X_train, self.y_train = records.some(train), records.y[train]
        self.X_test, self.y_test = records.some(test), records.y[test]
        self._counts = np.zeros((2, 2, records.distinct))  # test and training records of each class among equal records
        for member, part in enumerate((test, train)):
            np.add.at(self._counts[member], (records.classes[part], records.which[part]), 1.0)
        self._train = train
        self._kept: dict[Any, Any] = {}

    @cached_property
    def vault(self) -> PrivateCounts:
        """The training records, for all private fits."""
        return PrivateCounts.from_table(self.X_train, self.y_train, self.schema)

    def parts(self, number: int) -> npt.NDArray[np.intp]:
        """A part for each training record, drawn at random for each by itself: how many others there are plays no role."""
        return np.random.default_rng((self.seed, number)).integers(number, size=len(self._train))

    def fit(self, learner: Any, parts: int = 1, part: int = 0) -> Any:
        """A private tree, of all training records or of one of several random parts.

        From a vault that is filled once; but where hardly two of many records agree, trees count records by sets of columns
        faster than they add up what is in a vault.
        """
        if self.records.distinct <= MANY_PATTERNS:
            return learner.fit_counts(self.vault if parts == 1 else self._vaults(parts)[part])
        records = self._train if parts == 1 else self._train[self.parts(parts) == part]
        return learner.set_params(schema=self.schema).fit(self.records.some(records), self.records.y[records])

    def _vaults(self, number: int) -> list[PrivateCounts]:
        def fill() -> list[PrivateCounts]:
            mine = [self._train[self.parts(number) == i] for i in range(number)]
            return [PrivateCounts.from_table(self.records.some(p), self.records.y[p], self.schema) for p in mine]

        filled: list[PrivateCounts] = self.remember(("vaults", number), fill)
        return filled

    def counts(self, number: int) -> npt.NDArray[np.float64]:
        """(parts, classes, distinct records): how many training records of each part there are."""

        def count() -> npt.NDArray[np.float64]:
            counts = np.zeros((number, 2, self.records.distinct))
            where = self.parts(number), self.records.classes[self._train], self.records.which[self._train]
            np.add.at(counts, where, 1.0)
            return counts

        counted: npt.NDArray[np.float64] = self.remember(("counts", number), count)
        return counted

    def candidates(self, max_literals: int) -> Candidates:
        """All rules; the same object each time, so that the vault can keep its counts."""
        return _candidates(self.schema, max_literals)

    def mined(self, max_literals: int, share: float) -> Candidates:
        """The rules that are true of a share of [share, 1 - share] of the training records. Not private, but as published."""

        def mine() -> Candidates:
            everything = self.candidates(max_literals)
            training = self._counts[1].sum(0)
            true = (np.logical_and.reduce([self.records.truth(x) for x in rule.antecedent]) for rule in everything)
            support = np.array([training[where].sum() for where in true]) / training.sum()
            kept = [rule for rule, s in zip(everything, support, strict=True) if share <= s <= 1.0 - share]
            return Candidates.of_rules(self.schema, kept)

        mined: Candidates = self.remember(("mined", max_literals, share), mine)
        return mined

    def remember(self, what: Any, make: Callable[[], Any]) -> Any:
        """What was made for this split once is kept for the next fit."""
        if what not in self._kept:
            self._kept[what] = make()
        return self._kept[what]

    def captured(self, model: Any) -> npt.NDArray[np.float64]:
        """(2, classes, answers): test and training records of each class that get each answer of a model.

        The answers of a list or a tree are those of its parts. A forest adds up points, and its answers follow from the sum.
        """
        answer = self.answers(model)
        flat = self._counts.reshape(4, -1)
        found = [np.bincount(answer, weights=counts, minlength=len(model.answers)) for counts in flat]
        return np.stack(found).astype(np.float64).reshape(2, 2, -1)

    def answers(self, model: Any) -> npt.NDArray[np.intp]:
        """Which answer of a model each distinct record gets."""
        if isinstance(model, Predicted):
            return model.numbers
        parts = [partition.find(self.records.distinct, self.records.truth) for partition in model.partitions]
        if model.partitions[0].points is None:
            only: npt.NDArray[np.intp] = parts[0]
            return only
        points = [np.array(partition.points)[part] for partition, part in zip(model.partitions, parts, strict=True)]
        total: npt.NDArray[np.float64] = np.sum(points, axis=0)
        return np.searchsorted(model.limits, total, side="right").astype(np.intp)


@lru_cache(maxsize=16)
def _candidates(schema: Any, max_literals: int) -> Candidates:
    return Candidates.of_schema(schema, max_literals)


@lru_cache(maxsize=2)
def split_of(dataset: str, setup: str, seed: int) -> Split:
    """The split of a set-up; the last ones are kept."""
    return Split(dataset, SETUPS[setup], seed)

"""A dataset split into training and test records, ready for many fits and for measuring them.

Records that agree in all columns are counted once with their number, so measuring a model takes microseconds.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import Vault
from ..conditions.candidates import Candidates
from .setups import SETUPS, SetUp, load


class Split:
    """One split: ``numpy.random.default_rng(seed).permutation(n)``, of which the first part trains."""

    def __init__(self, dataset: str, setup: SetUp, seed: int) -> None:
        records = load(dataset, setup.sensitive)
        y, self.schema, self._rows = records.y, records.schema, records.distinct
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [int(setup.train_share * len(y))])
        self.X_train, self.y_train = records.X[train], y[train]
        self.X_test, self.y_test = records.X[test], y[test]
        self._counts = np.zeros((2, 2, len(self._rows)))  # test and training records of each class among equal records
        for member, part in enumerate((test, train)):
            np.add.at(self._counts[member], (y[part], records.which[part]), 1.0)
        self._kept: dict[Any, Any] = {}

    @cached_property
    def vault(self) -> Vault:
        """The training records, for all private fits."""
        return Vault.from_table(self.X_train, self.y_train, self.schema)

    def candidates(self, max_card: int) -> Candidates:
        """All rules; the same object each time, so that the vault can keep its counts."""
        return _candidates(self.schema, max_card)

    def mined(self, max_card: int, share: float) -> Candidates:
        """The rules that are true of a share of [share, 1 - share] of the training records. Not private, but as published."""

        def mine() -> Candidates:
            everything = self.candidates(max_card)
            training = self._counts[1].sum(0)
            support = np.array([training[self._truth(rule.antecedent)].sum() for rule in everything]) / training.sum()
            kept = [rule for rule, s in zip(everything, support, strict=True) if share <= s <= 1.0 - share]
            return Candidates.of_rules(self.schema, kept)

        mined: Candidates = self.remember(("mined", max_card, share), mine)
        return mined

    def remember(self, what: Any, make: Callable[[], Any]) -> Any:
        """What was made for this split once is kept for the next fit."""
        if what not in self._kept:
            self._kept[what] = make()
        return self._kept[what]

    def captured(self, model: Any) -> npt.NDArray[np.float64]:
        """(2, classes, parts): test and training records of each class in each part of a list or a tree."""
        alive = np.ones(len(self._rows), bool)
        parts = []
        for condition in model.partitions[0].conditions[:-1]:
            true = self._truth(condition)
            parts.append(self._counts[:, :, alive & true].sum(2))
            alive = alive & ~true
        parts.append(self._counts[:, :, alive].sum(2))
        return np.stack(parts, axis=2)

    def _truth(self, antecedent: Any) -> npt.NDArray[np.bool_]:
        if antecedent not in self._known:
            literals = [self._rows[:, self._place[x.column]] == (x.op == "is true") for x in antecedent]
            self._known[antecedent] = np.logical_and.reduce(literals)
        return self._known[antecedent]

    @cached_property
    def _known(self) -> dict[Any, npt.NDArray[np.bool_]]:
        return {}

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.schema.names)}


@lru_cache(maxsize=16)
def _candidates(schema: Any, max_card: int) -> Candidates:
    return Candidates.of_schema(schema, max_card)


@lru_cache(maxsize=2)
def split_of(dataset: str, setup: str, seed: int) -> Split:
    """The split of a set-up; the last ones are kept."""
    return Split(dataset, SETUPS[setup], seed)

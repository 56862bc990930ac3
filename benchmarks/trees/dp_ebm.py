"""DP-EBM on the same splits, in an environment of its own: on the columns themselves, and on the answers to our tests."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fine_adult import BOUNDS, CUTS
from problems import answers
from reproduction.peers_environment import Child, environment
from splits import Data, Fit, Split

CHILD = Path(__file__).with_name("ebm_child.py")
Kinds = list[list[Any]]


class DpEbm:
    """A process that fits DP-EBM."""

    def __init__(self, folder: Path) -> None:
        self._child = Child(environment(folder), CHILD)

    def fits(self, split: Split, table: np.ndarray, kinds: Kinds, epsilons: Sequence[float]) -> list[Fit]:
        """One for each epsilon."""
        y = split.data.y
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "records.npz")
            records = {"X_train": table[split.train], "X_test": table[split.test]}
            np.savez(file, y_train=y[split.train], y_test=y[split.test], **records)
            question = {"records": str(file), "kinds": kinds, "epsilons": list(epsilons), "seed": split.seed}
            return [Fit(**found) for found in self._child.ask(question)]

    def close(self) -> None:
        """End the process."""
        self._child.close()


def columns_of(data: Data) -> tuple[np.ndarray, Kinds]:
    """Numbers with public bounds (beyond our last cut everything is alike for us, and so for it), categories by number.

    A missing value is a category of its own: the library's private binning knows none.
    """
    columns, kinds = [], []
    for column in data.schema.used:
        values = data.X[column.name]
        if column.name in CUTS:
            low, high = BOUNDS.get(column.name, (0, max(CUTS[column.name])))
            columns.append(values.clip(low, high).to_numpy(float))
            kinds.append([float(low), float(high)])
        else:
            listed = [*column.categories, *(c for _, members in column.groups for c in members)]
            place = {category: i for i, category in enumerate([*listed, "other", "missing"])}
            others = np.where(values.isna(), place["missing"], place["other"])
            columns.append(values.map(place).fillna(-1).to_numpy(float))
            columns[-1] = np.where(columns[-1] < 0, others, columns[-1])
            kinds.append([str(name) for name in place])
    return np.column_stack(columns), kinds


def tests_of(data: Data) -> tuple[np.ndarray, Kinds]:
    """Each test as a column of 0 and 1."""
    truth = answers(data.X, data.schema).astype(float)
    return truth, [[0.0, 1.0]] * truth.shape[1]

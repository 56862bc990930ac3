"""The vault: it holds cells. What leads out are doors, and each charges first, then answers with noise.

Those of the published methods are here (other learners' are in mass_doors.py, list_doors.py, cut_doors.py and accuracy.py):

    exceeds     is the noisy number of records left at least a threshold?
    select      one candidate (or none), by a mechanism
    histogram   noisy class counts of what a rule captures

A vault can be filled once and fitted many times. It cannot be printed, pickled or copied.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..cells.cells import Cells, CellsInProgress
from ..cells.counting import Counter, NodeCounts, RuleCounts
from ..cells.secret import Secret
from ..common.errors import SchemaError
from ..common.samples import was_sample
from ..common.tables import as_table
from ..common.unseen import NOTHING_BOOKED, unseen
from ..conditions.candidates import Candidates
from ..mechanisms.published import selector
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy
from ..privacy.budget import GreedyBudget, confidence_threshold
from ..privacy.ledger import Reservation
from ..schema import Label, Schema
from ..sources.engine import EngineTable
from ..sources.memory import FileTable, add_table, check_types, class_numbers

MOST_COUNTERS = 8


def check_private_schema(schema: Schema) -> None:
    """Refuse a schema by which an error would depend on a record."""
    if not isinstance(schema, Schema):
        raise SchemaError("schema must be a Schema; read one from a file with Schema.load(path)")
    for column in schema.used:
        if getattr(column, "outside", None) == "error":
            raise SchemaError(
                f'column {column.name!r} says outside = "error", but a private learner may not let an error depend on '
                "a record; say what to take such values for instead"
            )


def sorted_classes(schema: Schema) -> tuple[Label, ...]:
    """The classes in the order of scikit-learn's ``classes_``; 0 and 1 if the schema names none."""
    return tuple(np.unique(np.array(schema.classes or (0, 1))).tolist())


class Vault(Secret):
    """Cells under lock: exact counts go in, only the doors lead out.

    ``drafted``: a schema was drafted from the table that fills it, so nothing is proved about what is learned from it.
    """

    drafted = False

    def __init__(self, schema: Schema, classes: Sequence[Label], cells: Cells) -> None:
        self.schema = schema
        self.classes = tuple(classes)
        self._cells = cells
        self._counters: dict[Candidates, Counter] = {}

    @classmethod
    @unseen(NOTHING_BOOKED)
    def from_table(cls, X: Any, y: Any, schema: Schema) -> "Vault":
        """A vault with the records of a table: a data frame or array X and labels y.

        Values and labels that the schema does not foresee are taken as it says, or left out, without an error: an error
        would depend on a record. Without classes in the schema they are 0 and 1.

        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> Vault.from_table(data.data, data.target, data.schema)
        <Vault>
        """
        check_private_schema(schema)
        classes = sorted_classes(schema)
        table = as_table(X, schema.names)
        check_types(table, schema.used)
        cells = CellsInProgress(schema.used, len(classes))
        add_table(cells, table, schema.used, class_numbers(y, classes, len(table)))
        vault = cls(schema, classes, cells.finish())
        vault.drafted = was_sample(X, y)
        return vault

    @classmethod
    @unseen(NOTHING_BOOKED)
    def from_file(
        cls,
        path: str | PathLike[str],
        schema: Schema,
        delimiter: str | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
    ) -> "Vault":
        """A vault with the records of a CSV, Parquet or Arrow file, read a part at a time: the file may be larger than memory.

        The schema names the target. What the strings of a CSV file mean is in docs/command-line.md.

        >>> import tempfile
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data.frame.to_csv(f"{folder}/compas.csv", index=False)
        ...     Vault.from_file(f"{folder}/compas.csv", data.schema)
        <Vault>
        """
        check_private_schema(schema)
        classes = sorted_classes(schema)
        return cls.filled_by(FileTable(Path(path), schema, classes, delimiter, encoding, decimal), schema, classes)

    @classmethod
    @unseen(NOTHING_BOOKED)
    def from_source(cls, table: Any, schema: Schema, verbose: bool = False) -> "Vault":
        """A vault with the records of a table that stays where it is: an ibis table (DuckDB, PostgreSQL, Spark).

        The engine counts them, by the bins of the schema's columns and by the schema's target, and only the counts come here.
        There are at most as many as records; see docs/scale.md. ``verbose`` shows on a terminal how far the engine is.

        >>> import ibis
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> Vault.from_source(ibis.memtable(data.frame), data.schema)
        <Vault>
        """
        check_private_schema(schema)
        classes = sorted_classes(schema)
        vault = cls.filled_by(EngineTable(table, schema, classes, verbose), schema, classes)
        vault.drafted = was_sample(table)
        return vault

    @classmethod
    def filled_by(cls, source: EngineTable | FileTable, schema: Schema, classes: Sequence[Label]) -> "Vault":
        """A vault with the records that a source adds."""
        cells = CellsInProgress(schema.used, len(classes))
        source.add_to(cells)
        return cls(schema, classes, cells.finish())

    def _counter(self, candidates: Candidates) -> RuleCounts:
        """The counter of a candidate set, kept for the next fit that uses the same one."""
        if candidates not in self._counters:
            while len(self._counters) >= MOST_COUNTERS:
                self._counters.pop(next(iter(self._counters)))
            self._counters[candidates] = Counter(self._cells, candidates)
        return self._counters[candidates]


class PublishedDoors(Secret):
    """The doors as the paper's Algorithm 1 uses them, for one fit with one of its six methods.

    ``min_support`` below 1 means that share of the records, and ``delta`` None means 1/n^2, as published: both then
    follow the private number of records, and the fit's statement says so.
    """

    def __init__(
        self,
        vault: Vault,
        candidates: Candidates,
        mechanism: str,
        budget: GreedyBudget,
        min_support: float,
        confidence: float,
        reservation: Reservation,
        entropy: Entropy,
        delta_from_records: bool = False,
    ) -> None:
        self._counter = vault._counter(candidates)
        self._reservation = reservation
        self._entropy = entropy
        self._epsilon = budget.node_epsilon
        self._delta = budget.node_delta
        n = float(self._counter.left(()).sum())
        delta = float(budget.node_delta)
        if delta_from_records:
            delta *= 1.0 / max(n, 2.0) ** 2  # the budget was split for delta = 1
        support = max(1, math.floor(min_support * n) if min_support < 1 else int(min_support))
        self._threshold = support + confidence_threshold(confidence, float(self._epsilon))
        self._selector = selector(mechanism, self._epsilon, delta, support, len(candidates))

    def exceeds(self, prefix: Sequence[int]) -> bool:
        """Whether the noisy number of records left after a prefix reaches the minimum support and its margin."""
        self._reservation.draw(self._epsilon, Fraction(0), "support check")
        left = np.array([self._counter.left(prefix).sum()], np.int64)
        return bool(release(left, self._epsilon, self._entropy)[0] >= self._threshold)

    def select(self, prefix: Sequence[int]) -> int | None:
        """A candidate that is not in the prefix yet, or None for no rule."""
        self._reservation.draw(self._epsilon, self._delta, "choice of a rule")
        node = self._counter.counts(prefix)
        if not prefix:
            chosen = self._selector.select(node, self._entropy)
            return None if chosen == node.captured.shape[1] else chosen
        remaining = np.delete(np.arange(node.captured.shape[1]), list(prefix))
        chosen = self._selector.select(NodeCounts(node.left, node.captured[:, remaining]), self._entropy)
        return None if chosen == len(remaining) else int(remaining[chosen])

    def histogram(self, prefix: Sequence[int], rule: int | None) -> tuple[float, ...]:
        """Noisy class counts of what a rule captures after a prefix; without a rule, of all that is left."""
        self._reservation.draw(self._epsilon, Fraction(0), "class counts")
        exact = self._counter.part(prefix, rule)
        return tuple(float(c) for c in release(exact.astype(np.int64), self._epsilon, self._entropy))

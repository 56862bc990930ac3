"""Columns of truth values, and columns that no rule may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._utils.errors import SchemaError
from .base import Column, ColumnTest, Labels, Seen, Value, checked_labels, distinct
from .values import TRUTH, TextBins, TruthBins, as_number, canonical, says_missing


@dataclass(frozen=True)
class Boolean(Column):
    """True or false (also 1 / 0, "yes" / "no"). A value that is neither counts as missing.

    ``outside``, "missing" or "error", says what to do with it; left unset, only a non-private learner stops. ``labels`` say what
    people call "true" and "false".
    """

    outside: str | None = None
    labels: Labels = field(default=(), kw_only=True, repr=False)

    kind: ClassVar[str] = "boolean"
    ordered: ClassVar[bool] = True
    meant_by: ClassVar[frozenset[str]] = frozenset(["is true", "is false"])

    if TYPE_CHECKING:  # a dataclass asks for tuples; a table will do, and becomes one

        def __init__(
            self,
            name: str,
            missing: bool = False,
            outside: str | None = None,
            *,
            label: str = "",
            labels: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("outside", self.outside, ("missing", "error", None))
        labels = checked_labels(f"column {self.name!r}", self.labels, ("true", "false"))
        object.__setattr__(self, "labels", labels)

    def entries(self) -> dict[str, Any]:
        """Labels as a table, as people write them."""
        entries = super().entries()
        return entries | {"labels": dict(self.labels)} if self.labels else entries

    @classmethod
    def inferred(cls, name: str, seen: Seen, n_cuts: int) -> Column | None:
        """Values of Boolean type, or numbers 0 and 1."""
        zero_one = seen.numbers is not None and bool(((seen.numbers == 0.0) | (seen.numbers == 1.0)).all())
        return cls(name, seen.missing) if seen.are_truths or zero_one else None

    @property
    def value_bins(self) -> TruthBins:
        """Truth values."""
        return TruthBins()

    @property
    def _n_values(self) -> int:
        return 2

    def _value_tests(self) -> list[ColumnTest]:
        return [("is true", None)]

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        return np.array([False, True]) if op == "is true" and value is None else None

    def _encode(self, values: np.ndarray, strict: bool) -> np.ndarray:
        if values.dtype == bool:
            return values.astype(np.uint8)
        if values.dtype.kind in "iuf":
            bins = np.where(values == 1, 1, np.where(values == 0, 0, 2))
            unknown = (bins == 2) & ~np.isnan(values)
        else:
            codes, found = distinct(values)
            table = np.array([*(_truth(canonical(v)) for v in found), 2])
            foreseen = np.array([*(says_missing(v) for v in found), True])
            bins, unknown = table[codes], (table[codes] == 2) & ~foreseen[codes]
        if strict and self.outside != "missing" and unknown.any():
            raise SchemaError(
                f"column {self.name!r} has values that are neither true nor false; "
                'make it categorical in the schema, or say outside = "missing"'
            )
        return bins


def _truth(text: str) -> int:
    """The bin of a text. "1.0" is 1, as it is in a column of numbers."""
    return TRUTH.get(text.strip().lower(), {0.0: 0, 1.0: 1}.get(as_number(text), 2))


@dataclass(frozen=True)
class Ignored(Column):
    """A column that no rule may use: an identifier, a date, free text."""

    kind: ClassVar[str] = "ignore"
    can_be_used: ClassVar[bool] = False

    @property
    def value_bins(self) -> TextBins:
        """Nothing is listed, and nothing is told apart."""
        return TextBins({}, 0)

    @property
    def _n_values(self) -> int:
        return 0

    def _value_tests(self) -> list[ColumnTest]:
        return []

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        return None

    def where(self, op: str, value: Value = None) -> np.ndarray:
        """No test: no rule may use this column."""
        raise SchemaError(f"column {self.name!r} is ignored, or excluded; no rule may use it")

    def _encode(self, values: np.ndarray, strict: bool) -> np.ndarray:
        return np.zeros(len(values), np.uint8)

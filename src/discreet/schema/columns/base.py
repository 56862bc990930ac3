"""What is public about one column, and the bins that it cuts the column's values into.

A column offers *tests*, pairs of an operator and a value such as ``("<=", 30.0)``. All its tests together cut its values
into a finest partition, the *bins*: two values in one bin are told apart by no test. So a record is known to a learner
by one small bin number per column, and a test by the set of bins in which it is true.

One bin of every column is kept for missing values. **A missing value satisfies no test but "is missing"**: neither
``age <= 30`` nor ``age > 30`` is true of it (as in SQL), so a rule says just what it reads.

``encode`` is a total function of single values: what it does with one record never depends on another. With
``strict=True`` it stops instead at values that the column did not foresee, which only non-private learners may do.

*Labels* are what people call a column, a category or a class. Reports show them in place of names; nothing else changes. A label
may hold anything that fits on a line, and whatever shows it makes it harmless there; but no two things that stand beside each
other may look the same, so a label that another one has, or that is another one's name, is refused.
"""

import datetime
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..._utils.errors import SchemaError, no_value_shown, shown
from .seen import Profile, Seen
from .values import TextBins, ValueBins, canonical, no_warning

LONGEST_LABEL = 200
Labels = Mapping[str, str] | Sequence[tuple[str, str]]  # by the text of a category or class
Value = float | int | str | tuple[float, float] | datetime.date | None
ColumnTest = tuple[str, Value]

NEGATION = {"<=": ">", "<": ">=", "in": "not in", "=": "!=", "is true": "is false", "is missing": "is not missing"}
NEGATION |= {negated: op for op, negated in NEGATION.items()}

LARGEST_WHOLE = 10**300  # of a category or class: longer numbers could be read, but not written


def require(holds: bool, problem: str) -> None:
    """Refuse a schema that breaks a rule."""
    if not holds:
        raise SchemaError(problem)


def listed(where: str, value: object) -> list[Any]:
    """What is in a list, a tuple or the like. A text is none."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise SchemaError(f"{where} must be a list")
    return list(value)


def checked_text(where: str, text: object, longest: int = LONGEST_LABEL) -> str:
    """A label, if it is one line of text. An empty one is none."""
    if not isinstance(text, str) or (text and not text.strip()):
        raise SchemaError(f"{where} must be a string with something to read in it")
    require(len(text) <= longest, f"{where} must have at most {longest} characters")
    one_line = not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text)
    require(one_line, f"{where} must be one line, without control characters")
    return text


def checked_labels(where: str, given: object, known: Iterable[object]) -> Labels:
    """Labels of some of what is known, each with one of its own."""
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    try:
        labels = {canonical(key): checked_text(f"{where}: a label", label) for key, label in pairs}  # type: ignore[attr-defined]
    except SchemaError:
        raise
    except (TypeError, ValueError):
        raise SchemaError(f"{where}: labels must be a table with a label for each name") from None
    names = dict.fromkeys(map(canonical, known))
    for key in labels:
        require(key in names, f"{where}: labels names {key!r}, which is not there")
    check_distinct(where, {name: labels.get(name) or name for name in names})
    return tuple(labels.items())


def check_distinct(where: str, called: Mapping[str, str]) -> None:
    """Complain about two things that would be called the same."""
    seen: dict[str, str] = {}
    for name, label in called.items():
        other = seen.setdefault(label, name)
        alike = f"{where}: {other!r} and {name!r} would be called the same; give each a label of its own"
        require(other == name, alike)


def on_one_line(text: str) -> str:
    """A text on one line, such as one after ``#``, without control characters, which TOML refuses."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def tidy_label(text: object) -> str:
    """A label out of somebody's spreadsheet: on one line, and not too long."""
    return on_one_line(canonical(text))[:LONGEST_LABEL].strip()


def tidy_labels(labels: Mapping[str, Any], known: Sequence[object] = ()) -> dict[str, str]:
    """Those that say something and tell their things apart. ``known`` are names without a label.

    >>> tidy_labels({"1": "yes", "2": "no", "8": "unknown", "9": " unknown", "x": "x"})
    {'1': 'yes', '2': 'no'}
    """
    tidied = {key: tidy_label(label) or key for key, label in labels.items()}
    called = [*tidied.values(), *(canonical(name) for name in known if canonical(name) not in tidied)]
    names = {*tidied, *map(canonical, known)}
    return {
        key: label for key, label in tidied.items() if label != key and called.count(label) == 1 and label not in names
    }


class Drafted(NamedTuple):
    """One column as drafted: its facts, why (for a comment), whether a person should look at that, and at what else."""

    column: "Column"
    why: str = ""
    needs_review: bool = False
    description: str = ""  # of a data dictionary
    doubts: Sequence[str] = ()


@dataclass(frozen=True)
class Column(ABC):
    """A column and its public facts. Use one of the subclasses."""

    name: str
    missing: bool = False
    label: str = field(default="", kw_only=True, repr=False)  # what people call it

    kind: ClassVar[str]  # in a schema file: type = ...
    can_be_used: ClassVar[bool] = True  # whether rules may be about such columns
    ordered: ClassVar[bool] = False  # whether bins of values go from the smallest to the largest
    meant_by: ClassVar[frozenset[str]] = frozenset()  # operators that, without a schema, mean a column of this kind

    def __post_init__(self) -> None:
        for entry in fields(self):  # NumPy's scalars would be written to files under their own names
            if isinstance(value := getattr(self, entry.name), np.generic):
                object.__setattr__(self, entry.name, value.item())
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(f"a column's name must be a string, not {self.name!r}")
        self._one_of("missing", self.missing, (True, False))
        checked_text(f"column {self.name!r}: label", self.label)

    def __getstate__(self) -> dict[str, Any]:
        """The facts alone: what follows from them is computed again."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def called(self) -> str:
        """What people call it: its label, or else its name."""
        return self.label or self.name

    def value_label(self, value: object) -> str | None:
        """What people call a category, or a truth value ("true", "false"); None if it has no label."""
        return dict(getattr(self, "labels", ())).get(canonical(value)) or None

    @property
    def n_bins(self) -> int:
        """How many bins there are. The last one holds missing values."""
        return self._n_values + 1

    @property
    def domain(self) -> np.ndarray:
        """The bins that the schema foresees. Tests that agree on all of them say the same."""
        return np.append(self._foreseen(), self.can_be_missing)

    @property
    def can_be_missing(self) -> bool:
        """Whether "is missing" is a test: as the schema says, or because values outside the domain count as missing."""
        return self.missing or getattr(self, "outside", None) == "missing"

    def tests(self) -> list[ColumnTest]:
        """All tests that this column offers, without negations."""
        return self._value_tests() + ([("is missing", None)] if self.can_be_missing else [])

    def where(self, op: str, value: Value = None) -> np.ndarray:
        """In which bins the test is true."""
        if op in ("is missing", "is not missing"):
            missing: np.ndarray = np.arange(self.n_bins) == self._n_values
            return missing if op == "is missing" else ~missing
        for sign, test in ((True, (op, value)), (False, (NEGATION.get(op, ""), value))):
            if (inside := self._inside(*test)) is not None:
                return np.append(inside == sign, False)
        raise SchemaError(
            f"column {self.name!r} of the schema has no test {op!r} with this value; it offers "
            + (", ".join(f"{o} {'' if v is None else v}".strip() for o, v in self.tests()[:8]) or "none")
        )

    def encode(self, values: np.ndarray, strict: bool = False) -> np.ndarray:
        """The bin number of each value."""
        self._check_type(values.dtype.kind)
        bins = self.value_bins
        if isinstance(bins, TextBins) and not bins.matching.fits(values.dtype.kind):
            raise SchemaError(
                f"column {self.name!r}: the schema lists categories that are the same number, such as 1 and 01, or that stand "
                "for a missing value, such as NA, so the column must hold strings, not numbers or truth values"
            )
        with no_value_shown(f"column {self.name!r} has values that cannot be read"), no_warning(values):
            encoded = bins.encode(values, self._n_values, self._complaint if strict else None)
            if strict:
                self._check_bounds(values)
        if strict and not self.can_be_missing and (encoded == self._n_values).any():
            raise SchemaError(
                f"column {self.name!r} has missing values; say `missing = true` for it in the schema, "
                "which makes `is missing` a literal, or fill them in first"
            )
        return encoded.astype(np.min_scalar_type(self._n_values), copy=False)

    @property
    @abstractmethod
    def value_bins(self) -> ValueBins:
        """The bins as plain facts: in which of them a value is."""

    def taken_as(self, value: Any, place: int) -> str | None:
        """What a value that is not missing is taken for, by the bin it is in, if the schema does not foresee it.

        In the words of a schema (``outside = ...``): "missing", "clip", "other" or "none".
        """
        return "missing" if place == self._n_values else None

    def entries(self) -> dict[str, Any]:
        """What a schema file says of the column beside its name and type: what is not as by default, pairs as tables."""
        return {
            entry.name: dict(value) if entry.name in ("groups", "labels") else value
            for entry in fields(self)
            if entry.name != "name" and (value := getattr(self, entry.name)) != entry.default
        }

    @classmethod
    def of_tests(cls, name: str, tests: Sequence[ColumnTest]) -> "Column":
        """The smallest column that offers these tests (or their negations), for rules that come without a schema."""
        return cls(name, asks_for_missing(tests))

    @classmethod
    def inferred(cls, name: str, seen: Seen, n_cuts: int) -> "Column | None":
        """A column that fits the values, if they look like this kind. It tells of records (schema/inference.py)."""
        return None

    @classmethod
    def drafted(cls, name: str, seen: Profile, most: int) -> Drafted | None:
        """A column with at most so many cuts, for a person to correct, if the values of a public sample look like this kind."""
        return None

    @classmethod
    def is_meant_by(cls, op: str, value: Value) -> bool:
        """Whether such a literal, without a schema, means a column of this kind."""
        return op in cls.meant_by and not isinstance(value, datetime.date)

    def _check_type(self, kind: str) -> None:
        """Complain about a type of values, by NumPy's letter. Dates may be written as strings in many ways."""
        if kind in "mM":
            raise SchemaError(
                f'column {self.name!r} holds dates or times; say type = "date" or "ignore" for it in the schema, or store strings'
            )

    def _one_of(self, parameter: str, value: object, allowed: tuple[object, ...]) -> None:
        if value not in allowed:
            listed = ", ".join(repr(a) for a in allowed if a is not None)
            raise SchemaError(f"column {self.name!r}: {parameter} must be one of {listed}, not {shown(value)}")

    def _require(self, holds: bool, problem: str) -> None:
        require(holds, f"column {self.name!r}: {problem}")

    # What a subclass says of itself: the number of bins without the missing one, its tests, the bins in which a test is
    # true (None if it has no such test).
    @property
    def _n_values(self) -> int:
        return 0

    def _foreseen(self) -> np.ndarray:
        return np.ones(self._n_values, bool)

    def _value_tests(self) -> list[ColumnTest]:
        return []

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        return None

    @property
    def _complaint(self) -> str | None:
        """What a learner that may stop says of a value that is of no use here; None if it does not stop."""
        return None

    def _check_bounds(self, values: np.ndarray) -> None:  # noqa: B027  # most have none
        """Stop at what is beyond the bounds, if the schema says so."""


def asks_for_missing(tests: Sequence[ColumnTest]) -> bool:
    """Whether one of these tests is about missing values."""
    return any(op in ("is missing", "is not missing") for op, _ in tests)

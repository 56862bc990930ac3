"""What is public about one column, and the bins that it cuts the column's values into.

A column offers *tests*, pairs of an operator and a value such as ``("<=", 30.0)``. All its tests together cut its values
into a finest partition, the *bins*: two values in one bin are told apart by no test. So a record is known to a learner
by one small bin number per column, and a test by the set of bins in which it is true.

One bin of every column is kept for missing values. **A missing value satisfies no test but "is missing"**: neither
``age <= 30`` nor ``age > 30`` is true of it (as in SQL), so a rule says just what it reads.

``encode`` is a total function of single values: what it does with one record never depends on another. With
``strict=True`` it stops instead at values that the column did not foresee, which only non-private learners may do.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .errors import SchemaError

Value = float | int | str | tuple[float, float] | None
Test = tuple[str, Value]

NEGATION = {"<=": ">", "<": ">=", "in": "not in", "=": "!=", "is true": "is false", "is missing": "is not missing"}
NEGATION |= {negated: op for op, negated in NEGATION.items()}

MOST_CUTS = 1_000
OTHER = "other"  # the name of the category that collects what no other category names


def canonical(value: Any) -> str:
    """One text for one category or class, whatever type the table stores it in: 1, 1.0, "1" and True are the same."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Real | np.bool_) or type(value).__name__ == "Decimal":
        try:
            return str(int(value)) if value == int(value) else str(value)
        except (OverflowError, ValueError):  # infinite, or no number
            return str(value)
    return str(value)


def is_missing(value: Any) -> bool:
    """Whether one value stands for "nothing known": None, NaN, pandas' NA and NaT."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, Real) and value != value)


@dataclass(frozen=True)
class Column:
    """A column and its public facts. Use one of the subclasses."""

    name: str
    missing: bool = False

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        for field in fields(self):  # NumPy's scalars would be written to files under their own names
            if isinstance(value := getattr(self, field.name), np.generic):
                object.__setattr__(self, field.name, value.item())
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(f"a column's name must be a text, not {self.name!r}")
        self._one_of("missing", self.missing, (True, False))

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

    def tests(self) -> list[Test]:
        """All tests that this column offers, without negations."""
        return self._value_tests() + ([("is missing", None)] if self.can_be_missing else [])

    def where(self, op: str, value: Value = None) -> np.ndarray:
        """In which bins the test is true."""
        if op in ("is missing", "is not missing"):
            return (np.arange(self.n_bins) == self._n_values) == (op == "is missing")
        for sign, test in ((True, (op, value)), (False, (NEGATION.get(op, ""), value))):
            if (inside := self._inside(*test)) is not None:
                return np.append(inside == sign, False)
        raise SchemaError(
            f"column {self.name!r} of the schema has no test {op!r} with this value; it offers "
            + (", ".join(f"{o} {'' if v is None else v}".strip() for o, v in self.tests()[:8]) or "none")
        )

    def encode(self, values: np.ndarray, strict: bool = False) -> np.ndarray:
        """The bin number of each value."""
        bins = self._encode(values, strict)
        if strict and not self.can_be_missing and (bins == self._n_values).any():
            raise SchemaError(
                f"column {self.name!r} has missing values; say `missing = true` for it in the schema, "
                "which makes `is missing` a literal, or fill them in first"
            )
        return bins.astype(np.min_scalar_type(self._n_values), copy=False)

    def _one_of(self, parameter: str, value: object, allowed: tuple[object, ...]) -> None:
        if value not in allowed:
            listed = ", ".join(repr(a) for a in allowed if a is not None)
            raise SchemaError(f"column {self.name!r}: {parameter} must be one of {listed}, not {value!r}")

    # What a subclass says of itself: the number of bins without the missing one, its tests, the bins in which a test is
    # true (None if it has no such test), and the bin of each value.
    @property
    def _n_values(self) -> int:
        raise NotImplementedError

    def _foreseen(self) -> np.ndarray:
        return np.ones(self._n_values, bool)

    def _value_tests(self) -> list[Test]:
        raise NotImplementedError

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        raise NotImplementedError

    def _encode(self, values: np.ndarray, strict: bool) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class Numeric(Column):
    """Numbers, tested against public cut points (``x <= cut``) and ranges (``low <= x <= high``, ends included).

    Cuts are listed, or spread evenly between the bounds ``low`` and ``high`` by ``n_cuts`` with ``spacing`` "equal" or
    "log". A range may have one infinite end. ``outside`` says what a value beyond the bounds is taken for: "clip" (the
    bound, the default), "missing", or "error".

    >>> Numeric("age", cuts=(25, 45)).tests()
    [('<=', 25.0), ('<=', 45.0)]
    >>> Numeric("age", low=0, high=100, n_cuts=3).tests()
    [('<=', 25.0), ('<=', 50.0), ('<=', 75.0)]
    """

    cuts: tuple[float, ...] = ()
    ranges: tuple[tuple[float, float], ...] = ()
    low: float | None = None
    high: float | None = None
    n_cuts: int | None = None
    spacing: str = "equal"
    outside: str = "clip"

    kind: ClassVar[str] = "numeric"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("spacing", self.spacing, ("equal", "log"))
        self._one_of("outside", self.outside, ("clip", "missing", "error"))
        for bound in ("low", "high"):
            if getattr(self, bound) is not None:
                object.__setattr__(self, bound, self._number(bound, getattr(self, bound)))
        cuts = [self._number("cuts", c) for c in self._listed("cuts", self.cuts)]
        if sorted(set(cuts)) != cuts:
            raise SchemaError(f"column {self.name!r}: cuts must be in increasing order, each once")
        object.__setattr__(self, "cuts", tuple(cuts))
        ranges = []
        for pair in self._listed("ranges", self.ranges):
            pair = self._listed("ranges", pair)
            if len(pair) != 2:
                raise SchemaError(f"column {self.name!r}: ranges must be pairs [low, high]")
            low, high = (-math.inf if pair[0] is None else pair[0]), (math.inf if pair[1] is None else pair[1])
            a, b = (self._number("ranges", x, finite=False) for x in (low, high))
            if a > b or (math.isinf(a) and math.isinf(b)):
                raise SchemaError(
                    f"column {self.name!r}: in a range [low, high], low must not be above high, nor both infinite"
                )
            ranges.append((a, b))
        object.__setattr__(self, "ranges", tuple(ranges))
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise SchemaError(f"column {self.name!r}: low must be below high")
        if self.n_cuts is not None:
            if isinstance(self.n_cuts, bool) or not isinstance(self.n_cuts, int) or not 1 <= self.n_cuts <= MOST_CUTS:
                raise SchemaError(f"column {self.name!r}: n_cuts must be a whole number from 1 to {MOST_CUTS}")
            if self.low is None or self.high is None:
                raise SchemaError(f"column {self.name!r}: n_cuts needs the bounds low and high")
            if self.spacing == "log" and self.low <= 0:
                raise SchemaError(f'column {self.name!r}: spacing = "log" needs low above 0')
            if not all(self.low < cut < self.high for cut in self._spread()):
                raise SchemaError(
                    f"column {self.name!r}: low and high are too close, or too far apart, for n_cuts cuts"
                )

    def _listed(self, parameter: str, value: object) -> list[Any]:
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise SchemaError(f"column {self.name!r}: {parameter} must be a list")
        return list(value)

    def _number(self, parameter: str, value: object, finite: bool = True) -> float:
        if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
            raise SchemaError(f"column {self.name!r}: {parameter} must hold numbers")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isnan(number) or (finite and math.isinf(number)):
            raise SchemaError(f"column {self.name!r}: {parameter} must be finite")
        return number + 0.0  # -0.0 becomes 0.0

    @cached_property
    def all_cuts(self) -> tuple[float, ...]:
        """The listed cuts and those spread between the bounds."""
        return tuple(sorted({*self.cuts, *self._spread()}))

    def _spread(self) -> list[float]:
        """``n_cuts`` cuts strictly between the bounds, rounded to a thousandth of the distance to the next."""
        if self.n_cuts is None or self.low is None or self.high is None:
            return []
        steps = np.arange(1, self.n_cuts + 1) / (self.n_cuts + 1)
        if self.spacing == "log":
            made = np.exp(math.log(self.low) * (1 - steps) + math.log(self.high) * steps)
        else:
            made = self.low * (1 - steps) + self.high * steps
        gaps = np.diff(made, prepend=self.low)
        return [
            round(x, 3 - math.floor(math.log10(gap))) if gap > 0 else x
            for x, gap in zip(made.tolist(), gaps.tolist(), strict=True)
        ]

    @cached_property
    def _edges(self) -> tuple[dict[float, None], dict[float, None]]:
        """Where bins end: a value in the first set still belongs to the bin below it, one in the second does not."""
        right = {*self.all_cuts, *(b for _, b in self.ranges if math.isfinite(b))}
        left = {a for a, _ in self.ranges if math.isfinite(a)}
        return dict.fromkeys(sorted(right)), dict.fromkeys(sorted(left))

    @cached_property
    def _edge_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        right, left = self._edges
        return np.array(list(right)), np.array(list(left))

    @property
    def _n_values(self) -> int:
        right, left = self._edges
        return len(right) + len(left) + 1

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        right, left = self._edge_arrays
        return np.searchsorted(right, numbers, side="left") + np.searchsorted(left, numbers, side="right")

    def _foreseen(self) -> np.ndarray:
        bounds = np.array([-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high])
        first, last = self._bin(bounds)
        bins = np.arange(self._n_values)
        return (first <= bins) & (bins <= last)

    def _value_tests(self) -> list[Test]:
        tests: list[Test] = [("<=", cut) for cut in self.all_cuts]
        for a, b in self.ranges:
            test: Test = ("<=", b) if math.isinf(a) else (">=", a) if math.isinf(b) else ("in", (a, b))
            if test not in tests:
                tests.append(test)
        return tests

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        bins = np.arange(self._n_values)
        right, left = self._edges
        if op == "<=" and value in right:
            return bins <= self._bin(np.array([value]))
        if op == ">=" and value in left:
            return bins >= self._bin(np.array([value]))
        if op == "in" and isinstance(value, tuple) and value[0] in left and value[1] in right:
            first, last = self._bin(np.array(value))
            return (first <= bins) & (bins <= last)
        return None

    def _encode(self, values: np.ndarray, strict: bool) -> np.ndarray:
        numbers = _as_numbers(self.name, values, strict)
        missing = np.isnan(numbers)
        if self.low is not None or self.high is not None:
            low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
            beyond = (numbers < low) | (numbers > high)
            if self.outside == "missing":
                missing = missing | beyond
            elif strict and self.outside == "error" and beyond.any():
                raise SchemaError(
                    f"column {self.name!r} has values beyond its bounds low and high; "
                    'widen them in the schema, or say outside = "clip" or "missing"'
                )
            numbers = np.clip(numbers, low, high)
        return np.where(missing, self._n_values, self._bin(numbers))


@dataclass(frozen=True)
class Categorical(Column):
    """One of a public list of categories, tested by name (``job = clerk``).

    Without ``groups`` every category is a test. With ``groups``, named sets of categories, every group is one; categories
    in no group are then ``ungrouped``: "other" (together they are the test ``= other``) or "none" (no test names them).
    ``outside`` says what a value that is listed nowhere is taken for: "other", "none", "missing" or "error". Left unset,
    a non-private learner stops with an error; a private one, whose errors may not depend on records, takes it as "none".

    >>> Categorical("job", groups={"office": ["clerk", "boss"], "field": ["farmer"]}, outside="other").tests()
    [('=', 'office'), ('=', 'field'), ('=', 'other')]
    """

    categories: tuple[str | int, ...] = ()
    groups: tuple[tuple[str, tuple[str | int, ...]], ...] = ()
    ungrouped: str = "none"
    outside: str | None = None

    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("ungrouped", self.ungrouped, ("other", "none"))
        self._one_of("outside", self.outside, ("other", "none", "missing", "error", None))
        object.__setattr__(self, "categories", self._names("categories", self.categories))
        if isinstance(self.groups, Mapping):
            object.__setattr__(self, "groups", tuple(self.groups.items()))
        try:
            groups = tuple((str(name), self._names(f"group {name!r}", members)) for name, members in self.groups)
        except (TypeError, ValueError) as error:
            if isinstance(error, SchemaError):
                raise
            raise SchemaError(f"column {self.name!r}: groups must be a table of lists of categories") from None
        if len({name for name, _ in groups}) < len(groups):
            raise SchemaError(f"column {self.name!r}: two groups have the same name")
        object.__setattr__(self, "groups", groups)
        if self.ungrouped == "other" and not groups:
            raise SchemaError(f'column {self.name!r}: ungrouped = "other" needs groups')
        if not self.categories and not groups:
            raise SchemaError(f"column {self.name!r}: a categorical column needs categories or groups")

    def _names(self, parameter: str, names: object) -> tuple[str | int, ...]:
        listed = [] if isinstance(names, str | Mapping) or not isinstance(names, Iterable) else list(names)
        if not listed and names != ():
            raise SchemaError(f"column {self.name!r}: {parameter} must be a list that is not empty")
        if any(isinstance(x, bool) or not isinstance(x, str | int) for x in listed):
            raise SchemaError(f"column {self.name!r}: {parameter} must hold texts or whole numbers")
        if len({canonical(x) for x in listed}) < len(listed):
            raise SchemaError(f"column {self.name!r}: {parameter} names a category twice")
        return tuple(listed)

    @cached_property
    def _tests_of(self) -> dict[str, frozenset[int]]:
        """For each category that the schema lists, the tests that are true of it (numbered as in ``_value_tests``)."""
        names = [canonical(value) for _, value in self._value_tests()]
        members = {canonical(name): {canonical(c) for c in cs} for name, cs in self.groups}
        listed = dict.fromkeys(canonical(c) for c in self.categories)
        for cs in members.values():
            listed |= dict.fromkeys(cs)
        grouped = {c for cs in members.values() for c in cs}
        tests: dict[str, frozenset[int]] = {}
        for category in sorted(listed):
            true = {
                i for i, name in enumerate(names) if category in (members.get(name, ()) if self.groups else (name,))
            }
            if self.groups and category not in grouped and self.ungrouped == "other":
                true = {names.index(OTHER)}
            tests[category] = frozenset(true)
        return tests

    @cached_property
    def _unlisted(self) -> frozenset[int]:
        """The tests that are true of a value that is listed nowhere."""
        return frozenset(i for i, (_, v) in enumerate(self._value_tests()) if self.outside == "other" and v == OTHER)

    @cached_property
    def _signatures(self) -> list[frozenset[int]]:
        """The bins: which tests are true in each. Categories that no test tells apart share one."""
        return list(dict.fromkeys([*self._tests_of.values(), self._unlisted]))

    @property
    def _n_values(self) -> int:
        return len(self._signatures)

    def _foreseen(self) -> np.ndarray:
        # the bins of listed categories; that of values listed nowhere only if the schema says what they are
        foreseen = set(self._tests_of.values())
        if self.outside in ("other", "none"):
            foreseen.add(self._unlisted)
        return np.array([s in foreseen for s in self._signatures])

    def _value_tests(self) -> list[Test]:
        names: list[str | int] = [name for name, _ in self.groups] if self.groups else list(self.categories)
        grouped = {canonical(c) for _, members in self.groups for c in members}
        collects = self.outside == "other" or (
            bool(self.groups)
            and self.ungrouped == "other"
            and any(canonical(c) not in grouped for c in self.categories)
        )
        if collects and OTHER not in names:
            names.append(OTHER)
        return [("=", name) for name in names]

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        names = [canonical(v) for _, v in self._value_tests()]
        if op != "=" or canonical(value) not in names:
            return None
        test = names.index(canonical(value))
        return np.array([test in signature for signature in self._signatures])

    def _encode(self, values: np.ndarray, strict: bool) -> np.ndarray:
        codes, found = _distinct(values)
        bin_of = {category: self._signatures.index(tests) for category, tests in self._tests_of.items()}
        unlisted = self._n_values if self.outside == "missing" else self._signatures.index(self._unlisted)
        texts = [canonical(value) for value in found]
        if strict and self.outside in (None, "error") and any(text not in bin_of for text in texts):
            raise SchemaError(
                f"column {self.name!r} has categories that the schema does not list; add them, "
                'or say outside = "other", "none" or "missing"'
            )
        return np.array([*(bin_of.get(text, unlisted) for text in texts), self._n_values])[codes]


_TRUTH = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0}


@dataclass(frozen=True)
class Boolean(Column):
    """True or false (also 1 / 0, "yes" / "no"). A value that is neither counts as missing.

    ``outside``, "missing" or "error", says what to do with it; left unset, only a non-private learner stops.
    """

    outside: str | None = None

    kind: ClassVar[str] = "boolean"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("outside", self.outside, ("missing", "error", None))

    @property
    def _n_values(self) -> int:
        return 2

    def _value_tests(self) -> list[Test]:
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
            codes, found = _distinct(values)
            table = np.array([*(_TRUTH.get(canonical(v).lower(), 2) for v in found), 2])
            bins, unknown = table[codes], (table[codes] == 2) & (codes >= 0)
        if strict and self.outside != "missing" and unknown.any():
            raise SchemaError(
                f"column {self.name!r} has values that are neither true nor false; "
                'make it categorical in the schema, or say outside = "missing"'
            )
        return bins


@dataclass(frozen=True)
class Ignored(Column):
    """A column that no rule may use: an identifier, a date, free text."""

    kind: ClassVar[str] = "ignore"

    @property
    def _n_values(self) -> int:
        return 0

    def _value_tests(self) -> list[Test]:
        return []

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        return None

    def where(self, op: str, value: Value = None) -> np.ndarray:
        """No test: no rule may use this column."""
        raise SchemaError(f"column {self.name!r} is ignored, or excluded; no rule may use it")

    def _encode(self, values: np.ndarray, strict: bool) -> np.ndarray:
        return np.zeros(len(values), np.uint8)


def _distinct(values: np.ndarray) -> tuple[np.ndarray, Any]:
    """Codes (-1 for a missing value) and the distinct values they stand for."""
    if values.dtype == object and pd.api.types.infer_dtype(values) != "string":
        # one by one: a look at the whole column could let one value change what another is taken for
        values = np.array([None if is_missing(v) else canonical(v) for v in values], dtype=object)
    return pd.factorize(values)


def _as_numbers(name: str, values: np.ndarray, strict: bool) -> np.ndarray:
    """Numbers as float64, NaN where a value is missing or is no number."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind in "mM":
        raise SchemaError(f'column {name!r} holds dates or times; say type = "ignore" for it in the schema')
    numbers = np.array([_as_number(v) for v in values], dtype=np.float64)
    if strict and any(n != n and not is_missing(v) for n, v in zip(numbers.tolist(), values, strict=True)):
        raise SchemaError(
            f"column {name!r} is numeric in the schema but holds values that are no numbers; mend them first"
        )
    return numbers


def _as_number(value: Any) -> float:
    if isinstance(value, str) and "_" in value:  # Python reads 1_000, nobody else does
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a whole number beyond what a float can hold
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan

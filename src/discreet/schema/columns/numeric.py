"""Columns of numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._utils.errors import SchemaError
from .base import Column, ColumnTest, Seen, Value, asks_for_missing
from .values import NumberBins, as_number, canonical, is_missing, says_missing, truth_of

MOST_CUTS = 1_000
FEW_EDGES, MANY_NUMBERS = 60, 1_000  # for which comparing with every edge is faster than searching


@dataclass(frozen=True)
class Numeric(Column):
    """Numbers, tested against public cut points (``x <= cut``) and ranges (``low <= x <= high``, ends included).

    Cuts are listed, or spread evenly between the bounds ``low`` and ``high`` by ``n_cuts`` with ``spacing`` "equal" or
    "log". A range may have one infinite end. ``outside`` says how a value beyond the bounds is read: "clip" (the
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
    ordered: ClassVar[bool] = True
    meant_by: ClassVar[frozenset[str]] = frozenset(["<=", "<", ">=", ">", "in", "not in"])

    if TYPE_CHECKING:  # a dataclass asks for tuples; any sequence will do, and becomes one

        def __init__(
            self,
            name: str,
            missing: bool = False,
            cuts: Sequence[float] = (),
            ranges: Sequence[Sequence[float | None]] = (),
            low: float | None = None,
            high: float | None = None,
            n_cuts: int | None = None,
            spacing: str = "equal",
            outside: str = "clip",
            *,
            label: str = "",
        ) -> None: ...

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
        if not (cuts or ranges or self.n_cuts or self.can_be_missing):
            raise SchemaError(f"column {self.name!r}: a numeric column needs cuts, or ranges, or low, high and n_cuts")
        if self.n_cuts is not None:
            if isinstance(self.n_cuts, bool) or not isinstance(self.n_cuts, int) or not 1 <= self.n_cuts <= MOST_CUTS:
                raise SchemaError(f"column {self.name!r}: n_cuts must be an integer from 1 to {MOST_CUTS}")
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
        if len(right) + len(left) > FEW_EDGES or len(numbers) < MANY_NUMBERS:
            return np.searchsorted(right, numbers, side="left") + np.searchsorted(left, numbers, side="right")
        bins = np.zeros(len(numbers), np.min_scalar_type(self._n_values))
        # a comparison of many numbers with one takes a fifth of a nanosecond for each, a search twenty
        for edge in right:
            bins += numbers > edge
        for edge in left:
            bins += numbers >= edge
        return bins

    @classmethod
    def of_tests(cls, name: str, tests: Sequence[ColumnTest]) -> Column:
        """The cuts and ranges that are named."""
        cuts, ranges = set(), set()
        for op, value in tests:
            if op in ("<=", ">"):
                cuts.add(value)
            elif op in cls.meant_by:
                ranges.add(value if isinstance(value, tuple) else (value, math.inf))
        return cls(name, asks_for_missing(tests), cuts=tuple(sorted(cuts)), ranges=tuple(sorted(ranges)))  # type: ignore[arg-type]

    @classmethod
    def inferred(cls, name: str, seen: Seen, n_cuts: int) -> Column | None:
        """Numbers, cut at quantiles, if some of them are finite and differ."""
        finite = np.zeros(0) if seen.numbers is None else seen.numbers[np.isfinite(seen.numbers)]
        if not len(finite):
            return None
        # cuts are values that occur, the largest excepted: `x <= largest` would be true of all
        cuts = np.unique(np.quantile(finite, np.arange(1, n_cuts + 1) / (n_cuts + 1), method="inverted_cdf"))
        cuts = cuts[cuts < finite.max()]
        return cls(name, seen.missing, cuts=tuple(cuts.tolist())) if len(cuts) or seen.missing else None

    @cached_property
    def value_bins(self) -> NumberBins:
        """The bins from the lowest to the highest bound: numbers beyond are clipped, or missing.

        >>> Numeric("age", cuts=(25, 45), ranges=((30, 45),), high=40).value_bins
        NumberBins(first=0, ends=(('<=', 25.0), ('<', 30.0)), limits=(None, None))
        """
        right, left = self._edges
        # at one number, a bin that begins with it comes before one that begins above it
        ends = sorted([(edge, 1, "<=") for edge in right] + [(edge, 0, "<") for edge in left])
        first, last = np.flatnonzero(self._foreseen())[[0, -1]].tolist()
        limits = (self.low, self.high) if self.outside == "missing" else (None, None)
        return NumberBins(first, tuple((op, edge) for edge, _, op in ends[first:last]), limits)

    def _taken_as(self, value: Any, place: int) -> str | None:
        number = as_number(value)
        below, above = self.low is not None and number < self.low, self.high is not None and number > self.high
        return "clip" if below or above else None

    def _foreseen(self) -> np.ndarray:
        bounds = np.array([-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high])
        first, last = self._bin(bounds)
        bins = np.arange(self._n_values)
        inside: np.ndarray = (first <= bins) & (bins <= last)
        return inside

    def _value_tests(self) -> list[ColumnTest]:
        tests: dict[ColumnTest, None] = dict.fromkeys(("<=", cut) for cut in self.all_cuts)
        for a, b in self.ranges:
            tests[("<=", b) if math.isinf(a) else (">=", a) if math.isinf(b) else ("in", (a, b))] = None
        return list(tests)

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        bins = np.arange(self._n_values)
        right, left = self._edges
        if op == "<=" and value in right:
            return bins <= self._bin(np.array([value]))
        if op == ">=" and value in left:
            return bins >= self._bin(np.array([value]))
        if op == "in" and isinstance(value, tuple) and value[0] in left and value[1] in right:
            first, last = self._bin(np.array(value))
            inside: np.ndarray = (first <= bins) & (bins <= last)
            return inside
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


def _as_numbers(name: str, values: np.ndarray, strict: bool) -> np.ndarray:
    """Numbers as float64, NaN where a value is missing or is no number."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False)
    numbers = np.array([_number_or_truth(v) for v in values], dtype=np.float64)
    odd = values[np.isnan(numbers)]
    if strict and not all(is_missing(v) or says_missing(v) for v in odd):
        raise SchemaError(
            f"column {name!r} is numeric in the schema but holds values that are no numbers; mend them first"
        )
    return numbers


def _number_or_truth(value: Any) -> float:
    """Texts for true and false are 1 and 0, as in a column of Boolean type, which they would make without other texts."""
    number = as_number(value)
    if number != number and issubclass(type(value), str | bytes) and (truth := truth_of(canonical(value))) is not None:
        return truth
    return number

"""Columns of numbers, and round cut points for them, as a person would choose them.

Round are multiples of 1, 2 or 5 times a power of ten, evenly or by orders of magnitude. Sums are of fractions: 0.1 + 0.2 would
not be round, and the distance from -1e308 to 1e308 is no float.
"""

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count, pairwise
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..._utils.errors import SchemaError
from .base import Column, ColumnTest, Drafted, Value, asks_for_missing, listed
from .seen import Profile, Seen
from .values import NumberBins, as_number, as_numbers

Cut = TypeVar("Cut")
MOST_CUTS = 1_000
FEW_NUMBERS = 8  # different numbers, each of which comes again and again
MANTISSAS = (range(1, 10), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))  # of logarithmic grids, finest first
CODES = "few different integers: if they are codes, not amounts, make it categorical"
NOT_ROUND = "cuts that are not round, as the values are too close: take others that tell the same apart"


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

    cuts: Sequence[float] = ()
    ranges: Sequence[Sequence[float | None]] = ()
    low: float | None = None
    high: float | None = None
    n_cuts: int | None = None
    spacing: str = "equal"
    outside: str = "clip"

    kind: ClassVar[str] = "numeric"
    ordered: ClassVar[bool] = True
    meant_by: ClassVar[frozenset[str]] = frozenset(["<=", "<", ">=", ">", "in", "not in"])

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("spacing", self.spacing, ("equal", "log"))
        self._one_of("outside", self.outside, ("clip", "missing", "error"))
        for bound in ("low", "high"):
            if getattr(self, bound) is not None:
                object.__setattr__(self, bound, _number(getattr(self, bound)))
                self._require(math.isfinite(getattr(self, bound)), f"{bound} must be a finite number")
        low, high = self._bounds
        self._require(low < high, "low must be below high")
        cuts = [_number(cut) for cut in listed(f"column {self.name!r}: cuts", self.cuts)]
        in_order = all(map(math.isfinite, cuts)) and sorted(set(cuts)) == cuts
        self._require(in_order, "cuts must be finite numbers in increasing order, each once")
        object.__setattr__(self, "cuts", tuple(cuts))
        ranges = tuple(self._range(pair) for pair in listed(f"column {self.name!r}: ranges", self.ranges))
        object.__setattr__(self, "ranges", ranges)
        some = cuts or ranges or self.n_cuts or self.can_be_missing
        self._require(bool(some), "a numeric column needs cuts, or ranges, or low, high and n_cuts")
        if (n := self.n_cuts) is not None:
            whole = isinstance(n, int) and not isinstance(n, bool)
            self._require(whole and 1 <= n <= MOST_CUTS, f"n_cuts must be an integer from 1 to {MOST_CUTS}")
            self._require(self.low is not None and self.high is not None, "n_cuts needs the bounds low and high")
            self._require(self.spacing == "equal" or low > 0, 'spacing = "log" needs low above 0')
            apart = all(low < cut < high for cut in self._spread())
            self._require(apart, "low and high are too close, or too far apart, for n_cuts cuts")

    def _range(self, pair: object) -> tuple[float, float]:
        """From where to where; None is no end."""
        given = listed(f"column {self.name!r}: a range", pair)
        ends = [end if x is None else _number(x) for x, end in zip(given, (-math.inf, math.inf), strict=False)]
        holds = len(given) == 2 and ends[0] <= ends[1] and any(map(math.isfinite, ends))
        self._require(
            holds, "ranges must be pairs [low, high] of numbers; low must not be above high, nor both infinite"
        )
        return ends[0], ends[1]

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
    def _ends(self) -> dict[tuple[str, float], None]:
        """Where bins end: a value at a "<=" still belongs to the bin below it, one at a "<" does not."""
        ends = {(cut, 1, "<=") for cut in (*self.all_cuts, *(b for _, b in map(self._range, self.ranges)))}
        # at one number, a bin that begins with it comes before one that begins above it
        ends |= {(a, 0, "<") for a, _ in map(self._range, self.ranges)}
        return dict.fromkeys((op, edge) for edge, _, op in sorted(ends) if math.isfinite(edge))

    @cached_property
    def _every_bin(self) -> NumberBins:
        return NumberBins(0, tuple(self._ends))

    @property
    def _n_values(self) -> int:
        return len(self._ends) + 1

    def _between(self, low: float, high: float) -> np.ndarray:
        """The bins from that of one number to that of another."""
        first, last = self._every_bin.place(np.array([low, high]))
        bins = np.arange(self._n_values)
        between: np.ndarray = (first <= bins) & (bins <= last)
        return between

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
        finite = seen.finite
        if not len(finite):
            return None
        # cuts are values that occur, the largest excepted: `x <= largest` would be true of all
        cuts = np.unique(np.quantile(finite, np.arange(1, n_cuts + 1) / (n_cuts + 1), method="inverted_cdf"))
        cuts = cuts[cuts < finite.max()]
        return cls(name, seen.missing, cuts=tuple(cuts.tolist())) if len(cuts) or seen.missing else None

    @classmethod
    def drafted(cls, name: str, seen: Profile, most: int) -> Drafted | None:
        """Cuts between all values if they are few, else round ones."""
        if seen.kind != "numbers":
            return None
        values = np.unique(seen.finite).tolist()
        low, high, whole, why = values[0], values[-1], all(map(float.is_integer, values)), ""
        bounds: tuple[float | None, float | None] = (low, high)
        if low == high:  # the others are infinite
            cuts, bounds = [], (None, None)
        elif len(values) <= min(FEW_NUMBERS, most + 1) and len(seen.finite) >= 5 * len(values):
            cuts, why = values, CODES if whole and len(values) > 2 else ""
            if not whole:
                cuts, bounds = _rounded(values), around(low, high, most)
                why = "" if all(map(_is_round, cuts)) else NOT_ROUND
        elif whole and high - low <= most:
            cuts = [low + i for i in range(int(high - low))]  # also between values that it lacks
        else:
            cuts, bounds = _in_the_middle(seen, low, high, most, whole), around(low, high, most)
            if seen.spread is not None:
                why = "spread over orders of magnitude, and so are the cuts"
            if whole and None not in bounds:
                bounds = (float(np.floor(bounds[0])), float(np.ceil(bounds[1])))  # type: ignore[arg-type]
        cuts = [c for c in cuts if low <= c < high] or [low]  # x <= low is true of some, not of all
        column = cls(name, seen.missing, cuts=tuple(cuts), low=bounds[0], high=bounds[1])
        return Drafted(column, why, why in (CODES, NOT_ROUND))

    @cached_property
    def value_bins(self) -> NumberBins:
        """The bins from the lowest to the highest bound: numbers beyond are clipped, or missing.

        >>> Numeric("age", cuts=(25, 45), ranges=((30, 45),), high=40).value_bins
        NumberBins(first=0, ends=(('<=', 25.0), ('<', 30.0)), limits=(None, None))
        """
        first, last = np.flatnonzero(self._foreseen())[[0, -1]].tolist()
        limits = (self.low, self.high) if self.outside == "missing" else (None, None)
        return NumberBins(first, tuple(self._ends)[first:last], limits)

    def taken_as(self, value: Any, place: int) -> str | None:
        """As the schema says of numbers beyond the bounds."""
        clipped = place < self._n_values and self._beyond(np.array([as_number(value)]))
        return "clip" if clipped else super().taken_as(value, place)

    def _beyond(self, numbers: np.ndarray) -> bool:
        low, high = self._bounds
        return bool(((numbers < low) | (numbers > high)).any())

    def _foreseen(self) -> np.ndarray:
        return self._between(*self._bounds)

    @property
    def _bounds(self) -> tuple[float, float]:
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high

    def _value_tests(self) -> list[ColumnTest]:
        tests: dict[ColumnTest, None] = dict.fromkeys(("<=", cut) for cut in self.all_cuts)
        for a, b in map(self._range, self.ranges):
            tests[("<=", b) if math.isinf(a) else (">=", a) if math.isinf(b) else ("in", (a, b))] = None
        return list(tests)

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        if isinstance(value, tuple):
            low, high = value
            known = op == "in" and ("<", low) in self._ends and ("<=", high) in self._ends
            return self._between(low, high) if known else None
        if op == "<=" and ("<=", value) in self._ends:
            return self._between(-math.inf, float(value))  # type: ignore[arg-type]
        if op == ">=" and ("<", value) in self._ends:
            return self._between(float(value), math.inf)  # type: ignore[arg-type]
        return None

    @property
    def _complaint(self) -> str:
        return f"column {self.name!r} is numeric in the schema but holds values that are no numbers; mend them first"

    def _check_bounds(self, values: np.ndarray) -> None:
        if self.outside == "error" and self._beyond(as_numbers(values)):
            raise SchemaError(
                f"column {self.name!r} has values beyond its bounds low and high; "
                'widen them in the schema, or say outside = "clip" or "missing"'
            )


def _number(value: object) -> float:
    """A number that a schema gives, NaN if it is none. -0.0 becomes 0.0."""
    return as_number(value) + 0.0 if isinstance(value, Real) and not isinstance(value, bool) else math.nan


def _is_round(cut: float) -> bool:
    return float(f"{cut:.3g}") == cut


def _rounded(values: Sequence[float]) -> list[float]:
    """A cut for each of few values but the last, to tell it from the next: itself if it is round, else a round one between.

    >>> _rounded([0.25, 0.3342, 0.7718, 2.0])
    [0.25, 0.5, 1.0]
    """
    return [a if _is_round(a) else even_cuts(a, b, most=1)[0] for a, b in pairwise(values)]


def _in_the_middle(seen: Profile, low: float, high: float, most: int, whole: bool) -> list[float]:
    """Round cuts in the middle 98 % of the values; what lies beyond is told apart by the last ones."""
    if seen.spread is not None:
        zero = [0.0] if low == 0 and most > 1 else []
        cuts = zero + log_cuts(*seen.spread, most - len(zero))
    else:
        first, last = np.quantile(seen.finite, (0.01, 0.99), method="inverted_cdf").tolist()
        cuts = even_cuts(first, last, most, whole) if first < last else even_cuts(low, high, most, whole)
    return sorted({float(np.floor(c)) for c in cuts}) if whole else cuts


def even_cuts(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """At most so many multiples of one round step from ``low`` to below ``high``; if ``whole``, integers.

    >>> even_cuts(17.2, 79.9, most=9)
    [20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    >>> even_cuts(0.11, 0.31, most=4)
    [0.15, 0.2, 0.25, 0.3]
    """
    step = _step(low, high, most, whole)
    return thinned(_floats(step * k for k in _multiples(low, high, step)), most)


def log_cuts(low: float, high: float, most: int) -> list[float]:
    """At most so many round numbers from ``low`` (above 0) to ``high``, as many for each order of magnitude.

    >>> log_cuts(1, 3000, most=12)
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]
    """
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for mantissas in MANTISSAS:
        made = [Fraction(m) * Fraction(10) ** e for e in decades for m in mantissas]
        cuts = _floats(x for x in made if low <= x <= high)
        if len(cuts) <= most:
            break
    return thinned(cuts, most)


def around(low: float, high: float, most: int) -> tuple[float | None, float | None]:
    """Bounds rounded outward to the step that ``even_cuts`` would take; None where that is no float.

    >>> around(17, 88, most=9)
    (10.0, 90.0)
    """
    step = _step(low, high, most, whole=False)
    below, above = step * math.floor(Fraction(low) / step), step * math.ceil(Fraction(high) / step)
    return next(iter(_floats([below])), None), next(iter(_floats([above])), None)


def _step(low: float, high: float, most: int, whole: bool) -> Fraction:
    """The smallest round step with at most ``most`` multiples, and one at least, from low to below high."""
    least = (Fraction(high) - Fraction(low)) / (most + 1)
    first = math.floor(math.log10(least.numerator) - math.log10(least.denominator)) - 1
    steps = (Fraction(m) * Fraction(10) ** exponent for exponent in count(first) for m in (1, 2, 5))
    step = next(s for s in steps if s >= 1 or not whole)
    while len(_multiples(low, high, step)) > most:
        larger = next(steps)
        if not _multiples(low, high, larger):  # take one that has too many, which are thinned
            break
        step = larger
    return step


def _multiples(low: float, high: float, step: Fraction) -> range:
    return range(math.ceil(Fraction(low) / step), math.ceil(Fraction(high) / step))


def _floats(numbers: Iterable[Fraction]) -> list[float]:
    """As floats, each once: numbers that differ by less than floats can tell are one. Some are too large for a float."""
    found = set()
    for number in numbers:
        with suppress(OverflowError):
            found.add(float(number) + 0.0)
    return sorted(found)


def thinned(cuts: Sequence[Cut], most: int) -> list[Cut]:
    """At most so many of them, spread over all."""
    if len(cuts) <= most:
        return list(cuts)
    return [cuts[(2 * i + 1) * len(cuts) // (2 * most)] for i in range(most)]

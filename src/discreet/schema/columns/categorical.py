"""Columns of categories, columns of truth values, and columns that no rule may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..._utils.errors import SchemaError
from .base import LARGEST_WHOLE, Column, ColumnTest, Drafted, Labels, Value, asks_for_missing, checked_labels, listed
from .seen import MISSING_WORDS, Profile, Seen
from .values import TextBins, TruthBins, canonical

OTHER = "other"  # the name of the category that collects what no other category names
MOST_CATEGORIES = 50  # a text column with more than these is taken for free text or an identifier
MOST_DRAFTED = 30
RARE = 0.005  # of a sample: what is rarer is left to `other`
ALIKE = "that differ by case or spaces only; if they mean the same, spell them alike, here and in the private table"
DECIMAL_COMMAS = (
    'numbers with commas or points that are not decimal separators: if they are, say --decimal , (in pandas decimal=",") and '
    "draft again; if they separate thousands, remove them from the table first"
)
USELESS = {
    "dates": "dates or times; to use dates in rules, store them as 2024-01-31",
    "durations": "durations; make numbers of them, of days for instance, to use them in rules",
    "nothing": "only missing values in the sample",
    "objects": "neither numbers nor strings",
    "commas": DECIMAL_COMMAS,
    "mixed": "numbers and strings; if the strings stand for missing values, make them missing and draft again",
}
IDENTIFIER = "an identifier: nearly every row has its own"


@dataclass(frozen=True)
class Categorical(Column):
    """One of a public list of categories, tested by name (``job = clerk``).

    Without ``groups`` every category is a test. With ``groups``, named sets of categories, every group is one; categories
    in no group are then ``ungrouped``: "other" (together they are the test ``= other``) or "none" (no test names them).
    ``outside`` says how a value that is listed nowhere is read: "other", "none", "missing" or "error". Left unset,
    a non-private learner stops with an error; a private one, whose errors may not depend on records, takes it as "none".
    ``labels`` say what people call categories and groups.

    >>> Categorical("job", groups={"office": ["clerk", "boss"], "field": ["farmer"]}, outside="other").tests()
    [('=', 'office'), ('=', 'field'), ('=', 'other')]
    """

    categories: Sequence[str | int] = ()
    groups: Mapping[str, Sequence[str | int]] | Sequence[tuple[str, Sequence[str | int]]] = ()
    ungrouped: str = "none"
    outside: str | None = None
    labels: Labels = field(default=(), kw_only=True, repr=False)

    kind: ClassVar[str] = "categorical"
    meant_by: ClassVar[frozenset[str]] = frozenset(["=", "!="])

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("ungrouped", self.ungrouped, ("other", "none"))
        self._one_of("outside", self.outside, ("other", "none", "missing", "error", None))
        object.__setattr__(self, "categories", self._names("categories", self.categories))
        try:
            pairs = self.groups.items() if isinstance(self.groups, Mapping) else self.groups
            groups = tuple((str(name), self._names(f"group {name!r}", members)) for name, members in pairs)
        except SchemaError:
            raise
        except (TypeError, ValueError):
            raise SchemaError(f"column {self.name!r}: groups must be a table of lists of categories") from None
        self._require(len(dict(groups)) == len(groups), "two groups have the same name")
        object.__setattr__(self, "groups", groups)
        self._require(self.ungrouped == "none" or bool(groups), 'ungrouped = "other" needs groups')
        self._require(bool(self.categories or groups), "a categorical column needs categories or groups")
        known = [*self._tests_of, *(value for _, value in self._value_tests())]
        object.__setattr__(self, "labels", checked_labels(f"column {self.name!r}", self.labels, known))

    def _names(self, parameter: str, given: object) -> tuple[str | int, ...]:
        names = listed(f"column {self.name!r}: {parameter}", given)
        known = all(isinstance(x, str) or (isinstance(x, int) and abs(x) < LARGEST_WHOLE) for x in names)
        holds = known and bool not in map(type, names) and len(set(map(canonical, names))) == len(names)
        problem = f"{parameter} must be strings or integers (of at most 300 digits), at least one, and none twice"
        self._require(holds and (bool(names) or given == ()), problem)
        return tuple(names)

    @cached_property
    def _tests_of(self) -> dict[str, frozenset[str]]:
        """For each category that the schema lists, what the tests name that are true of it."""
        true: dict[str, set[str]] = {canonical(c): set() for c in self.categories}
        of_names: dict[Any, Sequence[str | int]] = dict(self.groups) or {c: (c,) for c in self.categories}
        for name, members in of_names.items():
            for category in members:
                true.setdefault(canonical(category), set()).add(canonical(name))
        rest = [OTHER] if self.ungrouped == "other" else []
        return {category: frozenset(names or rest) for category, names in sorted(true.items())}

    @property
    def _unlisted(self) -> frozenset[str]:
        """The same for a value that is listed nowhere."""
        return frozenset([OTHER] if self.outside == "other" else [])

    @cached_property
    def _bins(self) -> dict[frozenset[str], int]:
        """By the tests that are true in each. Categories that no test tells apart share one."""
        return {names: i for i, names in enumerate(dict.fromkeys([*self._tests_of.values(), self._unlisted]))}

    @cached_property
    def _bins_of(self) -> dict[str, list[int]]:
        """For each test, by its category, the bins in which it is true."""
        bins: dict[str, list[int]] = {canonical(value): [] for _, value in self._value_tests()}
        for names, i in self._bins.items():
            for name in names:
                bins[name].append(i)
        return bins

    @property
    def _n_values(self) -> int:
        return len(self._bins)

    def _foreseen(self) -> np.ndarray:
        # the bins of listed categories; that of values listed nowhere only if the schema says what they are
        foreseen = {*self._tests_of.values(), *([self._unlisted] if self.outside in ("other", "none") else [])}
        return np.array([names in foreseen for names in self._bins])

    def _value_tests(self) -> list[ColumnTest]:
        groups = dict(self.groups)
        names: list[str | int] = [*groups] or [*self.categories]
        grouped = {canonical(c) for members in groups.values() for c in members}
        left_over = self.ungrouped == "other" and any(canonical(c) not in grouped for c in self.categories)
        if (self.outside == "other" or left_over) and OTHER not in names:
            names.append(OTHER)
        return [("=", name) for name in names]

    def _inside(self, op: str, value: Value) -> np.ndarray | None:
        if op != "=" or canonical(value) not in self._bins_of:
            return None
        inside = np.zeros(self._n_values, bool)
        inside[self._bins_of[canonical(value)]] = True
        return inside

    @classmethod
    def of_tests(cls, name: str, tests: Sequence[ColumnTest]) -> Column:
        """The categories that are named; any will do if none is."""
        named: dict[str, Any] = {}
        for op, value in tests:
            if op in cls.meant_by:
                named.setdefault(canonical(value), value)
        return cls(name, asks_for_missing(tests), categories=tuple(named.values()) or ("?",), outside="none")

    @classmethod
    def inferred(cls, name: str, seen: Seen, n_cuts: int) -> Column | None:
        """Texts (or numbers among texts), if there are few different ones."""
        if seen.numbers is not None or not all(isinstance(v, str | Real) for v in seen.known):
            return None
        categories = sorted({canonical(v) for v in seen.known})
        return cls(name, seen.missing, tuple(categories)) if 0 < len(categories) <= MOST_CATEGORIES else None

    @classmethod
    def drafted(cls, name: str, seen: Profile, most: int) -> Drafted | None:
        """The categories that are not rare; what is left over is "other"."""
        if seen.kind != "strings":
            return None
        common = np.argsort(-seen.counts, kind="stable")[:MOST_DRAFTED]
        common = common[seen.counts[common] >= RARE * len(seen.known)]
        if 2 * seen.counts[common].sum() < len(seen.known):
            why = "too many categories; group them, and name the groups here"
            return Drafted(Ignored(name), why, needs_review=True)
        outside = None if len(common) == seen.n_distinct else "other"
        why = 'categories that are rare in the sample are left to "other"; does one of them matter?' if outside else ""
        if any(t.strip().lower() in MISSING_WORDS for t in seen.strings):
            why = "a category looks like a missing value; make such values missing first"
        elif seen.differs_by_case:
            why = f"categories {ALIKE}"
        categories = tuple(sorted(seen.strings[i] for i in common))
        return Drafted(cls(name, seen.missing, categories, outside=outside), why, needs_review=bool(why))

    @cached_property
    def value_bins(self) -> TextBins:
        """The bin of each listed category, in the schema's order, and that of a value that is listed nowhere."""
        unlisted = self._n_values if self.outside == "missing" else self._bins[self._unlisted]
        listed = [*self.categories, *(category for members in dict(self.groups).values() for category in members)]
        bins = {canonical(category): self._bins[self._tests_of[canonical(category)]] for category in listed}
        return TextBins(bins, unlisted, not any(isinstance(category, str) for category in listed))

    def taken_as(self, value: Any, place: int) -> str | None:
        """As the schema says of values that are listed nowhere."""
        if place == self._n_values or self.value_bins.matching.find(value) is not None:
            return super().taken_as(value, place)
        return OTHER if self.outside == "other" else "none"

    @property
    def _complaint(self) -> str | None:
        if self.outside in ("other", "none", "missing"):
            return None
        fix = 'add them, or say outside = "other", "none" or "missing"'
        return f"column {self.name!r} has categories that the schema does not list; {fix}"


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

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("outside", self.outside, ("missing", "error", None))
        labels = checked_labels(f"column {self.name!r}", self.labels, ("true", "false"))
        object.__setattr__(self, "labels", labels)

    @classmethod
    def inferred(cls, name: str, seen: Seen, n_cuts: int) -> Column | None:
        """Values of Boolean type, or numbers 0 and 1."""
        if seen.are_truths:
            return cls(name, seen.missing)
        zero_one = seen.numbers is not None and bool(((seen.numbers == 0.0) | (seen.numbers == 1.0)).all())
        return cls(name, seen.missing) if zero_one else None

    @classmethod
    def drafted(cls, name: str, seen: Profile, most: int) -> Drafted | None:
        """Truth values, and other values that a Boolean column can read."""
        return Drafted(cls(name, seen.missing)) if seen.is_boolean else None

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

    @property
    def _complaint(self) -> str | None:
        if self.outside == "missing":
            return None
        fix = 'make it categorical in the schema, or say outside = "missing"'
        return f"column {self.name!r} has values that are neither true nor false; {fix}"


@dataclass(frozen=True)
class Ignored(Column):
    """A column that no rule may use: an identifier, free text."""

    kind: ClassVar[str] = "ignore"
    can_be_used: ClassVar[bool] = False

    @property
    def value_bins(self) -> TextBins:
        """Nothing is listed, and nothing is told apart."""
        return TextBins({}, 0)

    @classmethod
    def drafted(cls, name: str, seen: Profile, most: int) -> Drafted | None:
        """What no rule can use."""
        why, needs_review = USELESS.get(seen.kind, ""), seen.kind != "dates"
        if not why and seen.n_distinct < 2:
            why = "one value only in the sample"
        elif not why and seen.identifies and not seen.is_boolean:
            needs_review = seen.kind == "numbers" and not seen.has_identifying_name
            why = "free text" if seen.is_free_text else IDENTIFIER
            why += "? If it is an amount, give it cuts" if needs_review else ""
        elif not why and seen.kind == "numbers" and not len(seen.finite):
            why = "no finite numbers in the sample"
        return Drafted(cls(name), why, needs_review) if why else None

    def where(self, op: str, value: Value = None) -> np.ndarray:
        """No test: no rule may use this column."""
        raise SchemaError(f"column {self.name!r} is ignored, or excluded; no rule may use it")

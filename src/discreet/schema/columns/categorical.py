"""Columns of categories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._utils.errors import SchemaError
from .base import LARGEST_WHOLE, Column, ColumnTest, Labels, Seen, Value, asks_for_missing, checked_labels, distinct
from .values import TextBins, canonical, says_missing

OTHER = "other"  # the name of the category that collects what no other category names
MOST_CATEGORIES = 50  # a text column with more than these is taken for free text or an identifier


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

    categories: tuple[str | int, ...] = ()
    groups: tuple[tuple[str, tuple[str | int, ...]], ...] = ()
    ungrouped: str = "none"
    outside: str | None = None
    labels: Labels = field(default=(), kw_only=True, repr=False)

    kind: ClassVar[str] = "categorical"
    meant_by: ClassVar[frozenset[str]] = frozenset(["=", "!="])

    if TYPE_CHECKING:  # a dataclass asks for tuples; any sequence will do, and becomes one

        def __init__(
            self,
            name: str,
            missing: bool = False,
            categories: Sequence[str | int] = (),
            groups: Mapping[str, Sequence[str | int]] | Sequence[tuple[str, Sequence[str | int]]] = (),
            ungrouped: str = "none",
            outside: str | None = None,
            *,
            label: str = "",
            labels: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        ) -> None: ...

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
        known = [*self._tests_of, *(value for _, value in self._value_tests())]
        object.__setattr__(self, "labels", checked_labels(f"column {self.name!r}", self.labels, known))

    def _names(self, parameter: str, names: object) -> tuple[str | int, ...]:
        listed = [] if isinstance(names, str | Mapping) or not isinstance(names, Iterable) else list(names)
        if not listed and names != ():
            raise SchemaError(f"column {self.name!r}: {parameter} must be a list that is not empty")
        if any(isinstance(x, bool) or not isinstance(x, str | int) for x in listed):
            raise SchemaError(f"column {self.name!r}: {parameter} must hold strings or integers")
        if any(isinstance(x, int) and abs(x) >= LARGEST_WHOLE for x in listed):
            raise SchemaError(f"column {self.name!r}: {parameter} must hold numbers of at most 300 digits")
        if len({canonical(x) for x in listed}) < len(listed):
            raise SchemaError(f"column {self.name!r}: {parameter} names a category twice")
        return tuple(listed)

    @cached_property
    def _tests_of(self) -> dict[str, frozenset[int]]:
        """For each category that the schema lists, the tests that are true of it (numbered as in ``_value_tests``)."""
        names = {canonical(value): i for i, (_, value) in enumerate(self._value_tests())}
        groups = {canonical(name): {canonical(c) for c in cs} for name, cs in self.groups}
        true: dict[str, set[int]] = {canonical(c): set() for c in self.categories}
        for name, i in names.items():
            for category in groups.get(name, ()) if self.groups else (name,) if name in true else ():
                true.setdefault(category, set()).add(i)
        if self.groups and self.ungrouped == "other":
            grouped = {c for cs in groups.values() for c in cs}
            for category in true.keys() - grouped:
                true[category] = {names[OTHER]}
        return {category: frozenset(true[category]) for category in sorted(true)}

    @cached_property
    def _unlisted(self) -> frozenset[int]:
        """The tests that are true of a value that is listed nowhere."""
        return frozenset(i for i, (_, v) in enumerate(self._value_tests()) if self.outside == "other" and v == OTHER)

    @cached_property
    def _signatures(self) -> list[frozenset[int]]:
        """The bins: which tests are true in each. Categories that no test tells apart share one."""
        return list(dict.fromkeys([*self._tests_of.values(), self._unlisted]))

    @cached_property
    def _bins_of(self) -> dict[str, list[int]]:
        """For each test, by its category, the bins in which it is true."""
        names = [canonical(value) for _, value in self._value_tests()]
        bins: dict[str, list[int]] = {name: [] for name in names}
        for i, signature in enumerate(self._signatures):
            for test in signature:
                bins[names[test]].append(i)
        return bins

    @property
    def _n_values(self) -> int:
        return len(self._signatures)

    def _foreseen(self) -> np.ndarray:
        # the bins of listed categories; that of values listed nowhere only if the schema says what they are
        foreseen = set(self._tests_of.values())
        if self.outside in ("other", "none"):
            foreseen.add(self._unlisted)
        return np.array([s in foreseen for s in self._signatures])

    def _value_tests(self) -> list[ColumnTest]:
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
        if op != "=" or canonical(value) not in self._bins_of:
            return None
        inside = np.zeros(self._n_values, bool)
        inside[self._bins_of[canonical(value)]] = True
        return inside

    def entries(self) -> dict[str, Any]:
        """Groups and labels as tables, as people write them."""
        entries = super().entries()
        return entries | {name: dict(getattr(self, name)) for name in ("groups", "labels") if getattr(self, name)}

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

    @cached_property
    def value_bins(self) -> TextBins:
        """The bin of each listed category, in the schema's order, and that of a value that is listed nowhere."""
        number = {signature: i for i, signature in enumerate(self._signatures)}
        unlisted = self._n_values if self.outside == "missing" else number[self._unlisted]
        listed = [*self.categories, *(category for _, members in self.groups for category in members)]
        bins = {canonical(category): number[self._tests_of[canonical(category)]] for category in listed}
        return TextBins(bins, unlisted, not any(isinstance(category, str) for category in listed))

    def _taken_as(self, value: Any, place: int) -> str | None:
        if self.value_bins.matching.find(value) is not None:
            return None
        return OTHER if ("=", OTHER) in self.tests() and self.where("=", OTHER)[place] else "none"

    def _encode(self, values: np.ndarray, strict: bool) -> np.ndarray:
        if not self.value_bins.matching.fits(values.dtype.kind):
            raise SchemaError(
                f"column {self.name!r}: the schema lists categories that are the same number, such as 1 and 01, or that stand "
                "for a missing value, such as NA, so the column must hold strings, not numbers or truth values"
            )
        codes, found = distinct(values, by_value=True)
        stops = strict and self.outside in (None, "error")
        bins: np.ndarray = np.array([*(self._bin(value, stops) for value in found), self._n_values])[codes]
        return bins

    def _bin(self, value: Any, stops: bool) -> int:
        found = self.value_bins.matching.find(value)
        if found is not None:
            return found
        if says_missing(value):
            return self._n_values
        if stops:
            raise SchemaError(
                f"column {self.name!r} has categories that the schema does not list; add them, "
                'or say outside = "other", "none" or "missing"'
            )
        return self.value_bins.unlisted

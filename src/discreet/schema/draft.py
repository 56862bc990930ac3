"""What a draft is: a schema with round cut points, and what a person should know when correcting it.

A person would have chosen such cut points: multiples of 1, 2 or 5 times a power of ten, evenly or by orders of magnitude.
Sums are of fractions: 0.1 + 0.2 would not be round, and the distance from -1e308 to 1e308 is no float.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from os import PathLike
from typing import NamedTuple

from .._utils.errors import SchemaError
from .._utils.escaping import closest, first_few
from .._utils.writing import write_whole
from . import Label, Schema
from .columns import Column, Ignored
from .columns.base import on_one_line
from .columns.numeric import MOST_CUTS

N_CUTS = 20  # of a column, where there are few
ALL_CUTS = 240  # of all columns together, so that a draw stays quick (docs/schema.md has seconds)
FEWEST_CUTS = 5
MOST_CLASSES = 20

HEADER = """\
# A draft, made from {source}. Read it, correct it, then use it.
#
# Everything in this file counts as public, and nothing protects it. So it must not have been made from the private
# table, nor from a part of it: a sample of the private records is private. If it was, write this file from a data
# dictionary instead; or put `inferred = true` on its first line, and no model will claim to be private.
"""
MANTISSAS = (range(1, 10), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))  # of logarithmic grids, finest first


class Drafted(NamedTuple):
    """One column as drafted: its facts, why (for a comment), and whether a person should look at it."""

    column: Column
    why: str = ""
    needs_review: bool = False
    description: str = ""  # of a data dictionary

    @classmethod
    def ignored(cls, name: str, why: str, needs_review: bool = True) -> "Drafted":
        """A column that is of no use."""
        return cls(Ignored(name), why, needs_review)

    @property
    def comment(self) -> str:
        """What stands above the column."""
        return "; ".join(filter(None, (self.description, self.why)))


@dataclass(frozen=True)
class Draft:
    """A schema to be read and corrected by a person.

    ``notes`` has a line for each thing to look at and the columns it is about, with names and types only;
    ``comments``, by column, is what stands above it in the TOML file.
    """

    schema: Schema
    notes: tuple[str, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    source: str = "a public sample"

    @classmethod
    def of(
        cls,
        drafted: list[Drafted],
        target: str | None,
        classes: tuple[Label, ...] | None,
        notes: list[str],
        source: str,
        kind_of_source: str,
        target_label: str = "",
        class_labels: Mapping[str, str] | None = None,
    ) -> "Draft":
        """The draft of these columns. A schema goes into every model, so it says of what kind its source is, and not its name."""
        if not drafted:
            raise SchemaError("there is no column but the target; a rule list needs others to tell the classes apart")
        columns, origin = [d.column for d in drafted], f"drafted from {kind_of_source}"
        schema = Schema(columns, target, classes, False, (), origin, target_label, class_labels or {})
        alike: dict[tuple[str, str], list[str]] = {}  # what is said of several columns is said once
        for d in drafted:
            if d.needs_review:
                alike.setdefault((d.column.kind, d.why), []).append(d.column.name)
        notes = notes + [f"{first_few(names)} ({kind}): {why}" for (kind, why), names in alike.items()]
        if not any(d.column.can_be_used for d in drafted):
            notes.append(
                "every column is ignored, so there is nothing to learn from: give some of them cuts or categories"
            )
        return cls(schema, tuple(notes), {d.column.name: d.comment for d in drafted if d.comment}, source)

    def to_toml(self) -> str:
        """The schema as TOML. It says what it was made from, and why columns are what they are."""
        return self.schema.to_toml(HEADER.format(source=on_one_line(self.source)), self.comments)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the TOML to a file."""
        write_whole(path, self.to_toml())


def check_target(target: str | None, names: list[str], what: str) -> None:
    """Raise, with a name that was perhaps meant, if the target is not a column."""
    if target is None or target in names:
        return
    if not isinstance(target, str):
        raise SchemaError("target must be the name of a column")
    meant = closest(target, names)
    ask = f"it has {first_few(names)}" if meant is None else f"did you mean {meant!r}?"
    raise SchemaError(f"target {target!r} is not a column of {what}; {ask}")


def cuts_each(n_cuts: int | None, n_columns: int) -> int:
    """How many cuts a numeric column may have: as the caller says, or fewer the more such columns there are."""
    if n_cuts is None:
        return max(FEWEST_CUTS, min(N_CUTS, ALL_CUTS // max(1, n_columns)))
    if isinstance(n_cuts, bool) or not isinstance(n_cuts, int) or not 1 <= n_cuts <= MOST_CUTS:
        raise SchemaError(f"n_cuts must be None or an integer from 1 to {MOST_CUTS}")
    return n_cuts


def even_cuts(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """At most so many multiples of one round step from ``low`` to below ``high``; if ``whole``, integers.

    >>> even_cuts(17.2, 79.9, most=9)
    [20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    >>> even_cuts(0.11, 0.31, most=4)
    [0.15, 0.2, 0.25, 0.3]
    """
    step = _step(low, high, most, whole)
    return _thinned(_floats(step * k for k in _multiples(low, high, step)), most)


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
    return _thinned(cuts, most)


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


def _thinned(cuts: Sequence[float], most: int) -> list[float]:
    """At most so many of them, spread over all."""
    if len(cuts) <= most:
        return list(cuts)
    return [cuts[(2 * i + 1) * len(cuts) // (2 * most)] for i in range(most)]

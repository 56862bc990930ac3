"""What a draft is: a schema with round cut points, and what a person should know when correcting it.

A person would have chosen such cut points: multiples of 1, 2 or 5 times a power of ten, evenly or by orders of magnitude.
Sums are of fractions: 0.1 + 0.2 would not be round, and the distance from -1e308 to 1e308 is no float.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from typing import NamedTuple

from ..._utils.errors import SchemaError
from ..._utils.escaping import closest, first_few
from ..._utils.writing import write_whole
from .. import Label, Schema
from ..columns import Column
from ..columns.numeric import MOST_CUTS
from ..schema import as_comment

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
MANTISSAS = (
    (1, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 2, 3, 5, 7),
    (1, 2, 5),
    (1, 3),
    (1,),
)  # of logarithmic grids, finest first


class Drafted(NamedTuple):
    """One column as drafted: its facts, why (for a comment), and whether a person should look at it."""

    column: Column
    why: str = ""
    needs_review: bool = False
    description: str = ""  # of a data dictionary

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

    def to_toml(self) -> str:
        """The schema as TOML. It says what it was made from, and why columns are what they are."""
        return self.schema.to_toml(HEADER.format(source=as_comment(self.source)), self.comments)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the TOML to a file."""
        write_whole(path, self.to_toml())


def put_together(
    drafted: list[Drafted],
    target: str | None,
    classes: tuple[Label, ...] | None,
    notes: list[str],
    source: str,
    kind_of_source: str,
    target_label: str = "",
    class_labels: Mapping[str, str] | None = None,
) -> Draft:
    """The draft of these columns. A schema goes into every model, so it says of what kind its source is, and not its name."""
    if not drafted:
        raise SchemaError("there is no column but the target; a rule list needs others to tell the classes apart")
    columns = tuple(d.column for d in drafted)
    schema = Schema(
        columns,
        target,
        classes,
        source=f"drafted from {kind_of_source}",
        target_label=target_label,
        class_labels={} if class_labels is None else class_labels,
    )
    alike: dict[tuple[str, str], list[str]] = {}  # what is said of several columns is said once
    for d in drafted:
        if d.needs_review:
            alike.setdefault((d.column.kind, d.why), []).append(d.column.name)
    notes = notes + [f"{first_few(names)} ({kind}): {why}" for (kind, why), names in alike.items()]
    if not any(d.column.can_be_used for d in drafted):
        notes.append("every column is ignored, so there is nothing to learn from: give some of them cuts or categories")
    return Draft(schema, tuple(notes), {d.column.name: d.comment for d in drafted if d.comment}, source)


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
    return _thinned(_floats(step * k for k in range(_up(low, step), _up(high, step))), most)


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
    return _float(step * _down(low, step)), _float(step * _up(high, step))


def _step(low: float, high: float, most: int, whole: bool) -> Fraction:
    """The smallest round step with at most ``most`` multiples, and one at least, from low to below high."""
    distance = Fraction(high) - Fraction(low)
    steps = _round_numbers(math.floor(_log10(distance / (most + 1))) - 1)
    found = None
    for step in steps:
        if whole and step < 1:
            continue
        count = _up(high, step) - _up(low, step)
        if found is not None and count < 1:
            return found  # a larger one would have none: take one that has too many, which are thinned
        found = step
        if count <= most:
            return step
    raise AssertionError("round numbers do not end")


def _round_numbers(exponent: int) -> Iterator[Fraction]:
    while True:
        yield from (Fraction(m) * Fraction(10) ** exponent for m in (1, 2, 5))
        exponent += 1


def _log10(x: Fraction) -> float:
    return (math.log(x.numerator) - math.log(x.denominator)) / math.log(10)


def _up(x: float, step: Fraction) -> int:
    return math.ceil(Fraction(x) / step)


def _down(x: float, step: Fraction) -> int:
    return math.floor(Fraction(x) / step)


def _float(x: Fraction) -> float | None:
    try:
        return float(x) + 0.0
    except OverflowError:
        return None


def _floats(numbers: Iterator[Fraction]) -> list[float]:
    """As floats, each once: numbers that differ by less than floats can tell are one."""
    return sorted({x for number in numbers if (x := _float(number)) is not None})


def _thinned(cuts: Sequence[float], most: int) -> list[float]:
    """At most so many of them, spread over all."""
    if len(cuts) <= most:
        return list(cuts)
    return [cuts[(2 * i + 1) * len(cuts) // (2 * most)] for i in range(most)]

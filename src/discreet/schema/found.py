"""From noisy counts of columns to a schema: what looks like more than noise decides. Nothing here sees a record.

A column is of texts if more of them stand out than numbers. Cut points of a column of numbers have about as many records
between them, as far as the noisy counts tell, and are round; within a bin the records are taken to be spread evenly. Where most
of them are in few bins that are wide, such as years between 1000 and 2000, a closer look at these is asked for.
"""

import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

import numpy as np
import numpy.typing as npt

from .._utils.days import as_day, day_at
from .._utils.errors import SchemaError
from . import Label
from .columns import Boolean, Categorical, Column, Date, Ignored, Numeric
from .columns.base import LONGEST_LABEL
from .columns.categorical import MOST_DRAFTED
from .columns.dates import round_days
from .columns.numeric import even_cuts
from .columns.seen import is_named_identifier
from .columns.unknown import DATES, EDGES, NEW_YEARS, TEXTS
from .columns.values import whole_of

Noisy = npt.NDArray[np.int64]
Stretch = tuple[float, float, float]  # above which number, up to which, and how many records are there, by noisy counts
CROWDED = 0.4  # of a column's records, in one bin: worth a closer look
WELL_FILLED = 0.08  # and then also at bins with so many
CELLS = 50  # of such a bin
CONFIRMED = 0.6  # of the records of the first look must stand out in the closer one, or the first one is kept
MOST_WHOLE = 0.1  # of the numbers may look like no integers, if the column is one of integers


@dataclass(frozen=True)
class Look:
    """What a column looks like: "texts", "numbers", "dates" (stretches are of days), or "" if nothing stands out."""

    name: str
    kind: str
    missing: bool = False
    whole: bool = False
    stretches: tuple[Stretch, ...] = ()
    close: bool = False  # whether it was looked at closely

    @property
    def is_one_value(self) -> bool:
        """Whether all that stands out is, as far as can be told, one number."""
        first, *others = [(low, high) for low, high, mass in self.stretches if mass]
        width = first[1] - first[0]
        return not others and (self.close or not math.isfinite(width) or width <= self.whole)

    @property
    def is_identifier(self) -> bool:
        """Whether it is called one, and each record can have an integer of its own there."""
        if self.kind != "numbers" or not self.whole or not is_named_identifier(self.name):
            return False
        return self.stretches[-1][1] - self.stretches[0][0] > sum(mass for *_, mass in self.stretches) / 2

    def filled(self, share: float) -> list[Stretch]:
        """The stretches that so many of the records are in, though there is room for more cuts."""
        least = share * sum(mass for *_, mass in self.stretches)
        return [
            (low, high, mass)
            for low, high, mass in self.stretches
            if mass > least and math.isfinite(high - low) and high - low > self.whole
        ]


def look_at(name: str, noisy: Noisy, stands_out: int) -> Look:
    """What a noisy histogram by the bins of ``Unknown`` says."""
    noisy = np.where(noisy >= stands_out, noisy, 0)
    texts, numbers, dates, missing = noisy[TEXTS], noisy[TEXTS + 1 : DATES], noisy[DATES:-1], bool(noisy[-1])
    if dates.sum() > max(texts, numbers.sum()):
        others_are = texts + numbers.sum() > 0
        return Look(name, "dates", missing or others_are, stretches=_stretches(map(as_day, NEW_YEARS), dates))
    whole, others = numbers[0::2], numbers[1::2]
    if texts > numbers.sum():
        return Look(name, "texts", missing)  # numbers and dates among them are categories, too
    if not numbers.any():
        return Look(name, "", missing)
    is_whole = others.sum() <= MOST_WHOLE * numbers.sum()
    others_are = texts + dates.sum() > 0
    return Look(name, "numbers", missing or bool(others_are), bool(is_whole), _stretches(EDGES, whole + others))


def _stretches(edges: Iterable[float], counts: Noisy) -> tuple[Stretch, ...]:
    """Between the edges, from the first number that stands out to the last."""
    ends, there = (-math.inf, *edges, math.inf), np.flatnonzero(counts)
    return tuple((ends[i], ends[i + 1], float(counts[i])) for i in range(there[0], there[-1] + 1))


def closer(look: Look) -> Numeric | None:
    """The bins of a closer look, if one is worth its price."""
    if look.kind != "numbers" or not look.filled(CROWDED):
        return None
    cuts = {end for stretch in look.stretches for end in stretch[:2] if math.isfinite(end)}
    for low, high, _ in look.filled(WELL_FILLED):
        cuts |= set(even_cuts(low, high, CELLS, look.whole))
    return Numeric(look.name, cuts=sorted(cuts))


def looked_closer(look: Look, bins: Numeric, noisy: Noisy, stands_out: int) -> Look:
    """With the numbers where they stand out in a closer look, if most of them do."""
    mass = np.where(noisy[:-1] >= stands_out, noisy[:-1], 0)
    if mass.sum() < CONFIRMED * sum(mass for *_, mass in look.stretches):
        return look
    return replace(look, stretches=_stretches(bins.cuts, mass), close=True)


def column_of(look: Look, texts: Mapping[str, int], most: int) -> Column:
    """The column, with about so many cuts; ignored if nothing was found."""
    if look.kind == "texts":
        frequent = nlargest(
            MOST_DRAFTED, (text for text in texts if _can_be_listed(look.name, text)), key=texts.__getitem__
        )
        if not (listed := [text for text in texts if text in frequent]):
            return Ignored(look.name)
        return Categorical(look.name, look.missing, listed, outside="other")
    if look.kind == "dates":
        days = days_by(look.stretches, most)
        return Date(look.name, look.missing, days) if days else Ignored(look.name)
    if look.whole and {high for _, high, mass in look.stretches if mass} == {0.0, 1.0}:
        return Boolean(look.name, look.missing)
    if look.kind != "numbers" or look.is_one_value or look.is_identifier:
        return Ignored(look.name)
    cuts = cuts_by(look.stretches, most, look.whole)
    return Numeric(look.name, look.missing, cuts=cuts) if cuts else Ignored(look.name)


def cuts_by(stretches: Sequence[Stretch], most: int, whole: bool) -> list[float]:
    """Round cuts, about as many records between each two; between the first number and the last that stand out.

    >>> cuts_by([(10, 20, 100.0), (20, 50, 700.0), (50, 100, 200.0)], most=9, whole=True)
    [20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0]
    """
    cuts = _shared_out(stretches, most, lambda low, high, n: even_cuts(low, high, n, whole))
    # few records are beyond these, but the tails may matter most, such as gains above 10,000
    below, above = min(cuts, default=math.inf), max(cuts, default=-math.inf)
    ends = {end for low, high, mass in stretches if mass for end in (low, high)}
    cuts |= {end for end in ends if end in EDGES and not below <= end <= above}
    if whole:
        cuts = {float(math.floor(cut)) if math.isfinite(cut) else cut for cut in cuts}
    first, last = stretches[0][0], stretches[-1][1]
    inside = sorted(cut for cut in cuts if first < cut < last)
    return inside or [cut for cut in (first, last) if math.isfinite(cut)][:1]


def days_by(stretches: Sequence[Stretch], most: int) -> list[datetime.date]:
    """Round days with about as many records between each two, as ``cuts_by``."""
    cuts = _shared_out(stretches, most, lambda low, high, n: map(as_day, round_days(day_at(low), day_at(high - 1), n)))
    first, last = stretches[0][0], stretches[-1][1]
    return [day_at(cut) for cut in sorted(cuts) if first < cut < last]


def _shared_out(
    stretches: Sequence[Stretch], most: int, between: Callable[[float, float, int], Iterable[float]]
) -> set[float]:
    """Ends of stretches and, ``between`` those with many records, so many cuts."""
    each = sum(mass for *_, mass in stretches) / (most + 1)
    cuts, since = set[float](), 0.0
    for low, high, mass in stretches:
        if (n := round(mass / each)) > 1 and math.isfinite(high - low):
            cuts |= {low, *between(low, high, n - 1)}
        since += mass
        if since >= each:
            cuts.add(high)
            since = 0.0
    return cuts


def classes_of(texts: Sequence[str]) -> tuple[Label, ...]:
    """The classes of a target: integers if all texts are such.

    >>> classes_of(["10", "9"]), classes_of(["no", "yes"])
    ((9, 10), ('no', 'yes'))
    """
    listed = [text for text in texts if _can_be_listed("the target", text)]
    whole = [number for text in listed if (number := whole_of(text)) is not None]
    return tuple(sorted(whole)) if len(whole) == len(listed) else tuple(sorted(listed))


def _can_be_listed(name: str, text: str) -> bool:
    """Whether a schema file can name it."""
    try:
        Categorical(name, categories=[text])
        text.encode()
    except (SchemaError, UnicodeError):
        return False
    return len(text) <= LONGEST_LABEL and text.isprintable()

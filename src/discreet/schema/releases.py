"""What was spent on a schema, or on a part of it, that was found in private records with noise."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._utils.errors import SchemaError
from .._utils.parameters import LARGEST_NUMBER, as_written
from .columns.base import require

LARGEST_EPSILON = 10**9
LONGEST_NAME = 200
FRACTION = re.compile("[0-9]{1,60}/[1-9][0-9]{0,60}", re.ASCII)
SAYS = (
    "a release in [released] must have a name and an epsilon above 0, and may have a delta in [0, 1), both as numbers or as "
    "fractions ('1/30'), and records_per_person, an integer of at least 1"
)


@dataclass(frozen=True)
class SchemaRelease:
    """One release that the schema, or a part of it, rests on: what it cost a person with up to so many records.

    >>> SchemaRelease("schema-1f3a", 0.2, 1e-9).to_dict()
    {'epsilon': 0.2, 'delta': 1e-09}
    """

    name: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    records_per_person: int = 1

    def __post_init__(self) -> None:
        k = self.records_per_person
        object.__setattr__(self, "epsilon", _amount(self.epsilon))
        object.__setattr__(self, "delta", _amount(self.delta))
        require(isinstance(self.name, str) and 0 < len(self.name) <= LONGEST_NAME, SAYS)
        require(0 < self.epsilon <= LARGEST_EPSILON and 0 <= self.delta < 1, SAYS)
        require(isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= LARGEST_NUMBER, SAYS)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a file, under its name. Defaults are left out."""
        data = {"epsilon": _written(self.epsilon)}
        data |= {"delta": _written(self.delta)} if self.delta else {}
        return data | ({"records_per_person": self.records_per_person} if self.records_per_person > 1 else {})


def read_releases(data: Any) -> tuple[SchemaRelease, ...]:
    """What ``to_dict`` made, by name. What is not understood here would be left out of a statement, so it is refused."""
    require(isinstance(data, Mapping) and all(isinstance(one, Mapping) for one in data.values()), SAYS)
    try:
        return tuple(SchemaRelease(name, **one) for name, one in data.items())
    except TypeError:
        raise SchemaError(SAYS) from None


def checked_releases(given: Any) -> tuple[SchemaRelease, ...]:
    """Those of a schema, each name once."""
    found = tuple(given) if isinstance(given, Iterable) else (None,)
    require(all(isinstance(one, SchemaRelease) for one in found), "released must hold SchemaRelease objects")
    require(len({one.name for one in found}) == len(found), "[released] names a release twice")
    return found


def check_records(releases: Iterable[SchemaRelease], records: int) -> None:
    """Refuse what was not released for people with so many records. For k times as many the pair does not follow."""
    for one in checked_releases(releases):
        if one.records_per_person < records:
            raise SchemaError(
                f"the schema was found for people with up to {one.records_per_person} records (release {one.name!r}), and "
                f"records_per_person is {records}: what it cost people with more records does not follow. Use another schema, "
                "or a smaller records_per_person"
            )


def _amount(given: Any) -> Fraction:
    """Exactly: 0.1 is 1/10. A fraction of which no decimal is exact is a string in a file."""
    if isinstance(given, str) and FRACTION.fullmatch(given):
        given = Fraction(given)
    number = isinstance(given, int | float | Fraction) and not isinstance(given, bool)
    require(number and abs(given) <= LARGEST_EPSILON and math.isfinite(given), SAYS)
    exact = as_written(given)
    require(isinstance(_written(exact), float) or FRACTION.fullmatch(str(exact)) is not None, SAYS)
    return exact


def _written(amount: Fraction) -> float | str:
    return float(amount) if as_written(float(amount)) == amount else str(amount)

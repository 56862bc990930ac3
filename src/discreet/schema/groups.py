"""Groups of records by one column: its bins, which the schema says, with names for people."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from .._utils.errors import SchemaError
from .._utils.parameters import finite_number
from .columns import Column
from .columns.values import NumberBins, TextBins

MISSING = "missing"


class ColumnGroups(NamedTuple):
    """The names of groups, and the number of the group that each bin of a column is in.

    All values that the schema does not foresee are in one group more, which has no name.
    """

    names: tuple[str, ...]
    of_bin: tuple[int, ...]
    called: tuple[str, ...]  # what people call them: by the labels of categories and truth values


def groups_of(column: Column, cuts: Sequence[float] | None = None) -> ColumnGroups:
    """The groups of a column: those that its tests can tell apart or, of numbers, those that only these of its cuts do.

    >>> from discreet.schema.columns import Boolean, Categorical, Numeric
    >>> groups_of(Numeric("age", cuts=[30, 40, 50], missing=True), [40])
    ColumnGroups(names=('<= 40', '> 40', 'missing'), of_bin=(0, 0, 1, 1, 2), called=('<= 40', '> 40', 'missing'))
    >>> groups_of(Categorical("job", categories=["clerk", "boss"], outside="none")).names
    ('clerk', 'boss', 'any other')
    >>> groups_of(Boolean("member", labels={"true": "a member"}))
    ColumnGroups(names=('false', 'true'), of_bin=(0, 1, 2), called=('false', 'a member'))
    """
    if not column.can_be_used:
        raise SchemaError(
            f"column {column.name!r} is ignored, or excluded, so the schema does not say which groups it has; give another "
            "schema that describes it, as schema= (--schema)"
        )
    bins, n_values = column.value_bins, column.n_bins - 1
    names: dict[int, str] = {}  # of bins, in the order in which they are shown
    labels: dict[int, str] = {}
    if isinstance(bins, NumberBins) and (cuts is None or type(bins) is NumberBins):
        names = _names_of_numbers(column, bins, cuts)
    elif cuts is not None:
        raise SchemaError(f"column {column.name!r} is {column.kind}: only groups of numbers can have cuts")
    else:
        texts: dict[int, list[str]] = {}
        for text, place in (bins.bin_of if isinstance(bins, TextBins) else {"false": 0, "true": 1}).items():
            texts.setdefault(place, []).append(text)
        names = {place: ", ".join(some) for place, some in texts.items()}
        labels = {place: ", ".join(column.value_label(text) or text for text in some) for place, some in texts.items()}
        names |= {place: "any other" for place in range(n_values) if place not in names}
    names[n_values] = MISSING
    # bins that no cut divides are one group, by its name
    foreseen = [place for place in names if column.domain[place]]
    group_of = {p: p if cuts is None or p == n_values else names[p] for p in foreseen}
    number = {group: i for i, group in enumerate(dict.fromkeys(group_of.values()))}
    of_bin = tuple(number[group_of[p]] if p in group_of else len(number) for p in range(column.n_bins))
    first = {of_bin[place]: place for place in reversed(foreseen)}
    shown = [first[i] for i in range(len(number))]
    return ColumnGroups(tuple(names[p] for p in shown), of_bin, tuple(labels.get(p, names[p]) for p in shown))


def _names_of_numbers(column: Column, bins: NumberBins, cuts: Sequence[float] | None) -> dict[int, str]:
    """From where to where each bin goes; with some of the cuts only, the group that it is in."""
    ends: list[tuple[str, float] | None] = list(bins.ends)
    if cuts is not None:
        wanted = [("<=", finite_number(f"a cut of column {column.name!r}", cut)) for cut in cuts]
        for _, cut in (end for end in wanted if end not in ends):
            near = sorted((edge for sign, edge in bins.ends if sign == "<="), key=lambda edge: abs(edge - cut))[:2]
            hint = f"; near it are {' and '.join(f'{edge:g}' for edge in sorted(near))}" if len(near) == 2 else ""
            raise SchemaError(
                f"column {column.name!r} has no cut {cut:g} in the schema, so groups cannot end there{hint}"
            )
        ends = [end if end in wanted else None for end in ends]
    names = {}
    for place in range(len(ends) + 1):
        below = next((end for end in reversed(ends[:place]) if end is not None), None)
        above = next((end for end in ends[place:] if end is not None), None)
        low = "" if below is None else f"{'>' if below[0] == '<=' else '>='} {_said(bins.as_value(below[1]))}"
        high = "" if above is None else f"{above[0]} {_said(bins.as_value(above[1]))}"
        names[bins.first + place] = " and ".join(filter(None, (low, high))) or f"any {bins.types[0]}"
    return names


def _said(end: float | date) -> str:
    return end.isoformat() if isinstance(end, date) else f"{end:g}"

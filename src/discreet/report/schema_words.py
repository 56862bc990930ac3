"""The schema that a model rests on, in words: what could be asked of each column, and where that came from."""

from dataclasses import dataclass

from ..rules.text import write_number
from ..schema import Schema
from ..schema.columns import Column, Value

_LEAD = {"<=": "cut at", "<": "cut below", ">=": "cut from", ">": "cut above", "=": "is one of", "in": "ranges"}
_SPACING = {"equal": "evenly", "log": "by orders of magnitude"}
_OUTSIDE = {
    "clip": "values beyond the bounds count as the bound",
    "missing": "other values count as missing",
    "other": "other values count as other",
    "none": "other values are in no category",
    "error": "other values are an error",
}
NO_SOURCE = (
    "The schema does not say where its cut points and categories came from. The promise assumes that they were written "
    "without a look at the records."
)


@dataclass(frozen=True)
class Asked:
    """What tests of one kind compare with: ``cut at`` and the numbers, ``is one of`` and the categories."""

    lead: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnFacts:
    """A column of the schema: its name, its label ("" if it has none), its type, what can be asked, and what else is said."""

    name: str
    label: str
    kind: str
    asked: tuple[Asked, ...]
    notes: tuple[str, ...]


def facts_of(column: Column) -> ColumnFacts:
    """What a schema says of a column.

    >>> from discreet import Numeric
    >>> facts_of(Numeric("age", cuts=[25, 45], low=0, high=100)).asked
    (Asked(lead='cut at', values=('25', '45')),)
    """
    asked: dict[str, list[str]] = {}
    for op, value in column.tests():
        if op == "is missing":
            continue
        lead = _LEAD.get(op, "is true or false" if op == "is true" else op)
        asked.setdefault(lead, []).extend([] if value is None else [_said(column, value)])
    if "is true or false" in asked:
        words = [column.value_label(word) for word in ("true", "false")]
        asked["is true or false"] = [
            f"{word}: {label}" for word, label in zip(("true", "false"), words, strict=True) if label
        ]
    made = tuple(Asked(lead, tuple(values)) for lead, values in asked.items())
    return ColumnFacts(column.name, column.label, column.kind, made, _notes(column))


def _said(column: Column, value: Value) -> str:
    if isinstance(value, tuple):
        return f"{write_number(value[0])} to {write_number(value[1])}"
    if isinstance(value, float):
        return write_number(value)
    label = column.value_label(value)
    said = str(value) if label is None else f"{label} ({value})"
    members = dict(getattr(column, "groups", ())).get(str(value))
    return f"{said}: {', '.join(column.value_label(m) or str(m) for m in members)}" if members else said


def _notes(column: Column) -> tuple[str, ...]:
    notes = []
    low, high = getattr(column, "low", None), getattr(column, "high", None)
    if low is not None and high is not None:
        notes.append(f"from {write_number(low)} to {write_number(high)}")
    if (n_cuts := getattr(column, "n_cuts", None)) is not None:
        spread = _SPACING.get(getattr(column, "spacing", ""), "")
        notes.append(f"{n_cuts} of the cuts were spread {spread} between the bounds")
    outside = getattr(column, "outside", None)
    if outside in _OUTSIDE and (outside != "clip" or low is not None or high is not None):
        notes.append(_OUTSIDE[outside])
    if column.can_be_missing:
        notes.append("may be missing, which can be asked")
    return tuple(notes)


def origin_of(schema: Schema) -> tuple[str, ...]:
    """Where it came from, as sentences. What its author says is not among them: it may be anything."""
    said = []
    if schema.inferred:
        said.append("It was made from the records themselves: no promise covers what it shows about them.")
    if schema.released:
        names = ", ".join(f"{name} (epsilon {float(epsilon):g})" for name, epsilon in schema.released)
        said.append(
            f"Cut points were computed from the records with differential privacy, which the promise counts: {names}."
        )
    if not schema.source and not schema.inferred:
        said.append(NO_SOURCE)
    return tuple(said)

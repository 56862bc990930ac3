"""The columns of the table, and the schema that a model rests on: everything that was decided before a record was read."""

from collections.abc import Sequence

from .._utils.html import heads, items, name, plain, row, table
from ..models.display.summary import Summary
from ..rules.text import write_number
from ..schema import Schema
from ..schema.columns import Column, Value

MOST_VALUES = 40  # more of a column's cuts or categories are left to the model's file
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


def asked_of(column: Column) -> dict[str, list[str]]:
    """What a schema lets one ask of a column: what tests of one kind begin with, and what they compare with.

    >>> from discreet import Numeric
    >>> asked_of(Numeric("age", cuts=[25, 45], low=0, high=100))
    {'cut at': ['25', '45']}
    """
    asked: dict[str, list[str]] = {}
    for op, value in column.tests():
        if op == "is true":
            labels = {word: column.value_label(word) for word in ("true", "false")}
            asked["is true or false"] = [f"{word}: {label}" for word, label in labels.items() if label]
        elif op != "is missing":
            asked.setdefault(_LEAD.get(op, op), []).extend([] if value is None else [_said(column, value)])
    return asked


def _said(column: Column, value: Value) -> str:
    if isinstance(value, tuple):
        return f"{write_number(value[0])} to {write_number(value[1])}"
    if isinstance(value, float):
        return write_number(value)
    label = column.value_label(value)
    said = str(value) if label is None else f"{label} ({value})"
    members = dict(getattr(column, "groups", ())).get(str(value))
    return f"{said}: {', '.join(column.value_label(m) or str(m) for m in members)}" if members else said


def notes_of(column: Column) -> list[str]:
    """What else a schema says of a column."""
    notes, outside = [], getattr(column, "outside", None)
    low, high = getattr(column, "low", None), getattr(column, "high", None)
    if low is not None and high is not None:
        notes.append(f"from {write_number(low)} to {write_number(high)}")
    if (n_cuts := getattr(column, "n_cuts", None)) is not None:
        spacing = getattr(column, "spacing", "")
        notes.append(f"{n_cuts} of the cuts were spread {_SPACING.get(spacing, '')} between the bounds")
    if outside in _OUTSIDE and (outside != "clip" or low is not None or high is not None):
        notes.append(_OUTSIDE[outside])
    return [*notes, "may be missing, which can be asked"] if column.can_be_missing else notes


def origin_of(schema: Schema) -> tuple[str, ...]:
    """Where it came from, as sentences. What its author says is not among them: it may be anything."""
    said = []
    if schema.inferred:
        said.append("It was made from the records themselves: no promise covers what it shows about them.")
    if schema.released:
        names = ", ".join(f"{name} (epsilon {float(epsilon):g})" for name, epsilon in schema.released)
        counted = "Cut points were computed from the records with differential privacy, which the promise counts"
        said.append(f"{counted}: {names}.")
    if not schema.source and not schema.inferred:
        said.append(NO_SOURCE)
    return tuple(said)


def labels_of(schema: Schema) -> list[tuple[str, str]]:
    """What the target and classes are called in files, and their labels, where they have some."""
    target = [(schema.target or "", schema.target_label)] if schema.target_label else []
    return [*target, *dict(schema.class_labels).items()]


def columns(s: Summary) -> str:
    """Which columns rules or tests use, which they could have used, and which were kept out."""
    if not any(s.columns.values()):
        return "<p>The model says nothing about columns: it uses none.</p>"
    parts = []
    if s.model.schema is not None and s.model.schema.inferred:
        parts.append(
            '<p class="loud"><strong>The schema was made from the records.</strong> Its columns, cut points and categories were '
            "read off them, so that they may show something about single people. No promise covers this. Write a schema from a "
            "data dictionary instead.</p>"
        )
    groups = {
        "used": (f"Used by {s.unit}s", "used"),
        "offered": ("Could have been used", ""),
        "excluded": ("Kept out on request", "out"),
        "ignored": ("Ignored by the schema", "out"),
    }
    for role, (title, css) in groups.items():
        if names := s.columns[role]:
            parts.append(f'<h3>{title}</h3><ul class="chips {css}">{items(map(name, names))}</ul>')
        elif role == "used":
            parts.append(f"<h3>{title}</h3><p>No {s.unit} uses a column.</p>")
    if s.columns["excluded"] or s.columns["ignored"]:
        parts.append(
            f"<p>No {s.unit} can read a column that was kept out. Other columns may still tell much of the same: a "
            "neighbourhood stands in for an income, a job for a gender.</p>"
        )
    return "".join(parts)


def schema(s: Summary) -> str:
    """What could be asked of each column, and where that came from."""
    schema = s.model.schema
    if schema is None:
        return "<p>The model has no schema: it asks nothing.</p>"
    source = f"<p>Its author says where it came from: {name(schema.source)}.</p>" if schema.source else ""
    origin = "".join(f"<p>{plain(sentence)}</p>" for sentence in origin_of(schema))
    rows = []
    for column in schema.columns:
        in_table = name(column.name).replace("_", "_<wbr>")  # no tag or entity has one
        called = f"{name(column.label)}<br><code>{in_table}</code>" if column.label else in_table
        asked = "<br>".join(_asked(lead, values) for lead, values in asked_of(column).items())
        notes = plain("; ".join(notes_of(column)))
        said = (asked or "nothing: it is not used") + (f'<br><span class="soft">{notes}</span>' if notes else "")
        rows.append(row(called, plain(column.kind), said))
    caption = "All that could be asked of a record, fixed before the model was learned"
    drawn = table("The schema", caption, heads("Column", "Type", "What could be asked"), rows)
    labels = ""
    if named := labels_of(schema):
        listed = items(f"{name(label)} is <code>{name(text)}</code>" for text, label in named)
        lead = "The model's file and its code have the names of the table, not labels:"
        labels = f"<h3>In files and code</h3><p>{lead}</p><ul>{listed}</ul>"
    return f"{source}{origin}{drawn}{labels}"


def _asked(lead: str, values: Sequence[str]) -> str:
    shown = ", ".join(name(value, "value") for value in values[:MOST_VALUES])
    more = len(values) - MOST_VALUES
    return f"{plain(lead)} {shown}" + (f" and {more} more, which the model's file has" if more > 0 else "")

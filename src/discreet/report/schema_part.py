"""The schema that a model rests on, as a table: everything that was decided before a record was read."""

from .._utils.html import name, plain, wide
from ..models.display.summary import Summary
from .schema_words import Asked, facts_of, origin_of

MOST_VALUES = 40  # more of a column's cuts or categories are left to the model's file


def schema(s: Summary) -> str:
    """What could be asked of each column, and where that came from."""
    if s.schema is None:
        return "<p>The model has no schema: it asks nothing.</p>"
    source = f"<p>Its author says where it came from: {name(s.schema.source)}.</p>" if s.schema.source else ""
    origin = "".join(f"<p>{plain(sentence)}</p>" for sentence in origin_of(s.schema))
    rows = []
    for column in s.schema.columns:
        facts = facts_of(column)
        in_table = name(facts.name).replace("_", "_<wbr>")  # no tag or entity has one
        called = in_table if not facts.label else f"{name(facts.label)}<br><code>{in_table}</code>"
        asked = "<br>".join(map(_asked, facts.asked)) or "nothing: it is not used"
        notes = f'<br><span class="soft">{plain("; ".join(facts.notes))}</span>' if facts.notes else ""
        rows.append(f'<tr><th scope="row">{called}</th><td>{plain(facts.kind)}</td><td>{asked}{notes}</td></tr>')
    table = wide(
        "<caption>All that could be asked of a record, fixed before the model was learned</caption>"
        '<thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">What could be asked</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        "The schema",
    )
    return f"{source}{origin}{table}{_classes(s)}"


def _asked(asked: Asked) -> str:
    shown = ", ".join(name(value, "value") for value in asked.values[:MOST_VALUES])
    more = len(asked.values) - MOST_VALUES
    return f"{plain(asked.lead)} {shown}" + (f" and {more} more, which the model's file has" if more > 0 else "")


def _classes(s: Summary) -> str:
    """Where classes or the target have labels: what they are called in files and code."""
    assert s.schema is not None
    labels = [(s.schema.target_label, s.schema.target or "")] if s.schema.target_label else []
    labels += [(label, text) for text, label in s.schema.class_labels]
    if not labels:
        return ""
    items = "".join(f"<li>{name(label)} is <code>{name(text)}</code></li>" for label, text in labels)
    lead = "The model's file and its code have the names of the table, not labels:"
    return f"<h3>In files and code</h3><p>{lead}</p><ul>{items}</ul>"

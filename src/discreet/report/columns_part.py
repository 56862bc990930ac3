"""The columns of the table, by what became of them."""

from .._utils.html import name
from ..models.display.summary import Summary


def columns(s: Summary) -> str:
    """Which columns rules or tests use, which they could have used, and which were kept out."""
    if not s.columns:
        return "<p>The model says nothing about columns: it uses none.</p>"
    parts = []
    if s.inferred:
        parts.append(
            '<p class="loud"><strong>The schema was made from the records.</strong> Its columns, cut points and '
            "categories were read off them, so that they "
            "may show something about single people. No promise covers this. Write a schema from a data "
            "dictionary instead.</p>"
        )
    groups = (
        ("used", f"Used by {s.unit}s", "used", f"No {s.unit} uses a column."),
        ("offered", "Could have been used", "", ""),
        ("excluded", "Kept out on request", "out", ""),
        ("ignored", "Ignored by the schema", "out", ""),
    )
    for role, title, css, nothing in groups:
        names = [c.name for c in s.columns if c.role == role]
        chips = "".join(f"<li>{name(n)}</li>" for n in names)
        if names:
            parts.append(f'<h3>{title}</h3><ul class="chips {css}">{chips}</ul>')
        elif nothing:
            parts.append(f"<h3>{title}</h3><p>{nothing}</p>")
    if any(c.role in ("excluded", "ignored") for c in s.columns):
        parts.append(
            f"<p>No {s.unit} can read a column that was kept out. Other columns may still tell much of the same: a "
            "neighbourhood stands in for an "
            "income, a job for a gender.</p>"
        )
    return "".join(parts)

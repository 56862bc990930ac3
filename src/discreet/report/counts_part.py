"""What is said about released counts, of rules and of leaves alike."""

from .._utils.html import name, plain
from ..models.display.summary import CONFIDENCE, Summary
from ..models.display.wording import colour, percent


def legend(s: Summary, also: str = "") -> str:
    """The colours of the classes."""
    keys = "".join(f'<li><span class="key {colour(i)}"></span>{name(label)}</li>' for i, label in enumerate(s.classes))
    return f'<ul class="legend" aria-label="Colours">{keys}{also}</ul>'


def counts_are(s: Summary) -> str:
    """What a table of counts is called."""
    return "Counts as released" if s.statement is not None else "Exact counts"


def no_counts(s: Summary, part: str) -> str:
    """What cannot be said without counts. ``part`` is "rule" or "leaf"."""
    if s.has_shares:
        return f"<p>This model released no class counts, so how many records each {part} takes cannot be said.</p>"
    return (
        f"<p>This model released no class counts, so how many records each {part} takes, and how sure it is, "
        "cannot be said. "
        "Nobody can read it off the model either.</p>"
    )


def noise(s: Summary, part: str) -> str:
    """How far off the counts are."""
    if s.statement is None:
        return f"<p>These are exact counts, straight from the records.</p>{decisions(s, part)}"
    if s.margin is None:
        return "<p>Counts were released with noise, so they are not exact and may be below zero.</p>" + decisions(
            s, part
        )
    return (
        f"<p>Counts were released with noise. Each is off by at most <b>{s.margin:,}</b> "
        f"in {CONFIDENCE:.0%} of "
        "all cases: the table has this interval below each of them, and it covers the noise alone. Where the noise is larger "
        f"than a count, that may be below zero.</p>{decisions(s, part)}"
    )


def decisions(s: Summary, part: str) -> str:
    """That a label need not be the most frequent class, where one is not."""
    if not any(step.reason for step in s.steps):
        return ""
    odds = (
        "its probability is the share of the counts all the same."
        if s.weighted
        else "as a probability it gets at least that of the largest class."
    )
    return (
        f"<p>A label is a decision: at a {plain(part)} with a reason beside its records, another class has the larger count. "
        f"The counts are as released; {odds}</p>"
    )


def right(s: Summary) -> str:
    """How often the model is right, by its own counts."""
    if s.right is None:
        return ""
    return (
        f"<p>By these counts the {plain(s.short_kind)} gives the right answer for about <b>{percent(s.right)}</b> of the "
        "records that it was learned "
        "from. On new records it may do worse.</p>"
    )

"""The report as one HTML file: nothing to load, nothing sent, readable on a phone, on paper and aloud.

Names and values in a model may be anything, so every string goes through ``plain`` of _utils/html.py.
"""

from dataclasses import dataclass, fields
from datetime import date as calendar_day
from typing import Any

from .._utils.errors import ModelError
from .._utils.html import document, heads, items, name, page_css, plain, row, table
from ..accounting.summary import LedgerSnapshot
from ..models.display.summary import Summary, summarize
from ..models.display.wording import bound, epsilon_text, number, percent, sentence
from ..schema.columns.base import checked_text
from .model_part import depth_of, division, kind_of, noun
from .sections import SECTIONS, beside

LONGEST = 2_000
DAYS = ("learned", "date")
NAMES_IN_TILE = 3


@dataclass(frozen=True)
class Particulars:
    """What the data holder states about a release. Nothing is guessed: what is not given is shown as not given.

    All are strings of one line; ``learned`` and ``date``, on which the model was learned and released, are days (2026-11-17).
    ``schema_source`` is who drafted the schema, and from which sample or codebook; ``evaluation_table`` what records the model
    was measured on.

    >>> Particulars(table_name="Admissions 2025", date="2026-11-17").organisation
    ''
    """

    table_name: str = ""
    organisation: str = ""
    contact: str = ""
    purpose: str = ""
    licence: str = ""
    learned: str = ""
    date: str = ""
    schema_source: str = ""
    evaluation_table: str = ""

    def __post_init__(self) -> None:
        for entry in fields(self):
            text = checked_text(entry.name, getattr(self, entry.name), LONGEST)
            if entry.name in DAYS and text and not _is_day(text):
                raise ModelError(f"{entry.name} must be a day, written like 2026-11-17")


def _is_day(text: str) -> bool:
    try:
        return calendar_day.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def to_html(model: Any, particulars: Particulars | None = None, sha256: str = "") -> str:
    """The report of a saved model, or of a fitted classifier, as one self-contained page.

    Parameters
    ----------
    model : SavedModel or fitted classifier
        It shows what they release and nothing else; no records are needed.
    particulars : Particulars, default=None
        What the holder says of it, to be shown, too: the table's name, a date, ...
    sha256 : str, default=""
        The checksum of the model's file, to be shown, too.

    Returns
    -------
    str
        The page. Write it with ``Path("report.html").write_text(page, encoding="utf-8")``.

    Examples
    --------
    >>> from discreet import RuleList, SavedModel
    >>> from discreet.report.html import to_html
    >>> page = to_html(SavedModel(RuleList.parse("if age <= 30 then yes else no"), target="ill"))
    >>> "Predicting" in page, "https:" in page
    (True, False)
    """
    summary, given = summarize(model), particulars or Particulars()
    drawn = kind_of(summary)
    kind = f"A {plain(summary.model.kind)}"
    title = kind if summary.target is None else f"Predicting {plain(summary.target)}"
    divides = f"How the {noun(summary)} divides the records"
    written = {"rules": (drawn.title, drawn.draw), "splits": (divides, division), **SECTIONS}
    parts = {key: (title, write(summary)) for key, (title, write) in written.items()}
    parts["details"] = ("Details", _details(summary, given, sha256))
    sections = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>{part}</section>\n'
        for key, (title, part) in parts.items()
    )
    links = items(f'<a href="#{key}">{text}</a>' for key, (text, _) in parts.items())
    version = plain(summary.released.discreet)
    body = f"""<a class="skip" href="#rules">Skip to {drawn.title.lower()}</a>
<header>
<p class="kicker"><b>discreet</b> &middot; model report</p>
<h1>{kind if summary.target is None else f"Predicting {name(summary.target)}"}</h1>
<p class="lead">{kind}: {_lead(summary)}</p>
{_origin(given)}</header>
<main>
{_verdict(summary)}
{_facts(summary)}
<nav aria-label="Sections"><ul>{links}</ul></nav>
{sections}</main>
<footer><p>Made by discreet {version} from what the model releases; no records were read for it. This page loads
nothing and sends nothing.</p></footer>"""
    return document(f"{title}: model report", page_css() + drawn.css(summary), body, beside("scale.js"))


def _lead(s: Summary) -> str:
    """How large the model is, and how a person checks it."""
    n, size, how = len(s.steps) - 1, "one answer for everybody", "check it line by line"

    def several(n: int, what: str, more: str = "s") -> str:
        return f"{n} {what}{more if n > 1 else ''}"

    if s.cards:
        how = "fill it in by hand"
        if tables := len({table.column for part in s.cards for table in part.tables}):
            size = f"points for {several(tables, 'column')}"
    elif s.root is not None:
        how, deepest = "check it branch by branch", depth_of(s)
        if n:  # it has one test less than it has leaves
            less = f", at most {deepest} on the way to an answer" if deepest < n else ""
            size = f"{several(n, 'test')}{less}, {n + 1} leaves"
    elif n:
        size = f"{several(n, 'rule')} and a default"
    return f"{size}, {several(len(s.classes), 'class', 'es')}. A person can {how}."


def _origin(given: Particulars) -> str:
    """From which table, by whom and when, as far as the data holder states it."""
    learned, by = name(given.table_name), name(given.organisation)
    said = {f"Learned from the table {learned}": given.table_name, f"released by {by}": given.organisation}
    text = ", ".join(part for part, told in {**said, f"on {plain(given.date)}": given.date}.items() if told)
    return f'<p class="soft">{text[0].upper()}{text[1:]}.</p>\n' if text else ""


def _verdict(s: Summary) -> str:
    verdict, statement = s.verdict, s.released.privacy
    big, small = "!", "no promise"
    if s.is_private and statement is not None and statement.proved is not None:
        big, small = f"&epsilon;&#8239;=&#8239;{epsilon_text(statement.proved.epsilon)}", "proved"
    reasons, assumes = items(map(sentence, verdict.reasons)), items(map(sentence, verdict.assumes))
    return (
        f'<div class="verdict {verdict.kind}" role="note" aria-label="In short">'
        f'<div class="big" aria-hidden="true">{big}<small>{small}</small></div>'
        f"<h2>{plain(verdict.headline).replace(' = ', '&nbsp;=&nbsp;')}</h2><div><p>{plain(verdict.text)}</p>"
        f"{f'<ul>{reasons}</ul>' if reasons else ''}"
        f"{f'<p>It rests on these assumptions:</p><ul class=rests>{assumes}</ul>' if assumes else ''}</div></div>"
    )


def _facts(s: Summary) -> str:
    """The numbers to remember, as tiles."""
    asked = "Guessing whether a person is in the table"
    if s.is_private and s.chance is not None:
        facts = [(f"{asked}: right at most", bound(s.chance.fifty), "of the time, where guessing gets 50&nbsp;%")]
    else:
        facts = [(asked, "no limit", "is proved on how often an attack is right")]
    # with few records, sums of noisy counts are mostly noise
    steady = not s.margin or s.total > 20 * s.margin * len(s.steps)
    if s.has_counts and s.total and steady:
        about, how = ("", "exact") if s.released.privacy is None else (" about", "noisy")
        facts.append((f"Learned from{about}", number(round(s.total)), f"records, by {how} counts"))
    if s.right is not None and steady:
        constant = ""
        if s.most_frequent is not None:
            constant = f"; always saying {name(s.most_frequent[0])} gets {percent(s.most_frequent[1])}"
        facts.append(("Right about", percent(s.right), f"of these records, by its own counts{constant}"))
    if any(s.columns.values()):
        used, out = s.columns["used"], len(s.columns["excluded"] + s.columns["ignored"])
        more = [f"{len(used) - NAMES_IN_TILE} more"] if len(used) > NAMES_IN_TILE else []
        small = ", ".join([*map(name, used[:NAMES_IN_TILE]), *more]) or "the answer is the same for everybody"
        share = f"{len(used)} of {sum(map(len, s.columns.values()))}"
        facts.append((f"Columns that {s.unit}s use", share, small + (f"; {out} kept out" if out else "")))
    if s.released.ledger is not None:
        facts.append(("Budget left when saved", *_budget_left(s.released.ledger)))
    elif s.is_private:
        facts.append(("Budget left", "not counted", "no ledger was kept"))
    tiles = "".join(f"<div><dt>{a}</dt><dd>{b}<small>{c}</small></dd></div>" for a, b, c in facts)
    return f'<dl class="facts">{tiles}</dl>'


def _budget_left(ledger: LedgerSnapshot) -> tuple[str, str]:
    """What is left. Where something was released about which nothing is proved, that is the news."""
    if ledger.totals.unproved:
        return "no total", "can be given: nothing is proved about some releases from this table"
    if ledger.rho is not None and ledger.remaining_rho is not None:
        return f"&rho; {float(ledger.remaining_rho):.3g}", f"of {float(ledger.rho):.3g} in zCDP, for this table"
    left = max(0.0, float(ledger.remaining[0]))
    return f"&epsilon; {left:.3g}", f"of {float(ledger.epsilon):.3g} for this table"


def _details(s: Summary, given: Particulars, sha256: str) -> str:
    """Where the model came from. What is missing is shown as not given, so that it is not taken for an oversight."""
    ledger = s.released.ledger
    entry = "none was kept" if ledger is None else "the model has no entry of its own"
    if ledger is not None and ledger.number is not None:
        entry = f"entry {ledger.number} of ledger {ledger.ledger or '?'}: {ledger.release or '?'}"
    said = {
        "Table": given.table_name,
        "Learned on": given.learned,
        "Released on": given.date,
        "Organisation": given.organisation,
        "Contact": given.contact,
        "Purpose": given.purpose,
        "Licence": given.licence,
        "Who drafted the schema, from what": given.schema_source,
        "Ledger": entry,
        "Model file (SHA-256)": sha256,
    }
    learned = [("Learner", s.released.learner), ("Version of discreet", s.released.discreet), *s.parameters]
    return table(
        "Origin",
        "Origin, as the data holder states it; a model file holds no table names and no dates",
        heads("Item", "Value"),
        (row(plain(key), name(value, "value") if value else "not given") for key, value in said.items()),
    ) + table(
        "Parameters",
        "How the model was learned. Seeds, given candidates and the number of records are left out on purpose.",
        heads("Parameter", "Value"),
        (row(name(key), name(value, "value")) for key, value in learned),
    )

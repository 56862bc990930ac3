"""The report as one HTML file: nothing to load, nothing sent, readable on a phone, on paper and aloud.

Names and values in a model may be anything, so every string goes through ``plain`` of _utils/html.py.
"""

import re
from dataclasses import dataclass, fields
from datetime import date as calendar_day
from typing import Any

from .._utils.errors import ModelError
from .._utils.html import document, heads, items, name, page_css, plain, row, table
from ..accounting.summary import LedgerSnapshot
from ..models.display.summary import Summary, summarize
from ..models.display.wording import bound, epsilon_text, number, percent, sentence
from ..schema.columns.base import checked_text
from .model_part import card, division, rules, style, tree, tree_css
from .promise_part import budget, epsilon, limits, promise
from .schema_part import columns, schema

LONGEST = 2_000
DAYS = ("learned", "date")
NAMES_IN_TILE = 3
SECTIONS = {
    "promise": ("What is promised", promise),
    "epsilon": ("What epsilon means", epsilon),
    "budget": ("What was spent", budget),
    "columns": ("Columns", columns),
    "schema": ("The schema it rests on", schema),
    "limits": ("What is not covered", limits),
}


@dataclass(frozen=True)
class Particulars:
    """What a holder says of a release. Nothing is guessed: what is not given is said to be not given.

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
        return bool(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)) and bool(calendar_day.fromisoformat(text))
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
    drawn, divides, css = ("The rules", rules), "How the rules split the records", ""
    if summary.cards:
        drawn, divides, css = ("The card", card), "How totals divide the records", style("card.css")
    elif summary.root is not None:
        drawn, divides, css = ("The tree", tree), "How the tree divides the records", tree_css(summary)
    kind = f"A {plain(summary.model.kind)}"
    title = kind if summary.target is None else f"Predicting {plain(summary.target)}"
    written = {"rules": drawn, "splits": (divides, division), **SECTIONS}
    parts = {key: (title, write(summary)) for key, (title, write) in written.items()}
    parts["details"] = ("Details", _details(summary, given, sha256))
    sections = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>{part}</section>\n'
        for key, (title, part) in parts.items()
    )
    links = items(f'<a href="#{key}">{text}</a>' for key, (text, _) in parts.items())
    version = plain(summary.released.discreet)
    body = f"""<a class="skip" href="#rules">Skip to {drawn[0].lower()}</a>
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
    return document(f"{title}: model report", page_css() + css, body, style("scale.js"))


def _several(n: int, what: str, more: str = "s") -> str:
    return f"{n} {what}{more if n > 1 else ''}"


def _lead(s: Summary) -> str:
    """How large the model is, and how a person checks it."""
    n, size, how = len(s.steps) - 1, "one answer for everybody", "check it line by line"
    if s.cards:
        how = "fill it in by hand"
        if tables := len({table.column for part in s.cards for table in part.tables}):
            size = f"points for {_several(tables, 'column')}" + (
                f", in {len(s.cards)} cards" if len(s.cards) > 1 else ""
            )
            size += "" if s.by_class else f", {len(s.ranges)} ranges of totals"
    elif s.root is not None:  # it has one test less than it has leaves
        how, deepest = "check it branch by branch", max(len(step.tests) for step in s.steps)
        if n:
            less = f", at most {deepest} on the way to an answer" if deepest < n else ""
            size = f"{_several(n, 'test')}{less}, {n + 1} leaves"
    elif n:
        size = f"{_several(n, 'rule')} and a default"
    return f"{size}, {_several(len(s.classes), 'class', 'es')}. A person can {how}."


def _origin(given: Particulars) -> str:
    """From which table, by whom and when, as far as the holder says it."""
    parts = [f"Learned from the table {name(given.table_name)}"] if given.table_name else []
    parts += [f"released by {name(given.organisation)}"] if given.organisation else []
    parts += [f"on {plain(given.date)}"] if given.date else []
    text = ", ".join(parts)
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
        f"{f'<p>It holds if all of this does:</p><ul class=rests>{assumes}</ul>' if assumes else ''}</div></div>"
    )


def _facts(s: Summary) -> str:
    """The numbers to remember, as tiles."""
    asked = "Is a given person in the table?"
    if s.is_private and s.chance is not None:
        facts = [(f"{asked} Right at most", bound(s.chance.fifty), "of the time, where guessing gets 50&nbsp;%")]
    else:
        facts = [(asked, "no limit", "on how often an attack is right is proved")]
    # with few records, sums of noisy counts are mostly noise
    steady = not s.margin or s.total > 20 * s.margin * len(s.steps)
    if s.has_counts and s.total and steady:
        about, how = ("", "exact") if s.released.privacy is None else (" about", "noisy")
        facts.append((f"Learned from{about}", number(round(s.total)), f"records, by {how} counts"))
    if s.right is not None and steady:
        often = f"of these records, by its own counts{_constant(s)}"
        facts.append(("Right about", percent(s.right), often))
    if any(s.columns.values()):
        facts.append(_columns_tile(s))
    if s.released.ledger is not None:
        facts.append(("Budget left", *_budget_left(s.released.ledger)))
    elif s.is_private:
        facts.append(("Budget left", "not counted", "no ledger was kept"))
    tiles = "".join(f"<div><dt>{a}</dt><dd>{b}<small>{c}</small></dd></div>" for a, b, c in facts)
    return f'<dl class="facts">{tiles}</dl>'


def _constant(s: Summary) -> str:
    if s.most_frequent is None:
        return ""
    label, share = s.most_frequent
    return f"; always saying {name(label)} gets {percent(share)}"


def _budget_left(ledger: LedgerSnapshot) -> tuple[str, str]:
    """What is left. Where something was released about which nothing is proved, that is the news."""
    if ledger.totals.unproved:
        return "no total", "is promised: nothing is proved about some releases from this table"
    if ledger.rho is not None and ledger.remaining_rho is not None:
        return f"&rho; {float(ledger.remaining_rho):.3g}", f"of {float(ledger.rho):.3g} in zCDP, for this table"
    left = max(0.0, float(ledger.remaining[0]))
    return f"&epsilon; {left:.3g}", f"of {float(ledger.epsilon):.3g} for this table"


def _columns_tile(s: Summary) -> tuple[str, str, str]:
    used, out = s.columns["used"], len(s.columns["excluded"] + s.columns["ignored"])
    more = [f"{len(used) - NAMES_IN_TILE} more"] if len(used) > NAMES_IN_TILE else []
    small = ", ".join([*map(name, used[:NAMES_IN_TILE]), *more]) or "the answer is the same for everybody"
    of = sum(map(len, s.columns.values()))
    return f"Columns that {s.unit}s use", f"{len(used)} of {of}", small + (f"; {out} kept out" if out else "")


def _details(s: Summary, given: Particulars, sha256: str) -> str:
    """Where the model came from. What nobody said is said to be missing, so that nobody takes it for a slip."""
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
        "Where it came from",
        "Where it came from, as its holder says; a model's file holds no names of tables and no dates",
        heads("What", "Said"),
        (row(plain(key), name(value, "value") if value else "not given") for key, value in said.items()),
    ) + table(
        "Parameters",
        "How the model was learned. Seeds, given candidates and the number of records are left out on purpose.",
        heads("Parameter", "Value"),
        (row(name(key), name(value, "value")) for key, value in learned),
    )

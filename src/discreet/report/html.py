"""The report as one HTML file: nothing to load, nothing sent, readable on a phone, on paper and aloud.

Names and values in a model may be anything, so every string goes through ``plain`` of _utils/html.py.
"""

import re
from dataclasses import dataclass, fields
from datetime import date as calendar_day
from typing import Any

from .._utils.errors import ModelError
from .._utils.html import document, name, page_css, plain, wide
from ..accounting.entries import LedgerSnapshot
from ..models.display.summary import Summary, summarize
from ..models.display.wording import bound, epsilon_text, number, percent, sentence
from ..schema.columns.base import checked_text
from .model_part import card, leaves, rules, splits, style, totals, tree, tree_css
from .promise_part import budget, epsilon, limits, promise
from .schema_part import columns, schema

LONGEST = 2_000
DAYS = ("learned", "date")
NAMES_IN_TILE = 3
SECTIONS = {
    "rules": "The rules",
    "splits": "How the rules split the records",
    "promise": "What is promised",
    "epsilon": "What epsilon means",
    "budget": "What was spent",
    "columns": "Columns",
    "schema": "The schema it rests on",
    "limits": "What is not covered",
    "details": "Details",
}
OF_A_TREE = {"rules": "The tree", "splits": "How the tree divides the records"}
OF_A_CARD = {"rules": "The card", "splits": "How totals divide the records"}


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
    shown, divided, of_its_own, own_css = rules, splits, {}, ""
    if summary.cards:
        shown, divided, of_its_own, own_css = card, totals, OF_A_CARD, style("card.css")
    elif summary.root is not None:
        shown, divided, of_its_own, own_css = tree, leaves, OF_A_TREE, tree_css(summary)
    title = _kind(summary) if summary.target is None else f"Predicting {plain(summary.target)}"
    parts = {
        "rules": shown(summary),
        "splits": divided(summary),
        "promise": promise(summary),
        "epsilon": epsilon(summary),
        "budget": budget(summary),
        "columns": columns(summary),
        "schema": schema(summary),
        "limits": limits(summary),
        "details": _details(summary, given, sha256),
    }
    titles = SECTIONS | of_its_own
    sections = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{titles[key]}</h2>{part}</section>\n'
        for key, part in parts.items()
    )
    links = "".join(f'<li><a href="#{key}">{text}</a></li>' for key, text in titles.items())
    body = f"""<a class="skip" href="#rules">Skip to {titles["rules"].lower()}</a>
<header>
<p class="kicker"><b>discreet</b> &middot; model report</p>
<h1>{_heading(summary)}</h1>
<p class="lead">{_lead(summary)}</p>
{_origin(given)}</header>
<main>
{_verdict(summary)}
{_facts(summary)}
<nav aria-label="Sections"><ul>{links}</ul></nav>
{sections}</main>
<footer><p>Made by discreet {plain(summary.version)} from what the model releases; no records were read for it. This page loads
nothing and sends nothing.</p></footer>"""
    return document(f"{title}: model report", page_css() + own_css, body, style("scale.js"))


def _heading(s: Summary) -> str:
    return _kind(s) if s.target is None else f"Predicting {name(s.target)}"


def _kind(s: Summary) -> str:
    return f"A {plain(s.kind)}"


def _lead(s: Summary) -> str:
    classes = f"{len(s.classes)} class{'es' if len(s.classes) > 1 else ''}"
    if s.root is not None:
        return f"{_kind(s)}: {_size(s)}, {classes}. A person can check it branch by branch."
    if s.cards:
        return f"{_kind(s)}: {_tables_of(s)}, {classes}. A person can fill it in by hand."
    rules, tables = len(s.steps) - 1, len(s.points)
    what = "one answer for everybody" if not rules else f"{rules} rule{'s' if rules > 1 else ''} and a default"
    if tables:
        what = f"{tables} table{'s' if tables > 1 else ''} of points; for their total, {what}"
    return f"{_kind(s)}: {what}, {classes}. A person can check it line by line."


def _origin(given: Particulars) -> str:
    """From which table, by whom and when, as far as the holder says it."""
    parts = [f"Learned from the table {name(given.table_name)}"] if given.table_name else []
    parts += [f"released by {name(given.organisation)}"] if given.organisation else []
    parts += [f"on {plain(given.date)}"] if given.date else []
    if not parts:
        return ""
    text = ", ".join(parts)
    return f'<p class="soft">{text[0].upper()}{text[1:]}.</p>\n'


def _tables_of(s: Summary) -> str:
    """How large a score card is."""
    tables = len({table.column for part in s.cards for table in part.tables})
    if not tables:
        return "one answer for everybody"
    said = f"points for {tables} column{'s' if tables > 1 else ''}"
    ranges = "" if s.by_class else f", {len(s.ranges)} ranges of totals"
    return said + (f", in {len(s.cards)} cards" if len(s.cards) > 1 else "") + ranges


def _size(s: Summary) -> str:
    """Of a tree. It has one test less than it has leaves."""
    tests, deepest = len(s.steps) - 1, max(len(step.tests) for step in s.steps)
    if not tests:
        return "one answer for everybody"
    less = f", at most {deepest} on the way to an answer" if deepest < tests else ""
    return f"{tests} test{'s' if tests > 1 else ''}{less}, {len(s.steps)} leaves"


def _verdict(s: Summary) -> str:
    verdict = s.verdict
    if s.is_private and s.statement is not None and s.statement.proved is not None:
        big, small = f"&epsilon;&#8239;=&#8239;{epsilon_text(s.statement.proved.epsilon)}", "proved"
    else:
        big, small = "!", "no promise"
    reasons = "".join(f"<li>{sentence(reason)}</li>" for reason in verdict.reasons)
    assumes = "".join(f"<li>{sentence(assumption)}</li>" for assumption in verdict.assumes)
    return (
        f'<div class="verdict {verdict.kind}" role="note" aria-label="In short">'
        f'<div class="big" aria-hidden="true">{big}<small>{small}</small></div>'
        f"<h2>{plain(verdict.headline).replace(' = ', '&nbsp;=&nbsp;')}</h2><div><p>{plain(verdict.text)}</p>"
        f"{f'<ul>{reasons}</ul>' if reasons else ''}"
        f"{f'<p>It holds if all of this does:</p><ul class=rests>{assumes}</ul>' if assumes else ''}</div></div>"
    )


def _facts(s: Summary) -> str:
    asked = "Is a given person in the table?"
    if s.is_private and s.chance is not None:
        facts = [(f"{asked} Right at most", bound(s.chance.fifty), "of the time, where guessing gets 50&nbsp;%")]
    else:
        facts = [(asked, "no limit", "on how often an attack is right is proved")]
    # with few records, sums of noisy counts are mostly noise
    steady = not s.margin or s.total > 20 * s.margin * len(s.steps)
    if s.has_counts and s.total and steady:
        about, how = ("", "exact") if s.statement is None else (" about", "noisy")
        facts.append((f"Learned from{about}", number(round(s.total)), f"records, by {how} counts"))
    if s.right is not None and steady:
        often = (
            ""
            if s.most_frequent is None
            else f"; always saying {name(s.most_frequent[0])} gets {percent(s.most_frequent[1])}"
        )
        facts.append(("Right about", percent(s.right), f"of these records, by its own counts{often}"))
    if s.columns:
        facts.append(_columns_tile(s))
    if s.ledger is not None:
        facts.append(_budget_tile(s.ledger))
    elif s.is_private:
        facts.append(("Budget left", "not counted", "no ledger was kept"))
    tiles = "".join(f"<div><dt>{a}</dt><dd>{b}<small>{c}</small></dd></div>" for a, b, c in facts)
    return f'<dl class="facts">{tiles}</dl>' if tiles else ""


def _budget_tile(ledger: LedgerSnapshot) -> tuple[str, str, str]:
    """What is left. Where something was released about which nothing is proved, that is the news."""
    if ledger.totals.unproved:
        return "Budget left", "no total", "is promised: nothing is proved about some releases from this table"
    if ledger.rho is not None and ledger.remaining_rho is not None:
        of_all = f"of {float(ledger.rho):.3g} in zCDP, for this table"
        return "Budget left", f"&rho; {float(ledger.remaining_rho):.3g}", of_all
    left = max(0.0, float(ledger.remaining[0]))
    return "Budget left", f"&epsilon; {left:.3g}", f"of {float(ledger.epsilon):.3g} for this table"


def _columns_tile(s: Summary) -> tuple[str, str, str]:
    used = [c.name for c in s.columns if c.role == "used"]
    out = sum(c.role in ("excluded", "ignored") for c in s.columns)
    more = [f"{len(used) - NAMES_IN_TILE} more"] if len(used) > NAMES_IN_TILE else []
    small = ", ".join([*(name(n) for n in used[:NAMES_IN_TILE]), *more]) or "the answer is the same for everybody"
    return (
        f"Columns that {s.unit}s use",
        f"{len(used)} of {len(s.columns)}",
        small + (f"; {out} kept out" if out else ""),
    )


def _details(s: Summary, given: Particulars, sha256: str) -> str:
    rows = [("Learner", s.learner), ("Version of discreet", s.version), *((key, value) for key, value in s.parameters)]
    said = _said_by_holder(given, sha256, s.ledger)
    cells = "".join(f'<tr><th scope="row">{name(a)}</th><td>{name(b, "value")}</td></tr>' for a, b in rows)
    return said + wide(
        "<caption>How the model was learned. Seeds, given candidates and the number of records are left out on "
        "purpose.</caption>"
        f'<thead><tr><th scope="col">Parameter</th><th scope="col">Value</th></tr></thead><tbody>{cells}</tbody>',
        "Parameters",
    )


def _said_by_holder(given: Particulars, sha256: str, ledger: LedgerSnapshot | None) -> str:
    """Where the model came from. What nobody said is said to be missing, so that nobody takes it for a slip."""
    entry = "none was kept" if ledger is None else "the model has no entry of its own"
    if ledger is not None and ledger.number is not None:
        entry = f"entry {ledger.number} of ledger {ledger.ledger or '?'}: {ledger.release or '?'}"
    rows = [
        ("Table", given.table_name),
        ("Learned on", given.learned),
        ("Released on", given.date),
        ("Organisation", given.organisation),
        ("Contact", given.contact),
        ("Purpose", given.purpose),
        ("Licence", given.licence),
        ("Who drafted the schema, from what", given.schema_source),
        ("Ledger", entry),
        ("Model file (SHA-256)", sha256),
    ]
    cells = "".join(
        f'<tr><th scope="row">{plain(key)}</th><td>{name(value, "value") if value else "not given"}</td></tr>'
        for key, value in rows
    )
    return wide(
        "<caption>Where it came from, as its holder says; a model's file holds no names of tables and no dates</caption>"
        '<thead><tr><th scope="col">What</th><th scope="col">Said</th></tr></thead>'
        f"<tbody>{cells}</tbody>",
        "Where it came from",
    )

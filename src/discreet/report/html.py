"""The report as one HTML file: nothing to load, nothing sent, readable on a phone, on paper and aloud.

Names and values in a model may be anything, so every string goes through ``plain`` of common/html.py.
"""

from importlib.resources import files
from typing import Any

from ..common.html import document, name, plain, wide
from .columns_part import columns
from .list_part import rules, splits
from .promise_part import budget, limits, promise
from .scale_part import epsilon
from .summary import Summary, summarize
from .tree_part import leaves, tree, tree_css
from .wording import bound, epsilon_text, number, percent, sentence

NAMES_IN_TILE = 3
SECTIONS = {
    "rules": "The rules",
    "splits": "How the rules split the records",
    "promise": "What is promised",
    "epsilon": "What epsilon means",
    "budget": "What was spent",
    "columns": "Columns",
    "limits": "What is not covered",
    "details": "Details",
}
OF_A_TREE = {"rules": "The tree", "splits": "How the tree divides the records"}


def to_html(model: Any) -> str:
    """The report of a saved model, or of a fitted classifier, as one self-contained page.

    Parameters
    ----------
    model : SavedModel or fitted classifier
        It shows what they release and nothing else; no records are needed.

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
    summary = summarize(model)
    title = _kind(summary) if summary.target is None else f"Predicting {plain(summary.target)}"
    parts = {
        "rules": rules(summary) if summary.root is None else tree(summary),
        "splits": splits(summary) if summary.root is None else leaves(summary),
        "promise": promise(summary),
        "epsilon": epsilon(summary),
        "budget": budget(summary),
        "columns": columns(summary),
        "limits": limits(summary),
        "details": _details(summary),
    }
    titles = SECTIONS if summary.root is None else SECTIONS | OF_A_TREE
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
</header>
<main>
{_verdict(summary)}
{_facts(summary)}
<nav aria-label="Sections"><ul>{links}</ul></nav>
{sections}</main>
<footer><p>Made by discreet {plain(summary.version)} from what the model releases; no records were read for it. This page loads
nothing and sends nothing.</p></footer>"""
    css = _file("page.css") + ("" if summary.root is None else tree_css(summary))
    return document(f"{title}: model report", css, body, _file("scale.js"))


def _file(filename: str) -> str:
    return files(__package__).joinpath(filename).read_text(encoding="utf-8")


def _heading(s: Summary) -> str:
    return _kind(s) if s.target is None else f"Predicting {name(s.target)}"


def _kind(s: Summary) -> str:
    return f"A {plain(s.kind)}"


def _lead(s: Summary) -> str:
    classes = f"{len(s.classes)} class{'es' if len(s.classes) > 1 else ''}"
    if s.root is not None:
        return f"{_kind(s)}: {_size(s)}, {classes}. A person can check it branch by branch."
    rules, tables = len(s.steps) - 1, len(s.points)
    what = "one answer for everybody" if not rules else f"{rules} rule{'s' if rules > 1 else ''} and a default"
    if tables:
        what = f"{tables} table{'s' if tables > 1 else ''} of points; for their total, {what}"
    return f"{_kind(s)}: {what}, {classes}. A person can check it line by line."


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
        left = max(0.0, float(s.ledger.remaining[0]))
        facts.append(("Budget left", f"&epsilon; {left:.3g}", f"of {float(s.ledger.epsilon):.3g} for this table"))
    elif s.is_private:
        facts.append(("Budget left", "not counted", "no ledger was kept"))
    tiles = "".join(f"<div><dt>{a}</dt><dd>{b}<small>{c}</small></dd></div>" for a, b, c in facts)
    return f'<dl class="facts">{tiles}</dl>' if tiles else ""


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


def _details(s: Summary) -> str:
    rows = [("Learner", s.learner), ("Version of discreet", s.version), *((key, value) for key, value in s.parameters)]
    cells = "".join(f'<tr><th scope="row">{name(a)}</th><td>{name(b, "value")}</td></tr>' for a, b in rows)
    return wide(
        "<caption>How the model was learned. Seeds, given candidates and the number of records are left out on "
        "purpose.</caption>"
        f'<thead><tr><th scope="col">Parameter</th><th scope="col">Value</th></tr></thead><tbody>{cells}</tbody>',
        "Parameters",
    )

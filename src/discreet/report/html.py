"""The report as one HTML file: nothing to load, nothing sent, readable on a phone, on paper and aloud.

Names and values in a model may be anything, so every text goes through ``pieces.plain``; and should one slip through, the
page's own policy runs no script but the one below it.
"""

import base64
import hashlib
import math
from importlib.resources import files
from typing import Any

from ..privacy.ledger import Entry
from ..privacy.statement import Guarantee, rounded_up
from .pieces import bar, bound, colour, condition, factor, name, number, percent, plain, said
from .summary import SCALE, SURE, Chance, Step, Summary, summarize

LOW, HIGH = 0.01, 20.0  # the ends of the scale of epsilon
TICKS = (0.01, 0.1, 1, 10)
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
    >>> "Predicting" in page, "http" in page
    (True, False)
    """
    summary = summarize(model)
    script = _file("scale.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = "A rule list" if summary.target is None else f"Predicting {plain(summary.target)}"
    parts = {
        "rules": _rules(summary),
        "splits": _splits(summary),
        "promise": _promise(summary),
        "epsilon": _epsilon(summary),
        "budget": _budget(summary),
        "columns": _columns(summary),
        "limits": _limits(summary),
        "details": _details(summary),
    }
    sections = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{SECTIONS[key]}</h2>{part}</section>\n'
        for key, part in parts.items()
    )
    links = "".join(f'<li><a href="#{key}">{text}</a></li>' for key, text in SECTIONS.items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}: model report</title>
<style>
{_file("page.css")}</style>
</head>
<body>
<a class="skip" href="#rules">Skip to the rules</a>
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
nothing and sends nothing.</p></footer>
<script>{script}</script>
</body>
</html>
"""


def _file(filename: str) -> str:
    return files(__package__).joinpath(filename).read_text(encoding="utf-8")


def _heading(s: Summary) -> str:
    return "A rule list" if s.target is None else f"Predicting {name(s.target)}"


def _lead(s: Summary) -> str:
    rules = len(s.steps) - 1
    what = "one answer for everybody" if not rules else f"{rules} rule{'s' if rules > 1 else ''} and a default"
    return f"A rule list: {what}, {len(s.classes)} classes. A person can check it line by line."


def _verdict(s: Summary) -> str:
    verdict = s.verdict
    if s.is_private and s.statement is not None and s.statement.proved is not None:
        big, small = f"&epsilon;&#8239;=&#8239;{_epsilon_text(s.statement.proved.epsilon)}", "proved"
    else:
        big, small = "!", "no promise"
    reasons = "".join(f"<li>{_sentence(reason)}</li>" for reason in verdict.reasons)
    return (
        f'<div class="verdict {verdict.kind}" role="note" aria-label="In short">'
        f'<div class="big" aria-hidden="true">{big}<small>{small}</small></div>'
        f"<h2>{plain(verdict.headline)}</h2><div><p>{plain(verdict.text)}</p>"
        f"{f'<ul>{reasons}</ul>' if reasons else ''}</div></div>"
    )


def _facts(s: Summary) -> str:
    facts = []
    if s.is_private and s.chance is not None:
        facts.append(
            (
                "Is a given person in the table? Right at most",
                bound(s.chance.fifty),
                "of the time, where guessing gets 50 %",
            )
        )
    if s.has_counts and s.total:
        exactly = "by exact counts" if s.statement is None else "by noisy counts"
        facts.append(("Learned from about", f"{number(round(s.total))} records", exactly))
    if s.right is not None:
        facts.append(("Right about", percent(s.right), "of these records, by its own counts"))
    used = sum(c.role == "used" for c in s.columns)
    out = sum(c.role in ("excluded", "ignored") for c in s.columns)
    if s.columns:
        facts.append(("Columns that rules use", f"{used} of {len(s.columns)}", f"{out} kept out beforehand"))
    if s.ledger is not None:
        left = max(0.0, float(s.ledger.remaining[0]))
        facts.append(("Budget left", f"&epsilon; {left:.3g}", f"of {float(s.ledger.epsilon):.3g} for this table"))
    tiles = "".join(f"<div><dt>{a}</dt><dd>{b}<small>{c}</small></dd></div>" for a, b, c in facts)
    return f'<dl class="facts">{tiles}</dl>' if tiles else ""


def _legend(s: Summary, also: str = "") -> str:
    keys = "".join(f'<li><span class="key {colour(i)}"></span>{name(label)}</li>' for i, label in enumerate(s.classes))
    return f'<ul class="legend" aria-label="Colours">{keys}{also}</ul>'


def _rules(s: Summary) -> str:
    if len(s.steps) == 1:
        read = "The list has no rules: it gives the same answer to everybody."
    else:
        read = (
            "Read from the top. The first rule that is true of a record gives its label; if none is, the default does."
        )
    bars = "" if not s.has_counts else " Bars show the share of each class among the records that a rule takes."
    cards = "".join(_card(s, step) for step in s.steps)
    return f'<p>{read}{bars}</p>{_legend(s) if s.has_counts else ""}<ol class="rules">{cards}</ol>'


def _card(s: Summary, step: Step) -> str:
    last = step.number == len(s.steps)
    word = ("always" if last else "if") if step.number == 1 else ("else" if last else "else if")
    text = "" if last else f" {condition(step.tests)}"
    place = s.classes.index(step.label)
    mark = "&middot;" if last else str(step.number)
    head = (
        f'<p class="if"><span><span class="word">{word}</span>{text}</span>'
        f'<span class="then then-{place % 6}"><span class="word">predict</span> {name(step.label)}</span></p>'
    )
    body = ""
    if step.shares is not None and step.support is not None:
        spoken = ", ".join(f"{percent(x)} {plain(c)}" for x, c in zip(step.shares, s.classes, strict=True))
        parts = "".join(
            f'<span><span class="key {colour(i)}"></span>{name(c)} <b>{percent(x)}</b></span>'
            for i, (x, c) in enumerate(zip(step.shares, s.classes, strict=True))
        )
        about = "" if s.statement is None else "about "
        segments = [(x, colour(i)) for i, x in enumerate(step.shares)]
        body = (
            f"{bar(segments, f'Class shares: {spoken}')}"
            f'<p class="shares"><span class="parts">{parts}</span><span class="soft">{about}{number(round(step.support))} records</span></p>'
        )
    elif step.counts is not None:
        body = '<p class="soft">All of its noisy counts are zero or below, so no shares can be shown.</p>'
    if step.faint:
        body += (
            '<p class="faint">So few records that the noise is as large as the counts: these shares mean little.</p>'
        )
    return f'<li><span class="node" aria-hidden="true">{mark}</span><div class="card">{head}{body}</div></li>'


def _splits(s: Summary) -> str:
    if not s.has_counts:
        return (
            "<p>This model released no class counts, so how many records each rule takes, and how sure it is, cannot be said. "
            "Nobody can read it off the model either.</p>"
        )
    if not s.total:
        return (
            "<p>All released counts are zero or below: the noise hides how the rules split the records.</p>" + _table(s)
        )
    rows, before = [], 0.0
    for step in s.steps:
        support, reaching, taken = step.support or 0.0, step.reaching or 0.0, step.taken or 0.0
        shares = [(support / s.total * x, colour(i)) for i, x in enumerate(step.shares or ())]
        onward = (reaching - support) / s.total
        who = "the default" if step.number == len(s.steps) else f"rule {step.number}"
        label = f"{said(step.tests) if step.tests else 'The default'}: takes {percent(taken)} of what reaches it"
        rows.append(
            f"<li><span><span>{percent(reaching / s.total)} of all records reach {who}</span>"
            f"<span>it takes <b>{percent(taken)}</b> of them</span></span>"
            f"{bar([*shares, (onward, 'onward')], label, before)}</li>"
        )
        before += support / s.total
    onward_key = '<li><span class="key" style="background:var(--line)"></span>goes on to the next rule</li>'
    right = ""
    if s.right is not None:
        right = (
            f"<p>By these counts the list gives the right answer for about <b>{percent(s.right)}</b> of the records that it was learned "
            "from. On new records it may do worse.</p>"
        )
    if s.statement is None:
        noise = "<p>These are exact counts, straight from the records.</p>"
    elif s.margin is not None:
        noise = (
            f"<p>Counts were released with noise that protects people. Each is off by at most <b>{s.margin:,}</b> in {SURE:.0%} of "
            "all cases; where the noise is larger than a count, that may be below zero. (A count that decides the label of its rule may "
            "have been raised to that of the largest.)</p>"
        )
    else:
        noise = (
            "<p>Counts were released with noise that protects people, so they are not exact and may be below zero.</p>"
        )
    figure = (
        f'<figure class="flow">{_legend(s, onward_key)}<ol>{"".join(rows)}</ol>'
        "<figcaption>The full width stands for all records. A rule takes its part from those that no earlier rule took.</figcaption></figure>"
    )
    return noise + figure + right + _table(s)


def _table(s: Summary) -> str:
    heads = "".join(f'<th scope="col" class="n">{name(label)}</th>' for label in s.classes)
    rows = []
    for step in s.steps:
        who = f"{step.number}. {condition(step.tests)}" if step.tests else "default"
        cells = "".join(f'<td class="n">{number(c)}</td>' for c in step.counts or ())
        taken = "&ndash;" if step.taken is None else percent(step.taken)
        rows.append(f'<tr><th scope="row">{who}</th>{cells}<td class="n">{taken}</td></tr>')
    kind = "Counts as released" if s.statement is not None else "Exact counts"
    return _wide(
        f"<caption>{kind}, by class, and the share that each rule takes of the records that reach it</caption>"
        f'<thead><tr><th scope="col">Rule</th>{heads}<th scope="col" class="n">takes</th></tr></thead><tbody>{"".join(rows)}</tbody>',
        "Counts of each rule",
    )


def _wide(table: str, label: str) -> str:
    """A table that scrolls by itself where it is too wide, with the keyboard, too."""
    return f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table>{table}</table></div>'


def _promise(s: Summary) -> str:
    statement = s.statement
    if statement is None:
        return (
            f"<p>Nothing. The learner {name(s.learner)} has no privacy built in, and none can be added to its model afterwards. "
            "To get a model that may be published, learn it again with a private learner, from a schema that was written without a look "
            "at the records.</p>"
        )
    proved, published = statement.proved, statement.published
    if proved is None:
        left = "<h3>What is proved</h3><p class='number'>Nothing</p><p>The reasons stand at the top of this page.</p>"
    else:
        left = (
            f"<h3>What is proved</h3><p class='number'>{_pair(proved)}</p><p>The chance of any conclusion differs at most by a factor of "
            f"{factor(math.exp(min(proved.epsilon, 700)))}, whether a person&rsquo;s record was in the table or not"
            f"{', up to a chance of delta that this fails' if proved.delta else ''}.</p>"
        )
    if published is None:
        right = "<h3>What is claimed elsewhere</h3><p class='number'>No other claim</p><p>The mechanism is this package&rsquo;s own.</p>"
    else:
        agree = (
            "The proof confirms it."
            if statement.claim_is_proved
            else "This is <strong>not proved here</strong>; rely on what is proved."
        )
        right = f"<h3>What the method&rsquo;s authors claim</h3><p class='number'>{_pair(published)}</p><p>{agree}</p>"
    assumes = "".join(f"<li>{_sentence(a)}</li>" for a in statement.assumes)
    under = f"<h3>This holds if</h3><ul>{assumes}</ul>" if assumes and proved is not None else ""
    whom = f"<h3>To whom</h3><p>{plain(statement.neighbours)}</p>" if proved is not None else ""
    not_said = (
        "<h3>What is not said</h3><p>Not that nothing can be learned about a person. If people like them are often of one class, the model may "
        "say so; that is true of them whether their record was in the table or not.</p>"
    )
    return (
        f"<p>The model was learned with the mechanism {name(statement.mechanism, 'value')}.</p>"
        f'<div class="two"><div>{left}</div><div>{right}</div></div>{whom}{under}{not_said if proved is not None else ""}'
        f"<h3>The statement, word for word</h3><blockquote><p>{plain(statement)}</p></blockquote>"
    )


def _pair(pair: Guarantee) -> str:
    text = plain(pair).replace("epsilon", "&epsilon;").replace("delta", "&delta;")
    return text.replace("n^2", "n<sup>2</sup>").replace(" = ", "&nbsp;=&nbsp;")


def _epsilon(s: Summary) -> str:
    own = s.chance
    proved = s.is_private
    words = (
        "<p>Epsilon bounds what a model can give away about one record. Think of someone who knows every other record of the table, and "
        "wants to know whether a certain person is in it. Before seeing the model that is as likely as not: guessing gets 50 %. "
        "After seeing it, even the best attack is right at most this often:</p>"
    )
    if own is None:
        mine = "<p>This model has no epsilon. The scale shows what private models of this package would promise.</p>"
    elif proved:
        delta = ", and a little more for delta" if own.delta else ""
        mine = (
            f"<p>For this model, with &epsilon; = {_epsilon_text(own.epsilon)}, that is <b>{bound(own.fifty)}</b>: the odds of any belief about a "
            f"person grow at most by a factor of <b>{factor(own.factor)}</b>{delta}.</p>"
        )
    else:
        mine = (
            f'<p class="loud">&epsilon; = {_epsilon_text(own.epsilon)} was asked for, but <strong>nothing is proved for this model</strong>, so the numbers '
            "below are not promised by it. They show what a model with a proof would promise.</p>"
        )
    return words + mine + _scale(own, proved) + _chances(own, proved)


def _scale(own: Chance | None, proved: bool) -> str:
    """The curve, a slider that walks along it, and the model's own place. Hidden where no script runs: the table says the same."""
    points = [LOW * (HIGH / LOW) ** (i / 100) for i in range(101)]
    line = " ".join(f"{i},{_down(Chance(e).fifty):.2f}" for i, e in enumerate(points))
    grid = "".join(f'<line x1="0" x2="100" y1="{y}" y2="{y}"/>' for y in (0, 50, 100))
    labels = "".join(f'<span class="y" style="top:{y}%">{text} %</span>' for y, text in ((0, 100), (50, 75), (100, 50)))
    labels += "".join(f'<span class="x" style="left:{_across(e):.2f}%">{e:g}</span>' for e in TICKS)
    start = 1.0
    if own is not None:
        start = min(max(own.epsilon, LOW), HIGH)
        x = _across(start)
        side = " left" if x > 80 else " right" if x < 20 else ""
        grid += f'<line class="mine" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="100"/>'
        labels += f'<span class="mark{side}" style="left:{x:.2f}%">{"this model" if proved else "asked for"}</span>'
    value = math.log10(start)
    return (
        '<div class="scale" id="scale" hidden><dl class="reading">'
        '<div><dt>epsilon</dt><dd id="scale-now"></dd></div>'
        '<div><dt>right at most, where guessing gets 50 %</dt><dd id="scale-chance"></dd></div>'
        '<div><dt>times the odds of any belief, at most</dt><dd id="scale-factor"></dd></div></dl>'
        '<div class="plot" aria-hidden="true"><svg viewBox="0 0 100 100" preserveAspectRatio="none">'
        f'{grid}<path d="M{line}"/></svg>{labels}<span class="dot" id="scale-dot"></span></div>'
        '<div class="slide"><label for="scale-epsilon">Move epsilon</label>'
        f'<input type="range" id="scale-epsilon" min="{math.log10(LOW):g}" max="{math.log10(HIGH):.4f}" step="any" value="{value:.4f}"></div></div>'
    )


def _across(epsilon: float) -> float:
    return 100 * math.log(epsilon / LOW) / math.log(HIGH / LOW)


def _down(chance: float) -> float:
    return 100 * (1 - chance) / 0.5


def _chances(own: Chance | None, proved: bool) -> str:
    rows = {e: Chance(e) for e in SCALE}
    if own is not None and proved:
        rows[own.epsilon] = own
    cells = []
    for epsilon in sorted(rows):
        row, mine = rows[epsilon], own is not None and proved and epsilon == own.epsilon
        note = " (this model)" if mine else ""
        cells.append(
            f'<tr{" class=own" if mine else ""}><th scope="row">{_epsilon_text(epsilon)}{note}</th><td class="n">{factor(row.factor)}</td>'
            f'<td class="n">{bound(row.fifty)}</td><td class="n">{bound(row.ten)}</td><td class="n">{bound(row.one)}</td></tr>'
        )
    return _wide(
        "<caption>What a belief that a person&rsquo;s record is in the table can become, at most; all numbers are rounded up</caption>"
        '<thead><tr><th scope="col">epsilon</th><th scope="col" class="n">odds grow by</th><th scope="col" class="n">50 % becomes</th>'
        '<th scope="col" class="n">10 % becomes</th><th scope="col" class="n">1 % becomes</th></tr></thead>'
        f"<tbody>{''.join(cells)}</tbody>",
        "Chances by epsilon",
    )


def _budget(s: Summary) -> str:
    ledger = s.ledger
    if ledger is None:
        if s.statement is None:
            return "<p>Nothing was counted: this model was learned without privacy.</p>"
        return (
            "<p>No ledger was kept, so this page cannot tell what else was released from the same table. Promises add up: two models with "
            "epsilon 1 are together one release with epsilon 2. A ledger counts this, and refuses what would be too much.</p>"
        )
    total, (spent, spent_delta) = ledger.epsilon, ledger.spent
    left = ledger.remaining
    segments = [
        (float(e.epsilon / total) if total else 0.0, "now" if i % 2 == 0 else "spent")
        for i, e in enumerate(ledger.entries)
    ]
    spoken = f"{float(spent):.4g} of {float(total):.4g} is spent"
    rows = "".join(
        f'<tr><td>{plain(e.when)}</td><th scope="row">{name(e.what)}</th><td class="n">{_amount(e)}</td><td class="n">{_proved(e)}</td></tr>'
        for e in ledger.entries
    )
    epsilon, delta = ledger.proved
    together = (
        "nothing"
        if math.isinf(epsilon)
        else f"&epsilon; {rounded_up(epsilon, 4)}{f', &delta; {rounded_up(delta, 3)}' if delta else ''}"
    )
    whole = f"{float(spent):.6g}" + (f", &delta; {float(spent_delta):.3g}" if spent_delta else "")
    loud = (
        '<p class="loud"><strong>Nothing is proved about all releases together</strong>, because nothing is about at least one of them.</p>'
        if math.isinf(epsilon)
        else ""
    )
    return (
        f"<p>All releases from this table share one budget of &epsilon; = {float(total):.6g}"
        f"{f' and &delta; = {float(ledger.delta):.3g}' if ledger.delta else ''}. When this model was saved, <b>{float(spent):.6g}</b> of it was spent, in "
        f"{len(ledger.entries)} release{'' if len(ledger.entries) == 1 else 's'}, and <b>{float(left[0]):.6g}</b> was left.</p>"
        f"{bar(segments, spoken)}{loud}"
        + _wide(
            "<caption>The ledger, oldest first</caption>"
            '<thead><tr><th scope="col">Day</th><th scope="col">Release</th><th scope="col" class="n">asked for</th>'
            '<th scope="col" class="n">proved</th></tr></thead>'
            f'<tbody>{rows}</tbody><tfoot><tr><td></td><th scope="row">together</th><td class="n">&epsilon; {whole}</td><td class="n">{together}</td></tr></tfoot>',
            "The ledger",
        )
        + "<p class='soft'>A ledger counts what it is told. Two ledgers for one table do not know of each other.</p>"
    )


def _amount(entry: Entry) -> str:
    delta = f", &delta; {float(entry.delta):.3g}" if entry.delta else ""
    return f"&epsilon; {float(entry.epsilon):.6g}{delta}"


def _proved(entry: Entry) -> str:
    if entry.proved_epsilon is None or entry.proved_delta is None:
        return "nothing"
    delta = f", &delta; {rounded_up(float(entry.proved_delta), 3)}" if entry.proved_delta else ""
    return f"&epsilon; {rounded_up(float(entry.proved_epsilon), 6)}{delta}"


def _columns(s: Summary) -> str:
    if not s.columns:
        return "<p>The model says nothing about columns: it uses none.</p>"
    parts = []
    if s.inferred:
        parts.append(
            '<p class="loud"><strong>The schema was made from the records.</strong> Its columns, cut points and categories were read off them, so that they '
            "may show something about single people. No promise covers this. Write a schema from a data dictionary instead.</p>"
        )
    groups = (
        ("used", "Used by rules", "used", "No rule uses a column."),
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
            "<p>No rule can read a column that was kept out. Other columns may still tell much of the same: a neighbourhood stands in for an "
            "income, a job for a gender.</p>"
        )
    return "".join(parts)


def _limits(s: Summary) -> str:
    items = [
        (
            "People with several records",
            "The promise is about one record. To a person with k records, read epsilon as k times as large.",
        ),
        (
            "Groups",
            "What is typical of a group can be learned, and says something about everyone in it. Privacy of this kind is not fairness.",
        ),
        ("Whoever is scored", "The model promises nothing to people whose records it is applied to."),
        (
            "Measuring it on private records",
            "Accuracy on private records, cross-validation and a search for good parameters look at them.",
        ),
        (
            "How long learning took",
            "Someone who can time a fit, or watch its memory, may learn something about the table.",
        ),
        (
            "Other releases",
            "Each further release from the same table costs privacy, whether a ledger knows of it or not.",
        ),
    ]
    if s.statement is None:
        lead = "<p>Nothing is covered here. For a model with a promise, these would still be outside of it:</p>"
    elif not s.is_private:
        lead = "<p>Nothing is proved about this model. Even with a proof, these would be outside of it:</p>"
    else:
        lead = "<p>The promise is about this model and the records that it was learned from. Outside of it are:</p>"
    listed = "".join(f"<li><b>{title}.</b> {text}</li>" for title, text in items)
    return (
        f"{lead}<ul>{listed}</ul><p>A rule list is a summary of past records. That a rule is true of many of them does not mean that its condition is the "
        "cause. The package&rsquo;s pages &ldquo;The privacy promise&rdquo; and &ldquo;Limitations&rdquo; say more, with proofs.</p>"
    )


def _details(s: Summary) -> str:
    rows = [("Learner", s.learner), ("Version of discreet", s.version), *((key, value) for key, value in s.parameters)]
    cells = "".join(f'<tr><th scope="row">{name(a)}</th><td>{name(b, "value")}</td></tr>' for a, b in rows)
    return _wide(
        "<caption>How the model was learned. Seeds, given candidates and the number of records are left out on purpose.</caption>"
        f'<thead><tr><th scope="col">Parameter</th><th scope="col">Value</th></tr></thead><tbody>{cells}</tbody>',
        "Parameters",
    )


def _epsilon_text(value: float) -> str:
    return rounded_up(value, 4)


def _sentence(text: str) -> str:
    return plain(text[:1].upper() + text[1:]) + ("" if text.endswith(".") else ".")

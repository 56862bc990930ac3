"""The rules as a diagram, and how they split the records that reach them, from the released counts."""

from .._utils.html import bar, name, plain, wide
from ..models.display.points_part import points
from ..models.display.summary import Step, Summary
from ..models.display.wording import colour, condition, count_cells, ends, number, percent, said
from .counts_part import counts_are, legend, no_counts, noise, right


def rules(s: Summary) -> str:
    """The rules as cards along a line, with a bar of class shares each; before them, tables of points if there are any."""
    if len(s.steps) == 1:
        read = f"The {plain(s.short_kind)} has no rules: it gives the same answer to everybody."
    elif s.points:
        read = (
            "Then look up the total. Read from the top: the first rule that is true of it gives the label; if none is, the "
            "default does."
        )
    else:
        read = (
            "Read from the top. The first rule that is true of a record gives its label; if none is, the default does."
        )
    bars = " Bars show how likely each class is." if s.has_shares else ""
    if s.has_counts:
        bars = " Bars show the share of each class among the records that a rule takes."
    cards = "".join(_card(s, step) for step in s.steps)
    return f'{points(s)}<p>{read}{bars}</p>{legend(s) if s.has_shares else ""}<ol class="rules">{cards}</ol>'


def _card(s: Summary, step: Step) -> str:
    last = step.number == len(s.steps)
    word = ("always" if last else "if") if step.number == 1 else ("else" if last else "else if")
    text = "" if last else f" {condition(step.tests)}"
    place = s.classes.index(step.label)
    kind = " last" if last else ""
    mark = "" if last else str(step.number)
    head = (
        f'<p class="if"><span><span class="word">{word}</span>{text}</span>'
        f'<span class="then then-{place % 6}"><span class="word">predict</span> {name(step.label)}</span></p>'
    )
    body = ""
    if step.shares is not None:
        spoken = ", ".join(f"{percent(x)} {plain(c)}" for x, c in zip(step.shares, s.classes, strict=True))
        parts = "".join(
            f'<span><span class="key {colour(i)}"></span>{name(c)} <b>{percent(x)}</b></span>'
            for i, (x, c) in enumerate(zip(step.shares, s.classes, strict=True))
        )
        about = "" if s.statement is None else "about "
        support = "" if step.support is None else f"{about}{number(round(step.support))} records"
        support += f" ({ends(step.support_ends)})" if step.support_ends else ""
        support += f"; {plain(step.reason)}" if step.reason else ""
        segments = [(x, colour(i)) for i, x in enumerate(step.shares)]
        body = (
            f"{bar(segments, f'Class shares: {spoken}')}"
            f'<p class="shares"><span class="parts">{parts}</span><span '
            f'class="soft">{support}</span></p>'
        )
    elif step.counts is not None:
        body = '<p class="soft">All of its noisy counts are zero or below, so no shares can be shown.</p>'
    if step.faint and step.shares is not None:
        body += (
            '<p class="faint">So few records that the noise is as large as the counts: these shares mean little.</p>'
        )
    node = f'<span class="node{kind}" aria-hidden="true">{mark}</span>'
    return f'<li>{node}<div class="card">{head}{body}</div></li>'


def splits(s: Summary) -> str:
    """How many of the records that reach a rule it takes: a figure and a table."""
    if not s.has_counts:
        return no_counts(s, "rule")
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
    figure = (
        f'<figure class="flow">{legend(s, onward_key)}<ol>{"".join(rows)}</ol>'
        "<figcaption>The full width stands for all records. A rule takes its part from those that no earlier "
        "rule took.</figcaption></figure>"
    )
    return noise(s, "rule") + figure + right(s) + _table(s)


def _table(s: Summary) -> str:
    heads = "".join(f'<th scope="col" class="n">{name(label)}</th>' for label in s.classes)
    rows = []
    for step in s.steps:
        who = f"{step.number}. {condition(step.tests)}" if step.tests else "default"
        cells = count_cells(step.counts or (), step.count_ends)
        taken = "&ndash;" if step.taken is None else percent(step.taken)
        rows.append(f'<tr><th scope="row">{who}</th>{cells}<td class="n">{taken}</td></tr>')
    return wide(
        f"<caption>{counts_are(s)}, by class, and the share that each rule takes of the records that reach it</caption>"
        f'<thead><tr><th scope="col">Rule</th>{heads}<th scope="col" class="n">takes</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        "Counts of each rule",
    )

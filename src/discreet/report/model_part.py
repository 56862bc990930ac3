"""What a model says, drawn for people (a list, a tree, a card), and how it divides the records, from the released counts.

A tree's drawing is one nested list. Where there is room for its depth, CSS draws it from left to right; elsewhere, as on a phone,
it is an outline. A score card can be printed and filled in by hand. Nothing needs a script or a picture.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .._utils.html import bar, heads, items, name, plain, row, table
from ..models.display.summary import CONFIDENCE, Fork, Step, Summary
from ..models.display.wording import (
    MINUS,
    PALETTE,
    answers_of,
    colour,
    condition,
    ends,
    number,
    percent,
    phrases,
    records,
    said,
    share_bar,
    signed,
)
from ..models.partition import DOUBLING, Points, numbers_of
from ..models.score_card import Card, PointsTable, percent_of
from .sections import beside

# by depth, the width of a test of a tree in rem; deeper trees are always outlines
WIDTHS = {1: 14.0, 2: 12.0, 3: 11.0, 4: 9.0, 5: 8.0}
GAP, LEAF, MARGIN = 1.5, 15.5, 3.0


def legend(s: Summary, also: str = "") -> str:
    """The colours of the classes, where something is drawn in them."""
    keys = items(f'<span class="key {colour(i)}"></span>{name(label)}' for i, label in enumerate(s.classes))
    return f'<ul class="legend" aria-label="Colours">{keys}{also}</ul>' if s.has_shares else ""


def _bars(s: Summary, of: str) -> str:
    """What the bars of a drawing are."""
    if s.has_counts:
        return f" Bars show the share of each class among the records {of}."
    return " Bars show how likely each class is." if s.has_shares else ""


def _bar_of(s: Summary, shares: Sequence[float]) -> str:
    spoken = ", ".join(f"{percent(x)} {plain(c)}" for x, c in zip(shares, s.classes, strict=True))
    return share_bar(shares, f"Class shares: {spoken}")


def _about(s: Summary) -> str:
    return "" if s.released.privacy is None else "about "


def _then(s: Summary, label: str) -> str:
    """The CSS class of the colour behind a label."""
    return f"then-{s.classes.index(label) % PALETTE}"


# A rule list ---------------------------------------------------------------------------------------------------------------


def rules(s: Summary) -> str:
    """The rules as cards along a line, with a bar of class shares each."""
    read = "Read from the top. The first rule that fits a record gives its label; if none fits, the default does."
    if len(s.steps) == 1:
        read = "The list has no rules: it gives everyone the same answer."
    drawn = "".join(_rule(s, step) for step in s.steps)
    return f'<p>{read}{_bars(s, "that a rule takes")}</p>{legend(s)}<ol class="rules">{drawn}</ol>'


def _rule(s: Summary, step: Step) -> str:
    text, kind, mark = (f" {condition(step.tests)}", "", str(step.number)) if step.tests else ("", " last", "")
    body = ""
    if step.shares is not None:
        parts = "".join(
            f'<span><span class="key {colour(i)}"></span>{name(c)} <b>{percent(x)}</b></span>'
            for i, (x, c) in enumerate(zip(step.shares, s.classes, strict=True))
        )
        body = f"""{_bar_of(s, step.shares)}<p class="shares"><span class="parts">{parts}</span>\
<span class="soft">{records(step, _about(s))}</span></p>"""
        if step.faint:
            body += '<p class="faint">Too few records: the noise is as large as the counts, so these shares mean little.</p>'
    elif step.counts is not None:
        body = '<p class="soft">All of its noisy counts are zero or below, so no shares can be shown.</p>'
    return f"""<li><span class="node{kind}" aria-hidden="true">{mark}</span><div class="card">\
<p class="if"><span><span class="word">{step.opening}</span>{text}</span>\
<span class="then {_then(s, step.label)}"><span class="word">predict</span> {name(step.label)}</span></p>{body}</div></li>"""


def _flow(s: Summary) -> str:
    """How many of the records that reach a rule it takes."""
    lines, before = [], 0.0
    for step in s.steps:
        support, reaching, taken = step.support or 0.0, step.reaching or 0.0, percent(step.taken or 0.0)
        parts = [(support / s.total * x, colour(i)) for i, x in enumerate(step.shares or ())]
        parts.append(((reaching - support) / s.total, "onward"))
        who, called = (f"rule {step.number}", said(step.tests)) if step.tests else ("the default", "The default")
        lines.append(
            f"<span><span>{percent(reaching / s.total)} of all records reach {who}</span><span>it takes <b>{taken}</b> of them"
            f"</span></span>{bar(parts, f'{called}: takes {taken} of what reaches it', before)}"
        )
        before += support / s.total
    onward = '<li><span class="key" style="background:var(--line)"></span>goes on to the next rule</li>'
    return (
        f'<figure class="flow">{legend(s, onward)}<ol>{items(lines)}</ol><figcaption>The full width stands for all records. A '
        "rule takes its part from those that no earlier rule took.</figcaption></figure>"
    )


# A tree --------------------------------------------------------------------------------------------------------------------


def tree(s: Summary) -> str:
    """The tree as boxes and lines."""
    assert s.root is not None
    read, thick, note = "The tree has no tests: it gives everyone the same answer.", "", ""
    if isinstance(s.root, Fork):
        read = (
            "Start at the first test. If it is true for a record, follow <i>true</i>, else <i>otherwise</i>. (No test is true "
            "for a missing value, unless it asks for that.) The leaf at the end gives the label."
        )
        thick = " The thicker a line, the more records follow it." if s.has_counts else ""
    if any(step.faint and step.shares is not None for step in s.steps):
        noise = "Mostly noise: too few records, so the noise is as large as the counts and the shares mean little."
        note = f'<p class="faint">{noise}</p>'
    drawn = f'<ul class="tree" role="list">{_node(s, s.root)}</ul>'
    if depth_of(s) > max(WIDTHS):  # it may be too deep for a phone
        drawn = f'<div class="wide" role="region" aria-label="Tests and leaves" tabindex="0">{drawn}</div>'
    return f"<p>{read}{_bars(s, 'of a leaf')}{thick}</p>{legend(s)}{drawn}{note}"


def tree_css(s: Summary) -> str:
    """What the page's style has to know about this tree."""
    depth, css = depth_of(s), beside("tree.css")
    if depth not in WIDTHS:
        return css
    wide = depth * (WIDTHS[depth] + GAP) + LEAF
    sizes = f".tree {{ --box: {WIDTHS[depth]:g}rem; --wide: {wide:g}rem; }}"
    return f"{css}@media (min-width: {wide + MARGIN:g}rem) {{\n{sizes}\n{beside('across.css')}}}\n"


def depth_of(s: Summary) -> int:
    """The most tests on the way to a leaf."""
    return max(len(step.tests) for step in s.steps)


def _node(s: Summary, node: Fork | Step, way: str = "") -> str:
    tag = f'<span class="way {"yes" if way == "true" else "no"}">{way}</span> ' if way else ""
    if isinstance(node, Step):
        return f"<li>{_leaf(s, node, tag)}</li>"
    asked = condition([node.test]).replace("_", "_<wbr>")  # a long name may be broken there; no tag or entity has one
    support = "" if node.support is None else f'<p class="soft">{_about(s)}{number(round(node.support))} records</p>'
    parts = ""
    if s.has_counts and s.total:
        true, other = ((branch.support or 0.0) / s.total for branch in (node.true, node.other))
        parts = f' style="--true:{true:.4f};--other:{other:.4f}"'
    return (
        f'<li><div class="ask"><p>{tag}{asked}</p>{support}</div><ul role="list"{parts}>'
        f"{_node(s, node.true, 'true')}{_node(s, node.other, 'otherwise')}</ul></li>"
    )


def _leaf(s: Summary, step: Step, tag: str) -> str:
    which = (
        f'<span class="leaf"><span class="visually-hidden">leaf </span>{step.number}</span>' if len(s.steps) > 1 else ""
    )
    body = ""
    if step.shares is not None:
        support = records(step, f" of {_about(s)}", with_ends=False)
        faint = ' <span class="faint">mostly noise</span>' if step.faint else ""
        share = percent(step.shares[s.classes.index(step.label)])
        body = f'{_bar_of(s, step.shares)}<p class="soft"><b>{share}</b>{support}{faint}</p>'
    elif step.counts is not None:
        body = '<p class="soft">Its noisy counts are zero or below.</p>'
    return (
        f'<div class="answer {_then(s, step.label)}"><p class="if"><span>{tag}<span class="word">predict</span> '
        f"{name(step.label)}</span>{which}</p>{body}</div>"
    )


# A score card --------------------------------------------------------------------------------------------------------------


def card(s: Summary) -> str:
    """What to add up, and what the total means."""
    read = "The card has no tables: it gives everyone the same answer."
    if any(part.tables for part in s.cards):
        begin = "take the first card that is for the record, begin" if len(s.cards) > 1 else "begin"
        totals = "which gives a total for each class" if s.by_class else "and look the total up below"
        read = (
            f"Fill it in by hand: {begin} with the start, write down the points of each answer, add them up, {totals}. "
            "In a table the first line that fits counts. A missing value that has no line of its own gets the points of the last "
            "line, and so does a value that the schema does not list."
        )
    return f"<p>{read}</p>" + "".join(_sheet(s, part, i) for i, part in enumerate(s.cards, 1)) + _meaning(s)


def _sheet(s: Summary, part: Card, place: int) -> str:
    head = ""
    if len(s.cards) > 1:
        tests = phrases(part.condition, s.model.schema)
        who = f'<span class="word">if</span> {condition(tests)}' if tests else "for all others"
        head = f"<h3>Card {place} of {len(s.cards)}: {who}</h3>"
    # one that is too wide scrolls; the names of the classes stand above their points
    wider = ' by-class" role="region" aria-label="A card" tabindex="0' if s.by_class else ""
    names = f"<thead><tr><td></td>{heads(numbers=map(name, s.classes))}</tr></thead>" if s.by_class else ""
    start = f'<table class="start">{names}<tbody>{row("Start", cells=_points(part.start))}</tbody></table>'
    called = "Total: the start and all points"
    total = f'<table class="total">{names}<tbody>{row(called, cells=_boxes(s))}</tbody></table>'
    tables = "".join(_table(s, table) for table in part.tables)
    return f'<div class="sheet{wider}">{head}{start}<div class="tables">{tables}</div>{total}</div>'


def _points(points: Points) -> str:
    return "".join(f'<td class="n">{signed(p)}</td>' for p in numbers_of(points))


def _boxes(s: Summary) -> str:
    return '<td class="box"></td>' * (len(s.classes) if s.by_class else 1)


def _table(s: Summary, part: PointsTable) -> str:
    called, answers, beyond = answers_of(part, s.model.schema)
    note = f'<small class="note">{plain(beyond)} counts as missing</small>' if beyond else ""
    lines = ""
    for line in answers:
        more = f"<small>{plain(line.more)}</small>" if line.more else ""
        lines += row(name(line.value, "value") + more, cells=_points(line.points))
    columns = heads("answer", numbers=map(name, s.classes) if s.by_class else ["points"])
    return f"""<table class="points"><caption>{name(called, "column")}{note}</caption>\
<thead><tr>{columns}</tr></thead><tbody>{lines}</tbody><tfoot>{row("write down", cells=_boxes(s))}</tfoot></table>"""


def _meaning(s: Summary) -> str:
    if s.by_class:
        return (
            "<h3>What the totals mean</h3><p>The class with the largest total is the answer; of equal totals, that of the class "
            f"that comes first. {DOUBLING} points more double the odds: a class that is {DOUBLING} points ahead of another is "
            f"twice as likely, {2 * DOUBLING} points make it four times as likely.</p>"
        )
    shown = [1] if len(s.classes) == 2 else list(range(len(s.classes)))
    rows = []
    for step, reach in zip(s.steps, s.ranges, strict=True):
        risks = ""
        if s.has_shares:  # the same to the eye
            shares = step.shares or (0.0,) * len(s.classes)
            spoken = ", ".join(f"{percent_of(x)} % {plain(c)}" for x, c in zip(shares, s.classes, strict=True))
            risks = "".join(f'<td class="n">{percent_of(shares[i])}&nbsp;%</td>' for i in shown)
            risks += f'<td class="drawn">{share_bar(shares, spoken)}</td>'
        predicted = f'<td><span class="then {_then(s, step.label)}">{name(step.label)}</span></td>'
        rows.append(row(_minus(reach), cells=risks + predicted))
    caption, risks = "Which class is predicted", ""
    if s.has_shares:
        how = f"how likely {name(s.classes[1])} is" if len(shown) == 1 else "how likely each class is"
        caption = f"For each total {how}, and which class is predicted"
        risks = heads(numbers=(name(s.classes[i]) for i in shown)) + "<td></td>"
    drawn = table("What the total means", caption, heads("Total") + risks + heads("predict"), rows)
    return f'<div class="meaning risks"><h3>What the total means</h3>{legend(s)}{drawn}</div>'


def _minus(text: str) -> str:
    return plain(text.replace("-", MINUS))


def _histogram(s: Summary) -> str:
    """How many records have each total."""
    most, lines = max(step.support or 0.0 for step in s.steps), []
    for step, reach in zip(s.steps, map(_minus, s.ranges), strict=True):
        counts = step.counts or ()
        spoken = ", ".join(f"{number(c)} {plain(label)}" for c, label in zip(counts, s.classes, strict=True))
        drawn = share_bar([max(0.0, c) / most for c in counts], f"{reach}: {spoken}")
        share = percent((step.support or 0.0) / s.total)
        lines.append(f'<span class="total">{reach}</span>{drawn}<span class="n">{share}</span>')
    return (
        f'<figure class="flow totals">{legend(s)}<ol>{items(lines)}</ol><figcaption>How many of the records have a total in '
        "each range, by class. The longest bar is the range with most of them.</figcaption></figure>"
    )


# How a model of any kind divides the records -------------------------------------------------------------------------------


class Drawing(NamedTuple):
    """How models of a kind are drawn, what their parts are called, and of which records a part's share is."""

    title: str
    draw: Callable[[Summary], str]
    css: Callable[[Summary], str]
    figure: Callable[[Summary], str]  # how many records each part has; a tree's drawing says it
    part: str
    share_of: str


LIST = Drawing("The rules", rules, lambda s: "", _flow, "rule", "the records that reach it")
TREE = Drawing("The tree", tree, tree_css, lambda s: "", "leaf", "all records")
CARD = Drawing("The card", card, lambda s: beside("card.css"), _histogram, "range of totals", "all records")


def kind_of(s: Summary) -> Drawing:
    """The kind of a model."""
    return CARD if s.cards else LIST if s.root is None else TREE


def noun(s: Summary) -> str:
    """In a word, what the model is: list, tree, card."""
    return plain(s.model.kind.split()[-1])


def division(s: Summary) -> str:
    """How many records each part takes: a figure and a table."""
    if s.by_class:
        return "<p>With more than two classes no totals are counted: all of the budget goes to the points.</p>"
    kind = kind_of(s)
    if not s.has_counts:
        more = "" if s.has_shares else ", and how sure it is,"
        return (
            f"<p>This model released no class counts, so how many records each {kind.part} takes{more} is unknown.</p>"
        )
    if not s.total:
        nothing = (
            f"<p>All released counts are zero or below: the noise hides how the {noun(s)} divides the records.</p>"
        )
        return nothing + _counts(s, kind)
    right = ""
    if s.right is not None:
        right = (
            f"<p>By these counts the {noun(s)} is right on about <b>{percent(s.right)}</b> of the records it was learned from. "
            "On new records it may do worse.</p>"
        )
    return _noise(s) + _decisions(s, kind) + kind.figure(s) + right + _counts(s, kind)


def _noise(s: Summary) -> str:
    """How far off the counts are."""
    if s.released.privacy is None:
        return "<p>These are exact counts, straight from the records.</p>"
    if s.margin is None:
        return "<p>Counts were released with noise, so they are not exact and may be below zero.</p>"
    return (
        f"<p>Counts were released with noise. Each is off by at most <b>{s.margin:,}</b> in {CONFIDENCE:.0%} of all "
        "cases: the table shows this interval (noise only) below each count. Where the noise is "
        "larger than a count, the released count may be below zero.</p>"
    )


def _decisions(s: Summary, kind: Drawing) -> str:
    """That a label need not be the most frequent class, where one is not."""
    if not any(step.reason for step in s.steps):
        return ""
    odds = "as a probability it gets at least that of the largest class."
    if s.model.class_weight is not None:
        odds = "its probability is still the share of the counts."
    return (
        f"<p>A label is a decision: at a {kind.part.split()[0]} with a reason beside its records, another class has the larger "
        f"count. The counts are as released; {odds}</p>"
    )


def _counts(s: Summary, kind: Drawing) -> str:
    """The released counts of each part, each with its interval below it, and its share."""
    rows = []
    for i, step in enumerate(s.steps):
        called = "default" if s.root is None else "everybody"
        if step.tests:
            called = f"{step.number}. {condition(step.tests)}"
        share = step.taken
        if s.cards:
            called, share = _minus(s.ranges[i]), (step.support or 0.0) / s.total if s.total else None
        counts = [number(c) for c in step.counts or ()]
        if step.count_ends is not None:
            counts = [f"{c}<small>{ends(e)}</small>" for c, e in zip(counts, step.count_ends, strict=True)]
        rows.append(row(called, numbers=[*counts, "&ndash;" if share is None else percent(share)]))
    title = "Exact counts" if s.released.privacy is None else "Counts as released"
    caption = f"{title}, by class, and the share of {kind.share_of}"
    columns = heads(kind.part.capitalize(), numbers=[*map(name, s.classes), "share"])
    return table(f"Counts of each {kind.part}", caption, columns, rows)

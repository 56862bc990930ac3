"""What a model says, drawn for people (a list, a tree, a card), and how it divides the records, from the released counts.

A tree's drawing is one nested list. Where there is room for its depth, CSS draws it from left to right; elsewhere, as on a phone,
it is an outline. A score card can be printed and filled in by hand. Nothing needs a script or a picture.
"""

from collections.abc import Sequence
from importlib.resources import files

from .._utils.html import bar, name, plain, wide
from ..models.cards import percent_of
from ..models.display.summary import (
    CONFIDENCE,
    CardPart,
    Phrase,
    PointsRule,
    Step,
    Summary,
    TablePart,
    support_of,
)
from ..models.display.wording import MINUS, colour, condition, count_cells, ends, number, percent, said, signed
from ..models.partition import DOUBLING, Points, numbers_of
from ..models.tree import Fork

Rows = Sequence[tuple[str, Step, float | None]]
BOX = '<td class="box"></td>'
# by depth, the width of a test of a tree in rem; deeper trees are always outlines
WIDTHS = {1: 14.0, 2: 12.0, 3: 11.0, 4: 9.0, 5: 8.0}
GAP, LEAF, MARGIN = 1.5, 15.5, 3.0


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
    cards = "".join(_rule(s, step) for step in s.steps)
    return f'{_points(s)}<p>{read}{bars}</p>{legend(s) if s.has_shares else ""}<ol class="rules">{cards}</ol>'


def _rule(s: Summary, step: Step) -> str:
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
        parts = "".join(
            f'<span><span class="key {colour(i)}"></span>{name(c)} <b>{percent(x)}</b></span>'
            for i, (x, c) in enumerate(zip(step.shares, s.classes, strict=True))
        )
        about = "" if s.statement is None else "about "
        support = "" if step.support is None else f"{about}{number(round(step.support))} records"
        support += f" ({ends(step.support_ends)})" if step.support_ends else ""
        support += f"; {plain(step.reason)}" if step.reason else ""
        body = (
            f"{_share_bar(s, step.shares)}"
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
        return _all_noise("the rules split") + _counts_of_rules(s)
    rows, before = [], 0.0
    for step in s.steps:
        support, reaching, taken = step.support or 0.0, step.reaching or 0.0, step.taken or 0.0
        shares = [(support / s.total * x, colour(i)) for i, x in enumerate(step.shares or ())]
        onward = (reaching - support) / s.total
        who = "the default" if step.number == len(s.steps) else f"rule {step.number}"
        label = f"{said(step.tests) if step.tests else 'The default'}: takes {percent(taken)} of what reaches it"
        rows.append(
            f"<li><span><span>{percent(reaching / s.total)} of all records reach {who}</span><span>it takes "
            f"<b>{percent(taken)}</b> of them</span></span>{bar([*shares, (onward, 'onward')], label, before)}</li>"
        )
        before += support / s.total
    onward_key = '<li><span class="key" style="background:var(--line)"></span>goes on to the next rule</li>'
    figure = (
        f'<figure class="flow">{legend(s, onward_key)}<ol>{"".join(rows)}</ol>'
        "<figcaption>The full width stands for all records. A rule takes its part from those that no earlier "
        "rule took.</figcaption></figure>"
    )
    return noise(s, "rule") + figure + right(s) + _counts_of_rules(s)


def _counts_of_rules(s: Summary) -> str:
    rows = [(f"{x.number}. {condition(x.tests)}" if x.tests else "default", x, x.taken) for x in s.steps]
    return _counts(s, "rule", "share that each rule takes of the records that reach it", ("Rule", "takes"), rows)


def _points(s: Summary) -> str:
    """A table for each partition. Nothing for a model without points."""
    if not s.points:
        return ""
    tables = "".join(_points_table(rules, number, len(s.points)) for number, rules in enumerate(s.points, 1))
    return (
        "<p>Add up points. Each table gives those of its first line that is true of a record, and of its last line if none "
        f"is.</p>{tables}"
    )


def _points_table(rules: tuple[PointsRule, ...], number: int, of: int) -> str:
    rows = []
    for place, rule in enumerate(rules):
        what = condition(rule.tests) if rule.tests else "otherwise" if place else "always"
        rows.append(
            f'<tr><th scope="row">{what}</th><td class="n">{", ".join(map(signed, numbers_of(rule.points)))}</td></tr>'
        )
    return wide(
        f"<caption>Table {number} of {of}</caption>"
        '<thead><tr><th scope="col">If</th><th scope="col" class="n">points</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        f"Points, table {number}",
    )


def tree(s: Summary) -> str:
    """The tree as boxes and lines."""
    assert s.root is not None
    if isinstance(s.root, Step):
        read = "The tree has no tests: it gives the same answer to everybody."
    else:
        read = (
            "Begin at the first test. Where it is true of a record, go on at <i>true</i>, else at <i>otherwise</i>. (Of a "
            "missing value no test is true, unless it asks for that.) The leaf at the end gives the label."
        )
    bars = " Bars show how likely each class is." if s.has_shares else ""
    if s.has_counts:
        bars = " Bars show the share of each class among the records of a leaf."
        bars += "" if isinstance(s.root, Step) else " The more records go a way, the thicker its line."
    note = ""
    if any(step.faint and step.shares is not None for step in s.steps):
        note = (
            '<p class="faint">Mostly noise: so few records that the noise is as large as the counts, and the shares mean '
            "little.</p>"
        )
    keys = legend(s) if s.has_shares else ""
    drawn = f'<ul class="tree" role="list">{_node(s, s.root)}</ul>'
    if _depth(s) > max(WIDTHS):  # it may be too deep for a phone
        drawn = f'<div class="wide" role="region" aria-label="Tests and leaves" tabindex="0">{drawn}</div>'
    return f"<p>{read}{bars}</p>{keys}{drawn}{note}"


def tree_css(s: Summary) -> str:
    """What the page's style has to know about this tree."""
    depth = _depth(s)
    if depth not in WIDTHS:
        return style("tree.css")
    wide = depth * (WIDTHS[depth] + GAP) + LEAF
    sizes = f".tree {{ --box: {WIDTHS[depth]:g}rem; --wide: {wide:g}rem; }}"
    return f"{style('tree.css')}@media (min-width: {wide + MARGIN:g}rem) {{\n{sizes}\n{style('across.css')}}}\n"


def _node(s: Summary, node: Fork[Phrase, Step] | Step, way: str = "") -> str:
    tag = f'<span class="way {"yes" if way == "true" else "no"}">{way}</span> ' if way else ""
    if isinstance(node, Step):
        return f"<li>{_leaf(s, node, tag)}</li>"
    reaching = support_of(node)
    support = "" if reaching is None else f'<p class="soft">{_about(s)}{number(round(reaching))} records</p>'
    parts = ""
    if s.has_counts and s.total:
        of = [(support_of(branch) or 0.0) / s.total for branch in (node.true, node.other)]
        parts = f' style="--true:{of[0]:.4f};--other:{of[1]:.4f}"'
    return (
        f'<li><div class="ask"><p>{tag}{_breakable(condition([node.test]))}</p>{support}</div><ul role="list"{parts}>'
        f"{_node(s, node.true, 'true')}{_node(s, node.other, 'otherwise')}</ul></li>"
    )


def _leaf(s: Summary, step: Step, tag: str) -> str:
    place = s.classes.index(step.label)
    which = f'<span class="leaf"><span class="unseen">leaf </span>{step.number}</span>' if len(s.steps) > 1 else ""
    body = ""
    if step.shares is not None:
        support = "" if step.support is None else f" of {_about(s)}{number(round(step.support))} records"
        support += f"; {plain(step.reason)}" if step.reason else ""
        faint = ' <span class="faint">mostly noise</span>' if step.faint else ""
        body = f'{_share_bar(s, step.shares)}<p class="soft"><b>{percent(step.shares[place])}</b>{support}{faint}</p>'
    elif step.counts is not None:
        body = '<p class="soft">Its noisy counts are zero or below.</p>'
    return (
        f'<div class="answer then-{place % 6}"><p class="if"><span>{tag}<span class="word">predict</span> '
        f"{name(step.label)}</span>{which}</p>{body}</div>"
    )


def _breakable(html: str) -> str:
    """With places where a long name may be broken. No tag or entity has an underscore."""
    return html.replace("_", "_<wbr>")


def style(filename: str) -> str:
    """A file beside this one that goes into the page."""
    return files(__package__).joinpath(filename).read_text(encoding="utf-8")


def _depth(s: Summary) -> int:
    return max(len(step.tests) for step in s.steps)


def _about(s: Summary) -> str:
    return "" if s.statement is None else "about "


def leaves(s: Summary) -> str:
    """How many records each leaf takes: a table."""
    if not s.has_counts:
        return no_counts(s, "leaf")
    if not s.total:
        return _all_noise("the tree divides") + _counts_of_leaves(s)
    return noise(s, "leaf") + right(s) + _counts_of_leaves(s)


def _counts_of_leaves(s: Summary) -> str:
    rows = [(f"{x.number}. {condition(x.tests)}" if x.tests else "everybody", x, x.taken) for x in s.steps]
    return _counts(s, "leaf", "share of all records that each leaf takes", ("Leaf", "takes"), rows)


def card(s: Summary) -> str:
    """What to add up, and what the total means."""
    begin = "take the first card that is for the record, begin" if len(s.cards) > 1 else "begin"
    totals = "which gives a total for each class" if s.by_class else "and look the total up below"
    tables = any(part.tables for part in s.cards)
    read = (
        f"<p>Fill it in by hand: {begin} with the start, write down the points of each answer, add them up, {totals}. "
        "In a table the first line that fits counts. What is missing, where no line says so, gets the points of the last "
        "line, and so does what the schema does not foresee.</p>"
        if tables
        else "<p>The card has no tables: it gives the same answer to everybody.</p>"
    )
    return read + "".join(_sheet(s, part, i) for i, part in enumerate(s.cards, 1)) + _meaning(s)


def _sheet(s: Summary, part: CardPart, place: int) -> str:
    head = ""
    if len(s.cards) > 1:
        who = f'<span class="word">if</span> {condition(part.tests)}' if part.tests else "for all others"
        head = f"<h3>Card {place} of {len(s.cards)}: {who}</h3>"
    tables = "".join(_table(s, table) for table in part.tables)
    wider = (
        ' by-class" role="region" aria-label="A card" tabindex="0' if s.by_class else ""
    )  # it scrolls if it is too wide
    return (
        f'<div class="sheet{wider}">{head}{_line(s, "Start", part.start, "start")}'
        f'<div class="tables">{tables}</div>{_line(s, "Total", None, "total")}</div>'
    )


def _line(s: Summary, what: str, points: Points | None, css: str) -> str:
    """The start, or an empty place for the total."""
    given = None if points is None else numbers_of(points)
    cells = BOX * (len(s.classes) if s.by_class else 1) if given is None else "".join(map(_cell, given))
    called = "Total: the start and all points" if given is None else what
    return f'<table class="{css}">{_heads(s, "")}<tbody><tr><th scope="row">{called}</th>{cells}</tr></tbody></table>'


def _heads(s: Summary, first: str) -> str:
    """The names of the classes above their points; a head of the only column of points where there is a first one."""
    points = [name(c) for c in s.classes] if s.by_class else ["points"] if first else []
    if not points:
        return ""
    before = f'<th scope="col">{first}</th>' if first else "<td></td>"
    heads = "".join(f'<th scope="col" class="n">{p}</th>' for p in points)
    return f"<thead><tr>{before}{heads}</tr></thead>"


def _cell(points: float) -> str:
    return f'<td class="n">{signed(points)}</td>'


def _table(s: Summary, table: TablePart) -> str:
    rows = []
    for line in table.lines:
        more = f"<small>{plain(line.more)}</small>" if line.more else ""
        cells = "".join(map(_cell, numbers_of(line.points)))
        rows.append(f'<tr><th scope="row">{name(line.value, "value")}{more}</th>{cells}</tr>')
    note = f'<small class="note">{plain(table.beyond)} counts as missing</small>' if table.beyond else ""
    boxes = BOX * (len(s.classes) if s.by_class else 1)
    return (
        f'<table class="points"><caption>{name(table.column, "column")}{note}</caption>{_heads(s, "answer")}'
        f'<tbody>{"".join(rows)}</tbody><tfoot><tr><th scope="row">write down</th>{boxes}</tr></tfoot></table>'
    )


def _meaning(s: Summary) -> str:
    if s.by_class:
        return (
            "<h3>What the totals mean</h3><p>The class with the largest total is the answer; of equal totals, that of the class "
            f"that comes first. {DOUBLING} points more double the odds: a class that is {DOUBLING} points ahead of another is "
            f"twice as likely, {2 * DOUBLING} points make it four times as likely.</p>"
        )
    shown = [1] if len(s.classes) == 2 else list(range(len(s.classes)))
    heads = "".join(f'<th scope="col" class="n">{name(s.classes[i])}</th>' for i in shown if s.has_shares)
    heads += "<td></td>" if s.has_shares else ""
    rows = []
    for step, reach in zip(s.steps, s.ranges, strict=True):
        shares = step.shares or (0.0,) * len(s.classes)
        risks = "".join(f'<td class="n">{percent_of(shares[i])}&nbsp;%</td>' for i in shown if s.has_shares)
        if s.has_shares:  # the same to the eye
            spoken = ", ".join(f"{percent_of(x)} % {plain(c)}" for x, c in zip(shares, s.classes, strict=True))
            risks += f'<td class="drawn">{bar([(x, colour(i)) for i, x in enumerate(shares)], spoken)}</td>'
        place = s.classes.index(step.label)
        predicted = f'<td><span class="then then-{place % 6}">{name(step.label)}</span></td>'
        rows.append(f'<tr><th scope="row">{_minus(reach)}</th>{risks}{predicted}</tr>')
    how = f"how likely {name(s.classes[1])} is" if len(shown) == 1 else "how likely each class is"
    caption = f"For each total {how}, and which class is predicted" if s.has_shares else "Which class is predicted"
    table = wide(
        f"<caption>{caption}</caption>"
        f'<thead><tr><th scope="col">Total</th>{heads}<th scope="col">predict</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        "What the total means",
    )
    keys = legend(s) if s.has_shares else ""
    return f'<div class="meaning risks"><h3>What the total means</h3>{keys}{table}</div>'


def _minus(text: str) -> str:
    return plain(text.replace("-", MINUS))


def totals(s: Summary) -> str:
    """How many records have each total: a figure and a table."""
    if s.by_class:
        return "<p>With more than two classes no totals are counted: all of the budget goes to the points.</p>"
    if not s.has_counts:
        return no_counts(s, "range of totals")
    most = max((step.support or 0.0 for step in s.steps), default=0.0)
    if not most:
        return _all_noise("totals divide") + _counts_of_totals(s)
    rows = []
    for step, reach in zip(s.steps, s.ranges, strict=True):
        support = step.support or 0.0
        parts = [(max(0.0, c) / most, colour(i)) for i, c in enumerate(step.counts or ())]
        spoken = ", ".join(f"{number(c)} {plain(label)}" for c, label in zip(step.counts or (), s.classes, strict=True))
        rows.append(
            f'<li><span class="total">{_minus(reach)}</span>{bar(parts, f"{_minus(reach)}: {spoken}")}'
            f'<span class="n">{percent(support / s.total)}</span></li>'
        )
    figure = (
        f'<figure class="flow totals">{legend(s)}<ol>{"".join(rows)}</ol><figcaption>How many of the records have a total in '
        "each range, by class. The longest bar is the range with most of them.</figcaption></figure>"
    )
    return noise(s, "range") + figure + right(s) + _counts_of_totals(s)


def _counts_of_totals(s: Summary) -> str:
    shares = [x.support / s.total if s.total and x.support is not None else None for x in s.steps]
    rows = list(zip(map(_minus, s.ranges), s.steps, shares, strict=True))
    what = "share of all records that each range has"
    return _counts(s, "range of totals", what, ("Total", "of all"), rows)


def legend(s: Summary, also: str = "") -> str:
    """The colours of the classes."""
    keys = "".join(f'<li><span class="key {colour(i)}"></span>{name(label)}</li>' for i, label in enumerate(s.classes))
    return f'<ul class="legend" aria-label="Colours">{keys}{also}</ul>'


def no_counts(s: Summary, part: str) -> str:
    """What cannot be said without counts. ``part`` is "rule" or "leaf"."""
    if s.has_shares:
        return f"<p>This model released no class counts, so how many records each {part} takes cannot be said.</p>"
    return (
        f"<p>This model released no class counts, so how many records each {part} takes, and how sure it is, cannot be "
        "said. Nobody can read it off the model either.</p>"
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
        f"<p>Counts were released with noise. Each is off by at most <b>{s.margin:,}</b> in {CONFIDENCE:.0%} of all "
        "cases: the table has this interval below each of them, and it covers the noise alone. Where the noise is "
        f"larger than a count, that may be below zero.</p>{decisions(s, part)}"
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
        f"<p>By these counts the {plain(s.short_kind)} gives the right answer for about <b>{percent(s.right)}</b> of "
        "the records that it was learned from. On new records it may do worse.</p>"
    )


def _all_noise(what: str) -> str:
    return f"<p>All released counts are zero or below: the noise hides how {what} the records.</p>"


def _share_bar(s: Summary, shares: Sequence[float]) -> str:
    spoken = ", ".join(f"{percent(x)} {plain(c)}" for x, c in zip(shares, s.classes, strict=True))
    return bar([(x, colour(i)) for i, x in enumerate(shares)], f"Class shares: {spoken}")


def _counts(s: Summary, unit: str, what: str, heads: tuple[str, str], steps: Rows) -> str:
    """The released counts of each step, which has a name, and the share that it takes."""
    classes = "".join(f'<th scope="col" class="n">{name(label)}</th>' for label in s.classes)
    rows = []
    for called, step, share in steps:
        cells, taken = count_cells(step.counts or (), step.count_ends), "&ndash;" if share is None else percent(share)
        rows.append(f'<tr><th scope="row">{called}</th>{cells}<td class="n">{taken}</td></tr>')
    title = "Counts as released" if s.statement is not None else "Exact counts"
    first, last = heads
    return wide(
        f"<caption>{title}, by class, and the {what}</caption>"
        f'<thead><tr><th scope="col">{first}</th>{classes}<th scope="col" class="n">{last}</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        f"Counts of each {unit}",
    )

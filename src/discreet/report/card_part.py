"""A score card that can be printed and filled in by hand, and how totals divide the records, from the released counts."""

from importlib.resources import files

from .._utils.html import name, plain, wide
from .._utils.svg import bar
from ..models.cards import numbers_of, percent_of
from ..models.display.points_part import MINUS, signed
from ..models.display.summary import CardPart, Summary, TablePart
from ..models.display.wording import colour, condition, count_cells, number, percent
from ..models.partition import DOUBLING, Points
from .counts_part import counts_are, legend, no_counts, noise, right

BOX = '<td class="box"></td>'


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


def card_css() -> str:
    """What the page's style has to know about cards."""
    return files(__package__).joinpath("card.css").read_text(encoding="utf-8")


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
    cells = BOX * (len(s.classes) if s.by_class else 1) if given is None else "".join(map(_points, given))
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


def _points(points: float) -> str:
    return f'<td class="n">{signed(points)}</td>'


def _table(s: Summary, table: TablePart) -> str:
    rows = []
    for line in table.lines:
        more = f"<small>{plain(line.more)}</small>" if line.more else ""
        cells = "".join(map(_points, numbers_of(line.points)))
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
    for step, said in zip(s.steps, s.ranges, strict=True):
        shares = step.shares or (0.0,) * len(s.classes)
        risks = "".join(f'<td class="n">{percent_of(shares[i])}&nbsp;%</td>' for i in shown if s.has_shares)
        if s.has_shares:  # the same to the eye
            spoken = ", ".join(f"{percent_of(x)} % {plain(c)}" for x, c in zip(shares, s.classes, strict=True))
            risks += f'<td class="drawn">{bar([(x, colour(i)) for i, x in enumerate(shares)], spoken)}</td>'
        place = s.classes.index(step.label)
        predicted = f'<td><span class="then then-{place % 6}">{name(step.label)}</span></td>'
        rows.append(f'<tr><th scope="row">{_minus(said)}</th>{risks}{predicted}</tr>')
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
        return "<p>All released counts are zero or below: the noise hides how totals divide the records.</p>" + _counts(
            s
        )
    rows = []
    for step, said in zip(s.steps, s.ranges, strict=True):
        support = step.support or 0.0
        parts = [(max(0.0, c) / most, colour(i)) for i, c in enumerate(step.counts or ())]
        spoken = ", ".join(f"{number(c)} {plain(label)}" for c, label in zip(step.counts or (), s.classes, strict=True))
        rows.append(
            f'<li><span class="total">{_minus(said)}</span>{bar(parts, f"{_minus(said)}: {spoken}")}'
            f'<span class="n">{percent(support / s.total)}</span></li>'
        )
    figure = (
        f'<figure class="flow totals">{legend(s)}<ol>{"".join(rows)}</ol><figcaption>How many of the records have a total in '
        "each range, by class. The longest bar is the range with most of them.</figcaption></figure>"
    )
    return noise(s, "range") + figure + right(s) + _counts(s)


def _counts(s: Summary) -> str:
    heads = "".join(f'<th scope="col" class="n">{name(label)}</th>' for label in s.classes)
    rows = []
    for step, said in zip(s.steps, s.ranges, strict=True):
        share = "&ndash;" if not s.total or step.support is None else percent(step.support / s.total)
        cells = count_cells(step.counts or (), step.count_ends)
        rows.append(f'<tr><th scope="row">{_minus(said)}</th>{cells}<td class="n">{share}</td></tr>')
    return wide(
        f"<caption>{counts_are(s)}, by class, and the share of all records that each range has</caption>"
        f'<thead><tr><th scope="col">Total</th>{heads}<th scope="col" class="n">of all</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        "Counts of each range of totals",
    )

"""A tree that one can look at, and how many records each of its leaves takes, from the released counts.

The drawing is one nested list. Where there is room for its depth, CSS draws it from left to right; elsewhere, as on a phone, it
is an outline. Nothing in it needs a script or a picture.
"""

from importlib.resources import files

from .._utils.html import name, plain, wide
from .._utils.svg import bar
from ..models.display.summary import Phrase, Step, Summary, support_of
from ..models.display.wording import colour, condition, count_cells, number, percent
from ..models.tree import Fork
from .counts_part import counts_are, legend, no_counts, noise, right

BOX = {
    1: 14.0,
    2: 12.0,
    3: 11.0,
    4: 9.0,
    5: 8.0,
}  # by depth, the width of a test in rem; deeper trees are always outlines
GAP, LEAF, MARGIN = 1.5, 15.5, 3.0


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
    if _depth(s) > max(BOX):  # it may be too deep for a phone
        drawn = f'<div class="wide" role="region" aria-label="Tests and leaves" tabindex="0">{drawn}</div>'
    return f"<p>{read}{bars}</p>{keys}{drawn}{note}"


def tree_css(s: Summary) -> str:
    """What the page's style has to know about this tree."""
    depth = _depth(s)
    if depth not in BOX:
        return _style("tree.css")
    wide = depth * (BOX[depth] + GAP) + LEAF
    sizes = f".tree {{ --box: {BOX[depth]:g}rem; --wide: {wide:g}rem; }}"
    return f"{_style('tree.css')}@media (min-width: {wide + MARGIN:g}rem) {{\n{sizes}\n{_style('across.css')}}}\n"


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
        spoken = ", ".join(f"{percent(x)} {plain(c)}" for x, c in zip(step.shares, s.classes, strict=True))
        support = "" if step.support is None else f" of {_about(s)}{number(round(step.support))} records"
        support += f"; {plain(step.reason)}" if step.reason else ""
        faint = ' <span class="faint">mostly noise</span>' if step.faint else ""
        body = (
            f"{bar([(x, colour(i)) for i, x in enumerate(step.shares)], f'Class shares: {spoken}')}"
            f'<p class="soft"><b>{percent(step.shares[place])}</b>{support}{faint}</p>'
        )
    elif step.counts is not None:
        body = '<p class="soft">Its noisy counts are zero or below.</p>'
    return (
        f'<div class="answer then-{place % 6}"><p class="if"><span>{tag}<span class="word">predict</span> '
        f"{name(step.label)}</span>{which}</p>{body}</div>"
    )


def _breakable(html: str) -> str:
    """With places where a long name may be broken. No tag or entity has an underscore."""
    return html.replace("_", "_<wbr>")


def _style(filename: str) -> str:
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
        return (
            "<p>All released counts are zero or below: the noise hides how the tree divides the records.</p>"
            + _table(s)
        )
    return noise(s, "leaf") + right(s) + _table(s)


def _table(s: Summary) -> str:
    heads = "".join(f'<th scope="col" class="n">{name(label)}</th>' for label in s.classes)
    rows = []
    for step in s.steps:
        who = f"{step.number}. {condition(step.tests)}" if step.tests else "everybody"
        cells = count_cells(step.counts or (), step.count_ends)
        taken = "&ndash;" if step.taken is None else percent(step.taken)
        rows.append(f'<tr><th scope="row">{who}</th>{cells}<td class="n">{taken}</td></tr>')
    return wide(
        f"<caption>{counts_are(s)}, by class, and the share of all records that each leaf takes</caption>"
        f'<thead><tr><th scope="col">Leaf</th>{heads}<th scope="col" class="n">takes</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>",
        "Counts of each leaf",
    )

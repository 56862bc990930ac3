"""The short form of a report, for a notebook: a rule or leaf a line, with a bar of class shares, and one line on privacy.

It has no script, and colours that can be told from a light page and from a dark one: a notebook's theme is not the system's.
"""

from ..._utils.html import items, name, plain
from ...accounting.statement import PrivacyStatement
from ..cards import percent_of
from ..model import Model
from .summary import CardPart, Fork, ModelSummary, Step, summary_of
from .verdict import verdict_of
from .wording import MINUS, condition, percent, records, share_bar, signed

COLOURS = ("#0d9488", "#d9661f", "#7068e0", "#bd4aa5", "#a07d12", "#6f7f8d")
STYLE = (
    """
.discreet-list { max-width: 46rem; font: 14px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.discreet-list ol { margin: 0; padding: 0; list-style: none; }
.discreet-list li { margin: 0; padding: .4rem 0; border-bottom: 1px solid rgba(128, 128, 128, .35); }
.discreet-list .line { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1.5rem; }
.discreet-list .column, .discreet-list .value, .discreet-list .label { font-weight: 650; }
.discreet-list .bar { display: block; width: 100%; height: 8px; margin: .2rem 0; border-radius: 3px; }
.discreet-list .rest { fill: rgba(128, 128, 128, .25); }
.discreet-list .small { font-size: 12px; }
.discreet-list p { margin: .5rem 0 0; }
.discreet-list ul { margin: 0; padding: 0; list-style: none; }
.discreet-list ul ul { padding-left: 1.1rem; border-left: 2px solid rgba(128, 128, 128, .55); }
.discreet-list ul li { border: 0; padding: .15rem 0; }
.discreet-list ul .bar, .discreet-list ul .line { max-width: 22rem; }
.discreet-list ul .bar { height: 6px; }
.discreet-list .answers { display: flex; flex-wrap: wrap; gap: 0 1.1rem; }
.discreet-list .answers b { font-variant-numeric: tabular-nums; }
.discreet-list .totals li { display: grid; grid-template-columns: 7rem 1fr 4rem 8rem; gap: .8rem; align-items: center;
  border: 0; padding: 0; }
.discreet-list .way { display: inline-block; min-width: 4.9rem; font-style: italic; }
"""
    + "".join(f".discreet-list .class-{i} {{ fill: {c}; }}\n" for i, c in enumerate(COLOURS))
).strip()


def short_html(model: Model, privacy: str = "", counts_epsilon: float | None = None) -> str:
    """The model as HTML for a notebook. ``privacy`` is a line below it, as safe HTML; ``counts_epsilon`` that of each count.

    >>> from discreet import RuleList
    >>> html = short_html(RuleList.parse("if age <= 30 then yes else no"))
    >>> "is at most" in html
    True
    """
    s = summary_of(model, counts_epsilon)
    if s.cards:
        shown = "".join(_card(part, len(s.cards)) for part in s.cards) + _totals(s)
    elif s.root is not None:
        shown = f'<ul role="list">{_node(s, s.root)}</ul>'
    else:
        shown = f"<ol>{items(_line(s, step) for step in s.steps)}</ol>"
    below = f"<p>{privacy}</p>" if privacy else ""
    return f'<style>{STYLE}</style><div class="discreet-list">{shown}{below}</div>'


def privacy_line(statement: PrivacyStatement | None) -> str:
    """What a fitted classifier promises, in one line of safe HTML."""
    verdict = verdict_of(statement)
    if verdict.kind == "proved":
        return f"<b>{plain(verdict.headline)}</b>: this is proved; <code>privacy_</code> says what it means."
    reasons = f": {plain('; '.join(verdict.reasons))}" if verdict.reasons else ""
    return f"<b>{plain(verdict.headline)}</b>{reasons}."


def _card(part: CardPart, of: int) -> str:
    """A line for each column: its answers, each with its points."""
    head = f"<p>if {condition(part.tests)}:</p>" if part.tests else "<p>else:</p>" if of > 1 else ""
    lines = [f'<div class="line"><span>start</span><b>{signed(part.start)}</b></div>']
    for table in part.tables:
        answers = "".join(f"<span>{name(line.value)}: <b>{signed(line.points)}</b></span>" for line in table.lines)
        lines.append(f'{name(table.column, "column")}<div class="answers">{answers}</div>')
    return f"{head}<ol>{items(lines)}</ol>"


def _totals(s: ModelSummary) -> str:
    """What totals mean: a line for each range."""
    if s.by_class:
        return f"<p>Points for {', '.join(map(name, s.classes))}: the largest total is the answer.</p>"
    lines = []
    for step, answer, said in zip(s.steps, s.model.answers, s.ranges, strict=True):
        shares = s.model.shares_of(answer).tolist()
        spoken = ", ".join(f"{plain(c)} {percent_of(x)} %" for x, c in zip(shares, s.classes, strict=True))
        at = 1 if len(s.classes) == 2 else s.classes.index(step.label)
        lines.append(
            f"<span>{plain(said.replace('-', MINUS))}</span>{share_bar(shares, spoken)}"
            f"<span>{percent_of(shares[at])}&nbsp;%</span><span>predict {name(step.label, 'label')}</span>"
        )
    of = f"how likely {name(s.classes[1])} is" if len(s.classes) == 2 else "how likely its class is"
    return f'<p>The total, and {of}:</p><ol class="totals">{items(lines)}</ol>'


def _node(s: ModelSummary, node: Fork | Step, way: str = "") -> str:
    """A test of a tree and what is below it, or a leaf."""
    where = f'<span class="way">{way}</span> ' if way else ""
    if isinstance(node, Step):
        return f"<li>{where}predict {name(node.label, 'label')}{_shares(s, node)}</li>"
    below = _node(s, node.true, "true") + _node(s, node.other, "otherwise")
    return f'<li>{where}{condition([node.test])}<ul role="list">{below}</ul></li>'


def _line(s: ModelSummary, step: Step) -> str:
    text = f"{step.opening} {condition(step.tests)}" if step.tests else step.opening
    predicted = f"<span>predict {name(step.label, 'label')}</span>"
    return f'<div class="line"><span>{text}</span>{predicted}</div>{_shares(s, step)}'


def _shares(s: ModelSummary, step: Step) -> str:
    """A bar of class shares, and the same in words."""
    if step.shares is None:
        return ""
    spoken, shown = (
        ", ".join(f"{called(c)} {percent(x)}" for x, c in zip(step.shares, s.classes, strict=True))
        for called in (plain, name)
    )
    below = f'<div class="line small"><span>{shown}</span><span>{records(step)}</span></div>'
    return share_bar(step.shares, spoken) + below

"""The short form of a report, for a notebook: a rule or leaf a line, with a bar of class shares, and one line on privacy.

It has no script, and colours that can be told from a light page and from a dark one: a notebook's theme is not the system's.
"""

from importlib.resources import files

from ..._utils.html import items, name, plain
from ..model import Model
from ..saved import SavedModel
from ..score_card import Card, percent_of
from .summary import Fork, Step, Summary, Verdict, summarize
from .wording import MINUS, answers_of, condition, percent, phrases, records, share_bar, signed

COLOURS = ("#0d9488", "#d9661f", "#7068e0", "#bd4aa5", "#a07d12", "#6f7f8d")


def short_html(model: Model, released: SavedModel | None = None) -> str:
    """The model as HTML for a notebook; with what was released with it, also with a line on what it promises.

    >>> from discreet import RuleList
    >>> html = short_html(RuleList.parse("if age <= 30 then yes else no"))
    >>> "is at most" in html
    True
    """
    s = summarize(released or SavedModel(model))
    if s.cards:
        shown = "".join(_card(s, card) for card in s.cards) + _totals(s)
    elif s.root is not None:
        shown = f'<ul role="list">{_node(s, s.root)}</ul>'
    else:
        shown = f"<ol>{items(_line(s, step) for step in s.steps)}</ol>"
    below = f"<p>{_promise(s.verdict)}</p>" if released else ""
    style = files(__package__).joinpath("notebook.css").read_text(encoding="utf-8")
    style += "\n".join(f".discreet-list .class-{i} {{ fill: {c}; }}" for i, c in enumerate(COLOURS))
    return f'<style>{style}</style><div class="discreet-list">{shown}{below}</div>'


def _promise(verdict: Verdict) -> str:
    """What a fitted classifier promises, in one line."""
    reasons = f": {plain('; '.join(verdict.reasons))}" if verdict.reasons else ""
    proved = ": this is proved; <code>privacy_</code> says what it means" if verdict.kind == "proved" else reasons
    return f"<b>{plain(verdict.headline)}</b>{proved}."


def _card(s: Summary, card: Card) -> str:
    """A line for each column: its answers, each with its points."""
    tests, schema = phrases(card.condition, s.model.schema), s.model.schema
    head = f"<p>if {condition(tests)}:</p>" if tests else "<p>else:</p>" if len(s.cards) > 1 else ""
    lines = [f'<div class="line"><span>start</span><b>{signed(card.start)}</b></div>']
    for called, rows, _ in (answers_of(table, schema) for table in card.tables):
        answers = "".join(f"<span>{name(line.value)}: <b>{signed(line.points)}</b></span>" for line in rows)
        lines.append(f'{name(called, "column")}<div class="answers">{answers}</div>')
    return f"{head}<ol>{items(lines)}</ol>"


def _totals(s: Summary) -> str:
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


def _node(s: Summary, node: Fork | Step, way: str = "") -> str:
    """A test of a tree and what is below it, or a leaf."""
    where = f'<span class="way">{way}</span> ' if way else ""
    if isinstance(node, Step):
        return f"<li>{where}predict {name(node.label, 'label')}{_shares(s, node)}</li>"
    below = _node(s, node.true, "true") + _node(s, node.other, "otherwise")
    return f'<li>{where}{condition([node.test])}<ul role="list">{below}</ul></li>'


def _line(s: Summary, step: Step) -> str:
    text = f"{step.opening} {condition(step.tests)}" if step.tests else step.opening
    predicted = f"<span>predict {name(step.label, 'label')}</span>"
    return f'<div class="line"><span>{text}</span>{predicted}</div>{_shares(s, step)}'


def _shares(s: Summary, step: Step) -> str:
    """A bar of class shares, and the same in words."""
    if step.shares is None:
        return ""
    spoken, shown = (
        ", ".join(f"{called(c)} {percent(x)}" for x, c in zip(step.shares, s.classes, strict=True))
        for called in (plain, name)
    )
    below = f'<div class="line small"><span>{shown}</span><span>{records(step)}</span></div>'
    return share_bar(step.shares, spoken) + below

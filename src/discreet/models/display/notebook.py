"""The short form of a report, for a notebook: a rule or leaf a line, with a bar of class shares, and one line on privacy.

It has no script, and colours that can be told from a light page and from a dark one: a notebook's theme is not the system's.
"""

from ..._utils.html import bar, name, plain
from ...accounting.statement import PrivacyStatement
from ..cards import percent_of
from ..labelled import classes_called
from ..model import Model
from ..partition import Points, numbers_of
from ..tree import Fork
from .summary import (
    CardPart,
    Phrase,
    PointsRule,
    Step,
    card_parts,
    forks_of,
    points_of,
    steps_of,
    total_ranges,
    verdict_of,
)
from .wording import MINUS, colour, condition, ends, number, percent, signed

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
    below = f"<p>{privacy}</p>" if privacy else ""
    classes = classes_called(model)
    if cards := card_parts(model):
        shown = "".join(_card(part, len(cards)) for part in cards) + _totals(model, classes)
        return f'<style>{STYLE}</style><div class="discreet-list">{shown}{below}</div>'
    steps = steps_of(model, counts_epsilon)
    tables = "".join(
        f'<ol style="margin-bottom: 1rem">{"".join(_points_line(i, rule) for i, rule in enumerate(rules))}</ol>'
        for rules in points_of(model)
    )
    root = forks_of(model, steps)
    if root is None:
        shown = f"<ol>{''.join(_line(step, classes, len(steps)) for step in steps)}</ol>"
    else:
        shown = f'<ul role="list">{_node(root, classes)}</ul>'
    return f'<style>{STYLE}</style><div class="discreet-list">{tables}{shown}{below}</div>'


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
    lines = [f'<li><div class="line"><span>start</span><b>{_added(part.start)}</b></div></li>']
    for table in part.tables:
        answers = "".join(f"<span>{name(line.value)}: <b>{_added(line.points)}</b></span>" for line in table.lines)
        lines.append(f'<li>{name(table.column, "column")}<div class="answers">{answers}</div></li>')
    return f"{head}<ol>{''.join(lines)}</ol>"


def _added(points: Points) -> str:
    """Points with their signs; for more than two classes, in the order of the classes."""
    return ", ".join(map(signed, numbers_of(points)))


def _totals(model: Model, classes: tuple[str, ...]) -> str:
    """What totals mean: a line for each range."""
    if model.has_points_by_class:
        return f"<p>Points for {', '.join(map(name, classes))}: the largest total is the answer.</p>"
    rows = []
    for answer, said in zip(model.answers, total_ranges(model), strict=True):
        shares = model.shares_of(answer).tolist()
        spoken = ", ".join(f"{plain(c)} {percent_of(x)} %" for x, c in zip(shares, classes, strict=True))
        drawn = bar([(x, colour(i)) for i, x in enumerate(shares)], spoken)
        label = model.classes.index(answer.label)
        at = 1 if len(classes) == 2 else label
        rows.append(
            f"<li><span>{plain(said.replace('-', MINUS))}</span>{drawn}<span>{percent_of(shares[at])}&nbsp;%</span>"
            f"<span>predict {name(classes[label], 'label')}</span></li>"
        )
    of = f"how likely {name(classes[1])} is" if len(classes) == 2 else "how likely its class is"
    return f'<p>The total, and {of}:</p><ol class="totals">{"".join(rows)}</ol>'


def _points_line(place: int, rule: PointsRule) -> str:
    word = ("if" if rule.tests else "always") if not place else ("else if" if rule.tests else "else")
    text = f"{word} {condition(rule.tests)}" if rule.tests else word
    return f'<li><div class="line"><span>{text}</span><span>points {_added(rule.points)}</span></div></li>'


def _node(node: Fork[Phrase, Step] | Step, classes: tuple[str, ...], way: str = "") -> str:
    """A test of a tree and what is below it, or a leaf."""
    where = f'<span class="way">{way}</span> ' if way else ""
    if isinstance(node, Step):
        return f"<li>{where}predict {name(node.label, 'label')}{_shares(node, classes)}</li>"
    below = _node(node.true, classes, "true") + _node(node.other, classes, "otherwise")
    return f'<li>{where}{condition([node.test])}<ul role="list">{below}</ul></li>'


def _line(step: Step, classes: tuple[str, ...], length: int) -> str:
    last = step.number == length
    word = ("always" if last else "if") if step.number == 1 else ("else" if last else "else if")
    text = word if last else f"{word} {condition(step.tests)}"
    line = f'<div class="line"><span>{text}</span><span>predict {name(step.label, "label")}</span></div>'
    return f"<li>{line}{_shares(step, classes)}</li>"


def _shares(step: Step, classes: tuple[str, ...]) -> str:
    """A bar of class shares, and the same in words."""
    if step.shares is None:
        return ""
    shares = list(zip(step.shares, classes, strict=True))
    spoken = ", ".join(f"{plain(c)} {percent(x)}" for x, c in shares)
    drawn = bar([(x, colour(i)) for i, (x, _) in enumerate(shares)], spoken)
    support = "" if step.support is None else f"{number(round(step.support))} records"
    support += f" ({ends(step.support_ends)})" if step.support_ends else ""
    support += f"; {plain(step.reason)}" if step.reason else ""
    return (
        f'{drawn}<div class="line small"><span>{", ".join(f"{name(c)} {percent(x)}" for x, c in shares)}</span>'
        f"<span>{support}</span></div>"
    )

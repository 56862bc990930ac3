"""The short form of a report, for a notebook: a rule or leaf a line, with a bar of class shares, and one line on privacy.

It has no script, and colours that can be told from a light page and from a dark one: a notebook's theme is not the system's.
"""

from ..common.html import name, plain
from ..common.svg import bar
from ..conditions.partition import Model
from ..privacy.statement import PrivacyStatement
from .points_part import signed
from .summary import Fork, PointsRule, Step, forks_of, points_of, steps_of, verdict_of
from .wording import colour, condition, number, percent

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
.discreet-list .way { display: inline-block; min-width: 4.9rem; font-style: italic; }
"""
    + "".join(f".discreet-list .class-{i} {{ fill: {c}; }}\n" for i, c in enumerate(COLOURS))
).strip()


def short_html(model: Model, privacy: str = "") -> str:
    """The model as HTML for a notebook. ``privacy`` is a line below it, as safe HTML.

    >>> from discreet import RuleList
    >>> html = short_html(RuleList.parse("if age <= 30 then yes else no"))
    >>> "is at most" in html
    True
    """
    steps = steps_of(model)
    classes = tuple(str(c) for c in model.classes)
    tables = "".join(
        f'<ol style="margin-bottom: 1rem">{"".join(_points_line(i, rule) for i, rule in enumerate(rules))}</ol>'
        for rules in points_of(model)
    )
    root = forks_of(model, steps)
    if root is None:
        shown = f"<ol>{''.join(_line(step, classes, len(steps)) for step in steps)}</ol>"
    else:
        shown = f'<ul role="list">{_node(root, classes)}</ul>'
    below = f"<p>{privacy}</p>" if privacy else ""
    return f'<style>{STYLE}</style><div class="discreet-list">{tables}{shown}{below}</div>'


def privacy_line(statement: PrivacyStatement | None) -> str:
    """What a fitted classifier promises, in one line of safe HTML."""
    verdict = verdict_of(statement)
    if verdict.kind == "proved":
        return f"<b>{plain(verdict.headline)}</b>: this is proved; <code>privacy_</code> says what it means."
    reasons = f": {plain('; '.join(verdict.reasons))}" if verdict.reasons else ""
    return f"<b>{plain(verdict.headline)}</b>{reasons}."


def _points_line(place: int, rule: PointsRule) -> str:
    word = ("if" if rule.tests else "always") if not place else ("else if" if rule.tests else "else")
    text = f"{word} {condition(rule.tests)}" if rule.tests else word
    return f'<li><div class="line"><span>{text}</span><span>points {signed(rule.points)}</span></div></li>'


def _node(node: Fork | Step, classes: tuple[str, ...], way: str = "") -> str:
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
    return (
        f'{drawn}<div class="line small"><span>{", ".join(f"{name(c)} {percent(x)}" for x, c in shares)}</span>'
        f"<span>{support}</span></div>"
    )

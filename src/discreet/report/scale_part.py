"""What epsilon means: a scale to play with, and the same numbers as a table."""

import math

from .._utils.html import wide
from ..models.display.summary import SCALE, Chance, Summary
from ..models.display.wording import bound, epsilon_text, factor

LOW, HIGH = 0.01, 20.0  # the ends of the scale of epsilon
TICKS = (0.01, 0.1, 1, 10)


def epsilon(s: Summary) -> str:
    """What an attacker can get out of a model, at its own epsilon and at others."""
    own = s.chance
    proved = s.is_private
    words = (
        "<p>Epsilon bounds what a model can give away about one record. Think of someone who knows every other "
        "record of the table, and "
        "wants to know whether a certain person is in it. Before seeing the model that is as likely as not: "
        "guessing gets 50&nbsp;%. "
        "After seeing it, even the best attack is right at most this often:</p>"
    )
    if own is None:
        mine = "<p>This model has no epsilon. The scale shows what private models of this package would promise.</p>"
    elif proved:
        delta = ", and a little more for delta" if own.delta else ""
        mine = (
            f"<p>For this model, with &epsilon; = {epsilon_text(own.epsilon)}, that is <b>{bound(own.fifty)}</b>: "
            "the odds of any belief about a "
            f"person grow at most by a factor of <b>{factor(own.factor)}</b>{delta}.</p>"
        )
    else:
        mine = (
            f'<p class="loud">&epsilon; = {epsilon_text(own.epsilon)} was asked for, but <strong>nothing is '
            "proved for this model</strong>, so the numbers "
            "below are not promised by it. They show what a model with a proof would promise.</p>"
        )
    return words + mine + _scale(own, proved) + _chances(own, proved)


def _scale(own: Chance | None, proved: bool) -> str:
    """The curve, a slider that walks along it, and the model's own place. Hidden where no script runs."""
    points = [LOW * (HIGH / LOW) ** (i / 100) for i in range(101)]
    line = " ".join(f"{i},{_down(Chance(e).fifty):.2f}" for i, e in enumerate(points))
    grid = "".join(f'<line x1="0" x2="100" y1="{y}" y2="{y}"/>' for y in (0, 50, 100))
    labels = "".join(
        f'<span class="y" style="top:{y}%">{text}&nbsp;%</span>' for y, text in ((0, 100), (50, 75), (100, 50))
    )
    labels += "".join(f'<span class="x" style="left:{_across(e):.2f}%">{e:g}</span>' for e in TICKS)
    start = 1.0
    if own is not None:
        start = min(max(own.epsilon, LOW), HIGH)
        x = _across(start)
        who = "this model" if proved else "asked for"
        who += "" if LOW <= own.epsilon <= HIGH else f": {epsilon_text(own.epsilon)}"
        side = " left" if x > 80 else " right" if x < 20 else ""
        grid += f'<line class="mine" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="100"/>'
        labels += f'<span class="mark{side}" style="left:{x:.2f}%">{who}</span>'
    value = math.log10(start)
    return (
        '<div class="scale" id="scale" hidden><dl class="reading">'
        '<div><dt>epsilon</dt><dd id="scale-now"></dd></div>'
        '<div><dt>right at most, where guessing gets 50&nbsp;%</dt><dd id="scale-chance"></dd></div>'
        '<div><dt>times the odds of any belief, at most</dt><dd id="scale-factor"></dd></div></dl>'
        '<div class="plot" aria-hidden="true"><svg viewBox="0 0 100 100" preserveAspectRatio="none">'
        f'{grid}<path d="M{line}"/></svg>{labels}<span class="dot" id="scale-dot"></span></div>'
        '<div class="slide"><label for="scale-epsilon">Move epsilon</label>'
        f'<input type="range" id="scale-epsilon" min="{math.log10(LOW):g}" max="{math.log10(HIGH):.4f}" '
        f'step="any" value="{value:.4f}" data-own="{0.0 if own is None else own.epsilon!r}"></div></div>'
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
            f'<tr{" class=own" if mine else ""}><th scope="row">{epsilon_text(epsilon)}{note}</th><td '
            f'class="n">{factor(row.factor)}</td>'
            f'<td class="n">{bound(row.fifty)}</td><td class="n">{bound(row.ten)}</td><td '
            f'class="n">{bound(row.one)}</td></tr>'
        )
    return wide(
        "<caption>What a belief that a person&rsquo;s record is in the table can become, at most; all numbers "
        "are rounded up</caption>"
        '<thead><tr><th scope="col">epsilon</th><th scope="col" class="n">odds times</th><th scope="col" '
        'class="n">from 50&nbsp;%</th>'
        '<th scope="col" class="n">from 10&nbsp;%</th><th scope="col" class="n">from 1&nbsp;%</th></tr></thead>'
        f"<tbody>{''.join(cells)}</tbody>",
        "Chances by epsilon",
    )

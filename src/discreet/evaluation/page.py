"""What was measured of a model, as a page for people and as its short form for a notebook. It shows released numbers alone."""

import math
from collections.abc import Sequence
from importlib.resources import files

from .. import __version__
from .._utils.html import document, heads, items, name, page_css, plain, row, table
from ..models.display.notebook import COLOURS
from ..models.display.summary import verdict_of
from ..models.display.wording import PALETTE, colour, number, sentence
from ..private.noise.sums import LEVEL
from .evaluated import COUNTS_COVER, RATES_COVER, TOO_SMALL, Count, Group, NoisyEvaluation, Rate, rates_shown

CSS = files(__package__).joinpath("evaluation.css").read_text(encoding="utf-8")
CSS += "".join(f".reliability .line-{i} {{ stroke: var(--class-{i}); }}\n" for i in range(PALETTE))
NOTEBOOK = (
    ".discreet-evaluation { --ink: currentColor; --soft: currentColor; --card: transparent; --shade: rgba(128, 128, 128, .25); "
    f"--line: rgba(128, 128, 128, .5); --accent: {COLOURS[0]}; {''.join(f'--class-{i}: {c}; ' for i, c in enumerate(COLOURS))}"
    "max-width: 56rem; font: 14px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }\n"
    ".discreet-evaluation th, .discreet-evaluation td { text-align: left; padding: .2rem .8rem .2rem 0; }\n"
    ".discreet-evaluation .wide { overflow-x: auto; }\n"
)
COVERS = (
    f"Beside each number is an interval, which holds in {100 * LEVEL:g}&nbsp;% of all cases. Those of rates cover "
    f"<b>{RATES_COVER}</b>; those of counts, {COUNTS_COVER}. Each interval is meant on its own: of twenty, one may well be wrong."
)


def page(found: NoisyEvaluation, title: str) -> str:
    """A whole page."""
    verdict = verdict_of(found.privacy)
    reasons = items(map(sentence, verdict.reasons))
    because = "" if verdict.kind == "proved" or reasons else f"<p>{plain('; '.join(found.privacy.because))}</p>"
    tiles = ("accuracy", found.accuracy), ("balanced accuracy: the mean of the recalls", found.balanced_accuracy)
    facts = "".join(f"<div><dt>{text}</dt><dd>{_text(rate)}</dd></div>" for text, rate in tiles)
    records = f"{number(found.records.value)}<small>{number(found.records.low)} to {number(found.records.high)}</small>"
    body = f"""<header>
<p class="kicker"><b>discreet</b> &middot; evaluation</p>
<h1>{plain(title)}</h1>
<p class="lead">How good the model is on private records, measured with noisy counts.</p>
</header>
<main>
<section class="verdict {verdict.kind}" style="grid-template-columns: 1fr; margin-top: 1.5rem">
<h2>{plain(verdict.headline)}</h2>{because}{f"<ul>{reasons}</ul>" if reasons else ""}
<p>{plain(found.privacy)}</p></section>
<dl class="facts">{facts}<div><dt>records</dt><dd>{records}</dd></div></dl>
<p>{COVERS}</p>
{_body(found)}
</main>
<footer><p>Made by discreet {plain(__version__)} from what was released. This page loads nothing and sends nothing.</p>
</footer>"""
    return document(plain(title), page_css() + CSS, body)


def short_html(found: NoisyEvaluation) -> str:
    """For a notebook: the same numbers, in the colours of its theme."""
    verdict = verdict_of(found.privacy)
    head = f"accuracy <b>{_text(found.accuracy)}</b>, balanced accuracy <b>{_text(found.balanced_accuracy)}</b>"
    reasons = f": {plain('; '.join(verdict.reasons))}" if verdict.reasons else ""
    return (
        f'<style>{NOTEBOOK}{CSS}</style><div class="discreet-evaluation"><p>{head}</p><p>{COVERS}</p>{_body(found)}'
        f"<p><b>{plain(verdict.headline)}</b>{reasons}</p></div>"
    )


def _body(found: NoisyEvaluation) -> str:
    parts = {"By class": _confusion(found)}
    parts |= {f"By {name(groups[0].column_called)}": _groups(found, groups) for groups in found.groups_by_column}
    if found.parts:
        parts["Predicted and observed"] = _reliability(found)
    return "".join(f"<section><h2>{title}</h2>{content}</section>" for title, content in parts.items())


def _confusion(found: NoisyEvaluation) -> str:
    rows = [
        row(f"is {name(label)}", cells="".join([*map(_count, counts), _rate(recall)]))
        for label, counts, recall in zip(found.called, found.confusion, found.rates.recall, strict=True)
    ]
    last = ["<td>never predicted</td>" if p is None else _rate(p) for p in found.rates.precision]
    rows.append(row("precision", cells=f"{''.join(last)}<td></td>"))
    columns = heads(*(f"predicted {name(c)}" for c in found.called), "recall")
    return table("Records by class", "Records by true and predicted class", f"<td></td>{columns}", rows)


def _groups(found: NoisyEvaluation, groups: Sequence[Group]) -> str:
    shown = rates_shown(found.called, plain)
    rows = (row(name(g.called), cells="".join([_count(g.records), *map(_rate, g.rates.shown)])) for g in groups)
    drawn = table("Rates of each group", "Rates of each group", f"<td></td>{heads('records', *shown)}", rows)
    less = [(name(g.called), g.difference.shown) for g in groups if g.difference is not None]
    if less:
        caption = (
            "Each group minus all other groups together. If an interval does not contain 0, neither noise nor chance explains "
            "the difference well"
        )
        rows = (row(called, cells="".join(_rate(rate, -1.0) for rate in rates)) for called, rates in less)
        drawn += table("Differences", caption, f"<td></td>{heads(*shown)}", rows)
    if any(group.rates.accuracy.too_small for group in groups):
        drawn += (
            f'<p class="faint">{TOO_SMALL}: the noise may be half of the records behind a number. More epsilon, or fewer '
            "and larger groups, would help.</p>"
        )
    return drawn


def _reliability(found: NoisyEvaluation) -> str:
    shown = found.classes_shown
    columns = heads(
        "Part", "records", *(text for i in shown for text in (f"predicted {name(found.called[i])}", "observed"))
    )
    rows = []
    for part in found.parts:
        shares = "".join(f"<td>{part.predicted[i]:.3f}</td>{_rate(part.observed[i])}" for i in shown)
        rows.append(row(f"{part.number}. {plain(part.called)}", cells=_count(part.records) + shares))
    caption = "By answer of the model, in order: a record is in the first part whose condition it meets"
    drawn, keys, one = table("Shares by part", caption, columns, rows), "", f" of {name(found.called[1])}"
    if len(shown) > 1:
        listed = items(f'<span class="key {colour(i)}"></span>{name(found.called[i])}' for i in shown)
        keys, one = f'<ul class="legend" aria-label="Colours">{listed}</ul>', ""
    caption = (
        f"Each point is a part of the model: across, the share{one} that <code>predict_proba</code> gives; upwards, the share "
        "among the records that were measured, with its interval. On the dashed line both are the same. Larger points have more "
        f"records; what is {TOO_SMALL} is left out."
    )
    return f"""<figure class="reliability">{keys}{picture(found, shown)}<figcaption>{caption}</figcaption></figure>{drawn}"""


def picture(found: NoisyEvaluation, classes: Sequence[int]) -> str:
    """Predicted against observed shares, as SVG: square, so that the diagonal is one."""
    left, top, size = 46.0, 10.0, 300.0
    most = max((part.records.value for part in found.parts), default=1)

    def x(share: float) -> float:
        return left + size * share

    def y(share: float) -> float:
        return top + size * (1 - share)

    ticks = "".join(
        f'<text x="{x(s):g}" y="{top + size + 18:g}" text-anchor="middle">{s:.0%}</text>'
        f'<text x="{left - 8:g}" y="{y(s) + 4:g}" text-anchor="end">{s:.0%}</text>'
        for s in (0.0, 0.5, 1.0)
    )
    points, spoken = "", []
    for i, part in ((i, part) for i in classes for part in found.parts if not part.observed[i].too_small):
        at, observed = x(part.predicted[i]), part.observed[i]
        radius = 4 + 5 * math.sqrt(max(part.records.value, 0) / max(most, 1))
        points += (
            f'<line class="reach line-{i % PALETTE}" x1="{at:.1f}" x2="{at:.1f}" '
            f'y1="{y(observed.low):.1f}" y2="{y(observed.high):.1f}"/>'
            f'<circle class="{colour(i)}" cx="{at:.1f}" cy="{y(observed.value):.1f}" r="{radius:.1f}"/>'
        )
        spoken.append(f"part {part.number}: predicted {part.predicted[i]:.0%}, observed {observed.value:.0%}")
    return (
        f'<svg viewBox="0 0 {left + size + 24:g} {top + size + 42:g}" role="img" aria-label="{plain("; ".join(spoken))}">'
        f'<rect class="frame" x="{left:g}" y="{top:g}" width="{size:g}" height="{size:g}"/>'
        f'<line class="even" x1="{x(0):g}" y1="{y(0):g}" x2="{x(1):g}" y2="{y(1):g}"/>{ticks}{points}'
        f'<text x="{x(0.5):g}" y="{top + size + 36:g}" text-anchor="middle">predicted</text>'
        f'<text transform="rotate(-90 13 {y(0.25):g})" x="13" y="{y(0.25):g}" text-anchor="middle">observed</text></svg>'
    )


def _count(count: Count) -> str:
    return f'<td class="count">{number(count.value)} <small>{number(count.low)} to {number(count.high)}</small></td>'


def _rate(rate: Rate, lowest: float = 0.0) -> str:
    """A number, its interval, and both as a small picture from ``lowest`` to 1."""
    if rate.too_small:
        return f'<td class="rate"><small>{TOO_SMALL}</small></td>'

    def place(value: float) -> float:
        return 100 * (min(max(value, lowest), 1.0) - lowest) / (1 - lowest)

    low, high, at = place(rate.low), place(rate.high), place(rate.value)
    zero = f'<rect class="at" x="{place(0.0) - 0.3:.2f}" y="0" width=".6" height="10" opacity=".4"/>' if lowest else ""
    drawn = (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="axis" y="3" width="100" height="4"/>{zero}'
        f'<rect class="span" x="{low:.2f}" y="2" width="{max(high - low, 0.5):.2f}" height="6"/>'
        f'<rect class="at" x="{max(at - 0.7, 0):.2f}" y="0" width="1.4" height="10"/></svg>'
    )
    return f'<td class="rate">{_text(rate, lowest < 0)}{drawn}</td>'


def _text(rate: Rate, signed: bool = False) -> str:
    sign = "+" if signed else ""
    if rate.too_small:
        return TOO_SMALL
    low, high, value = (f"{x:{sign}.3f}".replace("-", "\u2212") for x in (rate.low, rate.high, rate.value))
    return f"{value} <small>{low} to {high}</small>"

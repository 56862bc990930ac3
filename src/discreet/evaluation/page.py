"""What was measured of a model, as a page for people and as its short form for a notebook. It shows released numbers alone."""

import math
from collections.abc import Iterable, Sequence

from .. import __version__
from .._utils.html import document, name, page_css, plain, wide
from ..models.display.notebook import COLOURS
from ..models.display.summary import verdict_of
from ..models.display.wording import PALETTE, colour, number, sentence
from ..private.noise.sums import LEVEL
from .evaluated import COUNTS_COVER, RATES_COVER, TOO_SMALL, Count, Group, NoisyEvaluation, Rate, rates_shown

CSS = """
.rate, .count { white-space: nowrap; } .rate small, .count small { display: block; color: var(--soft); }
.rate, .count, tbody th { padding-right: 1.1rem; min-width: 7rem; } thead th { padding-right: 1.1rem; }
.rate svg { display: block; width: 100%; min-width: 6rem; height: .5rem; margin-top: .15rem; }
.rate .axis { fill: var(--shade); } .rate .span { fill: var(--accent); opacity: .45; } .rate .at { fill: var(--ink); }
.reliability { margin: 1.25rem 0; padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .8rem; }
.reliability svg { display: block; width: 100%; max-width: 27rem; font: 13px system-ui, sans-serif; }
.reliability text { fill: var(--soft); } .reliability .frame { fill: none; stroke: var(--line); }
.reliability .even { stroke: var(--soft); stroke-dasharray: 5 4; } .reliability .reach { stroke-width: 2.5; opacity: .6; }
.reliability circle { stroke: var(--card); stroke-width: 1.5; }
"""
CSS += "".join(f".reliability .line-{i} {{ stroke: var(--class-{i}); }}\n" for i in range(PALETTE))
NOTEBOOK = (
    ".discreet-evaluation { --ink: currentColor; --soft: currentColor; --card: transparent; --shade: rgba(128, 128, 128, .25); "
    f"--line: rgba(128, 128, 128, .5); --accent: {COLOURS[0]}; {''.join(f'--class-{i}: {c}; ' for i, c in enumerate(COLOURS))}"
    "max-width: 56rem; font: 14px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }\n"
    ".discreet-evaluation th, .discreet-evaluation td { text-align: left; padding: .2rem .8rem .2rem 0; }\n"
    ".discreet-evaluation .wide { overflow-x: auto; }\n"
)


def page(found: NoisyEvaluation, title: str) -> str:
    """A whole page."""
    verdict = verdict_of(found.privacy)
    reasons = "".join(f"<li>{sentence(reason)}</li>" for reason in verdict.reasons)
    because = "" if verdict.kind == "proved" or reasons else f"<p>{plain('; '.join(found.privacy.because))}</p>"
    tiles = ("accuracy", found.accuracy), ("balanced accuracy: the mean of the recalls", found.balanced_accuracy)
    facts = "".join(f"<div><dt>{text}</dt><dd>{_text(rate)}</dd></div>" for text, rate in tiles)
    records = f"{number(found.records.value)}<small>{number(found.records.low)} to {number(found.records.high)}</small>"
    body = f"""<header>
<p class="kicker"><b>discreet</b> &middot; evaluation</p>
<h1>{plain(title)}</h1>
<p class="lead">How good the model is on private records, from counts with noise.</p>
</header>
<main>
<section class="verdict {verdict.kind}" style="grid-template-columns: 1fr; margin-top: 1.5rem">
<h2>{plain(verdict.headline)}</h2>{because}{f"<ul>{reasons}</ul>" if reasons else ""}
<p>{plain(found.privacy)}</p></section>
<dl class="facts">{facts}<div><dt>records</dt><dd>{records}</dd></div></dl>
<p>{_covers()}</p>
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
        f'<style>{NOTEBOOK}{CSS}</style><div class="discreet-evaluation"><p>{head}</p><p>{_covers()}</p>{_body(found)}'
        f"<p><b>{plain(verdict.headline)}</b>{reasons}</p></div>"
    )


def _covers() -> str:
    return (
        f"Beside each number is an interval, which holds in {100 * LEVEL:g}&nbsp;% of all cases. Those of rates cover "
        f"<b>{RATES_COVER}</b>; those of counts, {COUNTS_COVER}. Each is meant by itself: of twenty, one may well be wrong."
    )


def _body(found: NoisyEvaluation) -> str:
    parts = [_section("By class", _confusion(found))]
    parts += [_section(f"By {name(g[0].column_called)}", _groups(found, g)) for g in found.groups_by_column]
    if found.parts:
        parts.append(_section("What the model says, and what is so", _reliability(found)))
    return "".join(parts)


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>"


def _table(
    label: str, caption: str, heads: Iterable[str], rows: Iterable[tuple[str, Iterable[str]]], first: str
) -> str:
    """A table that scrolls. ``first`` is the cell above the names of rows; the other cells of a row are HTML."""
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>' for name, cells in rows)
    return wide(f"<caption>{caption}</caption><thead><tr>{first}{head}</tr></thead><tbody>{body}</tbody>", label)


def _confusion(found: NoisyEvaluation) -> str:
    heads = [*(f"predicted {name(c)}" for c in found.called), "recall"]
    rows = [
        (f"is {name(label)}", [*map(_count, counts), _rate(recall)])
        for label, counts, recall in zip(found.called, found.confusion, found.rates.recall, strict=True)
    ]
    last = ["<td>never predicted</td>" if p is None else _rate(p) for p in found.rates.precision]
    rows.append(("precision", [*last, "<td></td>"]))
    return _table("Records by class", "Records by true and predicted class", heads, rows, "<td></td>")


def _groups(found: NoisyEvaluation, groups: Sequence[Group]) -> str:
    heads = rates_shown(found.called, plain)
    rows = ((name(g.called), [_count(g.records), *map(_rate, g.rates.shown)]) for g in groups)
    tables = _table("Rates of each group", "Rates of each group", ["records", *heads], rows, "<td></td>")
    less = [(name(g.called), g.difference) for g in groups if g.difference is not None]
    if less:
        rows = ((called, [_rate(rate, -1.0) for rate in difference.shown]) for called, difference in less)
        caption = (
            "Each group less all other groups together: an interval without 0 is a difference that neither noise nor chance "
            "explains well"
        )
        tables += _table("Differences", caption, heads, rows, "<td></td>")
    if any(group.rates.accuracy.too_small for group in groups):
        tables += (
            f'<p class="faint">{TOO_SMALL}: the noise may be half of the records that a number is about. More epsilon, or fewer '
            "and larger groups, would help.</p>"
        )
    return tables


def _reliability(found: NoisyEvaluation) -> str:
    shown = found.classes_shown
    heads = ["records", *(text for i in shown for text in (f"says {name(found.called[i])}", "is so"))]
    rows = []
    for part in found.parts:
        shares = [f"<td>{part.predicted[i]:.3f}</td>{_rate(part.observed[i])}" for i in shown]
        rows.append((f"{part.number}. {plain(part.called)}", [_count(part.records), *shares]))
    caption = "By answer of the model, in its order: a record is in the first part whose condition is true of it"
    table = _table("Shares by part", caption, heads, rows, '<th scope="col">Part</th>')
    keys = ""
    if len(shown) > 1:
        listed = (f'<li><span class="key {colour(i)}"></span>{name(found.called[i])}</li>' for i in shown)
        keys = f'<ul class="legend" aria-label="Colours">{"".join(listed)}</ul>'
    one = f" of {name(found.called[1])}" if len(shown) == 1 else ""
    caption = (
        f"Each point is a part of the model: across, the share{one} that <code>predict_proba</code> gives; upwards, the share "
        "among the records that were measured, with its interval. On the dashed line both are the same. Larger points have more "
        f"records; what is {TOO_SMALL} is left out."
    )
    return (
        f'<figure class="reliability">{keys}{picture(found, shown)}<figcaption>{caption}</figcaption></figure>{table}'
    )


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
    points, spoken = [], []
    for i in classes:
        for part in found.parts:
            observed = part.observed[i]
            if observed.too_small:
                continue
            at = x(part.predicted[i])
            radius = 4 + 5 * math.sqrt(max(part.records.value, 0) / max(most, 1))
            points.append(
                f'<line class="reach line-{i % PALETTE}" x1="{at:.1f}" x2="{at:.1f}" '
                f'y1="{y(observed.low):.1f}" y2="{y(observed.high):.1f}"/>'
                f'<circle class="{colour(i)}" cx="{at:.1f}" cy="{y(observed.value):.1f}" r="{radius:.1f}"/>'
            )
            spoken.append(f"part {part.number}: says {part.predicted[i]:.0%}, is {observed.value:.0%}")
    return (
        f'<svg viewBox="0 0 {left + size + 24:g} {top + size + 42:g}" role="img" aria-label="{plain("; ".join(spoken))}">'
        f'<rect class="frame" x="{left:g}" y="{top:g}" width="{size:g}" height="{size:g}"/>'
        f'<line class="even" x1="{x(0):g}" y1="{y(0):g}" x2="{x(1):g}" y2="{y(1):g}"/>{ticks}{"".join(points)}'
        f'<text x="{x(0.5):g}" y="{top + size + 36:g}" text-anchor="middle">the model says</text>'
        f'<text transform="rotate(-90 13 {y(0.25):g})" x="13" y="{y(0.25):g}" text-anchor="middle">is so</text></svg>'
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
    middle = (
        f'<rect class="at" x="{place(0.0) - 0.3:.2f}" y="0" width=".6" height="10" opacity=".4"/>' if lowest else ""
    )
    drawn = (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="axis" y="3" width="100" height="4"/>{middle}'
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

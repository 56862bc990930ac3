"""One HTML page that needs nothing else: text, figures, tables and verdicts as plain values, then rendered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from discreet._utils.html import document, plain, wide
from discreet._utils.writing import write_whole

Verdict = Literal["holds", "in part", "does not hold"]

# What a verdict looks like. The mark says it without colour, the word without sight.
MARKS = {
    "holds": ("✓", "good"),
    "agrees": ("✓", "good"),
    "in part": ("◐", "part"),
    "does not hold": ("✗", "bad"),
    "does not agree": ("✗", "bad"),
}
_NUMBER = re.compile(r"[+\-−]?[.\d][\d.,]*(e[+-]?\d+)?[+\-−]?( ?[%s]| ± [\d.e-]+)?|[+−]∞|–|")


@dataclass(frozen=True)
class Picture:
    """A figure that ``save`` wrote into the page's folder as name.svg, with a caption, and words for who cannot see it."""

    name: str
    caption: str
    alt: str


@dataclass(frozen=True)
class Table:
    """A table of strings. Columns of numbers are aligned at the right; verdicts get their mark."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Check:
    """A claim, whether it holds, and the numbers that say so."""

    claim: str
    verdict: Verdict
    numbers: str


@dataclass(frozen=True)
class Checklist:
    """Claims with their verdicts."""

    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it, in order. A string is a paragraph."""

    heading: str
    body: Sequence[str | Picture | Table | Checklist]


@dataclass(frozen=True)
class Facts:
    """How the page was made."""

    command: str
    date: str
    versions: Mapping[str, str]
    seconds: float


def write_page(
    folder: str | Path, sections: Sequence[Section], title: str, facts: Facts, lead: Sequence[str] = ()
) -> Path:
    """Write folder/index.html, with the figures that lie in the folder inside it. ``lead`` stands before the contents."""
    folder = Path(folder)
    names = [f"section-{i}" for i, _ in enumerate(sections, 1)]
    contents = "\n".join(
        f'<li><a href="#{name}">{plain(s.heading)}</a></li>' for name, s in zip(names, sections, strict=True)
    )
    parts = [
        f"<header>\n<h1>{plain(title)}</h1>",
        *(f'<p class="lead">{plain(text)}</p>' for text in lead),
        f'</header>\n<nav aria-label="Contents">\n<strong>Contents</strong>\n<ol>\n{contents}\n</ol>\n</nav>\n<main>',
        *(_section(section, name, folder) for name, section in zip(names, sections, strict=True)),
        f"</main>\n{_footer(facts)}",
    ]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    path = folder / "index.html"
    write_whole(path, document(plain(title), style, "\n".join(parts)))
    return path


def _section(section: Section, name: str, folder: Path) -> str:
    body = "\n".join(_part(part, f"{name}-{i}", folder) for i, part in enumerate(section.body, 1))
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{plain(section.heading)}</h2>\n{body}\n</section>'


def _part(part: str | Picture | Table | Checklist, name: str, folder: Path) -> str:
    if isinstance(part, Picture):
        svg = inlined((folder / f"{part.name}.svg").read_text(encoding="utf-8"), part.alt, name)
        return f'<figure>\n<div class="card">\n{svg}\n</div>\n<figcaption>{plain(part.caption)}</figcaption>\n</figure>'
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Checklist):
        return '<ul class="checks">\n' + "\n".join(map(_check, part.checks)) + "\n</ul>"
    return f"<p>{plain(part)}</p>"


def _check(check: Check) -> str:
    return (
        f"<li>{_marked(check.verdict, 'span', 'verdict ')}<span>{plain(check.claim)}"
        f' <span class="numbers">{plain(check.numbers)}</span></span></li>'
    )


def _marked(verdict: str, tag: str, kind: str = "") -> str:
    mark, colour = MARKS[verdict]
    return f'<{tag} class="{kind}{colour}"><span aria-hidden="true">{mark}</span> {verdict}</{tag}>'


def _table(table: Table) -> str:
    columns = list(zip(*table.rows, strict=True))
    kinds = [' class="number"' if all(map(_NUMBER.fullmatch, column)) else "" for column in columns]
    kinds = kinds or [""] * len(table.header)
    head = "".join(f'<th scope="col"{k}>{plain(c)}</th>' for k, c in zip(kinds, table.header, strict=True))
    rows = "\n".join(
        "<tr>"
        + "".join(_cell(cell, kind, i == 0) for i, (cell, kind) in enumerate(zip(row, kinds, strict=True)))
        + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{plain(table.caption)}</caption>\n" if table.caption else ""
    inside = f"{caption}<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{rows}\n</tbody>"
    return wide(inside, plain(table.caption or " ".join(filter(None, table.header))))


def _cell(text: str, kind: str, is_first: bool) -> str:
    if text in MARKS:
        return _marked(text, "td")
    tag = 'th scope="row"' if is_first else "td"
    return f"<{tag}{kind}>{plain(text)}</{tag[:2]}>"


def _footer(facts: Facts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    rows = {
        "Command": f"<code>{plain(facts.command)}</code>",
        "Date": plain(facts.date),
        "Versions": plain(versions),
        "Time": plain(duration(facts.seconds)),
    }
    listed = "\n".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows.items())
    return f"<footer>\n<h2>How this page was made</h2>\n<dl>\n{listed}\n</dl>\n</footer>"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(7.25), duration(600), duration(7384)
    ('7.2 seconds', '10 min 0 s', '2 h 3 min')
    """
    if seconds < 120:
        return f"{seconds:.1f} seconds"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


_BEFORE = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)  # the XML declaration and the document type
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_NAMESPACE = re.compile(r'\s+xmlns(?::\w+)?="[^"]*"')
_NAME = re.compile(r'(\bid="|"#|url\(#)')
_PATH = re.compile(r'(?<= d=")[^"]*')
_LONG = re.compile(r"-?\d+\.\d{3,}")


def inlined(svg: str, alt: str, name: str) -> str:
    """The <svg> element of a file that matplotlib wrote; ``name`` comes before every id in it, so that no two figures share one.

    >>> inlined('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g id="a"/></svg>', "a < b", "one")
    '<svg role="img" aria-label="a &lt; b"><g id="one-a"/></svg>'
    """
    svg = _METADATA.sub("", _BEFORE.sub("", svg))
    svg = _NAME.sub(lambda found: f"{found[1]}{name}-", _NAMESPACE.sub("", svg))
    svg = _PATH.sub(lambda path: _LONG.sub(_short, path[0]), svg)  # paths only: the digits of a text are what it says
    return svg.replace("<svg", f'<svg role="img" aria-label="{plain(alt)}"', 1).strip()


def _short(number: re.Match[str]) -> str:
    """A hundredth of a point is finer than any printer."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")

"""What HTML pages are made of: safe text, tables that scroll, figures, a document that loads nothing.

Names and values in a model may be anything, so every string goes through ``plain``; and should one slip through, the page's own
policy runs no script but the one that it was made with.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

LONGEST_WORD = 24  # that a table shows on one line
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def plain(text: object) -> str:
    """A string that is safe in an attribute or between tags, whatever it holds."""
    return escape(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True)


def name(text: object, css: str = "name") -> str:
    """A name or value that somebody else chose: escaped, and its writing direction kept to itself.

    Tables break a word of it only if no phone could show that on a line.
    """
    long = " long" if any(len(word) > LONGEST_WORD for word in str(text).split()) else ""
    return f'<bdi class="{css}{long}">{plain(text)}</bdi>'


def wide(table: str, label: str) -> str:
    """A table that scrolls by itself where it is too wide, with the keyboard, too."""
    return f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table>{table}</table></div>'


def table(label: str, caption: str, heads: str, rows: Iterable[str]) -> str:
    """A table that scrolls, from the cells of its head and its rows: all of them safe HTML."""
    inside = f"<caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return wide(inside, label)


def heads(*words: str, numbers: Iterable[str] = ()) -> str:
    """The heads of columns: first those that hold words, then those that hold numbers."""
    return "".join(
        [f'<th scope="col">{text}</th>' for text in words]
        + [f'<th scope="col" class="n">{text}</th>' for text in numbers]
    )


def row(called: str, *words: str, numbers: Iterable[str] = (), cells: str = "", css: str = "") -> str:
    """A row of a table: what it is called, cells that are written already, and cells of words and of numbers."""
    own = [f"<td>{text}</td>" for text in words] + [f'<td class="n">{text}</td>' for text in numbers]
    return f'<tr{f" class={css}" if css else ""}><th scope="row">{called}</th>{cells}{"".join(own)}</tr>'


def items(texts: Iterable[str]) -> str:
    """The items of a list."""
    return "".join(f"<li>{text}</li>" for text in texts)


def page_css() -> str:
    """The style of every page, light and dark."""
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def document(title: str, css: str, body: str, script: str = "") -> str:
    """A whole page that loads nothing and sends nothing. ``title`` and ``body`` are safe HTML."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f" script-src 'sha256-{digest}';" if script else ""
    policy = f"default-src 'none'; style-src 'unsafe-inline';{allowed} base-uri 'none'; form-action 'none'"
    end = f"\n<script>{script}</script>" if script else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{css}</style>
</head>
<body>
{body}{end}
</body>
</html>
"""


def bar(parts: Sequence[tuple[float, str]], label: str, start: float = 0.0) -> str:
    """A stacked bar: widths as shares of the whole, each with a CSS class. ``label`` is safe HTML that says the same."""
    rects = []
    for width, css in parts:
        if width > 0:
            rects.append(f'<rect class="{css}" x="{100 * start:.3f}" width="{100 * width:.3f}" height="10"/>')
        start += width
    return (
        f'<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'<rect class="rest" width="100" height="10"/>{"".join(rects)}</svg>'
    )

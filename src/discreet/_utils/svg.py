"""SVG as a part of a page: nothing to load, and words for who cannot see it."""

import re
from collections.abc import Sequence

from .html import plain

_BEFORE = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)  # the XML declaration and the document type
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_NAMESPACE = re.compile(r'\s+xmlns(?::\w+)?="[^"]*"')
_NAME = re.compile(r'(\bid="|"#|url\(#)')
_PATH = re.compile(r'(?<= d=")[^"]*')
_LONG = re.compile(r"-?\d+\.\d{3,}")


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

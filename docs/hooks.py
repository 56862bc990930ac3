"""Formulas as MathML, which browsers show by themselves: no script, no network."""

import re

from latex2mathml.converter import convert

DISPLAY = re.compile(r"\\\[(.+?)\\\]", re.DOTALL)
INLINE = re.compile(r"\\\((.+?)\\\)", re.DOTALL)


def on_page_markdown(markdown, **_):
    """mkdocs calls this for each page."""
    markdown = DISPLAY.sub(lambda m: convert(" ".join(m[1].split()), display="block"), markdown)
    return INLINE.sub(lambda m: convert(" ".join(m[1].split())), markdown)

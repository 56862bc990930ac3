"""Formulas as MathML, which browsers show by themselves: no script, no network."""

import re

from latex2mathml.converter import convert

FORMULA = re.compile(r"\\\[(?P<display>.+?)\\\]|\\\((?P<inline>.+?)\\\)", re.DOTALL)
_formulas: dict[str, str] = {}


def on_page_markdown(markdown, page, **_):
    """Before Markdown is read: put a word in place of each formula, so that it is left alone."""

    def keep(match):
        word = f"FORMULA{len(_formulas)}X"
        latex = " ".join((match["display"] or match["inline"]).split())
        _formulas[word] = convert(latex, display="block" if match["display"] else "inline")
        return word

    return FORMULA.sub(keep, markdown)


def on_page_content(html, page, **_):
    """After it: put the formulas there."""
    return re.sub(r"FORMULA\d+X", lambda match: _formulas[match[0]], html)

"""Formulas as MathML, which browsers show by themselves: no script, no network. An extension of Python-Markdown."""

import re

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

FORMULA = re.compile(r"\\\[(?P<display>.+?)\\\]|\\\((?P<inline>.+?)\\\)", re.DOTALL)


class _Formulas(Preprocessor):
    """Puts each formula aside, so that Markdown leaves it alone."""

    def run(self, lines: list[str]) -> list[str]:
        return FORMULA.sub(self._kept, "\n".join(lines)).split("\n")

    def _kept(self, match: re.Match[str]) -> str:
        latex = " ".join((match["display"] or match["inline"]).split())
        return self.md.htmlStash.store(convert(latex, display="block" if match["display"] else "inline"))


class Formulas(Extension):
    r"""``\( ... \)`` in a line, ``\[ ... \]`` on lines of its own."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register, after fenced code (25) has been put aside."""
        md.preprocessors.register(_Formulas(md), "formulas", 24)


def makeExtension(**options: object) -> Formulas:
    """What Python-Markdown calls."""
    return Formulas(**options)

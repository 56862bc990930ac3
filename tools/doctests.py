"""Examples in docstrings, shown as code. An extension of Python-Markdown.

To Markdown, ``>>> clf.fit(X, y)`` is a quotation in a quotation in a quotation. So this puts a paragraph that begins with
``>>>`` between fences, unless it already is.
"""

from collections.abc import Iterator
from itertools import groupby

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor


def fenced(lines: list[str]) -> Iterator[str]:
    """The lines, with fences around examples."""
    in_code = False
    for is_text, paragraph in groupby(lines, key=lambda line: bool(line.strip())):
        part = list(paragraph)
        example = is_text and not in_code and part[0].startswith(">>> ")
        yield from ["```pycon", *part, "```"] if example else part
        in_code ^= sum(line.lstrip().startswith("```") for line in part) % 2 == 1


class _Examples(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return list(fenced(lines))


class Doctests(Extension):
    """Fences around paragraphs that begin with ``>>>``."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register, before fenced code (25) is put aside."""
        md.preprocessors.register(_Examples(md), "doctests", 26)


def makeExtension(**options: object) -> Doctests:
    """What Python-Markdown calls."""
    return Doctests(**options)

"""Names in messages and files: which were meant, the first few of many, and all of them harmless where they stand.

Names of columns, classes and files may hold anything. Here are the forms in which they stand in a terminal, in Markdown, in YAML,
and after the mark that begins a comment.
"""

import json
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from unicodedata import category

FEW = 8
LONGEST_SHOWN = 200  # of a name; the model's file has the whole
# Words that mean nothing to Markdown after the first of a line: no mark stands where it could begin a link, a tag or a list
_WORD = r"(?:\(?[^\W_]+(?:['/-][^\W_]+)*%?\)?[.,;:!?]?|-?[0-9]+(?:[.,][0-9]+)?%?[.,;:)]?|[&=-])"
_PROSE = re.compile(rf"{_WORD}(?: {_WORD})*")
_HALF = re.compile("[\ud800-\udfff]")
_COMMENT = re.compile(r"[^\w .,()<>=+-]")


def first_few(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are.

    >>> first_few(["age", "sex"]), first_few(list("abcdefghij"))
    ("'age', 'sex'", "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more")
    """
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(map(repr, names[:FEW])) + more


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is nearly the same, whatever its case; None if there is none.

    >>> closest("Incom", ["age", "income"]), closest("x", ["age"])
    ('income', None)
    """
    by_lower_case = {k.lower(): k for k in known}
    found = get_close_matches(name.lower(), by_lower_case, n=1)
    return by_lower_case[found[0]] if found else None


def escaped(text: str, keep: str = "\n") -> str:
    """A string in which everything can be seen. Only line breaks stay, because our own messages have some.

    >>> escaped("weight [kg]\\x1b[2J")
    'weight [kg]\\\\x1b[2J'
    """
    return "".join(c if c.isprintable() or c in keep or category(c) == "Zs" else ascii(c)[1:-1] for c in text)


def is_unicode(text: str) -> bool:
    """Whether a text can leave Python at all. Half a surrogate pair cannot."""
    return _HALF.search(text) is None


def on_a_line(thing: object, longest: int = LONGEST_SHOWN) -> str:
    """A name on one line, cut off where it is very long.

    >>> on_a_line("a\\nb"), on_a_line("x" * 300, longest=3)
    ('a\\\\nb', 'xxx…')
    """
    text = escaped(str(thing), keep="")
    return text if len(text) <= longest else f"{text[:longest]}…"


def in_markdown(thing: object, longest: int = LONGEST_SHOWN) -> str:
    """A name in Markdown, also in a table's cell: as it is if it consists of plain words, else as code, where nothing is obeyed.

    A web address, or a name after @, becomes a link in many places without any mark at all, but not in code. A bar would end a
    cell, even in code, whatever a backslash before it is meant to do; so it is shown as Python writes it.

    >>> print(in_markdown("Age (in years)."), in_markdown("<=50K"), in_markdown("a|`b"))
    Age (in years). `<=50K` ``a\\x7c`b``
    """
    text = " ".join(on_a_line(thing, longest).replace("|", "\\x7c").split())
    if _PROSE.fullmatch(text) and "www" not in text.lower():
        return text
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    inside = f" {text} " if not text or text[0] == "`" or text[-1] == "`" else text
    return f"{fence}{inside}{fence}"


def in_yaml(thing: object) -> str:
    """A name as a YAML string. JSON's strings are such, if all characters can be printed."""
    return json.dumps(on_a_line(thing, 2_000), ensure_ascii=False)


def in_comment(thing: object) -> str:
    """A name in a comment of a program: letters, digits and a few marks. Others, which templates and drivers replace, are points.

    >>> in_comment("<=50K {{ secret }} ${x} :y %s")
    '<=50K .. secret .. ..x. .y .s'
    """
    return _COMMENT.sub(".", on_a_line(thing))

"""Everything that the commands print goes through here: names of columns, classes and files may hold anything.

What a terminal would obey instead of show (escape sequences, other control characters, marks that turn the direction of text,
line separators, half characters) is shown as Python writes it, ``\\x1b``. Brackets are brackets, never markup of rich's.
What is written for programs (SQL, CSV, TOML) is printed as it is, unless it goes to a terminal.
"""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from .._utils.escaping import escaped as escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from rich.text import Text


def on_one_line(thing: Any) -> str:
    """A name of a column, class or file, on one line."""
    return escaped(str(thing), keep="")


def as_text(words: Any, style: str = "") -> "Text":
    """Words for rich that are not markup, wherever they stand (rich reads markup in titles, whatever its console is told)."""
    from rich.text import Text

    return Text(escaped(str(words)), style)


def say(message: str, err: bool = False) -> None:
    """Print a message."""
    click.echo(escaped(message), err=err)


def say_json(data: Any) -> None:
    """Print as JSON, which writes control characters as ``\\u001b`` by itself."""
    click.echo(json.dumps(data, indent=1, default=str))


def say_lines(lines: "Iterable[str]") -> None:
    """Print what is meant for programs, as it is; on a terminal, so that it can be seen."""
    seen = sys.stdout.isatty()
    changed = False
    for line in lines:
        shown = escaped(line) if seen else line
        changed |= shown != line
        sys.stdout.write(shown)
    sys.stdout.flush()
    if changed:
        say("Control characters are shown as \\x1b and the like; write to a file (--out) for the real names.", err=True)


def open_console(stderr: bool = False) -> "Console":
    """Where rich prints: no markup, no emoji, and nothing that the terminal would obey."""
    from rich.console import Console
    from rich.segment import Segment

    class Escaping(Console):
        """Also what a table or a frame was given without care."""

        def render(self, *given: Any, **options: Any) -> "Iterator[Segment]":
            for segment in super().render(*given, **options):
                plain = segment.control is None and not segment.text.replace("\n", "").isprintable()
                yield Segment(escaped(segment.text), segment.style) if plain else segment

    return Escaping(stderr=stderr, markup=False, emoji=False)

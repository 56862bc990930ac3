"""Labels: what people call a column, a category or a class. Reports show them in place of names; nothing else changes.

A label may hold anything that fits on a line. Whatever shows it makes it harmless there; but no two things that stand beside each
other may look the same, so a label that another one has, or that is another one's name, is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._utils.errors import SchemaError
from .label_text import LONGEST_LABEL, checked_text
from .values import canonical

Labels = tuple[tuple[str, str], ...]  # by the text of a category or class


def checked_labels(where: str, given: object, known: Iterable[object]) -> Labels:
    """Labels of some of what is known, each with one of its own."""
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    try:
        labels = {canonical(key): checked_text(f"{where}: a label", label) for key, label in pairs}  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"{where}: labels must be a table with a label for each name") from None
    names = {canonical(name) for name in known}
    for key in labels:
        if key not in names:
            raise SchemaError(f"{where}: labels names {key!r}, which is not there")
    check_distinct(where, {name: labels.get(name) or name for name in names})
    return tuple(labels.items())


def check_distinct(where: str, called: Mapping[str, str]) -> None:
    """Complain about two things that would be called the same."""
    seen: dict[str, str] = {}
    for name, label in called.items():
        other = seen.setdefault(label, name)
        if other != name:
            raise SchemaError(f"{where}: {other!r} and {name!r} would be called the same; give each a label of its own")


def tidy_label(text: object) -> str:
    """A label out of somebody's spreadsheet: on one line, and not too long."""
    printable = "".join(c if c.isprintable() else " " for c in canonical(text))
    return " ".join(printable.split())[:LONGEST_LABEL].strip()


def tidy_labels(labels: Mapping[str, Any], known: Sequence[object] = ()) -> dict[str, str]:
    """Those that say something and tell their things apart. ``known`` are names without a label.

    >>> tidy_labels({"1": "yes", "2": "no", "8": "unknown", "9": " unknown", "x": "x"})
    {'1': 'yes', '2': 'no'}
    """
    tidied = {key: tidy_label(label) or key for key, label in labels.items()}
    called = [*tidied.values(), *(canonical(name) for name in known if canonical(name) not in tidied)]
    names = {*tidied, *map(canonical, known)}
    return {
        key: label for key, label in tidied.items() if label != key and called.count(label) == 1 and label not in names
    }

"""Names in messages: the first few of many, and the one that was perhaps meant."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

FEW = 8


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

"""URLs of tables, read with care: a secret may not stand in one, and nothing of what stands there is ever repeated.

A password with a sign that ends a part of a URL (``/``, ``?``, ``#``, ``@``) turns into a port, a path or a fragment, which a
library would quote. So everything that could be such a rest is refused here, before a library reads it.
"""

import os
import re
from collections.abc import Iterator
from glob import escape, iglob
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from .._utils.errors import TableError
from .engines import engine_at

NO_SECRETS = (
    "a password, key or token may not stand in a URL, where others see it: put it where the engine itself looks for it, for "
    "PostgreSQL PGPASSWORD, ~/.pgpass or a service file, for Spark and S3 their configuration"
)
UNREADABLE = (
    "the URL cannot be read: it must be SCHEME://USER@HOST:PORT/DATABASE?table=NAME, with other characters than letters and "
    "digits in these parts as %2F (/), %3F (?), %23 (#), %40 (@). And " + NO_SECRETS
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@,]*)(:[0-9]*)?")
_SECRET = re.compile(
    r"pass(?!file$)|pwd|secret|token|credential|signature|(api|access|account|private|client|server|storage)key|^sig$|^key$"
)
# A scheme, a user, a query, or words as libpq takes them
_LIKE_A_URL = re.compile(r"(?i)(^|=)[a-z][a-z0-9+.-]+:|@|[?&;#][^=]*=|(pass|pwd|secret|token)\w*=")

_OPTION_AND_SCHEME = re.compile(r"^(--?[\w-]+=)?([A-Za-z][A-Za-z0-9+.-]+:)?")


def checked_url(text: str) -> SplitResult:
    """The parts of a URL (or of a path, which has no scheme), if there is no secret in it. The error repeats nothing of it."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        return SplitResult("", "", text, "", "")
    rest = text[scheme.end() :]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    after = rest[len(authority) :]
    user, _, host = authority.rpartition("@")
    if ":" in _decoded(user) or any(_SECRET.search(key) for key in _keys(after)):
        raise TableError(NO_SECRETS)
    if not text.isprintable() or not _HOST.fullmatch(host):
        raise TableError(UNREADABLE)
    engine = engine_at(scheme[1].lower())
    if engine is not None and "#" in rest:
        raise TableError(UNREADABLE)
    if engine is not None and engine.is_server and "@" in (after if ":" in host else after.partition("?")[0]):
        raise TableError(UNREADABLE)
    parts = _split(text)
    if parts is None:
        raise TableError(UNREADABLE)
    return parts


def _split(text: str) -> SplitResult | None:
    """As the library reads it; None for what it does not like, without its words."""
    try:
        parts = urlsplit(text)
        _ = parts.port, parts.hostname
    except ValueError:
        return None
    return parts


def _keys(after: str) -> list[str]:
    """What stands before each ``=`` of a query, or of Spark Connect's ``/;token=...``: letters and digits in lower case."""
    words = re.split(r"[?&;#]", after)[1:]
    decoded = [part for word in words for part in re.split(r"[?&;#]", _decoded(word))]
    return [re.sub(r"[^a-z0-9]", "", word.partition("=")[0].lower()) for word in decoded]


def _decoded(text: str) -> str:
    """Without percent signs, however often they were encoded."""
    while (plain := unquote(text.replace("+", " "))) != text:
        text = plain
    return text


def local_place(where: str) -> str | None:
    """The file, folder or pattern of names on this machine that a table is in, links followed; None if it is elsewhere.

    >>> local_place("duckdb:////home/me/people.db?table=people")
    '/home/me/people.db'
    >>> local_place("postgresql://me@host/db?table=people")
    """
    scheme = _SCHEME.match(where)
    if scheme is None:
        path: str | None = where
    else:
        kind, rest = scheme[1].lower(), where[scheme.end() :]
        engine = engine_at(kind)
        path = rest if kind == "file" and rest.startswith("/") else None if engine is None else engine.local_path(rest)
    return None if path is None or "\0" in path else os.path.realpath(path)


def files_in(place: str) -> Iterator[str]:
    """The files that are there, as DuckDB looks for them."""
    if os.path.isdir(place):
        place = f"{escape(place)}/**/*.parquet"
    return iter([place]) if Path(place).exists() else iglob(place, recursive=True, include_hidden=True)


def private_parts(text: str) -> list[str]:
    """What of an argument may not be repeated, if it might be a URL, well written or not: all but its scheme and the table.

    >>> private_parts("postgresql://me:Xyzzy@host/db?table=people&sslkey=/home/key.pem")
    ['Xyzzy', 'host', 'sslkey', 'home', 'key.pem']
    >>> private_parts("people.csv")
    []
    """
    if not _LIKE_A_URL.search(text):
        return []
    text = _OPTION_AND_SCHEME.sub("", text)
    rest = re.sub(r"[?&]table=[^&;#@]*", " ", text)
    pieces = re.split(r"[^\w.-]+", f"{rest} {_decoded(rest)}")
    return [piece for piece in dict.fromkeys(pieces) if len(piece) > 3]


def repeats(message: str, text: str) -> bool:
    """Whether a message says something of an argument that might be a URL. A password may have no long word in it.

    >>> repeats("File 'postgresql:/me:x9#Qz!7p@db/hr' does not exist.", "postgresql://me:x9#Qz!7p@db/hr")
    True
    """
    if any(piece in message for piece in private_parts(text)):
        return True
    if not _LIKE_A_URL.search(text):
        return False
    rest, said = _OPTION_AND_SCHEME.sub("", text), _letters(message)
    parts = [part for part in rest.split("/") if re.search("[:@]", part)]
    return any(_letters(part) in said for part in (*parts, *([rest] if len(_letters(rest)) > 3 else [])))


def _letters(text: str) -> str:
    """What stays the same however a text is quoted, and a path written."""
    return re.sub(r"[\W_]+", "", text)

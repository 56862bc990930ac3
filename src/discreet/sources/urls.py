"""Where a table is, in one line: a file, or a URL of an engine. What is opened is only read.

Passwords do not stand in a URL: shells remember it, other users see it in the list of processes. They come from where the engine
itself looks for them. A password with a sign that ends a part of a URL (``/``, ``?``, ``#``, ``@``) turns into a port, a path or
a fragment, which a library would quote; so everything that could be such a rest is refused here, before a library reads it. No
error repeats a URL, nor what an engine says about it: why something could not be opened is said in words of our own. They are
looked for in order, by parts of what the engines, ibis and the operating system say, whatever their language for the rest.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape, iglob
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from .._utils.errors import EngineError, TableError, warnings_ignored
from .engines import ENGINES, engine_at
from .engines.base import Cause, Engine
from .engines.duckdb import DuckDB, name_as_it_is, open_parquet

PARQUET_FORMS = (
    "a path of Parquet files (people.parquet, people/*.parquet, s3://bucket/people.parquet), a folder of them"
)
FORMS = ", ".join((PARQUET_FORMS, *(engine.url_forms for engine in ENGINES)))
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
# what ibis and the operating system say, and any server; more in the files of the engines
ANYWHERE = {
    Cause.NO_TABLE: "tablenotfound",
    Cause.NOT_ACCEPTED: "password|authenticat|credential|access ?denied|forbidden",
    Cause.NOT_PERMITTED: "permission|not permitted",
    Cause.NO_FILE: "filenotfound",
    Cause.NO_HOST: "resolve|name or service|network|unreachable|no route",
    Cause.NO_ANSWER: "refused|timed? ?out|timeout|connection|no such file or directory",
}
UNKNOWN = "check the address, the name of the table, and that you may read it"


def open_table(where: str | PathLike[str]) -> Any:
    """The table at a path or URL, as an ibis table for ``fit_source``. No record is read yet.

    ===============================================  ==============================================================
    ``people.parquet``, ``people/*.parquet``         Parquet files, through DuckDB; they may be larger than memory.
                                                     Also ``s3://...`` and ``https://...``, as DuckDB allows
    ``people/``                                      a folder: all ``.parquet`` files in it and in its folders. Names of
                                                     folders such as ``region=north/`` are a column, ``region``, of strings
    ``duckdb:///people.db?table=people``             a table or view in a file of DuckDB, by a path from here;
                                                     ``duckdb:////home/me/people.db`` by one from the root
    ``postgresql://me@host/database?table=people``   PostgreSQL; ``table=schema.people`` in another schema than usual, and
                                                     ``table="my.schema"."my.table"`` for names with a dot
    ``spark://host:7077?table=people``               Spark: a cluster, ``spark://local`` a session on this machine
    ``sc://host:15002?table=people``                 Spark Connect
    ===============================================  ==============================================================

    CSV files are read by this process, a part at a time: ``fit_file`` and ``PrivateCounts.from_file``. A password is no part of a
    URL: PostgreSQL takes it from ``PGPASSWORD``, ``~/.pgpass`` or a service file, Spark and S3 from their own configuration.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.datasets import load_compas
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_compas().frame.to_parquet(f"{folder}/compas.parquet")
    ...     table = open_table(f"{folder}/compas.parquet")
    ...     len(table.columns)
    10
    """
    try:
        return _open(where)
    except Exception as error:
        known = isinstance(error, TableError | EngineError | ImportError)
        problem = error if known else EngineError(f"the table cannot be opened ({type(error).__name__})")
    problem.__context__ = problem.__cause__ = None  # which may quote the URL: not even a debugger finds it
    raise problem


def _open(where: str | PathLike[str]) -> Any:
    from .files import PARQUET, TEXT

    text = fspath(where)
    if not isinstance(text, str):
        raise TableError(f"a table must be named by a text: {FORMS}")
    parts = checked_url(text)
    if (engine := engine_at(parts.scheme)) is not None:
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        if not (name := options.pop("table", "")):
            raise TableError("the URL must say which table: ...?table=NAME")
        with _opened(engine, engine.title) as ibis:
            return engine.open(ibis, parts, name, options)
    if "://" not in text and Path(text).is_dir():
        return _parquet(f"{name_as_it_is(text.rstrip('/'))}/**/*.parquet")
    if text.lower().endswith(PARQUET):
        return _parquet(text)
    if text.lower().endswith(TEXT) and "://" not in text:
        raise TableError(
            "a CSV file is read by this process, not by an engine: fit_file(path), PrivateCounts.from_file(path, schema), or "
            "discreet fit FILE"
        )
    raise TableError(f"there is no table of this name or form; a table is {FORMS}")


def _parquet(path: str) -> Any:
    if "://" not in path and not any(sign in path for sign in "*?[") and not Path(path).is_file():
        raise TableError(f"there is no file {'of this name' if private_parts(path) else Path(path).name}")
    with _opened(DuckDB, "the Parquet file") as ibis:
        return open_parquet(ibis, path)


@contextmanager
def _opened(engine: type[Engine], what: str) -> Iterator[Any]:
    """ibis, with errors that say what could not be opened, but neither where it is nor who wanted in."""
    try:
        import ibis

        with warnings_ignored():
            yield ibis
    except ImportError:
        raise ImportError(f"{what} needs more to be installed: pip install 'discreet[{engine.extra}]'") from None
    except TableError:
        raise
    except Exception as error:
        raise EngineError(f"{what} cannot be opened ({type(error).__name__}): {cause_of(error)}") from None


def checked_url(text: str) -> SplitResult:
    """The parts of a URL (or of a path, which has no scheme), if there is no secret in it. The error repeats nothing of it."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        return SplitResult("", "", text, "", "")
    rest = text[scheme.end() :]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    after = rest[len(authority) :]
    user, _, host = authority.rpartition("@")
    if ":" in _without_percent(user) or any(_SECRET.search(key) for key in _keys(after)):
        raise TableError(NO_SECRETS)
    if not text.isprintable() or not _HOST.fullmatch(host):
        raise TableError(UNREADABLE)
    if (engine := engine_at(scheme[1].lower())) is not None:
        late = engine.is_server and "@" in (after if ":" in host else after.partition("?")[0])
        if late or "#" in rest:
            raise TableError(UNREADABLE)
    with suppress(ValueError):  # the library's words would repeat it
        parts = urlsplit(text)
        _ = parts.port, parts.hostname
        return parts
    raise TableError(UNREADABLE)


def _keys(after: str) -> list[str]:
    """What stands before each ``=`` of a query, or of Spark Connect's ``/;token=...``: letters and digits in lower case."""
    decoded = [part for word in re.split(r"[?&;#]", after)[1:] for part in re.split(r"[?&;#]", _without_percent(word))]
    return [re.sub(r"[^a-z0-9]", "", word.partition("=")[0].lower()) for word in decoded]


def _without_percent(text: str) -> str:
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
    path: str | None = where
    if scheme := _SCHEME.match(where):
        kind, path = scheme[1].lower(), where[scheme.end() :]
        if kind != "file" or not path.startswith("/"):
            path = engine.local_path(path) if (engine := engine_at(kind)) else None
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
    return list(dict.fromkeys(re.findall(r"[\w.-]{4,}", f"{rest} {_without_percent(rest)}")))


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


def cause_of(error: BaseException) -> str:
    """What to say of an error of an engine. Nothing of the error itself is in it.

    >>> cause_of(PermissionError("/home/me/secret.parquet"))
    'you may not read it: ask who owns it'
    """
    said, places = f"{type(error).__name__}: {error}".lower(), (ANYWHERE, *(engine.errors for engine in ENGINES))
    patterns = ((cause, place[cause]) for cause in Cause for place in places if cause in place)
    return next((cause.value for cause, pattern in patterns if re.search(pattern, said, re.DOTALL)), UNKNOWN)

"""Where a table is, in one line: a file, or a URL of an engine. What is opened is only read.

Passwords do not stand in a URL: shells remember it, other users see it in the list of processes. They come from where the engine
itself looks for them. No error repeats a URL, nor what an engine says about it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl

from .._utils.errors import EngineError, TableError, warnings_ignored
from .addresses import checked_url, private_parts
from .causes import cause_of
from .engines import ENGINES, engine_at
from .engines.base import Engine
from .engines.duckdb import DuckDB, name_as_it_is, open_parquet
from .files import PARQUET, TEXT

FORMS = ", ".join(
    (
        "a path of Parquet files (people.parquet, people/*.parquet, s3://bucket/people.parquet), a folder of them, a CSV file "
        "(people.csv)",
        *(engine.url_forms for engine in ENGINES),
    )
)


def open_table(
    where: str | PathLike[str], *, delimiter: str | None = None, encoding: str = "utf-8", decimal: str = "."
) -> Any:
    """The table at a path or URL, as an ibis table for ``fit_source``. No record is read yet (of a CSV file, only its quotes).

    ===============================================  ==============================================================
    ``people.parquet``, ``people/*.parquet``         Parquet files, through DuckDB; they may be larger than memory.
                                                     Also ``s3://...`` and ``https://...``, as DuckDB allows
    ``people/``                                      a folder: all ``.parquet`` files in it and in its folders. Names of
                                                     folders such as ``region=north/`` are a column, ``region``, of strings
    ``people.csv``, ``.tsv``, ``.txt``               a CSV file in UTF-8, through DuckDB; every column holds strings, which
                                                     mean what they mean in memory. ``delimiter`` as its first line has it;
                                                     ``decimal=","`` for numbers with decimal commas
    ``duckdb:///people.db?table=people``             a table or view in a file of DuckDB, by a path from here;
                                                     ``duckdb:////home/me/people.db`` by one from the root
    ``postgresql://me@host/database?table=people``   PostgreSQL; ``table=schema.people`` in another schema than usual, and
                                                     ``table="my.schema"."my.table"`` for names with a dot
    ``spark://host:7077?table=people``               Spark: a cluster, ``spark://local`` a session on this machine
    ``sc://host:15002?table=people``                 Spark Connect
    ===============================================  ==============================================================

    A password is no part of a URL: PostgreSQL takes it from ``PGPASSWORD``, ``~/.pgpass`` or a service file, Spark and S3 from
    their own configuration.

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
        return _open(where, delimiter, encoding, decimal)
    except (TableError, EngineError, ImportError) as error:
        problem: Exception = error
    except Exception as error:
        problem = EngineError(f"the table cannot be opened ({type(error).__name__})")
    problem.__context__ = problem.__cause__ = (
        None  # an engine's own error may quote the URL: not even a debugger finds it
    )
    raise problem


def _open(where: str | PathLike[str], delimiter: str | None, encoding: str, decimal: str) -> Any:
    text = fspath(where)
    if not isinstance(text, str):
        raise TableError(f"a table must be named by a text: {FORMS}")
    parts = checked_url(text)
    if (engine := engine_at(parts.scheme)) is not None:
        return _at_url(engine, parts)
    if "://" not in text and Path(text).is_dir():
        return _parquet(f"{name_as_it_is(text.rstrip('/'))}/**/*.parquet")
    if text.lower().endswith(PARQUET):
        return _parquet(text)
    if text.lower().endswith(TEXT) and "://" not in text:
        return _csv(Path(text), delimiter, encoding, decimal)
    raise TableError(f"there is no table of this name or form; a table is {FORMS}")


def _at_url(engine: type[Engine], parts: SplitResult) -> Any:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not (name := options.pop("table", "")):
        raise TableError("the URL must say which table: ...?table=NAME")
    with _opened(engine, engine.title) as ibis:
        return engine.open(ibis, parts, name, options)


def _csv(path: Path, delimiter: str | None, encoding: str, decimal: str) -> Any:
    if not path.is_file():
        raise _no_file(path)
    with _opened(DuckDB, "the CSV file"):
        from .engines.csv_in_duckdb import open_csv

        return open_csv(path, delimiter, encoding, decimal)


def _parquet(path: str) -> Any:
    if "://" not in path and not any(sign in path for sign in "*?[") and not Path(path).is_file():
        raise _no_file(Path(path))
    with _opened(DuckDB, "the Parquet file") as ibis:
        return open_parquet(ibis, path)


def _no_file(path: Path) -> TableError:
    return TableError(f"there is no file {'of this name' if private_parts(str(path)) else path.name}")


@contextmanager
def _opened(engine: type[Engine], what: str) -> Iterator[Any]:
    """ibis, with errors that say what could not be opened, but neither where it is nor who wanted in."""
    try:
        import ibis

        with warnings_ignored():
            yield ibis
    except (ImportError, ModuleNotFoundError):
        raise ImportError(f"{what} needs more to be installed: pip install 'discreet[{engine.extra}]'") from None
    except TableError:
        raise
    except Exception as error:
        raise EngineError(f"{what} cannot be opened ({type(error).__name__}): {cause_of(error)}") from None

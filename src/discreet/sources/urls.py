"""Where a table is, in one line: a file, or a URL of an engine. What is opened is only read.

Passwords do not stand in a URL: shells remember it, other users see it in the list of processes. They come from where the engine
itself looks for them. No error repeats a URL, nor what an engine says about it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode

from ..common.errors import EngineError, TableError, warnings_ignored
from .addresses import checked_url, private_parts
from .causes import cause_of
from .files import PARQUET, TEXT
from .written import name_as_it_is, open_csv

FORMS = (
    "a path of Parquet files (people.parquet, people/*.parquet, s3://bucket/people.parquet), a folder of them, a CSV file "
    "(people.csv), "
    "duckdb:///FILE?table=NAME, postgresql://USER@HOST/DATABASE?table=NAME, spark://HOST:PORT?table=NAME (a cluster), "
    "spark://local?table=NAME or sc://HOST:PORT?table=NAME (Spark Connect)"
)
QUOTED = re.compile(r'''(?:"((?:[^"]|"")+)"\.)?"((?:[^"]|"")+)"''')  # as in SQL: a schema, and a table
EXTRAS = {"duckdb": "duckdb", "postgres": "postgres", "pyspark": "spark"}


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
    if parts.scheme in ("postgresql", "postgres"):
        return _postgres(parts)
    if parts.scheme == "duckdb":
        return _duckdb(parts)
    if parts.scheme in ("spark", "sc"):
        return _spark(parts)
    if "://" not in text and Path(text).is_dir():
        return _parquet(f"{name_as_it_is(text.rstrip('/'))}/**/*.parquet")
    if text.lower().endswith(PARQUET):
        return _parquet(text)
    if text.lower().endswith(TEXT) and "://" not in text:
        return _csv(Path(text), delimiter, encoding, decimal)
    raise TableError(f"there is no table of this name or form; a table is {FORMS}")


def _csv(path: Path, delimiter: str | None, encoding: str, decimal: str) -> Any:
    if not path.is_file():
        raise _no_file(path)
    with _opened("duckdb", "the CSV file") as ibis:
        return open_csv(ibis, path, delimiter, encoding, decimal)


def _no_file(path: Path) -> TableError:
    return TableError(f"there is no file {'of this name' if private_parts(str(path)) else path.name}")


def _parquet(path: str) -> Any:
    is_file = "://" not in path and Path(path).is_file()
    if "://" not in path and not any(sign in path for sign in "*?[") and not is_file:
        raise _no_file(Path(path))
    with _opened("duckdb", "the Parquet file") as ibis:
        backend = ibis.duckdb.connect()
        if is_file:
            return backend.read_parquet(name_as_it_is(path), hive_partitioning=False)
        # DuckDB would cast all files to the types of the first, which may follow its records
        kinds = "list((name, type, converted_type, logical_type::VARCHAR) ORDER BY name, type)"
        files = f"SELECT file_name, {kinds} AS kinds FROM parquet_schema(?) GROUP BY file_name"
        different = "count(DISTINCT kinds), list(DISTINCT parse_dirpath(file_name))"
        n_kinds, folders = backend.con.execute(f"SELECT {different} FROM ({files})", [path]).fetchall()[0]
        if n_kinds > 1:
            raise TableError(
                "these Parquet files differ in the names or types of their columns; write them with the same ones"
            )
        table = backend.read_parquet(path, hive_partitioning=False)
        keys = {part.partition("=")[0].lower() for f in folders for part in re.split(r"[/\\]", f) if "=" in part}
        if not keys or keys & {
            name.lower() for name in table.columns
        }:  # what a file says comes before the name of its folder
            return table
        # of texts: a guess at another type would follow the other names
        return backend.read_parquet(path, hive_partitioning=True, hive_types_autocast=False)


def _duckdb(parts: SplitResult) -> Any:
    name, _ = _table_of(parts)
    path = Path(unquote(parts.path).removeprefix("/"))
    if parts.netloc or not path.is_file():
        raise TableError(
            "there is no such file of DuckDB: duckdb:///people.db?table=people is a path from here, "
            "duckdb:////home/me/people.db?table=people one from the root"
        )
    with _opened("duckdb", "DuckDB") as ibis:
        return _named(ibis.duckdb.connect(path, read_only=True), name)


def _postgres(parts: SplitResult) -> Any:
    name, rest = _table_of(parts)
    with _opened("postgres", "PostgreSQL") as ibis:
        import psycopg

        only_read = f"{rest.get('options', '')} -c default_transaction_read_only=on".strip()  # the last one counts
        options = rest | {"options": only_read}
        url = parts._replace(scheme="postgresql", query=urlencode(options, quote_via=quote)).geturl()
        connection = psycopg.connect(url, autocommit=True, application_name="discreet")
        try:
            return _named(ibis.postgres.from_connection(connection), name)
        except BaseException:
            connection.close()
            raise


def _spark(parts: SplitResult) -> Any:
    name, rest = _table_of(parts)
    with _opened("pyspark", "Spark") as ibis:
        from pyspark.sql import SparkSession

        if parts.scheme == "sc":
            kept = "".join(f";{key}={value}" for key, value in rest.items())
            builder = SparkSession.builder.remote(f"sc://{parts.netloc}/{kept}")
        else:
            local = parts.netloc.partition(":")[0] == "local"
            builder = SparkSession.builder.master("local[*]" if local else f"spark://{parts.netloc}")
            for key, value in rest.items():
                builder = builder.config(key, value)
        return _named(ibis.pyspark.connect(builder.getOrCreate()), name)


def _table_of(parts: SplitResult) -> tuple[str, dict[str, str]]:
    """The name of the table, and what else the URL asks for."""
    asked = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not (name := asked.pop("table", "")):
        raise TableError("the URL must say which table: ...?table=NAME")
    return name, asked


def _named(connection: Any, name: str) -> Any:
    """The table; ``schema.table``, or ``"my.schema"."my.table"``, where there is no table of the whole name."""
    try:
        return connection.table(name)
    except Exception:
        if quoted := QUOTED.fullmatch(name):
            named, rest = (part and part.replace('""', '"') for part in quoted.groups())
            return connection.table(rest, database=named and (connection.current_catalog, named))
        database, dot, rest = name.partition(".")
        if not dot:
            raise
        return connection.table(rest, database=database)


@contextmanager
def _opened(backend: str, what: str) -> Iterator[Any]:
    """ibis, with errors that say what could not be opened, but neither where it is nor who wanted in."""
    try:
        import ibis

        with warnings_ignored():
            yield ibis
    except (ImportError, ModuleNotFoundError):
        raise ImportError(f"{what} needs more to be installed: pip install 'discreet[{EXTRAS[backend]}]'") from None
    except TableError:
        raise
    except Exception as error:
        raise EngineError(f"{what} cannot be opened ({type(error).__name__}): {cause_of(error)}") from None

"""Where a table is, in one line: a file, or a URL of an engine. What is opened is only read.

Passwords do not stand in a URL: shells remember it, other users see it in the list of processes. They come from where the engine
itself looks for them. No error repeats a URL, nor what an engine says about it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from ..errors import EngineError, TableError
from .files import PARQUET, TEXT
from .written import name_as_it_is, open_csv

FORMS = (
    "a path of Parquet files (people.parquet, people/*.parquet, s3://bucket/people.parquet), a CSV file (people.csv), "
    "duckdb:///FILE?table=NAME, postgresql://USER@HOST/DATABASE?table=NAME, spark://HOST:PORT?table=NAME (a cluster), "
    "spark://local?table=NAME or sc://HOST:PORT?table=NAME (Spark Connect)"
)
EXTRAS = {"duckdb": "duckdb", "postgres": "postgres", "pyspark": "spark"}


def open_table(
    where: str | PathLike[str], *, delimiter: str | None = None, encoding: str = "utf-8", decimal: str = "."
) -> Any:
    """The table at a path or URL, as an ibis table for ``fit_source``. No record is read yet (of a CSV file, only its quotes).

    ===============================================  ==============================================================
    ``people.parquet``, ``people/*.parquet``         Parquet files, through DuckDB; they may be larger than memory.
                                                     Also ``s3://...`` and ``https://...``, as DuckDB allows
    ``people.csv``, ``.tsv``, ``.txt``               a CSV file in UTF-8, through DuckDB; every column is a text, which
                                                     means what it means in memory. ``delimiter`` as its first line has it;
                                                     ``decimal=","`` for numbers with decimal commas
    ``duckdb:///people.db?table=people``             a table or view in a file of DuckDB, by a path from here;
                                                     ``duckdb:////home/me/people.db`` by one from the root
    ``postgresql://me@host/database?table=people``   PostgreSQL; ``table=schema.people`` in another schema than usual
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
    text = fspath(where)
    if not isinstance(text, str):
        raise TableError(f"a table must be named by a text: {FORMS}")
    parts = urlsplit(text)
    if parts.password is not None:
        raise TableError(
            "a password may not stand in a URL, where others see it: put it into PGPASSWORD, ~/.pgpass or what else the engine "
            "reads by itself"
        )
    if parts.scheme in ("postgresql", "postgres"):
        return _postgres(parts)
    if parts.scheme == "duckdb":
        return _duckdb(parts)
    if parts.scheme in ("spark", "sc"):
        return _spark(parts)
    if text.lower().endswith(PARQUET):
        return _parquet(text)
    if text.lower().endswith(TEXT) and "://" not in text:
        return _csv(Path(text), delimiter, encoding, decimal)
    raise TableError(f"there is no table of this name or form; a table is {FORMS}")


def _csv(path: Path, delimiter: str | None, encoding: str, decimal: str) -> Any:
    if not path.is_file():
        raise TableError(f"there is no file {path.name}")
    with _opened("duckdb", "the CSV file") as ibis:
        return open_csv(ibis, path, delimiter, encoding, decimal)


def _parquet(path: str) -> Any:
    is_file = "://" not in path and Path(path).is_file()
    if "://" not in path and not any(sign in path for sign in "*?[") and not is_file:
        raise TableError(f"there is no file {Path(path).name}")
    with _opened("duckdb", "the Parquet file") as ibis:
        backend = ibis.duckdb.connect()
        if is_file:
            path = name_as_it_is(path)
        else:  # DuckDB would cast all files to the types of the first, which may follow its records
            kinds = "list((name, type, converted_type, logical_type::VARCHAR) ORDER BY name, type)"
            files = f"SELECT {kinds} AS kinds FROM parquet_schema(?) GROUP BY file_name"
            if backend.con.execute(f"SELECT count(DISTINCT kinds) FROM ({files})", [path]).fetchall()[0][0] > 1:
                raise TableError(
                    "these Parquet files differ in the names or types of their columns; write them with the same ones"
                )
        # a column that stands in the names of folders would be of a type that follows the other names
        return backend.read_parquet(path, hive_partitioning=False)


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

        options = {"options": "-c default_transaction_read_only=on"} | rest
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
    if "password" in asked:
        raise TableError("a password may not stand in a URL, where others see it; see open_table")
    if not (name := asked.pop("table", "")):
        raise TableError("the URL must say which table: ...?table=NAME")
    return name, asked


def _named(connection: Any, name: str) -> Any:
    """The table; ``schema.table`` where there is no table of the whole name."""
    try:
        return connection.table(name)
    except Exception:
        database, dot, rest = name.partition(".")
        if not dot:
            raise
        return connection.table(rest, database=database)


@contextmanager
def _opened(backend: str, what: str) -> Iterator[Any]:
    """ibis, with errors that say what could not be opened, but neither where it is nor who wanted in."""
    import warnings

    try:
        import ibis

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield ibis
    except (ImportError, ModuleNotFoundError):
        raise ImportError(f"{what} needs more to be installed: pip install 'discreet[{EXTRAS[backend]}]'") from None
    except TableError:
        raise
    except Exception as error:
        raise EngineError(
            f"{what} cannot be opened, or has no such table ({type(error).__name__}): check the address, the name of the table, "
            "and that you may read it"
        ) from None

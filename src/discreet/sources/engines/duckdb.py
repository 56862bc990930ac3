"""DuckDB: files of its own, and Parquet files. It runs in this process.

- It believes what a Parquet file says of its smallest and largest number, and these leave NaN out. Where no number is above 5 it
  takes ``x <= 5`` for true of NaN, too; DuckDB 2 takes ``isnan(x)`` for false. What a record is taken for would depend on other
  records. It does look at the values for ``isfinite`` and ``isinf``, and so these come first. Where something is computed from
  the columns, it may not conclude anything from what files say of them.
- DuckDB 1 ends a query at a NUL in a text.
- A function of one column it computes once for each different text where texts are numbered, as Parquet files mostly have them,
  and not once for each record. CASE is no function: it compares every record with one text after the other.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import SplitResult, unquote

from ..._utils.errors import TableError
from .base import Cause, Engine, Query, SaidInOurWords, builtin, ibis, named

LAST = "is_last_row"
CUT_OFF = (
    "something else used the same connection of DuckDB, which then gave no more records: let nothing use it meanwhile, such as "
    "another thread"
)


class DuckDB(Engine):
    """What is peculiar to DuckDB."""

    title = "DuckDB"
    name_in_ibis = "duckdb"
    extra = "duckdb"
    schemes = ("duckdb",)
    url_forms = "duckdb:///FILE?table=NAME"
    is_server = False
    runs_here = True
    errors: ClassVar[Mapping[Cause, str]] = {
        Cause.NO_EXTENSION: "extension.*(download|install|load)|httpfs",
        Cause.NO_TABLE: "catalog error.*does not exist",
        Cause.NOT_ACCEPTED: r"\b40[13]\b",
        Cause.LOCKED: "could not set lock|conflicting lock",
        Cause.NO_FILE: r"no files found|\b404\b|no such (bucket|key)|nosuchbucket|nosuchkey",
        Cause.DAMAGED: "magic|not a valid|parquet|corrupt|invalid input",
    }
    reads_numbers = True
    believes_files = True
    finds_places = True

    @classmethod
    def open(cls, ibis: Any, parts: SplitResult, table: str, options: Mapping[str, str]) -> Any:
        """A table or view in a file of DuckDB."""
        path = Path(unquote(parts.path).removeprefix("/"))
        if parts.netloc or not path.is_file():
            raise TableError(
                "there is no such file of DuckDB: duckdb:///people.db?table=people is a path from here, "
                "duckdb:////home/me/people.db?table=people one from the root"
            )
        return named(ibis.duckdb.connect(path, read_only=True), table)

    @classmethod
    def local_path(cls, rest: str) -> str | None:
        """A path from here, or from the root."""
        return unquote(rest.partition("?")[0]).removeprefix("/")

    @classmethod
    def usual_address(cls, parts: SplitResult, place: str | None, table: str) -> str | None:
        """It takes no notice of case."""
        return f"duckdb {place} {table.lower().removeprefix('main.')}"

    def query(self, watched: bool, plain: bool) -> Query:
        """DuckDB keeps count of its progress while it is told to. Its settings are as before afterwards."""
        connection = self.connection.con
        wanted = {"enable_progress_bar": "true", "enable_progress_bar_print": "false"} if watched else {}
        wanted |= {} if plain else {"disabled_optimizers": "statistics_propagation,filter_pushdown"}
        wanted |= {"preserve_insertion_order": "true"}  # so that the last row is the last (``batches``)

        def share() -> float | None:
            percent = float(connection.query_progress())
            return percent / 100 if percent >= 0 else None

        @contextmanager
        def begun() -> Iterator[None]:
            before = {name: connection.execute(f"SELECT current_setting('{name}')").fetchall()[0][0] for name in wanted}
            before = {name: value for name, value in before.items() if str(value).lower() != wanted[name]}
            try:
                for name in before:
                    connection.execute(f"SET {name} = '{wanted[name]}'")
                yield
            finally:
                with suppress(Exception):  # the connection may be lost
                    for name, value in before.items():
                        connection.execute(f"SET {name} = '{value}'")

        return Query(connection.interrupt, share, begun)

    def batches(self, expression: Any, rows: int, whole: bool = False) -> Iterator[Any]:
        """By hand: ibis 12 asks DuckDB 2 for batches by a name that is gone.

        A stream of DuckDB 1 ends without an error, and without the rest, if somebody uses the same connection meanwhile. So it
        has one more row, which says that it is the last.
        """
        self.connection._run_pre_execute_hooks(expression)
        query = self.connection.compile(expression)
        if whole:
            yield from self.connection.con.sql(query).to_arrow_table(rows).to_batches(rows)
            return
        marked = f"SELECT *, FALSE AS {LAST} FROM ({query}) UNION ALL BY NAME SELECT TRUE AS {LAST}"
        answer = self.connection.con.sql(marked)
        stream = answer.to_arrow_reader if hasattr(answer, "to_arrow_reader") else answer.fetch_record_batch
        ended = False
        for batch in stream(rows):
            *columns, last = batch.columns
            ended = last[-1].as_py()
            yield type(batch).from_arrays(columns, batch.schema.names[:-1]).slice(0, len(batch) - ended)
        if not ended:
            raise SaidInOurWords(CUT_OFF)

    def is_plain(self, table: Any) -> bool:
        """Not the name of a view either."""
        ops = ibis.expr.operations
        op = table.op()
        if not isinstance(op, ops.DatabaseTable) or op.name.startswith("ibis_read_"):
            return super().is_plain(table)
        views = "SELECT count(*) FROM duckdb_views() WHERE NOT internal AND lower(view_name) = lower(?)"
        return not self.connection.con.execute(views, [op.name]).fetchall()[0][0]

    def is_nan(self, x: Any, floating: bool) -> Any:
        """By functions for which DuckDB looks at the values."""
        return ~(builtin("isfinite", float, bool)(x) | x.isinf()) if floating else x.isnan()

    def as_text(self, text: str) -> Any:
        """With a NUL by its number."""
        if "\0" not in text:
            return text
        first, *rest = map(ibis.literal, text.split("\0"))
        return functools.reduce(lambda written, part: written + builtin("chr", int, str)(0) + part, rest, first)

    def place_in(self, texts: Sequence[Any], x: Any) -> Any:
        """By a function: four columns of 2 to 16 texts, a million records in Parquet, took 31 ms, CASE 205."""
        listed = ibis.array([*texts, ibis.null("string")])
        return builtin("list_position", list[str], str, int)(listed, x)

    def at_place(self, numbers: Sequence[int], place: Any) -> Any:
        """By a function, too."""
        return builtin("list_extract", list[int], int, int)(ibis.array(list(numbers)).cast("array<int32>"), place)


def open_parquet(ibis: Any, path: str) -> Any:
    """A Parquet file, or all that a pattern of names stands for."""
    connection = ibis.duckdb.connect()
    if "://" not in path and Path(path).is_file():
        return connection.read_parquet(name_as_it_is(path), hive_partitioning=False)
    # DuckDB would cast all files to the types of the first, which may follow its records
    kinds = "list((name, type, converted_type, logical_type::VARCHAR) ORDER BY name, type)"
    files = f"SELECT file_name, {kinds} AS kinds FROM parquet_schema(?) GROUP BY file_name"
    different = "count(DISTINCT kinds), list(DISTINCT parse_dirpath(file_name))"
    n_kinds, folders = connection.con.execute(f"SELECT {different} FROM ({files})", [path]).fetchall()[0]
    if n_kinds > 1:
        raise TableError(
            "these Parquet files differ in the names or types of their columns; write them with the same ones"
        )
    table = connection.read_parquet(path, hive_partitioning=False)
    keys = {part.partition("=")[0].lower() for f in folders for part in re.split(r"[/\\]", f) if "=" in part}
    if not keys or keys & {name.lower() for name in table.columns}:  # a file comes before the name of its folder
        return table
    # of texts: a guess at another type would follow the other names
    return connection.read_parquet(path, hive_partitioning=True, hive_types_autocast=False)


def name_as_it_is(path: str) -> str:
    """The name of one file for DuckDB, to which it might be a pattern of names."""
    return re.sub(r"([*?\[])", r"[\1]", path)

"""What the commands have in common: options, tables and ledgers as they are given, and what is checked of them beforehand."""

import math
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import TableError, WeakEpsilonWarning
from .._utils.escaping import closest, first_few
from .._utils.writing import PendingFile
from ..sources.urls import checked_url
from .table_notes import is_file_of, ledger_of
from .terminal import say_json as say_json

if TYPE_CHECKING:
    from ..accounting.ledger import Ledger
    from ..schema import Schema


class _File(click.Path):
    """A file that is there: no device, pipe or folder, which may never end."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        path: Any = super().convert(value, param, ctx)
        if not path.is_file():
            self.fail(f"{click.format_filename(value)} is not a regular file", param, ctx)
        return path


FILE = _File()
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
SOME = click.IntRange(min=1)
WEAKEST = 10.0  # a larger epsilon needs a word from the user


class _FileOrURL(click.ParamType):  # type: ignore[type-arg]  # older versions of click have no argument
    """A file, or a URL, once that is checked; a wrong one is not repeated."""

    name = "file or url"

    def __init__(self, file: click.Path, check: Callable[[str], object], several: bool = False) -> None:
        self._file, self._check, self._several = file, check, several

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        if "://" in value:
            try:
                self._check(value)
            except TableError as error:
                raise click.UsageError(str(error), ctx) from None
            return value
        wildcard = any(sign in value for sign in "*?[")
        if self._several and (Path(value).is_dir() or (wildcard and not Path(value).exists())):
            return str(Path(value).absolute())
        return self._file.convert(value, param, ctx)


def _check_ledger_url(url: str) -> None:
    from ..accounting.ledger_places import LedgerError
    from ..accounting.postgres_ledger import PostgreSQLPlace

    try:
        PostgreSQLPlace(url)
    except LedgerError as error:
        raise TableError(str(error)) from None


PLACE = _FileOrURL(FILE, checked_url, several=True)
LEDGER, NEW_LEDGER = _FileOrURL(FILE, _check_ledger_url), _FileOrURL(NEW_FILE, _check_ledger_url)

# options of several commands; those that a command explains in its own words take help=
flag = partial(click.option, is_flag=True)
option_with_default = partial(click.option, show_default=True)
schema_option = partial(click.option, "--schema", "-s", "schema_file", type=FILE)
target_option = partial(click.option, "--target", "-t")
ledger_option = partial(click.option, "--ledger", "ledger_file", type=LEDGER)
out_option = partial(click.option, "--out", "-o", type=NEW_FILE)
as_json_option = flag("--json", "as_json", help="Print the result as JSON.")
force_option = flag("--force", help="Overwrite existing files.")
weak_option = flag("--weak", help=f"Allow an epsilon above {WEAKEST:g}, which offers almost no protection.")
RECORDS_PER_PERSON = option_with_default(
    "--records-per-person", type=SOME, default=1, help="The most records that one person has in the table."
)


@dataclass(frozen=True)
class Given:
    """A table as a command is given it: its place, how a CSV file is written, and who reads it."""

    place: Any  # a path, or a URL
    how: dict[str, Any]  # a CSV file is written, as the package's functions take it
    engine: str | None = None

    @property
    def in_engine(self) -> bool:
        """Whether it is left to an engine: by a URL or by --engine alone, never by what a file is like."""
        if isinstance(self.place, str):
            if self.engine is not None:
                raise click.UsageError(
                    "--engine is for a single file; a URL, a folder, or a pattern of names goes to its engine by itself"
                )
            return True
        from ..sources.files import PARQUET

        if self.engine == "duckdb" and self.place.suffix.lower() not in PARQUET:
            raise click.UsageError("--engine duckdb is for Parquet files; leave it out for other files")
        return self.engine == "duckdb"

    def columns(self, needed: Sequence[str] = (), public: bool = False) -> list[str]:
        """The names of a file's columns, once those that are needed are among them."""
        from ..sources.files import column_names

        there = column_names(self.place, self.how["delimiter"], self.how["encoding"])
        self._check(needed, there, public)
        return there

    def opened(self, needed: Sequence[str]) -> Any:
        """As an ibis table, once its columns are checked."""
        from ..sources.urls import open_table

        opened = open_table(self.place)
        self._check(needed, opened.columns)
        return opened

    def _check(self, needed: Sequence[str], there: Sequence[str], public: bool = False) -> None:
        """Complain about columns that the header lacks."""
        from .._utils.days import part_in

        missing = [name for name in needed if name not in there and part_in(name, there) is None]
        if not missing:
            return
        called = "the table" if isinstance(self.place, str) else self.place.name  # a URL may name people and hosts
        if len(missing) == len(needed) and not public:  # the first line may be a record: nothing of it is shown
            raise click.ClickException(
                f"{called} has none of the columns {first_few(needed)}: is its first line a header with the names "
                "of the columns, and is it the right file? If the names are separated by something unusual, say --delimiter"
            )
        hint = "." if (meant := closest(missing[0], there)) is None else f"; did you mean {meant!r}?"
        raise click.ClickException(f"{called} has no column {missing[0]!r}{hint} Its columns are {first_few(there)}")

    def records(self, schema: "Schema", target: str) -> tuple[Any, Any]:
        """The columns that the schema names, and the labels; of a table in an engine all of it, and None."""
        from ..sources.files import read_table

        wanted = [column.name for column in schema.used]
        both = list(dict.fromkeys([*wanted, target]))
        if self.in_engine:
            return self.opened(both), None
        self.columns(both)
        frame = read_table(self.place, both, schema, **self.how, own_types=True)
        return frame[wanted], frame[target]


def named(
    option: str, must_be: str, read: Callable[[str], Any], texts: Sequence[str], sign: str = "="
) -> dict[str, Any]:
    """What is said of columns or classes, by their names, as in age=0,120. A name may have the sign in it, too."""
    found: dict[str, Any] = {}
    for text in texts:
        name, _, said = text.rpartition(sign)
        try:
            value = read(said) if name else None
        except ValueError:
            value = None
        if value is None:
            raise click.UsageError(f"{option} must be {must_be}, not {text!r}")
        if name in found:  # one of the two would be left out, and paid for
            raise click.UsageError(f"{option} names {name!r} twice; say all of it at once")
        found[name] = value
    return found


def table_options(
    called: str = "table", type: Any = PLACE, engine: bool = False, required: bool = True
) -> Callable[[Any], Any]:
    """A table, and how it is read; the command gets all of it as a ``Given``."""

    def decorated(command: Callable[..., Any]) -> Any:
        @wraps(command)
        def packing(**options: Any) -> Any:
            how = {name: options.pop(name) for name in ("delimiter", "encoding", "decimal")}
            given = Given(options[called], how, options.pop("engine", None))
            return command(**options | {called: None if given.place is None else given})

        readers = "What reads a Parquet file: this process (memory, the default), or DuckDB. A URL names its engine."
        signs = click.Choice([".", ","])
        for option in (
            *[click.option("--engine", type=click.Choice(["memory", "duckdb"]), help=readers)] * engine,
            click.option("--decimal", type=signs, default=".", help="The decimal separator in a CSV file."),
            option_with_default("--encoding", default="utf-8", help="The encoding of a CSV file."),
            click.option("--delimiter", help="The delimiter of a CSV file; by default that of its first line."),
            click.argument(called, type=type, required=required),
        ):
            packing = option(packing)
        return packing

    return decorated


def open_ledger(path: Path | str | None) -> "Ledger | None":
    """The ledger in a file or on a server. If there is none, how to make it."""
    if path is None:
        return None
    if isinstance(path, Path) and not path.is_file():
        if path.exists():
            raise click.UsageError(f"{path} is not a regular file, so it is not a ledger")
        raise click.UsageError(
            f"there is no ledger {path}. Decide once how much all models from this table may reveal together, and make it:\n\n"
            f"    discreet ledger create {path} --epsilon 3"
        )
    from ..accounting.ledger import Ledger

    return Ledger.open(path)


def load_schema(path: Path | None, table: str = "TABLE.csv", target: str | None = None) -> "Schema":
    """The schema in a file. Without one, how to get one."""
    from ..schema import Schema

    if path is None:
        raise click.UsageError(
            "a private fit needs a schema: a small text file that says what may be known about the table (its columns, their "
            "categories and round cut points). Draft one from a PUBLIC sample or a data dictionary with\n\n"
            f"    discreet schema SAMPLE.csv --target {target or 'COLUMN'} --out schema.toml\n\n"
            "or find one in the private table, for a part of epsilon, with\n\n"
            f"    discreet schema {table} --private --epsilon 0.2 --target {target or 'COLUMN'} --out schema.toml\n\n"
            "read it, and give it here with --schema schema.toml. (`discreet fit --infer-schema` goes on without one; then no "
            "privacy is proved.)"
        )
    try:
        return Schema.load(path)
    except (ValueError, OSError) as error:
        raise click.ClickException(f"{path}: {error}") from None


def target_of(schema: "Schema", target: str | None) -> str:
    """The column with the labels, by the command line or the schema."""
    if target is None and schema.target is None:
        raise click.UsageError("which column is to be predicted? Say --target COLUMN, or [target] name in the schema")
    if None not in (target, schema.target) and target != schema.target:
        raise click.UsageError(f"--target is {target!r}, but the schema's target is {schema.target!r}")
    if target is not None and target in schema.names:
        raise click.UsageError(f"{target!r} is the target, but the schema has it among the columns that rules may use")
    return str(target or schema.target)


def check_outputs(
    outputs: Sequence[Path | None], inputs: Sequence[Path | str | None] = (), force: bool = False
) -> None:
    """Complain about files that cannot be written, or that would be lost, before anything is spent.

    Not even by force is a file written over that this command needs, nor a ledger, nor a table that was learned from.
    """
    taken = [path for path in inputs if path is not None]
    for path in filter(None, outputs):
        if path.is_symlink() and not path.exists():  # whoever laid it there would say where the file goes
            raise click.UsageError(f"{path} is a link that leads nowhere: choose another name")
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise click.ClickException(f"{path} cannot be written: there is no such folder, or it is read-only")
        if any(isinstance(other, str) and is_file_of(path, other) for other in taken):  # a URL is not repeated
            raise click.UsageError("a file would be written over that the table itself is in: choose another name")
        if why := _why_kept(path, [other for other in taken if isinstance(other, Path)]):
            raise click.UsageError(f"{path} {why}: choose another name")
        if path.exists() and not force:
            raise click.UsageError(f"{path} exists; use --force to overwrite it")
        taken.append(path)


def _why_kept(path: Path, taken: Sequence[Path]) -> str:
    """What is needed, or cannot be had again. A ledger is known by how it begins, a table by what earlier commands noted."""
    from ..accounting.ledger_places import is_ledger

    for other in taken:  # by whatever name, also where a name is linked or spelled in another case
        both_there = path.exists() and other.exists()
        if os.path.realpath(path) == os.path.realpath(other) or (both_there and path.samefile(other)):
            return "is needed for something else in this command"
    if not path.exists():
        return ""
    if not path.is_file():
        return "is not a regular file"
    with open(path, "rb") as file:
        if is_ledger(file.read(100)):
            return "is a ledger"
    return "" if ledger_of(path) is None else "is a table that was learned from"


def write_new(path: Path, content: str | bytes, force: bool) -> None:
    """Write a string or bytes to a file, whole or not at all. What appeared there since it was checked stays."""
    with PendingFile(path, over=force) as file:
        file.stream.write(content.encode("utf-8") if isinstance(content, str) else content)
        file.commit()


def check_epsilon(epsilon: float, weak: bool) -> None:
    """Complain about an epsilon that is not a number above 0, or protects nobody."""
    if not math.isfinite(epsilon) or epsilon <= 0:
        raise click.UsageError("--epsilon must be above 0. Good values are from 0.1 to 1; `discreet plan` helps")
    if epsilon > WEAKEST and not weak:
        raise click.UsageError(
            f"--epsilon {epsilon:g} offers almost no protection: an attacker who thinks it as likely as not that a person is in "
            "the table may become almost certain. Values from 0.1 to 1 are good, 10 is the most that is ever called private. "
            "--weak allows it"
        )
    if epsilon > WEAKEST:  # it was said aloud
        warnings.simplefilter("ignore", WeakEpsilonWarning)

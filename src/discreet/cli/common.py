"""What the commands have in common: options, kind errors, and exit codes.

0: done. 1: a file, schema or model cannot be used. 2: the command was called in a wrong way. 3: the budget does not allow it.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

    from ..schema import Schema

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
LARGE = 256 * 2**20  # bytes of a file
WEAKEST = 10.0  # a larger epsilon needs a word from the user


class _Place(click.ParamType):
    """A file that is there, or the URL of a table in an engine."""

    name = "file or url"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str) or "://" in value:
            return value
        if any(sign in value for sign in "*?[") and not Path(value).exists():  # several files
            return str(Path(value).absolute())
        return FILE.convert(value, param, ctx)


PLACE = _Place()
as_json_option = click.option("--json", "as_json", is_flag=True, help="The same as JSON.")


def csv_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a CSV file is written."""
    command = click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file.")(command)
    return click.option("--delimiter", help="Of a CSV file; by default the one that its first line has.")(command)


def stays(table: Path | str, encoding: str) -> bool:
    """Whether a table is left to its engine: by a URL; also Parquet and CSV of more than 256 MB, where DuckDB is installed.

    A CSV file in an encoding that DuckDB does not read is read into memory, however large it is.
    """
    if isinstance(table, str):
        return True
    from importlib.util import find_spec

    from ..sources.files import PARQUET, TEXT
    from ..sources.written import is_readable

    ending = table.suffix.lower()
    fits = ending in PARQUET or (ending in TEXT and is_readable(encoding))
    return fits and table.stat().st_size > LARGE and all(find_spec(name) is not None for name in ("ibis", "duckdb"))


def open_where_it_is(table: Path | str, needed: Sequence[str], delimiter: str | None, encoding: str) -> Any:
    """The table as an ibis table, once its columns are checked."""
    from ..sources.urls import open_table

    opened = open_table(table, delimiter=delimiter, encoding=encoding)
    check_columns(table, needed, opened.columns)
    return opened


class NoBudget(click.ClickException):
    """The ledger has too little left."""

    exit_code = 3


@contextmanager
def kind_errors() -> Iterator[None]:
    """The package's errors as messages without a traceback. They name no value of a record."""
    from ..privacy.ledger import BudgetError, UnprovedError

    try:
        yield
    except UnprovedError as error:
        raise NoBudget(f"{error}. Nothing was learned and nothing spent") from None
    except BudgetError as error:
        if "without a delta" in str(error):
            raise NoBudget(
                f"{error}. This mechanism needs a ledger with a delta (discreet ledger create NEW --epsilon 3 --delta 1e-5); "
                "--learner optimal and --mechanism mass need none"
            ) from None
        raise NoBudget(
            f"{error}. Nothing was learned and nothing spent. What is left is all there is for this table: use a smaller "
            "--epsilon, or live with the models that there are"
        ) from None
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise click.ClickException(str(error)) from None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint at a name that is nearly the same."""
    known = list(known)
    folded = {k.lower(): k for k in known}
    close = get_close_matches(name.lower(), folded, n=1)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def check_columns(path: Path | str, needed: Sequence[str], there: Sequence[str], public: bool = False) -> None:
    """Complain about columns that the header lacks."""
    missing = [name for name in needed if name not in there]
    if not missing:
        return
    called = path.name if isinstance(path, Path) else "the table"  # a URL may name people and hosts
    if len(missing) == len(needed) and not public:  # the first line may be a record: nothing of it is shown
        raise click.ClickException(
            f"{called} has none of the columns {', '.join(map(repr, needed[:5]))}: is its first line a header with the names "
            "of the columns, and is it the right file? If the names are separated by something unusual, say --delimiter"
        )
    shown = ", ".join(repr(n) for n in there[:8]) + (", ..." if len(there) > 8 else "")
    hint = did_you_mean(missing[0], there) or "."
    raise click.ClickException(f"{called} has no column {missing[0]!r}{hint} Its columns are {shown}")


def load_schema(path: Path | None) -> "Schema":
    """The schema in a file. Without one, how to get one."""
    from ..schema import Schema

    if path is None:
        raise click.UsageError(
            "a private fit needs a schema: a small text file that says what everybody may know about the table (its columns, "
            "their categories and round cut points). Draft one from a PUBLIC sample or a data dictionary with\n\n"
            "    discreet schema SAMPLE.csv --target COLUMN --out schema.toml\n\n"
            "read it, and give it here with --schema schema.toml. (--infer-schema goes on without one; then nothing is proved.)"
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


def read_records(
    path: Path,
    schema: "Schema",
    target: str | None,
    delimiter: str | None,
    encoding: str,
    needed: Sequence[str] | None = None,
) -> tuple["pd.DataFrame", Any]:
    """The columns that the schema (or ``needed``) names, and the labels (None without a target)."""
    from ..sources.files import column_names, is_csv, labels, read_table

    wanted = [column.name for column in schema.used] if needed is None else list(needed)
    with kind_errors():
        there = column_names(path, delimiter, encoding)
        check_columns(path, [*wanted, *([target] if target else [])], there)
        both = list(dict.fromkeys([*wanted, *([target] if target else [])]))
        frame = read_table(path, both, schema, delimiter, encoding)
        y: Any = None if target is None else frame[target]
        if y is not None and is_csv(path):
            y = labels(y.tolist(), schema.classes)
        return frame[wanted], y


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path | None] = (), force: bool = True) -> None:
    """Complain about files that cannot be written, or that would be lost, before anything is spent."""
    import os

    taken = {path.resolve() for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise click.ClickException(f"{path} cannot be written: there is no such folder, or it is read-only")
        if path.resolve() in taken:
            raise click.UsageError(f"{path} is needed for something else in this command: choose another name")
        if path.exists() and not path.is_file():
            raise click.UsageError(f"{path} is no ordinary file: choose another name")
        if path.exists() and not force:
            raise click.UsageError(f"{path} exists; say --force to write over it")
        taken.add(path.resolve())


def check_epsilon(epsilon: float, weak: bool) -> None:
    """Complain about an epsilon that is none, or protects nobody."""
    if not math.isfinite(epsilon) or epsilon <= 0:
        raise click.UsageError("--epsilon must be above 0. Good values are from 0.1 to 1; `discreet plan` helps")
    if epsilon > WEAKEST and not weak:
        raise click.UsageError(
            f"--epsilon {epsilon:g} protects next to nobody: an attacker who thinks it as likely as not that a person is in the "
            "table may become as good as certain. Values from 0.1 to 1 are good, 10 is the most that is ever called private. "
            "If you really mean it, say --weak"
        )


weak_option = click.option(
    "--weak", is_flag=True, help=f"Allow an epsilon above {WEAKEST:g}, which protects next to nobody."
)
force_option = click.option("--force", is_flag=True, help="Write over a file that is there.")


def say_json(data: Any) -> None:
    """Print as JSON."""
    click.echo(json.dumps(data, indent=1, default=str))

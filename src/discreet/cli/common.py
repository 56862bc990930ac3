"""What the commands have in common: options, kind errors, and exit codes.

0: done. 1: a file, schema or model cannot be used. 2: the command was called in a wrong way. 3: the budget does not allow it.
"""

import json
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
WEAKEST = 10.0  # a larger epsilon needs a word from the user

as_json_option = click.option("--json", "as_json", is_flag=True, help="The same as JSON.")


def csv_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a CSV file is written."""
    command = click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file.")(command)
    return click.option("--delimiter", help="Of a CSV file; by default the one that its first line has.")(command)


class NoBudget(click.ClickException):
    """The ledger has too little left."""

    exit_code = 3


@contextmanager
def kind_errors() -> Iterator[None]:
    """The package's errors as messages without a traceback. They name no value of a record."""
    from ..privacy.ledger import BudgetError

    try:
        yield
    except BudgetError as error:
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


def check_columns(path: Path, needed: Sequence[str], there: Sequence[str]) -> None:
    """Complain about columns that the header lacks."""
    for name in needed:
        if name not in there:
            shown = ", ".join(repr(n) for n in there[:8]) + (", ..." if len(there) > 8 else "")
            raise click.ClickException(
                f"{path.name} has no column {name!r}{did_you_mean(name, there)} Its columns are {shown}".replace(
                    "? I", "? I"
                )
            )


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
    with kind_errors():
        return Schema.load(path)


def target_of(schema: "Schema", target: str | None) -> str:
    """The column with the labels, by the command line or the schema."""
    if target is None and schema.target is None:
        raise click.UsageError("which column is to be predicted? Say --target COLUMN, or [target] name in the schema")
    if target is not None and target in schema.names:
        raise click.UsageError(f"{target!r} is the target, but the schema has it among the columns that rules may use")
    if None not in (target, schema.target) and target != schema.target:
        raise click.UsageError(f"--target is {target!r}, but the schema's target is {schema.target!r}")
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
    from ..files import column_names, labels, read_table

    wanted = [column.name for column in schema.used] if needed is None else list(needed)
    with kind_errors():
        there = column_names(path, delimiter, encoding)
        check_columns(path, [*wanted, *([target] if target else [])], there)
        both = list(dict.fromkeys([*wanted, *([target] if target else [])]))
        frame = read_table(path, both, schema, delimiter, encoding)
        y = None if target is None else labels(frame[target], schema.classes)
        return frame[wanted], y


def check_writable(*paths: Path | None) -> None:
    """Complain about a file that cannot be written, before anything is spent."""
    import os

    for path in paths:
        if path is not None and (not path.parent.is_dir() or not os.access(path.parent, os.W_OK)):
            raise click.ClickException(f"{path} cannot be written: there is no such folder, or it is read-only")


def say_json(data: Any) -> None:
    """Print as JSON."""
    click.echo(json.dumps(data, indent=1, default=str))

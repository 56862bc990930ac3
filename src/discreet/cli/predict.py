"""``discreet predict``: scores for new records."""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .common import (
    FILE,
    NEW_FILE,
    PLACE,
    check_columns,
    check_outputs,
    csv_options,
    engine_option,
    kind_errors,
    open_where_it_is,
    say_json,
    stays,
)

if TYPE_CHECKING:
    from ..rules import RuleList


@click.command()
@click.argument("model", type=FILE)
@click.argument("table", type=PLACE)
@click.option("--out", "-o", type=NEW_FILE, help="Where the scores go, as CSV; to the screen by default.")
@click.option("--id", "ids", multiple=True, help="A column to copy into the scores. Repeat for more.")
@csv_options
@engine_option
@click.option("--json", "as_json", is_flag=True, help="As JSON, a record a row.")
def predict(
    model: Path,
    table: Path | str,
    out: Path | None,
    ids: tuple[str, ...],
    delimiter: str | None,
    encoding: str,
    engine: str | None,
    as_json: bool,
) -> None:
    """Score the records of TABLE with MODEL: a predicted class and the share of each class, row by row.

    TABLE is a file, or a URL of a table in an engine, as for `discreet fit`. Only the columns that the rules use are needed. An
    engine may give its records in any order: copy a column that names them with --id.
    """
    from ..model import SavedModel

    check_outputs([out], [model, None if isinstance(table, str) else table])
    with kind_errors():
        saved = SavedModel.load(model)
        rules = saved.rule_list
        answers = [(rule.label, *(round(float(p), 6) for p in rules.shares(rule))) for rule in rules]
        parts = _parts(table, stays(table, engine), rules, ids, delimiter, encoding)
        header = [*ids, "prediction", *(f"share of {c}" for c in rules.classes)]
        rows = (
            [*copied, *answers[k]] for X, ids_of in parts for k, copied in zip(rules.captures(X), ids_of, strict=True)
        )
        if as_json:
            say_json([dict(zip(header, row, strict=True)) for row in rows])
        else:
            _write(out, header, rows)


def _write(out: Path | None, header: list[str], rows: Iterable[list[Any]]) -> None:
    file = sys.stdout if out is None else open(out, "w", encoding="utf-8", newline="")  # noqa: SIM115
    n = 0
    try:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for n, row in enumerate(rows, 1):  # noqa: B007
            writer.writerow(row)
    except BaseException:
        if out is not None:  # half of the scores look like all of them
            file.close()
            out.unlink()
        raise
    if out is not None:
        file.close()
        click.echo(f"{n:,} records: {out}", err=True)


def _parts(
    table: Path | str, in_engine: bool, rules: "RuleList", ids: Sequence[str], delimiter: str | None, encoding: str
) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Some records at a time: what the rules need, and what is copied of each."""
    from ..sources.engine import records
    from ..sources.files import column_names, read_parts, side_by_side

    assert rules.schema is not None
    used = rules.used_columns
    read: Callable[[list[tuple[str, Any]]], Iterator[list[Any]]]
    if in_engine:
        opened = open_where_it_is(table, [*used, *ids], delimiter, encoding)
        names, read = list(opened.columns), partial(records, opened)
    else:
        assert isinstance(table, Path)
        names = column_names(table, delimiter, encoding)
        check_columns(table, [*used, *ids], names)
        read = partial(read_parts, table, delimiter=delimiter, encoding=encoding)
    if isinstance(table, str):
        click.echo("The records leave their engine: what the rules and --id need of them is scored here.", err=True)
    asked: list[tuple[str, Any]] = [(name, rules.schema[name]) for name in used] or [(names[0], None)]
    for values in read([*asked, *((name, None) for name in ids)]):
        copied = [v if isinstance(v, list) else v.tolist() for v in values[len(asked) :]]
        X = side_by_side([name for name, _ in asked], values[: len(asked)])
        yield X, zip(*copied, strict=True) if ids else repeat((), len(values[0]))

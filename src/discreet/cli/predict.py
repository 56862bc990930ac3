"""``discreet predict``: scores for new records."""

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
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
    kind_errors,
    open_where_it_is,
    read_records,
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
@click.option("--json", "as_json", is_flag=True, help="As JSON, a record a row.")
def predict(
    model: Path,
    table: Path | str,
    out: Path | None,
    ids: tuple[str, ...],
    delimiter: str | None,
    encoding: str,
    decimal: str,
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
        read = _from_engine if stays(table, encoding) else _from_file
        parts = read(table, rules, ids, delimiter, encoding, decimal)
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


def _from_file(
    table: Path | str, rules: "RuleList", ids: Sequence[str], delimiter: str | None, encoding: str, decimal: str
) -> Iterator[tuple[Any, Iterable[Any]]]:
    """The whole table, and what is copied of each record."""
    from ..sources.files import column_names, read_table

    assert rules.schema is not None
    assert isinstance(table, Path)
    names = column_names(table, delimiter, encoding)
    check_columns(table, ids, names)
    X, _ = read_records(table, rules.schema, None, delimiter, encoding, decimal, rules.used_columns or names[:1])
    if not ids:
        yield X, repeat((), len(X))
        return
    copied = read_table(table, list(ids), None, delimiter, encoding).astype(object)
    yield X, copied.where(copied.notna(), None).itertuples(index=False, name=None)  # pandas would write "nan"


def _from_engine(
    table: Path | str, rules: "RuleList", ids: Sequence[str], delimiter: str | None, encoding: str, decimal: str
) -> Iterator[tuple[Any, Iterable[Any]]]:
    """The same, some records at a time."""
    from ..sources.engine import records

    assert rules.schema is not None
    used = rules.used_columns
    opened = open_where_it_is(table, [*used, *ids], delimiter, encoding, decimal)
    if isinstance(table, str):
        click.echo("The records leave their engine: what the rules and --id need of them is scored here.", err=True)
    used = used or list(opened.columns[:1])
    wanted = [
        *((name, rules.schema[name] if rules.used_columns else None) for name in used),
        *((name, None) for name in ids),
    ]
    for values in records(opened, wanted):
        X = dict(zip(used, values, strict=False))
        yield X, zip(*values[len(used) :], strict=True) if ids else repeat((), len(values[0]))

"""``discreet predict``: scores for new records."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
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
    force_option,
    kind_errors,
    new_file,
    open_where_it_is,
    read_records,
    stays,
)
from .terminal import on_one_line, say, say_lines

if TYPE_CHECKING:
    from ..rules import RuleList


@click.command()
@click.argument("model", type=FILE)
@click.argument("table", type=PLACE)
@click.option("--out", "-o", type=NEW_FILE, help="Where the scores go, as CSV; to the screen by default.")
@click.option("--id", "ids", multiple=True, help="A column to copy into the scores. Repeat for more.")
@force_option
@csv_options
@click.option("--json", "as_json", is_flag=True, help="As JSON, a record a row.")
def predict(
    model: Path,
    table: Path | str,
    out: Path | None,
    ids: tuple[str, ...],
    force: bool,
    delimiter: str | None,
    encoding: str,
    as_json: bool,
) -> None:
    """Score the records of TABLE with MODEL: a predicted class and the share of each class, row by row.

    TABLE is a file, or a URL of a table in an engine, as for `discreet fit`. Only the columns that the rules use are needed. An
    engine may give its records in any order: copy a column that names them with --id.
    """
    from ..model import SavedModel

    check_outputs([out], [model, None if isinstance(table, str) else table], force)
    with kind_errors():
        saved = SavedModel.load(model)
        rules = saved.rule_list
        answers = [(rule.label, *(round(float(p), 6) for p in rules.shares(rule))) for rule in rules]
        read = _from_engine if stays(table, encoding) else _from_file
        parts = read(table, rules, ids, delimiter, encoding)
        header = [*ids, "prediction", *(f"share of {c}" for c in rules.classes)]
        rows = (
            [*copied, *answers[k]] for X, ids_of in parts for k, copied in zip(rules.captures(X), ids_of, strict=True)
        )
        written = _json(header, rows) if as_json else _csv(header, rows)
        if out is None:
            say_lines(written)
        else:
            n = _write(out, written, force)
            say(f"{n:,} records: {on_one_line(out)}", err=True)


def _csv(header: list[str], rows: Iterable[list[Any]]) -> Iterator[str]:
    """A part for each record, after one for the header."""
    for row in chain([header], rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        yield line.getvalue()


def _json(header: list[str], rows: Iterable[list[Any]]) -> Iterator[str]:
    before = "["
    for row in rows:
        yield before + json.dumps(dict(zip(header, row, strict=True)), indent=1, default=str)
        before = ",\n"
    yield "]\n" if before != "[" else "[]\n"


def _write(out: Path, written: Iterable[str], force: bool) -> int:
    """All of it or nothing: half of the scores look like all of them. How many records there are."""
    n = -1  # one part is no record
    with new_file(out, force) as file:
        for n, part in enumerate(written):  # noqa: B007
            file.stream.write(part.encode("utf-8"))
    return n


def _from_file(
    table: Path | str, rules: "RuleList", ids: Sequence[str], delimiter: str | None, encoding: str
) -> Iterator[tuple[Any, Iterable[Any]]]:
    """The whole table, and what is copied of each record."""
    from ..sources.files import column_names, read_table

    assert rules.schema is not None
    assert isinstance(table, Path)
    names = column_names(table, delimiter, encoding)
    check_columns(table, ids, names)
    X, _ = read_records(table, rules.schema, None, delimiter, encoding, rules.used_columns or names[:1])
    if not ids:
        yield X, repeat((), len(X))
        return
    copied = read_table(table, list(ids), None, delimiter, encoding).astype(object)
    yield X, copied.where(copied.notna(), None).itertuples(index=False, name=None)  # pandas would write "nan"


def _from_engine(
    table: Path | str, rules: "RuleList", ids: Sequence[str], delimiter: str | None, encoding: str
) -> Iterator[tuple[Any, Iterable[Any]]]:
    """The same, some records at a time."""
    from ..sources.engine import records

    assert rules.schema is not None
    used = rules.used_columns
    opened = open_where_it_is(table, [*used, *ids], delimiter, encoding)
    if isinstance(table, str):
        say("The records leave their engine: what the rules and --id need of them is scored here.", err=True)
    used = used or list(opened.columns[:1])
    wanted = [
        *((name, rules.schema[name] if rules.used_columns else None) for name in used),
        *((name, None) for name in ids),
    ]
    for values in records(opened, wanted):
        X = dict(zip(used, values, strict=False))
        yield X, zip(*values[len(used) :], strict=True) if ids else repeat((), len(values[0]))

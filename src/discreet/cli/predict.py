"""``discreet predict``: scores for new records."""

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import SchemaError
from .._utils.writing import PendingFile
from . import common
from .terminal import on_one_line, say, say_lines

if TYPE_CHECKING:
    from ..models.model import Model
    from ..schema.columns import Column
    from ..sources.table_check import Unread


@click.command()
@click.argument("model", type=common.FILE)
@common.table_options(engine=True)
@common.out_option(help="Write the scores to this file, as CSV; otherwise they are printed.")
@click.option("--id", "ids", multiple=True, help="A column to copy into the scores. Repeatable.")
@common.force_option
@common.flag("--json", "as_json", help="Print JSON, a row for each record.")
@common.flag("--strict", help="Write no scores if a value that the rules need cannot be read.")
def predict(
    model: Path, table: common.Given, out: Path | None, ids: tuple[str, ...], force: bool, as_json: bool, strict: bool
) -> None:
    """Score the records of TABLE with MODEL: a predicted class and the share of each class, row by row.

    TABLE is a file, or a URL of a table in an engine, as for `discreet fit`. Only the columns that the rules use are needed. An
    engine may give its records in any order: copy a column that names them with --id.

    Values that the model cannot read (no number in a column of numbers, a category that its schema does not list) are counted
    on the standard error; with --strict nothing is written if there are any.
    """
    from .._utils.tables import as_table
    from ..models.saved import SavedModel
    from ..sources.table_check import Unread, unread

    common.check_outputs([out], [model, table.place], force)
    saved = SavedModel.load(model)
    scorer = saved.model
    parts = _parts(table, scorer, ids)
    header = [*ids, "prediction", *(f"share of {c}" for c in scorer.classes)]
    if twice := [name for name in ids if header.count(name) > 1]:
        raise click.UsageError(f"--id {twice[0]!r} would be in the scores twice: leave it out, or rename the column")
    assert scorer.schema is not None
    doubts = {scorer.schema[name]: Unread() for name in scorer.used_columns}
    other_sign = _other_sign(table)

    def rows() -> Iterator[list[Any]]:
        for X, ids_of in parts:
            frame = as_table(X, None)
            for column in doubts:  # no secret here: the table is the user's own
                doubts[column] += unread(column, frame.column(column.name))
            for scored, copied in zip(_scores(scorer, X), ids_of, strict=True):
                yield [*copied, *scored]
        if strict and (lines := list(_unread(doubts, other_sign))):
            raise SchemaError("\n".join([*lines, "No scores were written (--strict)"]))

    # a part for each record; of CSV after one for the header: writerow returns what writing a line returns
    as_csv = csv.writer(SimpleNamespace(write=str), lineterminator="\n").writerow
    written = _json(header, rows()) if as_json else map(as_csv, chain([header], rows()))
    if out is None:
        say_lines(list(written) if strict else written)
    else:
        n = -1  # one part is no record
        with PendingFile(out, over=force) as file:  # all of it or nothing: half of the scores look like all of them
            for n, part in enumerate(written):  # noqa: B007
                file.stream.write(part.encode("utf-8"))
            file.commit()
        say(f"{n:,} records: {on_one_line(out)}", err=True)
    for line in _unread(doubts, other_sign):
        say(line, err=True)


def _other_sign(table: common.Given) -> str:
    """What to try if numbers have the other decimal sign. In other files than CSV, numbers are numbers."""
    from ..sources.files import is_csv

    if isinstance(table.place, str) or not is_csv(table.place):
        return ""
    option, sign = ("leave --decimal out", "point") if table.how["decimal"] == "," else ("--decimal ,", "comma")
    return f"; {option} if the decimal mark is a {sign}"


def _unread(doubts: "dict[Column, Unread]", other_sign: str) -> Iterator[str]:
    """A line for each column that has values which the model cannot read."""
    from ..schema.columns.values import TextBins, TruthBins

    for column, found in doubts.items():
        match column.value_bins:
            case TextBins(unlisted=place) if place != column.n_bins - 1:
                taken = "are not in the model's schema and match no category"
            case TextBins():
                taken = "are not in the model's schema and count as missing"
            case TruthBins():
                taken = "are neither true nor false and count as missing"
            case bins:
                taken = f"are not {bins.types[0]}s and count as missing"
        if found.unread:
            name, count = on_one_line(column.name), f"{found.unread:,} of {found.values:,} values"
            yield f"{name}: {count} {taken}{other_sign if found.other_decimal_sign else ''}"


def _scores(model: "Model", X: Any) -> Iterator[tuple[Any, ...]]:
    """The label of each record, and the shares of all classes."""
    found = model.captures(X)
    if model.has_points_by_class:  # each record has shares of its own
        return (
            (model.answers[k].label, *row)
            for k, row in zip(found, model.predict_proba(X).round(6).tolist(), strict=True)
        )
    answers = [(a.label, *(round(float(p), 6) for p in model.shares_of(a))) for a in model.answers]
    return (answers[k] for k in found)


def _json(header: list[str], rows: Iterable[list[Any]]) -> Iterator[str]:
    before = "["
    for row in rows:
        row = [str(v) if isinstance(v, float) and not math.isfinite(v) else v for v in row]  # JSON has no infinity
        yield before + json.dumps(dict(zip(header, row, strict=True)), indent=1, default=str, allow_nan=False)
        before = ",\n"
    yield "]\n" if before != "[" else "[]\n"


def _whole(values: Any) -> list[Any]:
    """As a list; integers are integers again that statistical packages have as floating-point numbers."""
    listed: list[Any] = values.tolist()
    if getattr(values, "dtype", None) != "float64":
        return listed
    return [None if v != v else int(v) if v.is_integer() else v for v in listed]


def _parts(table: common.Given, model: "Model", ids: Sequence[str]) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Some records at a time: what the rules need, and what is copied of each."""
    from ..sources.engine import records
    from ..sources.files import read_parts, side_by_side

    assert model.schema is not None
    used = model.used_columns
    if table.in_engine:
        opened = table.opened([*used, *ids])
        names, read = list(opened.columns), partial(records, opened)
    else:
        names, read = table.columns([*used, *ids]), partial(read_parts, table.place, **table.how)
    if isinstance(table.place, str):
        say("The records leave their engine: what the rules and --id need of them is scored here.", err=True)
    asked: list[tuple[str, Any]] = [(name, model.schema[name]) for name in used] or [(names[0], None)]
    for values in read([*asked, *((name, None) for name in ids)]):
        copied = [v if isinstance(v, list) else _whole(v) for v in values[len(asked) :]]
        X = side_by_side([name for name, _ in asked], values[: len(asked)])
        yield X, zip(*copied, strict=True) if ids else repeat((), len(values[0]))

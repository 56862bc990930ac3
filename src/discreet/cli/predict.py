"""``discreet predict``: scores for new records."""

import csv
import sys
from pathlib import Path

import click

from .common import FILE, NEW_FILE, check_columns, check_outputs, csv_options, kind_errors, read_records, say_json


@click.command()
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option("--out", "-o", type=NEW_FILE, help="Where the scores go, as CSV; to the screen by default.")
@click.option("--id", "ids", multiple=True, help="A column to copy into the scores. Repeat for more.")
@csv_options
@click.option("--json", "as_json", is_flag=True, help="As JSON, a record a row.")
def predict(
    model: Path,
    table: Path,
    out: Path | None,
    ids: tuple[str, ...],
    delimiter: str | None,
    encoding: str,
    as_json: bool,
) -> None:
    """Score the records of TABLE with MODEL: a predicted class and the share of each class, row by row.

    Only the columns that the rules use are needed.
    """
    from ..model import SavedModel
    from ..sources.files import column_names, read_table

    check_outputs([out], [model, table])
    with kind_errors():
        saved = SavedModel.load(model)
        rules = saved.rule_list
        assert rules.schema is not None
        names = column_names(table, delimiter, encoding)
        check_columns(table, ids, names)
        X, _ = read_records(table, rules.schema, None, delimiter, encoding, rules.used_columns or names[:1])
        copied = read_table(table, list(ids), None, delimiter, encoding) if ids else None
        captured = rules.captures(X)
        answers = [(rule.label, *(round(float(p), 6) for p in rules.shares(rule))) for rule in rules]
    header = [*ids, "prediction", *(f"share of {c}" for c in rules.classes)]
    rows = ([*([] if copied is None else copied.iloc[i]), *answers[k]] for i, k in enumerate(captured))
    if as_json:
        say_json([dict(zip(header, row, strict=True)) for row in rows])
        return
    file = sys.stdout if out is None else open(out, "w", encoding="utf-8", newline="")  # noqa: SIM115
    try:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    finally:
        if out is not None:
            file.close()
    if out is not None:
        click.echo(f"{len(X):,} records: {out}", err=True)

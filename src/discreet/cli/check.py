"""``discreet check``: does a table fit its schema? For the eyes of who may see the records."""

from pathlib import Path
from typing import Any

import click

from .common import (
    FILE,
    PLACE,
    as_json_option,
    csv_options,
    kind_errors,
    load_schema,
    read_records,
    say_json,
    target_of,
)


@click.command()
@click.argument("table", type=PLACE)
@click.option("--schema", "-s", "schema_file", type=FILE, required=True, help="What is public about the table.")
@click.option("--target", "-t", help="The column to predict, if the schema does not name it.")
@csv_options
@as_json_option
def check(
    table: Path | str,
    schema_file: Path | None,
    target: str | None,
    delimiter: str | None,
    encoding: str,
    decimal: str,
    as_json: bool,
) -> None:
    """See whether TABLE is as its schema says: a private fit may not tell you.

    A fit takes a value that the schema does not foresee as it says, in silence, because a message would reveal it. This command
    counts such values. THE COUNTS ARE ABOUT THE RECORDS: do not publish them, and do not tune the schema to them value by value.
    """
    if isinstance(table, str):
        raise click.UsageError(
            "this command looks at the values one by one, in memory: give a file (CSV, Parquet or Arrow)"
        )
    schema = load_schema(schema_file)
    X, y = read_records(table, schema, target_of(schema, target), delimiter, encoding, decimal)
    with kind_errors():
        found = counts(X, y, schema)
    if as_json:
        say_json(found)
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print("About the records; keep it to yourself.", style="bold yellow")
    shown = Table("column", "missing", "not foreseen", "taken as", "", box=None)
    for name, row in found["columns"].items():
        odd = row["not foreseen"] / max(1, found["records"])
        hint = "" if odd <= 0.05 else "look at its spelling and type, unless you expect this"
        taken = (row["taken as"] or "no category, or missing") if odd else ""
        shown.add_row(name, f"{row['missing']:,}", f"{row['not foreseen']:,}", taken, hint)
    console.print(shown)
    labels = found["labels not foreseen"]
    console.print(
        f"{found['records']:,} records, {labels:,} of them without a label of the schema's (left out by a fit).",
        style="bold red" if labels > 0.2 * found["records"] else None,
    )


def counts(X: Any, y: Any, schema: Any) -> dict[str, Any]:
    """Of each column, how many values are missing, and how many the schema does not foresee."""
    import numpy as np

    from ..columns import Categorical, Numeric, canonical, is_missing
    from ..columns.numeric import as_number
    from ..sources.memory import class_numbers

    columns = {}
    for column in schema.used:
        values = X[column.name].tolist()
        known = [v for v in values if not is_missing(v)]
        if isinstance(column, Categorical):
            listed = {canonical(c) for c in [*column.categories, *(c for _, cs in column.groups for c in cs)]}
            odd = sum(canonical(v) not in listed for v in known)
        elif isinstance(column, Numeric):
            numbers = np.array([as_number(v) for v in known])
            low = -np.inf if column.low is None else column.low
            high = np.inf if column.high is None else column.high
            odd = int((~((numbers >= low) & (numbers <= high))).sum())
        else:
            truth = {"0", "1", "true", "false", "yes", "no"}
            odd = sum(canonical(v).lower() not in truth for v in known)
        taken = getattr(column, "outside", None)
        columns[column.name] = {"missing": len(values) - len(known), "not foreseen": odd, "taken as": taken}
    numbers = class_numbers(y, schema.classes or (0, 1), len(X))
    return {"records": len(X), "labels not foreseen": int((numbers < 0).sum()), "columns": columns}

"""``discreet check``: does a table fit its schema? For people who may see the records."""

from pathlib import Path

import click

from .common import (
    FILE,
    PLACE,
    as_json_option,
    csv_options,
    errors_as_messages,
    load_schema,
    read_records,
    say_json,
    target_of,
)
from .terminal import say


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
    from ..sources.table_check import check_table

    schema = load_schema(schema_file)
    X, y = read_records(table, schema, target_of(schema, target), delimiter, encoding, decimal)
    with errors_as_messages():
        found = check_table(X, y, schema)
    if as_json:
        say_json(found.to_dict())
    else:
        say(str(found))

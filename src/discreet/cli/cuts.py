"""``discreet cuts``: cut points near the private quantiles, for a price."""

from pathlib import Path

import click

from .common import (
    FILE,
    NEW_FILE,
    NEW_LEDGER,
    PLACE,
    as_json_option,
    check_epsilon,
    check_outputs,
    csv_options,
    engine_option,
    errors_as_messages,
    force_option,
    is_left_to_engine,
    load_schema,
    open_where_it_is,
    read_records,
    say_json,
    weak_option,
)
from .fit import open_ledger
from .saving import keep, reserved
from .table_notes import ANOTHER, check_ledger, note_ledger
from .terminal import on_one_line, say


@click.command()
@click.argument("table", type=PLACE)
@click.option("--schema", "-s", "schema_file", type=FILE, required=True, help="With low, high and a fine grid of cuts.")
@click.option(
    "--column", "-c", "columns", multiple=True, required=True, help="A column and its number of cuts: age=7. Repeat."
)
@click.option("--epsilon", "-e", type=float, required=True, help="The price; a tenth of that of the model is enough.")
@click.option("--ledger", "ledger_file", type=NEW_LEDGER, help="Where to book it.")
@click.option("--records-per-person", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--out", "-o", type=NEW_FILE, required=True, help="Where the new schema goes.")
@ANOTHER
@weak_option
@force_option
@csv_options
@engine_option
@as_json_option
def cuts(
    table: Path | str,
    schema_file: Path,
    columns: tuple[str, ...],
    epsilon: float,
    ledger_file: Path | str | None,
    records_per_person: int,
    out: Path,
    another_ledger: bool,
    weak: bool,
    force: bool,
    delimiter: str | None,
    encoding: str,
    engine: str | None,
    decimal: str,
    as_json: bool,
) -> None:
    """Choose cut points near the quantiles of the private records, with differential privacy.

    Try a fine public grid first, which costs nothing (docs/cut-points.md). The new schema says what its cuts cost, and every
    model that is learned with it counts that.
    """
    wanted = {}
    for text in columns:
        name, _, number = text.rpartition("=")
        if not name or not number.isdigit():
            raise click.UsageError(f"--column must be a name and a number, as in age=7, not {text!r}")
        wanted[name] = int(number)
    schema = load_schema(schema_file)
    check_epsilon(epsilon, weak)
    check_outputs([out], [table, schema_file, ledger_file], force)
    ledger = open_ledger(ledger_file)
    check_ledger(table, ledger_file, another_ledger)
    from ..evaluation.cut_points import private_cuts

    size = (1 << 16) + 4 * len(schema.to_toml().encode()) + 64 * sum(min(n, 10_000) for n in wanted.values())
    place = reserved(out, size, force)
    with errors_as_messages():
        for name in wanted:
            schema[name]
        if is_left_to_engine(table, engine):
            X = open_where_it_is(table, list(wanted), delimiter, encoding, decimal)
        else:
            assert isinstance(table, Path)
            X, _ = read_records(table, schema, None, delimiter, encoding, decimal, list(wanted))
        note_ledger(table, ledger_file)
        cut = private_cuts(X, schema, wanted, epsilon=epsilon, ledger=ledger, records_per_person=records_per_person)
    keep(place, cut.to_toml(), out, epsilon)
    found = {name: list(cut[name].cuts) for name in wanted}  # type: ignore[attr-defined]
    if as_json:
        say_json({"schema": str(out), "epsilon": epsilon, "cuts": found})
    else:
        for name, values in found.items():
            say(f"{on_one_line(name)}: {', '.join(f'{v:g}' for v in values)}")
        say(
            f"{on_one_line(out)}: epsilon {epsilon:g} was spent on these cuts, and every model learned with them counts it"
        )

"""``discreet schema``, ``check`` and ``cuts``: what is public about a table, whether it fits, and cut points for a price."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import common
from .ending import keep, reserved
from .table_notes import ANOTHER, PUBLIC, check_ledger, check_not_private, note_ledger, note_sample
from .terminal import on_one_line, say, say_lines

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@common.table_options("sample", common.FILE)
@common.target_option(help="The column to predict.")
@common.out_option(help="Write the draft to this file, as TOML; otherwise it is printed.")
@click.option(
    "--cuts", type=click.IntRange(1, 1000), help="The most cut points of a numeric column; about 20 by default."
)
@common.flag(
    "--dictionary",
    help="SAMPLE is a data dictionary: a table with a row for each column. Of an SPSS, Stata or SAS file, even a private one, "
    "names and labels are read, which must be public, and no records.",
)
@PUBLIC
@common.force_option
@common.as_json_option
def schema(
    sample: common.Given,
    target: str | None,
    out: Path | None,
    cuts: int | None,
    dictionary: bool,
    public_table: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Draft a schema from SAMPLE, a PUBLIC table like the private one, or from a data dictionary.

    SAMPLE MUST NOT BE THE PRIVATE TABLE, nor a part of it: a schema is not protected by anything. Take an older public
    release, a synthetic table, a sample that may be shown. Identifiers, dates and free text are ignored; numbers get round cut
    points. Read the draft before you use it: it is a text file, made to be corrected.
    """
    from ..schema.draft import draft_from_dictionary
    from ..schema.inference import draft_schema
    from ..sources.files import is_csv, is_statistical, read_typed
    from ..sources.statistical import file_dictionary

    path = sample.place
    common.check_outputs([out], [path], force)
    own = file_dictionary(path, sample.how["encoding"]) if is_statistical(path) else None
    if own is None or not dictionary:
        check_not_private(path, public_table)
    if target is not None and not dictionary:
        sample.columns([target], public=True)
    if dictionary and own is not None:
        draft = draft_from_dictionary(own, target, cuts, f"the names and labels in {path.name}, without its records")
    else:
        frame = read_typed(path, **sample.how)
        if sample.how["decimal"] == "," and is_csv(path):
            frame = frame.apply(_with_other_points)
        more = {} if own is None else {"dictionary": own}
        draft = (draft_from_dictionary if dictionary else draft_schema)(frame, target, cuts, path.name, **more)
    text = draft.to_toml()
    if not dictionary:
        note_sample(path)
    if out is not None:
        common.write_new(out, text, force)
    if as_json:
        common.say_json({"schema": draft.schema.to_dict(), "notes": list(draft.notes)})
        return
    if out is None:
        say_lines([text, "\n"])
        return
    used = len(draft.schema.used)
    look = " Read it, and look at:" if draft.notes else " Read it before you use it."
    say(f"{on_one_line(out)}: {used} columns for rules, {len(draft.schema.columns) - used} ignored.{look}")
    for note in draft.notes:
        say(f"  - {on_one_line(note)}")
    if dictionary and own is not None:
        say(
            f"\nNo record of {on_one_line(path.name)} was read. All names, codes and labels in this draft must be public: read "
            "each of them. What the file declares missing was left out."
        )
        return
    say(
        f"\n{on_one_line(path.name)} must be public. If it is the private table, or a part of it, do not use this draft."
    )


def _with_other_points(column: "pd.Series") -> "pd.Series":
    """The column, with points and commas swapped if its strings are numbers only by a decimal point, where a comma was said.

    So a draft does not take them for numbers.
    """
    import pandas as pd

    from ..sources.files import SWAPPED

    if pd.api.types.is_numeric_dtype(column):
        return column
    numbers = pd.to_numeric(column, errors="coerce")
    return column.str.translate(SWAPPED) if (numbers.notna() == column.notna()).all() else column


@click.command()
@common.table_options()
@common.schema_option(required=True, help="What is public about the table.")
@common.target_option(help="The column to predict, if the schema does not name it.")
@common.as_json_option
def check(table: common.Given, schema_file: Path | None, target: str | None, as_json: bool) -> None:
    """Check TABLE against its schema, for your eyes only: a private fit may not tell you.

    A fit is silent about values that the schema does not list, because a message would reveal them. This
    command counts them. THE COUNTS ARE ABOUT THE RECORDS: do not publish them, nor tune the schema to them value by value.
    """
    if isinstance(table.place, str):
        raise click.UsageError(
            "this command looks at the values one by one, in memory: give a file (CSV, Parquet or Arrow)"
        )
    from ..sources.table_check import check_table

    schema = common.load_schema(schema_file)
    X, y = table.records(schema, common.target_of(schema, target))
    found = check_table(X, y, schema)
    if as_json:
        common.say_json(found.to_dict())
    else:
        say(str(found))


@click.command()
@common.table_options(engine=True)
@common.schema_option(required=True, help="A schema with low, high and a fine grid of cuts.")
@click.option(
    "--column", "-c", "columns", multiple=True, required=True, help="A column and its number of cuts: age=7. Repeat."
)
@click.option(
    "--epsilon", "-e", type=float, required=True, help="The price of the cuts; a tenth of the model's is enough."
)
@common.ledger_option(type=common.NEW_LEDGER, help="Book epsilon on this ledger.")
@common.RECORDS_PER_PERSON
@common.out_option(required=True, help="Write the new schema to this file.")
@ANOTHER
@common.weak_option
@common.force_option
@common.as_json_option
def cuts(
    table: common.Given,
    schema_file: Path,
    columns: tuple[str, ...],
    epsilon: float,
    ledger_file: Path | str | None,
    records_per_person: int,
    out: Path,
    another_ledger: bool,
    weak: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Choose cut points near the quantiles of the private records, with differential privacy.

    Try a fine public grid first, which costs nothing (docs/cut-points.md). The new schema says what its cuts cost, and every
    model that is learned with it counts that.
    """
    wanted: dict[str, int] = {}
    for text in columns:
        name, _, number = text.rpartition("=")
        if not name or not (number.isascii() and number.isdigit()):
            raise click.UsageError(f"--column must be a name and a number, as in age=7, not {text!r}")
        if name in wanted:
            raise click.UsageError(f"--column names {name!r} twice; say how many cuts it gets once")
        wanted[name] = int(number)
    schema = common.load_schema(schema_file)
    common.check_epsilon(epsilon, weak)
    common.check_outputs([out], [table.place, schema_file, ledger_file], force)
    ledger = common.open_ledger(ledger_file)
    check_ledger(table.place, ledger_file, another_ledger)
    from ..evaluation.cut_points import private_cuts

    size = (1 << 16) + 4 * len(schema.to_toml().encode()) + 64 * sum(min(n, 10_000) for n in wanted.values())
    place = reserved(out, size, force)
    for name in wanted:
        schema[name]
    names = list(wanted)
    X, _ = table.records(schema, None, names)
    note_ledger(table.place, ledger_file)
    cut = private_cuts(X, schema, wanted, epsilon=epsilon, ledger=ledger, records_per_person=records_per_person)
    keep(place, cut.to_toml(), out, epsilon)
    found = {name: list(cut[name].cuts) for name in wanted}  # type: ignore[attr-defined]
    if as_json:
        common.say_json({"schema": str(out), "epsilon": epsilon, "cuts": found})
    else:
        for name, values in found.items():
            say(f"{on_one_line(name)}: {', '.join(f'{v:g}' for v in values)}")
        say(
            f"{on_one_line(out)}: epsilon {epsilon:g} was spent on these cuts, and every model learned with them counts it"
        )

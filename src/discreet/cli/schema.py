"""``discreet schema``: a draft of what is public about a table."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common import (
    FILE,
    NEW_FILE,
    as_json_option,
    check_columns,
    check_outputs,
    csv_options,
    errors_as_messages,
    force_option,
    say_json,
    write_new,
)
from .table_notes import PUBLIC, check_not_private, note_sample
from .terminal import on_one_line, say, say_lines

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@click.argument("sample", type=FILE)
@click.option("--target", "-t", help="The column to predict.")
@click.option("--out", "-o", type=NEW_FILE, help="Where the draft goes, as TOML; to the screen by default.")
@click.option("--cuts", type=click.IntRange(1, 1000), help="The most cut points of a numeric column; about 20.")
@click.option("--dictionary", is_flag=True, help="SAMPLE is a data dictionary: a table with a row for each column.")
@PUBLIC
@force_option
@csv_options
@as_json_option
def schema(
    sample: Path,
    target: str | None,
    out: Path | None,
    cuts: int | None,
    dictionary: bool,
    public_table: bool,
    force: bool,
    delimiter: str | None,
    encoding: str,
    decimal: str,
    as_json: bool,
) -> None:
    """Draft a schema from SAMPLE, a PUBLIC table like the private one, or from a data dictionary.

    SAMPLE MUST NOT BE THE PRIVATE TABLE, nor a part of it: what a schema says is not protected by anything. Take an older public
    release, a synthetic table, a sample that may be shown. Identifiers, dates and free text are ignored; numbers get round cut
    points. Read the draft before you use it: it is a text file, made to be corrected.
    """
    from ..schema.drafting import draft_from_dictionary, draft_schema
    from ..sources.files import column_names, is_csv, read_typed

    check_outputs([out], [sample], force)
    check_not_private(sample, public_table)
    with errors_as_messages():
        if target is not None and not dictionary:
            check_columns(sample, [target], column_names(sample, delimiter, encoding), public=True)
        frame = read_typed(sample, delimiter, encoding, decimal)
        if decimal == "," and is_csv(sample):
            frame = frame.apply(_with_other_points)
        draft = (draft_from_dictionary if dictionary else draft_schema)(frame, target, cuts, sample.name)
        text = draft.to_toml()
    if not dictionary:
        note_sample(sample)
    if out is not None:
        write_new(out, text, force)
    if as_json:
        say_json({"schema": draft.schema.to_dict(), "notes": list(draft.notes)})
        return
    if out is None:
        say_lines([text, "\n"])
        return
    used = len(draft.schema.used)
    look = " Read it, and look at:" if draft.notes else " Read it before you use it."
    say(f"{on_one_line(out)}: {used} columns for rules, {len(draft.schema.columns) - used} ignored.{look}")
    for note in draft.notes:
        say(f"  - {on_one_line(note)}")
    say(
        f"\n{on_one_line(sample.name)} must be public. If it is the private table, or a part of it, do not use this draft."
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

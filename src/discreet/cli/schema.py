"""``discreet schema`` and ``check``: what is public about a table, and whether it fits."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import common
from .ending import keep, reserved
from .table_notes import ANOTHER, PUBLIC, check_ledger, check_not_private, note_ledger, note_sample
from .terminal import on_one_line, say, say_lines

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@common.table_options("sample", engine=True)
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
@common.flag("--private", help="SAMPLE is the private table: find the schema with noise, for --epsilon.")
@click.option("--epsilon", "-e", type=float, help="With --private: the price; a fifth of what a model gets is good.")
@common.ledger_option(type=common.NEW_LEDGER, help="With --private: book the price on this ledger.")
@common.RECORDS_PER_PERSON
@common.option_with_default(
    "--delta", type=float, default=1e-9, help="With --private: 0 leaves texts out, and needs --classes."
)
@click.option("--classes", help="With --private: the target's classes, if they are public: no,yes.")
@click.option("--bounds", "-b", multiple=True, help="Public bounds of a number: age=0,120. Repeatable.")
@click.option("--categories", "-c", multiple=True, help="Public categories: sex=F,M. Repeatable.")
@click.option("--exclude", "-x", multiple=True, help="With --private: a column to leave out. Repeatable.")
@click.option("--records", type=common.SOME, help="About how many records there are, if that is public.")
@common.weak_option
@ANOTHER
def schema(
    sample: common.Given,
    target: str | None,
    out: Path | None,
    cuts: int | None,
    dictionary: bool,
    public_table: bool,
    force: bool,
    as_json: bool,
    private: bool,
    **how: Any,
) -> None:
    """Draft a schema from SAMPLE, a PUBLIC table like the private one, or from a data dictionary.

    SAMPLE MUST NOT BE THE PRIVATE TABLE, nor a part of it: a draft is not protected by anything. Where there is no public table,
    --private finds a schema in the private one, with noise and for a price that every model counts. Read the file before you use
    it: it is a text, made to be corrected.
    """
    if private:
        return _find(sample, target, out, force, as_json, **how)
    if isinstance(sample.place, str) or sample.engine is not None:
        raise click.UsageError("a draft is made from a file in memory; a URL, or --engine, goes with --private")
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
        return common.say_json({"schema": draft.schema.to_dict(), "notes": list(draft.notes)})
    if out is None:
        return say_lines([text, "\n"])
    _say_what_is_there(out, draft)
    called = on_one_line(path.name)
    if dictionary and own is not None:
        return say(
            f"\nNo record of {called} was read. All names, codes and labels in this draft must be public: read each of them. "
            "What the file declares missing was left out."
        )
    say(f"\n{called} must be public. If it is the private table, or a part of it, do not use this draft.")


def _say_what_is_there(out: Path, found: Any) -> None:
    used = len(found.schema.used)
    look = "Read it, and look at:" if found.notes else "Read it before you use it."
    say(f"{on_one_line(out)}: {used} columns for rules, {len(found.schema.columns) - used} ignored. {look}")
    for note in found.notes:
        say(f"  - {on_one_line(note)}")


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


def _find(
    table: common.Given,
    target: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    ledger_file: Path | str | None,
    another_ledger: bool,
    weak: bool,
    classes: str | None,
    bounds: Sequence[str],
    categories: Sequence[str],
    exclude: Sequence[str],
    epsilon: float | None,
    **terms: Any,
) -> None:
    """Find the schema in the private table, and write it to a file."""
    if target is None or out is None or epsilon is None:
        raise click.UsageError("--private needs --target, --epsilon and --out: what is paid for is written to a file")
    common.check_epsilon(epsilon, weak)
    common.check_outputs([out], [table.place, ledger_file], force)
    ledger = common.open_ledger(ledger_file)
    check_ledger(table.place, ledger_file, another_ledger)
    known: dict[str, Any] = {
        "bounds": common.named("--bounds", "a column and two numbers, as in age=0,120", _two_numbers, bounds),
        "categories": common.named("--categories", "a column and categories, as in sex=F,M", _names, categories),
        "classes": None if classes is None else _labels(classes.split(",")),
    }
    place = reserved(out, force)
    if table.in_engine:
        X: Any = table.opened([target, *exclude])
        X, how = (X.drop(*exclude) if exclude else X), {}
    else:
        table.columns([target, *exclude])
        from ..schema.columns import Ignored

        X, how = table.place, {**table.how, "columns": [Ignored(name) for name in exclude]}
    from ..estimators.private_schema import private_schema

    note_ledger(table.place, ledger_file)
    found = private_schema(X, target=target, epsilon=epsilon, ledger=ledger, **known, **terms, **how)
    keep(place, found.to_toml(), out, epsilon)
    if as_json:
        return common.say_json({"schema": found.schema.to_dict(), "notes": list(found.notes), "epsilon": epsilon})
    _say_what_is_there(out, found)
    assert found.privacy is not None
    say(f"It cost {found.privacy.proved}; every model learned with it counts that.")


def _two_numbers(text: str) -> tuple[float, float]:
    low, high = map(float, text.split(","))
    return low, high


def _names(text: str) -> list[str] | None:
    return text.split(",") if text else None


def _labels(listed: Sequence[str]) -> tuple[Any, ...]:
    whole = all(text.removeprefix("-").isascii() and text.removeprefix("-").isdigit() for text in listed)
    return tuple(int(text) if whole else text for text in listed)


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

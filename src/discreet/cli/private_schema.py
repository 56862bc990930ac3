"""``discreet schema --private``: a schema that is found in the private table, for a price."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from . import common
from .ending import keep, reserved
from .table_notes import ANOTHER, check_ledger, note_ledger
from .terminal import on_one_line, say


def private_options(command: Any) -> Any:
    """What is asked for with ``--private``."""
    options: tuple[Callable[[Any], Any], ...] = (
        common.flag("--private", help="SAMPLE is the private table: find the schema with noise, for --epsilon."),
        click.option(
            "--epsilon", "-e", type=float, help="With --private: the price; a fifth of what a model gets is good."
        ),
        common.ledger_option(type=common.NEW_LEDGER, help="With --private: book the price on this ledger."),
        common.RECORDS_PER_PERSON,
        common.option_with_default(
            "--delta", type=float, default=1e-9, help="With --private: 0 leaves texts out, and needs --classes."
        ),
        click.option("--classes", help="With --private: the target's classes, if they are public: no,yes."),
        click.option("--bounds", "-b", multiple=True, help="Public bounds of a number: age=0,120. Repeatable."),
        click.option("--categories", "-c", multiple=True, help="Public categories: sex=F,M. Repeatable."),
        click.option("--exclude", "-x", multiple=True, help="With --private: a column to leave out. Repeatable."),
        click.option("--records", type=common.SOME, help="About how many records there are, if that is public."),
        common.weak_option,
        ANOTHER,
    )
    for option in reversed(options):
        command = option(command)
    return command


def find(
    table: common.Given,
    target: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    epsilon: float | None,
    ledger_file: Path | str | None,
    records_per_person: int,
    delta: float,
    classes: str | None,
    bounds: Sequence[str],
    categories: Sequence[str],
    exclude: Sequence[str],
    records: int | None,
    weak: bool,
    another_ledger: bool,
) -> None:
    """Find the schema, and write it to a file."""
    if target is None or out is None or epsilon is None:
        raise click.UsageError("--private needs --target, --epsilon and --out: what is paid for is written to a file")
    common.check_epsilon(epsilon, weak)
    common.check_outputs([out], [table.place, ledger_file], force)
    ledger = common.open_ledger(ledger_file)
    check_ledger(table.place, ledger_file, another_ledger)
    known: dict[str, Any] = {
        "bounds": {name: _bounds(name, listed) for name, listed in _named("--bounds", bounds)},
        "categories": dict(_named("--categories", categories)),
        "classes": None if classes is None else _labels(classes.split(",")),
    }
    place = reserved(out, force)
    if table.in_engine:
        X: Any = table.opened([target, *exclude])
        X = X.drop(*exclude) if exclude else X
    else:
        from ..sources.files import read_table

        names = [name for name in table.columns([target, *exclude]) if name not in exclude]
        X = read_table(table.place, names, **table.how, own_types=True)
    from ..estimators.private_schema import private_schema

    note_ledger(table.place, ledger_file)
    terms: dict[str, Any] = {"ledger": ledger, "records_per_person": records_per_person, "records": records}
    found = private_schema(X, target=target, epsilon=epsilon, delta=delta, **known, **terms)
    del X
    keep(place, found.to_toml(), out, epsilon)
    if as_json:
        return common.say_json({"schema": found.schema.to_dict(), "notes": list(found.notes), "epsilon": epsilon})
    used = len(found.schema.used)
    say(f"{on_one_line(out)}: {used} columns for rules, {len(found.schema.columns) - used} left out.")
    for note in found.notes:
        say(f"  - {on_one_line(note)}")
    assert found.privacy is not None
    say(f"It cost {found.privacy.proved}; every model learned with it counts that. Read it before you use it.")


def _named(option: str, given: Sequence[str]) -> list[tuple[str, list[str]]]:
    pairs = [text.rpartition("=") for text in given]
    for text, (name, equals, listed) in zip(given, pairs, strict=True):
        if not (name and equals and listed):
            raise click.UsageError(
                f"{option} must be a column and what is public about it, as in age=0,120, not {text!r}"
            )
    return [(name, listed.split(",")) for name, _, listed in pairs]


def _bounds(name: str, listed: Sequence[str]) -> tuple[float, float]:
    try:
        low, high = map(float, listed)
    except ValueError:
        raise click.UsageError(f"--bounds of {name!r} must be two numbers, as in {name}=0,120") from None
    return low, high


def _labels(listed: Sequence[str]) -> tuple[Any, ...]:
    whole = all(text.removeprefix("-").isascii() and text.removeprefix("-").isdigit() for text in listed)
    return tuple(int(text) if whole else text for text in listed)

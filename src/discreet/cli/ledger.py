"""``discreet ledger``: how much all models from a table may reveal together, and what is left of it."""

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import common
from .terminal import as_text, on_one_line, open_console, say, say_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ..accounting.ledger import Entry

WIDE = 110  # characters, for all columns of the table


@click.group()
def ledger() -> None:
    """Keep track of what was learned from a table."""


@ledger.command()
@click.argument("path", type=common.NEW_LEDGER)
@click.option("--epsilon", "-e", type=float, required=True, help="The total for all models from one table.")
@click.option("--delta", type=float, default=0.0, help="The total delta, for --rho and for mechanisms that need one.")
@click.option(
    "--rho",
    help="Also count in zCDP, so that many small models fit: a number, or auto for what epsilon and delta allow.",
)
@click.option("--records-per-person", type=common.SOME, help="Refuse models that are for fewer records per person.")
@common.flag("--allow-unproved", help="Accept releases about which nothing is proved, for experiments.")
@common.as_json_option
def create(path: Path | str, epsilon: float, delta: float, rho: str | None, as_json: bool, **kept: Any) -> None:
    """Create a ledger. Its total is decided once, and cannot be changed."""
    from ..accounting.ledger import Ledger
    from ..accounting.ledger_places import MissingError

    if isinstance(path, Path):
        if path.exists():
            raise click.UsageError(f"{path} exists already; a table gets one ledger")
        common.check_outputs([path])
    else:
        with suppress(MissingError):  # one that is not reached is an error
            Ledger.open(path)
            raise click.UsageError("this ledger exists already; a table gets one ledger")
    try:
        total: Any = rho if rho is None or rho == "auto" else float(rho)
    except ValueError:
        raise click.UsageError("--rho must be a number, or auto") from None
    made = Ledger.open(path, epsilon, delta, rho=total, **kept).snapshot().rho
    if as_json:
        said = {"ledger": str(path), "epsilon": epsilon, "delta": delta, "allow_unproved": kept["allow_unproved"]}
        said |= {"rho": None if made is None else str(made), "records_per_person": kept["records_per_person"]}
        common.say_json(said)
        return
    of_delta = f", delta {delta:g}" if delta else ""
    of_rho = "" if made is None else f"; in zCDP, rho {float(made):.4g}"
    say(f"{on_one_line(path)}: epsilon {epsilon:g}{of_delta} for all releases together{of_rho}")


@ledger.command()
@click.argument("path", type=common.LEDGER)
@common.as_json_option
def show(path: Path | str, as_json: bool) -> None:
    """Show what was spent, on what, and what is left."""
    from ..accounting.ledger import Ledger
    from ..accounting.ledger_export import left_of, to_whom, together

    opened = Ledger.open(path)
    entries, snapshot, unproved, total = opened.entries, opened.snapshot(), opened.allow_unproved, opened.total()
    if as_json:
        said: dict[str, Any] = {"remaining": [str(x) for x in snapshot.remaining], "allow_unproved": unproved}
        shown = ("epsilon", "delta", "spent", "proved", "unproved", "ledger", "rho", "rho_budget", "rho_delta")
        said |= {key: snapshot.to_dict()[key] for key in (*shown, "records_per_person")}
        said["total"] = None if total is None else [float(total.epsilon), float(total.delta), total.by]
        common.say_json(said | {"entries": [_as_json(number, entry) for number, entry in enumerate(entries, 1)]})
        return
    console = open_console()
    console.print(_table(entries, console.width < WIDE) if entries else "Nothing was learned yet.")
    console.print(as_text(left_of(snapshot), "bold"))
    for sentence in (together(snapshot, total), to_whom(snapshot)):
        if sentence:
            console.print(sentence)


def _table(entries: "Sequence[Entry]", is_narrow: bool) -> "Table":
    """A line for each release; without columns in which there is nothing to see. Only what was released may take two lines."""
    from rich.table import Table

    from .._utils.parameters import rounded_up

    def proved(entry: "Entry") -> str:
        if entry.proved_epsilon is None:
            return "nothing"
        delta = f", {rounded_up(entry.proved_delta, 3)}" if entry.proved_delta else ""
        return rounded_up(entry.proved_epsilon, 6) + delta

    columns: dict[str, list[str]] = {
        "": [str(number) for number in range(1, len(entries) + 1)],
        "day": [entry.when[:10] for entry in entries],
        "release": [entry.what for entry in entries],
        "epsilon": [f"{float(entry.epsilon):.6g}" for entry in entries],
        "delta": [f"{float(entry.delta):.3g}" for entry in entries],
        "proved": list(map(proved, entries)),
        "records per person": [str(entry.records_per_person or "?") for entry in entries],
        "name": [entry.release or "?" for entry in entries],
        "ended": [entry.how or "not closed: running, or killed" for entry in entries],
        "model file": [" ".join(model[:12] for model in entry.models) for entry in entries],
    }
    dull = {"delta": {"0"}, "records per person": {"1"}, "model file": {""}}
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    dull |= (
        {"delta": {*columns["delta"]}, "model file": {*columns["model file"]}} if is_narrow else {}
    )  # --json has all
    shown = {name: cells for name, cells in columns.items() if not set(cells) <= dull.get(name, set())}
    for name in shown:
        table.add_column(name, no_wrap=name != "release", overflow="fold")
    for cells in zip(*shown.values(), strict=True):
        table.add_row(*map(on_one_line, cells))
    return table


@ledger.command()
@click.argument("path", type=common.LEDGER)
@common.option_with_default(
    *("--format", "kind"),
    type=click.Choice(["csv", "json", "events"]),
    default="csv",
    help="A table, JSON, or events for dp_accounting.",
)
@common.out_option(help="Write to this file, not to the screen.")
@common.force_option
def export(path: Path | str, kind: str, out: Path | None, force: bool) -> None:
    """Write a ledger for other tools: a table of its releases, or events for Google's dp_accounting."""
    from ..accounting.ledger import Ledger
    from ..accounting.ledger_export import as_csv, events, rows

    common.check_outputs([out], [path], force)
    opened = Ledger.open(path)
    entries, snapshot = opened.entries, opened.snapshot()
    data = events(entries, snapshot) if kind == "events" else rows(entries)
    text = as_csv(entries) if kind == "csv" else json.dumps(data, indent=1) + "\n"
    if out is None:
        say_lines([text])
    else:
        common.write_new(out, text, force)


def _as_json(number: int, entry: "Entry") -> dict[str, Any]:
    proved = None if entry.proved_epsilon is None else [str(entry.proved_epsilon), str(entry.proved_delta)]
    return {
        "number": number,
        "what": entry.what,
        "epsilon": str(entry.epsilon),
        "delta": str(entry.delta),
        "proved": proved,
        "when": entry.when[:10],
        "records_per_person": entry.records_per_person,
        "release": entry.release,
        "schemas": {name: [str(epsilon), str(delta)] for name, (epsilon, delta) in entry.schemas},
        "ended": entry.how,
        "costs": [cost.to_list() for cost in entry.costs],
        "rho": str(entry.rho),
        "models": list(entry.models),
    }

"""``discreet ledger``: how much all models from a table may reveal together, and what is left of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .common import FILE, NEW_FILE, as_json_option, check_outputs, errors_as_messages, say_json
from .terminal import as_text, on_one_line, open_console, say

if TYPE_CHECKING:
    from ..privacy.ledger import Entry


@click.group()
def ledger() -> None:
    """Keep count of what was learned from a table."""


@ledger.command()
@click.argument("path", type=NEW_FILE)
@click.option("--epsilon", "-e", type=float, required=True, help="For all models from one table together.")
@click.option("--delta", type=float, default=0.0, help="Only for methods that need one.")
@click.option(
    "--allow-unproved", is_flag=True, help="Take releases about which nothing is proved, too. For experiments."
)
@as_json_option
def create(path: Path, epsilon: float, delta: float, allow_unproved: bool, as_json: bool) -> None:
    """Make a new ledger. The total is decided once, and cannot be changed."""
    from ..privacy.ledger import Ledger

    if path.exists():
        raise click.UsageError(f"{path} exists already; a ledger is made once for a table")
    check_outputs([path])
    with errors_as_messages():
        Ledger.open(path, epsilon, delta, allow_unproved)
    if as_json:
        say_json({"ledger": str(path), "epsilon": epsilon, "delta": delta, "allow_unproved": allow_unproved})
        return
    say(
        f"{on_one_line(path)}: epsilon {epsilon:g}"
        + (f", delta {delta:g}" if delta else "")
        + " for all releases together"
    )


@ledger.command()
@click.argument("path", type=FILE)
@as_json_option
def show(path: Path, as_json: bool) -> None:
    """Show what was spent, on what, and what is left."""
    from ..privacy.ledger import Ledger

    with errors_as_messages():
        opened = Ledger.open(path)
        entries, snapshot, unproved = opened.entries, opened.snapshot(), opened.allow_unproved
    if as_json:
        said: dict[str, Any] = {"remaining": [str(x) for x in snapshot.remaining], "allow_unproved": unproved}
        said |= {key: snapshot.to_dict()[key] for key in ("epsilon", "delta", "spent", "proved", "unproved", "ledger")}
        say_json(said | {"entries": [_as_json(number, entry) for number, entry in enumerate(entries, 1)]})
        return
    from rich.table import Table

    table = Table("", "day", "release", "epsilon", "delta", "proved", "records per person", "name", "ended", box=None)
    for number, entry in enumerate(entries, 1):
        proved = "nothing" if entry.proved_epsilon is None else f"{float(entry.proved_epsilon):.6g}"
        proved += f", {float(entry.proved_delta):.3g}" if entry.proved_delta else ""
        cells = [str(number), entry.when[:10], entry.what, f"{float(entry.epsilon):.6g}", f"{float(entry.delta):.3g}"]
        cells += [proved, str(entry.records_per_person or "?"), entry.release or "?", _end(entry)]
        table.add_row(*map(on_one_line, cells))
    console = open_console()
    console.print(table if entries else "Nothing was learned yet.")
    epsilon, delta = snapshot.remaining
    of_all = as_text(f"epsilon {float(epsilon):.6g} of {float(snapshot.epsilon):.6g} left", "bold")
    console.print(of_all + (f", delta {float(delta):.3g} of {float(snapshot.delta):.3g}" if snapshot.delta else ""))
    if snapshot.totals.unproved:
        console.print(
            f"Nothing is proved about {snapshot.totals.unproved} of the releases, nor about all of them together."
        )


def _end(entry: "Entry") -> str:
    return entry.how or "not closed: running, or killed"


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
        "cut_points": {name: str(epsilon) for name, epsilon in entry.cut_points},
        "ended": entry.how,
    }

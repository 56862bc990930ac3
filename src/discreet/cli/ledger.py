"""``discreet ledger``: how much all models from a table may reveal together, and what is left of it."""

from pathlib import Path
from typing import Any

import click

from .common import FILE, NEW_FILE, as_json_option, check_outputs, kind_errors, say_json
from .terminal import as_text, on_one_line, open_console, say


@click.group()
def ledger() -> None:
    """Keep count of what was learned from a table."""


@ledger.command()
@click.argument("path", type=NEW_FILE)
@click.option("--epsilon", "-e", type=float, required=True, help="For all models from one table together.")
@click.option("--delta", type=float, default=0.0, help="Only for methods that need one.")
@as_json_option
def create(path: Path, epsilon: float, delta: float, as_json: bool) -> None:
    """Make a new ledger. The total is decided once, and cannot be changed."""
    from ..privacy.ledger import Ledger

    if path.exists():
        raise click.UsageError(f"{path} exists already; a ledger is made once for a table")
    check_outputs([path])
    with kind_errors():
        Ledger.open(path, epsilon, delta)
    if as_json:
        say_json({"ledger": str(path), "epsilon": epsilon, "delta": delta})
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

    with kind_errors():
        snapshot = Ledger.open(path).snapshot()
    if as_json:
        left: dict[str, Any] = {"remaining": [str(x) for x in snapshot.remaining]}
        say_json(snapshot.to_dict() | left)
        return
    from rich.table import Table

    table = Table("day", "release", "epsilon", "delta", "proved", box=None)
    for entry in snapshot.entries:
        proved = "nothing" if entry.proved_epsilon is None else f"{float(entry.proved_epsilon):.6g}"
        what = on_one_line(entry.what)
        table.add_row(entry.when[:10], what, f"{float(entry.epsilon):.6g}", f"{float(entry.delta):.3g}", proved)
    console = open_console()
    console.print(table if snapshot.entries else "Nothing was learned yet.")
    epsilon, delta = snapshot.remaining
    of_all = as_text(f"epsilon {float(epsilon):.6g} of {float(snapshot.epsilon):.6g} left", "bold")
    console.print(of_all + (f", delta {float(delta):.3g} of {float(snapshot.delta):.3g}" if snapshot.delta else ""))

"""``python -m reproduction``."""

import sys
from pathlib import Path

import click

from discreet.cli.ending import Commands
from discreet.cli.terminal import on_one_line, open_console


@click.command()
@click.option("--quick", is_flag=True, help="A small part of the grid, in a minute or so.")
@click.option(
    "--folder",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduced"),
    show_default=True,
    help="Where results go; a run that was stopped goes on there.",
)
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes to use; all cores by default.")
@click.option(
    "--peers",
    is_flag=True,
    help="Also classifiers of other libraries (diffprivlib, InterpretML), installed once into an environment in the folder.",
)
@click.option(
    "--beyond",
    is_flag=True,
    help="Instead of the paper's experiments what its conclusion asks for: inverse sensitivity, trees and forests.",
)
def reproduce(quick: bool, folder: Path, jobs: int | None, peers: bool, beyond: bool) -> None:
    """Run the paper's experiments again, and compare with its numbers. Needs `discreet[experiments]`.

    Stop it whenever you like, and start it again: what is done is not done twice. In the folder are then all fits, as rows of one
    Parquet file, every figure as SVG and PNG, and a page to read, index.html.
    """
    from importlib.util import find_spec

    if find_spec("pyarrow") is None or find_spec("matplotlib") is None:
        raise click.UsageError("reproduce needs pyarrow and matplotlib: pip install 'discreet[experiments]'")
    import platform
    import time
    from datetime import UTC, datetime
    from importlib.metadata import version

    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table

    from .beyond import units as units_beyond
    from .beyond_page import write_beyond_page
    from .comparisons import compared
    from .page import Facts
    from .peers_environment import PeersError, environment
    from .reproduce import all_units, reproduce_beyond
    from .reproduce import reproduce as run_experiments
    from .results_page import write_results_page
    from .tables import comparison

    if beyond and peers:
        raise click.UsageError("--peers are of the paper's experiments: leave it out, or run it without --beyond")
    python = None
    if peers:
        try:
            with open_console(stderr=True).status("making an environment for other libraries, once ..."):
                python = environment(folder / "peers-environment")
        except PeersError as error:
            raise click.ClickException(str(error)) from None
    folder = folder / (("beyond-" if beyond else "") + ("quick" if quick else "full"))
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "parts").is_dir():
        raise click.UsageError(f"{folder} holds something other than results of this command: choose another --folder")
    started = time.monotonic()
    columns = (TextColumn("fits"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=open_console(stderr=True)) as bar:
        todo = units_beyond(quick) if beyond else all_units(quick, peers)
        task = bar.add_task("", total=sum(unit.fits for unit in todo))
        try:
            if beyond:
                fits = reproduce_beyond(folder, quick, jobs, lambda done: bar.advance(task, done))
            else:
                fits = run_experiments(folder, quick, jobs, lambda done: bar.advance(task, done), python)
        except PeersError as error:
            raise click.ClickException(str(error)) from None
    console = open_console()
    if not beyond:
        numbers = comparison(compared(fits))
        table = Table(*numbers.header, box=None)
        for row in numbers.rows:
            table.add_row(*row)
        console.print(table)
    with open_console(stderr=True).status("drawing ..."):
        versions = {name: version(name) for name in ("discreet", "numpy", "scikit-learn")} | {
            "Python": platform.python_version()
        }
        flags = {"--beyond": beyond, "--quick": quick, "--peers": peers}
        command = " ".join(["python -m reproduction", *(flag for flag, given in flags.items() if given)])
        date = datetime.now(UTC).date().isoformat()
        write = write_beyond_page if beyond else write_results_page
        page = write(fits, folder, Facts(command, date, versions, time.monotonic() - started))
    console.print(f"{len(fits):,} fits; read {on_one_line(page)}")


main = Commands(commands={"reproduction": reproduce})

if __name__ == "__main__":
    main(["reproduction", *sys.argv[1:]], prog_name="python -m")

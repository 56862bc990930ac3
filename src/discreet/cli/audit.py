"""``discreet audit``."""

import time
from typing import TYPE_CHECKING, Any

import click

from . import common
from .terminal import open_console, say

if TYPE_CHECKING:
    from ..audit import Report


@click.command()
@common.flag("--quick", help="A small part of it, in two to five minutes.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), help="How many processes to use; by default as many as there are cores."
)
@common.flag("--where", help="Also show the worst pair of tables for each line.")
@common.as_json_option
def audit(quick: bool, jobs: int | None, where: bool, as_json: bool) -> None:
    """Check the promises of this package: why should you believe an epsilon?

    Three levels: the exact loss of single choices on all small neighbouring tables; the exact loss of whole fits, from the
    learners' own code; and what many real fits show. All tables are made up; no data are needed.

    The exit status is 1 if something that is proved does not hold, 70 if the audit itself failed. Claims of the published
    methods that do not hold are reported, and change nothing about the status.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from ..audit import audit as run_audit

    started = time.monotonic()
    columns = (TextColumn("checking"), BarColumn(), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    with Progress(*columns, console=open_console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        report = run_audit(quick, jobs, lambda done, total: bar.update(task, completed=done, total=total))
    if as_json:
        say(report.to_json())
    else:
        _show_audit(report, where, time.monotonic() - started)
    if not report.ok:
        raise SystemExit(1)


def _show_audit(report: "Report", where: bool, seconds: float) -> None:
    from rich.text import Text

    console = open_console()
    colours = {"BROKEN": "bold red", "REFUTED": "bold yellow"}
    heading, *lines = str(report).split("\n")
    console.print(Text(heading, "bold"), soft_wrap=True)
    listed: list[Any] = [*report.rows, *report.checks]
    for line, found in zip(lines, listed, strict=True):
        console.print(Text(line, colours.get(found.verdict, "")), soft_wrap=True)
        if where and (pair := getattr(found, "where", "")):
            console.print(Text(f"  {pair}", "dim"))
    summary = "Everything that is proved held." if report.ok else "SOMETHING THAT IS PROVED DID NOT HOLD."
    console.print(Text(f"\n{summary}", "bold green" if report.ok else "bold red"), Text(f"({seconds:.0f} s)", "dim"))
    console.print(
        "Numbers are epsilons, in brackets deltas: what is claimed; the worst that was found, exactly; and what fits showed, at "
        "99.9 % confidence. A chance is that of so large a difference between draws and the exact distribution. "
        "docs/audit.md explains each line.",
        style="dim",
    )

"""``discreet audit``."""

import time
from typing import TYPE_CHECKING

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
    from rich.table import Table
    from rich.text import Text

    console = open_console()
    titles = {
        "one choice": "1. One choice: exact, on all small neighbouring nodes with two rules, and extreme ones with many",
        "whole fit": "2 and 3. Whole fits: exact, from the learner's own code; and observed in real fits",
        "as published": "What the authors of the published methods claim for whole fits",
    }
    colours = {"held": "green", "proved": "green", "BROKEN": "bold red", "REFUTED": "bold yellow"}
    _, *lines = report.table()
    for level, title in titles.items():
        table = Table(
            "", "claimed", "exact", "observed", "pairs", "fits", "", title=title, title_justify="left", box=None
        )
        for column in table.columns[1:]:
            column.no_wrap = True
        for (_, *cells, word), row in zip(lines, report.rows, strict=True):
            if row.level == level:
                table.add_row(*cells, Text(word, colours.get(word, "")))
                if where:
                    table.add_row(Text(f"  {row.where}", "dim"))
        if level != "whole fit":
            table.columns[3].header = table.columns[5].header = ""
        console.print(table, "")
    table = Table("", "chance", "draws", "", title="Samplers and statements", title_justify="left", box=None)
    for check in report.checks:
        chance = "" if check.chance is None else f"{check.chance:.2g}"
        draws = f"{check.draws:,}" if check.draws else ""
        table.add_row(check.what, chance, draws, Text(check.verdict, colours[check.verdict]))
    console.print(table, "")
    summary = "Everything that is proved held." if report.ok else "SOMETHING THAT IS PROVED DID NOT HOLD."
    console.print(Text(summary, "bold green" if report.ok else "bold red"), Text(f"({seconds:.0f} s)", "dim"))
    console.print(
        "Numbers are epsilons, in brackets deltas: what is claimed; the worst that was found, exactly; and what fits showed, at "
        "99.9 % confidence. A chance is that of so large a difference between draws and the exact distribution. "
        "docs/audit.md explains each line.",
        style="dim",
    )

"""The command line. Heavy imports happen inside the commands, so that ``--help`` answers at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import __version__

if TYPE_CHECKING:
    from rich.text import Text

    from .evaluation.audit import Report
    from .rules import RuleList


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="discreet %(version)s")
def main() -> None:
    """Learn rule lists that people can read."""


# (question, minimum support of the paper's private learner: a public number, chosen without a look at the records)
QUESTIONS = {
    "COMPAS": ("will a defendant be charged again?", 300),
    "Adult": ("does a person earn more than $50,000 a year?", 2000),
    "German Credit": ("is a loan a good risk?", 100),
}


@main.command()
@click.option("--epsilon", "-e", type=float, default=1.0, show_default=True, help="Budget of the private lists.")
@click.option(
    "--max-length", "-k", type=click.IntRange(min=1), default=5, show_default=True, help="Rules, with the default."
)
@click.option("--max-card", type=click.IntRange(1, 3), default=1, show_default=True, help="Literals in a rule.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Of the split into training and test records.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def demo(epsilon: float, max_length: int, max_card: int, seed: int, as_json: bool) -> None:
    """Learn rule lists on each of the three datasets, with and without privacy, and show them."""
    import json

    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text
    from sklearn.model_selection import train_test_split

    from .datasets import load_adult, load_compas, load_german_credit
    from .estimators import GreedyRuleListClassifier
    from .optimal_estimators import DPOptimalRuleListClassifier
    from .private_estimators import DPGreedyRuleListClassifier

    console, progress = Console(), Console(stderr=True)
    results = []
    statement = ""
    loaders = {"COMPAS": load_compas, "Adult": load_adult, "German Credit": load_german_credit}
    for name, (question, support) in QUESTIONS.items():
        with progress.status(f"{name}: loading and learning ..."):
            data = loaders[name](sensitive=False)
            train, test, y_train, y_test = train_test_split(data.data, data.target, train_size=0.8, random_state=seed)
            common: dict[str, Any] = {"max_length": max_length, "max_card": max_card, "schema": data.schema}
            models = {
                f"drawn whole, epsilon {epsilon:g}": DPOptimalRuleListClassifier(epsilon, **common),
                f"the paper's sm-laplace, epsilon {epsilon:g}": DPGreedyRuleListClassifier(
                    "sm-laplace", epsilon, delta=1e-9, min_support=support, **common
                ),
                "GreedyRL, no privacy": GreedyRuleListClassifier(**common),
            }
            try:
                for model in models.values():
                    model.fit(train, y_train)
            except ValueError as error:
                raise click.UsageError(str(error)) from None
        body = Text(f"{len(data.data):,} records, {len(data.feature_names)} columns, sensitive ones left out.", "dim")
        for title, model in models.items():
            scores = {"train": model.score(train, y_train), "test": model.score(test, y_test)}
            accuracy = f"accuracy {scores['train']:.3f} training, {scores['test']:.3f} test"
            body.append_text(
                Text.assemble("\n\n", (title, "bold underline"), f"   {accuracy}\n\n", _coloured(model.rule_list_))
            )
            result = {
                "dataset": name,
                "learner": title,
                "accuracy": scores,
                "model": json.loads(model.rule_list_.to_json()),
            }
            if hasattr(model, "privacy_"):
                statement = statement or str(model.privacy_)
                body.append_text(Text(f"\n\nproved: {model.privacy_.proved}", "green"))
                result["privacy"] = json.loads(model.privacy_.to_json())
            results.append(result)
        if not as_json:
            console.print(Panel(body, title=f"[bold]{name}[/bold]: {question}", title_align="left", padding=(1, 2)))
    if as_json:
        click.echo(json.dumps(results, indent=1))
    else:
        console.print(Panel(statement, title="What the first list promises", title_align="left", padding=(1, 2)))
        console.print(
            "Accuracies are measured on records that we may show; on private ones they are not covered.", style="dim"
        )


@main.command()
@click.option("--quick", is_flag=True, help="A small part of it, in a minute or two.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes to use; all cores by default.")
@click.option("--where", is_flag=True, help="Also show the worst pair of tables of each line.")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def audit(quick: bool, jobs: int | None, where: bool, as_json: bool) -> None:
    """Check the promises of this package: why should you believe an epsilon?

    Three levels: the exact loss of single choices on all small neighbouring tables; the exact loss of whole fits, from the
    learners' own code; and what many real fits show. All tables are made up; no data are needed.

    The exit status is 1 if something that is proved does not hold, 2 if the audit itself failed. Claims of the published
    methods that do not hold are reported, and change nothing about the status.
    """
    import time

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from .evaluation.audit import audit as run_audit

    started = time.monotonic()
    columns = (TextColumn("checking"), BarColumn(), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        try:
            report = run_audit(quick, jobs, lambda done, total: bar.update(task, completed=done, total=total))
        except Exception:
            bar.stop()
            Console(stderr=True).print_exception()
            raise SystemExit(2) from None
    if as_json:
        click.echo(report.to_json())
    else:
        _show_audit(report, where, time.monotonic() - started)
    if not report.ok:
        raise SystemExit(1)


def _show_audit(report: "Report", where: bool, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
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
        table.add_row(
            check.what, chance, f"{check.draws:,}" if check.draws else "", Text(check.verdict, colours[check.verdict])
        )
    console.print(table, "")
    summary = "Everything that is proved held." if report.ok else "SOMETHING THAT IS PROVED DID NOT HOLD."
    console.print(Text(summary, "bold green" if report.ok else "bold red"), Text(f"({seconds:.0f} s)", "dim"))
    console.print(
        "Numbers are epsilons, in brackets deltas: what is claimed; the worst that was found, exactly; and what fits showed, at "
        "99.9 % confidence. A chance is that of so large a difference between draws and the exact law. docs/audit.md explains "
        "each line.",
        style="dim",
    )


@main.command()
@click.option("--quick", is_flag=True, help="A small part of the grid, in a minute or so.")
@click.option(
    "--folder",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Where results go; a run that was stopped goes on there.",
)
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes to use; all cores by default.")
@click.option(
    "--peers",
    is_flag=True,
    help="Also classifiers of other libraries (diffprivlib, InterpretML), installed once into an environment in the folder.",
)
def reproduce(quick: bool, folder: Path, jobs: int | None, peers: bool) -> None:
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

    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table

    from .experiments.comparisons import compared
    from .experiments.page import Facts
    from .experiments.peers_environment import PeersError, environment
    from .experiments.reproduce import all_units
    from .experiments.reproduce import reproduce as run_experiments
    from .experiments.story import write_story
    from .experiments.tables import comparison

    python = None
    if peers:
        try:
            with Console(stderr=True).status("making an environment for other libraries, once ..."):
                python = environment(folder / "peers-environment")
        except PeersError as error:
            raise click.ClickException(str(error)) from None
    folder = folder / ("quick" if quick else "full")
    started = time.monotonic()
    columns = (TextColumn("fits"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=sum(unit.fits for unit in all_units(quick, peers)))
        try:
            fits = run_experiments(folder, quick, jobs, lambda done: bar.advance(task, done), python)
        except PeersError as error:
            raise click.ClickException(str(error)) from None
    numbers = comparison(compared(fits))
    table = Table(*numbers.header, box=None)
    for row in numbers.rows:
        table.add_row(*row)
    console = Console()
    console.print(table)
    with Console(stderr=True).status("drawing ..."):
        versions = {name: version(name) for name in ("discreet", "numpy", "scikit-learn")} | {
            "Python": platform.python_version()
        }
        command = "discreet reproduce" + (" --quick" if quick else "") + (" --peers" if peers else "")
        date = datetime.now(UTC).date().isoformat()
        page = write_story(fits, folder, Facts(command, date, versions, time.monotonic() - started))
    console.print(f"{len(fits):,} fits; read {page}")


LABEL_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


def _coloured(rule_list: "RuleList") -> "Text":
    """A rule list in colour, a line a rule, with the share of its label among the (noisily) counted records it captured."""
    from rich.text import Text

    lines: list[Text] = []
    for i, rule in enumerate(rule_list):
        last = i == len(rule_list) - 1
        opening = ("always " if last and i == 0 else "else " if last else "if " if i == 0 else "else if ", "bold")
        condition: list[Any] = [] if last else [" and ".join(map(str, rule.antecedent)), (" then ", "bold")]
        where = rule_list.classes.index(rule.label)
        label = (str(rule.label), f"bold {LABEL_COLOURS[where % len(LABEL_COLOURS)]}")
        line = Text.assemble(opening, *condition, label)
        counts = [max(0.0, c) for c in rule.counts or ()]
        if (total := sum(counts)) > 0:
            line.append(f"   {counts[where] / total:.0%} of {total:,.0f}", "dim")
        lines.append(line)
    return Text("\n").join(lines)

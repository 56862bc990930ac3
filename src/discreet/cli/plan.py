"""``discreet plan``: which model, which epsilon, and what does one get?"""

import os
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import PrivacyWarning
from . import common
from .options import KINDS, Kinds, Learner, chosen, options_of
from .table_notes import PUBLIC, check_not_private
from .terminal import on_one_line, open_console

if TYPE_CHECKING:
    from ..evaluation.recommendation import Recommendation
    from ..schema import Schema

COMPARE = "compare"
COMPARED: tuple[tuple[Learner, dict[str, Any]], ...] = (
    (KINDS[0], {}),
    (KINDS[1], {}),
    (KINDS[1], {"stages": (2, 2)}),
    (KINDS[2], {}),
)
NOT_PLANNED = "epsilon counts_share exclude records_per_person time_limit verbose rules_per_draw".split()
FITS = click.IntRange(min=2)


class _Planned(Kinds):
    """A command for each kind of model. Without a kind they are compared, by a command that is not listed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """With the command, if no kind is named."""
        first = args[0] if args else "-"
        if first not in (*self.commands, "-h", "--help") and (first.startswith("-") or os.path.exists(first)):
            args = [COMPARE, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Those without a kind."""
        self.commands[COMPARE].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=_Planned, options_metavar="", subcommand_metavar="[KIND] [OPTIONS] [STANDIN]")
def plan() -> None:
    """Which model, which epsilon, and what do I get? Answered before anything is spent.

    From public numbers alone (--schema and --records), by how models do on public tables like yours. With STANDIN, a PUBLIC table
    like the private one (an older release, a sample that may be shown, synthetic records), models are measured on that. Name a
    KIND of model to plan that one alone; each has options of its own.
    """


for each in (None, *KINDS):
    what = f"Plan {each.help}." if each else "Recommend a kind of model and an epsilon."

    @plan.command(
        each.name if each else COMPARE,
        help=f"{what} STANDIN is a public table like the private one: see `discreet plan --help`.",
        short_help=what,
        hidden=each is None,
    )
    @common.schema_option(help="What is public about the private table.")
    @click.option("--records", "-n", type=common.SOME, metavar="N", help="About how many records it has.")
    @common.target_option(help="The column to predict, if the schema does not name it.")
    @options_of(each or KINDS[0], but=NOT_PLANNED if each else [n for n in KINDS[0].options if n != "class_weight"])
    @common.option_with_default("--repeats", type=FITS, metavar="N", default=5, help="Fits on STANDIN at each epsilon.")
    @common.ledger_option(help="Also say how many such models still fit on this ledger.")
    @common.out_option(help="Write the curve over epsilon as an SVG picture.")
    @common.table_options("standin", common.FILE, required=False)
    @PUBLIC
    @common.force_option
    @common.flag("--verbose", "-v", help="Explain the numbers, and show what else is known.")
    @common.as_json_option
    def _command(kind: Learner | None = each, **options: Any) -> None:
        _plan(kind, **options)


def _plan(
    kind: Learner | None,
    standin: common.Given | None,
    schema_file: Path | None,
    records: int | None,
    target: str | None,
    repeats: int,
    ledger_file: Path | str | None,
    out: Path | None,
    public_table: bool,
    force: bool,
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> None:
    planned, parameters = chosen(kind or KINDS[0], options)
    schema = common.load_schema(schema_file)
    place = None if standin is None else standin.place
    common.check_outputs([out], [place, schema_file, ledger_file], force)
    if place is not None:
        check_not_private(place, public_table)
    if place is None and records is None:
        raise click.UsageError(
            "say about how many records the table has (--records 10000), or give a public stand-in table"
        )
    classes, weights = schema.classes or (0, 1), parameters.get("class_weight", {})
    every = [(planned, parameters)] if kind else [(one, how | parameters) for one, how in COMPARED]
    models = {_name(*each): each for each in every if each[1].keys() <= each[0].options.keys()}
    from ..evaluation.planning import EPSILONS, on_similar, planning_chart
    from ..evaluation.recommendation import Recommendation

    ledger = common.open_ledger(ledger_file)
    learn = {name: partial(one.make, schema=schema, **given) for name, (one, given) in models.items()}
    plans = {name: {e: make(epsilon=e).plan() for e in EPSILONS} for name, make in learn.items()}
    X, y = (None, []) if standin is None else _labelled(standin, schema, common.target_of(schema, target))
    n = records or len(y)
    found = Recommendation(
        n,
        kind is None,
        plans,
        {e: None if weights else on_similar(n, len(schema.used), len(classes), e) for e in EPSILONS},
        weights,
    )
    if ledger is not None:
        found.room = {
            name: {e: ledger.room_for(p.statement.costs) for e, p in of.items()} for name, of in plans.items()
        }
    if standin is not None:
        _measure(found, X, y, learn, repeats, n / len(y) / 0.7 if records else 1.0)
    epsilon, name = found.chosen
    called = models[name][0].called
    if out is not None:
        if standin is None and found.expected[name][epsilon].loss is None:
            raise click.UsageError(
                "--out draws accuracy, and there is no bound on that of a card, of a greedy model, of a tree in --stages or by "
                "--criterion gini, nor with --class-weight: give a public stand-in table to measure on"
            )
        chart = planning_chart([*found.expected[name].values()], found.without_privacy.get(name), called)
        common.write_new(out, chart, force)
    if as_json:
        return common.say_json(found.to_dict(called))
    from rich.table import Table

    console, columns = open_console(), found.columns()
    table = Table(*columns, box=None)
    for at, *cells in zip(*columns.values(), strict=True):
        table.add_row(at, *cells, style="bold" if at == f"{epsilon:g}" else "")
    console.print(found.headline, style="bold", highlight=False)
    console.print(table, *found.lines(classes), sep="\n", highlight=False)
    if schema.released:
        paid = float(sum(one.epsilon for one in schema.released))
        console.print(
            f"What the schema cost, epsilon = {paid:.6g}, comes on top; a model's statement counts both.",
            highlight=False,
        )
    if verbose:
        console.print(*found.details(), sep="\n", highlight=False)
    if out is not None:
        console.print(f"The curve: {on_one_line(out)}")


def _name(kind: Learner, parameters: Mapping[str, Any]) -> str:
    """As results on public tables call it."""
    stages = parameters.get("stages")
    return f"tree in stages {', '.join(map(str, stages))}" if stages else kind.called


def _labelled(standin: common.Given, schema: "Schema", target: str) -> tuple[Any, Any]:
    """The records of a stand-in that have a class of the schema, and their classes."""
    import numpy as np

    from ..sources.memory import class_numbers

    X, y = standin.records(schema, target)
    classes = schema.classes or (0, 1)
    numbers = class_numbers(y, classes, len(X))
    known = numbers >= 0
    labels = np.array(classes)[numbers[known]]
    if len(np.unique(labels)) < 2:
        raise ValueError(f"{standin.place.name} has no records of two of the schema's classes; a stand-in needs them")
    return X[known], labels


def _measure(found: "Recommendation", X: Any, y: Any, learn: Mapping[str, Any], repeats: int, times: float) -> None:
    from rich.progress import Progress

    with Progress(console=open_console(stderr=True), transient=True) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # seeds, and no privacy at all: these records are public
        fits = repeats * sum(1 + len(rows) for rows in found.expected.values())
        task = bar.add_task("measuring on the stand-in", total=fits)
        found.measure_on(X, y, learn, repeats, times, lambda: bar.advance(task))

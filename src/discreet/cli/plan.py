"""``discreet plan``: which epsilon?"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .._utils.errors import PrivacyWarning
from . import common
from .options import KINDS, Kind, Kinds, chosen, options_of
from .table_notes import PUBLIC, check_not_private
from .terminal import as_text, on_one_line, open_console

if TYPE_CHECKING:
    from ..evaluation.planning import OnSimilar
    from ..schema import Schema

IN_STAGES = "tree in stages 2, 2"
SIMILAR = {"list": "a list", "tree": "a tree", IN_STAGES: "in stages", "card": "a card"}
NOT_PLANNED = (
    "epsilon",
    "counts_share",
    "class_weight",
    "exclude",
    "records_per_person",
    "time_limit",
    "verbose",
    "joint",
)
WORDS = {  # what an attacker's odds may change by: e^epsilon
    0.01: "the odds change by a hundredth: hides a person nearly perfectly, and needs many records",
    0.1: "the odds change by a tenth: strong",
    1.0: "the odds change by a factor of less than three: good",
    10.0: "the odds may change by a factor of 22,000: weak, even though others use as much",
}

OF_CARDS = (
    "The noise is that in the class counts which points come from, in 95 of 100 of them, and what it makes of the points of a "
    "value that a tenth of the records have, evenly in both classes; 10 points double the odds. It grows with the number of "
    "columns: fewer of them (--max-columns, --exclude) have less noise each. What noise could have made is drawn towards 0."
)
WHICH_MODEL = (
    "Which model? A list is the shortest to read, a tree says which conditions belong together, a card gives points for each of "
    "its columns and ranks records by their total. If one class is rare, accuracy hardly moves: look at the ranking. To rank "
    "records, take a card; to find more of a rare class, a list or a tree with --class-weight. On a public stand-in you can "
    "compare them: run `discreet plan` with list, tree and card."
)
ON_SIMILAR = (
    "This is how far models got on public tables, on the way from the accuracy of always guessing the most frequent class (0 %) "
    "to that of gradient boosting without privacy (100 %): the median, and in brackets the middle half, of up to nine tables "
    "that are nearest in columns, classes and records, at as many records times epsilon. Trees are of depth 3, or in two stages "
    "of depth 2. Yours may differ: docs/tables.md has each table."
)
RANKING = (
    "And this is how well they ranked records: medians of the area under the ROC curve, which is 0.5 for a coin; 'boosting' has "
    "no privacy."
)


@click.group(cls=Kinds)
def plan() -> None:
    """Choose an epsilon before anything is spent: what an attacker can learn, and what it costs in accuracy.

    From public numbers alone (--schema and --records) it says how much accuracy is lost at most. With STANDIN, a PUBLIC table
    like the private one (an older release, a sample that may be shown, a synthetic one), accuracy is measured on it. With
    --ledger it says how many more of such models there is room for.
    """


def _command(kind: Kind) -> click.Command:
    @click.command(
        kind.name,
        help=f"Plan {kind.help}. STANDIN is a public table like the private one: see `discreet plan --help`.",
        short_help=f"Plan {kind.help}.",
    )
    @common.schema_option(help="What is public about the table.")
    @click.option("--records", "-n", type=click.IntRange(min=1), help="About how many records the private table has.")
    @common.target_option(help="The column to predict, if the schema does not name it.")
    @options_of(kind, but=NOT_PLANNED)
    @click.option("--repeats", type=click.IntRange(min=2), default=5, show_default=True, help="Fits at each epsilon.")
    @common.ledger_option(help="Say how many such models this ledger still takes.")
    @common.out_option(help="Write the curve as an SVG picture.")
    @common.table_options("standin", common.FILE, required=False)
    @PUBLIC
    @common.force_option
    @common.as_json_option
    def command(**options: Any) -> None:
        _plan(kind, **options)

    return command


for _kind in KINDS:
    plan.add_command(_command(_kind))


def _plan(
    kind: Kind,
    standin: common.Given | None,
    schema_file: Path | None,
    records: int | None,
    target: str | None,
    repeats: int,
    ledger_file: Path | str | None,
    out: Path | None,
    public_table: bool,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    planned, parameters = chosen(kind, options)
    model = planned.called
    schema = common.load_schema(schema_file)
    place = None if standin is None else standin.place
    common.check_outputs([out], [place, schema_file, ledger_file], force)
    if place is not None:
        check_not_private(place, public_table)
    if place is None and records is None:
        raise click.UsageError(
            "say about how many records the table has (--records 10000), or give a public stand-in table"
        )
    with common.errors_as_messages():
        learn = partial(planned.make, schema=schema, **parameters)
        room = _room(ledger_file, learn)
        count = _bounds(planned, schema, learn, parameters)
        expected = count(records=records or 1)
        if standin is None and expected[0].loss is None and out is not None:
            raise click.UsageError(
                "--out draws accuracy, and there is no bound on that of a card, of a greedy model, of a tree in --stages or by "
                "--criterion mass: give a public stand-in table to measure on"
            )
        measured = None
        if standin is not None:
            measured = _measured(standin, schema, common.target_of(schema, target), repeats, learn)
            records = records or measured.records
            means = measured.accuracies
            expected = [
                replace(e, accuracy=means[e.epsilon][0], error=means[e.epsilon][1]) for e in count(records=records)
            ]
    assert records is not None
    from ..evaluation.planning import on_similar, planning_chart

    alike = [on_similar(records, len(schema.used), len(schema.classes or (0, 1)), e.epsilon) for e in expected]
    best = None if measured is None else measured.accuracies[0.0][0]
    if out is not None:
        common.write_new(out, planning_chart(expected, best, model), force)
    if as_json:
        found: dict[str, Any] = {"records": records, "model": model, "without privacy": best}
        found |= {} if measured is None else {"most frequent class": measured.majority}
        found |= {} if room is None else {"ledger has room for": room}
        rows = [vars(e) | {"on similar tables": s and vars(s)} for e, s in zip(expected, alike, strict=True)]
        common.say_json(found | {"expected": rows})
        return
    notes = [OF_CARDS, _columns_of_cards(expected)] if planned.name == "card" else []
    notes += [_takes(schema, parameters)] if planned.name == "tree" else []
    _show(expected, alike, records, measured, model, room, notes)
    if out is not None:
        open_console().print(f"The curve: {on_one_line(out)}")


class _Measured(NamedTuple):
    """On a stand-in: how many records it has, the share of the most frequent class, and the mean accuracies and their errors."""

    records: int
    majority: float
    accuracies: dict[float, tuple[float, float]]  # by epsilon; 0 stands for no privacy


def _bounds(
    planned: Kind, schema: "Schema", learn: Callable[..., Any], parameters: dict[str, Any]
) -> Callable[..., Any]:
    """What public numbers say, given the number of records."""
    from ..evaluation.planning import EPSILONS, Expected, attackers_chance, expect, expect_cards, expect_trees

    bounded = {name: value for name, value in parameters.items() if name not in ("monotone", "forbid")}
    if bounded != parameters or planned.name not in ("list", "tree"):
        learn().promise()
    if planned.name == "card":
        shares = partial(_shares_of_card, learn)
        return partial(expect_cards, schema, shares=shares, tree_depth=parameters.get("tree_depth", 0))
    if planned.name in ("list", "tree"):
        return partial(expect if planned.name == "list" else expect_trees, schema, **bounded)
    return lambda records: [Expected(e, attackers_chance(e), None) for e in EPSILONS]


def _shares_of_card(learn: Callable[..., Any], epsilon: float) -> tuple[int, float]:
    """How many columns give points, and what the class counts of each of them get: the first counts that are paid for."""
    from ..accounting.costs import DISCRETE_LAPLACE

    counts = next(cost for cost in learn(epsilon=epsilon).promise().costs if cost.kind == DISCRETE_LAPLACE)
    return counts.times, float(counts.epsilon)


def _room(path: Path | str | None, learn: Callable[..., Any]) -> dict[float, int] | None:
    """How many more models the ledger takes, at each epsilon. It follows from public numbers."""
    from ..evaluation.planning import EPSILONS

    ledger = common.open_ledger(path)
    return None if ledger is None else {e: ledger.room_for(learn(epsilon=e).promise().costs) for e in EPSILONS}


def _measured(
    standin: common.Given, schema: "Schema", target: str, repeats: int, learn: Callable[..., Any]
) -> _Measured:
    """Accuracies of models that are learned from a part of the stand-in."""
    import numpy as np
    from rich.progress import Progress

    from ..evaluation.planning import EPSILONS, measure
    from ..sources.memory import class_numbers

    X, y = standin.records(schema, target)
    classes = schema.classes or (0, 1)
    numbers = class_numbers(y, classes, len(X))
    known = numbers >= 0
    X, labels = X[known], np.array(classes)[numbers[known]]
    if len(np.unique(labels)) < 2:
        raise ValueError(f"{standin.place.name} has no records of two of the schema's classes; a stand-in needs them")
    with Progress(console=open_console(stderr=True), transient=True) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # seeds, and no privacy at all: these records are public
        task = bar.add_task("measuring on the stand-in", total=repeats * (len(EPSILONS) + 1))
        means = measure(X, labels, learn, repeats, lambda: bar.advance(task))
    return _Measured(len(X), float(np.unique(labels, return_counts=True)[1].max() / len(labels)), means)


def _show(
    expected: "list[Any]",
    alike: "list[OnSimilar | None]",
    records: int,
    measured: _Measured | None,
    model: str,
    room: dict[float, int] | None,
    notes: list[str],
) -> None:
    from rich.table import Table

    from ..evaluation.planning import ExpectedOfCards
    from ..models.display.wording import bound

    console = open_console()
    bounded = expected[0].loss is not None
    columns = {
        "epsilon": [f"{e.epsilon:g}" for e in expected],
        "attacker may become this sure": [bound(e.attacker) for e in expected],
        "": ["█" * round(12 * (e.attacker - 0.5) / 0.5) or "▏" for e in expected],
    }
    if bounded:
        columns["accuracy lost at most"] = ["all" if e.loss >= 0.5 else f"{e.loss:.2%}" for e in expected]
    if measured is not None:
        columns["accuracy, measured"] = [f"{e.accuracy:.3f} ± {2 * e.error:.3f}" for e in expected]
    if room is not None:
        columns[f"more {model}s in the ledger"] = [f"{room[e.epsilon]:,}" for e in expected]
    if isinstance(expected[0], ExpectedOfCards):
        columns["noise in a count"] = [f"± {e.noise:,}" for e in expected]
        columns["in points"] = [f"± {e.points:,.0f}" if e.points >= 1 else f"± {e.points:.1f}" for e in expected]
    table = Table(*columns, box=None)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    console.print(table)
    if measured is not None:
        size, best = measured.records, measured.accuracies[0.0][0]
        console.print(
            f"Without privacy: {best:.3f}; always the most frequent class: {measured.majority:.3f}. Measured by learning from "
            f"70 % of the stand-in's {size:,} records. How good a {model} is depends on epsilon times the number of records: "
            f"what was measured at epsilon 1 is about what to expect at epsilon {0.7 * size / records:.2g} of "
            f"{records:,} records."
        )
    for epsilon, words in WORDS.items():
        console.print(" ", as_text(f"{epsilon:g}", "bold"), f" {words}")
    for note in (*notes, WHICH_MODEL):
        console.print(note)
    epsilons = [e.epsilon for e in expected]
    shares = Table("epsilon", *SIMILAR.values(), box=None)
    areas = Table("epsilon", *SIMILAR.values(), "boosting", box=None)
    for epsilon, found in zip(epsilons, alike, strict=True):
        cells = [_share(*found.shares[kind]) for kind in SIMILAR] if found else ["no table is alike"]
        shares.add_row(f"{epsilon:g}", *cells)
        if found:
            reached = [*(found.areas[kind] for kind in SIMILAR), found.boosted_area]
            areas.add_row(f"{epsilon:g}", *(f"{area:.2f}" for area in reached))
    console.print(shares, ON_SIMILAR, areas, RANKING, sep="\n")
    if nearest := next((s.nearest for e, s in zip(epsilons, alike, strict=True) if s and e >= 1.0), None):
        console.print(f"The nearest at epsilon 1 or above: {', '.join(nearest[:5])}.")
    same = "tree of the same depth" if model == "tree" else "list of the same length"
    lost = f"What is lost at most is against the best {same} on the same records, in 95 of 100 fits, whatever the records are. "
    console.print(
        f"The attacker knows everything but whether one person is among about {records:,} records, and thinks it as likely as "
        f"not. {lost if bounded else ''}Several models from one table add up: "
        f"{'divide by their number.' if room is None else 'the ledger counts.'}",
        style="dim",
    )


def _columns_of_cards(expected: "list[Any]") -> str:
    """How many columns give points: where there are many, that follows from epsilon."""
    if len({e.columns for e in expected}) == 1:
        return f"Columns that give points: {expected[0].columns} at each epsilon."
    each = ", ".join(f"{e.columns} at {e.epsilon:g}" for e in expected)
    return f"Columns that give points: {each}. With many records more of them may be better: --max-columns."


def _takes(schema: "Schema", parameters: dict[str, Any]) -> str:
    """How long the sums of a tree take, by public numbers, as `discreet fit --verbose` says it."""
    from ..estimators.feasibility import tell_trees
    from ..rules.candidates import Candidates

    tests, classes = len(Candidates.of_tests(schema)), len(schema.classes or (0, 1))
    depths = parameters.get("stages") or [parameters.get("max_depth", 3)]
    return tell_trees(tests, depths, classes, parameters.get("criterion", "accuracy"))


def _share(low: float, middle: float, high: float) -> str:
    return f"{max(0.0, middle):.0%} ({max(0.0, 100 * low):.0f} to {max(0.0, 100 * high):.0f})"

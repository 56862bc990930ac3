"""``discreet plan``: which epsilon?"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import PrivacyWarning
from . import common
from .options import KINDS, Kind, Kinds, chosen, options_of
from .table_notes import PUBLIC, check_not_private
from .terminal import as_text, on_one_line, open_console

if TYPE_CHECKING:
    from ..schema import Schema

IN_STAGES = "tree in stages 2, 2"
SIMILAR = {"list": "a list", "tree": "a tree", IN_STAGES: "in stages", "card": "a card"}
NOT_PLANNED = "epsilon counts_share class_weight exclude records_per_person time_limit verbose rules_per_draw".split()
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


for each in KINDS:

    @plan.command(
        each.name,
        help=f"Plan {each.help}. STANDIN is a public table like the private one: see `discreet plan --help`.",
        short_help=f"Plan {each.help}.",
    )
    @common.schema_option(help="What is public about the table.")
    @click.option("--records", "-n", type=common.SOME, help="About how many records the private table has.")
    @common.target_option(help="The column to predict, if the schema does not name it.")
    @options_of(each, but=NOT_PLANNED)
    @common.option_with_default("--repeats", type=click.IntRange(min=2), default=5, help="Fits at each epsilon.")
    @common.ledger_option(help="Say how many such models this ledger still takes.")
    @common.out_option(help="Write the curve as an SVG picture.")
    @common.table_options("standin", common.FILE, required=False)
    @PUBLIC
    @common.force_option
    @common.as_json_option
    def _command(kind: Kind = each, **options: Any) -> None:
        _plan(kind, **options)


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
    schema = common.load_schema(schema_file)
    place = None if standin is None else standin.place
    common.check_outputs([out], [place, schema_file, ledger_file], force)
    if place is not None:
        check_not_private(place, public_table)
    if place is None and records is None:
        raise click.UsageError(
            "say about how many records the table has (--records 10000), or give a public stand-in table"
        )
    from ..evaluation.planning import EPSILONS, on_similar, planning_chart

    found: dict[str, Any] = {"records": records, "model": planned.called, "without privacy": None}
    learn = partial(planned.make, schema=schema, **parameters)
    ledger = common.open_ledger(ledger_file)
    limited = "monotonic_cst" in parameters or "forbid" in parameters
    needed = ledger is not None or limited or planned.name not in ("list", "tree")
    costs = {e: learn(epsilon=e).promise().costs for e in EPSILONS} if needed else {}
    count = _bounds(planned, schema, parameters, costs)
    expected, size = count(records=records or 1), 0
    if standin is None and expected[0].loss is None and out is not None:
        raise click.UsageError(
            "--out draws accuracy, and there is no bound on that of a card, of a greedy model, of a tree in --stages or by "
            "--criterion gini: give a public stand-in table to measure on"
        )
    if standin is not None:
        means, majority, size = _measured(standin, schema, common.target_of(schema, target), repeats, learn)
        found |= {"records": records or size, "without privacy": means[0.0][0], "most frequent class": majority}
        measured = {e: {"accuracy": accuracy, "error": error} for e, (accuracy, error) in means.items()}
        expected = [replace(e, **measured[e.epsilon]) for e in count(records=found["records"])]
    if ledger is not None:
        found["ledger has room for"] = {e: ledger.room_for(priced) for e, priced in costs.items()}
    public = found["records"], len(schema.used), len(schema.classes or (0, 1))
    alike = [on_similar(*public, e.epsilon) for e in expected]
    found["expected"] = [vars(e) | {"on similar tables": s and vars(s)} for e, s in zip(expected, alike, strict=True)]
    if out is not None:
        common.write_new(out, planning_chart(expected, found["without privacy"], planned.called), force)
    if as_json:
        common.say_json(found)
        return
    _show(found, size, _notes(planned, schema, parameters, expected))
    if out is not None:
        open_console().print(f"The curve: {on_one_line(out)}")


def _bounds(planned: Kind, schema: "Schema", parameters: dict[str, Any], costs: dict[float, Any]) -> Callable[..., Any]:
    """What public numbers say, given the number of records."""
    from ..evaluation.planning import expect, expect_cards, expect_no_bound, expect_trees

    if planned.name == "card":
        return partial(expect_cards, schema, costs=costs, tree_depth=parameters.get("tree_depth", 0))
    if planned.name in ("list", "tree"):
        bounded = {name: value for name, value in parameters.items() if name not in ("monotonic_cst", "forbid")}
        return partial(expect if planned.name == "list" else expect_trees, schema, **bounded)
    return expect_no_bound


def _measured(
    standin: common.Given, schema: "Schema", target: str, repeats: int, learn: Callable[..., Any]
) -> tuple[dict[float, tuple[float, float]], float, int]:
    """Mean accuracies and their errors on a stand-in, by epsilon, 0 for no privacy; its most frequent class; its size."""
    import numpy as np
    from rich.progress import Progress

    from ..evaluation.planning import EPSILONS, measure
    from ..sources.memory import class_numbers

    X, y = standin.records(schema, target)
    classes = schema.classes or (0, 1)
    numbers = class_numbers(y, classes, len(X))
    known = numbers >= 0
    X, labels = X[known], np.array(classes)[numbers[known]]
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2:
        raise ValueError(f"{standin.place.name} has no records of two of the schema's classes; a stand-in needs them")
    with Progress(console=open_console(stderr=True), transient=True) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # seeds, and no privacy at all: these records are public
        task = bar.add_task("measuring on the stand-in", total=repeats * (len(EPSILONS) + 1))
        means = measure(X, labels, learn, repeats, lambda: bar.advance(task))
    return means, float(counts.max() / len(labels)), len(X)


def _notes(planned: Kind, schema: "Schema", parameters: dict[str, Any], expected: list[Any]) -> list[str]:
    """What there is to say about such models."""
    if planned.name == "card":
        said = f"{expected[0].columns} at each epsilon."
        if len({e.columns for e in expected}) > 1:  # where there are many, it follows from epsilon
            each = ", ".join(f"{e.columns} at {e.epsilon:g}" for e in expected)
            said = f"{each}. With many records more of them may be better: --max-columns."
        return [OF_CARDS, f"Columns that give points: {said}", WHICH_MODEL]
    if planned.name != "tree":
        return [WHICH_MODEL]
    from ..estimators.feasibility import tell_trees
    from ..rules.candidates import Candidates

    tests, classes = len(Candidates.of_tests(schema)), len(schema.classes or (0, 1))
    depths = parameters.get("stages") or [parameters.get("max_depth", 3)]
    return [tell_trees(tests, depths, classes, parameters.get("criterion", "accuracy")), WHICH_MODEL]


def _show(found: dict[str, Any], size: int, notes: list[str]) -> None:
    """What ``--json`` has, for people. ``size`` is that of the stand-in."""
    from rich.table import Table

    from ..models.display.wording import bound

    console = open_console()
    rows, records, model, room = found["expected"], found["records"], found["model"], found.get("ledger has room for")
    best, bounded = found["without privacy"], rows[0]["loss"] is not None
    columns = {
        "epsilon": [f"{e['epsilon']:g}" for e in rows],
        "attacker may become this sure": [bound(e["attacker"]) for e in rows],
        "": ["█" * round(12 * (e["attacker"] - 0.5) / 0.5) or "▏" for e in rows],
    }
    if bounded:
        columns["accuracy lost at most"] = ["all" if e["loss"] >= 0.5 else f"{e['loss']:.2%}" for e in rows]
    if best is not None:
        columns["accuracy, measured"] = [f"{e['accuracy']:.3f} ± {2 * e['error']:.3f}" for e in rows]
    if room is not None:
        columns[f"more {model}s in the ledger"] = [f"{room[e['epsilon']]:,}" for e in rows]
    if "noise" in rows[0]:
        columns["noise in a count"] = [f"± {e['noise']:,}" for e in rows]
        columns["in points"] = [f"± {e['points']:,.{0 if e['points'] >= 1 else 1}f}" for e in rows]
    table = Table(*columns, box=None)
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*cells)
    console.print(table)
    if best is not None:
        console.print(
            f"Without privacy: {best:.3f}; always the most frequent class: {found['most frequent class']:.3f}. Measured by "
            f"learning from 70 % of the stand-in's {size:,} records. How good a {model} is depends on epsilon times the number "
            f"of records: what was measured at epsilon 1 is about what to expect at epsilon {0.7 * size / records:.2g} of "
            f"{records:,} records."
        )
    for epsilon, words in WORDS.items():
        console.print(" ", as_text(f"{epsilon:g}", "bold"), f" {words}")
    for note in notes:
        console.print(note)
    shares = Table("epsilon", *SIMILAR.values(), box=None)
    areas = Table("epsilon", *SIMILAR.values(), "boosting", box=None)
    alike = [(e["epsilon"], e["on similar tables"]) for e in rows]
    for epsilon, tables in alike:
        if not tables:
            shares.add_row(f"{epsilon:g}", "no table is alike")
        else:
            ends = [[max(0.0, 100 * end) for end in tables["shares"][kind]] for kind in SIMILAR]
            shares.add_row(f"{epsilon:g}", *(f"{middle:.0f}% ({low:.0f} to {high:.0f})" for low, middle, high in ends))
            reached = [*(tables["areas"][kind] for kind in SIMILAR), tables["boosted_area"]]
            areas.add_row(f"{epsilon:g}", *(f"{area:.2f}" for area in reached))
    console.print(shares, ON_SIMILAR, areas, RANKING, sep="\n")
    if nearest := next((tables["nearest"] for epsilon, tables in alike if tables and epsilon >= 1.0), None):
        console.print(f"The nearest at epsilon 1 or above: {', '.join(nearest[:5])}.")
    same = "tree of the same depth" if model == "tree" else "list of the same length"
    lost = f"What is lost at most is against the best {same} on the same records, in 95 of 100 fits, whatever the records are. "
    console.print(
        f"The attacker knows everything but whether one person is among about {records:,} records, and thinks it as likely as "
        f"not. {lost if bounded else ''}Several models from one table add up: "
        f"{'divide by their number.' if room is None else 'the ledger counts.'}",
        style="dim",
    )

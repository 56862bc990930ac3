"""``discreet plan``: which epsilon?"""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common import (
    FILE,
    NEW_FILE,
    as_json_option,
    check_outputs,
    csv_options,
    errors_as_messages,
    force_option,
    load_schema,
    say_json,
    target_of,
    write_new,
)
from .table_notes import PUBLIC, check_not_private
from .terminal import as_text, on_one_line, open_console

if TYPE_CHECKING:
    from ..evaluation.planning import Expected

WORDS = {  # what an attacker's odds may change by: e^epsilon
    0.01: "the odds change by a hundredth: hides a person nearly perfectly, and needs many records",
    0.1: "the odds change by a tenth: strong",
    1.0: "the odds change by a factor of less than three: good",
    10.0: "the odds may change by a factor of 22,000: weak, even though others use as much",
}


@click.command()
@click.argument("standin", type=FILE, required=False)
@click.option("--schema", "-s", "schema_file", type=FILE, help="What is public about the table.")
@click.option("--records", "-n", type=click.IntRange(min=1), help="About how many records the private table has.")
@click.option("--target", "-t", help="The column to predict, if the schema does not name it.")
@click.option("--max-length", "-k", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--max-card", type=click.IntRange(1, 3), default=1, show_default=True)
@click.option("--repeats", type=click.IntRange(min=2), default=5, show_default=True, help="Fits at each epsilon.")
@click.option("--out", "-o", type=NEW_FILE, help="Write the curve as an SVG picture.")
@csv_options
@PUBLIC
@force_option
@as_json_option
def plan(
    standin: Path | None,
    schema_file: Path | None,
    records: int | None,
    target: str | None,
    max_length: int,
    max_card: int,
    repeats: int,
    out: Path | None,
    delimiter: str | None,
    encoding: str,
    decimal: str,
    public_table: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Choose an epsilon before anything is spent: what an attacker can learn, and what it costs in accuracy.

    From public numbers alone (--schema and --records) it says how much accuracy is lost at most. With STANDIN, a PUBLIC table
    like the private one (an older release, a sample that may be shown, a synthetic one), accuracy is measured on it.
    """
    schema = load_schema(schema_file)
    check_outputs([out], [standin, schema_file], force)
    if standin is not None:
        check_not_private(standin, public_table)
    if standin is None and records is None:
        raise click.UsageError(
            "say about how many records the table has (--records 10000), or give a public stand-in table"
        )
    from ..evaluation.planning import expect

    with errors_as_messages():
        expected = expect(schema, records or 1, max_length=max_length, max_card=max_card)
        best: float | None = None
        size = 0
        if standin is not None:
            size, best, measured = _measured(
                standin, schema, target_of(schema, target), repeats, max_length, max_card, delimiter, encoding, decimal
            )
            records = records or size
            expected = [
                type(e)(e.epsilon, e.attacker, f.loss, *measured[e.epsilon])
                for e, f in zip(
                    expected, expect(schema, records, max_length=max_length, max_card=max_card), strict=True
                )
            ]
    assert records is not None
    if out is not None:
        from ..evaluation.planning_chart import planning_chart

        write_new(out, planning_chart(expected, best), force)
    if as_json:
        say_json({"records": records, "without privacy": best, "expected": [vars(e) for e in expected]})
    else:
        _show(expected, records, size, best, out)


def _measured(
    path: Path,
    schema: object,
    target: str,
    repeats: int,
    max_length: int,
    max_card: int,
    delimiter: str | None,
    encoding: str,
    decimal: str,
) -> tuple[int, float, dict[float, tuple[float, float]]]:
    import numpy as np
    from rich.progress import Progress

    from ..evaluation.planning import EPSILONS, measure
    from ..schema import Schema
    from ..sources.memory import class_numbers
    from .common import read_records

    assert isinstance(schema, Schema)
    X, y = read_records(path, schema, target, delimiter, encoding, decimal)
    classes = schema.classes or (0, 1)
    numbers = class_numbers(y, classes, len(X))
    known = numbers >= 0
    X, labels = X[known], np.array(classes)[numbers[known]]
    if len(np.unique(labels)) < 2:
        raise ValueError(f"{path.name} has no records of two of the schema's classes; a stand-in needs them")
    found: dict[float, list[float]] = {}
    with Progress(console=open_console(stderr=True), transient=True) as bar:
        task = bar.add_task("measuring on the stand-in", total=repeats * (len(EPSILONS) + 1))
        for epsilon, accuracy in measure(X, labels, schema, EPSILONS, repeats, max_length, max_card):
            found.setdefault(0.0 if math.isnan(epsilon) else epsilon, []).append(accuracy)
            bar.advance(task)
    means = {e: (float(np.mean(a)), float(np.std(a, ddof=1) / len(a) ** 0.5)) for e, a in found.items()}
    return len(X), means[0.0][0], means


def _show(expected: "list[Expected]", records: int, size: int, best: float | None, out: Path | None) -> None:
    from rich.table import Table

    from ..report.wording import bound

    console = open_console()
    table = Table("epsilon", "attacker may become this sure", "", "accuracy lost at most", box=None)
    if best is not None:
        table.add_column("accuracy, measured")
    for e in expected:
        row = [
            f"{e.epsilon:g}",
            bound(e.attacker),
            _bar(e.attacker - 0.5, 0.5),
            "all" if e.loss >= 0.5 else f"{e.loss:.2%}",
        ]
        if e.accuracy is not None and e.error is not None:
            row.append(f"{e.accuracy:.3f} ± {2 * e.error:.3f}")
        table.add_row(*row)
    console.print(table)
    if best is not None:
        console.print(
            f"Without privacy: {best:.3f}. Measured by learning from 70 % of the stand-in's {size:,} records; how good a list is "
            "depends on epsilon times the number of records, so more records do the same with a smaller epsilon."
        )
    for epsilon, words in WORDS.items():
        console.print(" ", as_text(f"{epsilon:g}", "bold"), f" {words}")
    console.print(
        f"The attacker knows everything but whether one person is among about {records:,} records, and thinks it as likely as "
        "not. What is lost at most is against the best list of the same length on the same records, in 95 of 100 fits, whatever "
        "the records are. Several models from one table add up: divide by their number.",
        style="dim",
    )
    if out is not None:
        console.print(f"The curve: {on_one_line(out)}")


def _bar(value: float, most: float, width: int = 12) -> str:
    return "█" * round(width * value / most) or "▏"

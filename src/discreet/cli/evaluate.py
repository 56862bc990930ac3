"""``discreet evaluate``: how good is a model, and what does it cost to say so?"""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from .._utils.errors import PrivacyWarning
from . import common
from .ending import keep, reserved, say_paid
from .table_notes import ANOTHER, check_ledger, note_ledger
from .terminal import as_text, on_one_line, open_console, say

CHOOSE = (
    "are these records private? A measured accuracy is not covered by the model's promise. Either pay for noisy numbers,\n\n"
    "    --epsilon 0.1 [--ledger ledger.db]     the noise of a count is about 10 records\n\n"
    "or say that these records may be shown, or that nobody but you will see the numbers:\n\n"
    "    --public"
)


@click.command()
@click.argument("model", type=common.FILE)
@common.table_options(engine=True)
@common.target_option(help="The column with the true classes, if the model does not name it.")
@click.option("--epsilon", "-e", type=float, help="The price of noisy numbers, for all of them together.")
@click.option(
    "--by",
    "-b",
    multiple=True,
    metavar="COLUMN[=CUTS]",
    help="With --epsilon: compare the groups of this column, as the schema has them, or between some of its cuts: age=30,50. "
    "Repeat for more; they share epsilon.",
)
@common.schema_option(help="What is public about --by columns that the model ignores.")
@common.flag("--no-reliability", help="With --epsilon: not for each part of the model, for a little less noise.")
@click.option("--report", type=common.NEW_FILE, help="With --epsilon: also write a page for people, as HTML.")
@common.out_option(help="With --epsilon: also write a file that `discreet release` puts beside the model.")
@common.ledger_option(help="Book epsilon on this ledger.")
@common.RECORDS_PER_PERSON
@common.flag("--public", help="Exact numbers: the records are public, or the numbers stay with you.")
@common.flag(
    "--model-is-public",
    help="With --epsilon, for a model without a promise of its own: it does not depend on these records.",
)
@ANOTHER
@common.weak_option
@common.force_option
@common.as_json_option
def evaluate(
    model: Path,
    table: common.Given,
    target: str | None,
    epsilon: float | None,
    by: tuple[str, ...],
    schema_file: Path | None,
    no_reliability: bool,
    report: Path | None,
    out: Path | None,
    ledger_file: Path | str | None,
    records_per_person: int,
    public: bool,
    model_is_public: bool,
    another_ledger: bool,
    weak: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Measure how good MODEL is on the records of TABLE: exactly, or privately for a price.

    TABLE is a file or, with --epsilon, a URL of a table that stays where it is, as for `discreet fit`.
    """
    more = by or schema_file or no_reliability or report or out
    if public == (epsilon is not None):
        raise click.UsageError("choose one of --public and --epsilon" if public else CHOOSE)
    if public and (more or model_is_public):
        raise click.UsageError(
            "--by, --schema, --no-reliability, --report, --out and --model-is-public go with --epsilon"
        )
    if public and table.in_engine:
        raise click.UsageError("--public reads the records into memory: give a file, or --epsilon for noisy numbers")
    if epsilon is not None:
        common.check_epsilon(epsilon, weak)
        common.check_outputs([report, out], [model, table.place, schema_file, ledger_file], force)
        check_ledger(table.place, ledger_file, another_ledger)
    from ..evaluation.evaluation import dividing_column, exact_numbers, noisy_evaluation
    from ..evaluation.evaluation_file import SavedEvaluation
    from ..models.display.wording import classes_called
    from ..models.saved import SavedModel

    model_file = model.read_bytes()
    saved = SavedModel.load(model)
    target = target or saved.target
    if target is None:
        raise click.UsageError("which column has the true classes? Say --target COLUMN")
    whole = saved.model.schema
    assert whole is not None
    described = None if schema_file is None else common.load_schema(schema_file)
    asked = _groups_asked(by, [*whole.names, *([] if described is None else described.names)])
    columns = [c for c in whole.columns if c.name in saved.model.used_columns or c.name in asked] or whole.columns
    schema = replace(whole, columns=tuple(columns), target=target)
    dividing = [dividing_column(saved.model, name, described) for name in asked]
    saved = replace(saved, model=saved.model.with_schema(schema))
    read = replace(schema, columns=tuple({c.name: c for c in (*schema.columns, *dividing)}.values()))
    X, y = table.records(read, target)
    if epsilon is None:
        measured, called = exact_numbers(saved.model, X, y), classes_called(saved.model)
        if as_json:
            return common.say_json(measured)
        return _show(measured, dict(zip(map(str, saved.classes), called, strict=True)))
    ledger = common.open_ledger(ledger_file)
    places = {path: reserved(path, force, read) for path in (report, out) if path is not None}
    note_ledger(table.place, ledger_file)
    paid: Any = {"ledger": ledger, "records_per_person": records_per_person, "model_is_public": model_is_public}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the answer says it
        groups = {name: cuts or None for name, cuts in asked.items()}
        wanted: Any = {"by": groups, "schema": described, "reliability": not no_reliability}
        found = noisy_evaluation(saved, X, y, epsilon, **wanted, **paid)
    shown, text = {"epsilon": epsilon} | found.to_dict(), found.to_text(on_one_line)
    files: dict[Path | None, Callable[[], str]] = {
        report: partial(found.to_html, f"{model.name}, measured with privacy"),
        out: lambda: SavedEvaluation.of(found, model_file, ledger).to_json() + "\n",
    }
    say_paid(json.dumps(shown, indent=1) if as_json else text, epsilon)
    for path, place in places.items():
        keep(place, files[path](), path, epsilon)
    if not as_json:
        say("These numbers are about these records; the model's promise does not cover them.", err=True)


def _groups_asked(by: Sequence[str], known: Sequence[str]) -> dict[str, list[float]]:
    """The columns of --by, each with the cuts that follow its name, if some do. A name may have a = itself."""

    def cuts(text: str) -> list[float]:
        return [float(cut) for cut in text.split(",")] if text else []

    texts = [f"{text}=" if text in known or "=" not in text else text for text in by]
    return common.named("--by", "a column, or a column and cuts, as in age=30,50", cuts, texts)


def _show(measured: dict[str, Any], called: dict[str, str]) -> None:
    """With the labels of classes, for people."""
    from rich.table import Table

    console = open_console()
    console.print(
        as_text(f"accuracy {measured['accuracy']:.3f}", "bold"),
        f"on {measured['records']:,} records; always the most frequent class: {measured['most frequent class']:.3f}",
    )
    area = measured["area under the ROC curve"]
    ranks = "" if area is None else f"area under the ROC curve {area:.3f} (0.5 = chance), "
    console.print(f"{ranks}log loss {measured['log loss']:.3f}")
    if measured["left out"]:
        console.print(f"{measured['left out']:,} records have no label of the model's and were left out.")
    table = Table("class", "records", "predicted", "recall", box=None)
    for name, row in measured["classes"].items():
        recall = "" if row["recall"] is None else f"{row['recall']:.1%}"
        table.add_row(on_one_line(called[name]), f"{row['records']:,}", f"{row['predicted']:,}", recall)
    console.print(table)
    console.print("Exact numbers about these records: the model's promise does not cover them.", style="yellow")

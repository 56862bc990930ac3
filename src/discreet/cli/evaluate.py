"""``discreet evaluate``: how good is a model, and what does it cost to say so?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .common import (
    FILE,
    PLACE,
    as_json_option,
    check_epsilon,
    csv_options,
    engine_option,
    errors_as_messages,
    is_left_to_engine,
    open_where_it_is,
    read_records,
    say_json,
    weak_option,
)
from .saving import say_paid
from .table_notes import ANOTHER, check_ledger, note_ledger
from .terminal import as_text, on_one_line, open_console, say

CHOOSE = (
    "are these records private? A measured accuracy is not covered by the model's promise. Either pay for a noisy one,\n\n"
    "    --epsilon 0.1 [--ledger ledger.json]     the noise is about 10 records\n\n"
    "or say that these records may be shown, or that nobody but you will see the numbers:\n\n"
    "    --public"
)


@click.command()
@click.argument("model", type=FILE)
@click.argument("table", type=PLACE)
@click.option("--target", "-t", help="The column with the true classes, if the model does not name it.")
@click.option("--epsilon", "-e", type=float, help="Pay this much for a noisy accuracy.")
@click.option("--ledger", "ledger_file", type=FILE, help="Where to book it.")
@click.option("--records-per-person", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--public", is_flag=True, help="Exact numbers: the records may be shown, or the numbers stay with you.")
@click.option(
    "--model-is-public",
    is_flag=True,
    help="With --epsilon: the model does not depend on these records. Else nothing is proved of one without a promise.",
)
@ANOTHER
@weak_option
@csv_options
@engine_option
@as_json_option
def evaluate(
    model: Path,
    table: Path | str,
    target: str | None,
    epsilon: float | None,
    ledger_file: Path | None,
    records_per_person: int,
    public: bool,
    model_is_public: bool,
    another_ledger: bool,
    weak: bool,
    delimiter: str | None,
    encoding: str,
    engine: str | None,
    decimal: str,
    as_json: bool,
) -> None:
    """Measure how often MODEL is right on the records of TABLE: exactly, or privately for a price.

    TABLE is a file or, for a noisy accuracy, a URL of a table that stays where it is, as for `discreet fit`.
    """
    if public and epsilon is not None:
        raise click.UsageError("choose one of --public and --epsilon")
    if not public and epsilon is None:
        raise click.UsageError(CHOOSE)
    if model_is_public and epsilon is None:
        raise click.UsageError("--model-is-public goes with --epsilon: it is about what is proved of a noisy accuracy")
    in_engine = is_left_to_engine(table, engine)
    if public and in_engine:
        raise click.UsageError("--public reads the records into memory: give a file, or --epsilon for a noisy accuracy")
    if epsilon is not None:
        check_epsilon(epsilon, weak)
        check_ledger(table, ledger_file, another_ledger)
    import warnings

    from ..common.errors import PrivacyWarning
    from ..models.saved import SavedModel
    from ..privacy.ledger import Ledger

    with errors_as_messages():
        saved = SavedModel.load(model)
        target = target or saved.target
        if target is None:
            raise click.UsageError("which column has the true classes? Say --target COLUMN")
        whole = saved.model.schema
        assert whole is not None
        from ..schema import Schema

        columns = [c for c in whole.columns if c.name in saved.model.used_columns] or whole.columns
        schema = Schema(tuple(columns), target, saved.classes, whole.inferred, whole.released)
        measured_model = saved.model.with_schema(schema)
        X: Any
        y: Any = None
        if in_engine:
            X = open_where_it_is(table, [*(c.name for c in schema.used), target], delimiter, encoding, decimal)
        else:
            assert isinstance(table, Path)
            X, y = read_records(table, schema, target, delimiter, encoding, decimal)
        if epsilon is not None:
            from ..releases.accuracy import CONFIDENCE, COVERS, noisy_accuracy

            ledger = Ledger.open(ledger_file) if ledger_file else None
            note_ledger(table, ledger_file)
            with_origin = replace(saved, model=measured_model)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PrivacyWarning)  # the answer says it
                found = noisy_accuracy(
                    with_origin, X, y, epsilon, ledger, records_per_person, model_is_public=model_is_public
                )
            if as_json:
                promise = {"proved": found.privacy.proved is not None, "because": list(found.privacy.because)}
                covers = {"level": CONFIDENCE, "covers": COVERS}
                interval = {"low": found.low, "high": found.high, "interval": covers}
                measures = {"accuracy": found.accuracy, **interval, "epsilon": epsilon} | promise
                say_paid(json.dumps(measures, indent=1), epsilon)
            else:
                say_paid(str(found), epsilon)
                say("It is about these records, and not part of what the model promises.", err=True)
            return
        measured = _exact(measured_model, X, y)
    if as_json:
        say_json(measured)
    else:
        _show(measured)


def _exact(model: Any, X: Any, y: Any) -> dict[str, Any]:
    import numpy as np

    from ..sources.memory import class_numbers

    truth = class_numbers(y, model.classes, len(X))
    known = truth >= 0
    predicted = np.array([model.classes.index(label) for label in model.predict(X)])[known]
    truth = truth[known]
    if not len(truth):
        raise ValueError("no record has a label that is one of the model's classes; is --target the right column?")
    by_class = {
        str(c): {
            "records": int((truth == i).sum()),
            "predicted": int((predicted == i).sum()),
            "recall": float((predicted[truth == i] == i).mean()) if (truth == i).any() else None,
        }
        for i, c in enumerate(model.classes)
    }
    return {
        "records": len(truth),
        "left out": int((~known).sum()),
        "accuracy": float((predicted == truth).mean()),
        "most frequent class": float(np.bincount(truth).max() / len(truth)),
        "classes": by_class,
    }


def _show(measured: dict[str, Any]) -> None:
    from rich.table import Table

    console = open_console()
    console.print(
        as_text(f"accuracy {measured['accuracy']:.3f}", "bold"),
        f"on {measured['records']:,} records; always the most frequent class: {measured['most frequent class']:.3f}",
    )
    if measured["left out"]:
        console.print(f"{measured['left out']:,} records have no label of the model's and were left out.")
    table = Table("class", "records", "predicted", "recall", box=None)
    for name, row in measured["classes"].items():
        recall = "" if row["recall"] is None else f"{row['recall']:.1%}"
        table.add_row(on_one_line(name), f"{row['records']:,}", f"{row['predicted']:,}", recall)
    console.print(table)
    console.print("Exact numbers about these records: the model's promise does not cover them.", style="yellow")

"""``discreet fit``: from a private table and a public schema to a model that may be published."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .common import (
    FILE,
    NEW_FILE,
    NEW_LEDGER,
    PLACE,
    as_json_option,
    check_columns,
    check_epsilon,
    check_outputs,
    csv_options,
    engine_option,
    errors_as_messages,
    force_option,
    is_left_to_engine,
    load_schema,
    open_where_it_is,
    say_json,
    target_of,
    weak_option,
)
from .learners import Mechanisms, check_class_weights, chosen_learner, limit_options, model_options
from .saving import keep, reserved, size_of_report
from .show import coloured, title_of
from .table_notes import ANOTHER, PUBLIC, check_ledger, check_not_a_sample, note_ledger
from .terminal import as_text, on_one_line, open_console, say

if TYPE_CHECKING:
    from .._utils.writing import PendingFile
    from ..accounting.ledger import Ledger
    from ..models.saved import SavedModel
    from ..schema import Schema

NOISY = "Shares and counts are noisy: in brackets, where 95 % of the noise leaves the number of records."


@click.command()
@click.argument("table", type=PLACE)
@click.option(
    "--epsilon", "-e", type=float, required=True, help="The privacy budget of this model: see `discreet plan`."
)
@click.option("--target", "-t", help="The column to predict, if the schema does not name it.")
@click.option("--schema", "-s", "schema_file", type=FILE, help="What is public about the table: see `discreet schema`.")
@click.option("--out", "-o", type=NEW_FILE, required=True, help="Where the model goes, as JSON.")
@click.option("--report", type=NEW_FILE, help="Also write a report for people, as HTML.")
@click.option(
    "--ledger",
    "ledger_file",
    type=NEW_LEDGER,
    help="Book the budget here: see `discreet ledger create`. A file, or postgresql://...",
)
@model_options
@click.option(
    "--learner",
    type=click.Choice(["optimal", "greedy"]),
    help="Draw the model whole (optimal, the default), or rule by rule, a tree level by level.",
)
@click.option("--mechanism", type=Mechanisms(), help="Of the greedy learner; mass by default.")
@click.option(
    "--max-length", "-k", type=click.IntRange(min=1), help="Of a list: its rules, with the default; 4, for greedy 5."
)
@click.option("--max-card", type=click.IntRange(1, 3), help="Of a list: conditions in a rule; 1 by default.")
@click.option("--exclude", "-x", multiple=True, help="A column that the model may not use. Repeat for more.")
@limit_options
@click.option(
    "--records-per-person",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The most records that one person has in the table.",
)
@click.option("--delta", type=float, help="For sm-laplace and gl-gaussian, which promise less.")
@click.option("--min-support", type=int, help="For sm-laplace and sm-cauchy: a public number of records.")
@click.option(
    "--joint", type=click.IntRange(min=1), help="For whole lists: how many rules to draw at once; all by default."
)
@click.option("--counts-share", type=float, help="The share of epsilon for class counts; 0.1, for greedy (mass) 0.5.")
@click.option(
    "--class-weight",
    "weights",
    multiple=True,
    metavar="CLASS=WEIGHT",
    help="For whole models: how bad a mistake on a class is, a public number: ill=5. Repeat.",
)
@click.option(
    "--time-limit", type=float, help="For whole models: seconds after which to give up. It says if anything was booked."
)
@click.option(
    "--verbose", "-v", is_flag=True, help="For whole models: say how long it may take. On a terminal it is said anyway."
)
@csv_options
@engine_option
@click.option("--infer-schema", is_flag=True, help="Make a schema from the private records. NOTHING IS THEN PROVED.")
@weak_option
@ANOTHER
@PUBLIC
@force_option
@as_json_option
def fit(
    table: Path | str,
    epsilon: float,
    target: str | None,
    schema_file: Path | None,
    out: Path,
    report: Path | None,
    ledger_file: Path | str | None,
    model: str,
    delimiter: str | None,
    encoding: str,
    engine: str | None,
    decimal: str,
    infer_schema: bool,
    weak: bool,
    another_ledger: bool,
    public_table: bool,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn a private rule list, a tree or a score card from TABLE, and write it to a file that may be published.

    TABLE is a file (CSV, Parquet or Arrow, of any size), or a URL of a table that stays where it is: duckdb:///FILE?table=NAME,
    postgresql://USER@HOST/DATABASE?table=NAME, spark://HOST:PORT?table=NAME (docs/scale.md). A password may not stand in it.

    Everything is checked before a record is read or budget spent: files, columns, parameters, the ledger.
    """
    check_epsilon(epsilon, weak)
    chosen = chosen_learner(model, options)
    needed = [table, schema_file, ledger_file]
    check_outputs([out, report], needed, force)
    ledger = open_ledger(ledger_file)
    check_ledger(table, ledger_file, another_ledger)
    if not infer_schema:
        check_not_a_sample(table, public_table)
    learn = partial(chosen.make, epsilon=epsilon, ledger=ledger, **chosen.parameters)
    schema = None if infer_schema and schema_file is None else load_schema(schema_file)
    if schema is not None and schema.classes is not None:
        check_class_weights(chosen.parameters.get("class_weight"), schema.classes)
    size = chosen.size(schema)
    place = reserved(out, size, force)
    report_place = None if report is None else reserved(report, size_of_report(size), force)
    booked = 0 if ledger is None else ledger.n_entries
    in_engine = is_left_to_engine(table, engine)
    written = Written(table, delimiter, encoding, decimal)
    try:
        if schema is None:
            if in_engine:
                raise click.UsageError("--infer-schema reads the table into memory; give a file, or a schema")
            learned = _fit_inferred(written, target, learn, ledger_file)
        else:
            read = _fit_where_it_is if isinstance(table, str) else partial(_fit_file, in_engine)
            learned = read(written, schema, target, learn, ledger_file)
    except BaseException as error:
        gone = _has_more(ledger, booked)
        said = f"Epsilon {epsilon:g} is booked and stays so" if gone else "Nothing was booked"
        if isinstance(error, KeyboardInterrupt):
            say(f"Stopped; no model was written. {said}.", err=True)
            raise SystemExit(130) from None
        if gone:
            say(f"No model was written. {said}.", err=True)
        raise
    text = learned.to_json() + "\n"
    keep(place, text, out, epsilon)
    learned.note_file(text)
    if report_place is not None:
        _write_report(learned, report_place, out)
    if as_json:
        import json

        say_json({"model": str(out), "report": report and str(report)} | json.loads(learned.to_json()))
    else:
        _show(learned, out, report, ledger_file)


def _write_report(model: "SavedModel", place: "PendingFile", out: Path) -> None:
    from ..report.html import to_html

    try:
        place.stream.write(to_html(model).encode("utf-8"))
        place.commit()
    except Exception as error:
        raise click.ClickException(
            f"{out} is written, but not the report ({type(error).__name__}). Make it again with\n\n"
            f"    discreet show {out} --format html --out REPORT.html"
        ) from None


def _has_more(ledger: "Ledger | None", entries: int) -> bool:
    """Whether the ledger has more entries than before; if it cannot be read any more, it may have."""
    from ..accounting.ledger import LedgerError

    try:
        return ledger is not None and ledger.n_entries > entries
    except (LedgerError, OSError):
        return True


def open_ledger(path: Path | str | None) -> "Ledger | None":
    """The ledger in a file or on a server. If there is none, how to make it."""
    if path is None:
        return None
    if isinstance(path, Path) and path.exists() and not path.is_file():
        raise click.UsageError(f"{path} is not a regular file, so it is not a ledger")
    if isinstance(path, Path) and not path.exists():
        raise click.UsageError(
            f"there is no ledger {path}. Decide once how much all models from this table may reveal together, and make it:\n\n"
            f"    discreet ledger create {path} --epsilon 3"
        )
    from ..accounting.ledger import Ledger

    with errors_as_messages():
        return Ledger.open(path)


class Written(NamedTuple):
    """A table in a file, and how it is written there; or where else it is."""

    path: Any
    delimiter: str | None
    encoding: str
    decimal: str


def _fit_file(
    in_engine: bool,
    table: Written,
    schema: "Schema",
    target: str | None,
    learn: Callable[..., Any],
    ledger: Path | str | None,
) -> "SavedModel":
    """From one file. Whoever counts its records, the counts are the same, and so is all that comes after."""
    from ..models.saved import SavedModel
    from ..sources.engine import EngineTable
    from ..sources.files import column_names
    from ..sources.memory import FileTable

    schema = _with_target(schema, target)
    with errors_as_messages():
        clf = learn(schema=schema)
        used = schema.exclude(clf.exclude)  # a name that is not there is noticed before the table is read
        if clf._binary_only and len(schema.classes or ()) != 2:
            raise click.UsageError(_for_two_classes(clf, len(schema.classes or ())))
        clf._check_all()  # so that nobody waits for a large file in vain
        needed = [*(c.name for c in used.used), str(used.target)]
        with _working(clf):

            def source(known: Any, classes: Any) -> Any:
                if in_engine:
                    return EngineTable(open_where_it_is(table.path, needed, *table[1:]), known, classes)
                check_columns(table.path, needed, column_names(*table[:3]))
                return FileTable(table.path, known, classes, *table[1:])

            clf._fit_opened(source, lambda: note_ledger(table.path, ledger))
        return SavedModel.of(clf, schema.target)


def _for_two_classes(clf: Any, there: int) -> str:
    """What to do about a learner that is for two classes only."""
    what, instead = "--model card", "--model list or --model tree"
    if (mechanism := getattr(clf, "mechanism", None)) is not None:
        what, instead = f"--mechanism {mechanism}", "--learner optimal or --mechanism mass"
    return f"{what} is for two classes, and the schema's target has {there}: use {instead}"


def _with_target(schema: "Schema", target: str | None) -> "Schema":
    from dataclasses import replace

    schema = replace(schema, target=target_of(schema, target))
    if schema.classes is None:
        raise click.UsageError("the schema does not say which classes the target has: add [target] classes = [...]")
    return schema


def _fit_where_it_is(
    table: Written, schema: "Schema", target: str | None, learn: Callable[..., Any], ledger: Path | str | None
) -> "SavedModel":
    """In the engine that has the table: only counts leave it, or this process, if it runs there."""
    from ..models.saved import SavedModel

    schema = _with_target(schema, target)
    with errors_as_messages():
        clf = learn(schema=schema)
        needed = [*(c.name for c in schema.exclude(clf.exclude).used), str(schema.target)]
        opened = open_where_it_is(table.path, needed, *table[1:])
        note_ledger(table.path, ledger)
        clf.fit_source(opened, verbose=True)
        return SavedModel.of(clf, schema.target)


def _fit_inferred(
    table: Written, target: str | None, learn: Callable[..., Any], ledger: Path | str | None
) -> "SavedModel":
    """With a schema made from the records: aloud, and with no promise."""
    import warnings

    from .._utils.errors import PrivacyWarning
    from ..models.saved import SavedModel
    from ..sources.files import column_names, read_typed

    if target is None:
        raise click.UsageError("which column is to be predicted? Say --target COLUMN")
    path, delimiter, encoding, decimal = table
    with errors_as_messages(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the statement says it
        check_columns(path, [target], column_names(path, delimiter, encoding))
        frame = read_typed(path, delimiter, encoding, decimal)
        frame = frame[frame[target].notna()]
        note_ledger(path, ledger)
        clf = learn(infer_schema=True)
        with _working(clf):
            clf.fit(frame.drop(columns=target), frame[target].to_numpy())
        return SavedModel.of(clf, target)


def _working(clf: Any) -> Any:
    """That something is going on, where the classifier does not show it by itself."""
    if getattr(clf, "verbose", False):
        return nullcontext()
    return open_console(stderr=True).status("learning ...")


def _show(model: "SavedModel", out: Path, report: Path | None, ledger_file: Path | str | None) -> None:
    from rich.panel import Panel

    console = open_console()
    assert model.privacy is not None
    shown = coloured(model.model, model.counts_epsilon)
    console.print(Panel(shown, title=title_of(model), title_align="left", padding=(1, 2)))
    if model.model.answers[-1].counts is not None:
        console.print(NOISY if model.counts_epsilon else "Shares and counts are noisy.", style="dim")
    style = "green" if model.privacy.proved else "bold red"
    console.print(Panel(as_text(model.privacy, style), title="What it promises", title_align="left", padding=(1, 2)))
    if model.ledger is None:
        console.print(
            "Not on a ledger: what several models from one table reveal adds up, and nobody counts. "
            "`discreet ledger create ledger.db --epsilon 3`, then --ledger ledger.db.",
            style="yellow",
        )
    else:
        from ..accounting.ledger_export import left_of, together

        now = model.ledger
        left = f"{float(now.remaining[0]):.6g} of {float(now.epsilon):.6g} left" if now.rho is None else left_of(now)
        console.print(f"On the ledger {on_one_line(ledger_file)}: {left}.")
        if said := together(now, now.total()):
            console.print(said, style="bold red" if now.totals.unproved else "")
    place = on_one_line(out)
    console.print(f"Model: {place}" + (f"   report: {on_one_line(report)}" if report else ""))
    console.print(
        f"Next: discreet predict {place} NEW.csv --out scores.csv   or   discreet show {place} --format sql",
        style="dim",
    )

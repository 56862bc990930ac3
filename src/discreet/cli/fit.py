"""``discreet fit``: from a private table and a public schema to a model that may be published."""

import json
import shlex
import sys
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import PrivacyWarning
from . import common
from .ending import keep, reserved
from .options import KINDS, Kinds, Learner, chosen, options_of
from .show import print_model, promise_line
from .table_notes import ANOTHER, PUBLIC, check_ledger, check_not_a_sample, note_ledger
from .terminal import on_one_line, open_console, say

if TYPE_CHECKING:
    from ..accounting.ledger import Ledger
    from ..models.saved import SavedModel
    from ..schema import Schema


@click.group(cls=Kinds)
def fit() -> None:
    """Learn a private model from TABLE, and write it to a file that may be published.

    TABLE is a file (CSV, Parquet or Arrow, of any size), or the URL of a table that stays where it is: duckdb:///FILE?table=NAME,
    postgresql://USER@HOST/DATABASE?table=NAME, spark://HOST:PORT?table=NAME (docs/scale.md). Leave passwords out of it.

    Files, columns, parameters and the ledger are checked before a record is read or budget is spent.
    """


for each in KINDS:

    @fit.command(
        each.name,
        help=f"Learn {each.help}. TABLE is a file or a URL: see `discreet fit --help`.",
        short_help=f"Learn {each.help}.",
    )
    @common.target_option(help="The column to predict, if the schema does not name it.")
    @common.schema_option(help="What is public about the table: see `discreet schema`.")
    @common.out_option(required=True, help="Write the model to this file, as JSON.")
    @click.option("--report", type=common.NEW_FILE, help="Also write a report for people, as HTML.")
    @common.ledger_option(type=common.NEW_LEDGER, help="Book epsilon on this ledger: a file, or postgresql://...")
    @options_of(each)
    @common.table_options(engine=True)
    @common.flag("--infer-schema", help="Make a schema from the records. NO PRIVACY IS PROVED THEN.")
    @common.weak_option
    @ANOTHER
    @PUBLIC
    @common.force_option
    @common.as_json_option
    def _command(kind: Learner = each, **options: Any) -> None:
        _fit(kind, **options)


def _fit(
    kind: Learner,
    table: common.Given,
    target: str | None,
    schema_file: Path | None,
    out: Path,
    report: Path | None,
    ledger_file: Path | str | None,
    infer_schema: bool,
    weak: bool,
    another_ledger: bool,
    public_table: bool,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    common.check_epsilon(options["epsilon"], weak)
    learned, parameters = chosen(kind, options)
    common.check_outputs([out, report], [table.place, schema_file, ledger_file], force)
    ledger = common.open_ledger(ledger_file)
    check_ledger(table.place, ledger_file, another_ledger)
    if not infer_schema:
        check_not_a_sample(table.place, public_table)
    schema = None if infer_schema and schema_file is None else common.load_schema(schema_file, _shown(table), target)
    place = reserved(out, force, schema)
    if "verbose" in learned.options:
        parameters["verbose"] = "verbose" in parameters or (sys.stderr is not None and sys.stderr.isatty())
    booked = 0 if ledger is None else ledger.n_entries
    try:
        from ..models.saved import SavedModel

        clf = learned.make(ledger=ledger, **parameters)
        if schema is None:
            target = _fit_inferred(clf, table, target, ledger_file)
        else:
            target = _fit_private(clf, table, schema, target, ledger_file)
        model = SavedModel.of(clf, target)
    except BaseException as error:
        gone = _has_more(ledger, booked)
        said = f"Epsilon {parameters['epsilon']:g} is booked and stays so" if gone else "Nothing was booked"
        if isinstance(error, KeyboardInterrupt):
            say(f"Stopped; no model was written. {said}.", err=True)
            raise SystemExit(130) from None
        if gone:
            say(f"No model was written. {said}.", err=True)
        raise
    text = model.to_json() + "\n"
    keep(place, text, out, parameters["epsilon"])
    model.note_file(text)
    if report is not None:
        _write_report(model, report, force, out)
    if as_json:
        common.say_json({"model": str(out), "report": report and str(report)} | json.loads(model.to_json()))
    else:
        _show(model, out, ledger_file)


def _shown(table: common.Given) -> str:
    """For a command that can be copied; a URL may name people and hosts."""
    return "URL" if isinstance(table.place, str) else shlex.quote(on_one_line(table.place))


def _fit_private(
    clf: Any, table: common.Given, schema: "Schema", target: str | None, ledger: Path | str | None
) -> str | None:
    """From a file, or in the engine that has the table: then only counts leave it, or this process, if it runs there."""
    schema = replace(schema, target=common.target_of(schema, target))
    if schema.classes is None:
        raise click.UsageError("the schema does not say which classes the target has: add [target] classes = [...]")
    clf.set_params(schema=schema)
    needed = [*(c.name for c in schema.exclude(clf.exclude).used), str(schema.target)]
    in_engine = table.in_engine
    if isinstance(table.place, str):
        opened = table.opened(needed)
        note_ledger(table.place, ledger)
        clf.fit_source(opened, verbose=True)
    else:
        table.columns(needed)
        engine = "duckdb" if in_engine else "memory"
        with _working(clf):
            clf.fit_file(table.place, **table.how, engine=engine, counted=lambda: note_ledger(table.place, ledger))
    return schema.target


def _fit_inferred(clf: Any, table: common.Given, target: str | None, ledger: Path | str | None) -> str:
    """With a schema made from the records: aloud, and with no promise."""
    from ..sources.files import read_typed

    if table.in_engine:
        raise click.UsageError("--infer-schema reads the table into memory; give a file, or a schema")
    if target is None:
        raise click.UsageError("which column is to be predicted? Say --target COLUMN")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the statement says it
        table.columns([target])
        frame = read_typed(table.place, **table.how)
        frame = frame[frame[target].notna()]
        note_ledger(table.place, ledger)
        clf.set_params(infer_schema=True)
        with _working(clf):
            clf.fit(frame.drop(columns=target), frame[target].to_numpy())
    return target


def _write_report(model: "SavedModel", report: Path, force: bool, out: Path) -> None:
    from ..report.html import to_html

    try:
        common.write_new(report, to_html(model), force)
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


def _working(clf: Any) -> Any:
    """That something is going on, where the classifier does not show it by itself."""
    if getattr(clf, "verbose", False):
        return nullcontext()
    return open_console(stderr=True).status("learning ...")


def _show(model: "SavedModel", out: Path, ledger_file: Path | str | None) -> None:
    from ..accounting.ledger_export import left_of, together

    console = open_console()
    print_model(console, model)
    console.print(promise_line(model, out))
    if (now := model.ledger) is None:
        without = "No ledger: what several models from one table reveal adds up, and nobody counts it. `discreet ledger --help`"
        console.print(without, style="yellow")
        return
    console.print(f"{on_one_line(ledger_file)}: {left_of(now)}", highlight=False)
    if now.totals.unproved:
        console.print(together(now, None), style="bold red")

"""``discreet fit``: from a private table and a public schema to a model that may be published."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .common import (
    FILE,
    NEW_FILE,
    PLACE,
    as_json_option,
    check_columns,
    check_epsilon,
    check_outputs,
    csv_options,
    force_option,
    kind_errors,
    load_schema,
    open_where_it_is,
    read_records,
    say_json,
    stays,
    target_of,
    weak_option,
)
from .remembered import ANOTHER, PUBLIC, check_ledger, check_not_a_sample, note_ledger
from .show import coloured

if TYPE_CHECKING:
    from ..model import SavedModel
    from ..privacy.ledger import Ledger
    from ..schema import Schema

MECHANISMS = ("mass", "sm-laplace", "sm-cauchy", "gl-laplace", "gl-gaussian", "gl-exponential", "noisy-counts")


@click.command()
@click.argument("table", type=PLACE)
@click.option(
    "--epsilon", "-e", type=float, required=True, help="The privacy budget of this model: see `discreet plan`."
)
@click.option("--target", "-t", help="The column to predict, if the schema does not name it.")
@click.option("--schema", "-s", "schema_file", type=FILE, help="What is public about the table: see `discreet schema`.")
@click.option("--out", "-o", type=NEW_FILE, required=True, help="Where the model goes, as JSON.")
@click.option("--report", type=NEW_FILE, help="Also write a report for people, as HTML.")
@click.option("--ledger", "ledger_file", type=NEW_FILE, help="Book the budget here: see `discreet ledger create`.")
@click.option(
    "--learner",
    type=click.Choice(["optimal", "greedy"]),
    help="Draw a whole list at once (optimal, the default), or rule by rule.",
)
@click.option("--mechanism", type=click.Choice(MECHANISMS), help="Of the greedy learner; mass by default.")
@click.option("--max-length", "-k", type=click.IntRange(min=1), help="Rules, with the default; 4, for greedy 5.")
@click.option("--max-card", type=click.IntRange(1, 3), default=1, show_default=True, help="Conditions in a rule.")
@click.option("--exclude", "-x", multiple=True, help="A column that no rule may use. Repeat for more.")
@click.option(
    "--records-per-person",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The most records that one person has in the table.",
)
@click.option("--delta", type=float, help="For sm-laplace and gl-gaussian, which promise less.")
@click.option("--min-support", type=int, help="For sm-laplace and sm-cauchy: a public number of records.")
@csv_options
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
    ledger_file: Path | None,
    learner: str | None,
    mechanism: str | None,
    max_length: int | None,
    max_card: int,
    exclude: tuple[str, ...],
    records_per_person: int,
    delta: float | None,
    min_support: int | None,
    delimiter: str | None,
    encoding: str,
    infer_schema: bool,
    weak: bool,
    another_ledger: bool,
    public_table: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Learn a private rule list from TABLE, and write it to a file that may be published.

    TABLE is a file (CSV, Parquet or Arrow), or a URL of a table that stays where it is: duckdb:///FILE?table=NAME,
    postgresql://USER@HOST/DATABASE?table=NAME, spark://HOST:PORT?table=NAME (docs/scale.md). A password may not stand in it.

    Everything is checked before a record is read or budget spent: files, columns, parameters, the ledger.
    """
    check_epsilon(epsilon, weak)
    given: dict[str, Any] = {"max_card": max_card, "records_per_person": records_per_person, "exclude": exclude}
    given |= {"max_length": max_length} if max_length else {}
    greedy = learner == "greedy" or (learner is None and mechanism is not None)
    if not greedy and (mechanism, delta, min_support) != (None, None, None):
        raise click.UsageError("--mechanism, --delta and --min-support are for --learner greedy")
    given |= {"mechanism": mechanism or "mass", "delta": delta} if greedy else {}
    given |= {"min_support": min_support} if min_support is not None else {}
    if mechanism in ("sm-laplace", "gl-gaussian") and delta is None:
        raise click.UsageError(f"--mechanism {mechanism} needs a public --delta, 1e-6 for example; mass needs none")
    needed = [None if isinstance(table, str) else table, schema_file, ledger_file]
    check_outputs([out, report], needed, force)
    ledger = open_ledger(ledger_file)
    check_ledger(table, ledger_file, another_ledger)
    if not infer_schema:
        check_not_a_sample(table, public_table)
    learn = partial(_classifier, greedy, epsilon=epsilon, ledger=ledger, **given)
    booked = 0 if ledger is None else ledger.n_entries
    try:
        if infer_schema and schema_file is None:
            if isinstance(table, str):
                raise click.UsageError("--infer-schema reads the table into memory; give a file, or a schema")
            model = _fit_inferred(Written(table, delimiter, encoding), target, learn, ledger_file)
        elif stays(table, encoding):
            written = Written(table, delimiter, encoding)
            model = _fit_where_it_is(written, load_schema(schema_file), target, learn, ledger_file)
        else:
            written = Written(table, delimiter, encoding)
            model = _fit(written, load_schema(schema_file), target, exclude, learn, ledger_file)
    except KeyboardInterrupt:
        gone = ledger is not None and ledger.n_entries > booked
        said = f"Epsilon {epsilon:g} is booked and stays so" if gone else "Nothing was booked"
        click.echo(f"Stopped; no model was written. {said}.", err=True)
        raise SystemExit(130) from None
    with kind_errors():
        model.save(out)
        if report is not None:
            from ..report.html import to_html

            report.write_text(to_html(model), encoding="utf-8")
    if as_json:
        import json

        say_json({"model": str(out), "report": report and str(report)} | json.loads(model.to_json()))
    else:
        _show(model, out, report, ledger, ledger_file)


def open_ledger(path: Path | None) -> "Ledger | None":
    """The ledger in a file. If there is none, how to make it."""
    if path is None:
        return None
    if not path.exists():
        raise click.UsageError(
            f"there is no ledger {path}. Decide once how much all models from this table may reveal together, and make it:\n\n"
            f"    discreet ledger create {path} --epsilon 3"
        )
    from ..privacy.ledger import Ledger

    with kind_errors():
        return Ledger.open(path)


class Written(NamedTuple):
    """A table in a file, and how it is written there; or where else it is."""

    path: Any
    delimiter: str | None
    encoding: str


def _classifier(greedy: bool, **parameters: Any) -> Any:
    from ..optimal_estimators import DPOptimalRuleListClassifier
    from ..private_estimators import DPGreedyRuleListClassifier

    return (DPGreedyRuleListClassifier if greedy else DPOptimalRuleListClassifier)(**parameters)


def _fit(
    table: Written,
    schema: "Schema",
    target: str | None,
    exclude: tuple[str, ...],
    learn: Callable[..., Any],
    ledger: Path | None,
) -> "SavedModel":
    from ..model import SavedModel

    target = target_of(schema, target)
    if schema.classes is None:
        raise click.UsageError("the schema does not say which classes the target has: add [target] classes = [...]")
    with kind_errors():
        schema.exclude(exclude)  # a name that is not there is noticed before the table is read
        X, y = read_records(table.path, schema, target, table.delimiter, table.encoding)
        clf = learn(schema=schema)
        if clf._binary_only and len(schema.classes) != 2:
            raise click.UsageError(
                f"--mechanism {clf.mechanism} is for two classes, and the schema's target has {len(schema.classes)}: use "
                "--learner optimal or --mechanism mass"
            )
        note_ledger(table.path, ledger)
        with _working():
            clf.fit(X, y)
        return SavedModel.of(clf, target)


def _fit_where_it_is(
    table: Written, schema: "Schema", target: str | None, learn: Callable[..., Any], ledger: Path | None
) -> "SavedModel":
    """In the engine that has the table: only counts leave it."""
    from dataclasses import replace

    from ..model import SavedModel

    schema = replace(schema, target=target_of(schema, target))
    if schema.classes is None:
        raise click.UsageError("the schema does not say which classes the target has: add [target] classes = [...]")
    with kind_errors():
        needed = [*(c.name for c in schema.used), str(schema.target)]
        opened = open_where_it_is(table.path, needed, table.delimiter, table.encoding)
        note_ledger(table.path, ledger)
        clf = learn(schema=schema).fit_source(opened, verbose=True)
        return SavedModel.of(clf, schema.target)


def _fit_inferred(table: Written, target: str | None, learn: Callable[..., Any], ledger: Path | None) -> "SavedModel":
    """With a schema made from the records: aloud, and with no promise."""
    import warnings

    from ..errors import PrivacyWarning
    from ..model import SavedModel
    from ..sources.files import column_names, read_table, typed

    if target is None:
        raise click.UsageError("which column is to be predicted? Say --target COLUMN")
    path, delimiter, encoding = table
    with kind_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the statement says it
        check_columns(path, [target], column_names(path, delimiter, encoding))
        frame = typed(read_table(path, None, None, delimiter, encoding))
        frame = frame[frame[target].notna()]
        note_ledger(path, ledger)
        with _working():
            clf = learn(infer_schema=True).fit(frame.drop(columns=target), frame[target].to_numpy())
        return SavedModel.of(clf, target)


def _working() -> Any:
    from rich.console import Console

    return Console(stderr=True).status("learning ...")


def _show(
    model: "SavedModel", out: Path, report: Path | None, ledger: "Ledger | None", ledger_file: Path | None
) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    console = Console()
    assert model.privacy is not None
    console.print(
        Panel(coloured(model.rule_list), title=f"Predicting {model.target}", title_align="left", padding=(1, 2))
    )
    if model.rule_list.default.counts is not None:
        console.print("Shares and counts are noisy; the report says by how much.", style="dim")
    style = "green" if model.privacy.proved else "bold red"
    console.print(Panel(Text(str(model.privacy), style), title="What it promises", title_align="left", padding=(1, 2)))
    if ledger is None:
        console.print(
            "Not on a ledger: what several models from one table reveal adds up, and nobody counts. "
            "`discreet ledger create ledger.json --epsilon 3`, then --ledger ledger.json.",
            style="yellow",
        )
    else:
        console.print(
            f"On the ledger {ledger_file}: {float(ledger.remaining[0]):.6g} of {float(ledger.epsilon):.6g} left."
        )
    console.print(f"Model: {out}" + (f"   report: {report}" if report else ""))
    console.print(
        f"Next: discreet predict {out} NEW.csv --out scores.csv   or   discreet show {out} --format sql", style="dim"
    )

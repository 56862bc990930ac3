"""``discreet fit``: from a private table and a public schema to a model that may be published."""

import math
from collections.abc import Callable, Sequence
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
from .saving import keep, reserved, size_of_model, size_of_report
from .show import coloured
from .table_notes import ANOTHER, PUBLIC, check_ledger, check_not_a_sample, note_ledger
from .terminal import as_text, on_one_line, open_console, say

if TYPE_CHECKING:
    from ..common.writing import PendingFile
    from ..models.saved import SavedModel
    from ..privacy.ledger import Ledger
    from ..schema import Label, Schema


class _Mechanisms(click.Choice):  # type: ignore[type-arg, unused-ignore]  # generic from click 8.2 on
    """The names of all mechanisms, asked for when they are needed: until then the command line starts without NumPy."""

    case_sensitive = True

    def __init__(self) -> None:
        pass

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        from ..mechanisms.registry import MECHANISMS

        return tuple(MECHANISMS)


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
@click.option("--mechanism", type=_Mechanisms(), help="Of the greedy learner; mass by default.")
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
@click.option(
    "--joint", type=click.IntRange(min=1), help="For optimal: how many rules to draw at once; all by default."
)
@click.option("--counts-share", type=float, help="The share of epsilon for class counts; 0.1, for greedy (mass) 0.5.")
@click.option(
    "--class-weight",
    "weights",
    multiple=True,
    metavar="CLASS=WEIGHT",
    help="For optimal: how bad a mistake on a class is, a public number: ill=5. Repeat.",
)
@click.option(
    "--time-limit", type=float, help="For optimal: seconds after which to give up. What was booked stays booked."
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
    ledger_file: Path | None,
    learner: str | None,
    mechanism: str | None,
    max_length: int | None,
    max_card: int,
    exclude: tuple[str, ...],
    records_per_person: int,
    delta: float | None,
    min_support: int | None,
    joint: int | None,
    counts_share: float | None,
    weights: tuple[str, ...],
    time_limit: float | None,
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
) -> None:
    """Learn a private rule list from TABLE, and write it to a file that may be published.

    TABLE is a file (CSV, Parquet or Arrow, of any size), or a URL of a table that stays where it is: duckdb:///FILE?table=NAME,
    postgresql://USER@HOST/DATABASE?table=NAME, spark://HOST:PORT?table=NAME (docs/scale.md). A password may not stand in it.

    Everything is checked before a record is read or budget spent: files, columns, parameters, the ledger.
    """
    check_epsilon(epsilon, weak)
    given: dict[str, Any] = {"max_card": max_card, "records_per_person": records_per_person, "exclude": exclude}
    given |= {"max_length": max_length} if max_length else {}
    greedy = learner == "greedy" or (learner is None and mechanism is not None)
    if not greedy and (mechanism, delta, min_support) != (None, None, None):
        raise click.UsageError("--mechanism, --delta and --min-support are for --learner greedy")
    given |= {"delta": delta} if greedy else {}
    given |= {"mechanism": mechanism} if mechanism else {}
    given |= {"min_support": min_support} if min_support is not None else {}
    if greedy and (joint, time_limit, weights) != (None, None, ()):
        raise click.UsageError("--joint, --time-limit and --class-weight are for --learner optimal")
    _check_mechanism(mechanism, delta, counts_share)
    chosen = {"joint": joint, "counts_share": counts_share, "time_limit": time_limit, "class_weight": _weights(weights)}
    given |= {name: value for name, value in chosen.items() if value is not None}
    needed = [table, schema_file, ledger_file]
    check_outputs([out, report], needed, force)
    ledger = open_ledger(ledger_file)
    check_ledger(table, ledger_file, another_ledger)
    if not infer_schema:
        check_not_a_sample(table, public_table)
    learn = partial(_classifier, greedy, epsilon=epsilon, ledger=ledger, **given)
    schema = None if infer_schema and schema_file is None else load_schema(schema_file)
    if schema is not None and schema.classes is not None:
        _check_weights(given.get("class_weight"), schema.classes)
    size = size_of_model(schema, max_length or 5, max_card)
    place = reserved(out, size, force)
    report_place = None if report is None else reserved(report, size_of_report(size), force)
    booked = 0 if ledger is None else ledger.n_entries
    in_engine = is_left_to_engine(table, engine)
    written = Written(table, delimiter, encoding, decimal)
    try:
        if schema is None:
            if in_engine:
                raise click.UsageError("--infer-schema reads the table into memory; give a file, or a schema")
            model = _fit_inferred(written, target, learn, ledger_file)
        else:
            read = _fit_where_it_is if isinstance(table, str) else partial(_fit_file, in_engine)
            model = read(written, schema, target, learn, ledger_file)
    except BaseException as error:
        gone = _has_more(ledger, booked)
        said = f"Epsilon {epsilon:g} is booked and stays so" if gone else "Nothing was booked"
        if isinstance(error, KeyboardInterrupt):
            say(f"Stopped; no model was written. {said}.", err=True)
            raise SystemExit(130) from None
        if gone:
            say(f"No model was written. {said}.", err=True)
        raise
    keep(place, model.to_json() + "\n", out, epsilon)
    if report_place is not None:
        _write_report(model, report_place, out)
    if as_json:
        import json

        say_json({"model": str(out), "report": report and str(report)} | json.loads(model.to_json()))
    else:
        _show(model, out, report, ledger_file)


def _check_mechanism(mechanism: str | None, delta: float | None, counts_share: float | None) -> None:
    """Whether it needs what is given, and has what it needs."""
    if mechanism is None:
        return
    from ..mechanisms.registry import MECHANISMS

    if counts_share is not None and not MECHANISMS[mechanism].uses_counts_share:
        those = ", ".join(name for name, one in MECHANISMS.items() if one.uses_counts_share)
        raise click.UsageError(f"--counts-share is for --learner optimal and --mechanism {those}, not {mechanism}")
    if delta is None and MECHANISMS[mechanism].needs_delta:
        raise click.UsageError(f"--mechanism {mechanism} needs a public --delta, 1e-6 for example; mass needs none")


def _weights(texts: tuple[str, ...]) -> dict[str, float] | None:
    """Weights of classes, as in ``ill=5``."""
    weights: dict[str, float] = {}
    for text in texts:
        label, _, number = text.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not label or not 0 < weight < math.inf:
            raise click.UsageError(
                f"--class-weight must be a class and a weight above 0, as in ill=5, not {text!r}. Weights are public numbers: "
                "'balanced' ones would be read off the private records"
            )
        if label in weights:
            raise click.UsageError(f"--class-weight names {label!r} twice")
        weights[label] = weight
    return weights or None


def _check_weights(weights: dict[str, float] | None, classes: "Sequence[Label]") -> None:
    from ..schema.columns import canonical

    known = [canonical(c) for c in classes]
    for label in weights or ():
        if label not in known:
            raise click.UsageError(f"--class-weight names {label!r}, but the schema's classes are {_listed(known)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(on_one_line, names))


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
    from ..privacy.ledger import LedgerError

    try:
        return ledger is not None and ledger.n_entries > entries
    except (LedgerError, OSError):
        return True


def open_ledger(path: Path | None) -> "Ledger | None":
    """The ledger in a file. If there is none, how to make it."""
    if path is None:
        return None
    if path.exists() and not path.is_file():
        raise click.UsageError(f"{path} is not a regular file, so it is not a ledger")
    if not path.exists():
        raise click.UsageError(
            f"there is no ledger {path}. Decide once how much all models from this table may reveal together, and make it:\n\n"
            f"    discreet ledger create {path} --epsilon 3"
        )
    from ..privacy.ledger import Ledger

    with errors_as_messages():
        return Ledger.open(path)


class Written(NamedTuple):
    """A table in a file, and how it is written there; or where else it is."""

    path: Any
    delimiter: str | None
    encoding: str
    decimal: str


def _classifier(greedy: bool, **parameters: Any) -> Any:
    from ..classifiers.greedy import DPGreedyRuleListClassifier
    from ..classifiers.optimal import DPOptimalRuleListClassifier

    return (DPGreedyRuleListClassifier if greedy else DPOptimalRuleListClassifier)(**parameters)


def _fit_file(
    in_engine: bool,
    table: Written,
    schema: "Schema",
    target: str | None,
    learn: Callable[..., Any],
    ledger: Path | None,
) -> "SavedModel":
    """From one file. Whoever counts its records, the vault is the same, and so is all that comes after."""
    from ..models.saved import SavedModel
    from ..privacy.ledger import exact
    from ..sources.files import column_names
    from ..vault.vault import Vault

    schema = _with_target(schema, target)
    with errors_as_messages():
        clf = learn(schema=schema)
        used = schema.exclude(clf.exclude)  # a name that is not there is noticed before the table is read
        if clf._binary_only and len(schema.classes or ()) != 2:
            raise click.UsageError(
                f"--mechanism {clf.mechanism} is for two classes, and the schema's target has {len(schema.classes or ())}: use "
                "--learner optimal or --mechanism mass"
            )
        if clf.ledger is not None:  # so that nobody waits for a large file in vain
            clf.ledger.check(exact("epsilon", clf.epsilon), exact("delta", getattr(clf, "delta", None) or 0))
        needed = [*(c.name for c in used.used), str(used.target)]
        with _working():
            if in_engine:
                vault = Vault.from_source(open_where_it_is(table.path, needed, *table[1:]), used)
            else:
                check_columns(table.path, needed, column_names(*table[:3]))
                vault = Vault.from_file(table.path, used, *table[1:])
            note_ledger(table.path, ledger)
            clf.fit_vault(vault)
        return SavedModel.of(clf, schema.target)


def _with_target(schema: "Schema", target: str | None) -> "Schema":
    from dataclasses import replace

    schema = replace(schema, target=target_of(schema, target))
    if schema.classes is None:
        raise click.UsageError("the schema does not say which classes the target has: add [target] classes = [...]")
    return schema


def _fit_where_it_is(
    table: Written, schema: "Schema", target: str | None, learn: Callable[..., Any], ledger: Path | None
) -> "SavedModel":
    """In the engine that has the table: only counts leave it."""
    from ..models.saved import SavedModel

    schema = _with_target(schema, target)
    with errors_as_messages():
        clf = learn(schema=schema)
        needed = [*(c.name for c in schema.exclude(clf.exclude).used), str(schema.target)]
        opened = open_where_it_is(table.path, needed, *table[1:])
        note_ledger(table.path, ledger)
        clf.fit_source(opened, verbose=True)
        return SavedModel.of(clf, schema.target)


def _fit_inferred(table: Written, target: str | None, learn: Callable[..., Any], ledger: Path | None) -> "SavedModel":
    """With a schema made from the records: aloud, and with no promise."""
    import warnings

    from ..common.errors import PrivacyWarning
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
        with _working():
            clf = learn(infer_schema=True).fit(frame.drop(columns=target), frame[target].to_numpy())
        return SavedModel.of(clf, target)


def _working() -> Any:
    return open_console(stderr=True).status("learning ...")


def _show(model: "SavedModel", out: Path, report: Path | None, ledger_file: Path | None) -> None:
    from rich.panel import Panel

    console = open_console()
    assert model.privacy is not None
    title = as_text(f"Predicting {on_one_line(model.target)}")
    console.print(Panel(coloured(model.model), title=title, title_align="left", padding=(1, 2)))
    if model.model.answers[-1].counts is not None:
        console.print("Shares and counts are noisy; the report says by how much.", style="dim")
    style = "green" if model.privacy.proved else "bold red"
    console.print(Panel(as_text(model.privacy, style), title="What it promises", title_align="left", padding=(1, 2)))
    if model.ledger is None:
        console.print(
            "Not on a ledger: what several models from one table reveal adds up, and nobody counts. "
            "`discreet ledger create ledger.json --epsilon 3`, then --ledger ledger.json.",
            style="yellow",
        )
    else:
        console.print(
            f"On the ledger {on_one_line(ledger_file)}: {float(model.ledger.remaining[0]):.6g} of "
            f"{float(model.ledger.epsilon):.6g} left."
        )
    place = on_one_line(out)
    console.print(f"Model: {place}" + (f"   report: {on_one_line(report)}" if report else ""))
    console.print(
        f"Next: discreet predict {place} NEW.csv --out scores.csv   or   discreet show {place} --format sql",
        style="dim",
    )

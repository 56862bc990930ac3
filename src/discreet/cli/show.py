"""``discreet show``, and how a model looks in a terminal."""

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..estimators.parameters import OneOf
from . import common
from .options import Names
from .terminal import as_text, on_one_line, open_console, say_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ..models.model import Model
    from ..models.partition import Answer, Piece
    from ..models.score_card import ScoreCard

NO_PROMISE = "Learned without privacy: it promises nothing about the records."
LABEL_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


def coloured(model: "Model", counts_epsilon: float | None = None) -> "Text":
    """A model in colour, a line a rule or leaf, with the share of its label among the (noisily) counted records it captured.

    With the epsilon of each count, also from where to where their number is.
    """
    from rich.text import Text

    from ..models.score_card import ScoreCard

    if isinstance(model, ScoreCard):
        lines = _lines_of_card(model, counts_epsilon)
    else:
        lines = (_in_colour(model, line, counts_epsilon) for line in model.lines())
    return Text("\n").join(Text.assemble(*line) for line in lines)


def _in_colour(model: "Model", line: "Iterable[Piece]", counts_epsilon: float | None) -> list[Any]:
    """A line of a rule list or a tree, as it prints."""
    from ..models.display.wording import in_labels
    from ..models.partition import Answer

    found: list[Any] = []
    for piece in line:
        if isinstance(piece, Answer):
            found += _answer(model, piece, counts_epsilon)
        elif isinstance(piece, str):
            found.append((piece, "bold"))
        else:
            found.append(on_one_line(" and ".join(str(in_labels(literal, model.schema)) for literal in piece)))
    return found


def _lines_of_card(model: "ScoreCard", counts_epsilon: float | None) -> Iterator[list[Any]]:
    """A score card: columns, values and points under each other, then what totals mean."""
    from ..models.display.wording import classes_called, in_labels
    from ..models.score_card import LARGEST_TOTAL, aligned, card_rows, ranges_of_totals

    for number, card in enumerate(model.cards):
        if len(model.cards) > 1:
            said = " and ".join(on_one_line(in_labels(literal, model.schema)) for literal in card.condition)
            opening = ("if " if said else "") if number == 0 else ("else if " if said else "else")
            yield [(opening, "bold"), said, (":", "bold")]
        given = card_rows(model, card, classes_called(model), labels=True)
        for left, *points in aligned([tuple(map(on_one_line, row)) for row in given], right=2):
            yield [left, *((cell, "bold") for cell in points)]
        yield []
    if model.has_points_by_class:
        yield [LARGEST_TOTAL]
        return
    ranges = ranges_of_totals(model.cards, model.limits)
    far = max(map(len, ranges))
    for said, answer in zip(ranges, model.answers, strict=True):
        yield [("total ", "bold"), f"{said:<{far}}   ", *_answer(model, answer, counts_epsilon)]


def _answer(model: "Model", answer: "Answer", counts_epsilon: float | None) -> list[Any]:
    """A label in its colour, and what its counts or shares say."""
    from ..models.display.wording import classes_called, percent, reason_for_label

    def share(of_all: float) -> str:
        return percent(of_all).replace("\u00a0", "")

    where = model.classes.index(answer.label)
    label = (on_one_line(classes_called(model)[where]), f"bold {LABEL_COLOURS[where % len(LABEL_COLOURS)]}")
    counts = [max(0.0, c) for c in answer.counts or ()]
    ends = answer.support_interval(counts_epsilon) if counts_epsilon and counts else None
    interval = "" if ends is None else f" ({ends[0]:,} to {ends[1]:,})"
    said = []
    if answer.shares is not None:  # they are not those of the counts: both are said
        records = max(0.0, sum(answer.counts or ()))
        said = [f"   {share(answer.shares[where])}", *[f"   {records:,.0f} records{interval}"] * bool(counts)]
    elif (total := sum(counts)) > 0:
        why = on_one_line(reason_for_label(model, answer, counts_epsilon is not None))
        said = [f"   {share(counts[where] / total)} of {total:,.0f}{interval}{why and f'; {why}'}"]
    elif counts:
        said = ["   too few records to count"]
    return [label, *((words, "dim") for words in said)]


def _dialects() -> "Collection[str]":
    from ..models.export.sql import DIALECTS

    return DIALECTS


@click.command()
@click.argument("model", type=common.FILE)
@common.flag(
    "--promise", help="What MODEL promises, in full: what is proved, under which assumptions, and what it cost."
)
@common.option_with_default(
    *("--format", "-f", "form"),
    type=click.Choice(["text", "json", "sql", "python", "pmml", "onnx", "html"]),
    default="text",
    help="Text for people, JSON, code that scores records, or an HTML report.",
)
@common.option_with_default("--dialect", type=Names(OneOf(_dialects)), default="duckdb", help="The dialect of SQL.")
@click.option(
    "--types",
    multiple=True,
    metavar="COLUMN=TYPE",
    help="For sql, pmml, onnx: how a column is stored, as text, number or boolean. Repeat.",
)
@click.option("--share-of", help="For sql and python: the share of this class, instead of the predicted class.")
@common.flag("--as-tree", help="For pmml: a rule list as a TreeModel, of which every evaluator knows shares.")
@common.out_option(help="Write to this file, not to the screen.")
@common.force_option
@common.flag("--json", "as_json", help="The same as --format json; with --promise, the promise as JSON.")
def show(
    model: Path,
    promise: bool,
    form: str,
    dialect: str,
    types: tuple[str, ...],
    share_of: str | None,
    as_tree: bool,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show MODEL: its rules, what it promises, or code that scores new records."""
    from ..models.saved import SavedModel
    from ..report.html import to_html

    common.check_outputs([out], [model], force)
    form = "json" if as_json else form
    if form == "onnx" and out is None:
        raise click.UsageError("ONNX is not text: say --out model.onnx")
    if promise and (form not in ("text", "json") or out is not None):
        raise click.UsageError("--promise is printed, as text or JSON: leave out --out, and other formats")
    saved = SavedModel.load(model)
    shown = saved.model
    kinds = common.named("--types", "a column and text, number or boolean, as in age=number", str, types)
    stored: Any = {"types": kinds or None}
    of = next((c for c in shown.classes if str(c) == share_of), None)
    if share_of is not None and of is None:
        raise click.UsageError(f"--share-of must be one of {', '.join(map(on_one_line, shown.classes))}")
    if form == "onnx" and out is not None:
        return common.write_new(out, shown.to_onnx(**stored), force)
    if form == "text" and out is None:
        console = open_console()
        if promise:
            return console.print(_promise(saved))
        print_model(console, saved)
        return console.print(promise_line(saved, model))
    made: dict[str, Callable[[], str]] = {
        "json": lambda: (saved.privacy.to_json() if saved.privacy else "null") if promise else saved.to_json(),
        "sql": lambda: shown.to_sql(dialect, of, **stored),
        "python": lambda: shown.to_python(share_of=of),
        "pmml": lambda: shown.to_pmml(as_tree=as_tree, **stored).rstrip("\n"),
        "html": lambda: to_html(saved),
        "text": lambda: f"{shown}\n\n{saved.privacy or 'Learned without privacy.'}",
    }
    text = made[form]()
    if out is not None:
        common.write_new(out, text + "\n", force)
    else:
        say_lines([text, "\n"])


def title_of(saved: Any) -> "Text":
    """What a model predicts, or what kind of model it is."""
    from ..models.display.wording import target_called

    target = target_called(saved.model, saved.target)
    return as_text(f"A {saved.model.kind}" if target is None else f"Predicting {on_one_line(target)}")


def print_model(console: "Console", saved: Any) -> None:
    """A model in a frame, under what it predicts."""
    from rich.panel import Panel

    shown, noisy = coloured(saved.model, saved.counts_epsilon), None
    if saved.privacy is not None and saved.model.answers[-1].counts is not None:
        noisy = "noisy counts" + ("; in brackets: 95 % interval (noise only)" if saved.counts_epsilon else "")
    frame = Panel(
        shown, title=title_of(saved), title_align="left", subtitle=noisy, subtitle_align="right", padding=(1, 2)
    )
    console.print(frame)


def promise_line(saved: Any, place: Path) -> "Text":
    """In a line, what a model promises, or why it does not."""
    more = f"discreet show {on_one_line(place)} --promise"
    if saved.privacy is None:
        return as_text(NO_PROMISE, "bold red")
    if (proved := saved.privacy.proved) is None:
        return as_text(f"NO PRIVACY IS PROVED: {'; '.join(saved.privacy.because)}; more: {more}", "bold red")
    said = f"{proved}, proved"
    if saved.privacy.for_schema:
        said += f" (of which {saved.privacy.for_schema} for the schema)"
    if (records := saved.parameters.get("records_per_person", 1)) != 1:
        said += f", for people with up to {records} records"
    weak = proved.epsilon > common.WEAKEST
    return as_text(
        f"{said}{', which offers almost no protection' * weak}; assumptions: {more}", "red" if weak else "green"
    )


def _promise(saved: Any) -> str:
    """All of it, a paragraph a point."""
    from ..accounting.ledger_export import left_of

    if saved.privacy is None:
        return NO_PROMISE
    parts = list(saved.privacy.parts)
    if saved.counts_epsilon:
        parts.append(
            f"Each class count that it shows was released with noise for epsilon {saved.counts_epsilon:.4g}, part of the above."
        )
    if saved.ledger is not None:
        parts.append(f"Its ledger, when the model was saved: {left_of(saved.ledger)}.")
    return "\n".join(parts)

"""``discreet show``, and how a model looks in a terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .common import FILE, NEW_FILE, check_outputs, errors_as_messages, force_option, write_new
from .terminal import as_text, on_one_line, open_console, say_lines

if TYPE_CHECKING:
    from rich.text import Text

    from ..conditions.nodes import Node
    from ..conditions.partition import Answer, Condition, Model

LABEL_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


def coloured(model: "Model") -> "Text":
    """A model in colour, a line a rule or leaf, with the share of its label among the (noisily) counted records it captured."""
    from rich.text import Text

    from ..conditions.nodes import root_of
    from ..conditions.partition import conditions_of_answers
    from ..conditions.text import write_number

    if (root := root_of(model)) is not None:
        return _coloured_tree(model, root)
    lines: list[Text] = []
    for partition in model.partitions:
        for i, points in enumerate(partition.points or ()):
            lines.append(Text.assemble(*_words(partition.conditions, i), (write_number(points), "bold"), " points"))
        lines += [Text()] if partition.points else []
    conditions = conditions_of_answers(model)
    for i, answer in enumerate(model.answers):
        lines.append(Text.assemble(*_words(conditions, i), *_answer(model, answer)))
    return Text("\n").join(lines)


def _coloured_tree(model: "Model", root: "Node") -> "Text":
    """A tree, line by line as it prints."""
    from rich.text import Text

    from ..conditions.nodes import INDENT, lines_of

    lines = []
    for line in lines_of(root):
        parts: list[Any] = [INDENT * line.indent, (line.opening, "bold")]
        parts += [] if line.test is None else [" ", on_one_line(line.test), (" then", "bold")]
        parts += [] if line.answer is None else [" ", *_answer(model, line.answer)]
        lines.append(Text.assemble(*parts))
    return Text("\n").join(lines)


def _answer(model: "Model", answer: "Answer") -> list[Any]:
    """A label in its colour, and what its counts or shares say."""
    where = model.classes.index(answer.label)
    label = (on_one_line(answer.label), f"bold {LABEL_COLOURS[where % len(LABEL_COLOURS)]}")
    counts = [max(0.0, c) for c in answer.counts or ()]
    if (total := sum(counts)) > 0:
        return [label, (f"   {counts[where] / total:.0%} of {total:,.0f}", "dim")]
    if counts:
        return [label, ("   too few records to count", "dim")]
    return [label] if answer.shares is None else [label, (f"   {answer.shares[where]:.0%}", "dim")]


def _words(conditions: "Sequence[Condition]", i: int) -> list[Any]:
    """How the line of a condition begins."""
    last = i == len(conditions) - 1
    opening = ("always " if last and i == 0 else "else " if last else "if " if i == 0 else "else if ", "bold")
    return [opening] if last else [opening, on_one_line(" and ".join(map(str, conditions[i]))), (" then ", "bold")]


@click.command()
@click.argument("model", type=FILE)
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(["text", "json", "sql", "python", "html"]),
    default="text",
    show_default=True,
    help="For people, programs, databases, Python without this package, or as a report.",
)
@click.option(
    "--dialect",
    type=click.Choice(["duckdb", "postgresql", "spark"]),
    default="duckdb",
    show_default=True,
    help="Of SQL.",
)
@click.option("--share-of", help="For sql and python: the share of this class, instead of the predicted class.")
@click.option("--out", "-o", type=NEW_FILE, help="Write to a file.")
@force_option
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def show(
    model: Path, form: str, dialect: str, share_of: str | None, out: Path | None, force: bool, as_json: bool
) -> None:
    """Show MODEL: its rules and what it promises, or code that scores new records."""
    from ..models.saved import SavedModel

    check_outputs([out], [model], force)
    with errors_as_messages():
        saved = SavedModel.load(model)
        shown = saved.model
        of = None
        if share_of is not None:
            found = [c for c in shown.classes if str(c) == share_of]
            if not found:
                raise click.UsageError(f"--share-of must be one of {', '.join(map(on_one_line, shown.classes))}")
            of = found[0]
        if as_json or form == "json":
            text = saved.to_json()
        elif form == "sql":
            text = shown.to_sql(dialect, of)
        elif form == "python":
            text = shown.to_python(share_of=of)
        elif form == "html":
            from ..report.html import to_html

            text = to_html(saved)
        elif out is not None:
            text = f"{shown}\n\n{saved.privacy or 'Learned without privacy.'}"
        else:
            return _show(saved)
    if out is not None:
        write_new(out, text + "\n", force)
    else:
        say_lines([text, "\n"])


def _show(saved: Any) -> None:
    from rich.panel import Panel

    console = open_console()
    title = f"A {saved.model.kind}" if saved.target is None else f"Predicting {on_one_line(saved.target)}"
    console.print(Panel(coloured(saved.model), title=as_text(title), title_align="left", padding=(1, 2)))
    console.print(str(saved.privacy or "Learned without privacy: it promises nothing about the records."))

"""Files for what is paid for with privacy: their place and space are taken before the draw, and what is drawn is never lost.

How much space follows from public numbers alone: schema and parameters.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.writing import PendingFile
from .ending import NOT_WRITTEN, Failure, as_message
from .terminal import say, say_lines

if TYPE_CHECKING:
    from ..schema import Schema

MOST_RULES = 1_000  # more are not expected; if they come and find no space, the model is printed
MOST_RANGES = 100  # of totals, that a score card has a risk for


def reserved(path: Path, size: int, force: bool) -> PendingFile:
    """Place and space for a file, as long as the command runs."""
    try:
        return click.get_current_context().with_resource(PendingFile(path, size, over=force))
    except OSError as error:
        raise click.ClickException(
            f"{path} cannot be written ({error.strerror}); up to {size / 1e6:.1f} MB are needed. Nothing was spent"
        ) from None


def keep(file: PendingFile, text: str, path: Path, epsilon: float) -> None:
    """Write what was paid for. If it cannot be written, print it."""
    try:
        file.stream.write(text.encode("utf-8"))
        file.commit()
    except BaseException as error:
        told = as_message(error)
        where = "standard output"
        try:
            say_lines([text])
        except (OSError, ValueError, AttributeError):  # on the same full disk, or closed
            where = "standard error"
            say(text, err=True)
        raise Failure(
            f"{path} could not be written ({type(error).__name__ if told is None else told.message}). Epsilon {epsilon:g} IS "
            f"SPENT, and this would be lost: so it was printed to the {where}. Put that into a file",
            NOT_WRITTEN,
        ) from None


def say_paid(text: str, epsilon: float) -> None:
    """Print what was paid for; where nobody can read that, among the errors."""
    try:
        say(text)
    except OSError:
        say(text, err=True)
        lost = f"the standard output cannot be written. Epsilon {epsilon:g} IS SPENT; see above"
        raise Failure(lost, NOT_WRITTEN) from None


def size_for(schema: "Schema | None", parameters: Mapping[str, Any]) -> int:
    """More bytes than a model will have that is learned with these parameters."""
    if schema is None:  # made from the records: nobody knows before
        return 1 << 22
    data, named = schema.to_dict(), len(schema.classes or (0, 1)) * 64
    line = _longest(data) + 500
    if "tree_depth" in parameters:  # a row for each test of each column, and one for what is left, in each leaf's card
        rows = (1 << parameters["tree_depth"]) * sum(sum(1 for _ in column.tests()) + 2 for column in schema.used)
        lines: int = (rows + MOST_RANGES) * (line + named)
    elif "max_depth" in parameters:
        depth = sum(parameters.get("stages") or (parameters["max_depth"],))
        lines = min(1 << depth, MOST_RULES) * (2 * line + named)
    else:
        lines = min(parameters["max_length"], MOST_RULES) * ((parameters["max_card"] + 1) * line + named)
    return (1 << 17) + 4 * (len(json.dumps(data, indent=1)) + lines)


def size_of_report(model: int) -> int:
    """More bytes than the report will have, of a model of at most so many: a character takes up to six in HTML."""
    return (1 << 20) + 16 * model


def _longest(data: Any) -> int:
    """The length, as JSON, of the longest name or category."""
    if isinstance(data, dict):
        return max((max(_longest(key), _longest(value)) for key, value in data.items()), default=0)
    if isinstance(data, list | tuple):
        return max(map(_longest, data), default=0)
    return len(json.dumps(data, default=str))

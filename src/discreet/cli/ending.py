"""How a command ends: always with an exit code, and where something went wrong with a message that names no value.

What is paid for with privacy is never lost: its file's place and space are taken before the draw. How much space follows from
the schema alone.

What this package says by itself names no value of a record. What a library says may, and so may a traceback's last line: an
error that nobody foresaw is one line without it, unless whoever may see the records asks for the traceback.

`discreet --help` says what exit codes mean.
"""

import dis
import io
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.writing import PendingFile
from ..sources.urls import NO_SECRETS, UNREADABLE, repeats
from .terminal import on_one_line, say, say_lines

if TYPE_CHECKING:
    from ..schema import Schema

DONE, NO_BUDGET, NOT_WRITTEN, UNFORESEEN, STOPPED, UNREAD = 0, 3, 4, 70, 130, 141
NOT_REPEATED = "an argument that looks like a URL is wrong, or in the wrong place; it is not repeated here"
TRACEBACK = "DISCREET_TRACEBACK"
HOME = Path(__file__).resolve().parent.parent
SPACE = 1 << 24  # bytes. What should be larger still, and find no space, is printed
SPACE_BY_SCHEMA = 16  # more for each byte of it: a card has a row for each test of each column


class Commands(click.Group):
    """Commands in the order in which one needs them, none of which ends in a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        return list(self.commands)

    def main(self, args: Any = None, prog_name: str | None = None, standalone_mode: bool = True, **options: Any) -> Any:  # type: ignore[override]
        """Run a command and exit."""
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **options)
        with warnings.catch_warnings(), _noticing_ctrl_c() as pressed:
            warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}", err=True)
            try:
                found = super().main(args, prog_name, standalone_mode=False, **options)
                code = found if isinstance(found, int) else DONE
                if sys.stdout is not None:
                    sys.stdout.flush()  # what cannot be written is noticed here
            except SystemExit:
                raise
            except BaseException as error:
                code = _told(error, sys.argv[1:] if args is None else list(args), stopped=bool(pressed))
                _drop_what_cannot_be_written()
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does, but for a reader who went away (``discreet show ... | head``), for which click has a code of its own."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _drop_what_cannot_be_written()
            sys.exit(UNREAD)


@contextmanager
def _noticing_ctrl_c() -> Iterator[list[int]]:
    """A list that is not empty once Ctrl-C was pressed. Libraries may make another error of it, when they are imported, say.

    A process that is told to end (SIGTERM) ends in the same way: temporary files go, and it says what was booked.
    """
    pressed: list[int] = []
    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    here = threading.current_thread() is threading.main_thread()
    ours = [number for number, handler in usual.items() if here and signal.getsignal(number) is handler]

    def notice(number: int, frame: Any) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    for number in ours:
        signal.signal(number, notice)
    try:
        yield pressed
    finally:
        for number in ours:
            signal.signal(number, usual[number])


def _drop_what_cannot_be_written() -> None:
    """Python would try again when it ends, complain, and end with a code of its own, 120."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: BaseException, args: list[str], stopped: bool = False) -> int:
    """Say what went wrong; the exit code. ``stopped``: Ctrl-C was pressed before."""
    if os.environ.get(TRACEBACK) == "1":
        import traceback

        say("".join(traceback.format_exception(error)), err=True)
    if isinstance(error, BrokenPipeError):
        return UNREAD
    told = error if isinstance(error, click.ClickException) else as_message(error)
    made_of_it = stopped and (told is None or isinstance(error, ImportError))
    if made_of_it or isinstance(error, click.Abort | KeyboardInterrupt | EOFError):
        say("Stopped.", err=True)
        return STOPPED
    if told is None:
        told = failure(
            f"an unexpected error ({type(error).__name__}). Details are suppressed because they may contain data. "
            f"With {TRACEBACK}=1 in the environment they are shown: for your eyes only, do not share them",
            UNFORESEEN,
        )
    text = io.StringIO()
    text.isatty = lambda: True  # type: ignore[method-assign]  # for files click takes colours out, and would hide a part of a name
    told.show(text)
    message = text.getvalue().rstrip("\n")
    if told.message not in (NO_SECRETS, UNREADABLE) and any(repeats(message, arg) for arg in _not_ledgers(args)):
        message = f"Error: {NOT_REPEATED}"
    say(_on_their_lines(message, args), err=True)
    return told.exit_code


def _not_ledgers(args: list[str]) -> list[str]:
    """All but addresses of ledgers, in which there is no secret: what does not have their very form was refused."""
    from ..accounting.postgres_ledger import is_address

    def is_one(last: str, arg: str) -> bool:
        named = args[0] == "ledger" or last == "--ledger" or arg.startswith("--ledger=")
        return named and is_address(arg.removeprefix("--ledger="))

    return [arg for last, arg in zip(["", *args], args, strict=False) if not is_one(last, arg)]


def _on_their_lines(message: str, args: list[str]) -> str:
    """A path may have line breaks in it, and what comes after one looks like a line of ours."""
    for arg in args:
        value = arg.partition("=")[2] if arg.startswith("--") else arg
        for path in (value, str(Path(value)), Path(value).name):
            if "\n" in path:
                message = message.replace(path, on_one_line(path))
    return message


def failure(message: str, exit_code: int) -> click.ClickException:
    """A message with an exit code of its own."""
    error = click.ClickException(message)
    error.exit_code = exit_code  # type: ignore[misc]  # click has one for a class
    return error


def as_message(error: BaseException) -> click.ClickException | None:
    """An error as a message, if it is one that may be shown."""
    if isinstance(error, MemoryError):  # NumPy's and pyarrow's say how much they wanted, which follows the records
        return click.ClickException("there is not enough memory for this")
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return click.ClickException(f"{where}{error.strerror}")
    if isinstance(error, ValueError) and (refused := _as_refusal(error)) is not None:
        return refused
    if isinstance(error, ImportError) or (isinstance(error, ValueError | TypeError | OSError) and _is_ours(error)):
        return click.ClickException(str(error))
    return None


def _as_refusal(error: ValueError) -> click.ClickException | None:
    """What a ledger has too little left for, or does not take."""
    from ..accounting.ledger import BudgetError, NoDeltaError, SchemaDeltaError, UnprovedError

    if not isinstance(error, BudgetError):
        return None
    more = "Nothing was learned and nothing spent"
    if isinstance(error, NoDeltaError) and not isinstance(error, SchemaDeltaError):
        more = (
            "This mechanism needs a ledger with a delta (discreet ledger create NEW --epsilon 3 --delta 1e-5); models that "
            "are drawn whole (discreet fit list) and --mechanism mass need none"
        )
    elif not isinstance(error, NoDeltaError | UnprovedError):
        left = "What is left is all there is for this table"
        more = f"{more}. {left}: use a smaller --epsilon, or stop here"
    return failure(f"{error}. {more}", NO_BUDGET)


def _is_ours(error: BaseException) -> bool:
    """Whether a ``raise`` of this package made it: not a library, nor a call like ``float(text)``."""
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return Path(code.co_filename).is_relative_to(HOME) and dis.opname[code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


# --- what is paid for --------------------------------------------------------------------------------------------------------


def reserved(path: Path, force: bool, schema: "Schema | None" = None) -> PendingFile:
    """Place and space for a file, as long as the command runs: more than a model or an evaluation with this schema takes."""
    size = SPACE + (0 if schema is None else SPACE_BY_SCHEMA * len(json.dumps(schema.to_dict())))
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
        raise failure(
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
        raise failure(lost, NOT_WRITTEN) from None

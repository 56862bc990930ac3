"""The errors a user can meet. Their messages name a parameter or a column and the fix, never a record's value."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

LONGEST_MESSAGE = 1_000


class _ReadableError(ValueError):
    """An error whose message stays readable, however long the names are that it quotes."""

    def __init__(self, message: str = "") -> None:
        too_long = len(message) > LONGEST_MESSAGE
        super().__init__(f"{message[:600]} ... {message[-300:]}" if too_long else message)


class SchemaError(_ReadableError):
    """A schema, or a table that does not fit its schema."""


class RuleError(_ReadableError):
    """A literal, rule or rule list that cannot be read, or does not fit its schema."""


class ModelError(_ReadableError):
    """A model file that cannot be read, was changed, or is something else."""


class CandidatesError(_ReadableError):
    """A candidate set that is empty or too large."""


class TableError(_ReadableError):
    """A file that cannot be read as a table."""


class EngineError(_ReadableError):
    """An engine that cannot be reached, or that stopped before it had counted the records. Nothing was spent."""


class NotEnoughMemory(_ReadableError, MemoryError):
    """Memory ran out in code that sees private records. How much was asked for is not said: it follows from them."""


class LearningError(_ReadableError):
    """An error inside a private learner, without its details."""


class PrivacyWarning(UserWarning):
    """Something was asked for about which nothing, or next to nothing, is promised. It depends on parameters alone."""


class WeakEpsilonWarning(PrivacyWarning):
    """An epsilon that offers almost no protection."""


class RepeatedFitsWarning(PrivacyWarning):
    """Fits that scikit-learn repeats: each of them spends, and none is on a ledger."""


class SeededWarning(PrivacyWarning):
    """Noise that can be repeated, because it has a seed."""


@contextmanager
def no_value_shown(problem: str) -> Iterator[None]:
    """Say ``problem`` instead of what a library says, or a value's own code: both like to quote the value."""
    try:
        yield
    except (SchemaError, RuleError, CandidatesError, EngineError, MemoryError, Warning):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # what Rust libraries raise
            raise
        raise SchemaError(f"{problem} ({type(error).__name__})") from None


_lock = Lock()
_ignoring: list[Any] = []  # one for each that is inside; the first one put the filters away


@contextmanager
def warnings_ignored() -> Iterator[None]:
    """Whether a library warns, or a value's own code, may depend on a record.

    Python has one list of filters for all threads: if each put back what it found, one would leave warnings off for good.
    """
    with _lock:
        catching = warnings.catch_warnings()
        if not _ignoring:
            catching.__enter__()
            warnings.simplefilter("ignore")
        _ignoring.append(_ignoring[0] if _ignoring else catching)
    try:
        yield
    finally:
        with _lock:
            first = _ignoring.pop()
            if not _ignoring:
                first.__exit__(None, None, None)


def shown(value: Any) -> str:
    """What a file says, for a message: some things that can be read from a file cannot be written."""
    try:
        return repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
        return f"a very long {type(value).__name__}"

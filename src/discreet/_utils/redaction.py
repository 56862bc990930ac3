"""What libraries say when private code fails may hold numbers about the records, so none of it gets out.

"Unable to allocate 2.33 GiB for an array with shape (314, 997616)" tells how many patterns a table has. That a fit failed for
want of memory may say something about the records, too; like run time, it is not covered by a promise. How many there are of
anything must not be said.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from .errors import LearningError, NotEnoughMemory

P = ParamSpec("P")
T = TypeVar("T")

NOTHING_BOOKED = "Nothing was booked"
STAYS_BOOKED = "The budget had been set aside and stays booked: count it as spent"
SEE_LEDGER = "If a ledger was given, look into it: what was set aside stays booked"
OUT_OF_MEMORY = ("OutOfMemoryException", "OutOfMemoryError")  # of engines, whose errors are no MemoryError


_inside: ContextVar[bool] = ContextVar("inside a call of this kind", default=False)


def call_redacted(call: Callable[[], T], booked: str | None, drawing: bool = False) -> T:
    """What ``call`` returns. If memory runs out, an error that has no number, nor the first error as its cause.

    ``booked`` is what to say about the budget; None leaves the error to an outer call of this kind.

    What NumPy would warn of is not said either. ``drawing``: it is learning that is called, which asks nothing of the caller any
    more; then the same goes for whatever else a library raises there. Errors of this package have no numbers, and pass, without
    what they hang on; so do those of files, and of packages that are not installed.
    """
    token = _inside.set(True)
    try:
        with np.errstate(all="ignore"):  # whether NumPy overflows depends on the records
            return call()
    except Exception as error:
        kind, out_of_memory = type(error), _is_of_memory(error)
        ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
        may_have_numbers = out_of_memory or (drawing and not isinstance(error, OSError | ImportError | Warning))
        if ours or not may_have_numbers or booked is None:
            error.__cause__ = error.__context__ = None  # what it hangs on may have numbers, too
            raise
    finally:
        _inside.reset(token)
    # not where the error was caught: it would hang on to this one as its context
    if out_of_memory:
        raise NotEnoughMemory(
            "there is not enough memory for this many combinations of values and candidate rules (how many is private). Give "
            "columns fewer cuts or categories, exclude some, lower max_card or max_length, or learn greedily where the table "
            f"is: fit_source(table, counting='nodes'). {booked}"
        )
    raise LearningError(
        f"learning stopped with an error inside this package ({kind.__name__}), which is a bug; what it said is not shown, since "
        f"it may have numbers about the records. {booked}"
    )


def count_redacted(fill: Callable[[], T]) -> T:
    """The same for filling a vault: nothing is booked yet, and nothing that a library says of a record is shown."""
    return call_redacted(fill, NOTHING_BOOKED, drawing=True)


def redacted(booked: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The same for all calls of a function that takes private records; within such a call, the outer one knows more."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            return call_redacted(lambda: function(*args, **kwargs), booked if not _inside.get() else None)

        return guarded

    return decorate


def _is_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or type(error).__name__ in OUT_OF_MEMORY

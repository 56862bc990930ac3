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


class redacting:
    """A block of code whose errors show no number. If memory runs out, another error takes the place of the first one.

    ``booked`` is what to say about the budget; None leaves the error to an outer block of this kind.

    What NumPy would warn of is not said either. ``drawing``: it is counting or learning that is done here, which asks nothing of
    the caller any more; then the same goes for whatever else a library raises. Errors of this package have no numbers, and pass,
    without what they hang on; so do those of files, and of packages that are not installed.
    """

    def __init__(self, booked: str | None, drawing: bool = False) -> None:
        self._booked, self._drawing = booked, drawing

    @classmethod
    def unless_inside(cls, booked: str) -> "redacting":
        """For what takes private records: within such a block, the outer one knows more."""
        return cls(booked if not _inside.get() else None)

    def __enter__(self) -> None:
        self._token = _inside.set(True)
        self._quiet = np.errstate(all="ignore")  # whether NumPy overflows depends on the records
        self._quiet.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._quiet.__exit__(None, None, None)
        _inside.reset(self._token)
        if kind is None or not isinstance(error, Exception):
            return
        out_of_memory = isinstance(error, MemoryError) or kind.__name__ in OUT_OF_MEMORY
        ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
        may_have_numbers = out_of_memory or (self._drawing and not isinstance(error, OSError | ImportError | Warning))
        if ours or not may_have_numbers or self._booked is None:
            error.__cause__ = error.__context__ = None  # what it hangs on may have numbers, too
            return
        bug = f"{A_BUG.format(kind.__name__)} {self._booked}"
        instead = NotEnoughMemory(f"{NO_MEMORY} {self._booked}") if out_of_memory else LearningError(bug)
        del error, trace  # this frame is in the new error's traceback
        try:
            raise instead
        except (NotEnoughMemory, LearningError):
            instead.__context__ = None  # the first error
            raise
        finally:
            del instead  # else the two hold each other, and exact counts with them, until the collector runs


NO_MEMORY = (
    "there is not enough memory for this many combinations of values and candidate rules (how many is private). Give columns "
    "fewer cuts or categories, exclude some, lower max_literals or max_length, or learn greedily where the table is: "
    "fit_source(table, counting='nodes')."
)
A_BUG = (
    "learning stopped with an error inside this package ({}), which is a bug; details are suppressed because they may "
    "contain numbers about the records."
)


def redacted(booked: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The same for all calls of a function that takes private records."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            with redacting.unless_inside(booked):
                return function(*args, **kwargs)

        return guarded

    return decorate

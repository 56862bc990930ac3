"""A limit on how long a draw may take.

It never changes what is drawn: a draw ends as it would without a limit, or in an error. Which of the two may depend on the
records and on the list that would have come out. So the guarantee covers neither a limit that strikes nor run time:
docs/limitations.md.
"""

import time


class TimeLimitError(TimeoutError):
    """A fit that took longer than its time limit. It says whether anything was booked, which then stays spent."""


class Deadline:
    """When to give up; never if there is no limit. ``booked``: whether the budget was reserved before."""

    def __init__(self, seconds: float | None = None, booked: bool = True) -> None:
        self._seconds, self.booked = seconds, booked
        self._end = None if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        """Raise TimeLimitError if the time is over."""
        if self._end is not None and time.monotonic() > self._end:
            budget = "its budget stays spent" if self.booked else "nothing was booked"
            raise TimeLimitError(
                f"the fit took longer than time_limit={self._seconds:g} seconds and was given up; {budget}. "
                "Give it more time, or less to do: a shorter list or a less deep tree, fewer rules at once (rules_per_draw, "
                "stages), fewer candidates (exclude, coarser columns)"
            )

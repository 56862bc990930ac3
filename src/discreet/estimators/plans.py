"""A fit before it happens, and how far it is: a bar on a terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from ..private.counts.counts import Counts
from ..private.release import Plan
from ..rules.candidates import Candidates
from ..sources.plan import Counting
from .feasibility import count_steps


def tree_steps(doing: str, tests: int, depths: Sequence[int], stage: int = 0, draws: int = 1) -> tuple[str, int]:
    """What a stage of trees is called, and how many steps it has."""
    trees = "a tree" if draws == 1 else f"{draws:,} trees"
    where = "" if len(depths) == 1 else f" (stage {stage + 1} of {len(depths)})"
    return f"{doing} {trees}{where}", draws * count_steps(tests, depths[stage])


class Bar:
    """How far it is, on a terminal. Each stage has a bar of its own: how many trees it draws is not known before.

    Without steps that are known beforehand, it shows that something is going on, and for how long.
    """

    def __init__(self, show: bool = False) -> None:
        self._show = show
        self._bar: Any = None

    def __enter__(self) -> Self:
        if self._show:
            from rich import progress
            from rich.console import Console

            if (console := Console(stderr=True)).is_terminal:
                self._bar = progress.Progress(
                    progress.TextColumn("{task.description}"),
                    *(progress.BarColumn(), progress.TaskProgressColumn(), progress.TimeElapsedColumn()),
                    *(progress.TimeRemainingColumn(), progress.TextColumn("{task.fields[left]}")),
                    console=console,
                    transient=True,
                )
                self._bar.start()
                self._task = self._bar.add_task("counting the records", total=None, left="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def begin(self, title: str, steps: int) -> None:
        """A stage begins, of so many steps; 0 if that is not known."""
        if self._bar is not None:
            # without an end there is no time left: what would stand before the word is how long it has been going on
            self._bar.reset(self._task, total=steps or None, description=title, left="left" if steps else "")

    def advance(self, steps: int) -> None:
        """So many steps are done."""
        if self._bar is not None:
            self._bar.advance(self._task, steps)


class Asked(NamedTuple):
    """What a plan is asked for: candidates, and how the records are counted (None where they are counted already).

    ``drafted``: a schema was drafted from the very table.
    """

    candidates: Candidates
    counting: Counting | None = None
    drafted: bool = False


@dataclass(frozen=True, kw_only=True)
class FitPlan(Plan):
    """A fit before it happens. ``said``: what a user who asked is told before it begins."""

    candidates: Candidates
    said: str = ""
    bar: Bar = field(default_factory=Bar)  # how far it is


class Told:
    """A source that tells when its records are counted. Those of ``PrivateCounts`` are there already."""

    def __init__(self, count: Callable[[Counting], Counts], counted: Callable[[], None] = lambda: None) -> None:
        self._count, self._counted = count, counted

    def count(self, counting: Counting) -> Counts:
        """As the source does."""
        counts = self._count(counting)
        self._counted()
        return counts

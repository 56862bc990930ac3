"""What a classifier that draws whole models says while it works: how long it may take, from public numbers, and how far it is."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from .feasible_lists import seconds_of_lists
from .feasible_trees import count_steps, estimate_seconds


def in_words(seconds: float) -> str:
    """A number of seconds, as precisely as it is known.

    >>> [in_words(s) for s in (0.2, 12.3, 89.0, 200.0, 7000.0)]
    ['less than a second', 'about 12 s', 'about 89 s', 'about 3 min', 'about 1.9 h']
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def estimate(tests: int, depths: Sequence[int], classes: int, criterion: str, ranges: int = 1) -> str:
    """What will be done, and how long it may take.

    >>> print(estimate(100, [4], 2, "accuracy"))
    Trees of up to depth 4 over 100 tests: about 2 s for the sums, plus counting the records.
    >>> print(estimate(100, [4, 2], 2, "mass"))
    Trees of up to depth 4, then 2, over 100 tests: at most about 3 s for the sums, plus counting the records.
    """
    took = in_words(estimate_seconds(tests, depths, classes, criterion, ranges))
    depth = ", then ".join(map(str, depths))
    if len(depths) > 1:  # how many trees the later ones draw depends on what the first one draws
        depth, took = f"{depth},", took.replace("about", "at most about")
    return f"Trees of up to depth {depth} over {tests:,} tests: {took} for the sums, plus counting the records."


def estimate_of_lists(candidates: int, sizes: Sequence[int], classes: int, ranges: int = 1) -> str:
    """The same for lists whose draws add so many rules.

    >>> print(estimate_of_lists(1200, [3], 2))
    Lists of up to 3 rules over 1,200 candidates: about 14 s for the sums, plus counting the records.
    >>> print(estimate_of_lists(1200, [2, 2], 2))
    Lists of up to 2, then 2 rules over 1,200 candidates: less than a second for the sums, plus counting the records.
    """
    took = in_words(sum(seconds_of_lists(candidates, size, classes, ranges) for size in sizes))
    rules = ", then ".join(map(str, sizes))
    return (
        f"Lists of up to {rules} rules over {candidates:,} candidates: {took} for the sums, plus counting the records."
    )


def steps_of_trees(doing: str, tests: int, depths: Sequence[int]) -> "Describe":
    """What a stage of trees is called, and how many steps it has."""

    def describe(stage: int, draws: int) -> tuple[str, int]:
        trees = "a tree" if draws == 1 else f"{draws:,} trees"
        where = "" if len(depths) == 1 else f" (stage {stage + 1} of {len(depths)})"
        return f"{doing} {trees}{where}", draws * count_steps(tests, depths[stage])

    return describe


def steps_of_lists(candidates: int, sizes: Sequence[int]) -> "Describe":
    """What a draw of a list is called, and how many pairs of rules it looks at."""
    pairs = candidates * (candidates + 1) // 2

    def describe(stage: int, draws: int) -> tuple[str, int]:
        where = "" if len(sizes) == 1 else f" (draw {stage + 1} of {len(sizes)})"
        return f"drawing a rule list{where}", pairs if sizes[stage] > 2 else 0

    return describe


Describe = Callable[
    [int, int], tuple[str, int]
]  # from the number of a stage, and of its draws: a title, and how many steps


class Bar:
    """How far it is, on a terminal. Each stage has a bar of its own: how many trees it draws is not known before.

    Without steps that are known beforehand, it shows that something is going on, and for how long.
    """

    def __init__(self, show: bool = False, describe: Describe = lambda stage, draws: ("", 0)) -> None:
        self._show, self._describe = show, describe
        self._bar: Any = None

    def __enter__(self) -> Self:
        if self._show:
            from rich.console import Console

            console = Console(stderr=True)
            if console.is_terminal:
                from rich import progress

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

    def begin_stage(self, stage: int, draws: int) -> None:
        """The stage of this number begins, with so many draws."""
        if self._bar is not None:
            title, total = self._describe(stage, draws)
            # without an end there is no time left: what would stand before the word is how long it has been going on
            self._bar.reset(self._task, total=total or None, description=title, left="left" if total else "")

    def advance(self, steps: int) -> None:
        """So many steps are done."""
        if self._bar is not None:
            self._bar.advance(self._task, steps)

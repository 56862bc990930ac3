"""What a classifier that draws trees says while it works: how long it may take, from public numbers, and how far it is."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ..learners.trees import count_steps, estimate_seconds


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


def estimate(tests: int, depths: Sequence[int], classes: int, criterion: str) -> str:
    """What will be done, and how long it may take.

    >>> print(estimate(100, [4], 2, "accuracy"))
    Trees of up to depth 4 over 100 tests: about 2 s for the sums, plus counting the records.
    >>> print(estimate(100, [4, 2], 2, "mass"))
    Trees of up to depth 4, then 2, over 100 tests: at most about 3 s for the sums, plus counting the records.
    """
    took = in_words(estimate_seconds(tests, depths, classes, criterion))
    depth = ", then ".join(map(str, depths))
    if len(depths) > 1:  # how many trees the later ones draw depends on what the first one draws
        depth, took = f"{depth},", took.replace("about", "at most about")
    return f"Trees of up to depth {depth} over {tests:,} tests: {took} for the sums, plus counting the records."


class Shown(NamedTuple):
    """Whom to tell that a stage begins, with its number and how many trees it draws; and that so many steps are done."""

    begin_stage: Callable[[int, int], None]
    advance: Callable[[int], None]


@contextmanager
def shown_progress(show: bool, doing: str, tests: int, depths: Sequence[int]) -> Iterator[Shown]:
    """How far it is, on a terminal. Each stage has a bar of its own: how many trees it draws is not known before."""
    nobody = Shown(lambda stage, draws: None, lambda steps: None)
    if not show:
        yield nobody
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield nobody
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(doing, total=None, visible=False)

        def begin_stage(stage: int, draws: int) -> None:
            trees = "a tree" if draws == 1 else f"{draws:,} trees"
            where = "" if len(depths) == 1 else f" (stage {stage + 1} of {len(depths)})"
            progress.reset(
                task,
                visible=True,
                total=draws * count_steps(tests, depths[stage]),
                description=f"{doing} {trees}{where}",
            )

        yield Shown(begin_stage, lambda steps: progress.advance(task, steps))

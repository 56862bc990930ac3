"""Which draws of trees are attempted, and how long they take: from public numbers alone."""

from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line knows depths before NumPy is imported
    from ..rules.limits import Limits


DEEPEST = 12  # of all stages together
DEEPEST_SUMMED = 3  # of a stage, from joint counts of three columns
MOST_STAGES = 8
MOST_TERMS = 2e11  # an hour or so
MOST_BYTES = 8 << 30
# Measured by `python benchmarks/trees --estimate`: with 1,000 records, draws took 0.7 to 1.7 times what follows from these (one,
# of 9 ms, 2.7 times); with 30,000 of which no two agree, 3 to 4.4 times at depth 4, because they have to be counted, too.
TERMS_PER_SECOND = 1e8
# for two classes and 100 tests 20 times as long as without ranges, for three classes and 70 tests 3.4 times (depth 3)
SLOWER_BY_RANGE = 7
SECONDS_PER_STEP, SECONDS_PER_PART = 4e-5, 4e-6  # what a set of tests, and each of its subsets, takes beside its terms


def count_terms(tests: int, depth: int) -> int:
    """How many numbers a draw of one tree adds up: for each set of depth - 1 tests, each with two sides, every test.

    >>> count_terms(70, 4)
    30654400
    """
    size = min(depth, tests + 1) - 1
    return tests * comb(tests, size) << size if depth else 1


def count_steps(tests: int, depth: int) -> int:
    """How often a draw of one tree reports that it went on: once for each set of up to depth - 2 tests.

    >>> count_steps(70, 4)
    2486
    """
    return sum(comb(tests, size) for size in range(max(1, depth - 1))) if depth and tests else 0


def count_bytes(tests: int, depth: int, classes: int, ranges: int = 1) -> int:
    """The memory of a draw, apart from the records: tables for sets of depth - 1 tests, and counts for those of depth - 3."""
    tables = sum(3 * 8 * ranges * comb(tests, k) << k for k in range(depth))
    pairs = sum(8 * classes * comb(tests, k) * (tests + 1) ** 2 for k in range(max(1, depth - 2)))
    return tables + pairs if depth else 0


def count_ranges(limits: "Limits | None") -> int:
    """How many numbers stand for the worth of a part: one, or one for each range of labels (private/sampling/trees/ranges.py)."""
    if limits is None or not limits.are_about_labels:
        return 1
    return len(limits.labels) * (len(limits.labels) + 1) // 2


def count_draws(stages: Sequence[int]) -> list[int]:
    """How many trees each stage draws, at most: one in each leaf that there can be.

    >>> count_draws((2, 2, 1))
    [1, 4, 16]
    """
    return [1 << sum(stages[:stage]) for stage in range(len(stages))]


def is_feasible(tests: int, depth: int, classes: int, draws: int = 1, ranges: int = 1) -> bool:
    """Whether so many draws of this depth are attempted. From public numbers alone, as stated in docs/trees.md."""
    work = draws * count_terms(tests, depth) * numbers_by(ranges, max(1, classes - 1))
    return work <= MOST_TERMS and count_bytes(tests, depth, classes, ranges) <= MOST_BYTES


def numbers_by(ranges: int, otherwise: int) -> int:
    """How many numbers are added up for each term, where the worth of a part is kept by ranges; and where it is not."""
    return otherwise if ranges == 1 else SLOWER_BY_RANGE * ranges


def estimate_seconds(tests: int, stages: Sequence[int], classes: int, criterion: str, ranges: int = 1) -> float:
    """How long the sums of all draws take, at most, from public numbers; about, and without the time to count the records.

    >>> round(estimate_seconds(100, [4], 2, "accuracy"), 1)
    1.6
    """
    # for two classes and accuracy the difference of their counts will do
    numbers = numbers_by(ranges, 1 if (classes, criterion) == (2, "accuracy") else max(1, classes))
    return sum(
        draws * (numbers * count_terms(tests, depth) / TERMS_PER_SECOND + _seconds_of_steps(tests, depth))
        for depth, draws in zip(stages, count_draws(stages), strict=True)
    )


def _seconds_of_steps(tests: int, depth: int) -> float:
    sizes = range(max(1, depth - 1)) if depth and tests else ()
    return sum(comb(tests, size) * (SECONDS_PER_STEP + SECONDS_PER_PART * (1 << size)) for size in sizes)


def check_feasible(
    tests: int, stages: Sequence[int], classes: int, parameter: str, criterion: str, ranges: int = 1
) -> None:
    """Raise ValueError, before any record is read, if a draw is out of reach; say which, and which depth is not."""
    for stage, (depth, draws) in enumerate(zip(stages, count_draws(stages), strict=True)):
        if is_feasible(tests, depth, classes, draws, ranges):
            continue
        feasible = max(d for d in range(depth) if is_feasible(tests, d, classes, draws, ranges))
        one = estimate_seconds(tests, [depth], classes, criterion, ranges)
        what = f"a draw of depth {depth}" if len(stages) == 1 else f"stage {stage + 1}, of depth {depth},"
        leaves = f" for up to {draws:,} leaves" if draws > 1 else ""
        raise ValueError(
            f"{parameter} is too large for {tests:,} tests: {what} would take about {one * draws / 3600:,.1f} hours and "
            f"{count_bytes(tests, depth, classes, ranges) / 2**30:,.1f} GiB{leaves}. "
            f"{_way_out(tests, stages[:stage], feasible, classes, ranges)} fewer tests (exclude, coarser columns). "
            "See docs/trees.md"
        )


def _way_out(tests: int, before: Sequence[int], feasible: int, classes: int, ranges: int) -> str:
    """What to do about a draw that is too deep, after stages that are not."""
    done = tuple(map(int, before))
    if done:
        deeper = f"Set stages={(*done, feasible)}, or leave" if feasible else "Leave"
        return f"{deeper} the stage out, stages={done}, or have"
    if not feasible:
        return "Have"
    deepest = min(feasible, DEEPEST - feasible)
    further = max((d for d in range(1, deepest + 1) if is_feasible(tests, d, classes, 1 << feasible)), default=0)
    # labels of several stages cannot be compared
    in_stages = f", or go on in stages, stages={(feasible, further)}" if further and ranges == 1 else ""
    return f"Depth {feasible} is feasible: set max_depth={feasible}{in_stages}; or have"

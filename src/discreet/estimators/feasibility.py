"""Which draws of lists and trees are attempted, and how long they take: from public numbers alone."""

from collections.abc import Sequence
from math import comb, perm

from ..private.counts.groups import Groups
from .parameters import DEEPEST

# -- Lists -----------------------------------------------------------------------------------------------------------------------

MOST_RULES = 8  # in one draw
# How many candidates a draw of 2, 3, ... rules at once may have, and how many lists a draw of more rules
MOST_CANDIDATES = {2: 5_000, 3: 5_000, 4: 1_500, 5: 1_000}
MOST_LISTS = 1e11
LONGEST_SUMMED = 3  # rules: their literals are about three columns
MOST_TERMS_OF_LISTS = 5e9  # a minute or so
MOST_COUNTS = 2e8  # of all classes: less than a gigabyte
LIST_TERMS_PER_SECOND = 6e7
# for two classes and 100 tests 20 times as long as without ranges, for three classes and 70 tests 3.4 times (depth 3)
SLOWER_BY_RANGE = 7


MOST_RANKED = (
    150  # classes for which it is proved what rounding can do to sums by ranges (docs/theory/rounding.md, Theorem 28a)
)


def count_ranges(classes: int) -> int:
    """How many numbers stand for the weight of a part that is kept by ranges of labels (private/sampling/trees/ranges.py)."""
    if classes > MOST_RANKED:
        raise ValueError(
            f"monotonic_cst, and forbid of lists, take up to {MOST_RANKED} classes, and there are {classes}: leave them out"
        )
    return classes * (classes + 1) // 2


def _numbers_by(ranges: int, otherwise: int) -> int:
    """How many numbers are added up for each term, where the weight of a part is kept by ranges; and where it is not."""
    return otherwise if ranges == 1 else SLOWER_BY_RANGE * ranges


def draws_of(max_rules: int, rules_per_draw: int | None) -> list[int]:
    """How many rules each draw may add: ``rules_per_draw`` at a time, the last draw the rest; all at once if it is None.

    >>> draws_of(5, 2)
    [2, 2, 1]
    >>> draws_of(3, None)
    [3]
    """
    size = max(1, max_rules if rules_per_draw is None else min(rules_per_draw, max_rules))
    return [min(size, max_rules - start) for start in range(0, max_rules, size)] or [0]


def count_lists(candidates: int, rules: int) -> int:
    """How many lists there are of this many different rules, or of all candidates if they are fewer."""
    return perm(candidates, min(rules, candidates))


def are_lists_feasible(candidates: int, rules: int) -> bool:
    """Whether a draw of up to this many rules is attempted. From public numbers alone, as stated in docs/optimal.md."""
    rules = min(rules, candidates)
    if rules <= 1:
        return True
    if rules in MOST_CANDIDATES:
        return candidates <= MOST_CANDIDATES[rules]
    return count_lists(candidates, rules) <= MOST_LISTS


def count_list_terms(candidates: int, rules: int, classes: int, ranges: int = 1) -> float:
    """How many numbers are added up for all lists of up to so many single literals. Which two come first does not matter.

    >>> count_list_terms(1000, 3, 2)
    500000000.0
    """
    # for two classes the difference of their counts will do
    numbers = _numbers_by(ranges, 1 if classes == 2 else 2 * classes)
    terms = float(candidates) ** min(rules, candidates)
    return numbers * (terms / 2 if rules >= 3 else terms)


def is_summed(candidates: int, bins: Sequence[int], rules: int, classes: int, ranges: int = 1) -> bool:
    """Whether all lists of up to so many single literals are added up. From public numbers alone, as stated in docs/optimal.md.

    ``bins`` has the number of bins of each column. ``ranges``: how many numbers stand for the weight of a part.
    """
    if rules > LONGEST_SUMMED:
        return False
    few = count_list_terms(candidates, rules, classes, ranges) <= MOST_TERMS_OF_LISTS
    return few and Groups.of(bins, max(1, rules)).count_places() * classes <= MOST_COUNTS


def check_lists(candidates: int, max_length: int, rules_per_draw: int | None, drawn: bool = True) -> None:
    """Raise ValueError, before any record is read, if a draw is out of reach; say which ``rules_per_draw`` is not."""
    size = max(draws_of(max_length - 1, rules_per_draw))
    name = "max_length" if rules_per_draw is None else "rules_per_draw"
    if not are_lists_feasible(candidates, size):
        largest = max(j for j in range(1, min(size, MOST_RULES + 1)) if are_lists_feasible(candidates, j))
        raise ValueError(
            f"{name} is too large for {candidates:,} candidates: a draw of {size} rules at once is one of "
            f"{count_lists(candidates, size):.1e} lists, which may take hours. Set rules_per_draw={largest} to draw {largest} "
            "at a time, or have fewer candidates (max_literals, exclude, negations=False, coarser columns). See docs/optimal.md"
        )
    if drawn and size > MOST_RULES:
        raise ValueError(
            f"{name} is too large: it asks for {size} rules in one draw, and at most {MOST_RULES} "
            f"can be drawn at once. Set rules_per_draw={MOST_RULES} or less to draw so many at a time, or "
            f"max_length={MOST_RULES + 1} or less. See docs/optimal.md"
        )


# -- Trees -----------------------------------------------------------------------------------------------------------------------

DEEPEST_SUMMED = 3  # of a stage, from joint counts of three columns
MOST_TERMS = 2e11  # an hour or so
MOST_BYTES = 8 << 30
# Measured by `python benchmarks/trees --estimate`: with 1,000 records, draws took 0.7 to 1.7 times what follows from these (one,
# of 9 ms, 2.7 times); with 30,000 of which no two agree, 3 to 4.4 times at depth 4, because they have to be counted, too.
TERMS_PER_SECOND = 1e8
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
    return sum(comb(tests, size) for size in _sizes(tests, depth))


def _sizes(tests: int, depth: int) -> range:
    return range(max(1, depth - 1)) if depth and tests else range(0)


def count_bytes(tests: int, depth: int, classes: int, ranges: int = 1) -> int:
    """The memory of a draw, apart from the records: tables for sets of depth - 1 tests, and counts for those of depth - 3."""
    tables = sum(3 * 8 * ranges * comb(tests, k) << k for k in range(depth))
    pairs = sum(8 * classes * comb(tests, k) * (tests + 1) ** 2 for k in range(max(1, depth - 2)))
    return tables + pairs if depth else 0


def count_draws(stages: Sequence[int]) -> list[int]:
    """How many trees each stage draws, at most: one in each leaf that there can be.

    >>> count_draws((2, 2, 1))
    [1, 4, 16]
    """
    return [1 << sum(stages[:stage]) for stage in range(len(stages))]


def is_feasible(tests: int, depth: int, classes: int, draws: int = 1, ranges: int = 1) -> bool:
    """Whether so many draws of this depth are attempted. From public numbers alone, as stated in docs/trees.md."""
    work = draws * count_terms(tests, depth) * _numbers_by(ranges, max(1, classes - 1))
    return work <= MOST_TERMS and count_bytes(tests, depth, classes, ranges) <= MOST_BYTES


def estimate_seconds(tests: int, stages: Sequence[int], classes: int, criterion: str, ranges: int = 1) -> float:
    """How long the sums of all draws take, at most, from public numbers; about, and without the time to count the records.

    >>> round(estimate_seconds(100, [4], 2, "accuracy"), 1)
    1.6
    """
    # for two classes and accuracy the difference of their counts will do
    numbers = _numbers_by(ranges, 1 if (classes, criterion) == (2, "accuracy") else max(1, classes))
    seconds = 0.0
    for depth, draws in zip(stages, count_draws(stages), strict=True):
        each = [
            comb(tests, size) * (SECONDS_PER_STEP + SECONDS_PER_PART * (1 << size)) for size in _sizes(tests, depth)
        ]
        seconds += draws * (numbers * count_terms(tests, depth) / TERMS_PER_SECOND + sum(each))
    return seconds


def check_trees(
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


# -- What a user is told ---------------------------------------------------------------------------------------------------------


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


def tell_trees(tests: int, depths: Sequence[int], classes: int, criterion: str, ranges: int = 1) -> str:
    """What will be done, and how long it may take.

    >>> print(tell_trees(100, [4], 2, "accuracy"))
    Trees of up to depth 4 over 100 tests: about 2 s for the sums, plus counting the records.
    >>> print(tell_trees(100, [4, 2], 2, "gini"))
    Trees of up to depth 4, then 2, over 100 tests: at most about 3 s for the sums, plus counting the records.
    """
    took = in_words(estimate_seconds(tests, depths, classes, criterion, ranges))
    depth = ", then ".join(map(str, depths))
    if len(depths) > 1:  # how many trees the later ones draw depends on what the first one draws
        depth, took = f"{depth},", took.replace("about", "at most about")
    return f"Trees of up to depth {depth} over {tests:,} tests: {took} for the sums, plus counting the records."


def tell_lists(candidates: int, sizes: Sequence[int], classes: int, ranges: int = 1) -> str:
    """The same for lists whose draws add so many rules.

    >>> print(tell_lists(1200, [3], 2))
    Lists of up to 3 rules over 1,200 candidates: about 14 s for the sums, plus counting the records.
    >>> print(tell_lists(1200, [2, 2], 2))
    Lists of up to 2, then 2 rules over 1,200 candidates: less than a second for the sums, plus counting the records.
    """
    terms = sum(count_list_terms(candidates, size, classes, ranges) for size in sizes)
    rules, took = ", then ".join(map(str, sizes)), in_words(terms / LIST_TERMS_PER_SECOND)
    return (
        f"Lists of up to {rules} rules over {candidates:,} candidates: {took} for the sums, plus counting the records."
    )

"""Which draws of rule lists are attempted, and how long they take: from public numbers alone."""

import math
from collections.abc import Sequence

from ..private.counts.groups import Groups
from .feasible_trees import numbers_by


def draws_of(max_rules: int, joint: int | None) -> list[int]:
    """How many rules each draw may add: ``joint`` at a time, the last draw the rest; all at once if it is None.

    >>> draws_of(5, 2)
    [2, 2, 1]
    >>> draws_of(3, None)
    [3]
    """
    size = max(1, max_rules if joint is None else min(joint, max_rules))
    return [min(size, max_rules - start) for start in range(0, max_rules, size)] or [0]


MOST_RULES = 8  # in one draw
# How many candidates a draw of 2, 3, ... rules at once may have, and how many lists a draw of more rules
MOST_CANDIDATES = {2: 5_000, 3: 5_000, 4: 1_500, 5: 1_000}
MOST_LISTS = 1e11


def count_lists(candidates: int, rules: int) -> int:
    """How many lists there are of this many different rules, or of all candidates if they are fewer."""
    return math.perm(candidates, min(rules, candidates))


def is_feasible(candidates: int, rules: int) -> bool:
    """Whether a draw of up to this many rules is attempted. From public numbers alone, as stated in docs/optimal.md."""
    rules = min(rules, candidates)
    if rules <= 1:
        return True
    if rules in MOST_CANDIDATES:
        return candidates <= MOST_CANDIDATES[rules]
    return count_lists(candidates, rules) <= MOST_LISTS


MOST_TERMS = 5e9  # a minute or so
MOST_COUNTS = 2e8  # of all classes: less than a gigabyte
LONGEST_SUMMED = 3  # rules: their literals are about three columns
TERMS_PER_SECOND = 6e7


def count_terms(candidates: int, rules: int, classes: int, ranges: int = 1) -> float:
    """How many numbers are added up for all lists of up to so many single literals. Which two come first does not matter.

    >>> count_terms(1000, 3, 2)
    500000000.0
    """
    # for two classes the difference of their counts will do
    numbers = numbers_by(ranges, 1 if classes == 2 else 2 * classes)
    terms = float(candidates) ** min(rules, candidates)
    return numbers * (terms / 2 if rules >= 3 else terms)


def seconds_of_lists(candidates: int, rules: int, classes: int, ranges: int = 1) -> float:
    """How long adding them up takes, about."""
    return count_terms(candidates, rules, classes, ranges) / TERMS_PER_SECOND


def is_summed(candidates: int, bins: Sequence[int], rules: int, classes: int, ranges: int = 1) -> bool:
    """Whether all lists of up to so many single literals are added up. From public numbers alone, as stated in docs/optimal.md.

    ``bins`` has the number of bins of each column. ``ranges``: how many numbers stand for the worth of a part.
    """
    if rules > LONGEST_SUMMED:
        return False
    few = count_terms(candidates, rules, classes, ranges) <= MOST_TERMS
    return few and Groups.of(bins, max(1, rules)).count_places() * classes <= MOST_COUNTS


def check_feasible(candidates: int, max_length: int, joint: int | None) -> None:
    """Raise ValueError, before any record is read, if a draw is out of reach; say which ``joint`` is not."""
    size = max(draws_of(max_length - 1, joint))
    if is_feasible(candidates, size):
        return
    largest = max(j for j in range(1, min(size, MOST_RULES + 1)) if is_feasible(candidates, j))
    raise ValueError(
        f"{'max_length' if joint is None else 'joint'} is too large for {candidates:,} candidates: a draw of {size} rules at "
        f"once is one of {count_lists(candidates, size):.1e} lists, which may take hours. Set joint={largest} to draw {largest} "
        "at a time, or have fewer candidates (max_card, exclude, negations=False, coarser columns). See docs/optimal.md"
    )


def check_joint(max_length: int, joint: int | None) -> None:
    """Raise ValueError, before any record is read, if a draw would be of too many rules."""
    size = max(draws_of(max_length - 1, joint))
    if size > MOST_RULES:
        raise ValueError(
            f"{'max_length' if joint is None else 'joint'} is too large: it asks for {size} rules in one draw, and at most "
            f"{MOST_RULES} can be drawn at once. Set joint={MOST_RULES} or less to draw so many at a time, or "
            f"max_length={MOST_RULES + 1} or less. See docs/optimal.md"
        )

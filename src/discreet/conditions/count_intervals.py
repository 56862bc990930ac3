"""Where the exact counts are of which a model released noisy ones: intervals that cover the noise, exactly.

A released count is the exact one plus discrete Laplace noise, so it is off by at most ``margin(epsilon)`` in 95 % of all cases,
and a sum of k of them by at most ``margin(epsilon, k)`` (noise/sums.py). With one exception: the count of a part's label may have
been raised to that of the largest class, so that shares agree with the label. It is then as large as another one, and what it was
before is not known. Of such a count only the upper end is used: the count before was no larger, so that end still covers, and
the lower end is 0. (Where an answer says its shares itself, as a score card's do, no count is raised.)
"""

from collections.abc import Sequence

from ..noise.sums import margin
from ..schema import Label
from .partition import Answer

Ends = tuple[int, int]


def count_intervals(answer: Answer, classes: Sequence[Label], epsilon: float) -> tuple[Ends, ...] | None:
    """For each class from where to where the exact count is, with 95 %; None without counts. ``epsilon`` is that of each count.

    >>> count_intervals(Answer("yes", (40, 90)), ["no", "yes"], 0.1)
    ((10, 70), (60, 120))
    >>> count_intervals(Answer("yes", (40, 40)), ["no", "yes"], 0.1)  # it may have been raised
    ((10, 70), (0, 70))
    """
    if answer.counts is None:
        return None
    far, raised = margin(epsilon), _raised(answer, classes)
    return tuple(_ends(0 if i == raised else c - far, c + far) for i, c in enumerate(answer.counts))


def support_interval(answer: Answer, classes: Sequence[Label], epsilon: float) -> Ends | None:
    """From where to where the exact number of records of all classes is, with 95 %; None without counts.

    >>> support_interval(Answer("yes", (40, 90)), ["no", "yes"], 0.1)
    (89, 171)
    """
    if answer.counts is None:
        return None
    raised, whole, n = _raised(answer, classes), sum(answer.counts), len(answer.counts)
    sure = whole - (0 if raised is None else answer.counts[raised])  # of the others alone: it may have been 0
    return _ends(sure - margin(epsilon, n - (raised is not None)), whole + margin(epsilon, n))


def _raised(answer: Answer, classes: Sequence[Label]) -> int | None:
    """The place of the label, if its count may have been raised: it is as large as that of another class, the largest of them."""
    assert answer.counts is not None
    if answer.shares is not None:
        return None
    place = next((i for i, label in enumerate(classes) if label == answer.label), None)
    others = [c for i, c in enumerate(answer.counts) if i != place]
    return place if place is not None and others and answer.counts[place] == max(others) else None


def _ends(low: float, high: float) -> Ends:
    return max(0, round(low)), max(0, round(high))

"""Where the exact counts are of which a model released noisy ones: intervals that cover the noise, exactly.

A released count is the exact one plus discrete Laplace noise, so it is off by at most ``margin(epsilon)`` in 95 % of all cases,
and a sum of k of them by at most ``margin(epsilon, k)`` (private/noise/sums.py).
"""

from ..private.noise.sums import margin
from ..rules.partition import Answer

Ends = tuple[int, int]


def count_intervals(answer: Answer, epsilon: float) -> tuple[Ends, ...] | None:
    """For each class from where to where the exact count is, with 95 %; None without counts. ``epsilon`` is that of each count.

    >>> count_intervals(Answer("yes", (40, 90)), 0.1)
    ((10, 70), (60, 120))
    """
    if answer.counts is None:
        return None
    far = margin(epsilon)
    return tuple(_ends(c - far, c + far) for c in answer.counts)


def support_interval(answer: Answer, epsilon: float) -> Ends | None:
    """From where to where the exact number of records of all classes is, with 95 %; None without counts.

    >>> support_interval(Answer("yes", (40, 90)), 0.1)
    (89, 171)
    """
    if answer.counts is None:
        return None
    whole, far = sum(answer.counts), margin(epsilon, len(answer.counts))
    return _ends(whole - far, whole + far)


def _ends(low: float, high: float) -> Ends:
    return max(0, round(low)), max(0, round(high))

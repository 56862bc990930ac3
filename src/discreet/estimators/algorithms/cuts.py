"""Cut points by halving: the middle one first, then those of both sides at once, and so on.

Given the cuts so far, what lies between them is disjoint, so a whole level costs what one choice costs: q cuts are paid for
``levels(q)`` times instead of q times (docs/theory.md, section 10).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ...private.mechanisms.quantile import Stretch


class Doors(Protocol):
    """What is asked of a vault."""

    def cut(self, stretches: Sequence[Stretch]) -> list[int]:
        """For each stretch the number of a candidate in it."""


def levels(n_cuts: int) -> int:
    """How many levels it takes: 1 cut one, 2 or 3 two, 4 to 7 three, 8 to 15 four."""
    return n_cuts.bit_length()


class _Wanted(NamedTuple):
    first: int
    last: int
    n_cuts: int


def cuts_by_halving(doors: Doors, n_candidates: int, n_cuts: int) -> list[int]:
    """The numbers of up to ``n_cuts`` candidates, in order; fewer where a stretch has no candidate left.

    What is asked next depends on the answers alone.
    """
    found: list[int] = []
    wanted = [_Wanted(0, n_candidates, n_cuts)]
    while wanted:
        # the n-th of 2n - 1 cuts is the middle one: half of the records are to be below it
        middles = [(w.n_cuts + 1) // 2 for w in wanted]
        answers = doors.cut([Stretch(w.first, w.last, m, w.n_cuts + 1) for w, m in zip(wanted, middles, strict=True)])
        found += answers
        sides = []
        for w, middle, cut in zip(wanted, middles, answers, strict=True):
            sides += [_Wanted(w.first, cut, middle - 1), _Wanted(cut + 1, w.last, w.n_cuts - middle)]
        wanted = [s._replace(n_cuts=min(s.n_cuts, s.last - s.first)) for s in sides]
        wanted = [s for s in wanted if s.n_cuts > 0]
    return sorted(found)

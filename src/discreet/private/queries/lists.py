"""Optimal rule lists. A draw is charged first, then answered with one list; class counts of disjoint parts are charged once.

Two samplers have the same distribution (docs/theory, Theorem 13), and public numbers decide between them: all lists of up to
three single literals are **summed** from joint counts of columns, and longer ones are drawn from an **envelope** over patterns.
The sums for the first draw are prepared before anything is booked: that takes nearly all of the time, and releases nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

from ...accounting.ledger import Reservation
from ...rules.candidates import Candidates
from ...rules.limits import Limits
from ...rules.prior import Prior
from ..counts.counts import Counts, Patterns
from ..counts.division import column_numbers, left_by
from ..counts.patterns import Array
from ..mechanisms.draws import DrawBudget
from ..noise.entropy import Entropy
from ..sampling.deadline import Deadline
from ..sampling.envelope import PatternLists
from ..sampling.limited_lists import LimitedListSums
from ..sampling.list_sums import Drawn, ListSums
from .base import rounded_down
from .list_parts import ListParts


class ListQueries(ListParts):
    """The queries for an optimal rule list.

    ``draws`` has for each draw the prior weights of how many rules it may add. ``class_weights`` are of at most 1, so that a
    record changes a score by at most 1. ``summed``: whether all lists are added up.
    """

    def __init__(
        self,
        counts: Counts,
        candidates: Candidates,
        noise: DrawBudget,
        prior: Prior,
        class_weights: Array,
        draws: Sequence[Sequence[float]],
        summed: bool,
        limits: Limits | None = None,
        time_limit: float | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._counts, self._candidates, self._noise, self._prior = counts, candidates, noise, prior
        self._class_weights, self._draws, self._summed = class_weights, draws, summed
        self._limits = limits  # of what is drawn next: they follow from what was
        self._time_limit, self._progress = time_limit, progress
        self._columns = candidates.columns
        self._numbers = column_numbers(self._columns, candidates)
        self._size = max(1, *(len(lengths) - 1 for lengths in draws))
        self._first: ListSums | PatternLists | None = None
        self._exact: dict[tuple[tuple[int, ...], int | None], Array] = {}

    def prepare(self) -> Self:
        """Weigh all lists of the first draw, or lay out what they are drawn from."""
        if self._summed:
            # counted before the clock runs: a limit that strikes then would say something about the records
            self._counts.joint(self._columns, self._size)
        self._deadline = Deadline(self._time_limit, booked=False)
        self._first = self._weighed((), self._draws[0])
        return self

    def open(self, reservation: Reservation, entropy: Entropy) -> Self:
        """From now on, answers are charged to this reservation."""
        self._deadline.booked = True
        return super().open(reservation, entropy)

    def sample_list(self, prefix: Sequence[int], lengths: Sequence[float]) -> Drawn:
        """Rules and labels (the default's last) of a list for the records that a prefix leaves.

        ``lengths`` are the prior weights of 0, 1, ... rules. The draw is in proportion to ``prior * exp(epsilon * score)``,
        where adding a record to the table raises the score of each list by 0 to 1 (docs/theory/lists-and-trees.md, Theorem 13).
        """
        self._charge(self._noise.draw_epsilon, "draw of a list")
        lists, self._first = self._first or self._weighed(prefix, lengths), None
        rules, labels = lists.draw(self._entropy)
        self._keep(prefix, rules, lists)
        self._limits = self._limits and self._limits.after_rules(rules, labels[:-1])
        return rules, labels

    def _weighed(self, prefix: Sequence[int], lengths: Sequence[float]) -> ListSums | PatternLists:
        """What is drawn from: all lists for the records that a prefix leaves."""
        rules = self._prior.rules.copy()
        rules[list(prefix)] = 0.0
        prior = replace(self._prior, lengths=tuple(lengths), rules=rules)
        problem = prior, self._class_weights, rounded_down(self._noise.draw_epsilon), self._deadline
        if not self._summed:
            assert isinstance(self._counts, Patterns)
            return PatternLists(self._counts, self._candidates, *problem, prefix)
        division = left_by(prefix, self._candidates, self._numbers) if prefix else None
        counted = self._counts.joint(self._columns, self._size, division)
        if self._limits is None:
            return ListSums(counted, self._candidates, *problem, self._progress)
        return LimitedListSums(counted, self._candidates, *problem, self._progress, limits=self._limits)

    def _keep(self, prefix: Sequence[int], rules: Sequence[int], lists: ListSums | PatternLists) -> None:
        """The class counts of what was drawn: its parts are disjoint, and so are they from those of the prefix."""
        for i, (rule, counts) in enumerate(zip([*rules, None], lists.parts_of(rules), strict=True)):
            self._exact[(*prefix, *rules[:i]), rule] = counts

    def _part(self, prefix: Sequence[int], rule: int | None) -> Array:
        return self._exact[tuple(prefix), rule]

"""The first sampler: an exact draw of a whole rule list by rejection from a branch-and-bound envelope.

All lists are divided into *elements*, each with an upper bound on the weight of its lists. Draw an element in proportion to
(bound * number of lists, weighted by the prior), propose a list in it by the prior, and accept it with probability
weight / bound; otherwise start again.

**Exactness** (docs/theory.md, Theorem 16). An attempt returns the list x with probability
(bound * prior(x)) / total * weight(x) / bound = prior(x) * weight(x) / total, whatever the elements and their bounds, as long as
the elements are disjoint and cover all lists and the bounds hold. So the accepted list has the law of the weights, for any
division. Divisions are made by looking at the data, and made anew if too many attempts fail: that costs time and changes nothing,
because every single attempt has the same law, given that it returns something.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ...cells.cells import Array
from ...cells.secret import Secret
from ...noise.entropy import Entropy
from ..problem import ROWS, Problem
from ..speed.deadline import Deadline
from ..speed.incumbent import good_weight
from ..speed.reach import Reach
from ..speed.thresholds import Threshold, finenesses
from .choices import concrete, draw_labels
from .elements import Elements, Last, Level, edges
from .order import draw_order
from .proposals import Places, Proposals, go_on, one_more, stop


def draw_by_envelope(problem: Problem, entropy: Entropy, deadline: Deadline) -> tuple[list[int], list[int]]:
    """Rules (by their numbers) and labels (the default's last) of one list."""
    reach = Reach(problem, deadline)
    known = known_weight(problem, reach, deadline)
    for slack, attempts, most in finenesses():
        threshold = Threshold(known, slack, most)
        elements = Elements(problem, reach, threshold, deadline)
        if elements.complete:
            groups = Envelope(elements, deadline).draw(entropy, attempts * (1 + problem.n_groups))
            if groups is not None:
                return concrete(problem, groups, entropy), draw_labels(problem, groups, entropy)
        if problem.longest > 1:  # a single rule is weighed at once
            known = threshold.known
    raise AssertionError("there is always a finer division")


def known_weight(problem: Problem, reach: Reach, deadline: Deadline) -> float:
    """The weight of some good lists, to begin with; it may be anything."""
    if problem.longest < 2:
        return -np.inf
    return good_weight(problem, lambda sets: edges(problem, reach, sets, np.zeros(1)).bound, deadline)


class _Piece(NamedTuple):
    """Elements of one kind that begin with the sets of one level."""

    level: Level | Last
    mass: Array  # for each set
    propose: Callable[[Places, Entropy], Proposals]


class Envelope(Secret):
    """Elements and the sums of their masses, to draw from as often as one likes."""

    def __init__(self, elements: Elements, deadline: Deadline) -> None:
        self._elements, self._deadline = elements, deadline
        self._pieces: list[_Piece] = []
        for level in elements.levels:
            self._pieces.append(_Piece(level, level.stop, stop))
            self._pieces.append(_Piece(level, level.pruned, partial(go_on, elements, level)))
        for last in elements.last:
            self._pieces.append(_Piece(last, last.stop, stop))
            self._pieces.append(_Piece(last, last.mass, partial(one_more, elements, last)))
        self._starts = np.cumsum([0] + [len(piece.mass) for piece in self._pieces])
        masses = np.concatenate([piece.mass for piece in self._pieces])
        masses -= masses.max()
        self._sums = np.cumsum(np.exp(masses, out=masses), out=masses)

    def draw(self, entropy: Entropy, attempts: int) -> list[int] | None:
        """A list of groups, or None if all attempts failed.

        **Identity.** Attempts are independent and have the same law, so several are made together, and the first that succeeds
        counts: "first" by the order in which elements were drawn, before anything was proposed.
        """
        done, together = 0, 1
        while done < attempts:
            self._deadline.check()
            u = entropy.uniform(together)
            places = np.searchsorted(self._sums, u * self._sums[-1], side="right").clip(max=len(self._sums) - 1)
            numbers = np.searchsorted(self._starts, places, side="right") - 1
            first, found = together, None
            for number in np.unique(numbers):
                here = np.flatnonzero(numbers == number)
                piece = self._pieces[number]
                at = places[here] - self._starts[number]
                proposals = piece.propose(at, entropy)
                accepted = np.flatnonzero(np.log(entropy.uniform(len(here))) < proposals.log_accept)
                if len(accepted) and here[accepted[0]] < first:
                    i = int(accepted[0])
                    first = int(here[i])
                    found = piece.level, int(at[i]), proposals.rules[i, : proposals.lengths[i]].tolist()
            if found is not None:
                return [*draw_order(self._elements, found[0], found[1], entropy), *found[2]]
            done += together
            together = min(4 * together, ROWS, attempts - done)
        return None

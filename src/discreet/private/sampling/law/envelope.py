"""The first sampler: an exact draw of a whole rule list by rejection from a branch-and-bound envelope.

All lists are divided into *elements*, each with an upper bound on the weight of its lists. Draw an element in proportion to
(bound * number of lists, weighted by the prior), propose a list in it by the prior, and accept it with probability
weight / bound; otherwise start again.

**Exactness** (docs/theory.md, Theorem 16). An attempt returns the list x with probability
(bound * prior(x)) / total * weight(x) / bound = prior(x) * weight(x) / total, whatever the elements and their bounds, as long as
the elements are disjoint and cover all lists and the bounds hold. So the accepted list has the law of the weights, for any
division. Divisions are made by looking at the data, and made anew if too many attempts fail: that costs time and changes nothing,
because every single attempt has the same law, given that it returns something.

**Rounding.** All this is computed in floating point, and then every choice is made by integers, so that the probability q(x) of
all choices that led to a labelled list x of rules is known exactly: that of its element, of what was proposed and accepted, of
its order, of the members of its groups and of its labels. There is one way to each list. A last coin accepts it with probability
weight(x) / (C q(x)), computed from counts (weight.py), C the total mass and a margin (margin.py). An attempt then returns x with
probability weight(x) / C: what was rounded does not matter, if only C q(x) is never below weight(x).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from ...counts.cells import Array
from ...counts.secret import Secret
from ...noise.decisions import Chances, is_below, unit, whole_weights
from ...noise.entropy import Entropy
from ..problem import ROWS, Problem
from ..speed.deadline import Deadline
from ..speed.incumbent import good_weight
from ..speed.reach import Reach
from ..speed.thresholds import Threshold, finenesses
from .choices import concrete, draw_labels, flip_each, places
from .elements import Elements, Last, Level, edges
from .margin import margin
from .order import draw_order
from .proposals import Places, Proposals, go_on, one_more, stop
from .weight import exact_weight

TOGETHER = 1 << 16  # masses that are made integers at once


def draw_by_envelope(problem: Problem, entropy: Entropy, deadline: Deadline) -> tuple[list[int], list[int]]:
    """Rules (by their numbers) and labels (the default's last) of one list."""
    reach = Reach(problem, deadline)
    known = known_weight(problem, reach, deadline)
    for slack, attempts, most in finenesses():
        threshold = Threshold(known, slack, most)
        elements = Elements(problem, reach, threshold, deadline)
        if elements.complete:
            drawn = Envelope(elements, deadline).draw(entropy, attempts * (1 + problem.n_groups))
            if drawn is not None:
                return drawn
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


class _Accepted(NamedTuple):
    """The first rules of a list as a set, the others in order, and the chance of all choices so far."""

    level: Level | Last
    place: int
    rules: list[int]
    chance: Fraction


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
        n, top = int(self._starts[-1]), max(float(piece.mass.max(initial=-np.inf)) for piece in self._pieces)
        self._sums = np.empty(n, np.int64)
        for piece, start in zip(self._pieces, self._starts.tolist(), strict=False):
            for i in range(0, len(piece.mass), TOGETHER):
                weights = whole_weights(piece.mass[i : i + TOGETHER], top, n)
                self._sums[start + i : start + i + len(weights)] = weights
        np.cumsum(self._sums, out=self._sums)
        self._log_mass, self._margin = top + math.log(int(self._sums[-1]) / unit(n)), margin(elements.problem)

    def draw(self, entropy: Entropy, attempts: int) -> tuple[list[int], list[int]] | None:
        """Rules (by their numbers) and labels of a list, or None if all attempts failed.

        **Identity.** Attempts are independent and have the same law, so several are made together, and the first that is accepted
        counts: "first" by the order in which elements were drawn, before anything was proposed. If the last coin fails it, those
        that came after it are forgotten unseen, and new ones are made.
        """
        done, together = 0, 1
        while done < attempts:
            self._deadline.check()
            accepted = self._first_accepted(entropy, together)
            if accepted is not None and (drawn := self._finished(accepted, entropy)) is not None:
                return drawn
            done += together
            together = min(4 * together, ROWS, attempts - done)
        return None

    def _first_accepted(self, entropy: Entropy, together: int) -> _Accepted | None:
        elements = places(self._sums, entropy, together)
        numbers = np.searchsorted(self._starts, elements, side="right") - 1
        first, found = together, None
        for number in np.unique(numbers):
            here = np.flatnonzero(numbers == number)
            piece = self._pieces[number]
            at = elements[here] - self._starts[number]
            proposals = piece.propose(at, entropy)
            coins = flip_each(proposals.log_accept, entropy)
            accepted = np.flatnonzero(coins.chosen)
            if len(accepted) and here[accepted[0]] < first:
                i = int(accepted[0])
                first = int(here[i])
                chance = self._chance(int(elements[first])) * proposals.chance(i) * coins.chance(i)
                found = _Accepted(piece.level, int(at[i]), proposals.rules[i, : proposals.lengths[i]].tolist(), chance)
        return found

    def _chance(self, element: int) -> Fraction:
        """That of an element to be drawn."""
        sums = self._sums
        return Fraction(int(sums[element]) - int(sums[element - 1] if element else 0), int(sums[-1]))

    def _finished(self, accepted: _Accepted, entropy: Entropy) -> tuple[list[int], list[int]] | None:
        """The list with its order, members and labels, if the last coin accepts it."""
        problem, chances = self._elements.problem, Chances(entropy)
        groups = [*draw_order(self._elements, accepted.level, accepted.place, chances.choose), *accepted.rules]
        rules = concrete(problem, groups, chances.choose)
        labels, score = draw_labels(problem, groups, chances.choose)
        if self._margin is not None:
            factor, power = exact_weight(problem, groups, score)
            factor /= accepted.chance * chances.chance
            power -= Fraction(self._log_mass + self._margin)
            if not is_below(entropy.bits(1, more=True), factor, power, entropy):
                return None
        return rules, labels

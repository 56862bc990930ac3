"""The sampler of longer lists: an exact draw of a rule list by rejection from a branch-and-bound envelope.

All lists are divided into *elements*, each with an upper bound on the weight of its lists. Draw an element in proportion to
(bound * number of lists, weighted by the prior), propose a list in it by the prior, and accept it with probability
weight / bound; otherwise start again.

**Exactness** (docs/theory/lists-and-trees.md, Theorem 16). An attempt returns the list x with probability (bound * prior(x)) /
total * weight(x) / bound = prior(x) * weight(x) / total, whatever the elements and their bounds, as long as the elements are
disjoint and cover all lists and the bounds hold. So the accepted list has the distribution of the weights, for any division.
Divisions are made by looking at the data, and made anew if too many attempts fail: that costs time and changes nothing, because
every single attempt has the same distribution, given that it returns something.

**Rounding.** All this is computed in floating point, and then every choice is made by integers, so that the probability q(x) of
all choices that led to a labelled list x of rules is known exactly: that of its element, of what was proposed and accepted, of
its order, of the members of its groups and of its labels. There is one way to each list. A last coin accepts it with probability
weight(x) / (C q(x)), computed from counts, C the total mass and a margin (choices.py). An attempt then returns x with
probability weight(x) / C: what was rounded does not matter, if only C q(x) is never below weight(x).

**Proposals.** How a list goes on after the set that an element begins with, and with which probability that is accepted.
For every list of an element, labels summed out,

    probability that it is proposed * probability that it is accepted = its weight / the mass of the element.

So ``log_accept`` is the logarithm of the weight of a list over what was booked for it: the mass times the probability of the
proposal. It is at most 0 if the bounds hold (``test_no_list_is_accepted_with_more_than_certainty``). All of it is computed, and
rounded; the chances of the choices that were in fact made are known exactly, and the envelope's last coin makes up for the rest.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...rules.candidates import Candidates
from ...rules.prior import Prior
from ..counts.counts import Patterns
from ..counts.patterns import Array, rules_on_patterns
from ..counts.secret import Secret
from ..noise.decisions import Chances, is_below, unit, whole_weights
from ..noise.entropy import Entropy
from .bounds import Bounds
from .choices import Choices, choose_each, concrete, cumulated, draw_labels, exact_weight, flip_each, margin
from .deadline import Deadline
from .elements import Elements, Last, Level, draw_order, edges, last_rules, terms
from .problem import ROWS, Problem, Sets, log_sum_exp, make_problem
from .thresholds import Threshold, finenesses, good_weight

Places = npt.NDArray[np.integer]
TOGETHER = 1 << 16  # masses that are made integers at once


def draw_by_envelope(problem: Problem, entropy: Entropy, deadline: Deadline) -> tuple[list[int], list[int]]:
    """Rules (by their numbers) and labels (the default's last) of one list."""
    bounds = Bounds(problem, deadline)
    known = known_weight(problem, bounds, deadline)
    for slack, attempts, most in finenesses():
        threshold = Threshold(known, slack, most)
        elements = Elements(problem, bounds, threshold, deadline)
        if elements.complete:
            drawn = Envelope(elements, deadline).draw(entropy, attempts * (1 + problem.n_groups))
            if drawn is not None:
                return drawn
        if problem.longest > 1:  # a single rule is weighed at once
            known = threshold.known
    raise AssertionError("there is always a finer division")


def known_weight(problem: Problem, bounds: Bounds, deadline: Deadline) -> float:
    """The weight of some good lists, to begin with; it may be anything."""
    return good_weight(problem, lambda sets: edges(problem, bounds, sets, np.zeros(1)).bound, deadline)


class PatternLists(Secret):
    """Lists of any rules, over the patterns that a prefix leaves."""

    def __init__(
        self,
        counts: Patterns,
        candidates: Candidates,
        prior: Prior,
        class_weights: Array,
        rate: float,
        deadline: Deadline,
        prefix: Sequence[int] = (),
    ) -> None:
        truth, by_class = rules_on_patterns(counts.patterns, candidates)
        alive = np.flatnonzero(~truth[list(prefix)].any(0)) if len(prefix) else slice(None)  # of all there is no copy
        self._truth, self.counts, self._deadline = truth[:, alive], by_class[:, alive], deadline
        self.problem = make_problem(self._truth, self.counts * class_weights[:, None], prior, rate)

    def draw(self, entropy: Entropy) -> tuple[list[int], list[int]]:
        """One of them by its weight."""
        with np.errstate(all="ignore"):  # weights may underflow, and whether they do depends on the records
            return draw_by_envelope(self.problem, entropy, self._deadline)

    def parts_of(self, rules: Sequence[int]) -> list[Array]:
        """Class counts of what each rule captures, and of what they leave."""
        alive, parts = np.ones(self._truth.shape[1], bool), []
        for rule in rules:
            parts.append(self.counts[:, alive & self._truth[rule]].sum(1))
            alive = alive & ~self._truth[rule]
        return [*parts, self.counts[:, alive].sum(1)]


class Proposals(NamedTuple):
    """How lists go on after their first rules, and whether to accept them."""

    log_accept: Array
    rules: Sets  # (rows, as many as possible)
    lengths: npt.NDArray[np.intp]
    choices: list[Choices]  # that led to them, one for each row

    def chance(self, i: int) -> Fraction:
        """Of the i-th: exactly."""
        return math.prod((made.chance(i) for made in self.choices), start=Fraction(1))


def stop(at: Places, entropy: Entropy) -> Proposals:
    """Nothing more. The mass is the weight, so it is always accepted."""
    return Proposals(np.zeros(len(at)), np.zeros((len(at), 0), np.int32), np.zeros(len(at), np.intp), [])


def one_more(elements: Elements, level: Last, at: Places, entropy: Entropy) -> Proposals:
    """One rule after sets of the last level.

    Where the mass is the exact sum, a rule by its weight, always accepted. Elsewhere a rule by its prior, members that are in the
    list already included, which are never accepted. The probability of a rule is its prior / the prior of all rules, so

        acceptance = W(T) * prior of the length * prior of *all* rules * labels of both parts * share of members free / mass.
    """
    problem, sets = elements.problem, level.sets[at].astype(np.int32)
    made = choose_each(elements.by_prior, entropy, len(at))
    rule = made.chosen
    log = _log_labels(problem, sets, rule[:, None], np.zeros(len(at), np.intp))
    log += _log_unused(problem, sets, rule)
    log += level.weight[at] + (problem.log_length[-1] + problem.log_rules) - level.mass[at]
    exact = np.flatnonzero(level.exact[at])
    if len(exact):
        some, again = np.unique(at[exact], return_inverse=True)  # many may go on from the same set
        logs = last_rules(problem, level.sets[some].astype(np.int32), level.weight[some])
        for array, new in zip(made, choose_each(cumulated(logs)[again], entropy, len(exact)), strict=True):
            array[exact] = new
        log[exact] = 0.0
    return Proposals(log, rule[:, None].astype(np.int32), np.ones(len(at), np.intp), [made])


def go_on(elements: Elements, level: Level, at: Places, entropy: Entropy) -> Proposals:
    """A rule that was pruned after a set, and anything after it.

    The rule by its bound, how many follow by ``terms``, and these by their prior, members that are in the list already included,
    which are never accepted. What is left of bound * share is exp(rate * best score) for each labelling, so the acceptance is

        labels of all parts / (exp(rate * best score) * number of labellings) * share of each rule's members that are free.

    The sum of the bounds of a set was booked a little too high, in single precision. It is computed again here, in double
    precision, and what was too much is rejected. (The bounds are computed again, too, and must not be larger than they were.)
    """
    problem, sets = elements.problem, level.sets[at]
    some, again = np.unique(at, return_inverse=True)  # many may go on from the same set, above all from that of no rule
    ways = edges(problem, elements.bounds, level.sets[some], level.weight[some])
    kept = np.unpackbits(level.kept[some], axis=1, count=problem.n_groups).astype(bool)
    pruned = np.where(kept, -np.inf, ways.bound)
    logs = terms(problem, sets.shape[1])
    choices = [choose_each(sums, entropy, len(at)) for sums in (cumulated(logs), cumulated(pruned)[again])]
    more = choices[0].chosen
    rules = np.empty((len(at), len(logs)), np.int32)
    rules[:, 0] = choices[1].chosen
    log = log_sum_exp(pruned)[again] - level.pruned[at]
    log -= ways.score[again, rules[:, 0]] + (more + 2) * math.log(problem.n_classes)
    for i in range(1, len(logs)):
        made = choose_each(elements.by_prior, entropy, len(at))
        rules[:, i] = made.chosen
        choices.append(made.where(i <= more))
        log += np.where(i <= more, _log_unused(problem, np.hstack([sets, rules[:, :i]]), rules[:, i]), 0.0)
    return Proposals(log + _log_labels(problem, sets, rules, more), rules, more + 1, choices)


def _log_labels(problem: Problem, sets: Sets, rules: npt.NDArray[np.integer], more: npt.NDArray[np.intp]) -> Array:
    """Of the first rule after each set, ``more`` further ones and the default: the logarithm of their labels' weights."""
    log = np.zeros(len(sets))
    for rows in problem.parts(len(sets)):
        alive, here = problem.alive(sets[rows]), more[rows]
        for i in range(rules.shape[1]):
            part = alive * problem.truth.T[rules[rows, i]]
            part *= (i <= here)[:, None]
            log[rows] += np.where(i <= here, problem.log_sum(problem.left(part)), 0.0)
            alive -= part
        log[rows] += problem.log_sum(problem.left(alive))
    return log


def _log_unused(problem: Problem, sets: Sets, rule: Places) -> Array:
    """The logarithm of the share of a group's members that a list does not have yet."""
    with np.errstate(divide="ignore"):
        log: Array = np.log(np.maximum(1.0 - (sets == rule[:, None]).sum(1) / problem.sizes[rule], 0.0))
    return log


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

        **Identity.** Attempts are independent and have the same distribution, so several are made together, and the first that
        is accepted counts: "first" by the order in which elements were drawn, before anything was proposed. If the last coin
        fails it, those that came after it are dropped without a look, and new ones are made.
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
        drawn = choose_each(self._sums, entropy, together)
        elements = drawn.chosen
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
                chance = drawn.chance(first) * proposals.chance(i) * coins.chance(i)
                found = _Accepted(piece.level, int(at[i]), proposals.rules[i, : proposals.lengths[i]].tolist(), chance)
        return found

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

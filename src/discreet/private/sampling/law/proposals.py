"""How a list goes on after the set that an element begins with, and with which probability that is accepted.

**Identity** (docs/theory.md, Theorem 16). For every list of an element, labels summed out,

    probability that it is proposed * probability that it is accepted = its weight / the mass of the element.

So ``log_accept`` is the logarithm of the weight of a list over what was booked for it: the mass times the probability of the
proposal. It is at most 0 if the bounds hold (``test_no_list_is_accepted_with_more_than_certainty``). All of it is computed, and
rounded; the chances of the choices that were in fact made are known exactly, and the envelope's last coin makes up for the rest.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...counts.cells import Array
from ...noise.entropy import Entropy
from ..problem import Problem, Sets, log_sum_exp
from .choices import Choices, choose_each, weighed
from .elements import Elements, Last, Level, edges, last_rules, terms

Places = npt.NDArray[np.integer]


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
        for array, new in zip(made, choose_each(weighed(logs).at(again), entropy, len(exact)), strict=True):
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
    ways = edges(problem, elements.reach, level.sets[some], level.weight[some])
    kept = np.unpackbits(level.kept[some], axis=1, count=problem.n_groups).astype(bool)
    bounds = np.where(kept, -np.inf, ways.bound)
    logs = terms(problem, sets.shape[1])
    choices = [choose_each(among, entropy, len(at)) for among in (weighed(logs), weighed(bounds).at(again))]
    more = choices[0].chosen
    rules = np.empty((len(at), len(logs)), np.int32)
    rules[:, 0] = choices[1].chosen
    log = log_sum_exp(bounds)[again] - level.pruned[at]
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

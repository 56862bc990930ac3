"""How a list goes on after the set that an element begins with, and with which probability that is accepted.

**Identity** (docs/theory.md, Theorem 16). For every list of an element, labels summed out,

    probability that it is proposed * probability that it is accepted = its weight / the mass of the element.

So ``log_accept`` is the logarithm of the weight of a list over what was booked for it: the mass times the probability of the
proposal. It is at most 0 if the bounds hold (``test_no_list_is_accepted_with_more_than_certainty``).
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...cells.cells import Array
from ...noise.entropy import Entropy
from ..problem import Problem, Sets
from .choices import pick_each
from .elements import Elements, Last, Level, edges, last_rules, terms

Places = npt.NDArray[np.integer]


class Proposals(NamedTuple):
    """How lists go on after their first rules, and whether to accept them."""

    log_accept: Array
    rules: Sets  # (rows, as many as possible)
    lengths: npt.NDArray[np.intp]


def stop(at: Places, entropy: Entropy) -> Proposals:
    """Nothing more. The mass is the weight, so it is always accepted."""
    return Proposals(np.zeros(len(at)), np.zeros((len(at), 0), np.int32), np.zeros(len(at), np.intp))


def one_more(elements: Elements, level: Last, at: Places, entropy: Entropy) -> Proposals:
    """One rule after sets of the last level.

    Where the mass is the exact sum, a rule by its weight, always accepted. Elsewhere a rule by its prior, members that are in the
    list already included, which are never accepted. The probability of a rule is its prior / the prior of all rules, so

        acceptance = W(T) * prior of the length * prior of *all* rules * labels of both parts * share of members free / mass.
    """
    problem, sets = elements.problem, level.sets[at].astype(np.int32)
    rule = pick_each(problem.log_members[None], entropy.uniform(len(at)))
    alive = problem.alive(sets)
    part = alive * problem.truth.T[rule]
    log = problem.log_sum(problem.left(part)) + problem.log_sum(problem.left(alive - part))
    log += _log_unused(problem, sets, rule)
    log += level.weight[at] + (problem.log_length[-1] + problem.log_rules) - level.mass[at]
    exact = np.flatnonzero(level.exact[at])
    if len(exact):
        logs = last_rules(problem, sets[exact], level.weight[at[exact]])
        rule[exact], log[exact] = pick_each(logs, entropy.uniform(len(exact))), 0.0
    return Proposals(log, rule[:, None].astype(np.int32), np.ones(len(at), np.intp))


def go_on(elements: Elements, level: Level, at: Places, entropy: Entropy) -> Proposals:
    """A rule that was pruned after a set, and anything after it.

    The rule by its bound, how many follow by ``terms``, and these by their prior, members that are in the list already included,
    which are never accepted. What is left of bound * share is exp(rate * best score) for each labelling, so the acceptance is

        labels of all parts / (exp(rate * best score) * number of labellings) * share of each rule's members that are free.

    The sum of the bounds of a set was booked a little too high, in single precision. It is computed again here, in double
    precision, and what was too much is rejected. (The bounds are computed again, too, and must not be larger than they were.)
    """
    problem, sets = elements.problem, level.sets[at]
    ways = edges(problem, elements.reach, sets, level.weight[at])
    kept = np.unpackbits(level.kept[at], axis=1, count=problem.n_groups).astype(bool)
    bound = np.where(kept, -np.inf, ways.bound)
    logs = terms(problem, sets.shape[1])
    more = pick_each(logs[None], entropy.uniform(len(at)))
    rules = np.empty((len(at), len(logs)), np.int32)
    rules[:, 0] = pick_each(bound, entropy.uniform(len(at)))
    log = np.logaddexp.reduce(bound, axis=1) - level.pruned[at]
    log -= ways.score[np.arange(len(at)), rules[:, 0]] + (more + 2) * math.log(problem.n_classes)
    alive = problem.alive(sets)
    for i in range(len(logs)):
        if i:
            rules[:, i] = pick_each(problem.log_members[None], entropy.uniform(len(at)))
            log += np.where(i <= more, _log_unused(problem, np.hstack([sets, rules[:, :i]]), rules[:, i]), 0.0)
        part = alive * problem.truth.T[rules[:, i]] * (i <= more)[:, None].astype(alive.dtype)
        log += np.where(i <= more, problem.log_sum(problem.left(part)), 0.0)
        alive -= part
    return Proposals(log + problem.log_sum(problem.left(alive)), rules, more + 1)


def _log_unused(problem: Problem, sets: Sets, rule: Places) -> Array:
    """The logarithm of the share of a group's members that a list does not have yet."""
    with np.errstate(divide="ignore"):
        log: Array = np.log(np.maximum(1.0 - (sets == rule[:, None]).sum(1) / problem.sizes[rule], 0.0))
    return log

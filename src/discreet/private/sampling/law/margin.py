"""How far rounding may put the envelope below the weight of a list: what its last coin allows for."""

import math

import numpy as np

from ...noise.decisions import excess
from ..problem import Problem

LARGEST = 1.0


def margin(problem: Problem) -> float | None:
    """A bound on log(weight / (mass of all elements * probability of the choices that lead to it)), of every list.

    **Lemma** (docs/theory.md, Theorem 30, has the proof). Let S be rate * all records plus the largest logarithms of the prior,
    and n the number of groups and classes. On the way to a list, rounding of numbers up to S adds up to less than 512 S 2^-53;
    sums over n terms, and what libraries make of exp and log, to less than 64 (n + 300) 2^-53; choices by integers in place of
    real weights, to less than 32 ``excess(n)``.

    None if it is more than LARGEST: too many attempts would fail. That takes more than 2^33 records at the largest rate there is.
    Then the last coin is left out, and the law is that of the computed weights.
    """
    n = problem.n_groups + problem.n_classes + problem.longest
    all_rules = abs(problem.log_rules) if problem.n_groups else 0.0
    prior = max(all_rules, *(np.abs(logs).max(initial=0.0) for logs in (problem.log_rule, problem.log_members)))
    lengths = np.abs(problem.log_length[np.isfinite(problem.log_length)]).max(initial=0.0)
    size = problem.rate * float(problem.counts.sum()) + lengths
    size += (problem.longest + 2) * (prior + math.log(problem.n_classes)) + 64.0
    found = float((512.0 * size + 64.0 * (n + 300.0)) * 2.0**-53 + 32.0 * excess(n))
    return found if found <= LARGEST else None

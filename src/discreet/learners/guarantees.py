"""What is proved about the published greedy learners in a configuration. The proofs are in docs/theory.md, section 5.

Let e be the node's epsilon and K the maximal length. A fit makes at most K - 1 choices; the class histograms of all its
parts are disjoint and cost e together. So for the methods on global sensitivity, whose choices cost p each at any node,

    epsilon = (K - 1) p + e,   no delta.

A smooth method also makes up to K - 1 support checks, of e each, and a choice costs p(n) where both neighbours have at
least n records, which grows as n falls. Call a node bad if a neighbour has fewer than ``n_safe`` records there. A run that
never chooses at a bad node loses at most ``(K - 1) (e + p(n_safe)) + e``. A run chooses at a bad node only after passing
the check at its first bad node, where there are at most n_safe records; so with a threshold of L + T the probability of
that is at most ``P(noise >= L + T - n_safe)``, once. Hence, for every n_safe,

    epsilon = (K - 1) (e + p(n_safe)) + e,   delta = q^m / (1 + q) with q = exp(-e), m = L + T - n_safe.

We report the smallest n_safe, and so the smallest delta, whose epsilon is still within the one that was asked for.
"""

import math

import numpy as np

from ..privacy.budget import SMOOTH, GreedyBudget, confidence_threshold
from ..privacy.statement import Guarantee
from ..vault.mechanisms import published
from ..vault.mechanisms.discrete_laplace import tail

ROUND_UP = 1.0 + 1e-9  # prices are computed in floating point; round them towards less privacy claimed


def proved_guarantee(
    mechanism: str, budget: GreedyBudget, max_length: int, min_support: int, confidence: float, candidates: int
) -> Guarantee:
    """The proved pair of a published method with a public whole ``min_support`` and a given delta.

    >>> from fractions import Fraction
    >>> budget = GreedyBudget.published("gl-laplace", Fraction(9), Fraction(0), max_length=5)
    >>> proved_guarantee("gl-laplace", budget, 5, 1, 0.99, 24)
    Guarantee(epsilon=5.000000005, delta=0.0)
    """
    e, choices = float(budget.node_epsilon), max_length - 1
    if choices == 0:
        return Guarantee(e, 0.0)
    if mechanism not in SMOOTH:
        selector: published.GlobalSelector | published.NoisyCountsSelector
        match mechanism:
            case "gl-laplace":
                selector = published.gl_laplace(budget.node_epsilon)
            case "gl-exponential":
                selector = published.gl_exponential(budget.node_epsilon)
            case "gl-gaussian":
                selector = published.gl_gaussian(budget.node_epsilon, float(budget.node_delta))
            case _:
                selector = published.NoisyCountsSelector(budget.node_epsilon, candidates)
        return Guarantee((choices * selector.price(candidates) + e) * ROUND_UP, 0.0)
    if mechanism == "sm-laplace":
        smooth = published.sm_laplace(budget.node_epsilon, float(budget.node_delta), min_support)
    else:
        smooth = published.sm_cauchy(budget.node_epsilon, min_support)
    epsilons = (choices * (e + smooth.prices()) + e) * ROUND_UP
    within = np.flatnonzero(epsilons <= float(budget.epsilon))
    n_safe = int(within[0]) if len(within) else min_support
    above = min_support + confidence_threshold(confidence, e) - n_safe
    delta = 0.0 if n_safe == 0 else min(1.0, tail(above, e) * ROUND_UP)
    return Guarantee(float(epsilons[n_safe]), delta if math.isfinite(delta) else 1.0)

"""The complete output distribution of a published learner whose candidates come in types of many equal rules.

Rules of one type are true in the same patterns, so all lists with the same sequence of types are equally likely, on every
table. It is enough to follow the sequences. As in ``exact_learner``, only one noisy count tells neighbours apart, and the
quotient of its two distributions takes two values.
"""

import math

import numpy as np

from discreet.private.mechanisms.impurity import gini, smooth_sensitivity
from discreet.private.noise.distributions import log_prob
from discreet.private.noise.sums import at_least


def chances(scores, numbers, noise):
    """The probability that the noisy maximum is in each group of ``numbers`` equal scores."""
    there = numbers > 0
    full = np.zeros(len(scores))
    full[there] = np.exp(log_prob_of_one(scores[there], numbers[there], noise)) * numbers[there]
    return full / full.sum()  # a quadrature; see noisy_max


def log_prob_of_one(scores, numbers, noise):
    """log_prob for one member of each group."""
    if numbers.sum() <= 64:  # small enough to be written out
        return log_prob(np.repeat(scores, numbers), noise)[np.append(0, np.cumsum(numbers)[:-1])]
    far = math.log(numbers.sum()) + 40.0  # beyond it the maximum hardly ever is
    cuts = np.unique(np.concatenate([scores, np.arange(scores.min() - 40.0, scores.max() + far, 0.5)]))
    x, w = np.polynomial.legendre.leggauss(16)
    half = np.diff(cuts)[:, None] / 2.0
    z, weight = ((cuts[:-1, None] + half) + half * x).ravel(), (half * w).ravel()
    cdf = np.stack([noise.log_cdf(z - s) for s in scores])
    others = (numbers[:, None] * cdf).sum(0) - cdf
    return np.log(np.exp(others + np.stack([noise.log_pdf(z - s) for s in scores])) @ weight)


def output_distribution(learner, types, numbers, counts):
    """{sequence of types: probability}.

    ``types[c, t]`` says whether rules of type t are true in cell c, ``numbers[t]`` how many there are.
    """
    found = {}
    known = {}

    def visit(prefix, probability):
        alive = ~types[:, list(prefix)].any(1)
        if len(prefix) == learner.max_length - 1:
            found[prefix] = probability
            return
        left = counts[alive].sum(0).astype(float)
        go_on = 1.0 if learner.threshold is None else at_least(learner.threshold - int(left.sum()), learner.epsilon)
        free = numbers - np.bincount(np.array(prefix, int), minlength=len(numbers))
        key = (alive.tobytes(), free.tobytes())
        if key not in known:
            captured = (types & alive[:, None]).T.astype(float) @ counts
            impurity = gini(left, np.vstack([captured, np.zeros(2)]).T)
            scores = -impurity / spread(learner.selector, int(left.sum()))
            known[key] = chances(scores, np.append(free, 1), learner.selector.noise)
        each = known[key]
        found[prefix] = probability * (1.0 - go_on + go_on * each[-1])
        for t in range(len(numbers)):
            if free[t]:
                visit((*prefix, t), probability * go_on * each[t])

    visit((), 1.0)
    return found


def spread(selector, n):
    """The scale of the noise at a node of n records."""
    if hasattr(selector, "scale"):
        return selector.scale
    return selector.factor * smooth_sensitivity(n, selector.min_support, selector.beta) / float(selector.epsilon)


def divergences(learner, types, numbers, less, more, epsilon):
    """The hockey-stick divergence in both directions: outputs likelier on the smaller table, on the larger one."""
    p, q = output_distribution(learner, types, numbers, less), output_distribution(learner, types, numbers, more)
    a, b = (np.array([d[o] for o in p]) for d in (p, q))
    k = math.exp(-learner.epsilon)
    out = []
    for x, y in ((a, b), (b, a)):
        # the count is e^e times as likely on the table of x with probability 1 / (1 + k), else e^-e times
        likelier = np.maximum(0.0, x - math.exp(epsilon) * k * y).sum() / (1.0 + k)
        out.append(likelier + np.maximum(0.0, x - math.exp(epsilon) / k * y).sum() * k / (1.0 + k))
    return tuple(out)

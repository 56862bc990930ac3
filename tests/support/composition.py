"""Finite pairs of distributions and what they come to together, by enumeration: what the ledger's sums are compared with."""

import math

import numpy as np


def randomised_response(epsilon):
    """The worst of all epsilon-DP pairs."""
    p = 1 / (1 + math.exp(-epsilon))
    return np.array([p, 1 - p]), np.array([1 - p, p])


def of_bounded_range(epsilon, t):
    """Two answers, with losses t and t - epsilon, 0 < t < epsilon."""
    p = (math.exp(epsilon) - math.exp(t)) / math.expm1(epsilon)
    return np.array([p, 1 - p]), np.array([p * math.exp(-t), (1 - p) * math.exp(epsilon - t)])


def with_a_leak(epsilon, delta):
    """The worst of all (epsilon, delta)-DP pairs: with chance delta it is told which of the two it is."""
    p, q = randomised_response(epsilon)
    return np.array([delta, 0, *(1 - delta) * p]), np.array([0, delta, *(1 - delta) * q])


def divergence(pair, epsilon):
    """The delta that is needed at this epsilon: how much the first distribution exceeds e^epsilon times the second."""
    p, q = pair
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def renyi(pair, order):
    p, q = pair
    return math.log(float((p * (p / q) ** (order - 1)).sum())) / (order - 1)


def product(*pairs):
    p, q = np.ones(1), np.ones(1)
    for one, other in pairs:
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
    return p, q


def power(pair, times):
    """The same pair so many times, with answers of two kinds: only how many of each matters."""
    (p, other_p), (q, other_q) = pair
    ways = np.array([float(math.comb(times, i)) for i in range(times + 1)])
    i = np.arange(times + 1)
    return ways * p**i * other_p ** (times - i), ways * q**i * other_q ** (times - i)


def epsilon_at(pair, delta):
    """The least epsilon at this delta, by halving."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if divergence(pair, middle) <= delta else (middle, high)
    return high


def discrete_laplace(epsilon, shift, far=400):
    """A count with noise, and the same moved by a whole number."""
    k = np.arange(-far, far + shift + 1)
    q = math.exp(-epsilon)
    distribution = [(1 - q) / (1 + q) * q ** np.abs(k - at).astype(float) for at in (0, shift)]
    return distribution[0], distribution[1]


def exponential_mechanism(epsilon, scores):
    """Weights exp(epsilon * score)."""
    weights = np.exp(epsilon * (np.asarray(scores, float) - max(scores)))
    return weights / weights.sum()

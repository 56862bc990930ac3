"""Whole fits: what is proved holds on every table tried, and what is published does not always."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from discreet.private.mechanisms.support_checks import probability_of_bad_runs
from tests.support.selectors import budget_of, proved_of, selector

from .exact_learner import Learner, divergence, output_distribution

TWO_RULES = np.array(list(itertools.product([False, True], repeat=2)))


def learner(mechanism, epsilon, delta, max_length, support, confidence=0.99, candidates=2, tree=False):
    budget = budget_of(mechanism, epsilon, max_length, delta, min_support=support, confidence=confidence, tree=tree)
    choice = selector(mechanism, budget.choice_epsilon, float(budget.choice_delta), support, candidates)
    threshold = budget.threshold(support) if mechanism.startswith("sm-") else None
    proved = proved_of(mechanism, budget, candidates)
    return Learner(choice, float(budget.counts_epsilon), threshold, max_length), proved


def neighbours(rng, scale):
    """Tables of two rules: a few patterns, some of them nearly empty, and one record more in a random place."""
    counts = np.floor(rng.random((4, 2)) * scale ** rng.random((4, 2))).astype(int)
    counts[rng.random((4, 2)) < 0.3] = 0
    more = counts.copy()
    more[rng.integers(4), rng.integers(2)] += 1
    return counts, more


def extremal_neighbours(n):
    """The first rule captures all but two records, one of each class; the second separates those. One has one less."""
    more = np.zeros((4, 2), int)
    more[2] = [(n - 2) // 2, n - 2 - (n - 2) // 2]  # only in the first rule
    more[1] = [1, 0]  # only in the second
    more[0] = [0, 1]
    less = more.copy()
    less[1, 0] = 0
    return less, more


@pytest.mark.parametrize("mechanism", ["sm-laplace", "sm-cauchy", "gl-laplace", "gl-exponential", "gl-gaussian"])
@pytest.mark.parametrize(("epsilon", "max_length", "support"), [(2.0, 3, 4), (8.0, 3, 30), (0.5, 2, 10), (1.0, 3, 250)])
def test_what_is_proved_holds_on_every_table_tried(mechanism, epsilon, max_length, support):
    delta = 1e-6 if mechanism in ("sm-laplace", "gl-gaussian") else 0
    fit, proved = learner(mechanism, epsilon, delta, max_length, support)
    assert proved.epsilon <= epsilon
    rng = np.random.default_rng(0)
    pairs = [neighbours(rng, scale) for scale in (3, 10, 100, 1000) for _ in range(12)]
    pairs += [extremal_neighbours(n) for n in (2, 5, support, 2 * support, 5050)]
    for less, more in pairs:
        assert sum(output_distribution(fit, TWO_RULES, less).values()) == pytest.approx(1.0, abs=1e-9)
        assert divergence(fit, TWO_RULES, less, more, proved.epsilon) <= proved.delta + 1e-10


def test_the_published_claim_of_sm_laplace_is_violated():
    """docs/theory/published.md: 5,050 records, two rules, K = 3, eps = 0.05. Delta needed 1.9e-5, claimed 3.9e-8."""
    n, epsilon = 5050, 0.05
    claimed = 1 / n**2
    fit, proved = learner("sm-laplace", epsilon, claimed, 3, int(0.05 * n))
    less, more = extremal_neighbours(n)
    needed = divergence(fit, TWO_RULES, less, more, epsilon)
    assert claimed == pytest.approx(3.9e-8, rel=0.01)
    assert 1.8e-5 < needed < 2.0e-5
    assert needed <= proved.delta  # what we prove is weaker, and true


def test_the_published_pure_claim_of_sm_cauchy_is_violated():
    """Below the support a choice costs more than its share, so no pure epsilon as claimed."""
    fit, _ = learner("sm-cauchy", 1.0, 0, 3, 2442)
    worst = 0.0
    for less, more in (extremal_neighbours(n) for n in (2, 3, 10)):
        p, q = output_distribution(fit, TWO_RULES, less), output_distribution(fit, TWO_RULES, more)
        worst = max(worst, *(abs(np.log(p[o]) - np.log(q[o])) for o in p))
    assert worst + fit.epsilon > 1.0  # the histograms add their share to any outcome


def test_twins_without_the_support_check_or_with_half_the_noise_are_caught():
    fit, proved = learner("sm-laplace", 4.0, 1e-6, 3, 250)
    pairs = [extremal_neighbours(n) for n in (2, 3, 5, 30, 100, 5050)]

    def violated(twin):
        return any(divergence(twin, TWO_RULES, a, b, proved.epsilon) > proved.delta + 1e-10 for a, b in pairs)

    assert not violated(fit)
    assert violated(replace(fit, threshold=None))
    louder, guarantee = learner("gl-laplace", 2.0, 0, 3, 1)
    broken = replace(
        louder, selector=replace(louder.selector, scale=louder.selector.scale / 4), epsilon=2 * louder.epsilon
    )
    small = [extremal_neighbours(n) for n in (2, 3, 4)]
    assert all(divergence(louder, TWO_RULES, a, b, guarantee.epsilon) <= 1e-10 for a, b in small)
    assert any(divergence(broken, TWO_RULES, a, b, guarantee.epsilon) > 1e-6 for a, b in small)


def test_the_recursion_for_bad_runs_equals_its_definition():
    """On prices that are multiples of the step there is no rounding, and V can be computed by plain recursion."""
    rng = np.random.default_rng(0)

    def plain(prices, passing, budget, choices):
        if choices == 0:
            return 0.0
        return max(
            chance * (1.0 if price > budget else plain(prices, passing, budget - price, choices - 1))
            for price, chance in zip(prices, passing, strict=True)
        )

    for _ in range(200):
        n = rng.integers(1, 7)
        prices = np.sort(rng.integers(0, 30, n))[::-1].astype(float)
        passing = np.append(np.sort(rng.random(n - 1)), 1.0)
        for choices in (1, 2, 3, 4):
            expected = plain(prices, passing, 20.0, choices)
            assert probability_of_bad_runs(prices, passing, 20.0, choices, steps=20) == pytest.approx(expected)
            rounded = probability_of_bad_runs(prices, passing, 20.0, choices, steps=7)
            assert rounded >= expected - 1e-12  # rounding is towards less privacy claimed

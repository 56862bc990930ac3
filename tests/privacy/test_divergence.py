"""The sharper bound for the smooth methods: one choice, the recursion, and the tables that come near it."""

import math

import numpy as np
import pytest

from discreet.private.mechanisms.support_checks import Shift, divergence_of_runs, histograms, nodes
from discreet.private.noise.distributions import HAZARD_ONLY, LINES, Cauchy, Laplace, log_prob
from discreet.private.noise.sums import at_least

from . import exact_learner
from .test_whole_learner import learner
from .typed_lists import divergences, output_distribution

EXPONENTIAL = Shift(HAZARD_ONLY)
LAPLACE = Shift(LINES)


def test_with_the_hazard_alone_the_family_is_that_of_laplace_noise():
    x = np.linspace(-5, 5, 101)
    assert EXPONENTIAL.cdf(x) == pytest.approx(np.exp(Laplace().log_cdf(x)))
    for rho in (0.01, 0.7, 3.0):
        b = np.linspace(-rho, rho, 21)
        assert EXPONENTIAL.hockey_stick(b, rho) == pytest.approx(-np.expm1(-(rho - b) / 2))


def test_the_closed_form_of_the_family_is_its_definition():
    x = np.linspace(-12, 12, 24_001)
    u = LAPLACE.cdf(x)
    slope = np.min([c + s * np.minimum(u, 1 - u) for c, s in LINES], axis=0)
    assert np.gradient(u, x) == pytest.approx(slope, abs=1e-4)
    for rho in (0.05, 0.6, 1.1, 4.0):
        for b in (-2.0, -0.3, 0.0, 0.01, 0.5, 0.9, 3.5, 4.5):
            best = max(0.0, 1.0 - math.exp(b), (LAPLACE.cdf(x + rho) - math.exp(b) * u).max())
            assert LAPLACE.hockey_stick(np.array([b]), rho)[0] == pytest.approx(best, abs=1e-6)


def psi(s):
    """(u, density) of G1 - G2 at -s, where G has the density -F log2 F up to its median 0 and then 1 - F."""
    z, dz = np.linspace(-3, 40, 430_001, retstep=True)

    def cdf(z):
        return np.where(z < 0, 0.5 ** np.exp(-np.minimum(z, 0) / math.log(2)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))

    def pdf(z):
        f = cdf(z)
        return np.where(z < 0, -f * np.log2(np.maximum(f, 1e-300)), 1 - f)

    return dz * (pdf(z) * (1 - cdf(z + s))).sum(), dz * (pdf(z) * pdf(z + s)).sum()


def test_the_lines_lie_above_psi():
    for s in np.linspace(0, 8, 60):
        u, density = psi(s)
        least = min(c + k * u for c, k in LINES)
        assert density <= least + 1e-9
        assert least <= density * 1.005


@pytest.mark.parametrize(("noise", "lines"), [(Laplace(), LINES), (Cauchy(), HAZARD_ONLY)])
def test_one_choice_diverges_no_more_than_the_family(noise, lines):
    rng, tight = np.random.default_rng(0), 0.0
    for _ in range(400):
        m, rho = rng.integers(2, 9), float(rng.choice([0.1, 0.5, 1.0, 2.0, 4.0]))
        before = rng.random(m) * rng.choice([0.0, 1.0, 5.0])
        change = rho * (rng.random(m) < 0.5) if rng.random() < 0.7 else rho * rng.random(m)
        p, q = (np.exp(log_prob(s, noise)) for s in (before, before + change))
        for b in (0.0, 0.3 * rho, 0.6 * rho, 0.9 * rho):
            bound = Shift(lines).hockey_stick(np.array([b]), noise.hazard * rho)[0]
            for x, y in ((p, q), (q, p)):
                exact = np.maximum(0.0, x - math.exp(b) * y).sum()
                assert exact <= bound + 1e-9
                tight = max(tight, exact / max(bound, 1e-3))
    assert tight > 0.3


def plain(some, e, a, choices):
    """The recursion by its definition, for the family of Laplace noise: an integral over the noise at each step."""
    best = histograms(a, e)
    if choices == 0:
        return best
    z = (np.arange(400) + 0.5) / 400
    for p, up, down in some:
        b = a * down / up
        losses = np.concatenate([[p, -p], p * (2 * z - 1)])
        weights = np.concatenate([[0.5, 0.5 * math.exp(-p)], 0.5 * p / 400 * np.exp(p * (z - 1))])
        inner = plain(some, e, (b[:, None] * np.exp(-losses)).ravel(), choices - 1).reshape(len(a), -1)
        failed = (1 - up) * histograms(a * (1 - down) / (1 - up), e) if up < 1 else 0.0
        best = np.maximum(best, up * inner @ weights + failed)
    return best


@pytest.mark.parametrize(("support", "e", "epsilon"), [(3, 0.5, 2.0), (6, 0.1, 0.35), (2, 1.0, 1.2), (5, 0.05, 0.1)])
@pytest.mark.parametrize("choices", [1, 2])
def test_the_recursion_equals_its_definition(support, e, epsilon, choices):
    prices = np.linspace(4.0, 1.0, support + 1) * e
    threshold = support + 3
    computed = divergence_of_runs(prices, HAZARD_ONLY, threshold, e, epsilon, choices, knots=2_000)
    # every n by itself, far beyond the threshold
    every = [
        (prices[min(n, support)], at_least(threshold - n, e), at_least(threshold - n - 1, e))
        for n in range(support + 40)
    ]
    every += [(prices[-1], 1.0, 1.0)]
    a = np.array([math.exp(epsilon)])
    some = every if choices == 1 else nodes(prices, threshold, e)
    up = plain([(p, more, less) for p, less, more in some], e, a, choices)[0]
    down = plain(some, e, a, choices)[0]
    assert computed >= max(up, down) * (1 - 1e-4)  # the integrals of the definition are sums
    assert computed == pytest.approx(max(up, down), rel=1e-3)
    rounded = divergence_of_runs(prices, HAZARD_ONLY, threshold, e, epsilon, choices, knots=40)
    assert rounded >= computed - 1e-12  # rounding is towards less privacy claimed


def test_the_nodes_looked_at_cover_all_others():
    """In blocks or one by one, the bound is the same up to what the blocks cost."""
    prices = np.append(60.0 / (2.0 + np.arange(400.0)), 0.7) * 0.02
    coarse = divergence_of_runs(prices, LINES, 500, 0.02, 0.28, 4)
    every = [(p, at_least(500 - n, 0.02), at_least(500 - n - 1, 0.02)) for n, p in enumerate(prices[:-1])]
    for a in np.exp([0.0, 0.1, 0.28]):
        for x, y in ((1, 2), (2, 1)):

            def value(node, a=a, x=x, y=y):
                after = LAPLACE.hockey_stick(np.log([a * node[y] / node[x]]), node[0])
                return node[x] * after + (1 - node[x]) * histograms(np.array([a * (1 - node[y]) / (1 - node[x])]), 0.02)

            some = [node for node in nodes(prices, 500, 0.02) if node[1] < 1]
            assert max(map(value, some)) >= max(map(value, every)) - 1e-15
    assert 0 < coarse < 1


def test_typed_lists_are_exact():
    rng = np.random.default_rng(0)
    for mechanism in ("sm-laplace", "sm-cauchy", "gl-laplace", "gl-gaussian"):
        fit, _ = learner(mechanism, 2.0, 1e-6 if mechanism in ("sm-laplace", "gl-gaussian") else 0, 4, 10)
        for _ in range(4):
            types, numbers = rng.random((4, 2)) < 0.5, rng.integers(2, 4, 2)
            less = rng.integers(0, 12, (4, 2))
            more = less.copy()
            more[rng.integers(4), rng.integers(2)] += 1
            expected = exact_learner.divergence(fit, np.repeat(types, numbers, axis=1), less, more, 0.3)
            assert max(divergences(fit, types, numbers, less, more, 0.3)) == pytest.approx(expected, abs=1e-12)


def all_but_two(n):
    """N rules are true of all records but b and c, S rules of b alone. The smaller table lacks c."""
    types = np.array([[True, False], [False, True], [False, False]])
    more = np.array([[0, n - 2], [0, 1], [1, 0]])
    less = more.copy()
    less[2, 0] = 0
    return types, less, more


@pytest.mark.parametrize(
    ("n", "support", "numbers", "violated", "proved"),
    [(5050, 252, (11, 2), 0.586, 0.626), (34189, 1709, (15, 3), 0.124, 0.129)],
)
def test_the_published_claim_of_sm_laplace_fails_just_below_where_it_is_proved(n, support, numbers, violated, proved):
    fit, bound = learner("sm-laplace", violated, 1 / n**2, 5, support)
    found = max(divergences(fit, *all_but_two(n)[:1], np.array(numbers), *all_but_two(n)[1:], violated))
    assert 1 / n**2 < found < bound.delta < 2 * found
    assert learner("sm-laplace", proved, 1 / n**2, 5, support)[1].delta <= 1 / n**2


def test_the_published_claim_of_sm_laplace_holds_on_german_credit():
    for epsilon in (0.001, 0.01, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 1.6, 3.0):
        assert learner("sm-laplace", epsilon, 1 / 700**2, 5, 84)[1].delta <= 1 / 700**2


def test_explicit_neighbours_violate_the_pure_claim_of_sm_cauchy():
    """a against b, and then against b and c. Four rules true of nobody are chosen one after the other, five separate a."""
    types = np.array([[False, False], [False, True]])
    less, more = np.array([[1, 0], [0, 1]]), np.array([[1, 0], [1, 1]])
    for support, pure in ((72, True), (252, False), (1709, False)):
        fit, bound = learner("sm-cauchy", 1.0, 0, 5, support)
        p, q = (output_distribution(fit, types, np.array([4, 5]), table)[(0,) * 4] for table in (less, more))
        assert (bound.delta == 0) == pure
        assert (math.log(q / p) + fit.epsilon > 1.0) == (not pure)


@pytest.mark.parametrize(("mechanism", "share"), [("gl-laplace", 5 / 9), ("gl-exponential", 3 / 9)])
def test_what_is_proved_for_global_sensitivity_cannot_be_bettered(mechanism, share):
    """b alone, then b and c: four rules true of nobody are chosen, all others separate b from c."""
    fit, bound = learner(mechanism, 1.0, 0, 5, 1, candidates=10_000)
    types = np.array([[False, True], [False, False]])
    less, more = np.array([[0, 1], [0, 0]]), np.array([[0, 1], [1, 0]])
    p, q = (output_distribution(fit, types, np.array([4, 9_996]), table)[(0,) * 4] for table in (less, more))
    assert math.log(p / q) + fit.epsilon == pytest.approx(share, rel=1e-3)
    assert bound.epsilon == pytest.approx(share, rel=1e-3)

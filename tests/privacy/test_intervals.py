"""Intervals around noisy numbers: the exact distribution of sums of noise, and how often intervals are right."""

import math

import numpy as np
import pytest

from discreet import DPOptimalRuleListClassifier, GreedyRuleListClassifier, Rule, RuleList, SavedModel
from discreet.datasets import load_compas
from discreet.evaluation import rates
from discreet.evaluation.rates import Sum, difference, is_too_small, mean_rate, rate
from discreet.models.partition import Answer
from discreet.private.noise.sums import log_pmf, margin, moments, sum_distribution, tail


@pytest.mark.parametrize("bins", [1, 2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 4.0])
def test_the_distribution_of_a_sum_is_that_of_a_convolution(epsilon, bins):
    values = np.arange(-3000, 3001)
    one = np.exp(log_pmf(values, epsilon))
    exact = one
    for _ in range(bins - 1):
        exact = np.convolve(exact, one, "same")
    found = sum_distribution(epsilon, bins)
    n = min(len(found), 3001)
    assert np.abs(found[:n] - exact[3000 : 3000 + n]).max() < 1e-15
    assert found[0] + 2 * found[1:].sum() == pytest.approx(1.0, abs=1e-12)
    m = margin(epsilon, bins)
    assert exact[3000 - m : 3001 + m].sum() >= 0.95 - 1e-12  # it covers, and a smaller one would not
    assert m == 0 or exact[3001 - m : 3000 + m].sum() < 0.95
    assert moments(epsilon)[0] == pytest.approx((values**2 * one).sum())
    assert moments(epsilon)[1] == pytest.approx((values**4 * one).sum() - 3 * (values**2 * one).sum() ** 2, rel=1e-9)


def test_margins_of_any_epsilon():
    for epsilon in (1e-6, 1e-3, 0.0039, 0.5, 20.0, 1e9):
        m = margin(epsilon)
        assert 2 * tail(m + 1, epsilon) <= 0.05 < (2 * tail(m, epsilon) if m else 1.0)
        assert margin(epsilon, 4) >= m
    assert margin(1e-6, 4) == pytest.approx(margin(1 / 256, 4) * 1e6 / 256, rel=1e-6)
    assert margin(1.0, 0) == 0


RELEASES = 2000


class Releases:
    """Noisy counts of sampled records, many times."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pair(self, size, chance, epsilon, bins):
        of = self.rng.binomial(size, chance, RELEASES)
        p, shape = -np.expm1(-epsilon), (RELEASES, bins)
        noise = [(self.rng.geometric(p, shape) - self.rng.geometric(p, shape)).sum(axis=1) for _ in range(2)]
        return Sum(of + noise[0], bins), Sum(size - of + noise[1], bins)


def share_right(found, truth):
    return np.mean((found.low <= truth + 1e-12) & (truth <= found.high + 1e-12))


LEAST = 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / RELEASES)  # a true share of 95 % is below this once in 4,000 runs


def coverage(epsilon, size):
    some = Releases(round(1000 * epsilon) + size)
    found = []
    for chance in (0.6, 0.9):
        pairs = [some.pair(size, chance, epsilon, bins) for bins in (1, 4, 2)]
        found.append(share_right(rate(*pairs[0], epsilon), chance))
        found.append(share_right(rate(*pairs[1], epsilon), chance))
        found.append(share_right(difference(pairs[0], pairs[1], epsilon), 0.0))
        found.append(share_right(mean_rate(pairs[:2], epsilon), chance))
        found.append(share_right(mean_rate(pairs, epsilon), chance))
    return found


@pytest.mark.parametrize("size", [20, 200, 20_000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_intervals_are_right_as_often_as_they_say(epsilon, size):
    found = coverage(epsilon, size)
    assert min(found) > LEAST - 0.005
    if size == 20_000:
        assert max(found) < 0.97


def test_intervals_without_the_noise_or_without_the_sampling_are_caught(monkeypatch):
    monkeypatch.setattr(rates, "moments", lambda epsilon: (1e-9, 0.0))  # as if there were no noise
    assert min(coverage(0.1, 200)) < 0.8
    monkeypatch.undo()
    some = Releases(0)
    of, _ = some.pair(20_000, 0.6, 1.0, 1)
    low, high = (of.noisy - 6) / 20_000, (of.noisy + 6) / 20_000  # as if the records were all there are
    assert np.mean((low <= 0.6) & (high >= 0.6)) < 0.5


def test_what_is_certain_has_no_interval():
    nothing, some = Sum(0, 0), Sum(50, 2)
    assert [float(x) for x in rate(nothing, some, 0.1)] == [0.0, 0.0, 0.0]
    assert [float(x) for x in rate(some, nothing, 0.1)] == [1.0, 1.0, 1.0]


def test_counts_below_zero_are_taken_for_none_and_the_interval_stays_one():
    for a, w in ((-40, -3), (-40, 300), (300, -40), (0, 0), (-5, 5)):
        value, low, high = (float(x) for x in rate(Sum(a, 2), Sum(w, 2), 0.1))
        assert 0 <= low <= value <= high <= 1
    assert [float(x) for x in rate(Sum(-40, 2), Sum(-3, 2), 0.1)][1:] == [0.0, 1.0]


def test_what_is_too_small_follows_from_the_noise():
    far = margin(0.1, 4)
    assert is_too_small(Sum(far, 2), Sum(far - 1, 2), 0.1)
    assert not is_too_small(Sum(far, 2), Sum(far, 2), 0.1)


# -- Counts on models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [(5, 20), (20, 20), (3, 2000), (12, 10, 14)])
def test_counts_on_models_are_in_their_intervals(exact):
    rng, p = np.random.default_rng(0), -np.expm1(-0.2)
    right, whole, times = np.zeros(len(exact)), 0, 2000
    for _ in range(times):
        noisy = exact + rng.geometric(p, len(exact)) - rng.geometric(p, len(exact))
        answer = Answer(len(exact) - 1, tuple(map(float, noisy)))
        ends = answer.count_intervals(0.2)
        right += [low <= n <= high for (low, high), n in zip(ends, exact, strict=True)]
        low, high = answer.support_interval(0.2)
        whole += low <= sum(exact) <= high
    assert min(right) / times > 0.935
    assert whole / times > 0.935


def test_models_know_where_their_counts_may_be():
    data = load_compas(sensitive=False)
    clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    saved = SavedModel.of(clf)
    far = margin(saved.counts_epsilon)
    intervals = saved.count_intervals()
    assert intervals == clf.count_intervals() == clf.rule_list_.count_intervals(saved.counts_epsilon)
    assert intervals == SavedModel.from_json(saved.to_json()).count_intervals()
    for rule, ends in zip(clf.rule_list_, intervals, strict=True):
        for count, (low, high) in zip(rule.counts, ends, strict=True):
            assert low == max(0, count - far)
            assert high == max(0, count + far)
    assert RuleList.parse("if a then 1 else 0").count_intervals(0.1) is None
    assert RuleList((), Rule((), "y", (4, 90)), ("n", "y")).count_intervals(0.1) == (((0, 34), (60, 120)),)
    exact = GreedyRuleListClassifier(max_length=2, schema=data.schema).fit(data.data, data.target)
    assert exact.count_intervals() is None  # its counts are exact


def test_notebook_and_report_show_where_counts_may_be():
    from discreet.models.display.summary import summarize
    from discreet.report.html import to_html

    data = load_compas(sensitive=False)
    clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    step = summarize(clf).steps[0]
    low, high = step.support_ends
    text = f"{low:,} to {high:,}"
    assert low <= step.support <= high
    assert f"({text})" in to_html(clf)
    assert f"({text})" in clf._repr_html_inner()
    below = [f"<small>{low:,} to {high:,}</small>" for low, high in step.count_ends]
    assert all(part in to_html(clf) for part in below)
    exact = GreedyRuleListClassifier(max_length=2, schema=data.schema).fit(data.data, data.target)
    assert "<small>" not in to_html(exact).split("<tbody>")[1]

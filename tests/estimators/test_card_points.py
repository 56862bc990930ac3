"""Evidence from noisy counts: what it becomes without noise, in nothing but noise, between neighbours, in one direction."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kendalltau

from discreet.estimators.card_points import GRID, class_totals, evidence, log_likelihood


def log_odds(column):
    return column[1] - column[0]


def laplace(rng, scale, shape):
    return rng.laplace(0.0, scale, shape)


def test_many_records_without_noise_say_what_their_rates_are():
    counts = np.array([[60_000.0, 30_000.0, 10_000.0], [10_000.0, 20_000.0, 70_000.0]])
    prior, (column,) = evidence([counts], 0.0, [None])
    assert np.exp(prior) == pytest.approx([0.5, 0.5])
    assert log_odds(column) == pytest.approx(np.log(counts[1] / counts[0]), abs=0.07)  # a point


def test_three_classes_get_the_logarithm_of_how_much_likelier_each_becomes():
    counts = np.array([[50_000.0, 10_000.0], [10_000.0, 20_000.0], [20_000.0, 90_000.0]])
    prior, (column,) = evidence([counts], 0.0, [None])
    rates, share = counts / counts.sum(0), counts.sum(1) / counts.sum()
    assert prior == pytest.approx(np.log(share))
    assert column == pytest.approx(np.log(rates / share[:, None]), abs=0.07)


@pytest.mark.parametrize("ordered", [None, 6])
def test_a_column_of_noise_gets_next_to_no_points(ordered):
    rng = np.random.default_rng(0)
    flat = np.array([[300.0] * 6, [100.0] * 6])
    _, columns = evidence([flat + laplace(rng, 60.0, flat.shape) for _ in range(20)], 60.0, [ordered] * 20)
    raw = np.log(4.0 * 160.0 / 400.0)  # what one deviation of the noise would look like, taken at its word
    assert np.mean([np.abs(log_odds(c)).mean() for c in columns]) < raw / 4.0


def test_more_noise_means_less_evidence():
    counts = np.array([[900.0, 300.0], [100.0, 700.0]])
    gaps = [np.ptp(log_odds(evidence([counts], scale, [None])[1][0])) for scale in (0.0, 50.0, 200.0, 1_000.0)]
    assert all(a > b for a, b in pairwise(gaps))


def test_neighbouring_bins_inform_each_other_if_they_are_in_order():
    """The error against the truth, over twenty draws of the noise, is far smaller than without the order."""
    rng, truth = np.random.default_rng(1), np.linspace(-1.5, 1.5, 12)
    rate = 1.0 / (1.0 + np.exp(-truth))
    counts = 400.0 * np.array([1.0 - rate, rate])

    def error(ordered):
        columns = evidence([counts + laplace(rng, 60.0, counts.shape) for _ in range(20)], 60.0, [ordered] * 20)[1]
        return np.mean([(log_odds(c) - log_odds(c).mean() - truth) ** 2 for c in columns])

    assert error(12) < 0.6 * error(None)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_monotone_column_goes_one_way_whatever_the_noise(sign):
    rng = np.random.default_rng(2)
    noisy = [laplace(rng, 100.0, (2, 9)) + 200.0 for _ in range(10)]
    _, columns = evidence(noisy, 100.0, [8] * 10, [sign] * 10)
    assert all((sign * np.diff(log_odds(c)[:8]) >= -1e-9).all() for c in columns)
    _, free = evidence(noisy, 100.0, [8] * 10)
    assert not all((sign * np.diff(log_odds(c)[:8]) >= -1e-9).all() for c in free)


def test_bins_that_are_in_no_order_may_change_places():
    rng = np.random.default_rng(3)
    noisy = laplace(rng, 20.0, (2, 7)) + 100.0
    order = rng.permutation(7)
    _, (column,) = evidence([noisy], 20.0, [None])
    _, (moved,) = evidence([noisy[:, order]], 20.0, [None])
    assert moved == pytest.approx(column[:, order])


def test_classes_may_change_places():
    rng = np.random.default_rng(4)
    noisy = laplace(rng, 20.0, (2, 7)) + np.array([[200.0], [80.0]])
    _, (column,) = evidence([noisy], 20.0, [5])
    _, (swapped,) = evidence([noisy[::-1]], 20.0, [5])
    assert swapped == pytest.approx(column[::-1], abs=1e-6)


def test_rates_of_a_column_add_up_to_the_rate_of_the_class():
    """Else the errors of many columns would add up in one direction, as they do in a leaf of nearly one class."""
    rng = np.random.default_rng(5)
    counts = np.array([[4.0] * 5, [90.0] * 5])
    noisy = [counts + laplace(rng, 30.0, counts.shape) for _ in range(30)]
    prior, columns = evidence(noisy, 30.0, [None] * 30)
    for x, column in zip(noisy, columns, strict=True):
        sizes = np.maximum(x.sum(0), 0.0)
        assert sizes @ np.exp(prior[1] + column[1]) / sizes.sum() == pytest.approx(np.exp(prior[1]), abs=1e-6)


def test_totals_trust_columns_with_few_bins_more():
    few, many = np.full((2, 2), 100.0), np.full((2, 8), 50.0)
    totals, noise = class_totals([few, many])
    assert totals == pytest.approx([(4.0 * 200.0 + 400.0) / 5.0] * 2)
    assert noise == pytest.approx(np.sqrt(0.8**2 * 2 + 0.2**2 * 8))  # times that of one bin


def test_classes_are_alike_where_their_totals_are_noise():
    for totals, scale, rate in (([300.0, 100.0], 0.0, 0.25), ([300.0, 100.0], 1e4, 0.5), ([-90.0, 30.0], 100.0, 0.5)):
        prior, _ = evidence([np.array(totals)[:, None]], scale, [None])
        assert np.exp(prior[1]) == pytest.approx(rate, abs=0.02)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("value", [-1e7, 0.0, 3.0, 1e7])
@pytest.mark.parametrize("ordered", [None, 1, 3])
def test_whatever_the_counts_are_the_evidence_is_finite(scale, value, ordered):
    noisy = [np.full((3, 4), value), np.array([[value, 0.0], [0.0, value], [1.0, 2.0]])]
    prior, columns = evidence(noisy, scale, [ordered, None], [0, 0])
    assert np.isfinite(prior).all()
    assert all(np.isfinite(c).all() for c in columns)


def test_the_likelihood_is_highest_where_the_counts_point_to():
    logs = log_likelihood(np.array([300.0, 100.0]), np.array([100.0, 300.0]), 0.0, 1.0, 1.0)
    assert GRID[logs.argmax(1)] == pytest.approx([np.log(3.0), -np.log(3.0)], abs=0.07)


def test_a_card_ranks_better_than_counts_taken_at_their_word():
    """Twelve columns with noise as at epsilon 0.3: the order of all totals against the true one, in five draws."""
    rng = np.random.default_rng(6)
    n, c, scale = 3_000, 12, 40.0
    slopes = np.linspace(0.0, 0.5, c)
    gains = []
    for _ in range(5):
        bins = rng.integers(0, 8, (n, c))
        true = (bins - 3.5) / 2.0 @ slopes
        y = (rng.random(n) < 1.0 / (1.0 + np.exp(-true))).astype(int)
        counts = [np.stack([np.bincount(b[y == k], minlength=8) for k in (0, 1)]) for b in bins.T]
        noisy = [x + laplace(rng, scale, x.shape) for x in counts]
        ours = [log_odds(column) for column in evidence(noisy, scale, [8] * c)[1]]
        naive = [np.log(np.maximum(x[1], 1.0) / np.maximum(x[0], 1.0)) for x in noisy]
        ranks = [kendalltau(true, sum(w[b] for w, b in zip(ws, bins.T, strict=True)))[0] for ws in (ours, naive)]
        gains.append(ranks[0] - ranks[1])
    assert min(gains) > 0.05

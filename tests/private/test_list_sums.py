"""Lists by complete summation have exactly the distribution of the reference, which looks at every list one by one."""

import numpy as np
import pytest

from discreet.private.noise import decisions
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling import list_sums
from discreet.private.sampling.deadline import Deadline, TimeLimitError
from discreet.private.sampling.list_sums import ListSums
from discreet.private.sampling.reference import distribution_of_draw
from discreet.private.sampling.trees import log_weights
from discreet.rules.prior import Prior

from ..support.small_problems import p_value
from ..support.small_tables import small_table

DRAWS = 1_200
LEAST_P = 1e-4
FAST = {3, 6, 7}
SEEDS = [seed if seed in FAST else pytest.param(seed, marks=pytest.mark.slow) for seed in range(32)]


def random_lists(seed, longest=None):
    """2 or 3 classes, lengths up to 0 ... 3, class weights, and (for odd seeds) priors that are not uniform, with zeros."""
    rng = np.random.default_rng(seed)
    longest = seed % 4 if longest is None else longest
    n_records = 0 if seed == 27 else None
    table = small_table(seed, 2 + seed // 4 % 2, n_rules=5, n_records=n_records, negations=bool(seed % 3))
    lengths, rules = np.ones(longest + 1), np.ones(len(table.candidates))
    if seed % 2:
        lengths, rules = rng.uniform(0.2, 2.0, longest + 1), rng.choice([1.0, 2.5, 0.0], len(rules))
        rules[0] = 1.0
    weights = np.ones(table.n_classes) if seed % 5 else rng.uniform(0.3, 1.0, table.n_classes)
    return table, Prior(tuple(lengths), rules), weights, float(np.exp(rng.uniform(np.log(0.05), np.log(2.0))))


def sums_of(table, prior, weights, rate):
    return ListSums(table.marginals(max(1, len(prior.lengths) - 1)), table.candidates, prior, weights, rate)


def distribution_of(table, prior, weights, rate):
    return distribution_of_draw(table.truth(), table.counts(weights), prior, rate)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_distribution_over_labelled_lists(seed):
    case = random_lists(seed)
    summed, entropy = sums_of(*case), SeededEntropy(seed)
    assert p_value(distribution_of(*case), [summed.draw(entropy) for _ in range(DRAWS)]) > LEAST_P


@pytest.mark.parametrize("seed", range(32))
def test_the_weight_of_every_list_is_that_of_the_reference(seed):
    """Exactly: each probability that the choices multiply to, against the enumeration."""
    case = random_lists(seed)
    distribution, summed = distribution_of(*case), sums_of(*case)
    expected = {}
    for (rules, _), log in zip(distribution.lists, distribution.logs, strict=True):
        expected[rules] = np.logaddexp(expected.get(rules, -np.inf), log)
    place = {int(rule): i for i, rule in enumerate(summed._order)}
    total = np.logaddexp.reduce(np.concatenate([logs.ravel() for logs in summed._logs]))
    for rules, log in expected.items():
        here = tuple(place[rule] for rule in rules)
        found = summed._logs[len(rules)][here[:2] or 0] - total
        if len(rules) == 3:
            thirds = summed._third_rules(*here[:2])
            found += thirds[here[2]] - np.logaddexp.reduce(thirds)
        assert found == pytest.approx(log, abs=1e-9)


def test_the_random_lists_are_what_they_should_be():
    cases = [random_lists(seed) for seed in range(32)]
    assert {table.n_classes for table, *_ in cases} == {2, 3}
    assert {len(prior.lengths) - 1 for _, prior, *_ in cases} == {0, 1, 2, 3}
    assert any((prior.rules == 0).any() for _, prior, *_ in cases)
    assert any(np.ptp(weights) > 0 for *_, weights, _ in cases)
    assert any(len(table.labels) == 0 for table, *_ in cases)
    true = [table.truth() for table, *_ in cases if len(table.labels)]
    assert any(len(np.unique(t, axis=0)) < len(t) for t in true)  # rules that agree on every record


def double_rate(monkeypatch):
    init = log_weights.SumProduct.__init__
    monkeypatch.setattr(log_weights.SumProduct, "__init__", lambda self, rate, *rest: init(self, 2 * rate, *rest))


def best_labels(monkeypatch):
    choose = decisions.Chances.choose
    monkeypatch.setattr(
        decisions.Chances, "choose", lambda self, logs: int(np.argmax(logs)) if len(logs) == 2 else choose(self, logs)
    )


@pytest.mark.parametrize("broken", [double_rate, best_labels])
def test_broken_twins_are_caught(monkeypatch, broken):
    table = small_table(4, n_records=30, n_rules=5)
    case = table, Prior((1.0,) * 4, np.ones(5)), np.ones(2), 0.4
    distribution = distribution_of(*case)
    assert p_value(distribution, many_draws(case)) > LEAST_P
    broken(monkeypatch)
    assert p_value(distribution, many_draws(case)) < LEAST_P


def many_draws(case):
    summed, entropy = sums_of(*case), SeededEntropy(0)
    return [summed.draw(entropy) for _ in range(4_000)]


def test_a_rule_that_is_in_the_list_already_is_no_third_rule(monkeypatch):
    """A broken twin: without the subtraction, lists would have one rule twice."""
    case = random_lists(7, longest=3)
    expected = sums_of(*case)._logs[3]
    monkeypatch.setattr(list_sums.np, "maximum", lambda x, _: np.ones_like(x))
    assert (sums_of(*case)._logs[3] > expected + 1e-3).any()


def test_a_limit_of_time_ends_in_an_error():
    table, prior, weights, rate = random_lists(3, longest=3)
    with pytest.raises(TimeLimitError):
        ListSums(table.marginals(3), table.candidates, prior, weights, rate, Deadline(-1.0))


def test_blocks_of_any_size_give_the_same_sums(monkeypatch):
    case = random_lists(7)
    expected = sums_of(*case)._logs
    for block in (1, 7, 50):
        monkeypatch.setattr(list_sums, "BLOCK", block)
        for found, logs in zip(sums_of(*case)._logs, expected, strict=True):
            assert found == pytest.approx(logs, abs=1e-12)


def test_progress_is_told_of_every_pair_once():
    table, prior, weights, rate = random_lists(7, longest=3)
    told = []
    ListSums(table.marginals(3), table.candidates, prior, weights, rate, None, told.append)
    n = len(table.candidates)
    assert sum(told) == n * (n + 1) // 2

"""The envelope has exactly the distribution of the reference, which looks at every list one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.private.noise.decisions import Chances
from discreet.private.noise.entropy import Entropy
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling import choices, elements, envelope
from discreet.private.sampling.bounds import Bounds
from discreet.private.sampling.deadline import Deadline, TimeLimitError
from discreet.private.sampling.optimum import best_list
from discreet.private.sampling.problem import make_problem
from discreet.private.sampling.reference import distribution_of_draw
from discreet.private.sampling.thresholds import SLACK
from discreet.rules.prior import Prior

from ..support.slices import examples, slow_but
from ..support.small_problems import draws_from, envelope_of, p_value, random_problem

DRAWS = 1_200
LEAST_P = 1e-4


def by_envelope(problem, entropy, draws=DRAWS, slack=SLACK):
    return draws_from(envelope_of(problem, slack), entropy, draws)


def by_coarse_envelope(problem, entropy, draws=DRAWS):
    return by_envelope(problem, entropy, draws, slack=-2.0)


SAMPLERS = [by_envelope, by_coarse_envelope]
FAST = [11, 6]


@pytest.mark.parametrize(
    ("seed", "sampler"),
    slow_but([(seed, sampler) for seed in range(24) for sampler in SAMPLERS], list(zip(FAST, SAMPLERS, strict=True))),
)
def test_the_distribution_over_concrete_labelled_lists(seed, sampler):
    small = random_problem(seed)
    distribution = distribution_of_draw(*small)
    drawn = sampler(make_problem(*small), SeededEntropy(seed))
    assert p_value(distribution, drawn) > LEAST_P


def test_the_random_problems_are_what_they_should_be():
    problems = [random_problem(seed) for seed in range(24)]
    assert {len(x.counts) for x in problems} == {2, 3}
    assert {len(x.prior.lengths) - 1 for x in problems} == {0, 1, 2, 3, 4}
    assert min(x.rate for x in problems) < 0.1
    assert max(x.rate for x in problems) > 2
    assert any(np.ptp(x.prior.rules) > 0 for x in problems)
    assert all((x.truth[0] == x.truth[-1]).all() for x in problems)


def without_multiplicity(problem):
    """A broken twin: rules that agree are one rule. Its candidates then follow from the records."""
    from dataclasses import replace

    return replace(problem, members=tuple(m[:1] for m in problem.members))


def twice_the_rate(problem):
    from dataclasses import replace

    return replace(problem, rate=2 * problem.rate)


@pytest.mark.parametrize("broken", [without_multiplicity, twice_the_rate])
def test_broken_twins_are_caught(broken):
    small = random_problem(3, longest=2, n_classes=2, rate=1.0)
    distribution = distribution_of_draw(*small)
    problem = broken(make_problem(*small))
    assert p_value(distribution, by_envelope(problem, SeededEntropy(0))) < LEAST_P


def test_bounds_that_do_not_hold_are_caught(monkeypatch):
    """A broken twin: the bounds are too low, so good lists are accepted too rarely."""
    small = random_problem(6, longest=3, n_classes=2, rate=1.5)
    problem = make_problem(*small)
    monkeypatch.setattr(Bounds, "after_next", lambda self, sets, *rest: np.zeros((len(sets), problem.n_groups)))
    assert p_value(distribution_of_draw(*small), by_coarse_envelope(problem, SeededEntropy(0))) < LEAST_P


def test_sums_of_bounds_that_do_not_hold_are_caught(monkeypatch):
    small = random_problem(6, longest=3, n_classes=2, rate=1.5)
    problem = make_problem(*small)
    bound = elements.little_more_than_log_sum
    monkeypatch.setattr(elements, "little_more_than_log_sum", lambda logs: bound(logs) - 6.0)
    drawn = by_envelope(problem, SeededEntropy(0), slack=-50.0)  # so coarse that nothing is divided
    assert p_value(distribution_of_draw(*small), drawn) < LEAST_P


def test_the_system_s_randomness_has_the_same_distribution():
    small = random_problem(4, longest=1, n_classes=2, rate=0.3)
    distribution = distribution_of_draw(*small)
    assert p_value(distribution, by_envelope(make_problem(*small), Entropy())) > 1e-6


def optimum_equals_enumeration(seeds):
    for seed in seeds:
        small = random_problem(seed)
        lists, scores, _ = distribution_of_draw(*small)
        problem = make_problem(*small)
        groups, ceiling = best_list(problem, Deadline())
        shortest = min(len(rules) for (rules, _), s in zip(lists, scores, strict=True) if s == scores.max())
        rules = choices.concrete(problem, groups, Chances(SeededEntropy(0)).choose)
        reached = max(s for (r, _), s in zip(lists, scores, strict=True) if r == tuple(rules))
        assert reached == scores.max()
        assert len(groups) == shortest
        assert ceiling + small.counts.min(0).sum() <= scores.max()


def test_without_noise_the_optimum_is_the_enumerated_one():
    optimum_equals_enumeration(range(100, 100 + examples(60)))


@pytest.mark.slow
def test_without_noise_the_optimum_is_the_enumerated_one_on_a_thousand_problems():
    optimum_equals_enumeration(range(1_000))


def test_degenerate_problems():
    """No record, no rule that may be used, fewer rules than places, records of one class."""
    entropy = SeededEntropy(0)
    truth = np.array([[True, False], [False, True]])
    for counts in (np.zeros((2, 2)), np.array([[5.0, 3.0], [0.0, 0.0]]), np.ones((3, 2))):
        for lengths, weights in (
            ((1.0,) * 6, (1.0, 1.0)),
            ((1.0,), (1.0, 1.0)),
            ((0.0, 1.0), (1.0, 0.0)),
            ((1.0, 1.0), (0.0, 0.0)),
        ):
            problem = make_problem(truth, counts, Prior(lengths, np.array(weights)), 1.0)
            for sampler in SAMPLERS:
                for rules, labels in sampler(problem, entropy, 20):
                    assert len(rules) == len(set(rules)) <= 2
                    assert len(labels) == len(rules) + 1
                    assert all(weights[r] for r in rules)


def test_a_time_limit_ends_the_draw():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 50, (2, 300)).astype(float)
    problem = make_problem(rng.random((300, 300)) < 0.3, counts, Prior((1.0,) * 6, np.ones(300)), 1.0)
    with pytest.raises(TimeLimitError, match=r"time_limit=0.05 .* budget stays spent"):
        envelope.draw_by_envelope(problem, SeededEntropy(0), Deadline(0.05))


@pytest.mark.parametrize("count", [1_000, 1_000_003, 15_999_999])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_in_double_precision(count, n_classes):
    """Counts may be in single precision, where they are exact; epsilon times counts would not be."""
    counts = np.array([[count], [count - 2], [5]][:n_classes], float)
    problem = make_problem(np.array([[True]]), counts, Prior((1.0, 1.0), np.ones(1)), 0.009)
    exact = np.longdouble(0.009) * np.asarray(problem.counts[:, 0], np.longdouble)
    expected = exact.max() + np.log(np.exp(exact - exact.max()).sum())
    assert abs(float(problem.log_sum(problem.counts)[0] - expected)) < 1e-9


@pytest.mark.parametrize(
    ("a", "b", "rate"), [(8_140_000, 4_707, 1e3), (81_400, 4_707, 1e4), (8_140, 4_707, 1e6), (5, 0, 1e9)]
)
def test_every_draw_ends(a, b, rate):
    """A draw that hangs for some tables and not for others would say something about them."""
    counts = np.array([[a, a], [b, b]], float)
    problem = make_problem(np.ones((5, 2), bool), counts, Prior((1.0,) * 4, np.ones(5)), rate)
    envelope.draw_by_envelope(problem, SeededEntropy(0), Deadline(30.0))


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1))
def test_any_table_is_drawn_from_without_a_hitch(seed):
    rng = np.random.default_rng(seed)
    n_rules, n_patterns, n_classes = rng.integers(1, 7), rng.integers(1, 6), rng.integers(2, 4)
    counts = np.floor(10 ** rng.uniform(0, rng.choice([1, 4, 9, 13]), (n_classes, n_patterns))) * (
        rng.random(n_patterns) < 0.7
    )
    counts *= 10 ** rng.uniform(-rng.choice([0, 5, 300]), 0, (n_classes, 1))
    lengths = rng.choice([0.0, 1.0, 3.0], rng.integers(1, 6)) + np.eye(6)[0][:1]
    rules = rng.choice([0.0, 1.0, 1e-9], n_rules)
    rate = 10 ** rng.uniform(-6, 9)
    problem = make_problem(rng.random((n_rules, n_patterns)) < 0.5, counts, Prior(tuple(lengths), rules), rate)
    with np.errstate(all="ignore"):
        chosen, labels = envelope.draw_by_envelope(problem, SeededEntropy(seed), Deadline(30.0))
    assert len(labels) == len(chosen) + 1
    assert all(rules[r] > 0 for r in chosen)

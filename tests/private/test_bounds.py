"""The envelope's bounds against brute force, and its distribution when its parts are made small enough to matter."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling import bounds, elements, envelope, thresholds
from discreet.private.sampling import problem as problems
from discreet.private.sampling.bounds import little_more_than_log_sum
from discreet.private.sampling.deadline import Deadline
from discreet.private.sampling.problem import make_problem
from discreet.private.sampling.reference import distribution_of_draw
from discreet.rules.prior import Prior

from ..support.slices import slow_but
from ..support.small_problems import Small, draws_from, envelope_of, p_value

SEEDS = range(12)


def problem_of_five(seed, n_rules=6):
    """Two or three classes, rules that agree, counts that are not whole (odd seeds), five rules to take."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 2
    truth = rng.random((n_rules, 9)) < 0.45
    truth[-1] = truth[0]
    counts = rng.integers(0, 9, (n_classes, 9)) * (1.0 if seed % 3 else 0.7)
    rules = rng.choice([1.0, 2.5], n_rules) if seed % 2 else np.ones(n_rules)
    return Small(truth, counts, Prior(tuple(rng.uniform(0.5, 2.0, 6)), rules), float(rng.uniform(0.1, 1.5)))


def best_score(problem, alive, s):
    """C_s by brute force."""
    best = (problem.counts @ alive).max()
    if s:
        for true in problem.truth.T:
            best = max(best, (problem.counts @ (alive * true)).max() + best_score(problem, alive * (1 - true), s - 1))
    return best


def all_sets(problem, t):
    grid = np.indices((problem.n_groups,) * t).reshape(t, -1).T
    return np.unique(np.sort(grid, axis=1), axis=0).astype(np.int32)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """So that runs, blocks and several parts of the last level come up in small problems."""
    monkeypatch.setattr(bounds, "RUN", 2)
    monkeypatch.setattr(problems, "ROWS", 5)
    monkeypatch.setattr(thresholds, "ROWS", 64)
    monkeypatch.setattr(envelope, "ROWS", 64)
    monkeypatch.setattr(elements, "EDGES", 20)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_split_is_exact(seed):
    problem = make_problem(*problem_of_five(seed))
    for t in range(1, 4):
        sets = all_sets(problem, t)
        truth = [best_score(problem, alive, 1) for alive in problem.alive(sets)]
        np.testing.assert_allclose(bounds.best_split(problem, problem.alive(sets)), truth, atol=1e-9)
        np.testing.assert_allclose(bounds.best_split_after(problem, sets, Deadline()), truth, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_list_scores_more_than_the_bounds(seed):
    problem = make_problem(*problem_of_five(seed, n_rules=5))
    found = bounds.Bounds(problem, Deadline())
    for t in range(1, 5):
        sets = all_sets(problem, t)
        alive = problem.alive(sets)
        for s in range(5 - t):
            truth = np.array([best_score(problem, a, s) for a in alive])
            assert (found.after(sets, s) >= truth - 1e-9).all()
            if t + s < 4:
                truth = np.array([[best_score(problem, a * (1 - r), s) for r in problem.truth.T] for a in alive])
                assert (found.after_next(sets, alive, s, problem.captured(alive)) >= truth - 1e-9).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_triples_are_exact(seed):
    problem = make_problem(*problem_of_five(seed))
    table = bounds.Bounds(problem, Deadline())._triples
    for i, j, k in np.ndindex(table.shape):
        sets = np.array([[i, j, k]], np.int32)
        assert table[i, j, k] == pytest.approx(best_score(problem, problem.alive(sets)[0], 1), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slack", [-50.0, -3.0, 0.0, 6.0])
def test_no_list_is_accepted_with_more_than_certainty(seed, slack):
    entropy = SeededEntropy(seed)
    for piece in envelope_of(make_problem(*problem_of_five(seed)), slack)._pieces:
        possible = np.flatnonzero(np.isfinite(piece.mass))
        for at in np.array_split(np.tile(possible, 20), 20):
            if len(at):
                assert piece.propose(at, entropy).log_accept.max() < 1e-9


@given(st.integers(0, 2**32 - 1))
def test_sums_in_single_precision_are_never_too_low_and_hardly_too_high(seed):
    rng = np.random.default_rng(seed)
    logs = rng.uniform(-(10 ** rng.uniform(-2, 6)), 10 ** rng.uniform(-2, 6), (3, rng.integers(1, 3_000)))
    logs[rng.random(logs.shape) < rng.choice([0.0, 0.5, 1.0])] = -np.inf
    exact = np.logaddexp.reduce(logs, axis=1)
    found = little_more_than_log_sum(logs)
    empty = np.isneginf(exact)
    assert (np.isneginf(found) == empty).all()
    assert (found[~empty] >= exact[~empty]).all()
    assert (found[~empty] <= exact[~empty] + 0.002).all()


@pytest.mark.parametrize(("seed", "slack"), slow_but([(0, -4.0), (1, -2.0), (2, 0.0), (3, 6.0)], [(3, 6.0)]))
def test_five_rules_have_the_right_distribution(seed, slack):
    small = problem_of_five(seed, n_rules=5)
    problem = make_problem(*small)
    drawn = draws_from(envelope_of(problem, slack), SeededEntropy(seed), 2_000)
    assert p_value(distribution_of_draw(*small), drawn) > 1e-4


def test_sets_that_would_share_a_key_have_none():
    """With 2,048 groups the keys of seven of them pass 2^63, and two sets would become one."""
    many = SimpleNamespace(n_groups=2048)
    sets = np.array([[0, *range(100, 700, 100)], [1, *range(100, 700, 100)]], np.int32)
    assert len(set(elements.keys_of(many, sets[:, :5]).tolist())) == 2
    with pytest.raises(AssertionError, match="no keys"):
        elements.keys_of(many, sets)

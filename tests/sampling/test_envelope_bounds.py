"""The bounds of the envelope sampler against brute force, and the law when its parts are made small enough to matter."""

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.noise.entropy import SeededEntropy
from discreet.sampling import envelope, reach
from discreet.sampling.deadline import Deadline
from discreet.sampling.problem import Prior, concrete, draw_labels, make_problem

from ..support.enumerated_lists import Small, exponential_mechanism

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
    monkeypatch.setattr(reach, "RUN", 2)
    monkeypatch.setattr(reach, "ROWS", 5)
    monkeypatch.setattr(envelope, "ROWS", 64)
    monkeypatch.setattr(envelope, "EDGES", 20)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_split_is_exact(seed):
    problem = make_problem(*problem_of_five(seed))
    for t in range(1, 4):
        sets = all_sets(problem, t)
        truth = [best_score(problem, alive, 1) for alive in problem.alive(sets)]
        np.testing.assert_allclose(reach.best_split(problem, problem.alive(sets)), truth, atol=1e-9)
        np.testing.assert_allclose(reach.best_split_after(problem, sets, Deadline()), truth, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tables", [None, 0])
def test_no_list_scores_more_than_the_bounds(seed, tables):
    problem = make_problem(*problem_of_five(seed, n_rules=5))
    bounds = reach.Reach(problem, Deadline(), tables)
    for t in range(1, 5):
        sets = all_sets(problem, t)
        alive = problem.alive(sets)
        for s in range(5 - t):
            truth = np.array([best_score(problem, a, s) for a in alive])
            assert (bounds.after(sets, s) >= truth - 1e-9).all()
            if t + s < 4:
                truth = np.array([[best_score(problem, a * (1 - r), s) for r in problem.truth.T] for a in alive])
                for captured in (None, problem.captured(alive)):
                    assert (bounds.after_next(sets, alive, s, captured) >= truth - 1e-9).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_triples_are_exact(seed):
    problem = make_problem(*problem_of_five(seed))
    table = reach.Reach(problem, Deadline())._triples
    for i, j, k in np.ndindex(table.shape):
        sets = np.array([[i, j, k]], np.int32)
        assert table[i, j, k] == pytest.approx(best_score(problem, problem.alive(sets)[0], 1), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slack", [-50.0, -3.0, 0.0, 6.0])
def test_no_list_is_accepted_with_more_than_certainty(seed, slack):
    made = envelope.Envelope(make_problem(*problem_of_five(seed)), Deadline(), slack)
    entropy = SeededEntropy(seed)
    for propose, level in made._pieces:
        for at in np.array_split(np.tile(np.arange(len(level.sets)), 20), 20):
            mass = level.pruned if propose == made._go_on else level.stop
            at = at[np.isfinite(mass[at])]
            if len(at):
                assert propose(level, at, entropy).log_accept.max() < 1e-9


@pytest.mark.parametrize(("seed", "slack"), [(0, -4.0), (1, -2.0), (2, 0.0), (3, 6.0)])
def test_five_rules_have_the_right_law(seed, slack):
    small = problem_of_five(seed, n_rules=5)
    lists, p = exponential_mechanism(small)
    problem, entropy = make_problem(*small), SeededEntropy(seed)
    made = envelope.Envelope(problem, Deadline(), slack)
    place = {x: i for i, x in enumerate(lists)}
    n = 2000
    drawn = np.zeros(len(lists))
    for _ in range(n):
        groups = made.draw(entropy, 10**6)
        drawn[place[tuple(concrete(problem, groups, entropy)), tuple(draw_labels(problem, groups, entropy))]] += 1
    order = np.argsort(-p)
    bins = (np.cumsum(p[order]) * n // 10).astype(int).clip(max=n // 10 - 1)
    expected, seen = np.bincount(bins, p[order]) * n, np.bincount(bins, drawn[order])
    keep = expected > 0
    assert chisquare(seen[keep], expected[keep]).pvalue > 1e-4

"""The wall between the distribution of a draw and pruning, which decides its speed: only the bounds must hold."""

import ast
from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import discreet.private.sampling
from discreet.private.noise.decisions import Chances
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling import elements, envelope
from discreet.private.sampling.bounds import Bounds
from discreet.private.sampling.deadline import Deadline
from discreet.private.sampling.elements import Elements, draw_order
from discreet.private.sampling.envelope import Envelope, draw_by_envelope
from discreet.private.sampling.problem import make_problem
from discreet.private.sampling.reference import distribution_of_draw
from discreet.private.sampling.thresholds import Threshold

from ..support.small_problems import draws_from, p_value, random_problem

HOME = Path(discreet.private.sampling.__file__).parent
DISTRIBUTION = "choices", "elements", "envelope"
PRUNING = "bounds", "deadline", "thresholds"
# all that the modules that decide the distribution import from those that prune
BOUNDS = {"Bounds", "best_split_after", "little_more_than_log_sum"}
DECISIONS = {"EDGES", "Threshold", "finenesses", "good_weight"}
ASKED = {"bounds": {"after_next"}, "threshold": {"keep", "too_many", "to_split", "to_sum", "known"}}


def files(*names):
    return [HOME / f"{name}.py" for name in names]


def imported(path):
    """(module, name) of all that a module imports; relative ones from the package on."""
    here = ("sampling",)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((a.name, None) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) + 1 - node.level] if node.level else ()
            yield from ((".".join([*base, node.module]), a.name) for a in node.names)


def test_pruning_draws_no_random_number_and_imports_nothing_that_decides_the_distribution():
    for path in files(*PRUNING, "problem"):
        for module, _ in imported(path):
            assert module.split(".")[0] not in {"noise", "random", "secrets", "os", "uuid"}, (path.name, module)
            assert module not in {f"sampling.{name}" for name in (*DISTRIBUTION, "reference")}, (path.name, module)
        attributes = {n.attr for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Attribute)}
        assert not attributes & {"random", "uniform", "default_rng"}, path.name


def test_what_decides_the_distribution_imports_bounds_and_decisions_alone_from_pruning():
    taken = {
        name
        for path in files(*DISTRIBUTION)
        for module, name in imported(path)
        if module in {f"sampling.{name}" for name in PRUNING}
    }
    assert taken == BOUNDS | DECISIONS | {"Deadline"}


def test_of_bounds_and_thresholds_it_asks_only_what_this_test_names():
    asked = {name: set() for name in ASKED}
    for path in files(*DISTRIBUTION):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
                owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                asked.get(owner.lstrip("_"), set()).add(node.attr)
    assert asked == ASKED


def test_the_reference_shares_nothing_with_the_other_samplers():
    assert not [module for module, _ in imported(HOME / "reference.py") if module.startswith("sampling")]


class Whim:
    """Decisions made at random, some of them twice."""

    known = 0.0

    def __init__(self, rng):
        self._rng = rng

    def keep(self, bound):
        return self._rng.random(bound.shape) < 0.6

    def too_many(self, n_sets):
        return False

    def to_split(self, mass, stop, share):
        for _ in range(3):
            yield np.flatnonzero(self._rng.random(len(mass)) < 0.4)

    def to_sum(self, rows, mass):
        yield rows[self._rng.random(len(rows)) < 0.6]


class Loose(Bounds):
    """Bounds that hold, and are too high by this and that."""

    def after_next(self, sets, *rest):
        too_much = np.random.default_rng(0).uniform(0.0, 3.0, (7, self._problem.n_groups))
        return super().after_next(sets, *rest) + too_much[(sets + 1).sum(1) % 7]


def loosened(best_split_after, rng):
    """The same for the best split."""

    def loose(problem, sets, deadline):
        return best_split_after(problem, sets, deadline) + rng.uniform(0.0, 2.0, len(sets))

    return loose


@pytest.mark.parametrize(
    "seed", [seed if seed in (1, 3) else pytest.param(seed, marks=pytest.mark.slow) for seed in range(12)]
)
def test_any_decisions_and_any_bounds_that_hold_give_the_envelope_the_same_distribution(monkeypatch, seed):
    small = random_problem(seed, longest=2 + seed % 3, rate=0.2)
    problem, rng = make_problem(*small), np.random.default_rng(seed)
    monkeypatch.setattr(elements, "best_split_after", loosened(elements.best_split_after, rng))
    monkeypatch.setattr(elements, "EDGES", int(rng.integers(1, 20)))
    made = Elements(problem, Loose(problem, Deadline()), Whim(rng), Deadline())
    assert any(level.kept.any() and np.isfinite(level.pruned).any() for level in made.levels)
    drawn = draws_from(Envelope(made, Deadline()), SeededEntropy(seed), 800)
    assert p_value(distribution_of_draw(*small), drawn) > 1e-4


class OnlyLooks(Threshold):
    """A threshold that is shown arrays which it cannot write."""

    def keep(self, bound):
        return super().keep(read_only(bound))

    def to_split(self, mass, stop, share):
        return super().to_split(read_only(mass), read_only(stop), share)

    def to_sum(self, rows, mass):
        return super().to_sum(read_only(rows), read_only(mass))


def read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("seed", range(8))
def test_bounds_and_decisions_write_nothing_that_belongs_to_the_distribution(monkeypatch, seed):
    problem = make_problem(*random_problem(seed, longest=seed % 5))
    for name in ("truth", "counts", "log_rule", "log_length", "outside", "log_members", "sizes"):
        getattr(problem, name).flags.writeable = False
    monkeypatch.setattr(envelope, "Threshold", OnlyLooks)
    draw_by_envelope(problem, SeededEntropy(seed), Deadline())


def kept_orders(made, groups):
    """Each order of a set in which every beginning was kept, with its weight, one rule after the other."""
    problem, weights = made.problem, {}
    for order in set(permutations(groups)):
        log, kept = 0.0, True
        for t, group in enumerate(order):
            before = np.array([order[:t]], np.int32).reshape(1, t)
            at = np.flatnonzero((made.levels[t].sets == np.sort(before)).all(1))
            kept = kept and len(at) and np.unpackbits(made.levels[t].kept[at[0]])[group]
            part = problem.alive(before) * problem.truth.T[[group]]
            log += problem.log_free(before)[0, group] + problem.log_sum(problem.left(part))[0]
        if kept:
            weights[order] = np.exp(log)
    return weights


def test_the_order_of_a_set_is_one_of_those_that_were_kept_by_its_weight():
    compared = 0
    for seed in range(20):
        problem, entropy = make_problem(*random_problem(seed, longest=4, rate=0.2)), SeededEntropy(seed)
        made = Elements(problem, Bounds(problem, Deadline()), Whim(np.random.default_rng(seed)), Deadline())
        for last in made.last:
            for place, groups in enumerate(last.sets.tolist()):
                weights = kept_orders(made, groups)
                if 1 < len(weights) < 6:  # not all six orders, so that it matters which were kept
                    drawn = Counter(tuple(draw_order(made, last, place, Chances(entropy).choose)) for _ in range(300))
                    assert set(drawn) <= set(weights)
                    expected = 300 * np.array(list(weights.values())) / sum(weights.values())
                    assert chisquare([drawn[order] for order in weights], expected).pvalue > 1e-5
                    compared += 1
    assert compared > 10

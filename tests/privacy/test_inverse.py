"""The mechanism "inverse": its losses against a search for the fewest records, how they change, its price, broken twins."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.audit.choices import distributions_of_inverse, worst_on_grid
from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.inverse import InverseSelector, _blocks, largest_step, path_losses
from discreet.private.mechanisms.mass import UNITS, mass_units
from discreet.private.noise.entropy import Entropy
from discreet.private.noise.seeded import SeededEntropy
from tests.privacy.twins import E, HalfTheStep, StepFromHere, WithoutTheTwo
from tests.support.slices import examples, slow_but

KINDS = 8  # in neither rule, in the first, in the second, in both; of either class


def all_tables(records):
    """Every table of up to so many records: how many there are of each kind. Two rules, two classes: (kinds, tables)."""
    columns = [np.zeros((0, 1), np.int64)]
    tables = columns[0]
    left = np.array([records])
    for _ in range(KINDS):
        times = left + 1
        new = np.concatenate([np.arange(k) for k in times])
        tables = np.concatenate([np.repeat(tables, times, axis=1), new[None]])
        left = np.repeat(left, times) - new
    return tables


def counts(tables):
    """``left`` and ``captured`` of many nodes."""
    patterns = tables.reshape(2, 4, -1).astype(float)
    return patterns.sum(1), np.stack([patterns[:, 1] + patterns[:, 3], patterns[:, 2] + patterns[:, 3]], axis=1)


def exact_masses(tables):
    """Of both rules and of no rule. Of tables of up to 40 records, two that differ do so by more than 1e-7."""
    left, captured = counts(tables)
    captured = np.concatenate([captured, np.zeros_like(left)[:, None]], axis=1)
    sides = np.stack([captured, left[:, None] - captured])
    return (sides.prod(1) / np.maximum(sides.sum(1), 1.0)).sum(0)


class Graph:
    """All tables of up to so many records; neighbours have one record more or less."""

    def __init__(self, records):
        self.tables = all_tables(records)
        self._powers = (records + 2) ** np.arange(KINDS)
        codes = self._powers @ self.tables
        self._order = np.argsort(codes)
        self._codes = codes[self._order]

    def places(self, tables):
        """Where tables stand; -1 if they have too many records, or fewer than none of a kind."""
        codes = self._powers @ tables
        found = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        known = (self._codes[found] == codes) & (tables >= 0).all(0)
        return np.where(known, self._order[found], -1)

    def steps(self, which):
        """Of each table, all neighbours in the graph, one kind and direction after the other."""
        for kind, change in itertools.product(range(KINDS), (1, -1)):
            moved = self.tables[:, which].copy()
            moved[kind] += change
            yield self.places(moved)

    def fewest_steps(self, goal):
        """From every table to the nearest in ``goal``, by breadth-first search."""
        distance = np.where(goal, 0, -1)
        front, steps = np.flatnonzero(goal), 0
        while len(front):
            steps += 1
            reached = np.unique(np.concatenate([place[place >= 0] for place in self.steps(front)]))
            front = reached[distance[reached] < 0]
            distance[front] = steps
        return distance


def inverse_sensitivity(records):
    """Tables of up to so many records, and the fewest records to add or remove until the first rule, or no rule, is the best.

    A search among tables that are no larger finds a way that may be too long. The shortest one ends at a table that is at most
    that much larger, and needs none larger than it (records go first, and come then): so a second search sees it.
    """
    small = Graph(records)
    masses = exact_masses(small.tables)
    best = masses <= masses.min(0) + 1e-9
    detour = max(small.fewest_steps(best[rule]).max() for rule in (0, 2))
    large = Graph(records + detour)
    masses = exact_masses(large.tables)
    best = masses <= masses.min(0) + 1e-9
    found = [large.fewest_steps(best[rule])[large.places(small.tables)] for rule in (0, 2)]
    return small, np.stack(found)


def losses_of(tables, step=largest_step):
    left, captured = counts(tables)
    parts = np.array_split(np.arange(tables.shape[1]), tables.shape[1] // 4_000 + 1)
    return np.concatenate([path_losses(left[:, k], captured[:, :, k], step) for k in parts], axis=1)


def largest_change(graph, losses):
    """Of any loss, between any two neighbours."""
    everything = np.arange(losses.shape[1])
    changes = [np.abs(losses[:, to[to >= 0]] - losses[:, to >= 0]).max() for to in graph.steps(everything)]
    return max(changes)


@pytest.mark.parametrize("records", [6, pytest.param(12, marks=pytest.mark.slow)])
def test_no_loss_is_larger_than_the_fewest_records_that_make_a_rule_the_best(records):
    """All tables of up to 12 records (125,970) over two rules and no rule, with two classes.

    Losses are equal to it where it is 0 or 1, and change by at most one between neighbours.
    """
    graph, fewest = inverse_sensitivity(records)
    losses = losses_of(graph.tables)
    found = losses[[0, 2]]
    assert (found <= fewest).all()
    assert (found[fewest <= 1] == fewest[fewest <= 1]).all()
    assert ((found == 0) == (fewest == 0)).all()
    assert fewest.max() > 1
    assert largest_change(graph, losses) == 1


@pytest.mark.parametrize("step", [HalfTheStep.step, StepFromHere.step], ids=["half the step", "the step from here"])
def test_a_step_that_is_too_small_lets_losses_jump(step):
    graph = Graph(6)
    assert largest_change(graph, losses_of(graph.tables, step)) > 1


def random_node(rng, classes, rules, most):
    """Records of some kinds, and which rules capture each kind. Some rules capture nothing, or everything, or are alike."""
    kinds = 12
    records = np.floor(most ** rng.random((classes, kinds))) * (rng.random((classes, kinds)) < 0.7)
    truth = rng.random((kinds, rules)) < rng.random(rules)
    truth[:, 0], truth[:, 1] = truth[:, 2], ~truth[:, 3]
    return records, truth


@pytest.mark.parametrize("classes", slow_but([2, 3, 5], [2, 3]))
@pytest.mark.parametrize("most", slow_but([5, 300, 10**6, 10**11], [5, 10**11]))
def test_one_record_changes_no_loss_by_more_than_one_at_any_size(classes, most):
    rng, changes = np.random.default_rng(0), []
    for _ in range(4):
        records, truth = random_node(rng, classes, 8, most)
        more = [records]
        for c, kind in itertools.product(range(classes), range(records.shape[1])):
            more.append(records.copy())
            more[-1][c, kind] += 1
        tables = np.stack(more, axis=-1)
        losses = path_losses(tables.sum(1), np.einsum("ckn,kr->crn", tables, truth.astype(float)))
        changes.append(losses[:, 1:] - losses[:, :1])
    assert {-1, 1} <= set(np.concatenate(changes, axis=1).ravel()) <= {-1, 0, 1}


def step_by_definition(winner, loser, j):
    """D_j of two classes, in exact fractions; (side, class) counts."""

    def phi(o, p):
        return Fraction(o * o, (o + p) * (o + p + 1)) if o else Fraction(0)

    def of(split, c, high, leaves):
        for side in split:
            p, o = side[c] - leaves, side[1 - c]
            yield phi(o + j, max(p - j, 0)) if high else phi(max(o - j, 0), max(p, 0) + j)

    return max(
        max(of(one, c, True, leaves)) - min(of(other, c, False, leaves))
        for c, (one, other, leaves) in itertools.product((0, 1), ((loser, winner, 0), (winner, loser, 1)))
    )


def test_a_step_is_what_its_definition_says_rounded_up_by_at_most_four_units():
    rng = np.random.default_rng(1)
    for most in (3, 40, 10**5):
        for _ in range(60):
            winner, loser = rng.integers(0, most, (2, 2, 2)).tolist()
            j = int(rng.integers(0, most))
            found = int(largest_step(np.array(winner, float), np.array(loser, float), np.array(float(j))))
            exact = max(step_by_definition(winner, loser, j), 0) * UNITS
            assert exact <= found <= exact + 4


def test_the_sum_of_steps_looks_at_each_of_them_once_and_never_too_near():
    for k in (1, 2, 9, 10, 57, 1000):
        begin, size = _blocks(k)
        count = np.clip(k - begin, 0, size)
        assert count.sum() == k
        assert (np.repeat(k - 1 - begin, count) >= np.arange(k)[::-1]).all()
        assert k > 4 or (count == 1).all()


def test_copies_and_negations_of_a_rule_lose_alike_and_what_is_left_out_changes_nothing():
    rng = np.random.default_rng(2)
    for classes in (2, 3):
        records, truth = random_node(rng, classes, 9, 500)
        node = NodeCounts(records.sum(1), records @ truth)
        losses = np.round(-InverseSelector(E).scores(node) * InverseSelector(E).scale).astype(int)
        assert losses[0] == losses[2]
        assert losses[1] == losses[3]
        assert (losses == path_losses(node.left[:, None], node.captured[:, :, None])[:, 0]).all()
        assert losses[mass_units(node).argmin()] == losses.min() == 0


def test_a_loss_is_at_least_the_gap_in_mass():
    """So "inverse" with epsilon is never more careless than "mass" with half of it: exp(-e f / 2) <= exp(-e gap / 2)."""
    tables = all_tables(7)
    gaps = exact_masses(tables) - exact_masses(tables).min(0)
    assert (losses_of(tables) >= gaps - 1e-5).all()


def test_the_factor_of_two_is_needed_even_by_the_exact_number_of_records():
    """One class-0 record that only the second rule captures; of class 1 one in neither rule and two in the first alone.

    Then a record of class 0 comes that neither captures. The second rule was the best, and now the first is.
    """
    graph, fewest = inverse_sensitivity(5)
    before, after = np.array([0, 0, 1, 0, 1, 2, 0, 0]), np.array([1, 0, 1, 0, 1, 2, 0, 0])
    (here, there) = graph.places(np.stack([before, after], axis=1))
    losses = losses_of(graph.tables)
    assert losses[:, here].tolist() == [1, 0, 1]
    assert losses[:, there].tolist() == [0, 1, 2]
    assert fewest[:, here].tolist() == [1, 1]
    assert fewest[:, there].tolist() == [0, 2]
    selector = InverseSelector(E)
    lost = [
        np.diff(distributions_of_inverse(selector, before, 1, copies)[0], axis=0).ravel()[0] for copies in (1, 30, 3000)
    ]
    assert lost[0] < lost[1] < lost[2] <= float(E) * (1 + 1e-9)
    assert lost[2] > 0.999 * float(E)


def test_opendp_prices_a_choice_as_we_do():
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    for epsilon in (Fraction(1, 3), Fraction(22, 7), Fraction(1, 7000)):
        metric, scale = linf_distance(T="i64", monotonic=False), InverseSelector(epsilon).scale
        measure = make_noisy_max(vector_domain(atom_domain(T="i64")), metric, max_divergence(), scale, negate=True)
        assert 2 / Fraction(scale) <= epsilon
        assert measure.map(1) == pytest.approx(float(epsilon), rel=1e-12)


@pytest.mark.parametrize("entropy", [SeededEntropy(1), Entropy()], ids=["seeded", "OpenDP"])
def test_a_selector_draws_by_its_own_probabilities(entropy):
    selector = InverseSelector(Fraction(1, 2))
    here = NodeCounts(np.array([9.0, 8.0]), np.array([[9.0, 6.0, 8.0], [0.0, 1.0, 6.0]]))
    draws = examples(4_000)
    seen = np.bincount([selector.select(here, entropy) for _ in range(draws)], minlength=4)
    assert stats.chisquare(seen, np.exp(selector.log_prob(here)) * draws).pvalue > 1e-6


def test_the_distributions_of_the_audit_are_those_of_the_choices():
    selector = InverseSelector(E)
    distributions = distributions_of_inverse(selector, [0, 0, 0, 3, 1, 0, 0, 2], 1)
    for place in itertools.product((0, 1), repeat=KINDS):
        left, captured = counts(np.array(place)[:, None] + np.array([[0, 0, 0, 3, 1, 0, 0, 2]]).T)
        expected = selector.log_prob(NodeCounts(left[:, 0], captured[:, :, 0]))
        assert [distribution[place] for distribution in distributions] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("twin", [StepFromHere, HalfTheStep, WithoutTheTwo])
def test_a_choice_costs_at_most_its_epsilon_and_that_of_a_twin_more(twin):
    nodes = [0] * KINDS, 2, 30
    sound, broken = (
        worst_on_grid(distributions_of_inverse(one(E), *nodes), float(E), "") for one in (InverseSelector, twin)
    )
    assert 0.99 < sound.ratio <= 1 + 1e-9
    assert broken.ratio > 1.4


def test_where_nothing_is_left_to_choose_from_or_no_record_is_left_all_is_equal():
    selector = InverseSelector(E)
    assert selector.select(NodeCounts(np.array([3.0, 4.0]), np.zeros((2, 0))), Entropy()) == 0
    assert selector.log_prob(NodeCounts(np.zeros(2), np.zeros((2, 3)))) == pytest.approx(np.log([0.25] * 4))
    pure = NodeCounts(np.array([0.0, 7.0]), np.array([[0.0, 0.0], [2.0, 7.0]]))
    assert selector.log_prob(pure) == pytest.approx(np.log([1 / 3] * 3))

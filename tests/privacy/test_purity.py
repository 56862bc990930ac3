"""The mechanism "purity": fewest records to take away, against a search; how they change; its price, with a broken twin."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.mass import mass_units
from discreet.private.mechanisms.purity import PuritySelector
from discreet.private.noise.entropy import Entropy
from discreet.private.noise.seeded import SeededEntropy

from .test_inverse import E, Graph, counts, exact_masses

removals = PuritySelector(Fraction(1)).losses


def removals_of(tables):
    left, captured = counts(tables)
    nodes = (NodeCounts(left[:, k], captured[:, :, k]) for k in range(tables.shape[1]))
    return np.stack([removals(node) for node in nodes], axis=1)


@pytest.mark.parametrize("records", [5, pytest.param(9, marks=pytest.mark.slow)])
def test_they_are_the_fewest_records_to_take_away_until_a_rule_is_pure_and_no_record_that_comes_would_help(records):
    """All tables of up to 9 records (24,310), two rules and no rule. The search may also add records."""
    graph = Graph(records)
    pure = exact_masses(graph.tables) == 0
    found = removals_of(graph.tables)
    for rule in range(3):
        assert (found[rule] == graph.fewest_steps(pure[rule])).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_record_that_comes_raises_them_by_0_or_1_for_all_rules(classes):
    rng = np.random.default_rng(0)
    for _ in range(200):
        records, truth = rng.integers(0, 4, (classes, 8)).astype(float), rng.random((8, 5)) < 0.5
        less = removals(NodeCounts(records.sum(1), records @ truth))
        for c, kind in itertools.product(range(classes), range(8)):
            more = records.copy()
            more[c, kind] += 1
            assert set(removals(NodeCounts(more.sum(1), more @ truth)) - less) <= {0, 1}


def test_that_a_rule_is_the_best_does_not_hold_for_all_parts_of_a_table_so_this_argument_is_not_for_inverse():
    graph = Graph(4)
    masses = exact_masses(graph.tables)
    best = masses[0] <= masses.min(0) + 1e-9
    parts = list(graph.steps(np.arange(len(best))))[1::2]
    assert any((best & (place >= 0) & ~best[place]).any() for place in parts)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_price_of_a_choice_is_nearly_attained_and_exceeded_with_half_the_noise(classes):
    """Rules that are pure but one which is not, before a record comes that turns it round."""
    left, captured = np.zeros(classes), np.zeros((classes, 400))
    left[0], captured[0, 1:] = 1, 1
    more_left, more = left + np.eye(classes)[1], captured.copy()
    pair = NodeCounts(left, captured), NodeCounts(more_left, more)
    for epsilon, low, high in ((E, 0.97, 1 + 1e-9), (2 * E, 1.9, 2 + 1e-9)):
        logs = [PuritySelector(epsilon).log_prob(node) for node in pair]
        assert low <= np.abs(logs[0] - logs[1]).max() / float(E) <= high


@pytest.mark.parametrize("entropy", [SeededEntropy(1), Entropy()], ids=["seeded", "OpenDP"])
def test_a_selector_draws_by_its_own_probabilities(entropy):
    selector = PuritySelector(Fraction(1, 2))
    here = NodeCounts(np.array([9.0, 8.0]), np.array([[9.0, 6.0, 8.0], [0.0, 1.0, 6.0]]))
    seen = np.bincount([selector.select(here, entropy) for _ in range(4_000)], minlength=4)
    assert stats.chisquare(seen, np.exp(selector.log_prob(here)) * 4_000).pvalue > 1e-6


def test_gaps_are_wider_than_in_mass_where_sides_are_even_and_may_be_nothing_where_one_class_prevails():
    even = NodeCounts(np.array([500.0, 500.0]), np.array([[325.0], [175.0]]))
    assert np.diff(removals(even))[0] == 150
    assert np.diff(mass_units(even))[0] / (1 << 20) == pytest.approx(22.5, abs=1e-5)
    skewed = NodeCounts(np.array([760.0, 240.0]), np.array([[220.0], [180.0]]))
    assert np.diff(removals(skewed))[0] == 0
    assert np.diff(mass_units(skewed))[0] / (1 << 20) > 29

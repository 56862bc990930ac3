"""What is said about an epsilon beforehand, against exact laws."""

import math
from itertools import pairwise

import numpy as np
import pytest

from discreet import Boolean, Schema
from discreet.audit.lists import KINDS, LISTS, N_RULES, laws_by_definition
from discreet.evaluation.planning import attackers_chance, expect, worst_loss


def correct():
    """(lists, kinds): whether a list classifies a record of a kind correctly, from the law at an enormous rate."""
    one_record_each = np.eye(len(KINDS))
    logs = laws_by_definition(50.0)(one_record_each)  # (kinds, lists); right ones are likelier by e^50
    prior = laws_by_definition(0.0)(one_record_each)
    return (logs - prior > -25.0).T


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
def test_a_list_is_as_good_as_was_said_in_95_of_100_draws(epsilon):
    rng = np.random.default_rng(0)
    right, worst = correct(), 0.0
    for _ in range(30):
        table = rng.integers(0, 30, len(KINDS)).astype(float)
        n = int(table.sum())
        found = np.exp(laws_by_definition(epsilon)(table[None])[0])
        accuracy = right @ table / n
        bound = worst_loss(epsilon, n, N_RULES, 2, N_RULES + 1, counts_share=0.0)
        assert found[accuracy < accuracy.max() - bound - 1e-12].sum() <= 0.05
        worst = max(worst, found[accuracy < accuracy.max() - bound / 6].sum())
    if epsilon < 1:
        assert worst > 0.05  # a sixth of it would not do


def test_lists_are_counted_as_the_prior_counts_them():
    longest = [x for x in LISTS if len(x[0]) == N_RULES]
    log_prior = -math.log(N_RULES + 1) - math.log(len(longest))
    expected = (-log_prior + math.log(20)) / (0.5 * 0.9) / 1000
    assert worst_loss(0.5, 1000, N_RULES, 2, N_RULES + 1) == pytest.approx(expected)
    assert worst_loss(1e-6, 10, 50) == 1.0


def test_more_epsilon_is_less_loss_and_less_privacy():
    schema = Schema([Boolean("a"), Boolean("b")], classes=["x", "y", "z"])
    found = expect(schema, 1000)
    assert all(a.loss >= b.loss and a.attacker < b.attacker for a, b in pairwise(found))
    assert attackers_chance(0.0) == 0.5
    assert attackers_chance(math.log(3)) == pytest.approx(0.75)
    assert attackers_chance(1.0, prior=0.01) == pytest.approx(math.e / (math.e + 99))

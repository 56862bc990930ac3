"""The law of a draw of whole lists, on all neighbouring tables of up to 5 records over 3 rules, and on larger ones.

The law is computed list by list, twice: from the records (``exponential_mechanism``), and from the ``Problem`` that the samplers
get, in which rules that agree are merged and cells are dropped. tests/test_samplers.py checks that the samplers follow it.
"""

from dataclasses import replace
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from discreet.prior import Prior
from discreet.vault.sampler.problem import make_problem

from ..enumerated_lists import Small, all_lists, exponential_mechanism

TRUTH = np.array(list(product([False, True], repeat=3))).T  # three rules on all 8 patterns


def small(counts, rate, lengths=(1.0,) * 4, rules=(1.0, 1.0, 1.0)):
    return Small(TRUTH, np.asarray(counts, float), Prior(tuple(lengths), np.array(rules)), rate)


def scores_of_each_record(n_classes, lengths=4, weights=None):
    """(lists, kinds of records): what one record of each pattern and class adds to the score of each list; and the prior."""
    n = TRUTH.shape[1]
    columns, priors = [], None
    for label, cell in product(range(n_classes), range(n)):
        one = np.zeros((n_classes, n))
        one[label, cell] = 1.0 if weights is None else weights[label]
        _, priors, scores = all_lists(small(one, 1.0, (1.0,) * lengths))
        columns.append(scores)
    return np.column_stack(columns), priors


def law(gain, prior, tables, rate):
    logs = rate * tables @ gain.T + prior
    top = logs.max(1, keepdims=True)
    return logs - top - np.log(np.exp(logs - top).sum(1, keepdims=True))


def worst_loss(gain, prior, rate, most=5):
    """The largest log-ratio over all tables of less than ``most`` records, one more added, and all lists."""
    kinds = gain.shape[1]
    worst = 0.0
    for n in range(most):
        tables = np.array([np.bincount(t, minlength=kinds) for t in combinations_with_replacement(range(kinds), n)])
        here = law(gain, prior, tables, rate)
        for record in np.eye(kinds):
            worst = max(worst, float(np.abs(law(gain, prior, tables + record, rate) - here).max()))
    return worst


@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
def test_all_neighbours_of_up_to_five_records(rate):
    gain, prior = scores_of_each_record(2)
    assert gain.shape[1] == 16
    loss = worst_loss(gain, prior, rate)
    assert loss <= rate * (1 + 1e-12)
    assert loss > 0.5 * rate  # it is no empty promise


def test_three_classes():
    gain, prior = scores_of_each_record(3, lengths=3)
    assert worst_loss(gain, prior, 0.5, most=3) <= 0.5 * (1 + 1e-12)


def test_class_weights_of_at_most_one_keep_the_promise():
    gain, prior = scores_of_each_record(2, weights=(1.0, 0.2))
    assert worst_loss(gain, prior, 0.5, most=4) <= 0.5 * (1 + 1e-12)


def test_a_twin_with_class_weights_above_one_is_caught():
    gain, prior = scores_of_each_record(2, weights=(1.0, 3.0))
    assert worst_loss(gain, prior, 0.5, most=4) > 0.6


def test_a_twin_with_twice_the_rate_is_caught():
    gain, prior = scores_of_each_record(2)
    assert worst_loss(gain, prior, 2 * 0.5, most=5) > 0.5


def test_the_accounting_is_not_slack():
    """40 records of one class in one cell, and one of the other class added there: within 10 % of epsilon = 0.5."""
    counts = np.zeros((2, 8))
    counts[0, 5] = 40.0
    more = counts.copy()
    more[1, 5] += 1.0
    _, p = exponential_mechanism(small(counts, 0.5))
    _, q = exponential_mechanism(small(more, 0.5))
    loss = np.abs(np.log(p) - np.log(q)).max()
    assert 0.45 <= loss <= 0.5


def law_of_problem(posed, n_rules):
    """The probability of every concrete labelled list, from what the samplers get."""
    group_of = {int(rule): g for g, rules in enumerate(posed.members) for rule in rules}
    logs = {}
    for length in range(posed.longest + 1):
        for rules in permutations(range(n_rules), length):
            if not set(rules) <= set(group_of):
                continue
            for labels in product(range(posed.n_classes), repeat=length + 1):
                alive, total = np.ones(len(posed.truth)), posed.log_length[length]
                for rule, label in zip([*rules, None], labels, strict=True):
                    part = alive if rule is None else alive * posed.truth[:, group_of[rule]]
                    total += posed.rate * float(posed.counts[label] @ part)
                    total += 0.0 if rule is None else posed.log_rule[group_of[rule]]
                    alive = alive - part
                logs[rules, labels] = total
    values = np.array(list(logs.values()))
    values = np.exp(values - values.max())
    return dict(zip(logs, values / values.sum(), strict=True))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_the_samplers_get_has_the_law_of_the_records(n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(15):
        counts = rng.integers(0, 4, (n_classes, 8)) * (rng.random(8) < 0.5)
        table = small(counts, 0.7, rng.uniform(0.1, 1.0, 3), rng.choice([1.0, 2.0], 3))
        expected = dict(zip(*exponential_mechanism(table), strict=True))
        found = law_of_problem(make_problem(*table), 3)
        assert set(found) == set(expected)
        assert all(abs(found[x] - expected[x]) < 1e-12 for x in found)


def worst_loss_of_problems(change, rate=0.5):
    """Over neighbours of up to 3 records, from what the samplers get, changed in some way."""
    worst = 0.0
    kinds = list(product(range(2), range(8)))
    for table in combinations_with_replacement(range(16), 2):
        counts = np.zeros((2, 8))
        for kind in table:
            counts[kinds[kind]] += 1.0
        here = law_of_problem(change(make_problem(*small(counts, rate, (1.0, 1.0)))), 3)
        for kind in kinds[::3]:
            more = counts.copy()
            more[kind] += 1.0
            there = law_of_problem(change(make_problem(*small(more, rate, (1.0, 1.0)))), 3)
            if set(here) != set(there):
                return np.inf
            worst = max(worst, *(abs(np.log(here[x] / there[x])) for x in here))
    return worst


def merged_without_multiplicity(posed):
    return replace(posed, members=tuple(m[:1] for m in posed.members))


def test_rules_merged_without_their_multiplicity_are_caught():
    assert worst_loss_of_problems(lambda posed: posed) <= 0.5 * (1 + 1e-9)
    assert worst_loss_of_problems(merged_without_multiplicity) == np.inf

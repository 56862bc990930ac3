"""Gini, its sensitivities and ranges: closed forms against definitions and against enumeration."""

import itertools
import math

import numpy as np
import pytest

from discreet.private.mechanisms.impurity import (
    g,
    gini,
    largest_ranges_of_smooth_gini,
    range_of_smooth_gini,
    smooth_sensitivity,
)
from tests.support.slices import pairs, slow_but

from .gini_by_definition import (
    local_sensitivity_of_adding,
    local_sensitivity_of_removing,
    range_of_gini,
    smooth_sensitivity_by_definition,
)

ROOTS = (3 - 2 * math.sqrt(2), 3 + 2 * math.sqrt(2))
BETAS = sorted(
    [*np.geomspace(1e-7, 1e3, 41), *ROOTS, *(r * (1 + s) for r in ROOTS for s in (-1e-9, 1e-9, -0.01, 0.01)), 0.5, 1.0]
)


def test_the_closed_form_equals_the_definition():
    points = 0
    sizes = [*range(1, 31), 40, 55, 70, 99, 100, 101, 150, 250, 400]
    for beta, support, n in itertools.product(BETAS, (1, 2, 3, 4, 7, 15, 50, 120), sizes):
        expected = smooth_sensitivity_by_definition(n, support, beta)
        assert smooth_sensitivity(n, support, beta) == pytest.approx(expected, rel=1e-12), (n, support, beta)
        points += 1
    assert points >= 10_000


def test_it_is_wrong_below_the_support_unless_k_is_clamped():
    """The paper's theorem puts k = n - support in, which is negative there."""
    n, support, beta = 5, 50, 0.1
    unclamped = math.exp(-beta * (n - support)) * g(max(support, n - (n - support)))
    assert unclamped > 10 * smooth_sensitivity_by_definition(n, support, beta)


def splits(n):
    """All ways in which n records can stand at a node for one rule: (A_in, B_in, A_out, B_out)."""
    for a_in in range(n + 1):
        for b_in in range(n + 1 - a_in):
            for a_out in range(n + 1 - a_in - b_in):
                yield a_in, b_in, a_out, n - a_in - b_in - a_out


def gini_of(split):
    a_in, b_in, a_out, b_out = split
    return float(gini(np.array([a_in + a_out, b_in + b_out], float), np.array([[a_in], [b_in]], float))[0])


def changes(n, score, score_after):
    """Over all rules and both sides: how the score of a rule can change when a record of class a comes, by (A, B)."""
    found = {}
    for a_in, b_in, a_out, b_out in splits(n):
        before = score(gini_of((a_in, b_in, a_out, b_out)))
        for after in ((a_in + 1, b_in, a_out, b_out), (a_in, b_in, a_out + 1, b_out)):
            found.setdefault((a_in + a_out, b_in + b_out), []).append(score_after(gini_of(after)) - before)
    return found


def test_gini_is_the_papers():
    for a_in, b_in, a_out, b_out in splits(7):
        expected = 0.0
        for a, b in ((a_in, b_in), (a_out, b_out)):
            if a + b:
                expected += (a + b) / 7 * (1 - (a / (a + b)) ** 2 - (b / (a + b)) ** 2)
        assert gini_of((a_in, b_in, a_out, b_out)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", slow_but(range(1, 16), range(1, 10)))
def test_ranges_and_sensitivities_bound_all_tables(n):
    by_table = changes(n, lambda x: x, lambda x: x)
    largest = max(abs(c) for found in by_table.values() for c in found)
    assert largest <= local_sensitivity_of_adding(n) + 1e-12
    assert largest == pytest.approx(local_sensitivity_of_adding(n))  # and it is attained
    assert local_sensitivity_of_removing(n + 1) == local_sensitivity_of_adding(n) > local_sensitivity_of_adding(n + 1)
    length = max(max(found) - min(found) for found in by_table.values())
    assert length <= range_of_gini(n) + 1e-12
    assert length >= 0.95 * range_of_gini(n)
    assert range_of_gini(n) <= 0.5 + 1e-12
    for support, beta in itertools.product((1, 2, 5, 10, 15, 40), (1e-4, 0.01, 0.05, 0.1716, 0.5, 7.0)):
        here, more = smooth_sensitivity(n, support, beta), smooth_sensitivity(n + 1, support, beta)
        by_table = changes(n, lambda x, s=here: x / s, lambda x, s=more: x / s)
        length = max(max(found) - min(found) for found in by_table.values())
        bound = range_of_smooth_gini(n, support, beta)
        assert length <= bound * (1 + 1e-12)
        assert bound <= largest_ranges_of_smooth_gini(support, beta)[min(n, support)] * (1 + 1e-12)


def test_the_published_smooth_sensitivity_does_not_bound_removals():
    assert smooth_sensitivity(15, 15, 0.001) / local_sensitivity_of_removing(15) == pytest.approx(0.94, abs=0.005)


@pytest.mark.parametrize(
    ("n", "share"), pairs([16, 100, 999, 1000, 1001, 1002, 5000, 10**5], [0.02, 0.12, 0.5, 1.0, 3.0])
)
def test_ranges_at_the_extremal_tables_of_large_nodes(n, share):
    """Half of each class: one rule separates them and gets the record on its pure side of b; one captures it alone."""
    support = max(1, int(share * n))
    for beta in (1e-7, 1e-5, 1e-3, 0.01, math.log(max(n / support, 1.001)) / max(n - support, 1)):
        here, more = smooth_sensitivity(n, support, beta), smooth_sensitivity(n + 1, support, beta)
        bound = range_of_smooth_gini(n, support, beta)
        for b in (n // 4, n // 2, n - 1, n):
            a = n - b
            separate = gini_of((1, b, a, 0)) / more - gini_of((0, b, a, 0)) / here
            alone = gini_of((1, 0, a, b)) / more - gini_of((0, 0, a, b)) / here
            none = gini_of((0, 0, a + 1, b)) / more - gini_of((0, 0, a, b)) / here
            found = [separate, alone, none]
            assert max(found) - min(found) <= bound * (1 + 1e-9)
        assert bound <= largest_ranges_of_smooth_gini(support, beta)[min(n, support)] * (1 + 1e-9)


def test_the_figures_of_the_design():
    """Fact 4: 0.625 at the support, (3 + x) / 8 above it, 0.625 L / n below it; in units of e, Laplace's e/2."""
    for support in (1_000, 10_000):  # "about": with 100 records it is 2.31 at a quarter of the support
        beta = 1e-9
        assert range_of_smooth_gini(support, support, beta) / 2 == pytest.approx(0.625, abs=0.02)
        assert range_of_smooth_gini(support // 4, support, beta) / 2 == pytest.approx(0.625 * 4, rel=0.02)
    for share, expected in ((0.12, 0.67), (0.05, 0.77)):
        n = 20_000
        support = int(share * n)
        beta = math.log(g(support) / g(n + 2)) / (n + 2 - support)  # the two branches of S meet just above n
        assert range_of_smooth_gini(n, support, beta) / 2 == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("support", [30, 84, 252, 1709])
def test_what_a_choice_of_sm_laplace_costs_in_round_numbers(support):
    """In units of the node's epsilon, half the range: the numbers of docs/theory/published.md."""

    def price(n, beta):
        return 0.5 * range_of_smooth_gini(n, support, beta)

    assert 0.625 * (1 - 1 / support) < price(support, 1e-9) < 0.625 + (1e-3 if support > 1000 else 0)  # a bound there
    most = (support + 1) ** 2 / (8 * support)
    assert price(1, 1e-3) == price(2, 1e-3) == pytest.approx(most)
    assert all(price(n, 1e-3) <= most * (1 + 1e-12) for n in range(1, support))
    for n in range(1, support):
        assert price(n, 1e-3) <= 0.625 * (support + 2) / n
    for share in (0.12, 0.05):
        n = round(support / share)
        bound = (3 + math.log(n / support) / (1 - support / n)) / 8
        assert max(price(n, beta) for beta in np.geomspace(1e-6, 0.1, 400)) <= bound

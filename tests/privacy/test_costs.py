"""What a cost says, against enumeration: zCDP, groups, and the way back to (epsilon, delta). Broken twins must be caught."""

import itertools
import math
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting.costs import (
    APPROXIMATE,
    BOUNDED_RANGE,
    CONCENTRATED,
    DISCRETE_LAPLACE,
    PURE,
    UNREADABLE,
    Cost,
    delta_of,
    for_person,
    plain_sum,
    rho_of,
    rho_of_pure,
    rho_sum,
)
from discreet.accounting.summary import epsilon_of, least
from discreet.private.mechanisms.draws import DrawBudget
from discreet.private.mechanisms.registry import MECHANISMS, RULE_LIST_DRAW, TREE_DRAW
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees.log_weights import SCORES
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.rules.prior import TreePrior
from tests.support.composition import (
    discrete_laplace,
    divergence,
    epsilon_at,
    exponential_mechanism,
    of_bounded_range,
    power,
    product,
    randomised_response,
    renyi,
    with_a_leak,
)
from tests.support.selectors import PUBLISHED, budget_of

from .test_rule_list_draw import log_probabilities, scores_of_each_record

ORDERS = (1.0001, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
EPSILONS = [Fraction(e) for e in ("1/100", "1/10", "1/2", "1", "3")]
SLACK = 1e-9


def largest_rho(pair):
    """The least rho for which this pair is rho-zCDP, in both directions, at the orders that are tried."""
    there_and_back = pair, pair[::-1]
    return max(renyi(one, order) / order for one in there_and_back for order in ORDERS)


# --- to zCDP ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_answers_have_the_rho_that_is_said_and_no_less(epsilon):
    found = largest_rho(randomised_response(float(epsilon)))
    rho = float(rho_of_pure(epsilon))
    assert found <= rho * (1 + SLACK)
    assert found > 0.999 * rho, "it is exact: randomised response has it, at orders near 1"
    assert rho <= float(epsilon**2 / 2)


def test_any_pure_pair_has_at_most_that_rho():
    rng = np.random.default_rng(0)
    for _ in range(300):
        epsilon = Fraction(str(round(rng.uniform(0.05, 3), 3)))
        q = rng.dirichlet(np.ones(5))
        low, high = np.exp(-float(epsilon)), np.exp(float(epsilon))
        ratio = np.clip(np.exp(rng.normal(0, float(epsilon), 5)), low, high)
        p = q * ratio / (q * ratio).sum()
        if np.abs(np.log(p / q)).max() <= float(epsilon):
            assert largest_rho((p, q)) <= float(rho_of_pure(epsilon)) * (1 + SLACK)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounded_range_has_the_rho_that_is_said_and_twins_have_not(epsilon):
    e, cost = float(epsilon), Cost(BOUNDED_RANGE, epsilon)
    found = max(largest_rho(of_bounded_range(e, share * e)) for share in np.linspace(0.02, 0.98, 49))
    assert found <= float(cost.rho) * (1 + SLACK)
    assert found > float(epsilon**2 / 16), "a twin that says epsilon^2 / 16 is caught"
    if epsilon <= 1:
        assert found > 0.95 * float(cost.rho)


def test_draws_in_proportion_to_exp_of_a_monotone_score_have_bounded_range_and_not_less():
    """All small tables of two kinds of records, and all lists that a record of each kind may be right or wrong for."""
    epsilon, widest = 0.7, 0.0
    lists = list(itertools.product((0, 1), repeat=3))  # for which of three kinds of records a list is right
    for counts in itertools.product(range(4), repeat=3):
        distribution = exponential_mechanism(epsilon, [np.dot(right, counts) for right in lists])
        for kind in range(3):
            more = [c + (i == kind) for i, c in enumerate(counts)]
            other = exponential_mechanism(epsilon, [np.dot(right, more) for right in lists])
            losses = np.log(other / distribution)
            widest = max(widest, float(np.ptp(losses)))
            assert largest_rho((distribution, other)) <= epsilon**2 / 8 * (1 + SLACK)
    assert widest <= epsilon * (1 + SLACK)
    assert widest > 0.999 * epsilon


@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_the_distribution_of_rule_lists_has_bounded_range_on_all_small_neighbours(rate):
    """All lists of up to three rules, all tables of up to three records, by ``private/sampling/reference.py``."""
    gain, prior = scores_of_each_record(2)
    widest = 0.0
    for n in range(3):
        drawn = itertools.combinations_with_replacement(range(gain.shape[1]), n)
        tables = np.array([np.bincount(table, minlength=gain.shape[1]) for table in drawn])
        here = log_probabilities(gain, prior, tables, rate)
        for record in np.eye(gain.shape[1]):
            widest = max(
                widest, float(np.ptp(log_probabilities(gain, prior, tables + record, rate) - here, axis=1).max())
            )
    assert 0.99 * rate < widest <= rate * (1 + SLACK)


@pytest.mark.parametrize("score", SCORES)
def test_the_distribution_of_trees_has_bounded_range_on_small_neighbours(score):
    rate, truth = 0.5, np.array(list(itertools.product([False, True], repeat=2))).T
    trees, widest = TreePrior(0.5, np.array([0.3, 0.7])), 0.0

    def logs(table):
        _, found = distribution_of_trees(TreeProblem(truth, table, trees, rate, score), 2)
        return found - np.logaddexp.reduce(found)

    rng = np.random.default_rng(1)
    for _ in range(60):
        table = rng.integers(0, 4, (2, 4)).astype(float)
        for kind in itertools.product(range(2), range(4)):
            more = table.copy()
            more[kind] += 1
            widest = max(widest, float(np.ptp(logs(more) - logs(table))))
    assert 0.4 * rate < widest <= rate * (1 + SLACK)


def test_permute_and_flip_is_not_of_bounded_range_so_its_choices_count_as_pure():
    """The distribution of mass for two candidates: losses whose width is more than epsilon. So no cost may say so."""
    epsilon = 1.0

    def distribution(gap):  # the first is ahead by gap
        p = 1 - math.exp(-epsilon * gap) / 2
        return np.array([p, 1 - p])

    losses = np.log(distribution(1.0) / distribution(0.0))
    assert np.ptp(losses) > epsilon
    assert {cost.kind for cost in MECHANISMS["mass"].costs(budget_of("mass", 1, 4), 10)} == {PURE, DISCRETE_LAPLACE}


# --- groups ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("records", [2, 3, 5])
def test_a_persons_rho_grows_with_the_square_of_the_records_and_a_twin_without_it_is_caught(records):
    epsilon = Fraction(1, 5)
    before = exponential_mechanism(float(epsilon), [0, 0])
    pairs = [
        (Cost(BOUNDED_RANGE, epsilon), (exponential_mechanism(float(epsilon), [records, 0]), before)),
        (Cost(DISCRETE_LAPLACE, epsilon), discrete_laplace(float(epsilon), records)),
    ]
    for cost, pair in pairs:
        found = largest_rho(pair)
        assert found <= float(cost.for_person(records).rho) * (1 + SLACK)
        assert found > records * float(cost.rho), "a twin that multiplies rho by k and not by k^2"


@pytest.mark.parametrize("records", [2, 4])
def test_a_persons_delta_is_that_of_a_chain_and_a_twin_that_only_adds_is_caught(records):
    epsilon, delta = Fraction(1, 2), Fraction(1, 1000)
    chances = [0.0]
    for _ in range(
        records
    ):  # of an event that has chance 0 at first, and as much more with each record as the pair allows
        chances.append(math.exp(epsilon) * chances[-1] + float(delta))
    distributions = [np.array([u, 1 - u]) for u in chances]
    for one, other in itertools.pairwise(distributions):
        assert max(divergence((one, other), epsilon), divergence((other, one), epsilon)) <= float(delta) * (1 + SLACK)
    needed = divergence((distributions[-1], distributions[0]), float(records * epsilon))
    said = Cost(APPROXIMATE, epsilon, delta).for_person(records)
    assert needed <= float(said.delta) * (1 + SLACK)
    assert needed > 0.99 * float(said.delta)
    assert needed > records * float(delta)


def test_discrete_laplace_noise_hides_a_group_in_several_counts_no_worse_than_in_one():
    """So other tools may be told that one number moves by as many steps as a person has records."""
    epsilon = 0.3
    for steps in ((1, 1), (1, 2), (2, 2)):
        apart = product(*(discrete_laplace(epsilon, step, far=60) for step in steps))
        in_one = discrete_laplace(epsilon, sum(steps))
        for at in np.linspace(0, sum(steps) * epsilon, 23):
            assert divergence(apart, at) <= divergence(in_one, at) + 1e-7


# --- from zCDP to (epsilon, delta) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "pair", "times"), [(PURE, None, 100), (PURE, None, 400), (BOUNDED_RANGE, 0.5, 400)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**3), Fraction(1, 10**6)])
def test_a_total_by_zcdp_is_no_less_than_enumeration_and_twins_are(kind, pair, times, delta):
    epsilon = Fraction(1, 10)
    one = randomised_response(0.1) if pair is None else of_bounded_range(0.1, pair * 0.1)
    exact = epsilon_at(power(one, times), float(delta))
    rho = Cost(kind, epsilon, times=times).rho
    said = float(epsilon_of(rho, delta))
    assert exact <= said < 1.3 * exact
    assert float(epsilon_of(rho / 2, delta)) < exact, "a twin with half of rho: epsilon^2 / 4, or epsilon^2 / 16"
    assert float(epsilon_of(rho, delta * 10**4)) < exact, "a twin with another delta"


def test_the_three_ways_between_rho_epsilon_and_delta_agree_and_are_rounded_to_the_safe_side():
    for rho in map(Fraction, ("1/50", "1/8", "2", "50")):
        for delta in (Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**100)):
            epsilon = epsilon_of(rho, delta)
            assert rho_of(epsilon, delta) <= rho * (1 + Fraction(1, 10**6)), "at another order it may be a little more"
            assert epsilon_of(rho_of(epsilon, delta), delta) <= epsilon * (1 + Fraction(1, 10**6))
            assert delta_of(rho, epsilon) <= delta * (1 + Fraction(1, 10**6))


def test_the_formula_is_that_of_canonne_kamath_and_steinke_at_the_best_order():
    rho, delta = 0.125, 1e-6
    orders = 1 + np.geomspace(1e-3, 1e3, 200_001)
    by_hand = (rho * orders + np.log(1 / (orders * delta)) / (orders - 1) + np.log1p(-1 / orders)).min()
    said = float(epsilon_of(Fraction(1, 8), Fraction(1, 10**6)))
    assert said == pytest.approx(by_hand, rel=1e-9)
    assert said < rho + 2 * math.sqrt(rho * math.log(1 / delta)), "better than the simpler bound of Bun and Steinke"


def test_deltas_of_releases_come_off_the_delta_and_a_twin_that_drops_them_is_caught():
    epsilon, delta, times = Fraction(1, 2), Fraction(1, 100), 5
    pair = product(*[with_a_leak(0.5, 0.01)] * times)
    costs = (Cost(APPROXIMATE, epsilon, delta, times),)
    whole = plain_sum(costs)
    assert whole == (Fraction(5, 2), Fraction(5, 100))
    needed = divergence(pair, 20.0)  # no epsilon helps against what is leaked
    assert needed > 0.04
    assert least(whole, rho_sum(costs), Fraction(4, 100)) is None, "a twin without them would say some epsilon here"
    for at in (Fraction(6, 100), Fraction(2, 10)):
        said = least(whole, rho_sum(costs), at)
        assert divergence(pair, float(said.epsilon)) <= float(at) * (1 + SLACK)


def test_a_hundred_models_at_a_tenth_are_ten_by_addition_and_less_than_2_75_at_a_millionth():
    """Issue 12's example: with the default share for class counts, and without any."""
    for share, most in (("1/10", 2.22), ("0", 2.42)):
        budget = DrawBudget.split(Fraction(1, 10), Fraction(share), 1)
        for mechanism in (RULE_LIST_DRAW, TREE_DRAW):
            costs = mechanism.costs(budget) * 100
            assert plain_sum(costs) == (10, 0)
            total = least(plain_sum(costs), rho_sum(costs), Fraction(1, 10**6))
            assert total.by == "zCDP"
            assert total.epsilon < Fraction(str(most)) < Fraction("2.75")


# --- what is concentrated --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10**5), Fraction(1, 100)])
@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(10)])
def test_a_concentrated_answer_has_the_largest_rho_that_its_pair_allows(epsilon, delta):
    rho = Cost(CONCENTRATED, epsilon, delta).rho
    orders = 1 + np.geomspace(1e-4, 1e6, 400_001)
    needs = np.log(float(delta)) + np.log(orders - 1) - orders * np.log1p(-1 / orders)  # Theorem 33, solved for rho
    by_hand = float(((needs / (orders - 1) + float(epsilon)) / orders).max())
    assert float(rho) == pytest.approx(by_hand, rel=1e-6, abs=1e-14)
    assert delta_of(rho, epsilon) <= delta * (1 + Fraction(1, 10**9))
    assert Cost(CONCENTRATED, epsilon, delta, times=3).rho == 3 * rho
    assert rho < rho_of_pure(epsilon) or delta == Fraction(1, 100), "the pair alone would be as good"


def test_noise_with_a_normal_tail_keeps_to_the_pair_and_a_twin_that_forgets_the_half_does_not():
    """Of a number that moves by one: normal noise of variance 1 / (2 rho) is rho-zCDP, and one of half of that is not."""
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**4)
    rho = float(Cost(CONCENTRATED, epsilon, delta).rho)
    at = np.linspace(-400, 400, 80_001)

    def needed(variance):
        densities = (np.exp(-((at - shift) ** 2) / (2 * variance)) for shift in (0, 1))
        return divergence(tuple(density / density.sum() for density in densities), float(epsilon))

    assert needed(1 / (2 * rho)) <= float(delta)
    assert needed(1 / (4 * rho)) > float(delta)


def test_many_concentrated_answers_come_to_less_by_zcdp_than_by_addition():
    costs = (Cost(CONCENTRATED, Fraction(1, 10), Fraction(1, 10**9), times=50),)
    plain = plain_sum(costs)
    assert plain == (5, Fraction(50, 10**9))
    total = least(plain, rho_sum(costs), Fraction(1, 10**6))
    assert total.by == "zCDP"
    assert total.epsilon < 1, "and no better is said than that"
    as_pairs = rho_sum([Cost(APPROXIMATE, *costs[0].plain)])
    assert total.epsilon < least(plain, as_pairs, Fraction(1, 10**6)).epsilon
    assert least(plain, rho_sum(costs), Fraction(49, 10**9)) is None, "its delta is counted in both ways"


@pytest.mark.parametrize("records", [2, 3, 10])
def test_for_a_person_with_more_records_only_the_chain_of_pairs_is_left(records):
    one = Cost(CONCENTRATED, Fraction(1, 5), Fraction(1, 10**8), times=2)
    chain = Cost(APPROXIMATE, one.epsilon, one.delta, times=2).for_person(records)
    assert one.for_person(records) == chain
    assert chain.rho >= records**2 * one.rho
    assert chain.delta > records * one.delta
    assert one.for_person(1) == one


# --- what mechanisms say ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PUBLISHED, "mass"])
@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("tree", [False, True])
def test_the_costs_of_a_greedy_fit_add_up_to_what_is_proved(name, length, tree):
    budget = budget_of(name, 1, length, "1e-6", min_support=50, tree=tree)
    proved, costs = MECHANISMS[name].proved(budget, 20), MECHANISMS[name].costs(budget, 20)
    epsilon, delta = plain_sum(costs)
    assert float(epsilon) == pytest.approx(proved.epsilon, rel=1e-8)
    assert epsilon <= 1, "a ledger would refuse a fit that it has the budget for"
    assert float(delta) == pytest.approx(proved.delta, rel=1e-12)
    assert rho_sum(costs) <= rho_of_pure(epsilon) * (1 + Fraction(1, 10**20)), "parts cost no more than the whole"


@pytest.mark.parametrize("draws", [1, 3])
@pytest.mark.parametrize("share", ["0", "1/10"])
@pytest.mark.parametrize("records", [1, 3, 7])
def test_the_costs_of_whole_models_add_up_to_epsilon_for_a_person(draws, share, records):
    budget = DrawBudget.split(Fraction(7, 10) / records, Fraction(share), draws)
    costs = for_person(RULE_LIST_DRAW.costs(budget), records)
    assert plain_sum(costs) == (Fraction(7, 10), 0)
    assert rho_sum(costs) < Fraction(49, 800) * (1 + Fraction(1, 10**20))


def test_gl_exponential_is_of_bounded_range_and_pays_less_for_it():
    budget = budget_of("gl-exponential", 1, 4)
    kinds = {cost.kind for cost in MECHANISMS["gl-exponential"].costs(budget, 5)}
    assert kinds == {BOUNDED_RANGE, DISCRETE_LAPLACE}
    price = Cost(BOUNDED_RANGE, budget.choice_epsilon / 2).rho
    assert rho_sum(MECHANISMS["gl-exponential"].costs(budget, 5)) < 3 * price + rho_of_pure(budget.counts_epsilon) * 2


@pytest.mark.parametrize(
    "data",
    [
        *(["pure", "1", "0", 0], ["pure", "1", "0", True], ["pure", "-1", "0", 1], ["pure", "1", "1/2", 1]),
        *(["other", "1", "0", 1], ["nothing proved", "1", "0", 1], ["approximate", "1", "2", 1], ["pure", "1", "0"]),
        # without a delta, or with one at which nothing follows
        *(["concentrated", "1", "0", 1], ["concentrated", "1", "1", 1], ["concentrated", "0", f"1/{10**50}", 1]),
        *(["concentrated", "1", "1/1000000", 0], ["concentrated", "1", "1/1000000", 1, "1/1000"]),  # a rho of its own
    ],
)
def test_a_cost_that_cannot_be_is_not_read(data):
    with pytest.raises(UNREADABLE):
        Cost.from_list(data)


def test_costs_come_back_from_json():
    for cost in (
        Cost(PURE, Fraction(1, 3), times=4),
        Cost(APPROXIMATE, Fraction(2), Fraction(1, 7)),
        Cost(CONCENTRATED, Fraction(1, 3), Fraction(1, 10**9), times=2),
        Cost("nothing proved"),
    ):
        assert Cost.from_list(cost.to_list()) == cost


def test_a_delta_is_rounded_up_whatever_precision_a_caller_works_with():
    usual = delta_of(Fraction(17, 100), Fraction(3))
    with localcontext(prec=2):
        assert delta_of(Fraction(17, 100), Fraction(3)) == usual
    assert delta_of(Fraction(1, 10**12), Fraction(10)) > 0, "it is small, and not nothing"

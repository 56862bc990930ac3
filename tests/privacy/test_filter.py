"""What a ledger takes, whoever asks for what and when: adaptively chosen budgets, enumerated answer by answer.

Each sequence is a strategy: what is asked for next depends on all answers so far. Every answer comes from the worst mechanism of
its kind, with chances that are fractions, so that the whole distribution of a run is known without rounding.
"""

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet import Ledger
from discreet.accounting.budget_request import refuse_more_than_left
from discreet.accounting.costs import (
    APPROXIMATE,
    BOUNDED_RANGE,
    CONCENTRATED,
    NOTHING_PROVED,
    PURE,
    Cost,
    delta_of,
    plain_sum,
    rho_sum,
)
from discreet.accounting.entries import Entry, LedgerBudget, Totals, budget_of
from discreet.accounting.ledger import BudgetError, NoDeltaError
from discreet.accounting.summary import LedgerSnapshot, epsilon_of
from tests.support.slices import slow_but

NOTHING = Fraction(0)
FINE = 10**6


def below(value):
    """A fraction that is a little less."""
    return Fraction(math.floor(value * FINE * (1 - 1e-12)), FINE)


def pure_with(rho):
    """The epsilon of the pure answer that has this rho, or a little less."""
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= rho else (low, middle)
    return low


def worst_pair(cost, share):
    """(chance on one table, chance on the other) of each answer: as far apart as the cost allows, but for less than 10^-6.

    Of what is concentrated, the randomised response that has its rho.
    """
    leak, e = cost.delta, float(cost.epsilon)
    if cost.kind == CONCENTRATED:
        leak, e = NOTHING, pure_with(float(cost.rho))
    if cost.kind == BOUNDED_RANGE:  # losses t and t - e
        t = share * e
        up, down = below(math.exp(t)), below(math.exp(e - t))
        q = (1 - 1 / down) / (up - 1 / down)  # up * q + (1 - q) / down = 1
        answers = [(up * q, q), ((1 - q) / down, 1 - q)]
    else:
        ratio = below(math.exp(e))
        answers = [(ratio / (1 + ratio), 1 / (1 + ratio)), (1 / (1 + ratio), ratio / (1 + ratio))]
    answers = [((1 - leak) * p, (1 - leak) * q) for p, q in answers]
    return answers + ([(leak, NOTHING), (NOTHING, leak)] if leak else [])


def booked(totals, cost):
    epsilon, delta = cost.plain
    return totals.plus(Entry("", epsilon, delta, "", epsilon, delta, costs=(cost,), rho=cost.rho))


def runs(whole, rng, costs, refuses=refuse_more_than_left, deepest=6):
    """(chance here, chance there, totals) of every sequence of answers of one strategy."""
    paths = [(Fraction(1), Fraction(1), Totals(), ())]
    for _ in range(deepest):
        longer = []
        for here, there, totals, answers in paths:
            request = rng.choice(costs)  # for each path anew: the strategy looks at all answers
            try:
                refuses(whole, totals, request.plain, (request,))
            except BudgetError:
                longer.append((here, there, totals, answers))
                continue
            for i, (p, q) in enumerate(worst_pair(request, rng.choice((0.3, 0.5, 0.7)))):
                longer.append((here * p, there * q, booked(totals, request), (*answers, i)))
        paths = longer
    return [(here, there, totals) for here, there, totals, _ in paths]


def needed(paths, epsilon):
    """The delta of a whole run at this epsilon, in either direction; a little more, since exp(epsilon) is rounded down."""
    factor = below(math.exp(epsilon))
    there = sum((max(NOTHING, p - factor * q) for p, q, _ in paths), NOTHING)
    back = sum((max(NOTHING, q - factor * p) for p, q, _ in paths), NOTHING)
    return max(there, back)


def costs_of(rng):
    def some(kind, delta=NOTHING):
        return Cost(kind, Fraction(rng.randint(5, 60), 100), delta)

    with_deltas = [some(kind, Fraction(1, rng.choice((50, 200)))) for kind in (CONCENTRATED, APPROXIMATE)]
    return [some(PURE), some(BOUNDED_RANGE), some(BOUNDED_RANGE), *with_deltas]


def budgets(rng):
    """A ledger with both filters, or with addition alone. Deltas are large, so that a few answers matter."""
    epsilon, delta = Fraction(rng.randint(5, 15), 10), Fraction(rng.randint(2, 20), 100)
    room = budget_of(epsilon, delta, False, "auto", None)
    half = replace(room, rho=room.rho / 2)
    part = replace(half, rho_delta=min(delta, delta_of(half.rho, epsilon)))
    return rng.choice((room, part, replace(room, rho=None, rho_delta=NOTHING)))


@pytest.mark.parametrize("strategies", slow_but([400, 10_000], [400]))
def test_no_strategy_exceeds_a_ledger(strategies):
    rng, longest = random.Random(20), 0
    by_zcdp = by_addition = refused = 0
    for _ in range(strategies):
        whole = budgets(rng)
        paths = runs(whole, rng, costs_of(rng), deepest=rng.choice((3, 3, 4)))
        assert sum(p for p, _, _ in paths) == sum(q for _, q, _ in paths) == 1
        assert needed(paths, float(whole.epsilon)) <= whole.delta
        for _, _, totals in paths:
            within_rho = whole.rho is not None and totals.rho <= whole.rho
            assert totals.proved_epsilon <= whole.epsilon or within_rho
            assert totals.proved_delta <= whole.delta - whole.rho_delta
            by_zcdp += totals.proved_epsilon > whole.epsilon
            by_addition += whole.rho is not None and not within_rho
            refused += totals.entries < 3
            longest = max(longest, totals.entries)
    assert min(by_zcdp, by_addition, refused) > strategies // 2, "both filters and refusals were seen"
    assert longest == 4


def twin_without_deltas(whole, totals, asked, costs):
    """Forgets what the releases need of delta."""
    bare = tuple(Cost(PURE, cost.epsilon) for cost in costs)
    refuse_more_than_left(whole, replace(totals, delta=NOTHING, proved_delta=NOTHING), (asked[0], NOTHING), bare)


def twin_that_only_looks_at_each(whole, totals, asked, costs):
    """Forgets what was spent before."""
    refuse_more_than_left(whole, Totals(), asked, costs)


@pytest.mark.parametrize("twin", [twin_without_deltas, twin_that_only_looks_at_each])
def test_a_filter_that_forgets_something_is_caught(twin):
    rng, exceeded = random.Random(3), 0
    for _ in range(200):
        whole = budgets(rng)
        paths = runs(whole, rng, costs_of(rng)[-2:], refuses=twin, deepest=4)
        exceeded += needed(paths, float(whole.epsilon)) > whole.delta
    assert exceeded > 5


def test_a_filter_in_zcdp_with_half_of_the_rhos_is_caught():
    """A thousand answers of bounded range, which is the case that the twin gets wrong: epsilon^2 / 16 for epsilon^2 / 8."""
    from tests.support.composition import divergence, of_bounded_range, power

    fit = Ledger(2, 1e-4, rho="auto").room_for([Cost(BOUNDED_RANGE, Fraction(1, 20))])
    assert divergence(power(of_bounded_range(0.05, 0.025), fit), 2.0) <= 1e-4
    assert divergence(power(of_bounded_range(0.05, 0.025), 2 * fit), 2.0) > 1e-4


def test_what_either_filter_takes_is_taken_and_sums_are_exact():
    ledger = Ledger(epsilon=1.0, delta=1e-6, rho="auto")
    rho = ledger.snapshot().rho
    ledger.reserve(Fraction(9, 10), NOTHING, "by addition").close()  # more than rho allows
    assert ledger.snapshot().totals.rho > rho
    with pytest.raises(BudgetError, match=r"epsilon 0.1 .* this needs epsilon 0.2 .* in zCDP it has rho 0 left"):
        ledger.reserve(Fraction(1, 5), NOTHING, "neither", [Cost(BOUNDED_RANGE, Fraction(1, 5))])
    ledger.reserve(Fraction(1, 10), NOTHING, "by addition")
    assert ledger.remaining == (0, 0)
    many = Ledger(epsilon=1.0, delta=1e-6, rho="auto")
    one = [Cost(BOUNDED_RANGE, Fraction(1, 20))]
    fit = many.room_for(one)
    assert fit > 60 > 20
    for _ in range(fit):
        many.reserve(Fraction(1, 20), NOTHING, "one", one)
    assert many.snapshot().totals.rho == fit * Fraction(1, 3200) <= rho
    assert many.room_for(one) == 0
    with pytest.raises(BudgetError):
        many.check(Fraction(1, 20), NOTHING, one)
    assert many.remaining == (0, 0)
    assert many.snapshot().total().epsilon <= 1


def test_a_given_rho_leaves_the_rest_of_delta_to_releases():
    ledger = Ledger(epsilon=2.0, delta=1e-5, rho=0.05)
    taken = ledger.snapshot().rho_delta
    assert 0 < taken == delta_of(Fraction(1, 20), Fraction(2)) < Fraction(1, 10**5)
    assert epsilon_of(Fraction(1, 20), taken) <= 2 + Fraction(1, 10**9)
    rest = Fraction(1, 10**5) - taken
    ledger.check(Fraction(1, 10), rest)
    with pytest.raises(BudgetError):
        ledger.check(Fraction(1, 10), rest + Fraction(1, 10**12))
    with pytest.raises(NoDeltaError, match="without a delta for releases"):
        Ledger(2.0, 1e-5, rho="auto").check(Fraction(1, 10), Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"delta": 0, "rho": "auto"}, "needs an epsilon and a delta"),
        ({"delta": 1e-6, "rho": 5.0}, r"rho may be up to 0\.18"),
        ({"delta": 1e-6, "rho": "all"}, "or 'auto'"),
        ({"delta": 1e-6, "rho": -1.0}, "rho must be at least 0"),
        ({"records_per_person": 0}, "records_per_person must be"),
    ],
)
def test_a_ledger_that_cannot_be_is_not_made(given, said):
    with pytest.raises(ValueError, match=said):
        Ledger(3.0, **given)


def test_a_ledger_for_people_with_several_records_refuses_what_is_for_fewer():
    ledger = Ledger(3.0, records_per_person=3)
    for ask in (ledger.check, lambda e, d, records=1: ledger.reserve(e, d, "one", records=records)):
        with pytest.raises(BudgetError, match=r"people with up to 3 records, .* up to 1: set records_per_person=3"):
            ask(Fraction(1), NOTHING)
        ask(Fraction(1), NOTHING, records=5)
    assert ledger.snapshot().totals.records_per_person == 5


def test_without_such_a_limit_the_sums_are_about_people_with_the_fewest_records():
    ledger = Ledger(3.0)
    for records in (4, 2, 3):
        ledger.reserve(Fraction(1, 2), NOTHING, "one", records=records)
    assert ledger.snapshot().totals.records_per_person == 2


def test_what_is_proved_about_other_neighbours_is_refused():
    with pytest.raises(ValueError, match="replaced"):
        Ledger(3.0).reserve(Fraction(1), NOTHING, "by another tool", neighbours="replace one")


def test_from_a_release_that_proves_nothing_on_no_total_is_promised():
    ledger = Ledger(3.0, 1e-6, allow_unproved=True, rho="auto")
    ledger.reserve(Fraction(1, 10), NOTHING, "proved")
    assert ledger.total().epsilon <= Fraction(1, 10)
    ledger.reserve(Fraction(1, 10), NOTHING, "not proved", proved=None)
    assert ledger.total() is None
    assert ledger.snapshot().total(Fraction(1, 100)) is None
    assert math.isinf(ledger.tight_epsilon(1e-3))
    ledger.reserve(Fraction(1, 10), NOTHING, "proved")
    assert ledger.total() is None


def test_negative_costs_give_nothing_back():
    for cost in ((PURE, Fraction(-1)), (APPROXIMATE, NOTHING, Fraction(-1, 2)), (PURE, Fraction(1), NOTHING, 0)):
        with pytest.raises(ValueError, match=r"must be at least 0|at least once"):
            Cost(*cost)


def test_how_many_fit_is_what_the_ledger_takes():
    rng = random.Random(7)
    for _ in range(50):
        ledger = Ledger(Fraction(rng.randint(5, 30), 10), Fraction(1, 100), rho=rng.choice((None, "auto", 0.02)))
        costs = [Cost(rng.choice((PURE, BOUNDED_RANGE)), Fraction(rng.randint(5, 40), 100), times=rng.randint(1, 2))]
        expected, epsilon = ledger.room_for(costs), plain_sum(costs)[0]
        assert rho_sum(costs) > 0
        for _ in range(expected):
            ledger.reserve(epsilon, NOTHING, "one", costs)
        with pytest.raises(BudgetError):
            ledger.reserve(epsilon, NOTHING, "one too many", costs)


def test_a_whole_is_what_it_says():
    whole = LedgerBudget(Fraction(1), Fraction(1, 10), False, "x", Fraction(1, 8), Fraction(1, 100))
    assert whole.delta_for_releases == Fraction(9, 100)


@pytest.mark.parametrize("proved", [[], [Cost(PURE, Fraction(50)), 0.0, 0.0]])
def test_what_is_proved_is_said_whole_or_refused(proved):
    ledger = Ledger(3.0, 1e-6, rho="auto")
    with pytest.raises(ValueError, match="at least one Cost, or a pair"):
        ledger.reserve(Fraction(1), Fraction(0), "x", proved)
    assert ledger.entries == ()


@pytest.mark.parametrize("records", [0, -1, 1.5, True])
def test_a_person_has_a_whole_number_of_records(records):
    ledger = Ledger(3.0)
    with pytest.raises(ValueError, match="records must be an integer of at least 1"):
        ledger.reserve(Fraction(1), Fraction(0), "x", "as reserved", records)
    assert ledger.entries == ()


def test_there_is_no_room_for_what_is_not_proved():
    """What such a release would cost is not known, so no number of them is promised a place."""
    for ledger in (Ledger(3.0), Ledger(3.0, 1e-6, rho="auto"), Ledger(3.0, allow_unproved=True)):
        assert ledger.room_for(NOTHING_PROVED) == 0


@pytest.mark.parametrize("rho", [0.1, 0.002, 0.001, 1e-6, 1e-12])
def test_a_ledger_with_any_rho_can_be_written_and_read(rho, tmp_path):
    """The delta that a small rho takes has thousands of digits: a ledger keeps a little more than that, with fewer."""
    Ledger.open(tmp_path / "ledger.json", 3.0, 1e-6, rho=rho).reserve(Fraction(0), Fraction(0), "nothing").close()
    found = Ledger.open(tmp_path / "ledger.json").snapshot()
    assert LedgerSnapshot.from_dict(found.to_dict()) == found
    assert epsilon_of(found.rho, found.rho_delta) <= 3 + Fraction(1, 10**12)
    assert 0 < found.rho_delta < 1e-6

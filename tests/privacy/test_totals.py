"""What releases come to together: by addition, by zCDP, and by numerical composition, against dp-accounting and enumeration."""

import json
import math
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier, Ledger, noisy_evaluation
from discreet.accounting.costs import APPROXIMATE, BOUNDED_RANGE, CONCENTRATED, DISCRETE_LAPLACE, PURE, Cost
from discreet.accounting.ledger_export import as_csv, events, rows, together
from discreet.accounting.statement import Concentrated, PrivacyStatement
from discreet.accounting.summary import bounded_range, epsilon_by_composition
from discreet.datasets import load_compas
from tests.support.composition import (
    discrete_laplace,
    divergence,
    epsilon_at,
    of_bounded_range,
    power,
    product,
    randomised_response,
    with_a_leak,
)

NOTHING, MILLIONTH = Fraction(0), Fraction(1, 10**6)
DATA = load_compas(sensitive=False)


def by_composition(*costs, records=1, delta=MILLIONTH):
    pytest.importorskip("dp_accounting")
    return float(epsilon_by_composition([(costs, records)], delta))


@pytest.mark.parametrize("times", [10, 100, 300])
def test_pure_answers_come_to_what_enumeration_says(times):
    exact = epsilon_at(power(randomised_response(0.1), times), 1e-6)
    found = by_composition(Cost(PURE, Fraction(1, 10), times=times))
    assert exact <= found * (1 + 1e-9)
    assert found < exact * 1.01 + 1e-3


def test_different_pure_answers_come_to_what_enumeration_says():
    epsilons = [0.1, 0.2, 0.2, 0.5, 0.7, 0.05, 0.3]
    exact = epsilon_at(product(*map(randomised_response, epsilons)), 1e-3)
    found = by_composition(*(Cost(PURE, Fraction(str(e))) for e in epsilons), delta=Fraction(1, 1000))
    assert exact <= found * (1 + 1e-9) < exact * 1.01


def test_what_fourier_transforms_lose_is_allowed_for():
    """5,000 answers at 0.01: without the margin dp-accounting's epsilon has a larger delta than was asked for."""
    times, each = 5000, Fraction(1, 100)
    found = Fraction(by_composition(Cost(PURE, each, times=times), delta=Fraction(1, 10**9)))
    with localcontext(prec=60):
        yes = 1 / (1 + (-as_decimal(each)).exp())
        chances = [comb(times, k) * yes**k * (1 - yes) ** (times - k) for k in range(times + 1)]
        losses = [as_decimal(found - (2 * k - times) * each) for k in range(times + 1)]
        delta = sum(p * (1 - loss.exp()) for p, loss in zip(chances, losses, strict=True) if loss < 0)
    assert Decimal("0.8e-9") < delta <= Decimal("1e-9")


def as_decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


@pytest.mark.parametrize("delta", [Fraction(1, 10**16), Fraction(1, 10**10)])
def test_a_delta_below_what_can_be_computed_leaves_the_plain_sum(delta):
    assert by_composition(Cost(BOUNDED_RANGE, Fraction(1, 10), times=5), delta=delta) == 0.5


def test_deltas_of_releases_come_off_before():
    costs = [Cost(APPROXIMATE, Fraction(1, 2), Fraction(1, 100))] * 3
    pair = product(*[with_a_leak(0.5, 0.01)] * 3)
    found = by_composition(*costs, delta=Fraction(1, 10))
    assert divergence(pair, found) <= 0.1
    assert by_composition(*costs, delta=Fraction(2, 100)) == 1.5, "nothing is left to compose with"
    assert by_composition(*[Cost(CONCENTRATED, Fraction(1, 2), Fraction(1, 100))] * 3, delta=Fraction(1, 10)) == found


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_loss_that_stands_for_bounded_range_is_the_worst_of_all_at_every_epsilon(epsilon):
    """Lemma 35: at each epsilon, another pair of bounded range is the worst; the profile is the largest of all."""
    shares = np.linspace(1e-4, 1 - 1e-4, 4001)
    grid = bounded_range(epsilon, epsilon / 2000)
    losses, chances = np.array(list(grid)) * epsilon / 2000, np.array(list(grid.values()))
    assert chances.sum() == pytest.approx(1)
    for at in np.linspace(-0.99 * epsilon, 0.99 * epsilon, 21):
        worst = max(divergence(of_bounded_range(epsilon, share * epsilon), at) for share in shares)
        profile = (math.exp(epsilon / 2) - math.exp(at / 2)) ** 2 / math.expm1(epsilon)
        assert worst == pytest.approx(profile, rel=1e-3, abs=1e-9)
        assert worst <= profile + 1e-12
        said = float((chances * np.maximum(0, 1 - np.exp(at - losses))).sum())
        assert profile <= said + 1e-12
        assert said < profile + 2e-3 * epsilon


def test_bounded_range_by_composition_is_no_less_than_any_mechanism_of_that_kind():
    rng = np.random.default_rng(5)
    found = by_composition(*[Cost(BOUNDED_RANGE, Fraction(1, 4))] * 8, delta=Fraction(1, 1000))
    for _ in range(20):
        pair = product(*(of_bounded_range(0.25, share * 0.25) for share in rng.uniform(0.05, 0.95, 8)))
        assert divergence(pair, found) <= 1e-3
    pure = by_composition(*[Cost(PURE, Fraction(1, 4))] * 8, delta=Fraction(1, 1000))
    assert found < pure
    as_pure = power(randomised_response(0.25), 8)
    assert divergence(as_pure, found) > 1e-3, "for pure answers it would be too little: the kinds are told apart"


@pytest.mark.parametrize("records", [1, 3])
def test_noisy_counts_of_a_persons_records_come_to_what_enumeration_says(records):
    """Three records of a person may be in one count or in three."""
    cost = Cost(DISCRETE_LAPLACE, Fraction(1, 2) * records)
    found = by_composition(cost, cost, records=records, delta=Fraction(1, 100))
    together = discrete_laplace(0.5, records, far=60)
    assert divergence(product(together, together), found) <= 0.01 + 1e-9
    apart = product(*[discrete_laplace(0.5, 1, far=20)] * min(records, 2), discrete_laplace(0.5, 1, far=20))
    assert divergence(apart, found) <= 0.01 + 1e-9


def test_the_least_of_the_three_is_the_total():
    ledger = Ledger(20, 1e-6)
    for kind in (PURE, BOUNDED_RANGE):
        for _ in range(50):
            ledger.reserve(Fraction(1, 10), NOTHING, "one", [Cost(kind, Fraction(1, 10))])
    plain, zcdp = ledger.proved[0], ledger.total(numerical=False)
    assert (plain, zcdp.by) == (10, "zCDP")
    pytest.importorskip("dp_accounting")
    all_three = ledger.total()
    assert all_three.epsilon <= zcdp.epsilon < plain
    assert ledger.total(NOTHING).epsilon == 10
    assert ledger.tight_epsilon(1e-6) == float(all_three.epsilon)


def test_a_total_without_dp_accounting_is_that_of_zcdp(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "dp_accounting"] or ["dp_accounting"]:
        monkeypatch.setitem(sys.modules, name, None)
    ledger = Ledger(20, 1e-6)
    ledger.reserve(Fraction(1, 2), NOTHING, "one")
    assert ledger.total().epsilon == Fraction(1, 2)
    with pytest.raises(ImportError, match=r"pip install 'discreet\[accounting\]'"):
        ledger.tight_epsilon(1e-6)


# --- for other tools -------------------------------------------------------------------------------------------------------


@pytest.fixture
def ledger():
    ledger = Ledger(10, 1e-3, allow_unproved=True)
    for _ in range(20):
        ledger.reserve(
            Fraction(1, 10),
            NOTHING,
            "=a list, drawn whole",
            [Cost(BOUNDED_RANGE, Fraction(9, 100)), Cost(DISCRETE_LAPLACE, Fraction(1, 100))],
        ).close()
    ledger.reserve(Fraction(1, 5), Fraction(1, 10**5), "published", (0.2, 1e-5), records=2).close()
    return ledger


def accounted(exported, accountant):
    """As docs/privacy.md says it."""
    import dp_accounting

    composed = [
        dp_accounting.SelfComposedDpEvent(getattr(dp_accounting.dp_event, e["event"])(**e["arguments"]), e["count"])
        for e in exported[type(accountant).__name__]
    ]
    return accountant.compose(dp_accounting.ComposedDpEvent(composed))


def test_events_come_to_the_same_in_dp_accounting(ledger):
    pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    exported = json.loads(json.dumps(events(ledger.entries, ledger.snapshot())))
    assert exported["neighbouring_relation"] == PLDAccountant().neighboring_relation.name
    delta = 1e-4 - exported["delta"]
    by_zcdp = accounted(exported, RdpAccountant()).get_epsilon(delta)
    ours = ledger.total(1e-4, numerical=False)
    assert ours.by == "zCDP"
    assert float(ours.epsilon) <= by_zcdp * (1 + 1e-9) < float(ours.epsilon) * 1.02, "theirs tries fewer orders"
    by_loss = accounted(exported, PLDAccountant()).get_epsilon(delta)
    plain = [Cost(PURE, cost.epsilon, times=cost.times) for entry in ledger.entries for cost in entry.costs]
    assert by_loss == pytest.approx(by_composition(*plain, delta=Fraction(1, 10**4) - Fraction(1, 10**5)), rel=0.01)
    ledger.reserve(Fraction(1, 10), NOTHING, "seeded", proved=None)
    unproved = events(ledger.entries, ledger.snapshot())
    assert math.isinf(accounted(unproved, PLDAccountant()).get_epsilon(delta))


def test_a_table_has_a_row_for_each_release(ledger):
    found = rows(ledger.entries)
    assert [row["number"] for row in found] == list(range(1, 22))
    assert found[0]["rho"] == str(
        Cost(BOUNDED_RANGE, Fraction(9, 100)).rho + Cost(DISCRETE_LAPLACE, Fraction(1, 100)).rho
    )
    assert {row["neighbours"] for row in found} == {"add or remove"}
    lines = as_csv(ledger.entries).splitlines()
    assert len(lines) == 22
    assert "'=a list, drawn whole" in lines[1], "a spreadsheet must not compute it"
    assert "1 x bounded range 0.09" in lines[1]
    assert "1/10" not in lines[1], "nor take it for a day"


# --- what a fit says -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", [DPOptimalRuleListClassifier, DPOptimalTreeClassifier])
def test_the_statement_of_a_fit_on_a_ledger_with_a_delta_has_its_rho(classifier):
    with_delta, without = Ledger(10, 1e-6, rho="auto"), Ledger(10)
    first = classifier(epsilon=0.1, schema=DATA.schema, ledger=with_delta).fit(DATA.data, DATA.target).privacy_
    assert first.concentrated.delta == 1e-6
    assert first.concentrated.rho == pytest.approx(0.09**2 / 8 + 0.01**2 / 2, rel=1e-4)
    assert first.concentrated.epsilon == 0.1, "one release: the sum is less than what zCDP says"
    assert "rho = 0.00106" in str(first)
    assert PrivacyStatement.from_json(first.to_json()) == first
    second = classifier(epsilon=0.1, schema=DATA.schema, ledger=without).fit(DATA.data, DATA.target).privacy_
    assert second.concentrated is None
    assert "rho" not in str(second)
    assert "concentrated" not in second.to_json(), "older versions read it"
    (entry,) = with_delta.entries
    assert entry.rho == sum(cost.rho for cost in entry.costs)
    assert {cost.kind for cost in entry.costs} == {BOUNDED_RANGE, DISCRETE_LAPLACE}


def test_a_large_epsilon_is_said_at_the_delta_if_that_is_less():
    ledger = Ledger(30, 1e-2)
    fitted = DPOptimalRuleListClassifier(epsilon=8.0, schema=DATA.schema, counts_share=0.0, ledger=ledger)
    said = fitted.fit(DATA.data, DATA.target).privacy_.concentrated
    assert said.rho == pytest.approx(8 * math.tanh(4), rel=1e-9), "of bounded range and so pure, whichever is less"
    assert said.epsilon == 8


def test_a_measurement_on_a_ledger_says_its_rho_too():
    ledger = Ledger(10, 1e-6)
    clf = DPOptimalRuleListClassifier(epsilon=0.5, schema=DATA.schema).fit(DATA.data, DATA.target)
    found = noisy_evaluation(clf, DATA.data, DATA.target, 0.1, ledger=ledger, records_per_person=2)
    assert found.privacy.concentrated.rho == pytest.approx(0.1 * math.tanh(0.05), rel=1e-9)
    assert ledger.entries[0].costs == (Cost(DISCRETE_LAPLACE, Fraction(1, 10)),)


def test_a_hundred_models_on_one_ledger():
    """They come to 10 by addition, and fit into epsilon 2.75 at a delta of a millionth."""
    ledger = Ledger(2.75, 1e-6, rho="auto")
    clf = DPOptimalRuleListClassifier(epsilon=0.1, max_length=2, schema=DATA.schema, ledger=ledger)
    for _ in range(100):
        clf.fit(DATA.data[:200], DATA.target[:200])
    total = ledger.total(numerical=False)
    assert ledger.proved == (10, 0)
    assert total.by == "zCDP"
    assert 2.2 < total.epsilon < 2.22


def test_what_is_said_of_all_releases_is_rounded_up_and_says_when_it_holds():
    ledger = Ledger(3.0, 1.2341e-6, rho="auto")
    for _ in range(50):
        cost = Cost(BOUNDED_RANGE, Fraction(10000001, 10**8))
        ledger.reserve(cost.epsilon, Fraction(0), "a tree", [cost]).close()
    said = together(ledger.snapshot(), ledger.total(numerical=False))
    assert "at delta 1.24e-06, by zCDP, provided that no budget was chosen by looking at" in said
    assert "5.001 by" in said
    assert "0.100001, 0" in str(ledger)
    assert "delta of 1.24e-06 its epsilon" in str(Concentrated(0.1, 1.0, 1.2341e-6))

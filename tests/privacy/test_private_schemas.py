"""That a private schema reveals no more than it says: noise, thresholds and shares as its queries use them, against the proof.

schema_twins.py computes what all noise together needs, and has twins with too little of it, which are found here.
"""

from decimal import Decimal
from fractions import Fraction

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from discreet import DPOptimalTreeClassifier, Ledger, PrivateSchema, private_schema
from discreet._utils.tables import as_table
from discreet.accounting.reservation import BudgetError, Reservation
from discreet.private.noise import discrete_gaussian
from discreet.private.noise.entropy import Entropy
from discreet.private.queries.schema import SchemaQueries
from discreet.schema.columns.unknown import Unknown
from discreet.sources.columns import EngineColumns, MemoryColumns

from ..neighbours.columns import COLUMNS
from ..replay.hooks import Session, opened
from . import schema_twins as twins
from .schema_twins import Asked, MadeUp, asked, budget_of, needed

BUDGETS = [
    *((1, 1e-9, 1, 14), (1, 1e-9, 3, 14), (0.2, 1e-6, 1, 30), (3, 1e-5, 4, 9), (8, 1e-3, 2, 40), (50, 1e-9, 1, 60)),
    *((1, 1e-9, 1, 1), (20, 1e-6, 1, 2), (20, 1e-6, 5, 3)),
]


@pytest.mark.parametrize("with_classes", [True, False], ids=["classes", ""])
@pytest.mark.parametrize("given", BUDGETS, ids=str)
def test_all_that_is_asked_together_keeps_to_epsilon_and_delta(given, with_classes):
    budget = budget_of(*given, with_classes=with_classes)
    for columns in ({}, {"closer": 0, "texts": 1}, {"closer": 5, "texts": 9}):
        spent = needed(budget, **columns)
        assert 0.75 * given[0] < spent <= given[0] * (1 + 1e-12)


@pytest.mark.parametrize("sigma", [0.01, 0.3, 1, 5, 77])
def test_gaussian_noise_reaches_no_further_than_its_tail_says(sigma):
    for chance in (0.6, 0.4, 1e-3, 1e-12):
        assert Asked(True, sigma).reaches(discrete_gaussian.beyond(sigma, chance)) <= chance


def test_both_kinds_of_noise_are_looked_at():
    assert {budget_of(*given).is_gaussian for given in BUDGETS} == {True, False}


@pytest.mark.parametrize("k", [1, 3])
def test_without_a_delta_all_that_is_asked_is_pure(k):
    budget = budget_of(0.7, 0, k, 11, with_classes=False)
    with opened(session := Session(lambda noise: noise.values)):
        queries = SchemaQueries(MadeUp(11, 0), budget).open(
            Reservation(Fraction(7, 10), Fraction(0), records=k), Entropy()
        )
        queries.first_look()
        queries.look_closer([None] * 4, [])
    spent = sum(k / Fraction(noise.scale) for noise in session.distributions)
    assert 0.7 * (1 - 1e-12) < spent <= Fraction(7, 10)


GAUSSIAN = [budget for budget in BUDGETS if budget_of(*budget).is_gaussian]


@pytest.mark.parametrize("given", GAUSSIAN, ids=str)
def test_normal_noise_spends_all_of_its_rho_and_no_more(given):
    budget = budget_of(*given)
    spent = sum(budget.records**2 / (2 * Fraction(one.scale) ** 2) for one in asked(budget))
    assert budget.rho * (1 - Fraction(1, 10**12)) < spent <= budget.rho


@pytest.mark.parametrize("given", GAUSSIAN, ids=str)
def test_losses_of_gaussian_noise_come_to_a_half_of_delta_at_most(given):
    """Without rho: the distribution of the privacy loss of all histograms, each of which changes by all of a person's records."""
    epsilon, delta, k, _ = given
    told = asked(budget_of(*given))
    each = {one.scale: sum(other.scale == one.scale for other in told) for one in told}
    losses = [
        pld.from_discrete_gaussian_mechanism(
            scale, sensitivity=k, value_discretization_interval=1e-4 * epsilon
        ).self_compose(n)
        for scale, n in each.items()
    ]
    together = losses[0]
    for more in losses[1:]:
        together = together.compose(more)
    assert 0.05 * delta < together.get_delta_for_epsilon(epsilon) <= delta / 2


# -- broken twins -------------------------------------------------------------------------------------------------------

SHARP = {"epsilon": 40, "histograms": 1}  # pure noise, of which the tail is known but for a factor of two
TWINS = {
    twins.ForOneRecord: {"k": 3},
    twins.SharesOfOthers: {},
    twins.EachCloserHasAll: {},
    twins.ClassesHaveNoShare: {},
    twins.AllOfDeltaTwice: {},
    twins.ThresholdWithoutRecords: SHARP | {"k": 10},
    twins.ThresholdWithoutTheRare: SHARP | {"epsilon": 1, "delta": 1e-60},
    twins.DeltaForEachRecord: SHARP | {"epsilon": 4, "k": 60},
    twins.DeltaForEachColumn: {"texts": 60},
}


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_a_broken_twin_needs_more_than_it_says(twin):
    given = {"epsilon": 1, "delta": 1e-6, "k": 1, "histograms": 14} | TWINS[twin]
    texts = given.pop("texts", 3)
    assert needed(budget_of(**given), texts=texts) <= given["epsilon"]
    assert needed(budget_of(**given, kind=twin), texts=texts) > given["epsilon"] * (1 + 1e-3)


@pytest.mark.parametrize(
    "twin", [twins.SharesOfOthers, twins.EachCloserHasAll, twins.ClassesHaveNoShare, twins.DeltaForClassesAgain]
)
def test_what_was_not_set_aside_cannot_be_asked(twin):
    asked(budget_of(1, 1e-6, 2, 14), is_roomy=False)
    with pytest.raises(BudgetError):
        asked(budget_of(1, 1e-6, 2, 14, kind=twin), is_roomy=False)


# -- what is counted ----------------------------------------------------------------------------------------------------


class CountedInAll(MemoryColumns):
    """Beside its bin, each record is counted as one of all."""

    def by_bins(self, columns):
        return [np.append(counts, counts.sum()) for counts in super().by_bins(columns)]


class MissingOnesAreTexts(MemoryColumns):
    """What is missing is a text as well."""

    def by_bins(self, columns):
        bins = super().by_bins(columns)
        return [np.append(counts[0] + counts[-1], counts[1:]) for counts in bins]


def changes(name, kind=MemoryColumns):
    """By how much each of some values changes the histogram of a column, and the counts of its texts."""
    values, make = COLUMNS[name]
    for i in range(len(values)):
        some = [*values[:i], *values[i + 1 :]]
        tables = [kind(as_table({"c": make(chosen)}), None) for chosen in (values, some)]
        if not tables[0].is_readable("c"):
            assert name.split()[-1] not in ("object", "list", "string")
            return
        bins = [table.by_bins([Unknown("c")])[0] for table in tables]
        texts = [pd.Series(table.texts("c", 1), dtype=float) for table in tables]
        yield np.abs(bins[0] - bins[1]).sum(), texts[0].sub(texts[1], fill_value=0).abs().sum()


@pytest.mark.parametrize("name", COLUMNS)
def test_a_record_of_any_kind_is_in_one_bin_and_has_one_text_at_most(name, recwarn):
    assert all(change == (1, 0) or change == (1, 1) for change in changes(name))
    assert not recwarn.list


@pytest.mark.parametrize("twin", [CountedInAll, MissingOnesAreTexts])
def test_a_record_that_is_counted_twice_is_noticed(twin):
    assert any(in_bins == 2 for name in COLUMNS for in_bins, _ in changes(name, twin))


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_records_makes_no_difference_even_without_noise(seed):
    X, y = table()
    found = []
    for rows in (np.arange(len(X)), np.random.default_rng(seed).permutation(len(X))):
        with opened(Session(lambda noise: noise.values)):
            found.append(private_schema(X.iloc[rows], y[rows], epsilon=1).schema)
    assert (found[0].columns, found[0].classes) == (found[1].columns, found[1].classes)


AS_TEXT_AND_TYPED = [
    ([True, False, None], ["true", "False", ""]),
    ([1, 20, -3], ["1", "20", "-3"]),
    ([1.0, 0.5, float("nan")], ["1.0", "0.50", "NA"]),
    ([10, 7], ["010", "7"]),
    ([float("inf"), 1e300, -0.0], ["inf", "1e300", "-0"]),
    ([2**60 + 1, 2**60], [str(2**60 + 1), str(2**60)]),
]


@pytest.mark.parametrize(("typed", "texts"), AS_TEXT_AND_TYPED)
def test_a_value_counts_as_the_same_whether_others_let_a_library_tell_its_type(typed, texts):
    alike = (
        pd.Series(typed),
        pd.Series(typed, dtype=object),
        pd.Series(texts, dtype=object),
        pd.Series(texts, dtype="string"),
    )
    found = [MemoryColumns(as_table(pd.DataFrame({"c": values})), values.to_numpy()) for values in alike]
    assert all(table.is_readable("c") for table in found)
    assert len({tuple(table.by_bins([Unknown("c")])[0]) for table in found}) == 1
    assert all(table.texts("c", 1) == found[0].texts("c", 1) == table.texts(None, 1) for table in found)


def in_duckdb(**columns):
    return EngineColumns(ibis.duckdb.connect().create_table("t", pa.table(columns)), None)


SPELLINGS = {  # of one text, and how often each of them comes
    "decimals": (pa.decimal128(25, 0), {Decimal(10**20 + 1): 12, Decimal(10**20 + 2): 4, Decimal(10**20 + 3): 4}),
    "texts": (pa.string(), {"1": 12, "01": 4, "1.0": 4, "x": 4}),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_in_an_engine_a_record_changes_the_counts_of_texts_by_one_though_rare_ones_are_left_there(name):
    dtype, times = SPELLINGS[name]
    values = [value for value, n in times.items() for _ in range(n)]
    before = in_duckdb(c=pa.array(values, dtype)).texts("c", 5)
    for value in times:
        after = in_duckdb(c=pa.array([*values, value], dtype)).texts("c", 5)
        assert before.keys() <= after.keys()
        assert sum(after[text] - n for text, n in before.items()) <= 1
        assert all(after[text] <= 5 for text in after.keys() - before.keys())


# -- what a fit pays ----------------------------------------------------------------------------------------------------


def table(n=4_000):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n), "job": rng.choice(["clerk", "cook"], n)})
    return frame, np.where(rng.random(n) < 0.2 + 0.6 * (frame["age"] > 50), "yes", "no")


class SpendsAllAfterItsSchema(DPOptimalTreeClassifier):
    """The schema's share is not taken from the fit's."""

    @property
    def _terms(self):
        return self._price if hasattr(self, "_price") else super()._terms

    def _find_schema(self, how, X, y, table):
        super()._find_schema(how, X, y, table)
        self._price = type(super()._terms)(self.epsilon, self.ledger, self.records_per_person, self.random_state)


@pytest.mark.parametrize("share", [0.2, 0.3])
def test_a_fit_and_its_schema_come_to_the_epsilon_that_was_said(share):
    spent = {}
    for kind in (DPOptimalTreeClassifier, SpendsAllAfterItsSchema):
        ledger = Ledger(epsilon=100, delta=1e-3)
        kind(schema=PrivateSchema(share), epsilon=2, max_depth=1, ledger=ledger).fit(*table())
        spent[kind] = ledger.spent
    assert spent[DPOptimalTreeClassifier] == (2, Fraction(1, 10**9))
    assert spent[SpendsAllAfterItsSchema][0] > 2


@pytest.mark.parametrize("k", [1, 3])
def test_a_schema_spends_all_that_it_booked_but_a_delta_that_it_has_no_use_for(k):
    ledger = Ledger(epsilon=100, delta=1e-3)
    X, y = table()
    found = private_schema(X, y, epsilon=1, delta=1e-6, records_per_person=k, ledger=ledger)
    (entry,) = ledger.entries
    assert entry.epsilon == entry.spent_epsilon == 1
    assert found.privacy.proved.epsilon == 1
    assert found.privacy.proved.delta == 1e-6
    assert entry.delta == Fraction(1, 10**6) >= entry.spent_delta > 0

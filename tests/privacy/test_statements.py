"""Statements and ledgers never say more than is proved. Each of these was wrong once."""

import math
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet import Boolean, Categorical, DPGreedyRuleListClassifier, Ledger, Numeric, PrivateCounts, Schema
from discreet._utils.errors import CandidatesError, PrivacyWarning, SeededWarning
from discreet._utils.tables import as_table
from discreet.accounting.ledger import LedgerError
from discreet.accounting.statement import Guarantee
from discreet.private.mechanisms.impurity import largest_ranges_of_smooth_gini, range_of_smooth_gini
from discreet.private.noise.distributions import Gaussian, log_prob, price_of_bounded_scores
from discreet.rules.candidates import Candidates
from discreet.schema.inference import infer_schema
from discreet.sources.memory import class_numbers
from tests.support.selectors import budget_of, proved_of

X = np.array([[True, False], [False, True], [True, True], [False, False]] * 50)
Y = np.array([0, 1, 1, 0] * 50)


@pytest.mark.parametrize("mechanism", ["sm-laplace", "sm-cauchy"])
@pytest.mark.parametrize(("epsilon", "support"), [(5, 2442), (10, 2442), (50, 252), (1000, 2442)])
def test_a_delta_too_small_for_a_float_is_not_pure(mechanism, epsilon, support):
    budget = budget_of(mechanism, epsilon, 5, "1e-9", min_support=support)
    proved = proved_of(mechanism, budget, 24)
    assert proved.delta >= sys.float_info.min or proved.epsilon < epsilon
    assert "delta" in str(proved)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"min_support": 0.05}, "share"),
        ({"delta": None}, "1/n"),
        ({"candidates": ["x0"]}, "mined"),
        ({"epsilon": 0.01, "min_support": 2000, "confidence": 0.6}, "too large"),
    ],
)
def test_a_fit_without_proof_warns_by_its_parameters_alone(parameters, reason):
    good = {"mechanism": "sm-laplace", "epsilon": 2.0, "delta": 1e-8, "min_support": 100}
    good["schema"] = Schema.of_booleans(["x0", "x1"])
    for table, labels in ((X, Y), (X[:0], Y[:0])):
        with pytest.warns(PrivacyWarning, match=reason):
            DPGreedyRuleListClassifier(**good | parameters).fit(table, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DPGreedyRuleListClassifier(**good).fit(X, Y)
        warnings.simplefilter("ignore", SeededWarning)  # which is given once in a process
        DPGreedyRuleListClassifier(**good | parameters, random_state=0).fit(X, Y)  # an experiment


def test_large_epsilons_are_called_what_they_are():
    assert "almost no protection" in str(
        DPGreedyRuleListClassifier(mechanism="gl-laplace", epsilon=50.0).fit(X, Y).privacy_
    )
    small = str(DPGreedyRuleListClassifier(mechanism="gl-laplace", epsilon=1.8).fit(X, Y).privacy_)
    assert "within a factor of e^epsilon (at most 2.72)" in small
    assert "1e-300" in str(Guarantee(1.0, 1e-308))


@pytest.mark.parametrize(
    "labels",
    [
        # before pandas 3 a column of texts is declared to hold anything, and its values may not decide about an error
        *([pd.Series(["no", "yes"] * 100)] if pd.Series(["no"]).dtype != object else []),
        pd.Series(["no", "yes"] * 100, dtype="category").astype("string"),
        pl.Series(["no", "yes"] * 100),
        np.array(["no", "yes"] * 100),
    ],
)
def test_text_labels_that_are_no_class_are_left_out_in_silence(labels):
    """One label that is no number makes texts of all, so neither their type nor what they are may be an error."""
    for schema in (None, Schema.of_booleans(["x0", "x1"]), Schema.of_booleans(["x0", "x1"], classes=(0, 1))):
        ledger = Ledger(epsilon=1)
        DPGreedyRuleListClassifier(mechanism="gl-laplace", schema=schema, ledger=ledger).fit(X, labels)
        assert len(ledger.entries) == 1
    assert class_numbers(labels, (0, 1), len(labels)).tolist() == [-1] * len(labels)
    assert set(class_numbers(labels, ("no", "yes"), len(labels))) == {0, 1}


def test_a_vacuous_pair_is_not_announced():
    clf = DPGreedyRuleListClassifier(
        mechanism="sm-laplace", epsilon=0.01, delta=1e-8, min_support=2000, confidence=0.6
    ).fit(X, Y)
    assert clf.privacy_.proved is None
    assert "too large to mean anything" in str(clf.privacy_)


def test_bounded_scores_alone_do_not_bound_the_loss():
    """Theorem 6 needs that the changes, too, lie in an interval of length w."""
    before, after = log_prob(np.array([1.0, 0.0]), Gaussian()), log_prob(np.array([0.0, 1.0]), Gaussian())
    assert before[0] - after[0] > price_of_bounded_scores(1.0, 2, Gaussian())


def test_prices_of_tiny_and_huge_budgets():
    for width in (1e-15, 1e-12, 1e-9, 1e-6):
        assert 0 < price_of_bounded_scores(width, 19, Gaussian()) <= 3 * width + 2e-12
    # two candidates: the loser wins with Phi(-w / sqrt 2), whatever w is
    from scipy.stats import norm

    for width in (1.0, 50.0, 400.0):
        expected = -math.log(2) - norm.logcdf(-width / math.sqrt(2))
        assert price_of_bounded_scores(width, 2, Gaussian()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("beta", [1e-12, 1e-14, 1e-16])
def test_ranges_with_a_tiny_beta(beta):
    largest = largest_ranges_of_smooth_gini(100, beta)[100]
    for n in np.unique(np.geomspace(100, 100 / beta, 400).astype(float)):
        assert range_of_smooth_gini(int(n), 100, beta) <= largest * (1 + 1e-3)


def test_printed_numbers_are_rounded_up():
    assert str(Guarantee(1 / 3, 0.0)) == "epsilon = 0.333334"
    assert str(Guarantee(1.0, 1.2301e-7)) == "epsilon = 1, delta = 1.24e-07"
    assert str(Guarantee(0.1, None)) == "epsilon = 0.1, delta = 1/n^2"


def test_a_ledger_keeps_what_is_proved_beside_what_was_asked_for():
    ledger = Ledger(epsilon=10, delta=1e-6, allow_unproved=True)
    clf = DPGreedyRuleListClassifier(
        mechanism="sm-laplace", epsilon=1.0, delta=1e-8, min_support=60, max_length=3, ledger=ledger
    ).fit(X, Y)
    (entry,) = ledger.entries
    assert (entry.epsilon, entry.delta) == (1, Fraction(1, 10**8))
    assert float(entry.proved_epsilon) == clf.privacy_.proved.epsilon
    assert float(entry.proved_delta) == clf.privacy_.proved.delta > 1e-8
    assert ledger.proved == (clf.privacy_.proved.epsilon, clf.privacy_.proved.delta)
    DPGreedyRuleListClassifier(mechanism="gl-laplace", epsilon=2.0, random_state=0, ledger=ledger).fit(X, Y)
    assert ledger.proved == (math.inf, 1.0)
    assert ledger.tight_epsilon(1e-3) == math.inf
    assert "nothing" in str(ledger)


def spend(ledger):
    try:
        ledger.reserve(Fraction(1), Fraction(0), "x")
    except TypeError:
        return "refused"
    return "spent"


FORKED = Ledger(epsilon=1)


def use_forked(_):
    return spend(FORKED)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_cannot_spend_a_ledger_in_memory():
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        assert set(pool.map(use_forked, range(4))) == {"refused"}
    assert FORKED.remaining[0] == 1


def test_a_file_ledger_is_one_by_any_name(tmp_path, monkeypatch):
    path = tmp_path / "budget.db"
    Ledger.open(path, epsilon=1)
    (tmp_path / "link.json").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    relative = Ledger.open("budget.db")
    monkeypatch.chdir("/")
    Ledger.open(tmp_path / "link.json").reserve(Fraction(1), Fraction(0), "x")
    assert relative.remaining[0] == Ledger.open(path).remaining[0] == 0
    assert os.path.islink(tmp_path / "link.json")


def test_no_refunds_and_no_endless_fractions(tmp_path):
    for ledger in (Ledger(epsilon=1), Ledger.open(tmp_path / "b.json", epsilon=1)):
        with pytest.raises(ValueError, match="at least 0"):
            ledger.reserve(Fraction(-5), Fraction(0), "refund")
        with pytest.raises(ValueError, match="too many digits"):
            ledger.reserve(Fraction(10**600 + 1, 10**601), Fraction(0), "long")
        assert ledger.entries == ()


def test_a_ledger_that_was_replaced_during_a_fit(tmp_path):
    ledger = Ledger.open(tmp_path / "b.json", epsilon=1)
    reservation = ledger.reserve(Fraction(1), Fraction(0), "x")
    (tmp_path / "b.json").unlink()
    Ledger.open(tmp_path / "b.json", epsilon=1)
    with pytest.raises(LedgerError, match="replaced"):
        reservation.close()


@pytest.mark.parametrize(
    "parameters",
    [
        {"mechanism": "sm-laplace", "delta": 5e-324},
        {"mechanism": "sm-laplace", "epsilon": 1e-200, "delta": 1e-6},
        {"mechanism": "sm-cauchy", "epsilon": 1e308},
        {"mechanism": "gl-laplace", "epsilon": 1e-310},
        {"mechanism": "sm-laplace", "epsilon": 1e9, "delta": 1e-100, "min_support": 1},
        {"mechanism": "sm-laplace", "epsilon": 1e-6, "delta": 1e-100, "min_support": 1},
        {"mechanism": "gl-gaussian", "epsilon": 1e9, "delta": 0.5},
    ],
)
def test_extreme_budgets_work_or_are_refused_before_anything_is_reserved(parameters):
    ledger = Ledger(epsilon=1e300, delta=0.9)
    try:
        DPGreedyRuleListClassifier(**parameters, ledger=ledger).fit(X, Y)
        assert len(ledger.entries) == 1
    except ValueError:
        assert ledger.entries == ()


def test_an_inferred_schema_proves_nothing_wherever_it_goes():
    frame = pd.DataFrame({"a": np.arange(100.0)})
    schema = infer_schema(as_table(frame))
    assert schema.inferred
    again = Schema.from_toml(schema.to_toml())
    assert again.inferred
    private = PrivateCounts.from_table(frame, np.arange(100) % 2, again)
    clf = DPGreedyRuleListClassifier(mechanism="gl-laplace", exclude=()).fit_counts(private)
    assert clf.privacy_.proved is None
    public = PrivateCounts.from_table(frame, np.arange(100) % 2, Schema([Numeric("a", cuts=[50])]))
    assert (
        DPGreedyRuleListClassifier(mechanism="gl-laplace", infer_schema=True).fit_counts(public).privacy_.proved
        is not None
    )


def test_candidates_of_another_schema_are_refused():
    other = Candidates.of_schema(Schema([Categorical("x0", categories=[0, 1]), Boolean("x1")]))
    with pytest.raises(CandidatesError, match="'x0' in another way"):
        DPGreedyRuleListClassifier(mechanism="gl-laplace", candidates=other).fit(X, Y)


@pytest.mark.parametrize(
    "make",
    [
        lambda v: pl.DataFrame({"b": pl.Series(v, dtype=pl.Float32)}),
        lambda v: pd.DataFrame({"b": pd.array(v, dtype="Float32")}),
    ],
)
def test_a_missing_number_does_not_change_what_others_are_taken_for(make):
    column = Categorical("b", True, categories=["0.1", "0.5"], outside="none")
    alone = column.encode(as_table(make([0.1, 0.1, 0.5])).column("b"))
    assert column.encode(as_table(make([0.1, 0.1, 0.5, None])).column("b"))[:3].tolist() == alone.tolist()


def test_lists_do_not_take_the_type_of_one_value():
    column = Boolean("x0", True)
    assert column.encode(as_table([[True], [True], [False]]).column("x0")).tolist() == [1, 1, 0]
    assert column.encode(as_table([[True], [True], [False], ["x"]]).column("x0")).tolist() == [1, 1, 0, 2]
    numbers = Categorical("c", categories=[2**60 + 1, 2], outside="none")
    for values in ([2**60 + 1, 2], [2**60 + 1, 2, 0.5]):
        assert numbers.encode(as_table({"c": values}).column("c"))[:2].tolist() == [0, 1]

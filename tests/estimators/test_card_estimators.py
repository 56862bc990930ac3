"""The classifiers of score cards: parameters, budget, manners, classes."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import (
    Categorical,
    DPScoreCardClassifier,
    Ledger,
    Numeric,
    PrivateCounts,
    SavedModel,
    Schema,
    ScoreCardClassifier,
)
from discreet._utils.errors import SchemaError
from discreet.accounting.ledger import BudgetError
from discreet.datasets import load_compas, load_german_credit
from discreet.models.score_card import ScoreCard

from ..support.charges import watch_charges
from .test_tree_estimators import IRIS


@pytest.fixture(scope="module")
def compas():
    data = load_compas(sensitive=False)
    return data.data, np.asarray(data.target), data.schema


@parametrize_with_checks([DPScoreCardClassifier(infer_schema=True), ScoreCardClassifier()])
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


def test_five_lines(compas):
    X, y, schema = compas
    clf = DPScoreCardClassifier(epsilon=1.0, schema=schema).fit(X, y)
    assert roc_auc_score(y, clf.predict_proba(X)[:, 1]) > 0.67
    assert str(clf.privacy_.proved) == "epsilon = 1"
    assert clf.privacy_.published is None
    assert clf.privacy_.mechanism == "score cards"
    assert isinstance(clf.card_, ScoreCard)
    assert clf.model_ is clf.card_
    assert str(clf) == str(clf.card_)
    assert clf.feature_names_in_.tolist() == list(X.columns)


@pytest.mark.parametrize("parameters", [{}, {"counts_share": 0}, {"points": "decimals"}, {"tree_depth": 1}])
def test_probabilities_agree_with_predictions(compas, parameters):
    X, y, schema = compas
    for epsilon in (0.05, 5.0):
        clf = DPScoreCardClassifier(epsilon=epsilon, schema=schema, **parameters).fit(X, y)
        shares = clf.predict_proba(X)
        assert np.allclose(shares.sum(1), 1.0)
        assert (shares.argmax(1) == clf.predict(X)).all()


def test_points_are_integers_of_which_none_is_below_zero_or_have_two_decimals(compas):
    X, y, schema = compas
    whole, fine = (DPScoreCardClassifier(points=p, schema=schema).fit(X, y).card_ for p in ("integers", "decimals"))
    points = {p: [x for t in card.cards[0].tables for _, x in t.rows] for p, card in (("w", whole), ("f", fine))}
    assert all(x >= 0 and x == int(x) for x in points["w"])
    assert all(round(x, 2) == x for x in points["f"])
    assert any(x != int(x) for x in points["f"])


def test_so_many_columns_give_points_as_are_asked_for(compas):
    X, y, schema = compas
    for k in (1, 3, 100):
        clf = DPScoreCardClassifier(epsilon=10.0, max_columns=k, schema=schema).fit(X, y)
        assert len(clf.card_.columns) <= min(k, X.shape[1])
    every = DPScoreCardClassifier(epsilon=10.0, max_columns=100, schema=schema, random_state=0).fit(X, y).card_
    assert every == DPScoreCardClassifier(epsilon=10.0, schema=schema, random_state=0).fit(X, y).card_


@pytest.mark.parametrize(
    "parameters",
    [{}, {"counts_share": 0}, {"max_columns": 2}, {"tree_depth": 1}, {"sequential": True}, {"sequential": False}],
)
def test_charges_add_up_to_epsilon_exactly(compas, monkeypatch, parameters):
    X, y, schema = compas
    charged, ledger = watch_charges(monkeypatch), Ledger(epsilon=0.7)
    DPScoreCardClassifier(epsilon=0.7, schema=schema, ledger=ledger, **parameters).fit(X, y)
    (entry,) = ledger.entries
    assert sum(epsilon for _, epsilon, _ in charged) == entry.spent_epsilon == entry.proved_epsilon == ledger.epsilon
    assert {delta for _, _, delta in charged} == {0}
    totals = [epsilon for what, epsilon, _ in charged if what == "class counts by total"]
    assert totals == ([] if "counts_share" in parameters else [Fraction("0.07")])
    with pytest.raises(BudgetError):
        DPScoreCardClassifier(epsilon=0.1, schema=schema, ledger=ledger).fit(X, y)


def test_with_three_classes_all_of_epsilon_goes_to_the_points(monkeypatch):
    X, y = load_iris(return_X_y=True, as_frame=True)
    charged, ledger = watch_charges(monkeypatch), Ledger(epsilon=2)
    clf = DPScoreCardClassifier(epsilon=2.0, schema=IRIS, ledger=ledger).fit(X, y)
    assert [(what, epsilon) for what, epsilon, _ in charged] == [("class counts of a column", Fraction(1, 2))] * 4
    assert ledger.remaining[0] == 0
    assert all(answer.counts is None for answer in clf.card_.answers)
    assert clf.card_.limits == ()


@pytest.mark.parametrize("parameters", [{}, {"max_columns": 2}, {"tree_depth": 1}, {"points": "decimals"}])
def test_three_classes(parameters):
    X, y = load_iris(return_X_y=True, as_frame=True)
    for clf in (
        DPScoreCardClassifier(epsilon=20.0, schema=IRIS, **parameters),
        ScoreCardClassifier(schema=IRIS, **parameters),
    ):
        clf.fit(X, y)
        shares = clf.predict_proba(X)
        assert clf.score(X, y) > 0.85
        assert shares.shape == (150, 3)
        assert np.allclose(shares.sum(1), 1.0)
        assert (shares.argmax(1) == clf.predict(X)).all()
        assert SavedModel.from_json(SavedModel.of(clf).to_json()).model == clf.card_
        for card in clf.card_.cards:
            assert min(card.start) == 0
            for table in card.tables:
                rows = np.array([points for _, points in table.rows])
                assert (rows >= 0).all()
                assert (rows.min(0) == 0).all() or len(clf.card_.cards) > 1


def test_ten_points_double_the_odds_of_three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = ScoreCardClassifier(schema=IRIS).fit(X, y)
    record = X.iloc[[70]]
    bins = {name: IRIS[name].encode(record[name].to_numpy())[0] for name in IRIS.names}
    totals = np.array(clf.card_.cards[0].start)
    for table in clf.card_.cards[0].tables:
        for condition, points in table.rows:
            if all(IRIS[x.column].where(x.op, x.value)[bins[x.column]] for x in condition):
                totals = totals + points
                break
    odds = 2 ** (totals / 10)
    assert clf.predict_proba(record)[0].tolist() == pytest.approx((odds / odds.sum()).tolist(), rel=1e-12)


def test_points_are_those_of_the_counts():
    """Two classes, one column, no noise: ten points are a factor of two between the classes."""
    schema = Schema([Categorical("job", categories=["clerk", "boss"])], classes=["no", "yes"])
    table = pd.DataFrame({"job": ["clerk"] * 50_000 + ["boss"] * 50_000})
    y = ["no"] * 40_000 + ["yes"] * 10_000 + ["no"] * 10_000 + ["yes"] * 40_000
    ((points,),) = [[t.rows for t in ScoreCardClassifier(schema=schema).fit(table, y).card_.cards[0].tables]]
    assert [p for _, p in points] == [0, 40]  # odds of 1 to 4 and 4 to 1: a factor of 16, which is 2^4


ODD = Schema([Categorical("job", categories=["clerk", "boss"]), Numeric("age", cuts=[30])], classes=["no", "yes"])
THREE = Schema(ODD.columns, classes=["no", "yes", "unsure"])


@pytest.mark.parametrize("schema", [ODD, THREE], ids=["two", "three"])
@pytest.mark.parametrize("parameters", [{}, {"max_columns": 1}, {"tree_depth": 1}, {"counts_share": 0}])
def test_odd_tables_are_learned_from_like_any_other(parameters, schema):
    clf = DPScoreCardClassifier(schema=schema, **parameters)
    empty = pd.DataFrame({"job": pd.Series([], dtype=str), "age": pd.Series([], dtype=float)})
    clf.fit(empty, np.array([], dtype=str))
    one_class = pd.DataFrame({"job": ["clerk"] * 5, "age": [20.0] * 5})
    clf.fit(one_class, ["no"] * 5)
    assert set(clf.classes_) == set(schema.classes)
    unforeseen = pd.DataFrame({"job": ["pope", None, 3], "age": ["old", None, float("inf")]})
    clf.fit(unforeseen, ["no", "maybe", None])
    assert set(clf.predict(unforeseen)) <= set(schema.classes)
    assert np.allclose(clf.predict_proba(unforeseen).sum(1), 1.0)


def test_records_of_one_class_are_refused_without_privacy_as_by_other_learners():
    with pytest.raises(ValueError, match="one class only"):
        ScoreCardClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])


MONOTONE = "monotonic_cst needs one card"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"max_columns": 0}, "max_columns must be an integer of at least 1"),
        ({"max_columns": 2.5}, "max_columns must be an integer"),
        ({"points": "roman"}, "points must be one of integers, decimals, not 'roman'"),
        ({"tree_depth": -1}, "tree_depth must be an integer of at least 0"),
        ({"tree_depth": 3}, "tree_depth must be at most 2, not 3"),
        ({"sequential": "yes"}, "sequential must be True, False or None, not 'yes'"),
        ({"counts_share": 1.0}, "counts_share must be 0, or from 0.001 to 0.9"),
        ({"monotonic_cst": {"nobody": 1}}, "nobody"),
        ({"monotonic_cst": {"priors_count": 2}}, "monotonic_cst"),
        ({"monotonic_cst": {"priors_count": 1}, "tree_depth": 1}, MONOTONE),
        ({"time_limit": 0}, "time_limit must be None or a number of seconds above 0"),
        ({"records_per_person": 0}, "records_per_person must be an integer"),
        ({"exclude": ["nobody"]}, "nobody"),
        ({"schema": "adult"}, "schema"),
    ],
)
def test_bad_parameters_spend_nothing_and_are_named(compas, parameters, message):
    X, y, schema = compas
    ledger = Ledger(epsilon=1.0)
    with pytest.raises((ValueError, TypeError), match=message):
        DPScoreCardClassifier(**({"schema": schema, "ledger": ledger} | parameters)).fit(X, y)
    assert ledger.entries == ()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_columns": 0}, "max_columns must be an integer"),
        ({"points": "roman"}, "points must be one of"),
        ({"tree_depth": 3}, "tree_depth must be at most 2"),
        ({"monotonic_cst": {"nobody": 1}}, "nobody"),
    ],
)
def test_bad_parameters_without_privacy_are_named(compas, parameters, message):
    X, y, schema = compas
    with pytest.raises((ValueError, TypeError), match=message):
        ScoreCardClassifier(schema=schema, **parameters).fit(X, y)


def test_monotone_needs_two_classes_and_nothing_is_spent_to_say_so():
    X, y = load_iris(return_X_y=True, as_frame=True)
    ledger = Ledger(epsilon=1.0)
    rising = {"petal width (cm)": 1}
    for clf in (
        DPScoreCardClassifier(schema=IRIS, monotonic_cst=rising, ledger=ledger),
        ScoreCardClassifier(schema=IRIS, monotonic_cst=rising),
    ):
        with pytest.raises(ValueError, match=r"monotonic_cst needs two classes: .* and there are 3\. Leave it out"):
            clf.fit(X, y)
    assert ledger.entries == ()


def test_a_schema_that_does_not_fit_the_table_is_named(compas):
    X, y, schema = compas
    with pytest.raises(ValueError, match="priors_count"):
        DPScoreCardClassifier(schema=schema).fit(X.rename(columns={"priors_count": "priors"}), y)
    with pytest.raises(SchemaError, match="DPScoreCardClassifier needs a schema"):
        DPScoreCardClassifier().fit(pd.DataFrame({"age": [0.5, 1.5]}), [0, 1])
    with pytest.raises(ValueError, match="no column that may be used has a cut, a category or two values"):
        DPScoreCardClassifier(schema=schema, exclude=list(X.columns)).fit(X, y)


def test_fit_counts_and_exclude(compas):
    X, y, schema = compas
    clf = DPScoreCardClassifier(random_state=3, exclude=["juv_count"], schema=schema)
    again = clone(clf).set_params(schema=None).fit_counts(PrivateCounts.from_table(X, y, schema))
    assert again.card_ == clf.fit(X, y).card_
    assert "juv_count" not in clf.card_.columns


@pytest.mark.parametrize("parameters", [{}, {"tree_depth": 1, "max_columns": 4}])
def test_an_engine_counts_and_the_card_is_the_same(parameters):
    ibis = pytest.importorskip("ibis")
    data = load_german_credit()
    clf = DPScoreCardClassifier(random_state=4, schema=data.schema, **parameters)
    here = clf.fit(data.data, data.target).card_
    assert clone(clf).fit_source(ibis.memtable(data.frame)).card_ == here


def test_an_engine_counts_three_classes_and_the_card_is_the_same():
    ibis = pytest.importorskip("ibis")
    X, y = load_iris(return_X_y=True, as_frame=True)
    schema = Schema(IRIS.columns, target="species", classes=[0, 1, 2])
    clf = DPScoreCardClassifier(random_state=4, tree_depth=1, schema=schema)
    there = clone(clf).fit_source(ibis.memtable(X.assign(species=y)))
    assert there.card_ == clf.fit(X, y).card_


def test_nothing_exact_is_kept(compas):
    X, y, schema = compas
    clf = DPScoreCardClassifier(schema=schema, ledger=Ledger(epsilon=1.0)).fit(X, y)
    loaded = pickle.loads(pickle.dumps(clf))
    assert loaded.card_ == clf.card_
    assert (loaded.predict(X) == clf.predict(X)).all()
    fitted = {name for name in vars(clf) if name.endswith("_") and not name.startswith("_")}
    assert fitted == {"card_", "privacy_", "booked_", "classes_", "feature_names_in_", "n_features_in_"}
    assert not hasattr(clone(clf), "card_")
    saved = SavedModel.from_json(SavedModel.of(clf, "again").to_json())
    assert saved.model == clf.card_
    assert saved.counts_epsilon == pytest.approx(0.1)
    assert not hasattr(DPScoreCardClassifier(), "model_")


def test_a_grid_search_over_public_parameters(compas):
    X, y, schema = compas
    for clf in (DPScoreCardClassifier(epsilon=5.0, schema=schema, random_state=0), ScoreCardClassifier(schema=schema)):
        search = GridSearchCV(clf, {"max_columns": [1, 5]}, cv=2, scoring="roc_auc").fit(X, y)
        assert search.best_params_ == {"max_columns": 5}


def test_a_pipeline(compas):
    X, y, schema = compas
    same = FunctionTransformer(lambda table: table.assign(priors_count=table["priors_count"] + 0))
    pipe = make_pipeline(same, ScoreCardClassifier(schema=schema)).fit(X, y)
    assert (pipe.predict_proba(X) == ScoreCardClassifier(schema=schema).fit(X, y).predict_proba(X)).all()


def test_data_frames_of_other_libraries_give_the_same_card(compas):
    polars = pytest.importorskip("polars")
    X, y, schema = compas
    clf = ScoreCardClassifier(schema=schema)
    assert clf.fit(polars.from_pandas(X), y).card_ == clone(clf).fit(X, y).card_

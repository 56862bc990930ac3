import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import GreedyRuleListClassifier, Numeric, Rule, RuleList, Schema
from discreet._utils.errors import CandidatesError, RuleError, SchemaError
from discreet.datasets import load_adult, load_compas, load_german_credit


@parametrize_with_checks([GreedyRuleListClassifier()])
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


IRIS = Schema(
    [
        Numeric("sepal length (cm)", low=4, high=8, n_cuts=7),
        Numeric("sepal width (cm)", low=2, high=5, n_cuts=5),
        Numeric("petal length (cm)", low=1, high=7, n_cuts=11),
        Numeric("petal width (cm)", cuts=[0.5, 1, 1.5, 1.7, 2]),
    ],
    target="species",
    classes=(0, 1, 2),
)


def test_three_classes_with_a_schema():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = GreedyRuleListClassifier(schema=IRIS, max_length=4).fit(X, y)
    assert clf.score(X, y) > 0.93
    assert str(clf).splitlines()[0] == 'if "petal length (cm)" <= 2 then 0'
    proba = clf.predict_proba(X)
    assert proba.shape == (150, 3)
    assert (clf.classes_[proba.argmax(1)] == clf.predict(X)).mean() > 0.99
    first = clf.rule_list_.rules[0]
    assert first.counts == (50, 0, 0)
    # arrays take the schema's columns by position
    by_position = GreedyRuleListClassifier(schema=IRIS, max_length=4).fit(X.to_numpy(), y)
    assert by_position.rule_list_ == clf.rule_list_


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_frame_gives_the_same_model(frame):
    data = load_compas()
    columns = {c: data.data[c].to_numpy() for c in data.data}
    X, y = frame(columns), data.target.to_numpy()
    clf = GreedyRuleListClassifier(schema=data.schema).fit(X, y)
    assert clf.rule_list_ == GreedyRuleListClassifier(schema=data.schema).fit(data.data, data.target).rule_list_
    assert list(clf.feature_names_in_) == list(columns)
    assert clf.n_features_in_ == len(columns)
    assert (clf.predict(X) == clf.rule_list_.predict(columns)).all()


def test_labels_of_any_library():
    data = load_german_credit()
    expected = GreedyRuleListClassifier(schema=data.schema).fit(data.data, data.target)
    assert expected.classes_.tolist() == ["bad", "good"]
    y = data.target.to_numpy(dtype=object)
    for labels in (y, list(y), pl.Series(list(y)), pa.array(list(y)), pd.Series(y, dtype="category")):
        clf = GreedyRuleListClassifier(schema=data.schema).fit(data.data, labels)
        assert clf.rule_list_ == expected.rule_list_


def test_clone_pipeline_grid_search_and_pickle():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipe = make_pipeline(StandardScaler(), GreedyRuleListClassifier()).set_output(transform="pandas").fit(X, y)
    assert list(pipe[-1].feature_names_in_) == list(X.columns)
    assert {x.column for r in pipe[-1].rule_list_.rules for x in r.antecedent} <= set(X.columns)
    assert make_pipeline(StandardScaler(), GreedyRuleListClassifier()).fit(X, y).score(X, y) > 0.9
    search = GridSearchCV(GreedyRuleListClassifier(), {"max_length": [2, 4], "max_literals": [1, 2]}, n_jobs=2).fit(
        X, y
    )
    assert search.best_params_["max_length"] == 4
    model = search.best_estimator_
    again = pickle.loads(pickle.dumps(model))
    assert again.rule_list_ == model.rule_list_
    assert (again.predict(X) == model.predict(X)).all()
    fresh = clone(GreedyRuleListClassifier(schema=IRIS, exclude=["sepal length (cm)"]))
    assert fresh.schema == IRIS
    assert not hasattr(fresh, "rule_list_")


def test_a_raw_frame_without_schema_is_cut_at_quantiles():
    frame = pd.DataFrame({"n": np.arange(100.0), "t": ["a", "b"] * 50, "when": pd.date_range("2020", periods=100)})
    y = (frame["n"] > 49).to_numpy()
    clf = GreedyRuleListClassifier().fit(frame, y)
    assert str(clf) == "if n <= 49 then False\nelse True"
    assert clf.classes_.tolist() == [False, True]
    assert clf.predict(frame).dtype == bool


def test_missing_values_are_a_literal():
    X = pd.DataFrame({"a": [None, None, 1.0, 2.0], "b": ["x", "y", None, "y"]})
    clf = GreedyRuleListClassifier(max_length=2).fit(X, [1, 1, 0, 0])
    assert str(clf) == "if a is missing then 1\nelse 0"
    assert clf.predict(X).tolist() == [1, 1, 0, 0]
    array = np.array([[np.nan, 1.0], [np.nan, 3.0], [1.0, 1.0], [2.0, 3.0]])
    assert GreedyRuleListClassifier(max_length=2).fit(array, [1, 1, 0, 0]).predict(array).tolist() == [1, 1, 0, 0]


def test_exclude_and_candidates():
    data = load_compas(binary=True)
    sensitive = [c for c in data.data if c.startswith(("Age", "Gender", "Race"))]
    clf = GreedyRuleListClassifier(exclude=sensitive, max_literals=2).fit(data.data, data.target)
    less = load_compas(binary=True, sensitive=False)
    assert str(clf) == str(GreedyRuleListClassifier(max_literals=2).fit(less.data, less.target))
    chosen = ["Prior-Crimes=0", Rule.parse("Prior-Crimes>5 and not Gender=Male")]
    clf = GreedyRuleListClassifier(candidates=chosen).fit(data.data, data.target)
    assert {r.antecedent for r in clf.rule_list_.rules} <= {Rule.parse(str(c)).antecedent for c in chosen}


def test_min_support_stops_early():
    X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    lengths = [
        len(GreedyRuleListClassifier(max_length=9, min_support=s).fit(X, y).rule_list_) for s in (0.0, 0.6, 5000, 7215)
    ]
    assert lengths[0] > lengths[1] >= 2
    assert lengths[2] == 2
    assert lengths[3] == 1
    assert len(GreedyRuleListClassifier(max_length=1).fit(X, y).rule_list_) == 1


def test_all_candidates_constant():
    X = pd.DataFrame({"a": [True] * 6, "b": [False] * 6})
    clf = GreedyRuleListClassifier().fit(X, [0, 1, 1, 1, 0, 1])
    assert str(clf) == "always 1"


def marked(**changes):
    """A small table whose every value would be noticed in a message."""
    table = {"age": [777, 778, 779, 780], "job": ["SECRET1", "SECRET2", "SECRET1", "SECRET2"]}
    return pd.DataFrame(table | changes)


SCHEMA = Schema.from_toml(
    """
    [target]
    classes = ["no", "yes"]
    [columns.age]
    type = "numeric"
    cuts = [778]
    [columns.job]
    type = "categorical"
    categories = ["SECRET1", "SECRET2"]
    """
)
Y = ["no", "yes", "no", "yes"]


@pytest.mark.parametrize(
    ("parameters", "X", "y", "error", "message"),
    [
        ({}, marked().head(0), [], SchemaError, "X has no records"),
        ({}, np.zeros((0, 2)), [], ValueError, "0 sample"),
        ({}, marked(), ["no"] * 4, ValueError, "one class only"),
        ({}, marked(), Y[:3], ValueError, "X has 4 records, y has 3"),
        ({}, marked(), None, ValueError, "requires y to be passed"),
        ({"schema": SCHEMA}, marked(age=[777, None, 779, 780]), Y, SchemaError, "'age' has missing values"),
        ({"schema": SCHEMA}, marked(job=["SECRET1", "SECRET3"] * 2), Y, SchemaError, "'job' has categories"),
        ({"schema": SCHEMA}, marked(), ["no", "yes", "SECRET", *Y[3:]], SchemaError, "y has labels"),
        ({"schema": SCHEMA}, marked()[["age"]], Y, SchemaError, "column 'job', which the table does not have"),
        ({"schema": SCHEMA}, np.zeros((4, 3)), Y, SchemaError, "3 columns without names"),
        ({"schema": "schema.toml"}, marked(), Y, SchemaError, "No such file"),
        ({}, pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"]), Y, SchemaError, "two columns"),
        ({}, pl.LazyFrame({"a": [1]}), Y, SchemaError, "collect"),
        ({"max_length": 0}, marked(), Y, ValueError, "max_length must be an integer of at least 1"),
        ({"max_length": 2.5}, marked(), Y, ValueError, "max_length"),
        ({"max_literals": 0}, marked(), Y, CandidatesError, "max_literals"),
        ({"min_support": 1.5}, marked(), Y, ValueError, "min_support"),
        ({"min_support": -1}, marked(), Y, ValueError, "min_support"),
        ({"exclude": ["sex"]}, marked(), Y, SchemaError, "exclude names column 'sex'"),
        ({"exclude": ["age", "job"]}, marked(), Y, CandidatesError, "no literal"),
        ({"schema": SCHEMA, "candidates": ["age <= 5"]}, marked(), Y, RuleError, "does not fit"),
        ({"candidates": []}, marked(), Y, CandidatesError, "candidates must be"),
        (
            {"max_literals": 3},
            np.random.default_rng(0).random((50, 100)),
            [0, 1] * 25,
            CandidatesError,
            "candidate rules, more than",
        ),
    ],
)
def test_bad_input_is_named_and_no_value_shown(parameters, X, y, error, message):
    with pytest.raises(error, match=message) as raised:
        GreedyRuleListClassifier(**parameters).fit(X, y)
    text = str(raised.value)
    assert "SECRET" not in text.replace("'SECRET1'", "") or "candidates" in parameters
    assert not any(str(v) in text for v in (777, 778, 779, 780)) or "candidates" in parameters


def test_unsupported_fit_parameters_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="sample_weight is not supported"):
        GreedyRuleListClassifier().fit(X, y, sample_weight=np.ones(150))
    with pytest.raises(TypeError, match="no parameter 'weights'"):
        GreedyRuleListClassifier().fit(X, y, weights=1)


def test_prediction_checks_its_table():
    data = load_compas()
    clf = GreedyRuleListClassifier(schema=data.schema).fit(data.data, data.target)
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(data.data.rename(columns={"age": "years"}))
    with pytest.raises(SchemaError, match="'priors_count' has missing values"):
        clf.predict(data.data.assign(priors_count=np.nan))
    # the bare list answers for every record
    assert set(clf.rule_list_.predict(data.data.assign(priors_count=np.nan))) <= {0, 1}


def test_a_model_prints_itself_only_when_fitted():
    assert str(GreedyRuleListClassifier(max_length=3)) == "GreedyRuleListClassifier(max_length=3)"
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = GreedyRuleListClassifier().fit(X, y)
    assert (
        RuleList.parse(str(clf), clf.rule_list_.classes, clf.rule_list_.schema)
        == clf.rule_list_.merged().without_counts()
    )


def test_large_tables_are_read_a_slice_at_a_time(monkeypatch):
    from discreet.sources import memory

    X, y = load_adult(return_X_y=True)
    schema = load_adult().schema
    whole = GreedyRuleListClassifier(schema=schema).fit(X, y).rule_list_
    monkeypatch.setattr(memory, "ROWS_AT_A_TIME", 1000)
    assert GreedyRuleListClassifier(schema=schema).fit(X, y).rule_list_ == whole

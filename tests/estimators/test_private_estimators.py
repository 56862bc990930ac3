import copy
import gc
import io
import logging
import pickle
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, issparse, lil_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    GreedyRuleListClassifier,
    Ledger,
    Numeric,
    PrivacyStatement,
    PrivateCounts,
    RuleList,
    Schema,
)
from discreet._utils.errors import CandidatesError, SchemaError
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.counts.secret import Secret
from discreet.private.mechanisms.registry import MECHANISMS

from ..support.slices import pairs


@parametrize_with_checks([DPGreedyRuleListClassifier(infer_schema=True)])
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [DPGreedyRuleListClassifier(mechanism=mechanism, infer_schema=True) for mechanism in ("sm-laplace", "gl-laplace")]
)
def test_scikit_learns_checks_with_other_mechanisms(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


def delta_for(mechanism):
    return 1e-6 if MECHANISMS[mechanism].needs_delta else None


@pytest.mark.parametrize(("mechanism", "load"), pairs(MECHANISMS, [load_compas, load_german_credit]))
def test_all_methods_learn_with_and_without_a_seed(mechanism, load):
    data = load()
    clf = DPGreedyRuleListClassifier(
        mechanism=mechanism, epsilon=2.0, delta=delta_for(mechanism), min_support=100, schema=data.schema
    )
    clf.fit(data.data, data.target)
    assert clf.privacy_.proved is not None
    assert 1 <= len(clf.rule_list_) <= 5
    assert clf.predict_proba(data.data).shape == (len(data.data), 2)
    assert RuleList.from_json(clf.rule_list_.to_json()) == clf.rule_list_
    seeded = clone(clf).set_params(random_state=3)
    first = seeded.fit(data.data, data.target).rule_list_
    assert seeded.fit(data.data, data.target).rule_list_ == first
    assert seeded.privacy_.proved is None
    assert "seeded" in str(seeded.privacy_)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_much_budget_gives_the_baseline(mechanism):
    """With next to no noise every method finds what GreedyRL finds."""
    X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    expected = GreedyRuleListClassifier(max_length=3, negations=False).fit(X, y)  # a rule and its negation tie
    clf = DPGreedyRuleListClassifier(
        mechanism=mechanism,
        epsilon=1e7,
        delta=delta_for(mechanism),
        max_length=3,
        min_support=10,
        negations=False,
        random_state=0,
    ).fit(X, y)
    assert str(clf.rule_list_) == str(expected)


def test_fit_counts_equals_fit():
    data = load_compas()
    clf = DPGreedyRuleListClassifier(
        mechanism="sm-laplace", epsilon=1.0, delta=1e-6, min_support=100, schema=data.schema, random_state=1
    )
    by_table = clone(clf).fit(data.data, data.target)
    private = PrivateCounts.from_table(data.data, data.target, data.schema)
    by_counts = clone(clf).fit_counts(private)
    assert by_counts.rule_list_ == by_table.rule_list_
    assert (by_counts.predict(data.data) == by_table.predict(data.data)).all()
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            leak(private)
    assert repr(private) == str(private) == "<PrivateCounts>"
    with pytest.raises(TypeError, match=r"PrivateCounts.from_table"):
        clf.fit_counts(data.data)


def reachable(thing):
    """Everything that can be reached from an object, without modules, classes and functions."""
    seen, queue = {}, [thing]
    while queue:
        one = queue.pop()
        if id(one) in seen or isinstance(one, type | type(gc) | type(reachable)):
            continue
        seen[id(one)] = one
        queue += gc.get_referents(one)
    return seen.values()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_exact_count_can_be_reached_from_a_fitted_model(mechanism):
    counts = [7919, 6133, 5417, 4801]  # primes, and no sum of some of them equals another
    X = pd.DataFrame(
        {"a": np.repeat([True, True, False, False], counts), "b": np.repeat([True, False, True, False], counts)}
    )
    y = np.arange(len(X)) % 2
    clf = DPGreedyRuleListClassifier(mechanism=mechanism, epsilon=1.0, delta=delta_for(mechanism), min_support=50).fit(
        X, y
    )
    exact = {sum(c for c, bit in zip(counts, f"{k:04b}", strict=True) if bit == "1") for k in range(1, 16)}
    released = {c for rule in clf.rule_list_ for c in rule.counts}
    for one in reachable(clf):
        name = type(one).__name__
        assert not isinstance(one, Secret), name
        assert name not in ("Reservation", "Table", "MemoryTable"), name
        if isinstance(one, np.ndarray) and one.dtype.kind in "iuf":
            assert one.size <= 2, "an array of numbers"  # classes_
        if isinstance(one, int | float) and not isinstance(one, bool) and one not in released:
            assert one not in exact
    for text in (repr(clf), str(clf), clf.rule_list_.to_json(), clf.privacy_.to_json(), str(clf.privacy_)):
        assert not any(str(c) in text for c in exact - released)
    assert b"counts.patterns" not in pickle.dumps(clf)


def observed(run):
    """Everything that a caller can see of a fit but its result."""
    out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                run()
                error = None
            except Exception as raised:
                error = (type(raised), str(raised))
    finally:
        logging.getLogger().removeHandler(handler)
    return out.getvalue(), err.getvalue(), log.getvalue(), [str(w.message) for w in caught], error


SCHEMA = Schema(
    [
        Numeric("age", cuts=[30, 60], low=0, high=120),
        Categorical("job", categories=["clerk", "boss"]),
        Boolean("smokes"),
    ],
    target="ill",
    classes=("no", "yes"),
)


def people(n=40):
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(0, 100, n).astype(float),
        "job": rng.choice(["clerk", "boss"], n),
        "smokes": rng.random(n) < 0.5,
    }
    return pd.DataFrame(table), np.array(["no"] * n, dtype=object)


class Unprintable:
    def __str__(self):
        raise RuntimeError("secret")


def odd_tables():
    """Tables with a last record that is the only one of its kind."""
    X, y = people()
    yield "the only one of its class", X, np.append(y[:-1], "yes")
    yield "a label that the schema does not name", X, np.append(y[:-1], "perhaps")
    yield "a label that is missing", X, np.append(y[:-1], None)
    yield "the only one of its category", X.assign(job=["clerk"] * 39 + ["boss"]), y
    yield "an unlisted category", X.assign(job=["clerk"] * 39 + ["spy"]), y
    yield "a missing value", X.assign(age=[20.0] * 39 + [None]), y
    yield "a value beyond the bounds", X.assign(age=[20.0] * 39 + [1e300]), y
    yield "an infinite value", X.assign(age=[20.0] * 39 + [np.inf]), y
    yield "neither true nor false", X.assign(smokes=np.array([True] * 39 + ["?"], dtype=object)), y
    yield "a list", X.assign(job=np.array([*["clerk"] * 39, None], dtype=object)), y
    yield "a number too long to write", X.assign(job=np.array([*["clerk"] * 39, 10**5000], dtype=object)), y
    yield "a value that cannot be printed", X.assign(job=np.array([*["clerk"] * 39, Unprintable()], dtype=object)), y
    as_lists = X.astype(object).to_numpy().tolist()
    as_lists[-1][0] = "?"
    yield "a text in a list of lists", as_lists, y.tolist()
    yield "a number among texts", X, [*y[:-1].tolist(), 7]
    yield "the last one", X.head(1), y[:1]


@pytest.mark.parametrize(("what", "X", "y"), list(odd_tables()), ids=[name for name, _, _ in odd_tables()])
@pytest.mark.parametrize("mechanism", ["mass", "sm-laplace", "gl-exponential", "noisy-counts"])
def test_one_record_changes_no_error_warning_or_log_line(mechanism, what, X, y):
    clf = DPGreedyRuleListClassifier(
        mechanism=mechanism, epsilon=0.5, delta=delta_for(mechanism), min_support=5, schema=SCHEMA
    )
    less = X[:-1] if isinstance(X, list) else X.iloc[:-1]
    with_it, without = observed(lambda: clf.fit(X, y)), observed(lambda: clf.fit(less, y[:-1]))
    assert with_it == without
    out, err, log, warned, error = observed(lambda: clf.fit(X, y).predict(X))
    assert (out, err, log, error) == ("", "", "", None)
    assert warned == with_it[3]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_empty_and_constant_tables_are_fitted_like_any_other(mechanism):
    X, y = people()
    clf = DPGreedyRuleListClassifier(mechanism=mechanism, epsilon=0.5, delta=delta_for(mechanism), schema=SCHEMA)
    for table, labels in ((X.head(0), y[:0]), (X.assign(age=1.0, job="clerk", smokes=True), y)):
        clf.fit(table, labels)
        assert clf.classes_.tolist() == ["no", "yes"]
        assert set(clf.predict(X)) <= {"no", "yes"}
    booleans = np.zeros((0, 3), dtype=bool)
    assert DPGreedyRuleListClassifier(mechanism=mechanism, epsilon=0.5, delta=delta_for(mechanism)).fit(
        booleans, []
    ).classes_.tolist() == [
        0,
        1,
    ]


def test_the_papers_setting_needs_no_schema():
    X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    for table in (X, pl.DataFrame({c: X[c].to_numpy() for c in X}), X.to_numpy(), X.to_numpy().astype(np.int8)):
        clf = DPGreedyRuleListClassifier(mechanism="gl-exponential", epsilon=100.0).fit(table, y)
        assert clf.classes_.tolist() == [0, 1]
        assert clf.score(table, y) > 0.5
        assert (
            DPGreedyRuleListClassifier(mechanism="gl-exponential", epsilon=100.0)
            .fit(table, y == 1)
            .predict(table)
            .dtype.kind
            == "i"
        )


GOOD = people()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"epsilon": 0}, ValueError, "epsilon must be above 0"),
        ({"epsilon": -1.0}, ValueError, "epsilon"),
        ({"epsilon": float("nan")}, ValueError, "epsilon must be a finite number"),
        ({"epsilon": float("inf")}, ValueError, "epsilon must be a finite number"),
        ({"epsilon": "1"}, ValueError, "epsilon"),
        ({"mechanism": "sm-laplace", "delta": 0.0}, ValueError, "delta must be above 0"),
        ({"mechanism": "sm-laplace", "delta": 1.0}, ValueError, "delta must be above 0"),
        ({"delta": 1e-6}, ValueError, "delta must be None for mass"),
        ({"counts_share": 0.0}, ValueError, "counts_share must be from"),
        ({"counts_share": 1.0}, ValueError, "counts_share must be from"),
        ({"counts_share": None}, ValueError, "counts_share must be a finite number"),
        ({"mechanism": "gl-laplace", "delta": 1e-6}, ValueError, "delta must be None for gl-laplace"),
        ({"mechanism": "laplace"}, ValueError, "mechanism must be one of mass, "),
        ({"min_support": 0}, ValueError, "min_support"),
        ({"min_support": 0.0}, ValueError, "min_support"),
        ({"min_support": 1.5}, ValueError, "min_support"),
        ({"confidence": 0.5}, ValueError, "confidence must be above 1/2"),
        ({"confidence": 1.0}, ValueError, "confidence"),
        ({"max_length": 0}, ValueError, "max_length"),
        ({"max_literals": 0}, CandidatesError, "max_literals"),
        ({"schema": None}, SchemaError, "needs a schema"),
        ({"schema": "x.toml"}, SchemaError, r"schema='x.toml': No such file"),
        ({"schema": {"age": "numeric"}}, SchemaError, "schema must be a Schema, a draft of one, or the path"),
        ({"exclude": ["sex"]}, SchemaError, "'sex'"),
        ({"ledger": 3.0}, TypeError, "ledger must be a Ledger"),
        (
            {"schema": Schema([Numeric("age", cuts=[3], low=0, high=9, outside="error")])},
            SchemaError,
            'says outside = "error"',
        ),
        (
            {"mechanism": "sm-laplace", "schema": Schema(SCHEMA.columns, classes=("a", "b", "c"))},
            SchemaError,
            "Only binary",
        ),
        ({"schema": Schema([Boolean("gone")])}, SchemaError, "'gone'"),
    ],
)
def test_bad_parameters_are_named(parameters, error, message):
    with pytest.raises(error, match=message):
        DPGreedyRuleListClassifier(**({"schema": SCHEMA} | parameters)).fit(*GOOD)


def test_lengths_must_agree_and_weights_are_refused():
    X, y = GOOD
    with pytest.raises(ValueError, match="differ in length") as raised:
        DPGreedyRuleListClassifier(schema=SCHEMA).fit(X, y[:-1])
    assert "40" not in str(raised.value)
    with pytest.raises(TypeError, match="sample_weight"):
        DPGreedyRuleListClassifier(schema=SCHEMA).fit(X, y, sample_weight=np.ones(40))
    with pytest.raises(SchemaError, match="dates"):
        DPGreedyRuleListClassifier(schema=SCHEMA).fit(X.assign(age=pd.Timestamp("2020-01-01")), y)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_statements_say_what_is_proved_and_why_not(mechanism):
    X, y = GOOD
    delta = delta_for(mechanism)
    clf = DPGreedyRuleListClassifier(mechanism=mechanism, epsilon=0.7, delta=delta, min_support=5, schema=SCHEMA).fit(
        X, y
    )
    statement = clf.privacy_
    assert (mechanism == "mass") <= (statement.published is None)
    if statement.published is None:
        assert (statement.proved.epsilon, statement.proved.delta) == (0.7, 0.0)
    else:
        assert statement.published.epsilon == 0.7
        assert statement.published.delta == (delta or 0.0)
        assert statement.proved.epsilon <= 0.7
    assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert "one record more" in str(statement)
    cases = [
        ({"random_state": 0}, "seeded"),
        ({"candidates": ["smokes"]}, "mined"),
        ({"schema": None, "infer_schema": True}, "infer_schema"),
    ]
    if MECHANISMS[mechanism].needs_delta:
        cases.append(({"delta": None}, "1/n^2"))
    if MECHANISMS[mechanism].needs_support:
        cases.append(({"min_support": 0.1}, "share of the private number"))
    labels = y.copy()
    labels[0] = "yes"
    for change, reason in cases:
        other = clone(clf).set_params(**change).fit(X, labels).privacy_
        assert other.proved is None
        assert not other.claim_is_proved
        assert any(reason in because for because in other.because)
        assert "NO PRIVACY IS PROVED" in str(other)
        assert PrivacyStatement.from_json(other.to_json()) == other
    text = str(clone(clf).set_params(delta=None).fit(X, y).privacy_) if MECHANISMS[mechanism].needs_delta else ""
    assert "6.25e-04" not in text  # 1 / 40^2 would give the number of records away
    assert "0.000625" not in text


def test_a_statement_that_is_none_is_refused():
    for text in ("", "{}", "[]", '{"format": "discreet privacy statement", "version": 9}'):
        with pytest.raises(ValueError, match="not a discreet privacy statement"):
            PrivacyStatement.from_json(text)


def test_pipelines():
    data = load_adult(binary=True, sensitive=False)
    clf = DPGreedyRuleListClassifier(mechanism="gl-exponential", epsilon=10.0, random_state=0)
    pipe = make_pipeline(FunctionTransformer(), clf).set_output(transform="pandas").fit(data.data, data.target)
    assert list(pipe[-1].feature_names_in_) == list(data.data.columns)
    again = pickle.loads(pickle.dumps(pipe))
    assert (again.predict(data.data) == pipe.predict(data.data)).all()
    assert again[-1].privacy_ == pipe[-1].privacy_


def test_two_fits_do_not_share_their_noise():
    X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    clf = DPGreedyRuleListClassifier(mechanism="gl-laplace", epsilon=0.1, max_length=1)
    drawn = {clf.fit(X, y).rule_list_.default.counts for _ in range(20)}
    assert len(drawn) > 15


def test_what_encoders_give_sparse_or_not_is_learned_from_alike():
    data = load_compas(sensitive=False)
    encoded = ColumnTransformer(
        [("degree", OneHotEncoder(), ["c_charge_degree"])],
        sparse_threshold=1.0,
    )
    for learner in (DPGreedyRuleListClassifier(random_state=1), GreedyRuleListClassifier()):
        sparse, dense = (
            make_pipeline(encoded, *dense, clone(learner)).fit(data.data, data.target)
            for dense in ([], [FunctionTransformer(lambda X: X.toarray(), accept_sparse=True)])
        )
        assert issparse(sparse[0].transform(data.data))
        assert str(sparse[-1]) == str(dense[-1])
        assert (sparse.predict(data.data) == dense.predict(data.data)).all()


def test_a_target_among_the_columns_is_no_feature(tmp_path):
    data = load_compas(sensitive=False)
    data.schema.save(tmp_path / "schema.toml")
    for schema in (data.schema, tmp_path / "schema.toml"):
        whole = DPGreedyRuleListClassifier(schema=schema, random_state=2).fit(data.frame, data.target)
        assert str(whole) == str(DPGreedyRuleListClassifier(schema=schema, random_state=2).fit(data.data, data.target))
        assert (whole.predict(data.frame) == whole.predict(data.data)).all()
        assert len(whole.feature_importances_) == len(whole.feature_names_in_) == data.data.shape[1]


def test_labels_of_a_type_that_no_class_has_are_refused():
    data = load_adult()
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(SchemaError, match="y holds numbers, but the classes of the schema are strings"):
        DPGreedyRuleListClassifier(schema=data.schema, ledger=ledger).fit(data.data, np.zeros(len(data.data), int))
    assert not ledger.entries


@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_array, lil_array, csr_matrix])
@pytest.mark.parametrize("records", [0, 1, 30])
def test_sparse_columns_of_any_kind_are_learned_from(kind, records):
    X = kind(np.eye(30, 4)[:records])
    clf = DPGreedyRuleListClassifier(random_state=0).fit(X, np.arange(records) % 2)
    assert len(clf.predict(kind(np.eye(3, 4)))) == 3
    with pytest.raises(SchemaError, match="needs a schema"):
        DPGreedyRuleListClassifier(random_state=0).fit(
            kind(np.eye(30, 4)[:records]).astype(complex), np.arange(records) % 2
        )

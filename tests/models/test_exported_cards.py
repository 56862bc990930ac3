"""Score cards elsewhere: SQL, Python, ONNX and PMML give the labels and shares of ``predict`` and ``predict_proba``."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

from discreet import DPScoreCardClassifier, Literal, Schema, ScoreCardClassifier
from discreet._utils.errors import RuleError
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.models.partition import Answer
from discreet.models.score_card import Card, PointsTable, ScoreCard

from ..estimators.test_tree_estimators import IRIS
from ..models.test_partitions import CLASSES, COOK, MEMBER, MIDDLE, RECORDS, SCHEMA, TABLE, YOUNG, X
from ..support.scorers import Onnx, scorer  # noqa: F401  (a fixture)
from ..support.slices import slow_but
from .test_exports import answers, check_python, check_sql, function, load
from .test_scorers import check

DATA = {"compas": load_compas, "german": load_german_credit, "adult": load_adult}
FITS = {
    "all columns": {},
    "four columns": {"max_columns": 4},
    "with a tree": {"tree_depth": 1},
    "decimals": {"points": "decimals"},
}
THREE = Schema(SCHEMA.columns, target="ill", classes=["no", "yes", "unsure"])
MISSING = Literal("age", "is missing")

AGES = PointsTable("age", (((YOUNG,), 3), ((MIDDLE,), 1.5), ((MISSING,), 7), ((), -0.25)))
JOBS = PointsTable("job", (((COOK,), 2), ((), 0)))
SHARES = (0.9, 0.1), (0.625, 0.375), (0.25, 0.75)
ONE = ScoreCard(
    (Card(-1, (AGES, JOBS)),),
    (1.0, 3.5),
    tuple(Answer(label, shares=s) for label, s in zip(("no", "no", "yes"), SHARES, strict=True)),
    CLASSES,
    SCHEMA,
)
SEVERAL = ScoreCard((Card(-2, (JOBS,), (MEMBER,)), Card(0, (AGES,))), ONE.limits, ONE.answers, CLASSES, SCHEMA)
BY_CLASS = ScoreCard(
    (
        Card((0, 0, 0), (PointsTable("job", (((COOK,), (0, 1, 0)), ((), (1, 2, 2)))),), (MEMBER,)),
        Card(
            (-3, 0, 1),
            (
                PointsTable("age", (((YOUNG,), (0, 5, 9)), ((MIDDLE,), (6.25, 0, 1)), ((), (4, 4, 0)))),
                PointsTable("job", (((COOK,), (0, 0, 0)), ((), (1, 2.1, 0.3)))),
            ),
        ),
    ),
    (),
    (),
    THREE.classes,
    THREE,
)
BINARY = {"one": ONE, "several": SEVERAL}


def columns_of(data, names):
    return {n: data.data[n].astype(object).where(data.data[n].notna(), None).to_numpy() for n in names}


@pytest.mark.parametrize("model", BINARY.values(), ids=BINARY)
def test_missing_and_odd_values(model, duckdb_engine):
    load(duckdb_engine, TABLE)
    check_sql(duckdb_engine, model, TABLE)
    check_python(model, X, len(RECORDS))
    assert set(model.captures(X)) == {0, 1, 2}


@pytest.mark.parametrize("model", BINARY.values(), ids=BINARY)
def test_missing_and_odd_values_in_scoring_engines(model, scorer):  # noqa: F811
    check(scorer, model, X)


@pytest.mark.parametrize(
    ("name", "fit"),
    slow_but(
        [(name, fit) for name in DATA for fit in FITS],
        [("compas", "with a tree"), ("compas", "decimals"), ("german", "all columns"), ("adult", "four columns")],
    ),
)
def test_every_record_of_a_table(name, fit, duckdb_engine):
    data = DATA[name]()
    model = ScoreCardClassifier(schema=data.schema, **FITS[fit]).fit(data.data, data.target).card_
    expected, shares = model.predict(data.data), model.predict_proba(data.data)
    columns = columns_of(data, model.used_columns)
    load(duckdb_engine, pa.Table.from_pandas(data.data[model.used_columns], preserve_index=False))
    assert answers(duckdb_engine, model.to_sql()) == expected.tolist()
    second = model.classes[1]
    assert answers(duckdb_engine, model.to_sql(share_of=second)) == shares[:, 1].tolist()
    labels, given = Onnx()(model, columns)
    assert labels == expected.tolist()
    assert given.tolist() == shares.tolist()
    predict, share = function(model.to_python()), function(model.to_python("share", share_of=second), "share")
    some = slice(None, None, 1 + len(expected) // 5000)  # Python takes a record at a time
    for i in range(len(expected))[some]:
        record = {column: values[i] for column, values in columns.items()}
        assert predict(record) == expected[i]
        assert share(record) == shares[i, 1]


def test_monotone_and_private_cards_too(duckdb_engine, scorer):  # noqa: F811
    data = load_compas()
    clf = DPScoreCardClassifier(epsilon=0.5, monotonic_cst={"priors_count": 1}, schema=data.schema).fit(
        data.data, data.target
    )
    check(scorer, clf.card_, columns_of(data, clf.card_.used_columns))


def test_labels_of_pmml_keep_their_types(scorer):  # noqa: F811
    for labels in (("<=50K & more", ' ">" '), (0, 1), (False, True), (0.5, 2.0)):
        pair = tuple(Answer(label, shares=s) for label, s in zip(labels, SHARES[::2], strict=True))
        check(scorer, ScoreCard((Card(-1, (AGES, JOBS)),), (1.0,), pair, labels, Schema(SCHEMA.columns)), X)
    for answer in (Answer("no"), Answer(1)):  # a total that means nothing
        check(scorer, ScoreCard((Card(-1, (AGES,)),), (), (answer,), (answer.label,), Schema(SCHEMA.columns)), X)


# --- more than two classes -----------------------------------------------------------------------------------------------------


def by_hand(card, record_bins):
    """Totals of a card for each class, table by table."""
    totals = np.array(card.start)
    for table in card.tables:
        for condition, points in table.rows:
            if all(THREE[x.column].where(x.op, x.value)[record_bins[x.column]] for x in condition):
                totals = totals + points
                break
    return totals


def test_the_class_with_the_largest_total_is_the_answer():
    bins = {name: THREE[name].encode(X[name]) for name in THREE.names}
    labels, shares = BY_CLASS.predict(X), BY_CLASS.predict_proba(X)
    for i in range(len(RECORDS)):
        own = {name: values[i] for name, values in bins.items()}
        card = BY_CLASS.cards[0 if X["member"][i] is True else 1]
        totals = by_hand(card, own)
        assert labels[i] == THREE.classes[int(np.flatnonzero(totals == totals.max())[0])]
        odds = 2 ** (totals / 10)
        assert shares[i].tolist() == pytest.approx((odds / odds.sum()).tolist(), rel=1e-12)
    assert set(labels) == set(THREE.classes)


def check_by_class(engine, model, table, columns, n):
    load(engine, table)
    expected, shares = model.predict(columns).tolist(), model.predict_proba(columns)
    assert answers(engine, model.to_sql(engine.dialect)) == expected
    records = [{name: values[i] for name, values in columns.items()} for i in range(n)]
    predict = function(model.to_python())
    assert [predict(record) for record in records] == expected
    for i, label in enumerate(model.classes):
        given = answers(engine, model.to_sql(engine.dialect, share_of=label))
        assert given == pytest.approx(shares[:, i].tolist(), rel=1e-12)
        share = function(model.to_python("share", share_of=label), "share")
        assert [share(record) for record in records] == pytest.approx(shares[:, i].tolist(), rel=1e-12)
    labels, given = Onnx()(model, columns)
    assert labels == expected
    assert np.allclose(given, shares, rtol=1e-12, atol=0)


def test_three_classes_elsewhere(engine):
    check_by_class(engine, BY_CLASS, TABLE, X, len(RECORDS))


def test_three_learned_classes_elsewhere(duckdb_engine):
    table, y = load_iris(return_X_y=True, as_frame=True)
    for parameters in ({}, {"tree_depth": 1, "points": "decimals"}):
        model = ScoreCardClassifier(schema=IRIS, **parameters).fit(table, y).card_
        columns = {name: table[name].to_numpy() for name in model.used_columns}
        arrow = pa.Table.from_pandas(pd.DataFrame(columns), preserve_index=False)
        check_by_class(duckdb_engine, model, arrow, columns, len(y))


def test_totals_far_apart_are_shares_everywhere(engine):
    far = PointsTable("job", (((COOK,), (9e6, 0, -9e6)), ((), (0, 9e6, 9e6))))
    model = ScoreCard((Card((0, 0, 0), (far,)),), (), (), THREE.classes, THREE)
    check_by_class(engine, model, TABLE, X, len(RECORDS))
    assert model.predict_proba({"job": ["cook"]}).round(6).tolist() == [[1.0, 0.0, 0.0]]
    assert model.predict_proba({"job": ["clerk"]}).round(6).tolist() == [[0.0, 0.5, 0.5]]
    assert model.predict({"job": ["clerk"]}).tolist() == ["yes"]  # the first of equals


def test_a_card_for_three_classes_that_asks_nothing(duckdb_engine):
    model = ScoreCard((Card((0, 3, 1), ()),), (), (), THREE.classes, THREE)
    load(duckdb_engine, TABLE)
    assert set(answers(duckdb_engine, model.to_sql())) == {"yes"}
    labels, shares = Onnx()(model, X)
    assert set(labels) == {"yes"}
    assert np.allclose(shares, model.predict_proba(X), rtol=1e-12)


def test_pmml_refuses_points_for_each_class():
    with pytest.raises(
        RuleError, match="points for each of 3 classes, and a Scorecard of PMML adds up one total; write SQL"
    ):
        BY_CLASS.to_pmml()


def test_it_is_read_back_and_prints():
    assert ScoreCard.from_json(BY_CLASS.to_json()) == BY_CLASS
    lines = str(BY_CLASS).splitlines()
    assert lines[0] == "if member:"
    assert lines[1].split() == ["no", "yes", "unsure"]
    assert lines[2].split() == ["start", "0", "0", "0"]
    assert "10 points more double the odds" in lines[-1]


@pytest.mark.parametrize(
    ("cards", "answers_given", "limits", "message"),
    [
        ((Card((0, 0), ()),), (), (), "one for each class everywhere"),
        ((Card((0, 0, 0), (PointsTable("job", (((), 1),)),)),), (), (), "one for each class"),
        ((Card((0, 0, 0), ()),), (), (1.0,), "one for each class|answer"),
        ((Card((0, 0, 0), ()),), tuple(map(Answer, ("yes", "no", "unsure"))), (), "in order, and no limits"),
    ],
)
def test_points_and_answers_that_do_not_go_together_are_refused(cards, answers_given, limits, message):
    with pytest.raises(RuleError, match=message):
        ScoreCard(cards, limits, answers_given, THREE.classes, THREE)


def test_a_line_of_a_card_may_rest_on_several_tests():
    rows = (((~YOUNG, MIDDLE), 2), ((), 0))
    card = ScoreCard((Card(-1, (PointsTable("age", rows),)),), (0,), tuple(map(Answer, CLASSES)), CLASSES, SCHEMA)
    assert f"age   above {YOUNG.value:g} up to {MIDDLE.value:g}" in str(card)
    assert check_python(card, {"age": [20, 35, 60, None]}, 4) is None

"""What went wrong once when someone tried odd tables, and must not again."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import cross_val_score

from discreet import Boolean, Categorical, GreedyRuleListClassifier, Ignored, Numeric, RuleList, Schema
from discreet._utils.errors import CandidatesError, RuleError, SchemaError
from discreet._utils.tables import as_table
from discreet.rules.candidates import Candidates
from discreet.schema.inference import infer_schema

ODD = [
    *(
        None,
        math.nan,
        pd.NA,
        pd.NaT,
        1,
        1.0,
        True,
        np.bool_(True),
        "1",
        b"1",
        Decimal("1.00"),
        Fraction(1),
        np.int64(1),
    ),
    *(
        0,
        "yes",
        "a",
        "",
        [1],
        [],
        {},
        10**400,
        -(10**400),
        2**60 + 1,
        1.5,
        "1.5",
        "abc",
        3 + 0j,
        math.inf,
        "nan",
        "1_0",
    ),
]


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    "column",
    [
        Categorical("c", True, categories=["a", "1", 2**60 + 1], outside="none"),
        Boolean("c", True),
        Numeric("c", True, cuts=(0, 1, 5)),
    ],
)
def test_no_value_changes_what_another_is_taken_for(column):
    alone = [column.encode(objects([v]))[0] for v in ODD]
    for i, v in enumerate(ODD):
        for w in ODD:
            assert column.encode(objects([v, w]))[0] == alone[i], (v, w)


def test_a_missing_number_elsewhere_does_not_blur_whole_numbers():
    column = Categorical("c", True, categories=[2**60 + 1], outside="none")
    for values in ([2**60 + 1], [2**60 + 1, None]):
        for frame in (pl.DataFrame({"c": values}), pd.DataFrame({"c": pd.array(values, dtype="Int64")})):
            assert column.encode(as_table(frame).column("c"))[0] == 0


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("job is missing", {"job": ["a", math.nan]}, [0, 1]),
        ("job = 1", {"job": [1.0, "a"]}, [1, 0]),
        ("age <= 1", {"age": np.ma.array([1, 1], mask=[0, 1])}, [1, 0]),
        ("job = a", {"job": np.array([b"a", b"b"])}, [1, 0]),
        ("job = a", {"job": np.array(["a", "b"])}, [1, 0]),
    ],
)
def test_mappings_keep_what_they_hold(text, column, expected):
    assert RuleList.parse(f"if {text} then 1 else 0").predict(column).tolist() == expected


@pytest.mark.parametrize("column", [1, np.array([[1, 2], [3, 4]])])
def test_a_mapping_of_something_else_is_refused(column):
    with pytest.raises(SchemaError, match="'age' must be a list"):
        RuleList.parse("if age <= 1 then 1 else 0").predict({"age": column})


def test_values_outside_that_count_as_missing_are_a_literal():
    schema = Schema([Categorical("job", categories=["a"], outside="missing"), Numeric("age", cuts=[3])])
    X = pd.DataFrame({"job": ["a", "zz"] * 50, "age": range(100)})
    assert str(GreedyRuleListClassifier(schema=schema).fit(X, np.arange(100) % 2)) == "if job = a then 0\nelse 1"
    bounded = Schema([Numeric("age", cuts=[30], low=0, high=50, outside="missing")])
    clf = GreedyRuleListClassifier(schema=bounded).fit(X, X["age"] > 50)
    assert str(clf) == "if age is missing then True\nelse False"


def test_no_rule_may_use_an_ignored_column():
    with pytest.raises(RuleError, match="ignored, or excluded"):
        RuleList.parse("if id is missing then 1 else 0", schema=Schema([Ignored("id"), Boolean("b")]))


def test_spread_cuts_stay_inside_and_apart():
    assert Numeric("a", low=1_000_000, high=1_000_010, n_cuts=9).all_cuts == tuple(range(1_000_001, 1_000_010))
    cuts = np.array(Numeric("a", low=20200101, high=20201231, n_cuts=5).all_cuts)
    assert np.ptp(np.diff(cuts)) < 1
    assert Numeric("a", low=-1.7e308, high=1.7e308, n_cuts=1).all_cuts == (0,)
    with pytest.raises(SchemaError, match="too close, or too far"):
        Numeric("a", low=1.0, high=math.nextafter(1.0, 2.0), n_cuts=3)


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.integers(1, 50))
def test_spread_cuts_are_as_many_as_asked_for(low, width, n):
    cuts = Numeric("a", low=low, high=low + width, n_cuts=n).all_cuts
    assert len(cuts) == n
    assert low < cuts[0]
    assert cuts[-1] < low + width


def test_cuts_beyond_the_bounds_make_no_candidates():
    schema = Schema([Numeric("age", low=0, high=100, cuts=[-5, 50, 100, 150])])
    assert [str(r) for r in Candidates.of_schema(schema)] == ["age <= 50", "age > 50"]


def test_inferred_deciles():
    assert infer_schema(as_table(pd.DataFrame({"x": range(1, 101)})))["x"].cuts == tuple(range(10, 100, 10))


def test_scorers_work_whatever_the_order_of_classes_in_the_schema():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(0, 100, 500)})
    y = np.where(X["age"] + rng.normal(0, 20, 500) > 50, "high", "low")
    schema = Schema([Numeric("age", cuts=[20, 40, 60, 80])], classes=["low", "high"])
    clf = GreedyRuleListClassifier(schema=schema)
    assert cross_val_score(clf, X, y, scoring="roc_auc").mean() > 0.85
    assert cross_val_score(clf, X, y, scoring="neg_log_loss").mean() > -0.5
    assert CalibratedClassifierCV(clf).fit(X, y).score(X, y) > 0.75


def test_without_a_schema_new_values_at_prediction_are_no_error():
    rng = np.random.default_rng(0)
    job = rng.choice(["a", "b", "c"], 300).astype(object)
    job[7] = "rare"
    X = pd.DataFrame({"job": job, "flag": rng.integers(0, 2, 300)})
    y = rng.integers(0, 2, 300)
    assert cross_val_score(GreedyRuleListClassifier(max_length=8), X, y, error_score="raise").shape == (5,)
    clf = GreedyRuleListClassifier().fit(X, y)
    assert len(clf.predict(X.assign(flag=2, job=None))) == 300


def test_frames_and_arrays_may_be_mixed_as_elsewhere_in_scikit_learn():
    X = pd.DataFrame({"m": np.arange(20.0), "i": np.arange(20) % 3})
    y = X["m"] > 9
    by_frame = GreedyRuleListClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (by_frame.predict(X.to_numpy()) == y).all()
    by_array = GreedyRuleListClassifier().fit(X.to_numpy(), y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert (by_array.predict(X) == y).all()


SECRET = "secret-Bob"


@pytest.mark.parametrize(
    "X",
    [
        np.array([[SECRET, 1], ["x", 2]], dtype=object),
        pd.DataFrame([[SECRET, 1], ["x", 2]]),
        np.array([41.5, 77.25]),
        {"a": np.array([41.5, 77.25])},
        [[SECRET, 1], ["x", 2]],
        [41.5, 77.25],
    ],
)
def test_no_message_shows_a_value(X):
    with pytest.raises(
        ValueError, match=r"X must be a data frame|not compatible with arrays of bytes/strings"
    ) as raised:
        GreedyRuleListClassifier().fit(X, [0, 1])
    assert SECRET not in str(raised.value)
    assert "41.5" not in str(raised.value)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", None, "b", "a"], "missing labels"),
        (np.array([0, 1, None, 1], dtype=object), "missing labels"),
        (pd.array([True, False, None, True], dtype="boolean"), "missing labels"),
        (pd.to_datetime(["2020-01-01"] * 4), "dates"),
        ([0.5, 1.5, 2.5, 3.5], "Unknown label type"),
    ],
)
def test_odd_labels_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        GreedyRuleListClassifier().fit(pd.DataFrame({"a": [1, 2, 3, 4]}), y)


def test_labels_and_classes_are_of_one_kind():
    X = pd.DataFrame({"a": [True, False] * 4})
    for classes, y in ((["0", "1"], [0, 1] * 4), ([0, 1], ["0", "1"] * 4)):
        schema = Schema([Boolean("a")], classes=classes)
        with pytest.raises(SchemaError, match="both strings or both numbers"):
            GreedyRuleListClassifier(schema=schema).fit(X, y)
    with pytest.raises(SchemaError, match="all strings or all numbers"):
        Schema([Boolean("a")], classes=[1, "a"])
    objects_of_bool = np.array([True, False] * 4, dtype=object)
    assert GreedyRuleListClassifier().fit(X, objects_of_bool).classes_.tolist() == [False, True]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, "1"] * 20, "categorical"),
        ([True, "x"] * 20, "categorical"),
        ([1.5, 2.5, 3.5, None] * 20, "numeric"),
        ([Decimal("1.5"), Decimal("2.5")] * 20, "numeric"),
        ([[1], [2]] * 20, "ignore"),
    ],
)
def test_inference_on_objects(values, kind):
    frame = pd.DataFrame({"c": pd.Series(values, dtype=object)})
    assert infer_schema(as_table(frame))["c"].kind == kind
    assert infer_schema(as_table(frame), exclude=["c"])["c"].kind == "ignore"


def test_nested_columns_are_left_alone():
    X = pl.DataFrame({"s": [{"a": 1}, {"a": 2}] * 4, "l": [[1], [2, 3]] * 4, "x": [1, 2] * 4})
    assert GreedyRuleListClassifier().fit(X, [0, 1] * 4).score(X, [0, 1] * 4) == 1.0


def test_large_requests_answer_soon():
    wide = Schema([Categorical("c", categories=[f"v{i}" for i in range(60)])])
    with pytest.raises(CandidatesError, match=r"'c' alone gives more than 100,000 conjunctions"):
        Candidates.of_schema(wide, max_literals=10)
    assert len(Candidates.of_schema(Schema.of_booleans(["a", "b"]), max_literals=10**6)) == 8
    fine = Schema([Numeric("x", low=0, high=1, n_cuts=1000)])
    assert len(Candidates.of_schema(fine)) == 2000
    with pytest.raises(SchemaError, match="from 1 to 1000"):
        Numeric("x", low=0, high=1, n_cuts=1001)


def test_many_fine_cuts_can_be_learned_from():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{i}": rng.random(2000) for i in range(5)})
    schema = Schema([Numeric(f"x{i}", low=0, high=1, n_cuts=500) for i in range(5)])
    clf = GreedyRuleListClassifier(schema=schema, max_length=2).fit(X, X["x3"] > 0.7)
    assert clf.score(X, X["x3"] > 0.7) > 0.995


def test_json_is_json():
    text = RuleList.parse("if age >= 3 then 1 else 0").to_json()
    assert "Infinity" not in text
    json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert str(RuleList.from_json(text)) == "if age >= 3 then 1\nelse 0"


def test_numpy_scalars_in_schemas():
    schema = Schema(
        [Boolean("a", missing=np.bool_(True)), Numeric("b", low=0, high=1, n_cuts=np.int64(3))],
        classes=np.array([0.5, 1.5]),
    )
    assert Schema.from_toml(schema.to_toml()) == schema


def test_schema_files_of_other_editors(tmp_path):
    (tmp_path / "bom.toml").write_text("[columns.a]\ntype = 'boolean'\n", encoding="utf-8-sig")
    assert Schema.load(tmp_path / "bom.toml").names == ["a"]
    (tmp_path / "latin.toml").write_bytes("[columns.ä]\ntype = 'boolean'\n".encode("latin-1"))
    with pytest.raises(SchemaError, match="UTF-8"):
        Schema.load(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("age in [1,2]", "age in [1, 2]"),
        ("age not in [ 1 , 2 ]", "age not in [1, 2]"),
        ("age <= .5", "age <= 0.5"),
        ("age > 1E5", "age > 100000"),
    ],
)
def test_numbers_may_be_written_in_other_ways(text, shown):
    assert str(RuleList.parse(f"if {text} then 1 else 0")).startswith(f"if {shown} then")


@pytest.mark.parametrize("text", ["age <= [5,]]", "age in 1 2", "age in [1 2]", "age = " + "9" * 5000])
def test_but_not_in_any_way(text):
    with pytest.raises(RuleError):
        RuleList.parse(f"if {text} then 1 else 0")


def test_a_target_is_no_column():
    with pytest.raises(SchemaError, match="both the target and a column"):
        Schema([Boolean("y")], target="y")


def test_infinities_are_numbers():
    X = np.array([[-np.inf], [0.0], [1.0], [np.inf]])
    assert GreedyRuleListClassifier(max_length=3).fit(X, [0, 0, 1, 1]).score(X, [0, 0, 1, 1]) == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"exclude": 5}, "exclude must be a list"),
        ({"exclude": "a"}, "exclude must be a list"),
        ({"candidates": "a"}, "candidates must be a list"),
        ({"negations": "no"}, "negations must be"),
    ],
)
def test_parameters_of_the_wrong_type(parameters, message):
    with pytest.raises(ValueError, match=message):
        GreedyRuleListClassifier(**parameters).fit(pd.DataFrame({"a": [1, 2, 3, 4]}), [0, 1, 0, 1])

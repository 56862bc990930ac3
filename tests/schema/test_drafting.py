"""Schemas drafted from public samples and data dictionaries."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine

from discreet import (
    Boolean,
    Categorical,
    DPOptimalRuleListClassifier,
    Ignored,
    Numeric,
    Schema,
    draft_from_dictionary,
    draft_schema,
)
from discreet._utils.errors import SchemaError
from discreet._utils.tables import as_table
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.rules.candidates import Candidates
from discreet.schema.columns.numeric import around, even_cuts, log_cuts

from ..support.marked_values import TEXT, shows_a_mark


def accepts(schema, frame):
    """Whether a non-private learner, which stops at what a schema did not foresee, can read the table."""
    table = as_table(frame)
    for column in schema.used:
        column.encode(table.column(column.name), strict=True)


def round_trips(draft):
    text = draft.to_toml()
    assert Schema.from_toml(text) == draft.schema
    assert not draft.schema.inferred
    return text


def column(values, **more):
    """The one column that is drafted from these values."""
    draft = draft_schema({"x": values}, **more)
    round_trips(draft)
    return draft.schema["x"]


@pytest.fixture(scope="module")
def hospital():
    rng = np.random.default_rng(0)
    n = 2000
    words = np.array("patient reports pain in the left knee after a fall at home and cannot sleep well".split())
    start = pd.Timestamp("2023-01-01")
    frame = pd.DataFrame(
        {
            "patient_id": rng.permutation(np.arange(100_000, 100_000 + n)),
            "name": [f"Person {i}" for i in range(n)],
            "admitted": start + pd.to_timedelta(rng.integers(0, 500, n), "D"),
            "discharged": [f"{d:%d.%m.%Y}" for d in start + pd.to_timedelta(rng.integers(0, 500, n), "D")],
            "born": rng.integers(1930, 2005, n) * 10_000 + 101 + rng.integers(0, 12, n) * 100,
            "notes": [" ".join(rng.choice(words, 12)) for _ in range(n)],
            "age": rng.integers(0, 101, n).astype(float),
            "cost": np.round(np.exp(rng.normal(7, 1.5, n)), 2),
            "visits": rng.poisson(2, n),
            "smoker": rng.integers(0, 2, n),
            "diabetic": rng.choice(["yes", "no"], n),
            "triage": rng.choice([1, 2, 9], n),
            "ward": rng.choice(["surgery", "children", "heart", "rare"], n, p=[0.5, 0.3, 0.199, 0.001]),
            "hospital": ["Central"] * n,
            "postcode": rng.choice(["01067", "80331"], n),
            "readmitted": rng.choice(["no", "yes"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "ward"] = None
    return frame


def test_a_hospital_table(hospital):
    draft = draft_schema(hospital, "readmitted", source="made_up.csv")
    schema = draft.schema
    ignored = {c.name for c in schema.columns if isinstance(c, Ignored)}
    assert ignored == {"patient_id", "name", "discharged", "born", "notes", "hospital"}
    assert [str(day) for day in schema["admitted"].cuts[:2]] == ["2023-02-01", "2023-03-01"]
    assert len(schema["admitted"].cuts) <= 20
    assert set(draft.comments) >= ignored  # each says why
    assert "identifier" in draft.comments["patient_id"]
    assert "dates" in draft.comments["discharged"]
    assert draft.comments["notes"] == "free text"
    assert schema["age"] == Numeric("age", True, cuts=tuple(range(0, 100, 5)), low=0, high=100)
    assert {10, 100, 1000, 10_000} & set(schema["cost"].cuts) >= {100, 1000, 10_000}
    assert "orders of magnitude" in draft.comments["cost"]
    assert schema["visits"].cuts == tuple(range(int(hospital.visits.max())))
    assert schema["smoker"] == Boolean("smoker")
    assert schema["diabetic"] == Boolean("diabetic")
    assert schema["triage"].cuts == (1, 2)
    assert any("'triage'" in note and "categorical" in note for note in draft.notes)
    assert schema["ward"] == Categorical("ward", True, categories=("children", "heart", "surgery"), outside="other")
    assert schema["postcode"].categories == ("01067", "80331")
    assert (schema.target, schema.classes) == ("readmitted", ("no", "yes"))
    accepts(schema, hospital)
    text = round_trips(draft)
    assert "made from made_up.csv" in text
    assert "must not have been made from the private" in text.replace("\n#", "")
    assert "# free text\n[columns.notes]\n" in text
    shown = "\n".join(draft.notes)
    assert not any(value in shown for value in ("surgery", "Central", "Person", "01067"))


def test_pandas_and_polars_agree(hospital):
    draft = draft_schema(hospital, "readmitted")
    assert draft_schema(pl.from_pandas(hospital), "readmitted") == draft
    assert draft_schema({name: hospital[name].to_list() for name in hospital}, "readmitted") == draft


@pytest.mark.parametrize("load", [load_adult, load_compas, load_german_credit])
def test_our_own_tables(load):
    data = load()
    draft = draft_schema(data.frame, data.target.name)
    round_trips(draft)
    accepts(draft.schema, data.data)
    assert set(draft.schema.classes) == set(data.schema.classes)
    assert len(draft.schema.used) >= len(data.schema.used)
    for drafted in draft.schema.used:
        if isinstance(drafted, Numeric):
            assert all(float(f"{cut:.2g}") == cut for cut in drafted.cuts), "cuts are round"


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_tables_of_scikit_learn(load):
    frame = load(as_frame=True).frame
    schema = draft_schema(frame, "target").schema
    accepts(schema, frame)
    assert all(isinstance(c, Numeric) for c in schema.columns)
    assert len(Candidates.of_schema(schema)) < 500
    X, y = load(as_frame=True, return_X_y=True)  # read again: a fit of the frame itself is noticed
    model = DPOptimalRuleListClassifier(epsilon=10.0, max_length=2, schema=schema).fit(X, y)
    assert model.score(X, y) > 0.6
    assert model.privacy_.proved is not None


def test_fewer_cuts_where_there_are_many_columns():
    rng = np.random.default_rng(0)
    few, many = (draft_schema(pd.DataFrame(rng.random((500, k))).add_prefix("x")).schema for k in (3, 40))
    assert all(len(c.cuts) > 15 for c in few.columns)
    assert all(2 <= len(c.cuts) <= 6 for c in many.columns)
    assert all(len(c.cuts) <= 3 for c in draft_schema({"x": rng.random(500)}, n_cuts=3).schema.columns)
    for n_cuts in (0, 1.5, True, "9", 10**6):
        with pytest.raises(SchemaError, match="n_cuts"):
            draft_schema({"x": rng.random(500)}, n_cuts=n_cuts)


ODD = {
    "all missing": [None] * 30,
    "NaN only": [math.nan] * 30,
    "one value": ["a"] * 30,
    "one value or missing": [None, 3.0] * 15,
    "numbers and texts": [1, "a", 2.5] * 10,
    "many numbers and a text": [*range(100), "?"],
    "texts and lists": ["a", [1]] * 15,
    "bytes": [b"a", b"b"] * 15,
    "dates": [datetime.date(2024, 1, 1 + i % 28) for i in range(30)],
    "times": [datetime.time(i % 24) for i in range(30)],
    "zones": pd.Series(pd.date_range("2024-01-01", periods=30, tz="Europe/Berlin")),
    "durations": pd.Series(pd.to_timedelta(range(30), "D")),
    "date texts": [f"2024-01-{1 + i % 28:02d}T08:00:00Z" for i in range(30)],
    "named dates": [f"{1 + i % 28} March 2024" for i in range(30)],
    "clock": [f"{i % 24:02d}:30" for i in range(30)],
    "decimals": [Decimal(i) / 8 for i in range(30)],
    "huge": pd.Series([10**400, 1, 2] * 10, dtype=object),  # pandas 2 cannot infer a type
    "far apart": [(-1) ** i * 1e308 * (i / 30) for i in range(30)],
    "tiny": [5e-324 * i for i in range(30)],
    "close": [1.0, np.nextafter(1, 2), np.nextafter(1, 0)] * 2,
    "infinite": [math.inf, 1.0, 2.0, -math.inf] * 8,
    "infinite or one": [math.inf, 1.0] * 15,
    "infinite only": [math.inf, -math.inf] * 15,
    "categories": pd.Series(["a", "b", None] * 10, dtype="category"),
    "whole with gaps": pd.Series([1, None, 3] * 10, dtype="Int64"),
    "truths with gaps": pd.Series([True, None, False] * 10, dtype="boolean"),
    "truths as objects": [True, False, None] * 10,
    "true and false": ["True", "FALSE"] * 15,
    "numbers as texts": [str(i % 40) for i in range(100)],
    "0.0 and 1.0 as texts": ["0.0", "1.0"] * 15,
    "empty texts": ["", "a"] * 15,
    "complex": [1j, 2j] * 15,
    "periods": pd.Series(pd.period_range("2024-01", periods=30, freq="M")),
    "intervals": pd.Series(pd.arrays.IntervalArray.from_breaks(range(31))),
    "nested": pl.Series([{"a": 1}] * 30),
    "lists": pl.Series([[1, 2]] * 30),
    "polars times": pl.Series([datetime.time(i % 24) for i in range(30)]),
    "polars decimals": pl.Series([Decimal(i) for i in range(30)]),
    "small numbers": np.arange(30, dtype=np.uint8) % 11,
    "single precision": np.linspace(0, 1, 30, dtype=np.float32),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_columns(name):
    values = ODD[name]
    if isinstance(values, pl.Series):
        frame = values.to_frame("x").with_columns(other=pl.Series([1, 2, 3] * 10))
    else:
        frame = pd.DataFrame({"x": values, "other": [i % 3 for i in range(len(values))]})
    draft = draft_schema(frame)
    round_trips(draft)
    accepts(draft.schema, frame)
    kinds = {
        **dict.fromkeys(["times", "named dates", "clock", "durations"], "ignore"),
        **dict.fromkeys(["dates", "zones", "date texts"], "date"),
        **dict.fromkeys(["periods", "polars times", "all missing", "NaN only", "one value"], "ignore"),
        **dict.fromkeys(["many numbers and a text", "lists", "bytes", "nested", "infinite only"], "ignore"),
        **dict.fromkeys(["decimals", "huge", "far apart", "tiny", "infinite", "numbers as texts"], "numeric"),
        **dict.fromkeys(["truths with gaps", "truths as objects", "true and false"], "boolean"),
        **dict.fromkeys(["categories", "numbers and texts", "empty texts"], "categorical"),
    }
    assert draft.schema["x"].kind == kinds.get(name, draft.schema["x"].kind)
    if draft.schema["x"].kind == "ignore":
        assert draft.comments["x"]


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["yes", "no", "1", "0", "01", "2024-01-31", "12:00", "1e5", "?", "nan", "inf", "-0.0"]),
    st.dates(),
    st.decimals(),
    st.binary(max_size=2),
)
one_kind = st.sampled_from(
    [
        st.integers(-50, 50),
        st.integers(),
        st.floats(),
        st.floats(allow_nan=False, min_value=0),
        st.booleans(),
        st.sampled_from("abc"),
        st.one_of(st.none(), st.integers(0, 3)),
        st.one_of(st.none(), st.floats(0, 1e6)),
        st.integers(0, 40).map(str),
        values,
    ]
)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    names = draw(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
    return {name: draw(st.lists(draw(one_kind), min_size=n, max_size=n)) for name in names}


@example({"0": [False, "00"]}, None, "")  # true and false beside two texts that are the same number
@example({"0": [True, "true", "a"]}, None, "")
@given(tables(), st.integers(1, 30) | st.none(), st.text(max_size=20))
def test_any_table_is_drafted(table, n_cuts, source):
    draft = draft_schema(table, n_cuts=n_cuts, source=source)
    round_trips(draft)
    accepts(draft.schema, table)
    for drafted in draft.schema.columns:
        if isinstance(drafted, Numeric):
            assert len(drafted.cuts) <= max(20, n_cuts or 0)
            assert drafted.low is None or drafted.low <= drafted.cuts[0]
            assert drafted.high is None or drafted.cuts[-1] < drafted.high
    as_frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in table.items()})
    assert draft_schema(as_frame, n_cuts=n_cuts, source=source).schema.names == draft.schema.names


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite, st.integers(1, 50))
def test_even_cuts_lie_within_and_are_not_too_many(a, b, most):
    low, high = sorted((a, b))
    if low == high:
        return
    cuts = even_cuts(low, high, most)
    assert len(cuts) <= most
    assert cuts == sorted(set(cuts))
    assert all(low <= cut <= high for cut in cuts)
    below, above = around(low, high, most)
    assert below is None or below <= low
    assert above is None or above >= high


@given(st.floats(5e-324, 1e307), st.floats(1, 1e300), st.integers(1, 50))
def test_log_cuts_lie_within_and_are_not_too_many(low, ratio, most):
    high = min(low * ratio, 1.7e308)
    cuts = log_cuts(low, high, most)
    assert len(cuts) <= most
    assert all(low <= cut <= high for cut in cuts)
    assert cuts == sorted(set(cuts))


def test_numbers_few_and_many():
    rng = np.random.default_rng(0)
    assert column([1, 2, 9] * 20).cuts == (1, 2)
    assert column([0.5, 1.0, 2.5] * 20).cuts == (0.5, 1)
    assert column([*range(12), 0, 11] * 3).cuts == tuple(range(11))  # also where the sample had a gap
    assert column(rng.integers(17, 91, 500)).cuts == tuple(range(20, 90, 5))
    assert column(np.exp(rng.normal(5, 2, 900))).cuts[:4] == (1, 2, 5, 10)
    assert column(rng.uniform(-1, 1, 500), n_cuts=4).cuts == (-0.5, 0, 0.5)
    with_zeros = column([0.0, *np.exp(rng.normal(5, 2, 900))])
    assert with_zeros.cuts[0] == 0


def test_identifiers():
    rng = np.random.default_rng(0)
    assert isinstance(column(list(range(25))), Ignored)
    assert isinstance(column(rng.permutation(150) + 1_000_000), Ignored)
    assert isinstance(column([f"a{i}" for i in range(25)]), Ignored)
    assert isinstance(draft_schema({"user_id": [7, 9, 9, 4, 1]}).schema["user_id"], Ignored)
    assert isinstance(draft_schema({"ward_id": [1, 2, 3] * 20}).schema["ward_id"], Numeric)
    assert isinstance(column(rng.random(150)), Numeric)
    assert isinstance(column(["a", "b", "c"]), Categorical)  # in three rows it says nothing that all differ


def test_many_categories():
    some = column([f"c{i % 40}" for i in range(100)] + ["c1"] * 200)
    assert len(some.categories) <= 30
    assert some.outside == "other"
    assert isinstance(column([f"c{i % 400}" for i in range(1000)]), Ignored)


def test_a_text_that_stands_for_a_missing_value_is_noted():
    (note,) = draft_schema({"x": ["a", "?", "b"] * 10}).notes
    assert "looks like a missing value" in note
    (note,) = draft_schema({"x": [*map(str, range(50)), "?"], "other": [i % 2 for i in range(51)]}).notes
    assert "make them missing" in note


TARGETS = {
    "measured": (np.linspace(0, 1, 60), "is a number; make classes"),
    "counted": (np.arange(60), "is a number; make classes"),
    "one class": (["a"] * 60, "fewer than two classes"),
    "no class": ([None] * 60, "fewer than two classes"),
    "texts": ([f"{TEXT}{chr(65 + i % 26)}" for i in range(60)], "more than 20 different strings"),
    "dates": (pd.date_range("2024-01-01", periods=60), "holds dates; make classes"),
    "lists": ([[TEXT]] * 60, "must hold strings or integers"),
    "mixture": ([*range(59), TEXT], "must hold strings or integers"),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets_that_are_none(name):
    values, message = TARGETS[name]
    frame = pd.DataFrame({"age": [i % 50 for i in range(60)], "y": values})
    with pytest.raises(SchemaError, match=message) as error:
        draft_schema(frame, "y")
    assert not shows_a_mark(str(error.value))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "yes"], ("no", "yes")),
        ([1, 0], (0, 1)),
        ([1.0, 2.0, None], (1, 2)),
        ([True, False], (False, True)),
        (["1", "0"], ("0", "1")),
        (["c", "a", "b"], ("a", "b", "c")),
    ],
)
def test_targets(labels, classes):
    frame = pd.DataFrame({"age": [i % 5 for i in range(60)], "y": (labels * 60)[:60]})
    draft = draft_schema(frame, "y")
    assert draft.schema.classes == classes
    assert [type(c) for c in draft.schema.classes] == [type(c) for c in classes]
    assert any("missing values" in note for note in draft.notes) == (None in labels)
    round_trips(draft)
    DPOptimalRuleListClassifier(max_length=2, schema=draft.schema).fit(frame[["age"]], frame["y"])


def test_samples_that_are_none():
    frame = pd.DataFrame({"Age": [1, 2], "Income": ["low", "high"]})
    with pytest.raises(SchemaError, match="target 'incme' is not a column of the sample; did you mean 'Income'"):
        draft_schema(frame, "incme")
    with pytest.raises(SchemaError, match="it has 'Age', 'Income'"):
        draft_schema(frame, "zzz")
    with pytest.raises(SchemaError, match="name of a column"):
        draft_schema(frame, 3)
    with pytest.raises(SchemaError, match="no rows"):
        draft_schema(frame[:0])
    with pytest.raises(SchemaError, match="no column but the target"):
        draft_schema(frame[["Income"]], "Income")
    with pytest.raises(SchemaError, match="data frame"):
        draft_schema("sample.csv")


def test_nothing_to_learn_from_is_noted():
    draft = draft_schema({"x": ["a"] * 3, "y": [0, 1, 0]}, "y")
    assert "nothing to learn from" in draft.notes[-1]


def test_the_file(tmp_path, hospital):
    draft = draft_schema(hospital, "readmitted", source="a\nb\x00[columns.evil]")
    draft.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == draft.schema
    assert (tmp_path / "schema.toml").read_text(encoding="utf-8").startswith("# A draft, made from a b [columns.evil].")
    marked = Schema.from_toml("inferred = true\n" + draft.to_toml())  # as the header says
    assert marked.inferred


DICTIONARY = pd.DataFrame(
    [
        ("patient", "identifier", None, None, None, None, None),
        ("age", "integer", None, 0, 100, "Age in years,\nat admission", None),
        ("cost", "float", None, 1, 1e6, None, "yes"),
        ("score", "int", "1-10", None, None, None, None),
        ("grade", "int", "1, 2, 3", None, None, None, None),
        ("sex", "integer", "1 = female; 2 = male; 9 = unknown", None, None, None, None),
        ("ward", "varchar(20)", "surgery, children, heart", None, None, "Ward", "yes"),
        ("smoker", "categorical", "0=no|1=yes", None, None, None, None),
        ("flag", "boolean", None, None, None, None, None),
        ("admitted", "date", None, None, None, None, None),
        ("notes", "free text", None, None, None, None, None),
        ("weight", "decimal", None, None, None, None, None),
        ("colour", None, "red, green", None, None, None, None),
        ("thing", None, None, None, None, None, None),
        ("ill", "text", "no, yes", None, None, None, None),
    ],
    columns=["Variable name", "Data type", "Allowed values", "Minimum", "Max.", "Description", "Nullable"],
)


def test_a_dictionary():
    draft = draft_from_dictionary(DICTIONARY, target="ill", source="codebook.xlsx")
    schema = draft.schema
    text = round_trips(draft)
    assert "made from codebook.xlsx" in text
    assert '[columns.age]\ntype = "numeric"\nlabel = "Age in years, at admission"' in text
    assert text.startswith("# A draft")
    assert '\nsource = "drafted from a data dictionary"\n' in text
    assert {c.name: c.kind for c in schema.columns} == {
        **dict.fromkeys(["patient", "admitted", "notes", "weight", "thing"], "ignore"),
        **dict.fromkeys(["age", "cost", "score", "grade"], "numeric"),
        **dict.fromkeys(["sex", "ward", "colour"], "categorical"),
        **dict.fromkeys(["smoker", "flag"], "boolean"),
    }
    age = Numeric("age", cuts=tuple(range(0, 100, 5)), low=0, high=100, label="Age in years, at admission")
    assert schema["age"] == age
    assert schema["cost"].missing
    assert set(schema["cost"].cuts) >= {10, 100, 1000}
    assert schema["score"].cuts == tuple(range(1, 10))
    assert schema["grade"].cuts == (1, 2)
    assert schema["sex"].categories == ("1", "2", "9")
    assert schema["ward"] == Categorical("ward", True, categories=("surgery", "children", "heart"), label="Ward")
    assert schema.classes == ("no", "yes")
    assert [note.split()[0] for note in draft.notes] == ["'weight'", "'thing'"]
    assert draft_from_dictionary(pl.from_pandas(DICTIONARY), target="ill", source="codebook.xlsx") == draft


def test_a_sample_with_a_dictionary():
    sample = {
        "sex": [1, 2, 2, None] * 20,
        "grade": [1, 2, 3, 4] * 20,  # of which the dictionary lists three
        "age": list(range(20, 60)) * 2,
        "colour": ["red", "green"] * 40,
        "odd": [[1], {}, "a", 1.5] * 20,
        "ill": [0, 1, 1, 0] * 20,
    }
    dictionary = {
        "name": ["sex", "grade", "age", "colour", "odd", "ill", "not in the sample"],
        "label": ["Sex", "Grade", "Age in years", "Colour", "Odd", "Ill?", "Nothing"],
        "values": [
            {1: "f; x", 2.0: "m = y"},
            {1: "a", 2: "b", 3: "c"},
            None,
            "green, red, blue",
            "1, a",
            "0=no;1=yes",
            None,
        ],
    }
    draft = draft_schema(sample, "ill", dictionary=dictionary)
    schema = draft.schema
    round_trips(draft)
    sex = Categorical("sex", True, categories=("1", "2"), label="Sex", labels={"1": "f; x", "2": "m = y"})
    assert schema["sex"] == sex
    assert schema["grade"] == Numeric("grade", cuts=(1, 2, 3), low=1, high=4, label="Grade")
    assert schema["age"].label == "Age in years"
    assert schema["colour"].categories == ("green", "red", "blue")
    assert schema["odd"].kind == "ignore"
    assert (schema.target_label, dict(schema.class_labels)) == ("Ill?", {"0": "no", "1": "yes"})
    assert "not in the sample" not in schema.names
    same = draft_schema({**sample, "sex": [v and str(v) for v in sample["sex"]]}, "ill", dictionary=dictionary)
    assert same.schema["sex"] == sex


def test_dictionaries_that_are_none():
    with pytest.raises(SchemaError, match='call it "name"'):
        draft_from_dictionary({"thing": ["age"]})
    with pytest.raises(SchemaError, match="no rows"):
        draft_from_dictionary({"name": [None]})
    with pytest.raises(SchemaError, match="'age' twice"):
        draft_from_dictionary({"name": ["age", "age"]})
    with pytest.raises(SchemaError, match="did you mean 'ill'"):
        draft_from_dictionary(DICTIONARY, target="il")
    with pytest.raises(SchemaError, match="needs two to 20 values"):
        draft_from_dictionary(DICTIONARY, target="age")
    assert draft_from_dictionary(DICTIONARY, target="flag").schema.classes == (0, 1)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "name": st.text(max_size=6) | st.none(),
                "type": st.sampled_from(["int", "text", "date", "bool", "", None, "x"]),
                "values": st.text("ab12=;,|-.: \n", max_size=12) | st.none(),
                "min": st.floats() | st.none() | st.text(max_size=3),
                "max": st.floats() | st.none() | st.integers(),
                "description": st.text(max_size=10),
            }
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda row: (row["name"] or "").strip(),
    )
)
def test_any_dictionary_is_drafted_or_refused(rows):
    dictionary = {key: [row[key] for row in rows] for key in rows[0]}
    if not any((row["name"] or "").strip() for row in rows):
        with pytest.raises(SchemaError, match="no rows"):
            draft_from_dictionary(dictionary)
        return
    round_trips(draft_from_dictionary(dictionary))


@pytest.mark.parametrize("name", ["patient_id", "customerID", "e-mail", "paid", "income"])
def test_names_that_identifiers_have(name):
    drafted = draft_schema({name: [f"x{i % 7}" for i in range(10)]}).schema[name]
    assert isinstance(drafted, Categorical if name in ("paid", "income") else Ignored)

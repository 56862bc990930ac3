"""What a private schema finds, what it leaves out, what it costs and when nothing is spent; and classifiers that find their own.

Where something has to be found the noise is seeded, or small beside thousands of records: no test hangs on luck.
"""

import pickle

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet import (
    Boolean,
    Categorical,
    Date,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    DPScoreCardClassifier,
    Ignored,
    Ledger,
    Numeric,
    PrivateSchema,
    SavedModel,
    Schema,
    private_schema,
)
from discreet._utils.errors import SchemaError
from discreet._utils.tables import as_table
from discreet.accounting.ledger import BudgetError, NoDeltaError
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.sources import columns, files

from ..replay.hooks import Session, opened

N = 6_000


def table(n=N, **columns):
    rng = np.random.default_rng(0)
    age, job = rng.integers(18, 90, n), rng.choice(["clerk", "cook", "judge"], n)
    frame = pd.DataFrame({"age": age, "job": job} | columns)
    return frame, np.where(rng.random(n) < 0.1 + 0.8 * (age > 50), "yes", "no")


def ledger():
    return Ledger(epsilon=100, delta=1e-3)


def of_values(values, **given):
    """The column that is found for these values, repeated; or Ignored."""
    column = np.empty(N, dtype=object)
    column[:] = [values[i % len(values)] for i in range(N)]
    X, y = table()
    found = private_schema({"age": X["age"].to_numpy(), "c": column}, y, epsilon=30, random_state=0, **given)
    return found.schema["c"]


# -- what is found ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_adult, load_compas, load_german_credit])
def test_in_the_datasets_numbers_categories_and_classes_are_found(load):
    data = load()
    found = private_schema(data.data, data.target, epsilon=30, random_state=0)
    by_hand = data.schema
    assert found.schema.classes == tuple(sorted(by_hand.classes))
    for column in by_hand.used:
        other = found.schema[column.name]
        if isinstance(column, Categorical) and all(isinstance(c, str) for c in column.categories):
            assert isinstance(other, Categorical)
            assert set(other.categories) <= {str(v) for v in data.data[column.name].dropna()}
        if isinstance(column, Numeric):
            assert isinstance(other, Numeric)
            values = data.data[column.name].astype(float)
            assert values.min() - 1 <= min(other.all_cuts) <= max(other.all_cuts) <= max(values.max(), 1) * 10


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, False], Boolean("c")),
        ([1, 0, 0], Boolean("c")),
        (["true", "False", None], Boolean("c", True)),
        (["b", "a", "NA"], Categorical("c", True, ["a", "b"], outside="other")),
        ([b"a", "b"], Categorical("c", False, ["a", "b"], outside="other")),
        (["1", "x", 1.0, "y", "z"], Categorical("c", False, ["1", "x", "y", "z"], outside="other")),
        (["\ud800", "a\nb", "y" * 300, "fine", "good"], Categorical("c", False, ["fine", "good"], outside="other")),
        ([None, float("nan"), ""], Ignored("c")),
        (["y" * 300, "\ud800"], Ignored("c")),
    ],
)
def test_a_column_is_what_most_of_its_values_look_like(values, expected):
    assert of_values(values) == expected


@pytest.mark.parametrize("values", [[7], [0], [-0.0], [1e308], [5e-324], [0.5], [-1e9]])
def test_a_column_of_one_value_is_left_out(values):
    assert of_values(values) == Ignored("c")


@pytest.mark.parametrize("values", [[float("inf"), -float("inf")], [10**400, -(10**400)], [1e308, -1e308, 0.5, None]])
def test_any_numbers_give_a_column_with_finite_cuts(values):
    assert all(np.isfinite(cut) for cut in of_values(values).all_cuts)


def test_cuts_are_integers_where_the_numbers_are_and_lie_among_them():
    X, y = table(height=np.random.default_rng(1).normal(1.7, 0.1, N))
    schema = private_schema(X, y, epsilon=20, random_state=0).schema
    assert all(cut == int(cut) and 10 <= cut <= 100 for cut in schema["age"].cuts)
    assert len(schema["age"].cuts) >= 8
    assert sum(1.4 < cut < 2.0 for cut in schema["height"].cuts) >= 4


FEW_TEXTS = 4  # so that columns have more of them than are held in any case


@pytest.mark.parametrize("few", [FEW_TEXTS, columns.FEW])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_in_a_file_the_same_is_found_as_in_memory(suffix, few, tmp_path, monkeypatch):
    X, y = table()
    X["town"] = [f"town {i % 7}" if i % 50 else f"hamlet {i}" for i in range(N)]
    X["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N) % 700, "D")
    X["height"] = np.where(np.arange(N) % 9, np.arange(N) % 200 / 2, np.nan)
    X["grade"] = pd.array([None if i % 11 == 0 else i % 5 for i in range(N)], "Int64")
    frame, path = X.assign(outcome=y), tmp_path / f"table.{suffix}"
    {"csv": lambda p: frame.to_csv(p, index=False), "parquet": frame.to_parquet, "arrow": frame.to_feather}[suffix](
        path
    )
    monkeypatch.setattr(columns, "FEW", few)
    monkeypatch.setattr(files, "ROWS_AT_A_TIME", N // 3)
    with opened(Session(lambda noise: noise.values)):
        found = [private_schema(t, target="outcome", epsilon=1).schema for t in (frame, path)]
        assert (found[0].columns, found[0].classes) == (found[1].columns, found[1].classes)
    assert len(found[0].used) == 6


def test_of_a_file_what_cannot_be_a_target_is_said_while_it_costs_nothing(tmp_path):
    X, y = table(day=pd.Timestamp("2020-01-01"))
    X.assign(outcome=y).to_parquet(path := tmp_path / "table.parquet")
    for target, said in {"outcom": "has no column 'outcom'", "day": "y holds dates"}.items():
        with pytest.raises(SchemaError, match=said):
            private_schema(path, target=target, epsilon=1, ledger=(spent := ledger()))
        assert spent.spent == (0, 0)
    with pytest.raises(ValueError, match="y must be None"):
        private_schema(path, y, epsilon=1)


def test_what_noise_takes_a_column_for_is_used_only_where_its_type_allows(tmp_path):
    frame = pd.DataFrame({"n": [0.5, 1.5], "d": pd.to_datetime(["2020-01-01"] * 2), "t": ["x", "y"]})
    frame.to_parquet(path := tmp_path / "t.parquet")
    frame.to_csv(csv := tmp_path / "t.csv", index=False)
    typed = [
        columns.MemoryColumns(as_table(frame), None),
        columns.FileColumns(path, None),
        columns.EngineColumns(ibis.duckdb.connect().read_parquet(path), None),
    ]
    found = [Date(name, cuts=[pd.Timestamp("2020-01-01").date()]) for name in "ndt"]
    found += [Numeric(name, cuts=[1]) for name in "nd"]
    for counts in typed:
        assert [counts.fits(column) for column in found] == [False, True, True, True, False]
    assert all(columns.FileColumns(csv, None).fits(column) for column in found)


def test_labels_that_are_a_column_of_the_table_are_no_feature():
    X, y = table()
    frame = X.assign(outcome=y)
    found = private_schema(frame, frame["outcome"], epsilon=30, random_state=0).schema
    assert (found.target, [column.name for column in found.columns]) == ("outcome", ["age", "job"])
    assert found.classes == ("no", "yes")
    other = private_schema(frame, pd.Series(y == "yes", name="outcome"), epsilon=30, random_state=0).schema
    assert (other.target, other.classes) == ("outcome", (0, 1))  # the labels that were given


def test_the_most_frequent_texts_are_categories():
    values = [f"k{i:02}" for i in range(40) for _ in range(40 - i)]
    X, y = table(code=[values[i % len(values)] for i in range(N)])
    found = private_schema(X, y, epsilon=100, random_state=0).schema["code"].categories
    assert len(found) == 30
    assert {f"k{i:02}" for i in range(20)} <= set(found)


def test_numbers_of_records_are_left_out_if_their_column_is_called_so():
    X, y = table(patient_id=np.arange(N), id_cards=np.arange(N) % 9, visit=np.arange(N))
    found = private_schema(X, y, epsilon=20, random_state=0)
    assert [isinstance(found.schema[n], Ignored) for n in ("patient_id", "id_cards", "visit")] == [True, False, False]
    assert any("patient_id" in note and "an identifier, by its name" in note for note in found.notes)


def test_what_few_have_is_not_found():
    rare = np.array(["a", "b"] * (N // 2), dtype=object)
    rare[:5] = "Jean Valjean, 24601"
    found = of_values(list(rare)).categories
    assert found == ("a", "b")


LABELS = [
    (["no", "yes"], ("no", "yes")),
    ([1, 2, 3], (1, 2, 3)),
    (["1.0", "2.0"], (1, 2)),
    (["010", "9"], (9, 10)),
    ([0.5, 1.5], ("0.5", "1.5")),
    (["--5", "4"], ("--5", "4")),
    ([b"no", "yes", None], ("no", "yes")),
]


@pytest.mark.parametrize(("labels", "classes"), LABELS)
def test_classes_are_found_whatever_the_labels_are(labels, classes):
    X, _ = table()
    y = np.empty(N, dtype=object)
    y[:] = [labels[i % len(labels)] for i in range(N)]
    for given in (y, list(y), [[label] for label in y], y.reshape(-1, 1), pd.Series(y, dtype=object)):
        assert private_schema(X, given, epsilon=20).schema.classes == classes


def test_a_table_may_come_from_any_library_and_its_labels_in_it():
    X, y = table(n=3_000)
    whole = X.assign(outcome=y)
    found = [
        private_schema(frame, target="outcome", epsilon=20, random_state=0).schema
        for frame in (whole, pl.from_pandas(whole), pa.Table.from_pandas(whole), whole.astype(object))
    ]
    assert all(schema == found[0] for schema in found)
    assert found[0].target == "outcome"
    assert found[0].names == ["age", "job"]
    array = private_schema(np.array(X), y, epsilon=20, random_state=0).schema
    assert array.names == ["x0", "x1"]
    assert array["x0"].cuts == found[0]["age"].cuts
    texts = private_schema(np.array(X.astype(str), dtype="U5"), y, epsilon=20, random_state=0).schema
    assert texts == array


def test_in_an_engine_the_same_is_found_and_the_table_has_to_stay_as_it_is():
    X, y = table()
    given = {"target": "outcome", "epsilon": 50, "random_state": 0}
    engine = private_schema(ibis.memtable(X.assign(outcome=y)), **given)
    memory = private_schema(X.assign(outcome=y), **given)
    assert engine.schema == memory.schema
    assert any("did not change" in assumption for assumption in engine.privacy.assumes)
    assert not any("did not change" in assumption for assumption in memory.privacy.assumes)


# -- what is public costs nothing ---------------------------------------------------------------------------------------


def test_what_is_declared_is_taken_as_it_is_and_leaves_the_noise_of_others_small():
    X, y = table(hours=np.random.default_rng(2).integers(0, 60, N), id=np.arange(N).astype(str))
    hours = Numeric("hours", cuts=[20, 40])
    known = {"bounds": {"age": (0, 120)}, "categories": {"job": ["judge", "thief"]}, "columns": [hours, Ignored("id")]}
    found = private_schema(X, y, epsilon=1e-6, delta=0, classes=["yes", "no", "perhaps"], **known)
    schema = found.schema
    assert (schema["age"].low, schema["age"].high) == (0, 120)
    assert all(0 <= cut < 120 for cut in schema["age"].cuts)
    assert schema["job"] == Categorical("job", categories=["judge", "thief"], outside="other")
    assert schema["hours"] == hours
    assert schema["id"] == Ignored("id")
    assert schema.classes == ("yes", "no", "perhaps")
    assert found.notes == ()


def test_without_a_delta_columns_of_texts_are_left_out_and_the_promise_is_pure():
    X, y = table()
    found = private_schema(X, y, epsilon=5, delta=0, classes=["no", "yes"], ledger=(pure := Ledger(epsilon=5)))
    assert found.schema["job"] == Ignored("job")
    assert isinstance(found.schema["age"], Numeric)
    assert "need a delta" in found.notes[0]
    assert (found.privacy.proved.epsilon, found.privacy.proved.delta) == (5, 0)
    assert pure.remaining[0] == 0


def test_excluded_columns_are_not_looked_at():
    X, y = table()
    short = DPOptimalTreeClassifier(schema="private", exclude=["job"], max_depth=1, epsilon=5).fit(X, y)
    assert short.found_schema_.schema["job"] == Ignored("job")
    assert not short.found_schema_.notes


# -- nothing is spent in vain -------------------------------------------------------------------------------------------

REFUSED = [
    ({"y": None}, "labels are missing"),
    ({"delta": 0}, "need a delta"),
    ({"delta": 1e-300}, "at least 1e-100"),
    ({"delta": 2}, "delta"),
    ({"records": 40}, "Nothing was spent"),
    ({"records": -1}, "records"),
    ({"classes": ["yes"]}, "two or more"),
    ({"classes": "no"}, "must be a list"),
    ({"classes": ["a", "a"]}, "twice"),
    ({"bounds": {"age": (9, 1)}}, "low must be below high"),
    ({"bounds": {"age": (0, float("inf"))}}, "finite"),
    ({"bounds": {"years": (0, 9)}}, "no such column"),
    ({"categories": {"job": "clerk"}}, "must be a list"),
    ({"columns": [Numeric("age", cuts=[1], outside="error")]}, "error depend"),
    ({"y": ["no"] * 5}, "differ in length"),
    ({"y": pd.Series(["2020-01-01"] * N, dtype="datetime64[ns]")}, "no classes"),
    ({"target": "outcome"}, "does not have"),
    ({"X": [[1, "a"]] * N}, "list of rows"),
    ({"random_state": "x"}, "seed"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED, ids=lambda given: str(given)[:40])
def test_mistakes_cost_nothing(changed, message):
    X, y = table()
    given = {"X": X, "y": y, "epsilon": 1, "ledger": (book := ledger())} | changed
    with pytest.raises((ValueError, TypeError), match=message):
        private_schema(**given)
    assert book.entries == ()


FIT_REFUSED = [
    ({"exclude": ["jobb"]}, "jobb"),
    ({"schema": PrivateSchema(share=1)}, "share must be between"),
    ({"schema": PrivateSchema(classes=["no", "yes"]), "y": None}, "y is missing"),
    ({"schema": PrivateSchema(categories={"age": ["01", "1"]})}, "must hold strings"),
    ({"schema": PrivateSchema(columns=[Numeric("hours", cuts=[1])])}, "no such column"),
    ({"y": None}, "labels are missing"),
]


@pytest.mark.parametrize(("changed", "message"), FIT_REFUSED, ids=lambda given: str(given)[:40])
def test_mistakes_of_a_fit_cost_nothing(changed, message):
    X, y = table()
    given = {"schema": "private", "ledger": (book := ledger())} | changed
    y = given.pop("y", y)
    with pytest.raises((ValueError, TypeError), match=message):
        DPOptimalTreeClassifier(**given).fit(X, y)
    assert book.entries == ()


def test_three_public_classes_are_too_many_for_a_published_method_before_it_costs_something():
    X, y = table()
    how = PrivateSchema(classes=["no", "yes", "perhaps"])
    with pytest.raises(SchemaError, match="binary"):
        DPGreedyRuleListClassifier(mechanism="gl-laplace", schema=how, ledger=(book := ledger())).fit(X, y)
    assert book.entries == ()


def test_too_little_for_both_is_refused_before_the_schema_is_paid():
    X, y = table()
    published = DPGreedyRuleListClassifier(mechanism="sm-laplace", delta=1e-6, min_support=100)
    for clf, epsilon in ((DPOptimalTreeClassifier(), 0.9), (published, 9)):
        small = Ledger(epsilon=epsilon, delta=1e-6)
        with pytest.raises(BudgetError, match="epsilon"):
            clf.set_params(schema="private", epsilon=1, ledger=small).fit(X, y)
        assert small.entries == ()


def test_a_ledger_of_pure_budgets_says_what_to_do():
    X, y = table()
    for find in (
        lambda book: private_schema(X, y, epsilon=1, ledger=book),
        lambda book: DPOptimalTreeClassifier(schema="private", ledger=book).fit(X, y),
    ):
        with pytest.raises(NoDeltaError, match=r"categories= and classes=.*delta=0"):
            find(book := Ledger(epsilon=5))
        assert book.entries == ()


def test_where_fewer_than_two_classes_are_found_the_schemas_share_stays_spent():
    X, _ = table()
    for find, share in (
        (lambda book: private_schema(X, ["yes"] * N, epsilon=1, ledger=book), 1),
        (lambda book: DPOptimalTreeClassifier(schema="private", epsilon=1, ledger=book).fit(X, ["yes"] * N), 0.2),
    ):
        with pytest.raises(SchemaError, match=r"fewer than two classes.*stays spent.*classes="):
            find(book := ledger())
        assert float(book.spent[0]) == share


@pytest.mark.parametrize("n", [0, 1, 20])
def test_where_nothing_is_found_it_says_what_to_declare(n):
    (X, y), book = table(), Ledger(epsilon=1, delta=1e-6, allow_unproved=True)
    with pytest.raises(SchemaError, match=r"no column was found.*bounds=, categories="):
        private_schema(X[:n], y[:n], epsilon=0.1, classes=["no", "yes"], ledger=book, random_state=0)
    assert float(book.spent[0]) == 0.1


# -- a fit that finds its schema ----------------------------------------------------------------------------------------

LEARNERS = {
    "tree": DPOptimalTreeClassifier(max_depth=1),
    "list": DPOptimalRuleListClassifier(max_length=2),
    "greedy list": DPGreedyRuleListClassifier(max_length=3),
    "card": DPScoreCardClassifier(max_columns=1),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_finds_its_schema_and_promises_both_together(name):
    X, y = table()
    clf = clone(LEARNERS[name]).set_params(schema="private", epsilon=3, ledger=(book := ledger()))
    clf.fit(X, y)
    assert clf.score(X, y) > 0.75
    assert clf.classes_.tolist() == ["no", "yes"]
    assert (clf.privacy_.proved.epsilon, clf.privacy_.proved.delta) == (3, 1e-9)
    assert float(book.spent[0]) == 3
    assert clf.found_schema_.privacy.proved.epsilon == pytest.approx(0.6)
    assert SavedModel.from_json(SavedModel.of(clf).to_json()).model == clf.model_


def test_it_predicts_for_frames_with_other_columns_in_another_order_and_other_types():
    X, y = table()
    clf = DPOptimalTreeClassifier(schema="private", epsilon=5, max_depth=1).fit(X, y)
    expected = clf.predict(X).tolist()
    more = X.assign(new=1)[["new", "job", "age"]]
    for frame in (more[["job", "age"]][X.columns], X.astype(object), pl.from_pandas(X), pa.Table.from_pandas(X)):
        assert clf.predict(frame).tolist() == expected
    odd = pd.DataFrame({"age": [None, "old"], "job": ["thief", None]})
    assert set(clf.predict(odd)) <= {"no", "yes"}
    with pytest.raises(ValueError, match="job"):
        clf.predict(X[["age"]])


def test_arrays_without_names_are_learned_from_and_predicted():
    X, y = table()
    clf = DPOptimalTreeClassifier(schema="private", epsilon=5, max_depth=1).fit(np.array(X), y)
    assert clf.found_schema_.schema.names == ["x0", "x1"]
    assert clf.score(np.array(X), y) > 0.75


def test_a_seeded_fit_can_be_had_again_and_promises_nothing():
    X, y = table()
    one, other = (
        DPOptimalTreeClassifier(schema="private", epsilon=2, max_depth=1, random_state=3).fit(X, y) for _ in range(2)
    )
    assert one.found_schema_.schema == other.found_schema_.schema
    assert one.model_ == other.model_
    assert one.found_schema_.schema.inferred
    assert not one.found_schema_.schema.released
    assert one.privacy_.proved is None
    assert one.found_schema_.privacy.proved is None


def test_a_classifier_with_a_private_schema_is_cloned_and_pickled():
    X, y = table()
    how = PrivateSchema(0.3, bounds={"age": (0, 100)})
    clf = DPOptimalTreeClassifier(schema=how, epsilon=5, max_depth=1)
    copy = clone(clf)
    assert copy.schema == how
    assert not hasattr(copy, "found_schema_")
    again = pickle.loads(pickle.dumps(clf.fit(X, y)))
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert again.found_schema_ == clf.found_schema_
    assert again.fit(X, y).found_schema_.schema["age"].high == 100


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_in_a_pipeline_and_a_search_each_fit_finds_and_pays_for_its_own():
    X, y = table(n=3_000)
    book = Ledger(epsilon=1_000, delta=1e-3)
    clf = DPOptimalTreeClassifier(schema="private", epsilon=8, ledger=book)
    piped = make_pipeline(FunctionTransformer(), clf).fit(X, y)
    assert piped.score(X, y) > 0.75
    search = GridSearchCV(clf, {"max_depth": [1], "schema": ["private", PrivateSchema(0.4)]}, cv=2).fit(X, y)
    assert search.best_estimator_.found_schema_.schema.released
    assert float(book.spent[0]) == 8 * (1 + 2 * 2 + 1)


@pytest.mark.parametrize("method", ["fit_file", "fit_source", "plan", "plan_source"])
def test_other_ways_to_learn_say_to_find_the_schema_first(method):
    clf = DPOptimalTreeClassifier(schema="private")
    with pytest.raises(SchemaError, match="find the schema first"):
        getattr(clf, method)(*([] if method == "plan" else ["table.csv"]))


def test_a_schema_is_paid_for_once_and_written_down_and_read_again(tmp_path):
    X, y = table()
    book = Ledger(epsilon=10, delta=1e-6)
    found = private_schema(X, y, epsilon=2, ledger=book)
    found.save(tmp_path / "schema.toml")
    for schema in (found, Schema.load(tmp_path / "schema.toml"), str(tmp_path / "schema.toml")):
        clf = DPOptimalTreeClassifier(schema=schema, epsilon=1, max_depth=1, ledger=book).fit(X, y)
        assert (clf.privacy_.proved.epsilon, clf.privacy_.proved.delta) == (3, 1e-9)
    assert float(book.spent[0]) == 5
    assert "Found in private records" in (tmp_path / "schema.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("epsilon", [12.5, 20])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_large_epsilon_is_warned_of_and_no_error(epsilon):
    X, y = table()
    assert DPOptimalTreeClassifier(schema="private", epsilon=epsilon, max_depth=1).fit(X, y).privacy_.proved


def test_columns_of_one_value_and_empty_tables_give_nothing():
    n = 20_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"seven": 7, "far": np.inf, "half": 0.5, "year": rng.integers(1990, 2020, n)})
    found = private_schema(frame, rng.integers(0, 2, n), epsilon=1, classes=[0, 1], random_state=0)
    assert [column.name for column in found.schema.used] == ["year"]
    assert found.schema["year"].cuts[0] >= 1989
    assert found.schema["year"].cuts[-1] <= 2020
    nothing = 0
    for seed in range(40):  # that one of twenty columns looks found has a chance of at most one in twenty
        try:
            empty = pd.DataFrame({f"column {i}": [] for i in range(20)})
            private_schema(empty, [], epsilon=1, classes=[0, 1], random_state=seed)
        except SchemaError:
            nothing += 1
    assert nothing >= 35


def test_dates_are_found_whatever_they_are_stored_as():
    n, rng = 20_000, np.random.default_rng(0)
    days = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), unit="D")
    frame = pd.DataFrame({"time": days, "text": days.strftime("%Y-%m-%d"), "day": days.date, "gone": days})
    frame.loc[::10, "gone"] = None
    found = private_schema(frame, rng.integers(0, 2, n), epsilon=1, classes=[0, 1], random_state=0).schema
    for column in found.columns:
        assert isinstance(column, Date)
        assert pd.Timestamp("2015-01-01") < pd.Timestamp(column.cuts[0])
        assert pd.Timestamp(column.cuts[-1]) < pd.Timestamp("2021-01-01")
        assert 10 <= len(column.cuts) <= 30
        assert column.missing == (column.name == "gone")
    table = ibis.duckdb.connect().create_table("dates", frame.assign(y=rng.integers(0, 2, n)))
    in_engine = private_schema(table, target="y", epsilon=1, classes=[0, 1], random_state=0).schema
    assert in_engine.columns == found.columns

"""Columns of dates: one and the same day, whatever it is stored as, from a schema's text to a prediction."""

import datetime
import json

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from discreet import (
    Date,
    DPOptimalRuleListClassifier,
    DPScoreCardClassifier,
    Ignored,
    Literal,
    OptimalRuleListClassifier,
    PrivateCounts,
    RuleList,
    SavedModel,
    Schema,
    check_table,
    draft_from_dictionary,
    draft_schema,
)
from discreet._utils.days import as_days
from discreet._utils.errors import RuleError, SchemaError
from discreet._utils.tables import as_table
from discreet.cli import main
from discreet.evaluation.evaluation import groups_of
from discreet.models.display.wording import in_words
from discreet.report.html import to_html
from discreet.schema.columns.dates import round_days

TOML = """\
[target]
name = "ill"
classes = ["no", "yes"]

[columns.admitted]
type = "date"
missing = true
cuts = [2019-01-01, 2020-07-01]
"""
SCHEMA = Schema.from_toml(TOML)
ADMITTED = SCHEMA["admitted"]
# near midnight in UTC, which is another day elsewhere
TIMES = [
    "2018-12-31T23:59:59.999999",
    "2019-01-01",
    "2020-06-30T23:59:59",
    "2020-07-01T00:00",
    None,
    "1969-12-31T23:59",
]
BINS = [0, 1, 1, 2, 3, 0]
PLACE = "America/New_York"


def in_utc():
    return pd.to_datetime(pd.Series(TIMES), format="ISO8601").dt.tz_localize("UTC")


STORED = {
    "NumPy": lambda: np.array([t or "NaT" for t in TIMES], "M8[us]"),
    "pandas": lambda: in_utc().dt.tz_localize(None),
    "pandas, of a place": lambda: in_utc().dt.tz_convert(PLACE),
    "pandas, of dates": lambda: pd.Series([None if pd.isna(t) else t.date() for t in in_utc()], dtype=object),
    "pandas, of objects of a place": lambda: in_utc().dt.tz_convert(PLACE).astype(object),
    "pandas on Arrow": lambda: in_utc().astype("timestamp[us, tz=Asia/Tokyo][pyarrow]"),
    "pandas on dates of Arrow": lambda: in_utc().dt.tz_localize(None).astype("date32[pyarrow]"),
    "polars": lambda: pl.Series(in_utc().dt.tz_localize(None)),
    "polars, of a place": lambda: pl.Series(in_utc()).dt.convert_time_zone(PLACE),
    "polars, of dates": lambda: pl.Series(in_utc().dt.tz_localize(None)).cast(pl.Date),
    "pyarrow": lambda: pa.array(in_utc().dt.tz_localize(None)),
    "pyarrow, of a place": lambda: pa.chunked_array([pa.array(in_utc().dt.tz_convert(PLACE))]),
    "pyarrow, of dates": lambda: pa.array(in_utc().dt.tz_localize(None)).cast(pa.date32(), safe=False),
    "strings": lambda: TIMES,
    "strings of a place": lambda: [None if pd.isna(t) else str(t) for t in in_utc().dt.tz_convert(PLACE)],
    "strings of slashes": lambda: [t and t.replace("-", "/").replace("T", " ") for t in TIMES],
    "bytes": lambda: [t and t.encode() for t in TIMES],
}


@pytest.mark.parametrize("name", STORED)
def test_a_day_is_the_same_whatever_it_is_stored_as(name):
    table = as_table({"admitted": STORED[name]()})
    assert ADMITTED.encode(table.column("admitted")).tolist() == BINS
    assert RuleList.parse("if admitted < 2019-01-01 then yes else no", schema=SCHEMA).predict(table).tolist() == [
        "yes" if place == 0 else "no" for place in BINS
    ]


def counted(private):
    return private.patterns._words.tolist(), private.patterns.counts.tolist()


@pytest.mark.parametrize("name", [name for name in STORED if name != "bytes"])
def test_files_and_engines_count_what_memory_does(name, tmp_path):
    labels = ["no", "yes", "no", "no", "yes", "yes"]
    column = STORED[name]()
    frame = pl.DataFrame({"admitted": column}).to_arrow() if isinstance(column, pl.Series) else None
    table = frame or pa.Table.from_pandas(pd.DataFrame({"admitted": pd.Series(column)}), preserve_index=False)
    table = table.append_column("ill", pa.array(labels))
    expected = counted(PrivateCounts.from_table({"admitted": column}, labels, SCHEMA))
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.arrow")
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for file in ("t.parquet", "t.arrow", "t.csv"):
        assert counted(PrivateCounts.from_file(tmp_path / file, SCHEMA)) == expected
    connection = ibis.duckdb.connect()
    connection.raw_sql("SET TimeZone = 'America/New_York'")  # nothing may follow it
    for place in (connection.create_table("t", table), connection.read_parquet(tmp_path / "t.parquet")):
        assert counted(PrivateCounts.from_source(place, SCHEMA)) == expected
        clf = DPScoreCardClassifier(epsilon=1.0, schema=SCHEMA, random_state=0)  # it gets the records handed over
        assert clf.fit_source(place).card_ == clf.fit(pa.table({"admitted": table["admitted"]}), labels).card_


@pytest.mark.parametrize(
    "values",
    [
        np.arange(3),
        np.zeros(3),
        np.array([True]),
        np.zeros(1, complex),
        np.zeros(1, "m8[s]"),
        pl.Series([], dtype=pl.Time),
    ],
)
def test_other_types_are_refused_by_their_type(values):
    for some in (values, values[:0]):
        with pytest.raises(SchemaError, match="'admitted' is a date in the schema, but holds numbers"):
            ADMITTED.encode(as_table({"admitted": some}).column("admitted"))
    here = ibis.memtable(pd.DataFrame({"admitted": [1.5], "ill": ["no"]}))
    with pytest.raises(SchemaError, match="it must hold dates"):
        PrivateCounts.from_source(here, SCHEMA)


def test_what_is_no_date_is_missing_and_stops_a_learner_without_privacy_only():
    values = [
        "2019-02-29",
        "29.02.2024",
        20240229,
        5.5,
        True,
        "x",
        "2024-01-31T25:00",
        float("nan"),
        [1],
        b"\xff",
        "20240131",
    ]
    assert np.isnan(as_days(np.array([*values, None], dtype=object))).all()
    frame, labels = pd.DataFrame({"admitted": [*values, "2024-01-31"]}, dtype=object), ["no", "yes"] * 6
    assert DPOptimalRuleListClassifier(schema=SCHEMA, epsilon=1.0).fit(frame, labels)
    with pytest.raises(SchemaError, match="holds values that are no dates"):
        OptimalRuleListClassifier(schema=SCHEMA).fit(frame, labels)
    found = check_table(frame, labels, SCHEMA).columns["admitted"]
    assert (found.missing, dict(found.taken_as)) == (1, {"missing": 10})


def test_days_beyond_those_of_python_are_in_the_first_and_last_bins(tmp_path):
    for far in (
        pa.array([2**31 - 1, -(2**31) + 1], pa.date32()),
        pa.array([2**63 - 1, -(2**63) + 1], pa.timestamp("ns")),
    ):
        for column in (far, pd.Series(pd.arrays.ArrowExtensionArray(far)), pl.from_arrow(far)):
            assert ADMITTED.encode(as_table({"admitted": column}).column("admitted")).tolist() == [2, 0]


# --- schemas and rules ---------------------------------------------------------------------------------------------------


def test_a_schema_is_written_with_dates_and_read_with_dates_or_strings():
    assert SCHEMA.to_toml(header="") == TOML
    assert Schema.from_toml(TOML.replace("2019-01-01", '"2019-01-01"')) == SCHEMA
    assert Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict()))) == SCHEMA
    assert Date("d", cuts=[datetime.date(2019, 1, 1)]) == Date("d", cuts=["2019-01-01"])
    many = Schema([Date("d", cuts=[f"20{i}-01-01" for i in range(10, 40)])])
    assert Schema.from_toml(many.to_toml()) == many
    assert len(many.to_toml(header="").splitlines()) < 10


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        ([], "needs cuts"),
        ("2019-01-01", "must be a list"),
        ([2019], "must be dates"),
        (["2019-02-30"], "must be dates"),
        ([datetime.datetime(2019, 1, 1, 12)], "without a time"),
        (["0001-01-01"], "must be dates"),
        (["2020-01-01", "2019-01-01"], "increasing order"),
    ],
)
def test_cuts_that_are_none(cuts, message):
    with pytest.raises(SchemaError, match=message):
        Date("d", cuts=cuts)


def test_rules_are_written_with_dates_and_read_back():
    text = "if admitted < 2019-01-01 then yes\nelse if admitted <= 2020-06-30 then no"
    text += "\nelse if admitted is missing then yes\nelse no"
    rules = RuleList.parse(text, schema=SCHEMA)
    assert str(rules) == text
    assert RuleList.from_json(rules.to_json()) == rules
    assert rules.predict({"admitted": ["2018-01-01", "2020-06-30", "2020-07-01", None]}).tolist() == [
        "yes",
        "no",
        "no",
        "yes",
    ]
    alone = RuleList.parse(text)  # the smallest schema: <= of a day is < of the next
    assert alone.schema["admitted"] == ADMITTED
    with pytest.raises(RuleError, match=r"no test '<' with this value; it offers < 2019-01-01, < 2020-07-01"):
        RuleList.parse("if admitted < 2019-01-02 then yes else no", schema=SCHEMA)
    with pytest.raises(RuleError, match="a number or a date"):
        RuleList.parse("if admitted < 2019-02-30 then yes else no")
    with pytest.raises(RuleError, match="used both as"):
        RuleList.parse("if a < 2019-01-01 then yes else if a < 5 then no else yes")
    for wrong in (datetime.datetime(2019, 1, 1), "2019-1-1", "x"):
        with pytest.raises(RuleError, match="a number or a date"):
            Literal("a", "<", wrong)


def test_people_read_days_in_words():
    said = [in_words(Literal("admitted", op, "2019-01-01"), SCHEMA).words for op in ("<", "<=", ">", ">=")]
    assert said == ["is before", "is on or before", "is after", "is on or after"]
    assert groups_of(ADMITTED).names == ("< 2019-01-01", ">= 2019-01-01 and < 2020-07-01", ">= 2020-07-01", "missing")
    with pytest.raises(SchemaError, match="only groups of numbers can have cuts"):
        groups_of(ADMITTED, [1])


def test_lists_and_cards_are_learned_saved_and_reported(tmp_path):
    days = np.datetime64("2018-01-01") + np.arange(1200)
    frame, labels = pd.DataFrame({"admitted": days}), np.where(days < np.datetime64("2019-01-01"), "yes", "no")
    for made in (DPOptimalRuleListClassifier, DPScoreCardClassifier):
        clf = made(schema=SCHEMA, epsilon=50.0, random_state=0).fit(frame, labels)
        assert (clf.predict(frame) == labels).all()
        saved = SavedModel.of(clf)
        saved.save(tmp_path / "model.json")
        again = SavedModel.load(tmp_path / "model.json")
        assert again.predict(frame.astype(str)).tolist() == labels.tolist()
        assert "2019-01-01" in to_html(again)
    assert "before 2019-01-01" in str(clf.card_)
    assert "from 2020-07-01" in str(clf.card_)


# --- drafts --------------------------------------------------------------------------------------------------------------


@given(st.dates(datetime.date(1, 1, 2), datetime.date(9999, 12, 29)), st.dates(), st.integers(1, 40))
def test_round_days_are_few_and_in_between(one, other, most):
    low, high = min(one, other), max(one, other, one + datetime.timedelta(1))
    found = round_days(low, high, most)
    assert 1 <= len(found) <= most
    assert found == sorted(set(found))
    assert low < found[0]
    assert found[-1] <= high


@pytest.mark.parametrize(
    ("high", "first"),
    [
        ("2019-01-10", ["2019-01-02", "2019-01-03"]),
        ("2019-03-10", ["2019-01-07", "2019-01-14"]),
        ("2020-03-10", ["2019-02-01", "2019-03-01"]),
        ("2023-03-10", ["2019-04-01", "2019-07-01"]),
        ("2033-03-10", ["2020-01-01", "2021-01-01"]),
    ],
)
def test_cuts_of_a_draft_are_round(high, first):
    drafted = draft_schema({"d": pd.date_range("2019-01-01", high)}).schema["d"]
    assert [str(day) for day in drafted.cuts[:2]] == first
    said = {"name": ["d", "e"], "type": ["date", "date"], "min": ["2019-01-01", None], "max": [high, None]}
    dictionary = draft_from_dictionary(said).schema
    assert [str(day) for day in dictionary["d"].cuts[:2]] == first
    assert isinstance(dictionary["e"], Ignored)


def test_days_that_stand_for_something_else_move_no_cut():
    days = [*pd.date_range("2019-01-01", periods=1000).strftime("%Y-%m-%d"), "9999-12-31", None]
    drafted = draft_schema({"d": days}).schema["d"]
    assert drafted.missing
    assert drafted.cuts[-1].year == 2021


# --- parts of dates ------------------------------------------------------------------------------------------------------

PARTS = Schema.from_toml("""
[target]
name = "ill"
classes = ["no", "yes"]

[columns."year of admitted"]
type = "numeric"
missing = true
cuts = [1969, 2018, 2019]

[columns."month of admitted"]
type = "numeric"
missing = true
cuts = [5, 6]
ranges = [[6, 8], [12, 12]]

[columns."weekday of admitted"]
type = "categorical"
missing = true
categories = ["Monday", "Tuesday", "Wednesday"]
groups = { weekend = ["Saturday", "Sunday"] }
outside = "none"
""")
DAYS = [datetime.date(1969, 12, 31) + datetime.timedelta(117 * i) for i in range(180)]


def test_parts_of_dates_are_those_of_python():
    far = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1900, 2, 28), None]
    table = as_table({"admitted": [*DAYS, *far]})
    assert table.column("year of admitted")[:-1].tolist() == [day.year for day in (*DAYS, *far[:-1])]
    assert table.column("month of admitted")[:-1].tolist() == [day.month for day in (*DAYS, *far[:-1])]
    assert table.column("weekday of admitted").tolist() == [f"{day:%A}" for day in (*DAYS, *far[:-1])] + [None]
    assert np.isnan(table.column("year of admitted")[-1])
    assert as_table({"admitted": DAYS[:1], "month of admitted": [7]}).column("month of admitted").tolist() == [7]
    for wrong in ([1.5], pl.Series([], dtype=pl.Time)):
        with pytest.raises(SchemaError, match="'admitted' holds no dates, so there is no month of it"):
            as_table({"admitted": np.array(wrong) if isinstance(wrong, list) else wrong}).column("month of admitted")
    with pytest.raises(SchemaError, match="which the table does not have"):
        table.column("day of admitted")


def test_parts_of_dates_are_the_same_in_files_and_engines(tmp_path):
    table = pa.table(
        {"ill": ["no", "yes"] * 91, "admitted": pa.array([*DAYS, None, datetime.date(2019, 6, 1)], pa.date32())}
    )
    labels = table["ill"].to_pylist()
    expected = counted(PrivateCounts.from_table(table, labels, PARTS))
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.arrow")
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for file in ("t.parquet", "t.arrow", "t.csv"):
        assert counted(PrivateCounts.from_file(tmp_path / file, PARTS)) == expected
    connection = ibis.duckdb.connect()
    times = table.set_column(1, "admitted", table["admitted"].cast(pa.timestamp("us")))
    for name, place in {"t": table, "u": times}.items():
        there = connection.create_table(name, place)
        assert counted(PrivateCounts.from_source(there, PARTS)) == expected
        clf = DPScoreCardClassifier(epsilon=1.0, schema=PARTS, random_state=0)
        assert clf.fit_source(there).card_ == clf.fit(table.select(["admitted"]), labels).card_
    zoned = connection.create_table(
        "z", times.set_column(1, "admitted", times["admitted"].cast(pa.timestamp("us", "UTC")))
    )
    with pytest.raises(SchemaError, match="there is no year of it; cast it to a date in a view"):
        PrivateCounts.from_source(zoned, PARTS)


def test_rules_about_parts_are_learned_and_predict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"admitted": pd.date_range("2018-01-01", periods=2000)})
    frame["ill"] = np.where(frame.admitted.dt.month.between(6, 8), "yes", "no")
    clf = DPOptimalRuleListClassifier(schema=PARTS, epsilon=50.0, random_state=0).fit(frame[["admitted"]], frame.ill)
    assert '"month of admitted" in [6, 8]' in str(clf.rule_list_).replace("not in", "in")
    assert (clf.predict(frame[["admitted"]]) == frame.ill).all()
    assert RuleList.parse(str(clf.rule_list_), ("no", "yes"), PARTS) == clf.rule_list_.without_counts()
    SavedModel.of(clf).save("model.json")
    frame.to_csv("new.csv", index=False)
    # older versions of pandas write nanoseconds, of which an engine gives no parts
    frame.astype({"admitted": "datetime64[us]"}).to_parquet("new.parquet")
    for table in (["new.csv"], ["new.parquet"], ["new.parquet", "--engine", "duckdb"]):
        done = CliRunner().invoke(main, ["predict", "model.json", *table, "-o", "scores.csv", "--force"])
        assert done.exit_code == 0, done.output
        assert pd.read_csv("scores.csv").iloc[:, 0].tolist() == frame.ill.tolist()
    named = pd.DataFrame({"month of admitted": frame.admitted.dt.month})
    made = {}
    exec(clf.rule_list_.to_python(), made)  # code wants a column of that name
    assert [made["predict"](record) for record in named.to_dict("records")] == frame.ill.tolist()

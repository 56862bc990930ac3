"""Every source gives the same patterns, the same seeded model and the same statement as the table in memory, the definition.

DuckDB runs in `make test`; PostgreSQL and Spark, real servers that tests/support/engines.py starts, in `make test-all`.
"""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from discreet import (
    Boolean,
    Categorical,
    Date,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    Ignored,
    Numeric,
    PrivateCounts,
    Schema,
    open_table,
)
from discreet._utils.days import WEEKDAYS
from discreet._utils.tables import as_table
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.counts.patterns import PatternsInProgress
from discreet.sources.engine import EngineTable
from discreet.sources.memory import blocks_of

from ..models.test_exports import COLUMNS, DATES, EVERY, HOSTILE, TABLES_IN, run_with, set_ansi, stored_tables
from ..support.strategies import schemas

pytest.importorskip("ibis")
from ..support.slices import examples, pairs
from .ibis_tables import stored

LOADERS = {"compas": load_compas, "adult": load_adult, "german": load_german_credit}
LEARNERS = {
    "mass": lambda **p: DPGreedyRuleListClassifier(max_length=4, random_state=7, **p),
    "published": lambda **p: DPGreedyRuleListClassifier(
        mechanism="sm-laplace", min_support=20, delta=1e-5, random_state=7, **p
    ),
    "optimal rule lists": lambda **p: DPOptimalRuleListClassifier(max_length=2, random_state=7, **p),
}


def content(private):
    return content_of(private.patterns)


def content_of(patterns):
    return patterns._words.tolist(), patterns.counts.tolist(), patterns.counts.dtype


def numbered(table, columns):
    """A schema and a table in which the label is the number of the record, so that the patterns tell the bins of each."""
    rows = range(len(table))
    schema = Schema(tuple(columns), "number of the record", tuple(rows) if len(table) > 1 else (0, 1))
    return schema, table.append_column("number of the record", pa.array(rows, pa.int32()))


def check_each_record(engine, table, columns):
    schema, table = numbered(table, columns)
    there, here = (PatternsInProgress(schema.columns, len(schema.classes)) for _ in range(2))
    EngineTable(stored(engine, table), schema, schema.classes).add_to(there)
    for block in blocks_of(as_table(table), schema.columns, table["number of the record"].to_numpy()):
        here.add(*block)
    assert content_of(there.finish()) == content_of(here.finish())


# --- every kind of column, every type that it may be stored in, every value at an edge --------------------------------------

MORE = {
    ("number", pa.int8()): [None, -128, -127, 0, 1, 2, 3, 4, 5, 6, 126, 127],
    ("number", pa.int32()): [None, -(2**31), -129, -128, 0, 1, 2, 3, 4, 5, 6, 127, 128, 2**31 - 1],
    ("number", pa.int64()): [2**53 + 1, 2**53, 2**62 + 1, None],
    ("number", pa.float64()): [0.011732832292350781, 0.1, 0.1 + 0.2, 0.3, 1e16, 1e22, 5e-324, None],
    ("text", pa.string()): ["é", "e\u0301", "ＹＥＳ", "ﬁ", "ſ", "YEſ", "İ", "ı", "K", "\u212a", "a\tb", "", " ", None],
    ("number", pa.decimal128(38, 0)): [Decimal(0), Decimal(1), Decimal(10**20), None],
}
LARGE = [
    Categorical("x", False, [2**53 + 1, 2**62 + 1, 10**16, 10**22, 10**100, "0.1", "0.30000000000000004", -128]),
    Categorical("x", False, ["é", "ﬁ", "K", "a\tb", "", " ", "1e-320"], outside="missing"),
    Numeric("x", cuts=[0.011732832292350781, 0.1, 0.30000000000000004, 2**53, 2**53 + 2, 1e300]),
    Numeric("x", cuts=[5e-324], ranges=[(0.3, 0.30000000000000004), (2**53 + 2, math.inf)]),
    Numeric("x", cuts=[math.ldexp(i, -7) for i in range(-300, 300)]),
    Boolean("x"),
    Categorical("x", False, range(-128, 128)),
    Categorical("x", False, [3, 4, 5, 6], {"low": [3], "high": [4, 5]}, outside="other"),
    Categorical("x", False, [2, 1, 0], outside="missing"),
    Numeric("x", cuts=[-1e300, -128.5, -128, 0.5, 127, 1e300], low=-129, high=3, outside="missing"),
]


PARTS = [
    Numeric("year of x", cuts=[1, 1969, 2023, 9998]),
    Numeric("month of x", cuts=range(1, 12)),
    Categorical("weekday of x", categories=WEEKDAYS),
]


@pytest.mark.parametrize(("engine", "ansi"), TABLES_IN, indirect=["engine"])
def test_the_bins_of_every_column_of_every_type(engine, ansi):
    set_ansi(engine, ansi)
    tried = [(kind, arrow, values, COLUMNS) for (kind, arrow), values in (*EVERY.items(), *DATES.items())]
    tried += [("date", pa.timestamp("us", "UTC"), DATES["date", pa.timestamp("us")], COLUMNS)]
    if engine.dialect == "spark":  # what it makes of times that come from Python follows its settings
        tried = [some for some in tried if not pa.types.is_timestamp(some[1])]
    tried += [(kind, arrow, values, LARGE) for (kind, arrow), values in (*EVERY.items(), *MORE.items())]
    for kind, arrow, values, columns in tried:
        numbers = kind != "text" or engine.dialect == "duckdb"
        fitting = [c for c in columns if numbers or not isinstance(c, Numeric)]
        fitting = [c for c in fitting if isinstance(c, Date) == (kind == "date")]
        if kind != "text":  # where two categories are the same number, a column of numbers is refused
            fitting = [c for c in fitting if not isinstance(c, Categorical) or tells_apart(c)]
        array = pa.array(values, arrow, from_pandas=False)
        named = [replace(c, name=f"x{i}") for i, c in enumerate(fitting)]
        check_each_record(engine, pa.table({c.name: array for c in named}), named)
        if kind == "date" and getattr(arrow, "tz", None) is None:
            check_each_record(engine, pa.table({"x": array}), PARTS)


def tells_apart(column):
    return all(column.value_bins.matching.fits(kind) for kind in "bif")


def test_any_schema_any_values(engine):
    @settings(max_examples=run_with(engine, 80), suppress_health_check=list(HealthCheck))
    @given(schemas(), st.data())
    def check(schema, data):
        table, _ = data.draw(stored_tables(schema))
        assume(engine.dialect != "spark" or not any(map(pa.types.is_timestamp, table.schema.types)))
        check_each_record(engine, table, schema.columns)

    check()


SIGNS = st.sampled_from(
    [*"0123456789.eE+-_ \t\n\r\v\f\x1c\x85\xa0\u2003\u200b\0xdnainfty,", "inf", "nan", "1e", "٣", "७", "𝟗", "²", "½"]
)


READ_ELSEWHERE = [
    "1_0",
    "1_000.5",
    "0x1",
    "1d",
    "1f",
    "1e",
    "٣",
    "𝟗.५",
    "\u2003 3\xa0",
    "\x1c3",
    "²",
    " - 1",
    "\t3\n\v\f\r",
    "3\n4",
    "Inf",
    "+iNfInItY",
    "nan",
    "1 2",
    "+-1",
    "1e999",
    "-1e999",
]


@settings(max_examples=examples(60))
@example(READ_ELSEWHERE)
@given(st.lists(st.lists(SIGNS, max_size=6).map("".join) | st.none(), min_size=2, max_size=60))
def test_texts_that_are_numbers(duckdb_engine, texts):
    """In DuckDB only: a CSV file has texts, and engines differ on what they read as a number."""
    columns = [
        Numeric("x", cuts=[-1, 0, 0.5, 3, 10, 1e9]),
        Numeric("x2", low=0, high=4, cuts=[1, 2], outside="missing"),
    ]
    array = pa.array(texts, pa.string())
    check_each_record(duckdb_engine, pa.table({"x": array, "x2": array}), columns)


FLOATS = st.sampled_from([None, math.nan, 0.0, 1.0, 2.0, -2.0, math.inf, -math.inf, 1e300])


@settings(max_examples=examples(20))
@example([1.0, math.nan])
@example([1.0, 2.0, math.nan, None])
@example([math.nan, math.nan])
@given(st.lists(FLOATS, min_size=2, max_size=8))
def test_what_a_parquet_file_says_of_its_numbers_is_not_believed(tmp_path_factory, values):
    """Its smallest and largest number leave NaN out, and DuckDB concludes from them what it takes NaN for."""
    columns = [
        Numeric("x0", cuts=[0, 1.5]),
        Numeric("x1", cuts=[2.5], low=-3, high=3, outside="missing"),
        Numeric("x2", ranges=[(0, 1), (1.5, 9)]),
        Categorical("x3", False, [1, 2], outside="missing"),
        Categorical("x4", True, [0, 1, -2, "inf"]),
        Boolean("x5"),
    ]
    for kind in (pa.float64(), pa.float32()):
        array = pa.array(values, kind, from_pandas=False)
        schema, table = numbered(pa.table({c.name: array for c in columns}), columns)
        path = tmp_path_factory.getbasetemp() / "numbers.parquet"
        pq.write_table(table, path)
        expected = content(PrivateCounts.from_table(table, table["number of the record"], schema))
        assert content(PrivateCounts.from_source(open_table(path), schema)) == expected
        target = Schema([Boolean("b")], "x0", [1.0, 2.0])
        labelled = pa.table({"x0": array, "b": [True] * len(values)})
        pq.write_table(labelled, path)
        expected = content(PrivateCounts.from_table(labelled, labelled["x0"], target))
        assert content(PrivateCounts.from_source(open_table(path), target)) == expected


def test_decimals_that_no_floating_point_number_is_near_to(postgresql_engine_if_slow):
    engine = postgresql_engine_if_slow
    values = [
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "NaN",
        "Infinity",
        "-Infinity",
        "2.5e-324",
        "1.7976931348623158e308",
    ]
    column = Numeric("x", cuts=[-5e-324, 0, 4e-324, 1e308, 1.7976931348623157e308])
    schema = Schema([column], "y", list(range(len(values))))
    query = ", ".join(f"('{value}'::numeric, {i})" for i, value in enumerate(values))
    engine.connection.execute(
        f"DROP TABLE IF EXISTS decimals; CREATE TABLE decimals AS SELECT * FROM (VALUES {query}) t (x, y)"
    )
    from .ibis_tables import connect

    floats = np.array([float(value) for value in values])
    expected = PrivateCounts.from_table({"x": floats}, np.arange(len(values)), schema)
    assert content(PrivateCounts.from_source(connect(engine).table("decimals"), schema)) == content(expected)
    engine.connection.execute(
        "DROP TABLE IF EXISTS long_decimals; CREATE TABLE long_decimals (x numeric(900, 450), y int); "
        "INSERT INTO long_decimals VALUES ('1e400', 0), ('-1e400', 1), ('1e-400', 2), ('NaN', 3)"
    )
    expected = PrivateCounts.from_table({"x": np.array([np.inf, -np.inf, 0.0, np.nan])}, np.arange(4), schema)
    assert content(PrivateCounts.from_source(connect(engine).table("long_decimals"), schema)) == content(expected)


@pytest.fixture(params=[pytest.param("postgresql", marks=pytest.mark.slow)])
def postgresql_engine_if_slow(request):
    return request.getfixturevalue("postgresql_engine")


# --- names and texts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("some", range(4))
def test_hostile_names_categories_and_labels(engine, some):
    words = [w for w in HOSTILE[some::4] if not (engine.dialect == "spark" and "${" in w)]
    words = [w[:60] for w in dict.fromkeys(words)]
    columns = [Categorical(w, True, [w, f"{w} ", "other"]) for w in words]
    rows = {w: [w, f"{w} ", None, w.upper(), w] for w in words}
    classes = sorted({*words, "no"})
    labels = [words[0], "no", words[-1], None, f"{words[0]}?"]
    table = pa.table(rows | {"the label": labels})
    schema = Schema(tuple(columns), "the label", classes)
    found = PrivateCounts.from_source(stored(engine, table), schema)
    assert content(found) == content(PrivateCounts.from_table(table, labels, schema))
    assert found.patterns.counts.sum() == 3


@pytest.mark.parametrize(
    "word", ["${env:HOME}", "a${b}c${", "$", "\0", "a\0'b", "\ud800", "\\'", "\\", "%s", "{}", "?"]
)
def test_words_that_some_engine_takes_for_something_else(engine, word):
    held = [w for w in (word, f"{word}x", "x") if can_be_held(engine, w)]
    schema = Schema([Categorical("c", False, [word, "x"])], "y", [word, "no"])
    table = pa.table({"c": pa.array(held, pa.string()), "y": pa.array(held, pa.string())})
    expected = PrivateCounts.from_table(table, table["y"].to_numpy(zero_copy_only=False), schema)
    assert content(PrivateCounts.from_source(stored(engine, table), schema)) == content(expected)


def can_be_held(engine, word):
    return "\ud800" not in word and not ("\0" in word and engine.dialect == "postgresql")


# --- labels -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "arrow", "labels"),
    [
        (None, pa.bool_(), [True, False, None, True]),
        ((0, 1), pa.int64(), [0, 1, 2, None]),
        ((0, 1), pa.float64(), [0.0, 1.0, math.nan, None]),
        ((0.5, 1.0, -2.0), pa.float64(), [0.5, 1.0, -2.0, 0.25]),
        ((False, True), pa.int8(), [0, 1, -1, None]),
        ((1, 2, 3), pa.decimal128(5, 2), [Decimal("1.00"), Decimal("2.50"), Decimal("3.00"), None]),
        (("a", "b"), pa.string(), ["a", "b", "c", None]),
        (("1", "0"), pa.string(), ["1", "0", "01", "1.0"]),
        ((2**62, 2**62 + 1), pa.int64(), [2**62, 2**62 + 1, 2**62 + 2, None]),
    ],
)
def test_labels_of_every_type(engine, classes, arrow, labels):
    schema = Schema([Boolean("b")], "y", classes)
    table = pa.table({"b": [True, True, False, False], "y": pa.array(labels, arrow, from_pandas=False)})
    expected = PrivateCounts.from_table(table, table["y"], schema)
    assert content(PrivateCounts.from_source(stored(engine, table), schema)) == content(expected)


# --- whole tables -------------------------------------------------------------------------------------------------------------


def in_memory(frame, target):
    """The same table as each kind of table in memory: X and y."""
    X = frame.drop(columns=target)
    yield "pandas", X, frame[target]
    yield "polars", pl.from_pandas(X), pl.from_pandas(frame[target])
    yield "NumPy", X.to_numpy(dtype=object), frame[target].to_numpy()
    yield "pyarrow", pa.Table.from_pandas(X, preserve_index=False), pa.array(frame[target])


@pytest.mark.parametrize(("name", "binary"), pairs(LOADERS, [False, True]))
def test_the_datasets(engine, name, binary):
    data = LOADERS[name](binary=binary)
    frame, schema = data.frame, data.schema
    table = stored(engine, pa.Table.from_pandas(frame, preserve_index=False))
    patterns = content(PrivateCounts.from_source(table, schema))
    exclude = schema.names[:1]
    fitted = {called: make(schema=schema, exclude=exclude).fit_source(table) for called, make in LEARNERS.items()}
    for kind, X, y in in_memory(frame, schema.target):
        assert content(PrivateCounts.from_table(X, y, schema)) == patterns, kind
        for called, make in LEARNERS.items():
            if kind == "pandas" or called == "mass":
                model = make(schema=schema, exclude=exclude).fit(X, y)
                assert model.rule_list_ == fitted[called].rule_list_
                assert str(model.privacy_) == str(fitted[called].privacy_)
                assert model.classes_.tolist() == fitted[called].classes_.tolist()
    assert fitted["mass"].predict(data.data).tolist() == model.predict(data.data).tolist()


def test_statements_are_the_same(engine):
    data = load_compas()
    table = stored(engine, pa.Table.from_pandas(data.frame, preserve_index=False))
    for make in (DPGreedyRuleListClassifier, DPOptimalRuleListClassifier):
        for more in ({}, {"records_per_person": 3}):
            here = make(epsilon=0.5, max_length=2, schema=data.schema, **more).fit(data.data, data.target)
            there = make(epsilon=0.5, max_length=2, schema=data.schema, **more).fit_source(table)
            assert here.privacy_ == there.privacy_
            assert there.privacy_.proved is not None


EMPTY = pa.table({"n": pa.array([], pa.float64()), "c": pa.array([], pa.string()), "y": pa.array([], pa.int64())})
SMALL = Schema([Numeric("n", cuts=[1, 2]), Categorical("c", categories=["a", "b"]), Ignored("z")], "y", [0, 1])


@pytest.mark.parametrize(
    "table",
    [
        EMPTY,
        pa.table({"n": [1.0] * 500, "c": ["a"] * 500, "y": [1] * 500}),
        pa.table({"n": pa.array([None] * 9, pa.float64()), "c": pa.array([None] * 9, pa.string()), "y": [0, 1, 5] * 3}),
        pa.table({"n": [1.0, 1.5], "c": ["a", "zzz"], "y": pa.array([None, None], pa.int64())}),
    ],
    ids=["empty", "duplicates", "all missing", "no labels"],
)
def test_odd_tables(engine, table):
    expected = PrivateCounts.from_table(table, table["y"], SMALL)
    there = stored(engine, table)
    assert content(PrivateCounts.from_source(there, SMALL)) == content(expected)
    for make in LEARNERS.values():
        here = make(schema=SMALL).fit(pd.DataFrame(table.drop(["y"]).to_pydict()).assign(z=0), table["y"].to_pylist())
        assert make(schema=SMALL).fit_source(there).rule_list_ == here.rule_list_


def test_empty_partitions(engine):
    """Parts of a table that have no records: partitions of Spark, chunks of Arrow, blocks that a view filters away."""
    part = pa.table({"n": [1.0, 2.5], "c": ["a", None], "y": [0, 1]})
    table = pa.concat_tables([EMPTY, part, EMPTY, part, EMPTY])
    # PySpark itself loses what comes after an empty chunk
    there = stored(engine, table.combine_chunks() if engine.dialect == "spark" else table)
    expected = content(PrivateCounts.from_table(table, table["y"], SMALL))
    assert content(PrivateCounts.from_source(there, SMALL)) == expected
    assert content(PrivateCounts.from_source(there.filter((there.n <= 99) | there.n.isnull()), SMALL)) == expected
    if engine.dialect == "spark":
        from .ibis_tables import connect

        spread = engine.connection.table("records").repartition(7)
        spread.createOrReplaceTempView("spread")
        assert content(PrivateCounts.from_source(connect(engine).table("spread"), SMALL)) == expected


def test_views_and_computed_columns(engine):
    table = stored(engine, pa.table({"text": ["1", "x", None], "c": ["a", "b", "b"], "y": [0, 1, 1]}))
    view = table.mutate(n=table.text.length().cast("float64"))
    expected = PrivateCounts.from_table({"n": [1.0, 1.0, np.nan], "c": ["a", "b", "b"]}, [0, 1, 1], SMALL)
    assert content(PrivateCounts.from_source(view, SMALL)) == content(expected)

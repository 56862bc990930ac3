import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Boolean, Categorical, Ignored, Literal, Numeric, Schema
from discreet._utils.errors import SchemaError
from discreet._utils.tables import as_table
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.schema.inference import infer_schema

from ..support import brute_force
from ..support.strategies import columns, schemas, tables, values_for, words


@given(schemas())
def test_a_schema_comes_back_from_toml(schema):
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(schema.to_dict()) == schema


@given(st.lists(words, min_size=1, max_size=5, unique=True), words)
def test_odd_names_come_back_from_toml(names, target):
    schema = Schema.of_booleans([n for n in names if n != target] or ["a"], target=target, classes=("a", "b"))
    assert Schema.from_toml(schema.to_toml()) == schema


@given(st.data())
def test_bins_tell_what_every_test_says_of_every_value(data):
    column = data.draw(columns("c"))
    drawn = data.draw(st.lists(values_for(column), max_size=20))
    values = np.empty(len(drawn), dtype=object)
    values[:] = drawn
    bins = column.encode(values)
    assert ((bins >= 0) & (bins < column.n_bins)).all()
    for op, wanted in column.tests():
        for literal in (Literal("c", op, wanted), ~Literal("c", op, wanted)):
            true = column.where(literal.op, literal.value)[bins]
            assert true.tolist() == [brute_force.holds(column, literal, v) for v in drawn], literal


@given(st.data())
def test_encoding_treats_each_record_on_its_own(data):
    schema = data.draw(schemas())
    table, _ = data.draw(tables(schema))
    for column in schema.columns:
        values = table[column.name]
        alone = [column.encode(values[i : i + 1])[0] for i in range(len(values))]
        assert column.encode(values).tolist() == alone


@pytest.mark.parametrize("load", [load_adult, load_compas, load_german_credit])
def test_shipped_schemas_come_back_from_toml_and_fit_their_tables(load, tmp_path):
    data = load()
    data.schema.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == data.schema
    for column in data.schema.used:
        bins = column.encode(as_table(data.data).column(column.name), strict=True)
        assert column.domain[np.unique(bins)].all()


def test_cuts_between_bounds():
    assert Numeric("a", low=0, high=10, n_cuts=4).all_cuts == (2, 4, 6, 8)
    assert Numeric("a", low=1, high=10_000, n_cuts=3, spacing="log").all_cuts == (10, 100, 1000)
    assert Numeric("a", cuts=[5], low=0, high=10, n_cuts=4).all_cuts == (2, 4, 5, 6, 8)


def test_overlapping_ranges_with_ends_included():
    column = Numeric("age", ranges=[[18, 20], [18, 22], [30, math.inf], [-math.inf, 21]])
    assert column.tests() == [("in", (18, 20)), ("in", (18, 22)), (">=", 30), ("<=", 21)]
    bins = column.encode(np.array([17, 18, 20, 20.5, 22, 29.9, 30, np.nan]))
    assert column.where("in", (18.0, 20.0))[bins].tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    assert column.where("in", (18.0, 22.0))[bins].tolist() == [0, 1, 1, 1, 1, 0, 0, 0]
    assert column.where("<", 30.0)[bins].tolist() == [1, 1, 1, 1, 1, 1, 0, 0]


def test_groups_share_bins():
    column = Categorical("job", categories=["boss", "spy"], groups={"field": ["farmer", "fisher"], "desk": ["clerk"]})
    assert len(set(column.encode(np.array(["farmer", "fisher"], dtype=object)))) == 1
    assert column.n_bins == 4  # field, desk, neither (boss, spy, anything else), missing
    other = Categorical("job", categories=["boss"], groups={"desk": ["clerk"]}, ungrouped="other", outside="missing")
    assert other.tests() == [("=", "desk"), ("=", "other"), ("is missing", None)]
    assert other.where("=", "other")[other.encode(np.array(["boss", "clerk", "xyz"], dtype=object))].tolist() == [
        1,
        0,
        0,
    ]


def test_categories_are_known_by_their_text():
    column = Categorical("rate", categories=[1, 2, 3])
    for values in (np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0]), np.array(["1", "2", "3"], dtype=object)):
        assert column.encode(values, strict=True).tolist() == [0, 1, 2]


def test_a_missing_integer_is_not_taken_for_a_category_that_is_not_listed():
    column, values = Categorical("rate", True, categories=[1, 2]), np.array([2, None, 1], dtype=object)
    assert column.encode(values, strict=True).tolist() == [1, column.n_bins - 1, 0]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (Numeric("c", cuts=[1]), [1.0, math.nan], "missing = true"),
        (Numeric("c", cuts=[1]), ["1", "SECRET"], "no numbers"),
        (Numeric("c", cuts=[1], low=0, high=2, outside="error"), [99.0], "beyond its bounds"),
        (Categorical("c", categories=["a"]), ["a", "SECRET"], "does not list"),
        (Categorical("c", categories=["a"], outside="error"), ["SECRET"], "does not list"),
        (Boolean("c"), ["yes", "SECRET"], "neither true nor false"),
        (Boolean("c"), [True, None], "missing = true"),
    ],
)
def test_strict_encoding_names_the_column_and_the_fix_but_no_value(column, values, message):
    values = np.array(values, dtype=object)
    column.encode(values)  # not strict: total
    with pytest.raises(SchemaError, match=message) as raised:
        column.encode(values, strict=True)
    assert "'c'" in str(raised.value)
    assert "SECRET" not in str(raised.value)
    assert "99" not in str(raised.value)


def test_dates_and_unhashable_values():
    with pytest.raises(SchemaError, match="ignore"):
        Numeric("c", cuts=[1]).encode(np.array(["2020-01-01"], dtype="datetime64[D]"))
    lists = np.empty(2, dtype=object)
    lists[:] = [[1], None]
    assert Categorical("c", categories=["a"]).encode(lists).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns.a", "not valid TOML"),
        ("x = 1", "unknown entry 'x'"),
        ("", "no columns"),
        ("columns = 3", "no columns"),
        ("[columns.a]\ncuts = [1]", "needs a type"),
        ("[columns.a]\ntype = 'number'", "unknown type 'number'"),
        ("[columns.a]\ntype = 'numeric'\ncut = [1]", "unknown entry 'cut'"),
        ("[columns.a]\ntype = 'numeric'\ncuts = [2, 1]", "increasing order"),
        ("[columns.a]\ntype = 'numeric'\nlow = 0\nhigh = 9", "needs cuts, or ranges"),
        ("[columns.a]\ntype = 'numeric'\ncuts = ['2']", "must be finite numbers"),
        ("[columns.a]\ntype = 'numeric'\ncuts = [nan]", "finite"),
        ("[columns.a]\ntype = 'numeric'\ncuts = 5", "must be a list"),
        ("[columns.a]\ntype = 'numeric'\nranges = [[1]]", "pairs"),
        ("[columns.a]\ntype = 'numeric'\nranges = [[2, 1]]", "must not be above"),
        ("[columns.a]\ntype = 'numeric'\nn_cuts = 4", "needs the bounds"),
        ("[columns.a]\ntype = 'numeric'\nlow = 0\nhigh = 9\nn_cuts = 4\nspacing = 'log'", "low above 0"),
        ("[columns.a]\ntype = 'numeric'\ncuts = [1]\nlow = 3\nhigh = 3", "low must be below high"),
        ("[columns.a]\ntype = 'numeric'\noutside = 'other'", "one of 'clip'"),
        ("[columns.a]\ntype = 'categorical'", "needs categories or groups"),
        ("[columns.a]\ntype = 'categorical'\ncategories = ['x', 'x']", "twice"),
        ("[columns.a]\ntype = 'categorical'\ncategories = ['1', 1]", "twice"),
        ("[columns.a]\ntype = 'categorical'\ncategories = [1.5]", "strings or integers"),
        ("[columns.a]\ntype = 'categorical'\ncategories = 'abc'", "must be a list"),
        ("[columns.a]\ntype = 'categorical'\ngroups = ['x']", "table of lists"),
        ("[columns.a]\ntype = 'boolean'\nmissing = 'yes'", "missing must be one of"),
        ("[target]\nclasses = ['x']\n[columns.a]\ntype = 'boolean'", "two or more"),
        ("[target]\nclasses = ['x', 'x']\n[columns.a]\ntype = 'boolean'", "twice"),
        ("target = 3\n[columns.a]\ntype = 'boolean'", "must be a table"),
    ],
)
def test_a_wrong_schema_file_says_where(text, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


def test_lookup_and_exclusion():
    schema = Schema([Boolean("a"), Boolean("b")])
    assert schema.exclude(["b"]).columns == (Boolean("a"), Ignored("b"))
    for wrong in (lambda: schema["c"], lambda: schema.exclude(["c"])):
        with pytest.raises(SchemaError, match="'a', 'b'"):
            wrong()
    with pytest.raises(SchemaError, match="twice"):
        Schema([Boolean("a"), Boolean("a")])


def test_inference_sees_types():
    frame = pd.DataFrame(
        {
            "flag": [True, False, True, True],
            "zero_one": [0, 1, 1, 0],
            "number": [1.5, 2.5, 3.5, np.nan],
            "text": ["a", "b", None, "a"],
            "when": pd.to_datetime(["2020-01-01"] * 4),
            "id": [f"person {i}" for i in range(4)],
            "lists": [[1], [2], [3], [4]],
            "maybe": [True, None, False, True],
            "constant": [3, 3, 3, 3],
        }
    )
    many = pd.concat([frame.assign(id=[f"{i} {j}" for j in range(4)]) for i in range(20)], ignore_index=True)
    schema = infer_schema(as_table(many))
    kinds = {c.name: (c.kind, c.missing) for c in schema.columns}
    assert kinds == {
        "flag": ("boolean", False),
        "zero_one": ("boolean", False),
        "number": ("numeric", True),
        "text": ("categorical", True),
        "when": ("ignore", False),
        "id": ("ignore", False),
        "lists": ("ignore", False),
        "maybe": ("boolean", True),
        "constant": ("ignore", False),
    }
    assert schema["number"].cuts == (1.5, 2.5)


def test_texts_with_a_nul_are_told_apart_whatever_else_is_in_the_column():
    column = Categorical("c", categories=["x", "x\0y"], outside="none")
    x, xy, other = (int(column.encode(np.array([v], dtype=object))[0]) for v in ("x", "x\0y", "x\0z"))
    assert len({x, xy, other}) == 3
    for values in (["x\0z", "x", "x\0y"], ["x", "x\0y", "x\0z"]):
        assert column.encode(np.array(values, dtype=object)).tolist() == [
            {"x": x, "x\0y": xy, "x\0z": other}[v] for v in values
        ]


@pytest.mark.parametrize("part", ["a", "a" * 65, '"a b"', r'"a\"b"', "' '"])
def test_a_name_of_endless_parts_is_refused_before_it_is_read(part):
    with pytest.raises(SchemaError, match="more than 64 parts"):
        Schema.from_toml(".".join([part] * 70) + " = 1")


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    schema = Schema([Boolean(name) for name in [*"abcdefghij", "income"]])
    with pytest.raises(SchemaError, match=r"no column 'incom'; did you mean 'income'\?$"):
        schema["incom"]
    with pytest.raises(SchemaError, match=r"which is not there; did you mean 'income'\?$"):
        schema.exclude(["Incom"])
    with pytest.raises(SchemaError, match=r"which is not there; there are 'a', .* and 3 more$"):
        schema.exclude([7])


def test_many_numbers_have_the_bins_that_each_has_alone():
    columns = [
        Numeric("a", cuts=[1, 2, 3, 5.5], ranges=[(0, 2), (2, None), (4, 4)], missing=True),
        Numeric("a", cuts=list(range(60))),
        Numeric("a", cuts=list(range(61))),  # more are searched
        Numeric("a", low=-3, high=9, n_cuts=9, outside="missing"),
    ]
    rng = np.random.default_rng(0)
    some = [rng.integers(-5, 70, 3000), rng.normal(size=3000) * 5, [np.nan, np.inf, -np.inf, -0.0]]
    values = np.concatenate(some).astype(float)
    for column in columns:
        alone = np.concatenate([column.encode(values[i : i + 500]) for i in range(0, len(values), 500)])
        assert column.encode(values).tolist() == alone.tolist()
        assert column.encode(values).dtype == alone.dtype

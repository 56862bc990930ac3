"""No single value can stop a fit, or make it say anything, whatever library holds it; nor change what others are taken for."""

import warnings
from datetime import time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import Boolean, Categorical, DPGreedyRuleListClassifier, Numeric, PrivateCounts, Schema
from discreet.private import reminders
from discreet.schema.columns import canonical, is_missing

from .test_conformance import content

COLUMNS = (Categorical("x", True, ["a", "b", "1"], outside="other"), Numeric("x", True, cuts=[1]), Boolean("x", True))
NO_TEXT = b"Zq7\xff\xfeMarked that is longer than a view holds"
CLASSES = {"a": pa.binary(), "large": pa.large_binary(), "view": pa.binary_view()}


def texts(of, first=NO_TEXT):
    """Arrow takes the bytes for a text, and does not look."""
    held = pa.array([first, b"a", b"b", None, b"1"], CLASSES[of])
    kind = {"a": pa.string(), "large": pa.large_string(), "view": pa.string_view()}[of]
    return pa.Array.from_buffers(kind, len(held), held.buffers())


def numbers_as(kind, odd):
    return pa.array([odd, 1, 2, None, 1], pa.int64()).cast(pa.int32() if kind == pa.date32() else pa.int64()).view(kind)


ARROW = {
    "text": lambda: texts("a"),
    "large text": lambda: texts("large"),
    "view of a text": lambda: texts("view"),
    "short text": lambda: texts("a", b"\xff"),
    "chunks of texts": lambda: pa.chunked_array([texts("a")[:1], texts("a")[1:]]),
    "dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 4], pa.int8()), texts("a")),
    "bytes": lambda: pa.array([NO_TEXT, b"a", b"b", None, b"1"], pa.binary()),
    "lists of texts": lambda: pa.ListArray.from_arrays([0, 1, 2, 3, 3, 3], texts("a")),
    "structs of texts": lambda: pa.StructArray.from_arrays([texts("a")], ["part"]),
    "date": lambda: numbers_as(pa.date32(), 2**31 - 1),
    "time": lambda: numbers_as(pa.time64("us"), 2**62),
    "timestamp": lambda: numbers_as(pa.timestamp("s"), 2**62),
    "timestamp of a place": lambda: numbers_as(pa.timestamp("s", "Europe/Berlin"), 2**62),
    "duration": lambda: numbers_as(pa.duration("s"), 2**62),
    "dictionary of times": lambda: pa.array([2**62, 1, 2, None, 1]).cast(pa.timestamp("s")).dictionary_encode(),
    "decimal": lambda: pa.array([Decimal("9" * 76), Decimal(1), Decimal(2), None, Decimal(1)], pa.decimal256(76, 0)),
    "whole": lambda: pa.array([2**64 - 1, 1, 2, None, 1], pa.uint64()),
}
LIBRARIES = {
    "pyarrow": lambda column: pa.table({"x": column}),
    "pandas": lambda column: pa.table({"x": column}).to_pandas(),
    "pandas with Arrow": lambda column: pa.table({"x": column}).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda column: pl.from_arrow(pa.table({"x": column})),
    "mapping": lambda column: {"x": column},
}
NOT_MADE = (ValueError, pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def fitted(column, X, y):
    """What happens in a fit, and the patterns if it has an end. The class is the number of the record."""
    schema = Schema([column], "y", list(range(5)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            if not isinstance(X, dict):  # which private counts takes, and scikit-learn does not
                DPGreedyRuleListClassifier(max_length=2, schema=schema, random_state=0).fit(X, y)
            return [str(w.message) for w in said], content(PrivateCounts.from_table(X, y, schema))
        except Exception as error:
            return type(error), str(error)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ARROW)
def test_a_value_that_python_does_not_have(name, library, capfd, monkeypatch):
    monkeypatch.setattr(reminders, "_warned_of_seeds", True)  # said once, whatever the records
    if (name, library) == ("decimal", "polars"):
        pytest.skip("polars has no such decimals")
    try:
        X = LIBRARIES[library](ARROW[name]())
        rest = LIBRARIES[library](ARROW[name]()[1:])
    except NOT_MADE:
        pytest.skip(f"{library} cannot hold it")
    capfd.readouterr()
    for column in COLUMNS:
        said, found = fitted(column, X, [0, 1, 2, 3, 4])
        said_of_rest, found_of_rest = fitted(column, rest, [1, 2, 3, 4])
        assert said == said_of_rest
        if isinstance(said, list):
            counts, of_rest = np.array(found[1]), np.array(found_of_rest[1])
            others = counts[:, 1:][counts[:, 1:].any(axis=1)]  # the patterns of the other records are what they were
            assert others.tolist() == of_rest[:, 1:].tolist()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "pandas with Arrow", "polars", "array"])
def test_a_label_that_is_no_text(library, capfd):
    try:
        y = texts("a") if library == "array" else LIBRARIES[library](texts("a"))["x"]
    except NOT_MADE:
        pytest.skip(f"{library} cannot hold it")
    schema = Schema([Boolean("z")], "x", ["a", "b", "1"])
    X = pd.DataFrame({"z": [True] * 5})
    private = PrivateCounts.from_table(X, y, schema)
    assert private.patterns.counts.tolist() == [[1, 1, 1]]
    DPGreedyRuleListClassifier(max_length=2, schema=schema).fit(X, y)
    assert capfd.readouterr() == ("", "")


class Stubborn:
    """A value that answers no question."""

    def _no(self, *_):
        raise RuntimeError("Zq7Marked")

    __eq__ = __hash__ = __str__ = __repr__ = __float__ = __len__ = __bool__ = __iter__ = __int__ = __array__ = _no


@pytest.mark.parametrize(
    "odd",
    [
        Stubborn(),
        10**5000,
        -(10**400),
        "\ud800",
        Decimal("sNaN"),
        Decimal("1E+999999999"),
        1j,
        b"\xff",
        pd.NaT,
        time.max,
    ],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("library", ["list", "pandas", "array", "categories"])
def test_an_object_that_is_nothing_usual(odd, library, monkeypatch):
    monkeypatch.setattr(reminders, "_warned_of_seeds", True)
    values = np.empty(5, object)
    for i, value in enumerate([odd, "a", "b", None, 1]):
        values[i] = value
    if library == "categories":
        try:
            X = pd.DataFrame({"x": pd.Categorical(values)})
        except Exception:
            pytest.skip("pandas cannot hold it")
    else:
        made = {"list": {"x": list(values)}, "pandas": pd.DataFrame({"x": pd.Series(values, dtype=object)})}
        X = made.get(library, values.reshape(-1, 1))
    for column in COLUMNS:
        said, found = fitted(column, X, [0, 1, 2, 3, 4])
        assert said == []
        assert np.array(found[1]).sum(axis=0).tolist() == [1] * 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("0.10"), "0.1"),
        (Decimal("1.00"), "1"),
        (Decimal("1E+2"), "100"),
        (Decimal("-0.0"), "0"),
        (Decimal("Infinity"), "inf"),
        (Decimal("100000000000000000000.1"), "100000000000000000000"),
        (np.float32(0.5), "0.5"),
        (np.float32(0.1), "0.10000000149011612"),
    ],
)
def test_a_number_is_a_category_by_its_value(value, text):
    assert canonical(value) == canonical(float(value)) == text


def test_a_decimal_that_is_no_number_is_missing():
    assert is_missing(Decimal("NaN"))
    assert is_missing(Decimal("sNaN"))
    assert not is_missing(Decimal("Infinity"))


@pytest.mark.parametrize("stored", ["objects", "pandas", "typed", "polars"])
def test_decimals_are_the_same_categories_wherever_they_are(stored):
    values = [Decimal("0.10"), Decimal("0.20"), Decimal("1.00"), None, Decimal("2.50")]
    typed = pa.table({"x": pa.array(values, pa.decimal128(5, 2))})
    made = {
        "objects": lambda: {"x": values},
        "pandas": lambda: pd.DataFrame({"x": values}, dtype=object),
        "typed": lambda: typed,
        "polars": lambda: pl.from_arrow(typed),
    }
    column = Categorical("x", True, ["0.1", 1, "0.20"], outside="other")
    schema = Schema([column], "y", list(range(5)))
    expected = PrivateCounts.from_table({"x": [0.1, 0.2, 1.0, None, 2.5]}, range(5), schema)
    assert content(PrivateCounts.from_table(made[stored](), range(5), schema)) == content(expected)

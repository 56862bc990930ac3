"""Columns of every type of every library, as (values, how to make a column of some of them). Types follow from the name alone."""

import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

BIG = 2**53 + 1  # no floating-point number
WHOLE = [0, 1, 7, BIG, None]
NUMBERS = [0.0, -0.0, 1.5, 0.1, float("nan"), float("inf"), None]
TEXTS = ["cook", "7", "", "cook\0x", "1", "nan", "None", None]
TRUTH = [True, False, None]
DATES = [datetime.date(2020, 1, 1), None]
TIMES = [datetime.datetime(2020, 1, 1), None]
TENTHS = [decimal.Decimal("0.10"), decimal.Decimal("1"), None]


class Loud:
    """A value that warns when it is looked at, as quantities with units do."""

    def __float__(self):
        warnings.warn("1.5 has a unit", stacklevel=1)
        return 1.5

    def __str__(self):
        warnings.warn("1.5 has a unit", stacklevel=1)
        return "cook"


def _pandas():
    for dtype, values in {"Int64": WHOLE, "Float64": NUMBERS, "boolean": TRUTH, "str": TEXTS, "string": TEXTS}.items():
        yield f"pandas {dtype}", values, lambda v, dtype=dtype: pd.Series(v, dtype=dtype)
        yield f"array of pandas {dtype}", values, lambda v, dtype=dtype: pd.array(v, dtype=dtype)
    for dtype, values in {"datetime64[ns]": TIMES, "datetime64[ns, UTC]": TIMES, "timedelta64[ns]": [1, None]}.items():
        yield f"pandas {dtype}", values, lambda v, dtype=dtype: pd.Series(v, dtype=dtype)
    for categories in (WHOLE[:-1], [0.5, 1.5], ["cook", "7"], TRUTH[:-1]):
        yield (
            f"categories {categories}",
            [*categories, None],
            lambda v, c=categories: pd.Series(pd.Categorical(v, categories=c)),
        )
        yield (
            f"array of categories {categories}",
            [*categories, None],
            lambda v, c=categories: pd.Categorical(v, categories=c),
        )
    for dtype, values in {"int64": WHOLE[:-1], "float64": NUMBERS[:-1], "object": ["cook", None]}.items():
        yield f"sparse {dtype}", values, lambda v, t=dtype: pd.Series(pd.arrays.SparseArray(np.array(v, dtype=t)))
    mixed = [*TEXTS, *WHOLE, *NUMBERS, *TENTHS, *DATES, pd.NA, pd.NaT, ["cook"], ("cook",), [["cook"]], Loud()]
    yield "pandas object", mixed, lambda v: pd.Series(_objects(v), dtype=object)
    yield "list", mixed, list
    yield "list of lists", [["cook"], ["7"], ["cook", "7"]], list
    yield "list of arrays", [np.array(["cook"]), np.arange(2), np.array(7)], list


def _arrow():
    types = {
        **{"int64": WHOLE, "uint64": WHOLE, "float32": NUMBERS, "float64": NUMBERS, "bool_": TRUTH, "null": [None]},
        **{"string": TEXTS, "large_string": TEXTS, "binary": [b"cook", b"\xff", None]},
        **{"date32": DATES, "date64": DATES},
    }
    types = {getattr(pa, name)(): values for name, values in types.items()} | {
        pa.float16(): [np.float16(0.1), None],
        pa.decimal128(20, 2): TENTHS,
        pa.decimal256(60, 2): TENTHS,
        pa.binary(4): [b"cook", b"coo\0", None],
        pa.timestamp("us"): TIMES,
        pa.timestamp("us", "UTC"): TIMES,
        pa.duration("s"): [1, None],
        pa.time32("s"): [1, None],
        pa.list_(pa.int64()): [[1], [1, 7], [], None],
        pa.struct([("x", pa.int64())]): [{"x": 1}, None],
        pa.map_(pa.string(), pa.int64()): [[("a", 1)], None],
        pa.dictionary(pa.int8(), pa.int64()): WHOLE,
        pa.dictionary(pa.int8(), pa.string()): TEXTS,
        pa.dictionary(pa.int8(), pa.float64()): NUMBERS[2:4],
        pa.run_end_encoded(pa.int32(), pa.int64()): [0, 1, None],
    }
    if hasattr(pa, "list_view"):
        types |= {pa.list_view(pa.int64()): [[1], None], pa.string_view(): TEXTS}
    for dtype, values in types.items():
        yield f"pyarrow {dtype}", values, lambda v, t=dtype: pa.array(v, t)
        yield (
            f"pyarrow {dtype} in chunks",
            values,
            lambda v, t=dtype: pa.chunked_array([pa.array([x], t) for x in v], type=t),
        )
        yield f"pandas on {dtype}", values, lambda v, t=dtype: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(v, t)))


def _polars():
    types = {
        **{pl.Int64: WHOLE, pl.UInt64: WHOLE, pl.Float32: NUMBERS, pl.Float64: NUMBERS},
        **{pl.String: TEXTS, pl.Binary: [b"cook", None], pl.Boolean: TRUTH, pl.Null: [None], pl.Date: DATES},
        pl.Decimal(20, 2): TENTHS,
        pl.Datetime("us", "UTC"): TIMES,
        pl.Duration: [datetime.timedelta(1), None],
        pl.Time: [datetime.time(1), None],
        pl.Categorical: ["cook", "7", None],
        pl.Enum(["cook", "7"]): ["cook", "7", None],
        pl.Object: ["cook", 1, None],
        pl.List(pl.Int64): [[1], [], None],
        pl.Struct({"x": pl.Int64}): [{"x": 1}, None],
    }
    types |= {getattr(pl, name): WHOLE for name in ("Int128", "UInt128") if hasattr(pl, name)}
    for dtype, values in types.items():
        yield f"polars {dtype}", values, lambda v, t=dtype: pl.Series("c", v, dtype=t)


def _numpy():
    types = {
        **{
            "i8": WHOLE[:-1],
            "u8": WHOLE[:-1],
            "f2": NUMBERS[:-1],
            "f4": NUMBERS[:-1],
            "g": NUMBERS[:-1],
            "?": TRUTH[:-1],
        },
        **{
            "U8": TEXTS[:-1],
            "S8": [b"cook", b"cook\0x", b"\xff"],
            "V4": [b"cook", b"7"],
            "M8[D]": ["2020-01-01", "NaT"],
        },
        "c16": [0j, complex(-0.0, -0.0), 1 + 0j, complex(float("nan"), 0)],
    }
    for dtype, values in types.items():
        yield f"NumPy {dtype}", values, lambda v, t=dtype: np.array(v, dtype=t)
    if hasattr(np.dtypes, "StringDType"):
        for na in (None, float("nan"), pd.NA):
            dtype = np.dtypes.StringDType(na_object=na)
            yield f"NumPy texts with {na}", ["cook", na, "7", "1"], lambda v, t=dtype: np.array(v, dtype=t)
    gone = [0, 1, None]
    yield "NumPy masked", gone, lambda v: np.ma.array([x or 0 for x in v], mask=[x is None for x in v], dtype=int)


def _objects(values):
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


COLUMNS = {name: (values, make) for kind in (_pandas, _arrow, _polars, _numpy) for name, values, make in kind()}


def as_frames(column):
    """Whatever tables a column may come in, with its name c."""
    yield {"c": column}
    if isinstance(column, pd.Series):
        yield pd.DataFrame({"c": column})
        yield pd.DataFrame({0: column})
    if isinstance(column, pl.Series):
        yield pl.DataFrame({"c": column})
    if isinstance(column, pa.Array | pa.ChunkedArray):
        yield pa.table({"c": column})
    if isinstance(column, np.ndarray):
        yield np.asarray(column).reshape(-1, 1)
    if isinstance(column, list):
        yield [[value] for value in column]
        yield [(value,) for value in column]

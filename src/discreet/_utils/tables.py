"""Any table, column by column: data frames that narwhals knows (pandas, polars, pyarrow, ...), mappings, arrays."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from narwhals.exceptions import DuplicateError

from .days import part_in, part_of
from .errors import SchemaError, no_value_shown
from .escaping import first_few

UNREADABLE = "<unreadable>"  # what is in a typed column and no value of Python, or of a type that no rule is about


class Table:
    """Named columns of one length, each given as a one-dimensional NumPy array when it is asked for."""

    def __init__(self, names: Sequence[str], length: int, get: Callable[[str, slice], np.ndarray]) -> None:
        self.names = list(names)
        self._known = frozenset(names)
        self._length = length
        self._get = get

    def __len__(self) -> int:
        return self._length

    def column(self, name: str, rows: slice | None = None) -> np.ndarray:
        """The values of a column: numbers, Booleans, dates, or objects with None where a value is missing."""
        if (found := part_in(name, self._known)) is not None:
            part, source = found
            return part_of(self.column(source, rows), part, source)
        if name not in self._known:
            there = first_few(self.names)
            raise SchemaError(f"the schema names column {name!r}, which the table does not have; it has {there}")
        with no_value_shown(f"column {name!r} of the table cannot be read"):
            return self._get(name, slice(0, len(self)) if rows is None else rows)


@no_value_shown("X cannot be read as a table")
def as_frame(X: Any) -> Any:
    """X as a narwhals frame if it is a data frame whose columns have names, else None."""
    if isinstance(X, np.ndarray | Mapping):
        return None
    try:
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise SchemaError("the table is lazy; call its .collect() (or read it into memory) first")
        names = list(frame.columns) if isinstance(frame, nw.DataFrame) else []
    except DuplicateError:
        raise SchemaError("the table has two columns of the same name; rename or drop one") from None
    if len(set(names)) < len(names):
        raise SchemaError("the table has two columns of the same name; rename or drop one")
    return frame if names and all(isinstance(name, str) for name in names) else None


@no_value_shown("X cannot be read as a table")
def as_table(X: Any, names: Sequence[str] | None = None) -> Table:
    """The table X. An array takes its column names, in order, from ``names``."""
    if isinstance(X, Table):
        return X
    if isinstance(X, Mapping):
        columns = {str(name): _as_column(str(name), values) for name, values in X.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise SchemaError("the columns of the table differ in length")
        types = {str(name): values[:0] if hasattr(values, "__getitem__") else values for name, values in X.items()}

        def read(name: str, rows: slice) -> np.ndarray:
            # of no records the type of the column, which is objects where one is missing among integers
            return (_as_column(name, types[name]) if rows == slice(0, 0) else columns[name])[rows]

        return Table(list(columns), len(next(iter(columns.values()), ())), read)
    if (frame := as_frame(X)) is not None:
        return Table(frame.columns, len(frame), _reader(frame))
    array = as_rows(X)
    if array.shape == (0,) and names is not None:  # no rows, so nothing says how many columns there are
        array = array.reshape(0, len(names))
    if array.ndim != 2:
        raise SchemaError("X must be a data frame, a mapping of columns, or an array of two dimensions")
    if names is None:
        names = array_names(array.shape[1])
    if len(names) != array.shape[1]:
        raise SchemaError(f"X has {array.shape[1]} columns without names, but the schema describes {len(names)}")
    place = {name: i for i, name in enumerate(names)}
    return Table(names, len(array), lambda name, rows: array[rows, place[name]])


@no_value_shown("a table or a list cannot be read")
def as_objects(values: Any) -> np.ndarray:
    """An array as it is; a list as a column of objects.

    NumPy would choose one type for all, and of lists of one length make more dimensions: one value would change others.
    """
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return _as_column_of(values) if _is_list(values) else np.array(None, dtype=object)


@no_value_shown("a table or a list cannot be read")
def as_rows(X: Any) -> np.ndarray:
    """An array as it is; a list of rows of one length, or a frame whose columns have no names, as an array of two dimensions."""
    if (columns := unnamed_columns(X)) is not None and not all(isinstance(c.dtype, np.dtype) for c in columns):
        # as objects: what NumPy makes of the whole would hang on whether a value is missing
        return _side_by_side([_values(nw.from_native(c, series_only=True)) for c in columns], X.shape)
    rows = as_objects(X)
    if hasattr(X, "__array__") or rows.shape in ((), (0,)):
        return rows
    lengths = {len(row) if _is_list(row) and getattr(row, "ndim", 1) == 1 else -1 for row in rows}
    if len(lengths) > 1 or -1 in lengths:
        return rows
    return _side_by_side(zip(*rows, strict=True), (len(rows), *lengths))


def unnamed_columns(X: Any) -> list[Any] | None:
    """The columns of a frame of pandas by their places; None for anything else."""
    return [X.iloc[:, i] for i in range(X.shape[1])] if isinstance(X, pd.DataFrame) else None


def _is_list(values: Any) -> bool:
    like_one = hasattr(values, "__len__") and hasattr(values, "__getitem__")
    return like_one and not isinstance(values, str | bytes | Mapping)


def _side_by_side(columns: Iterable[Iterable[Any]], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(shape, dtype=object)
    for i, values in enumerate(columns):
        array[:, i] = _as_column_of(values)
    return array


def renamed(table: Table, names: Sequence[str]) -> Table:
    """The same columns under other names."""
    old = dict(zip(names, table.names, strict=True))
    return Table(names, len(table), lambda name, rows: table.column(old[name], rows))


def only_column(y: Any) -> Any:
    """The column of a frame that has just one; anything else as it is. NumPy's type for a frame may hang on a missing value."""
    if (columns := unnamed_columns(y)) is not None:
        return columns[0] if len(columns) == 1 else y
    frame = as_frame(y)
    return y if frame is None or len(frame.columns) > 1 else frame.get_column(frame.columns[0]).to_native()


@no_value_shown("y cannot be read as a column of labels")
def as_array(y: Any) -> Any:
    """A column of any data frame library as an array; anything else is left as it is."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(y, pyarrow.Array):  # narwhals knows its chunked arrays only
        y = pyarrow.chunked_array([y])
    if isinstance(y, pd.api.extensions.ExtensionArray | pd.Index):  # NumPy's type for it may hang on a missing value
        y = pd.Series(y)
    series = nw.from_native(y, pass_through=True, allow_series=True)
    return _values(series) if isinstance(series, nw.Series) else y


def holds_objects(column: Any) -> bool:
    """Whether a column of pandas is declared to hold anything. narwhals would look at its first values to tell more."""
    return str(getattr(column, "dtype", None)) == "object"


def array_names(n: int) -> list[str]:
    """The names that the columns of an array go by, as elsewhere in scikit-learn."""
    return [f"x{i}" for i in range(n)]


def _as_column(name: str, values: Any) -> np.ndarray:
    """A list or array as one column. Strings and mixtures stay objects: NumPy would write a missing value as "nan"."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    array = as_objects(as_array(values))
    if array.ndim != 1:
        raise SchemaError(f"column {name!r} must be a list or an array of one dimension")
    return array.astype(object) if array.dtype.kind in "USTV" else array


def _reader(frame: Any) -> Callable[[str, slice], np.ndarray]:
    """Some rows of a column of a narwhals frame. To cut out all of them, or none, takes as long as to read a small column."""
    empty, none, every = cache(lambda: frame.head(0)), slice(0, 0), slice(0, len(frame))

    def read(name: str, rows: slice) -> np.ndarray:
        column = (empty() if rows == none else frame).get_column(name)
        return _values(column if rows in (none, every) else column[rows])

    return read


def _values(series: Any) -> np.ndarray:
    """A narwhals column as NumPy, with NaN or None where a value is missing. No value can stop it."""
    if holds_objects(native := series.to_native()):
        return _with_none(native.to_numpy(), native.isna)
    dtype = series.dtype  # narwhals finds it again whenever it is asked
    if isinstance(dtype, nw.Date | nw.Datetime) or isinstance(getattr(native, "dtype", None), pd.DatetimeTZDtype):
        return _dates(series, native)
    if isinstance(dtype, nw.Struct | nw.List | nw.Array):
        return _as_column_of(None if gone else UNREADABLE for gone in series.is_null().to_list())
    if series.implementation.is_polars() and isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        texts = series.cast(nw.String).cast(nw.Binary).to_list()  # polars would show on stderr one that is not UTF-8
        return _as_column_of(None if text is None else text.decode(errors="replace") for text in texts)
    if series.implementation.is_pyarrow() and dtype == nw.Unknown:
        return _one_by_one(series)  # pyarrow ends the process over some of these types, if there are no records
    try:
        values = _values_at_once(series, dtype)
    except Exception:  # a string that is not UTF-8, a time that Python does not have; others are what they would be
        values = _one_by_one(series)
    if isinstance(dtype, nw.Duration | nw.Time) and values.dtype.kind not in "mM":
        return np.full(len(series), "NaT", dtype="m8[s]")  # no rule is about them; the array's type tells theirs
    return values


def _dates(series: Any, native: Any) -> np.ndarray:
    """Dates and times, those with a zone in UTC. Not as values of Python, which has no days before year 1 or after 9999."""
    if isinstance(getattr(native, "dtype", None), pd.DatetimeTZDtype):
        return np.asarray(native.dt.tz_convert(None).to_numpy())
    if isinstance(native, pd.Series) and not isinstance(native.dtype, np.dtype):
        native = series.to_arrow()
        return np.asarray(native.to_numpy(zero_copy_only=False))
    return np.asarray(native.to_numpy())


def _one_by_one(series: Any) -> np.ndarray:
    return _as_column_of(_in_python(value) for value in (series.to_arrow() if len(series) else ()))


def _values_at_once(series: Any, dtype: Any) -> np.ndarray:
    native = series.to_native()
    # NumPy has no whole number for missing
    in_numpy = isinstance(native, pd.Series) and isinstance(native.dtype, np.dtype)
    whole = dtype.is_integer() and not in_numpy and (series.null_count() or dtype in (nw.Int128, nw.UInt128))
    if isinstance(dtype, nw.Categorical | nw.Enum) or whole:
        # as objects: NumPy has none of 128 bits, and a cast to floats would hang on whether another record is missing
        return _as_column_of(series.to_list())
    if dtype.is_decimal() or dtype.is_float():
        series = series.cast(nw.Float64).fill_null(float("nan"))
    values: np.ndarray = series.to_numpy()
    if values.dtype == object or not hasattr(values.dtype, "kind") or values.dtype.kind in "UST":
        return _with_none(np.asarray(values, dtype=object), lambda: series.is_null().to_numpy())
    return values


def _as_column_of(values: Iterable[Any]) -> np.ndarray:
    """Objects, into which NumPy does not look."""
    return np.fromiter(values, dtype=object)


def _in_python(value: Any) -> Any:
    """A scalar of pyarrow; of one that Python has no value for, its bytes as far as they are UTF-8, or ``UNREADABLE``."""
    value = getattr(value, "value", value) if type(value).__name__ == "DictionaryScalar" else value
    try:
        return value.as_py()
    except Exception:
        try:
            return value.as_buffer().to_pybytes().decode(errors="replace")
        except Exception:
            return UNREADABLE


def _with_none(values: np.ndarray, missing: Callable[[], Any]) -> np.ndarray:
    """Objects with None for pd.NA and its kin, as a library tells them or, if it cannot, as they look one by one."""
    if not len(values):
        return values
    try:
        gone = np.asarray(missing(), dtype=bool)
    except Exception:  # pandas compares, and some objects do not like that
        gone = np.array([_is_gone(v) for v in values], dtype=bool)
    if gone.any():
        values = values.copy()
        values[gone] = None
    return values


def _is_gone(value: Any) -> bool:
    """What pandas says of one value, so that a value which cannot be asked does not change what others are taken for."""
    try:
        return pd.isna(value) is True
    except Exception:
        return False

"""Values that can be recognised wherever they turn up, tables that hold them, and all that can be heard of a call."""

import datetime
import io
import logging
import re
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from fractions import Fraction
from types import TracebackType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

TEXT = "Zq7Marked"
NUMBER = 918273645.5
WHOLE = 918273645
DATE = datetime.date(1971, 3, 4)
# as they look without punctuation: the text, the number, the date as written, as arguments, as seconds since 1970
TRACES = ("zq7marked", "91827364", "19710304", "197134", "36892800")


def shows_a_mark(text):
    """Whether a text shows one of the values, in whatever notation: 9.18e+08 is looked at without its point."""
    squeezed = re.sub(r"[^0-9a-z]", "", text.lower())
    return any(trace in squeezed for trace in TRACES)


def _hostile(method, error, base=object):
    """An object whose own code fails with an exception that holds the marked text."""

    def fail(self, *arguments):
        raise error(TEXT)

    body = {method: property(fail) if method == "__class__" else fail}
    if method == "__eq__":
        body["__hash__"] = base.__hash__
    return type(f"Hostile{base.__name__}{method.strip('_')}", (base,), body)


METHODS = (
    *(
        "__str__",
        "__repr__",
        "__format__",
        "__float__",
        "__int__",
        "__index__",
        "__bool__",
        "__eq__",
        "__ne__",
        "__lt__",
    ),
    *("__gt__", "__hash__", "__len__", "__iter__", "__getitem__", "__array__", "__getattr__", "__getattribute__"),
    "__class__",
)
OF_NUMBERS = ("__str__", "__float__", "__int__", "__eq__", "__ne__", "__lt__", "__gt__", "__hash__", "__class__")
HOSTILE = {
    **{f"{m} {e.__name__}": _hostile(m, e)() for m in METHODS for e in (RuntimeError, ValueError)},
    **{
        f"str {m}": _hostile(m, RuntimeError, str)(TEXT) for m in ("__str__", "__eq__", "__lt__", "__hash__", "__len__")
    },
    **{f"float {m}": _hostile(m, RuntimeError, float)(NUMBER) for m in OF_NUMBERS},
    **{f"int {m}": _hostile(m, OverflowError, int)(WHOLE) for m in OF_NUMBERS},
}
PLAIN = {
    "text": TEXT,
    "number": NUMBER,
    "whole": WHOLE,
    "beyond any float": WHOLE * 10**400,
    "NumPy number": np.float32(NUMBER),
    "decimal": Decimal(str(NUMBER)),
    "signalling decimal": Decimal("sNaN918273645"),
    "huge decimal": Decimal("918273645E+999999999"),
    "fraction": Fraction(WHOLE, 2),
    "complex": complex(1, WHOLE),
    "date": DATE,
    "timestamp": pd.Timestamp(DATE),
    "NumPy date": np.datetime64(DATE),
    "period": pd.Period(DATE, "D"),
    "interval": pd.Interval(WHOLE, WHOLE + 1),
    "bytes": TEXT.encode(),
    "broken bytes": b"\xff" + TEXT.encode(),
    "list": [TEXT],
    "tuple": (TEXT, NUMBER),
    "dict": {TEXT: NUMBER},
    "set": {TEXT},
    "array": np.array([NUMBER]),
    "series": pd.Series([TEXT]),
    "memory": memoryview(TEXT.encode()),
    "error": ValueError(TEXT),
}
VALUES = PLAIN | HOSTILE


def column_of(values):
    """An array of objects that nobody has looked into."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def tables_of(columns):
    """One table in all the ways to hold objects: (name, table)."""
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    array = np.empty((len(rows), len(columns)), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            array[i, j] = value
    yield "array of objects", array
    yield "list of rows", rows
    yield "mapping of lists", {name: list(values) for name, values in columns.items()}
    yield "mapping of arrays", {name: column_of(values) for name, values in columns.items()}
    yield "pandas objects", pd.DataFrame({name: pd.Series(column_of(v), dtype=object) for name, v in columns.items()})
    yield "polars objects", pl.DataFrame([pl.Series(name, list(v), dtype=pl.Object) for name, v in columns.items()])


def typed_columns():
    """Marked values in columns that have a type: (name, column)."""
    yield "pandas text", pd.Series([TEXT, "a"] * 4, dtype="string")
    yield "pandas text in Arrow", pd.Series([TEXT, None] * 4, dtype=pd.ArrowDtype(pa.string()))
    yield "pandas category", pd.Series([TEXT, "a"] * 4, dtype="category")
    yield "pandas number", pd.Series([NUMBER, 1.0] * 4)
    yield "pandas integer", pd.Series([WHOLE, None] * 4, dtype="Int64")
    yield (
        "pandas decimal in Arrow",
        pd.Series([Decimal(str(NUMBER)), None] * 4, dtype=pd.ArrowDtype(pa.decimal128(20, 2))),
    )
    yield "pandas date", pd.Series(pd.to_datetime([DATE] * 8))
    yield "pandas difference", pd.Series(pd.to_timedelta([WHOLE] * 8))
    yield "pandas interval", pd.Series(pd.arrays.IntervalArray.from_tuples([(WHOLE, WHOLE + 1)] * 8))
    for name, values in (
        ("text", [TEXT, "a"]),
        ("number", [NUMBER, None]),
        ("whole", [WHOLE, None]),
        ("date", [DATE, None]),
    ):
        yield f"polars {name}", pl.Series("c", values * 4)
        yield f"pyarrow {name}", pa.chunked_array([pa.array(values * 4)])
    yield "pyarrow far date", pa.chunked_array([pa.array([WHOLE * 10**5] * 8, pa.timestamp("s"))])
    yield (
        "pyarrow long decimal",
        pa.chunked_array([pa.array([Decimal(str(NUMBER)) * 10**40] * 8, pa.decimal256(60, 2))]),
    )
    yield "pyarrow map", pa.chunked_array([pa.array([[(TEXT, WHOLE)]] * 8, pa.map_(pa.string(), pa.int64()))])
    yield "polars category", pl.Series("c", [TEXT, "a"] * 4, dtype=pl.Categorical)
    yield "polars struct", pl.Series("c", [{TEXT: NUMBER}] * 8)
    yield "polars list", pl.Series("c", [[TEXT]] * 8)
    yield "pyarrow dictionary", pa.chunked_array([pa.array([TEXT, "a"] * 4).dictionary_encode()])
    yield "NumPy text", np.array([TEXT, "a"] * 4)
    yield "NumPy bytes", np.array([TEXT.encode(), b"a"] * 4)
    yield "NumPy number", np.array([NUMBER, 1.0] * 4)
    yield "NumPy long number", np.array([NUMBER, 1.0] * 4, dtype=np.longdouble)
    yield "NumPy complex", np.array([complex(1, WHOLE), 1] * 4)
    yield "NumPy date", np.array([DATE] * 8, dtype="M8[D]")
    yield "NumPy record", np.array([(TEXT, NUMBER)] * 8, dtype=[("a", "U9"), ("b", float)])
    yield "NumPy masked", np.ma.array([WHOLE, 1] * 4, mask=[0, 1] * 4)
    yield "NumPy of two dimensions", np.full((8, 2), NUMBER)
    yield "too short", [TEXT] * 7
    yield "rows of different lengths", [[TEXT], [TEXT, NUMBER]] * 4
    yield "a text", TEXT
    yield "a number", NUMBER


class _Listener(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.heard = []

    def emit(self, record):
        self.heard.append(record.getMessage() + str(record.exc_text or ""))


class Heard:
    """What a call said: its exception as a user sees it, warnings, logs, output, and how its result prints."""

    def __init__(self, action, *printed):
        listener, output = _Listener(), io.StringIO()
        logger = logging.getLogger()
        level = logger.level
        logger.addHandler(listener)
        logger.setLevel(logging.DEBUG)
        self.error, self.result = None, None
        try:
            with warnings.catch_warnings(record=True) as caught, redirect_stdout(output), redirect_stderr(output):
                warnings.simplefilter("always")
                try:
                    self.result = action()
                except Exception as error:
                    self.error = error
        finally:
            logger.removeHandler(listener)
            logger.setLevel(level)
        self.warnings = [f"{w.category.__name__}: {w.message}" for w in caught]
        said = [*self.warnings, *listener.heard, output.getvalue()]
        if self.error is not None:
            said += [
                str(self.error),
                repr(self.error),
                *map(str, self.error.args),
                *traceback.format_exception(self.error),
            ]
        for thing in (self.result, *printed):
            if not isinstance(thing, np.ndarray | float):  # predictions and scores are asked for, not said
                said += [str(thing), repr(thing)]
        self.text = "\n".join(said)

    @property
    def outcome(self):
        """What may not depend on a record if the call is private."""
        return (type(self.error).__name__, str(self.error), *self.warnings)

    def raised_at(self):
        """The places, as (file, line), where exceptions of this call passed through, also those that were replaced."""
        error = self.error
        while error is not None:
            at: TracebackType | None = error.__traceback__
            while at is not None:
                yield at.tb_frame.f_code.co_filename, at.tb_lineno
                at = at.tb_next
            error = error.__cause__ or error.__context__

"""Neighbouring tables: a small one, and the same with one record more, of every odd kind; and how to write them."""

import csv
import decimal
import random

COLUMNS = ("age", "job", "member", "note", "outcome")
SCHEMA = """\
[target]
name = "outcome"
classes = ["no", "yes"]

[columns.age]
type = "numeric"
low = 0
high = 100
n_cuts = 9
missing = true

[columns.job]
type = "categorical"
categories = ["clerk", "cook", "7"]
missing = true

[columns.member]
type = "boolean"
missing = true

[columns.note]
type = "ignore"
"""
LONG = "x" * 3_000_000
PLAIN = {"age": "44", "job": "cook", "member": "true", "note": "none", "outcome": "yes"}
# One more record, as it stands in a CSV file. What is not named is as in PLAIN.
ODD_TEXTS = {
    "ordinary": {},
    "all missing": dict.fromkeys(COLUMNS, ""),
    "words for missing": {"age": "NA", "job": "?", "member": "null", "outcome": "None"},
    "no number": {"age": "forty"},
    "no finite number": {"age": "1e999"},
    "minus infinity": {"age": "-inf"},
    "nan": {"age": "nan"},
    "a number of 6,000 digits": {"age": "9" * 6000},
    "an underscore in a number": {"age": "4_4"},
    "digits of another script": {"age": "٤٤"},
    "a decimal comma": {"age": "44,5"},
    "hexadecimal": {"age": "0x2C"},
    "out of range": {"age": "-5"},
    "an unforeseen category": {"job": "spy"},
    "a category in other letters": {"job": "CLERK"},
    "a category with spaces": {"job": "  cook  "},
    "a number as a category": {"job": "7.0"},
    "an unforeseen truth value": {"member": "perhaps"},
    "an unforeseen label": {"outcome": "maybe"},
    "a label in other letters": {"outcome": "YES"},
    "a missing label": {"outcome": ""},
    "a long note": {"note": LONG},
    "a note that DuckDB may just take": {"note": LONG[: (2 << 20) - 60]},
    "a note that DuckDB may not quite take": {"note": LONG[: (2 << 20) + 1]},
    "a long category": {"job": LONG},
    "a long label": {"outcome": LONG},
    "NULs": {"age": "4\0", "job": "cook\0", "note": "\0", "outcome": "yes\0"},
    "a newline": {"note": "two\nlines"},
    "a carriage return": {"note": "two\rlines\r\n"},
    "a quote": {"job": 'so-called "cook"'},
    "quotes only": {"job": '"""'},
    "delimiters": {"job": "a;b,c|d\te", "note": ",,,"},
    "spaces before a quote": {"note": '   "quoted" text'},
    "control characters": {"job": "\x1b[31mred\x07", "note": "\x01\x02"},
    "no-break spaces": {"age": "\u00a044\u2003", "job": "\u3000cook"},
    "other scripts": {"job": "厨师", "note": "🧑‍🍳 \u202e טבח"},
    "a byte order mark": {"job": "\ufeffcook"},
    "markup": {"job": "[/bold]", "note": "[red]"},
    "a formula": {"job": "=1+1"},
    "a separator of lines": {"job": "a\u2028b\x85c\x0b"},
    "all numbers": {"age": "44.5", "job": "7", "member": "1", "outcome": "1"},
    "an integer beyond floats": {"age": "9007199254740993", "job": "9007199254740993"},
    "a backslash": {"job": "\\", "note": "\\N"},
}
# One more record of a data frame or a typed file
ODD_VALUES = {
    "ordinary": {},
    "all missing": dict.fromkeys(COLUMNS),
    "nan": {"age": float("nan")},
    "infinity": {"age": float("inf")},
    "the largest number": {"age": 1.7976931348623157e308},
    "a tiny number": {"age": 5e-324},
    "minus zero": {"age": -0.0},
    "an unforeseen category": {"job": "spy"},
    "an empty category": {"job": ""},
    "a NUL": {"job": "cook\0"},
    "a long category": {"job": LONG},
    "an unforeseen label": {"outcome": "maybe"},
    "a missing label": {"outcome": None},
    "a long label": {"outcome": LONG},
    "a long note": {"note": LONG},
    "control characters": {"job": "\x1b[31m", "outcome": "\x1b[31m"},
}


class Hostile:
    """A value that does not want to be looked at."""

    def _no(self, *_):
        raise RuntimeError("do not look")

    __eq__ = __hash__ = __str__ = __repr__ = __float__ = __bool__ = __len__ = __iter__ = __array__ = _no


def odd_objects():
    """One more record of a table that may hold any Python object."""
    import datetime

    import numpy as np
    import pandas as pd

    values = {
        "a hostile object": Hostile(),
        "bytes": b"\xff\xfe",
        "a lone surrogate": "\ud800",
        "a huge integer": 10**5000,
        "a decimal": decimal.Decimal("0.10"),
        "a signalling decimal": decimal.Decimal("sNaN"),
        "a huge decimal": decimal.Decimal("1e999999"),
        "a complex number": 1 + 2j,
        "a list": [1, 2],
        "a dictionary": {"a": 1},
        "an array": np.arange(3),
        "an empty array": np.array([]),
        "a date": datetime.date(2020, 1, 1),
        "a time of day with a zone": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
        "pandas' missing date": pd.NaT,
        "pandas' missing value": pd.NA,
        "NumPy's truth": np.True_,
        "a type": int,
        "a long text": LONG,
    }
    return {name: {"age": v, "job": v, "member": v, "note": v, "outcome": v} for name, v in values.items()}


def base(n=40, seed=0):
    """Records as texts."""
    rng = random.Random(seed)
    return [
        {
            "age": str(rng.randrange(18, 90)),
            "job": rng.choice(["clerk", "cook", "7"]),
            "member": rng.choice(["true", "false"]),
            "note": f"n{i}",
            "outcome": rng.choice(["no", "yes"]),
        }
        for i in range(n)
    ]


def as_values(record):
    """A record of texts with its types."""
    return record | {"age": float(record["age"]), "member": record["member"] == "true"}


def write_csv(path, records):
    """As most programs do, with quotes where they are needed."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


def arrow_table(records, broken_text=False):
    """Typed columns, whose types do not follow the records. ``broken_text`` adds a record with bytes that are no UTF-8."""
    import pyarrow as pa

    types = {"age": pa.float64(), "member": pa.bool_()}
    table = pa.table({name: pa.array([r[name] for r in records], types.get(name, pa.string())) for name in COLUMNS})
    if not broken_text:
        return table
    offsets, text = pa.py_buffer(b"\0\0\0\0\x02\0\0\0"), pa.py_buffer(b"\xff\xfe")
    broken = pa.Array.from_buffers(pa.string(), 1, [None, offsets, text])
    columns = {"age": pa.array([44.0]), "member": pa.array([True])}
    return pa.concat_tables([table, pa.table({name: columns.get(name, broken) for name in COLUMNS})])

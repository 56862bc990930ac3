"""Which tables were samples for a schema, so that learning from one of them is noticed.

A table is known by what it is, an object or a place in memory, never by what it holds: no value is read or compared. So a view,
or the same frame without some columns, is noticed; a table that was read once more is not.
"""

import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from .tables import as_frame

# bits of a value in a column of Arrow, or of where it is, for types that do not say
WIDTHS = {"string": 32, "binary": 32, "large_string": 64, "large_binary": 64, "string_view": 128, "binary_view": 128}


class _Place(NamedTuple):
    """From where to where in memory. What was there is gone once its owner is, an object that is not kept alive here."""

    start: int
    end: int
    owner: Any


# Tables, as places of no length, and the places where their values are: each with a weak reference to its owner
_samples: list[_Place] = []
_lock = Lock()


def note_sample(table: Any) -> None:
    """Note that what is public was made from this table."""
    noted = [place._replace(owner=weakref.ref(place.owner)) for place in _places(table)]
    with suppress(TypeError):  # a list or a dict
        noted.append(_Place(0, 0, weakref.ref(table)))
    with _lock:
        _samples[:] = [sample for sample in (*_samples, *noted) if sample.owner() is not None]


def was_sample(*tables: Any) -> bool:
    """Whether one of these tables or columns is, or is a part of, or has a part of, a table that was noted."""
    with _lock:
        known = [(start, end, owner) for start, end, alive in _samples if (owner := alive()) is not None]
    for table in tables if known else ():
        if any(not end and owner is table for _, end, owner in known):
            return True
        if any(place.start < end and start < place.end for place in _places(table) for start, end, _ in known):
            return True
    return False


def forget_all() -> None:
    """Begin anew, for tests."""
    with _lock:
        _samples.clear()


def _places(table: Any) -> Iterator[_Place]:
    """Where the values of a table or a column are, as far as that follows from types alone. Lists of objects are left out."""
    ibis = sys.modules.get("ibis")
    if isinstance(table, Mapping):
        for column in table.values():
            yield from _places(column)
    elif ibis is not None and isinstance(table, ibis.Table):
        import ibis.expr.operations as ops

        for node in table.op().find(ops.InMemoryTable):  # what it was made of
            yield from _places(getattr(node.data, "obj", None))
    elif isinstance(table, np.ndarray):
        yield from _array_place(table)
    else:
        try:
            yield from _library_places(table)
        except Exception:  # a library that has another name for it: then only the object itself is known
            return


def _library_places(table: Any) -> Iterator[_Place]:
    kind = type(table).__module__.partition(".")[0]
    if kind == "pandas":
        columns = [table.iloc[:, i] for i in range(table.shape[1])] if table.ndim == 2 else [table]
        for values in (column.array for column in columns):
            if hasattr(values, "_pa_array"):
                yield from _arrow_places(values.__arrow_array__(), table)
                continue
            held = next(getattr(values, name) for name in ("codes", "_data", "_ndarray") if hasattr(values, name))
            yield from _array_place(held)
    elif kind == "polars":
        import polars

        for column in table.get_columns() if isinstance(table, polars.DataFrame) else [table]:
            if column.dtype != polars.Object:  # Arrow has no such column, and older versions of polars panic
                yield from _arrow_places(column.to_arrow(compat_level=polars.CompatLevel.newest()), table)
    elif kind == "pyarrow":
        for column in table.columns if hasattr(table, "columns") else [table]:
            yield from _arrow_places(column, table)
    elif (frame := as_frame(table)) is not None and frame.to_native() is not table:
        yield from _library_places(frame.to_native())


def _array_place(array: np.ndarray) -> Iterator[_Place]:
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    # of no records, the place where they would begin: it may not matter whether there is one
    steps = [max(n - 1, 0) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    at = array.__array_interface__["data"][0]
    yield _Place(at + sum(x for x in steps if x < 0), at + sum(x for x in steps if x > 0) + array.itemsize, owner)


def _arrow_places(column: Any, owner: Any) -> Iterator[_Place]:
    for chunk in getattr(column, "chunks", [column]):
        values = getattr(chunk, "indices", chunk)  # of a dictionary
        width, buffer = WIDTHS.get(str(values.type)) or values.type.bit_width, values.buffers()[1]
        if buffer is not None:
            start = buffer.address + values.offset * width // 8
            yield _Place(start, start + max(1, len(values) * width // 8), owner)

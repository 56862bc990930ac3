"""Which tables were samples for a schema, so that learning from one of them is noticed.

A table is known by what it is, an object or a place in memory, never by what it holds: no value is read or compared. So a view,
or the same frame without some columns, is noticed; a table that was read once more is not.
"""

import sys
import weakref
from collections.abc import Iterator, Mapping
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

    def overlaps(self, other: "_Place") -> bool:
        return self.start < other.end and other.start < self.end


class _Sample(NamedTuple):
    table: Any  # a weak reference
    places: list[_Place]  # with weak references to their owners

    def is_gone(self) -> bool:
        return self.table() is None and all(place.owner() is None for place in self.places)


_samples: list[_Sample] = []
_lock = Lock()


def note_sample(table: Any) -> None:
    """Note that what is public was made from this table."""
    places = [place._replace(owner=weakref.ref(place.owner)) for place in _places(table)]
    noted = _Sample(_reference(table), places)
    with _lock:
        _samples[:] = [s for s in _samples if not s.is_gone()]
        if not noted.is_gone():
            _samples.append(noted)


def was_sample(*tables: Any) -> bool:
    """Whether one of these tables or columns is, or is a part of, or has a part of, a table that was noted."""
    with _lock:
        samples = list(_samples)
    if not samples:
        return False
    for table in tables:
        if any(s.table() is table for s in samples if table is not None):
            return True
        known = [place for s in samples for place in s.places if place.owner() is not None]
        if any(place.overlaps(other) for place in _places(table) for other in known):
            return True
    return False


def forget_all() -> None:
    """Begin anew, for tests."""
    with _lock:
        _samples.clear()


def _reference(table: Any) -> Any:
    try:
        return weakref.ref(table)
    except TypeError:  # a list or a dict
        return lambda: None


def _places(table: Any) -> Iterator[_Place]:
    """Where the values of a table or a column are, as far as that follows from types alone. Lists of objects are left out."""
    if isinstance(table, Mapping):
        for column in table.values():
            yield from _places(column)
    elif (frames := _frames_of(table)) is not None:
        for frame in frames:
            yield from _places(frame)
    elif isinstance(table, np.ndarray):
        yield from _array_place(table)
    else:
        try:
            yield from _library_places(table)
        except Exception:  # a library that has another name for it: then only the object itself is known
            return


def _frames_of(table: Any) -> list[Any] | None:
    """The frames in memory that an ibis table was made of; None for anything else."""
    ibis = sys.modules.get("ibis")
    if ibis is None or not isinstance(table, ibis.Table):
        return None
    import ibis.expr.operations as ops

    return [getattr(node.data, "obj", None) for node in table.op().find(ops.InMemoryTable)]


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

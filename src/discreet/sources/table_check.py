"""Does a table fit its schema? For the eyes of who may see the records: nothing here is private.

A private fit takes a value that the schema does not foresee as the schema says, in silence, because a message would reveal it.
Here such values are counted. What they are taken for is asked of ``Column.encode``, by which the learners go, too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np

from .._utils.errors import SchemaError, no_value_shown
from .._utils.tables import as_table
from ..schema import Schema
from ..schema.columns import Column, canonical, is_missing
from ..schema.columns.seen import spelled_alike
from ..schema.columns.values import TRUTH, NumberBins, TextBins, TruthBins, as_number, says_missing
from .files import pointed
from .memory import check_labels, class_numbers

NOT_PRIVATE = (
    "Exact, unprotected counts of the records: for the data holder only. Do not publish them, nor a schema that "
    "was tuned to them."
)
# what a value is taken for, in the words of a schema (outside = ...) and in ours
WORDS = {"missing": "missing", "clip": "the nearest bound", "other": "other", "none": "no category"}
MANY = 0.05


@dataclass(frozen=True)
class ColumnCheck:
    """How the values of a column fit the schema. Exact, so not private.

    ``taken_as`` says what a private learner takes those values for that the schema does not foresee, and how many they are:
    "missing", "clip" (the nearest bound), "other", "none" (no category is true of them). ``misspelled`` says how many of them are
    a listed value but for case or spaces, ``other_decimal_sign`` how many would be numbers if commas and points changed places.
    """

    missing: int
    taken_as: Mapping[str, int] = field(default_factory=dict)
    misspelled: Mapping[str, int] = field(default_factory=dict)
    other_decimal_sign: int = 0
    can_be_missing: bool = True  # as the schema has it

    @property
    def not_foreseen(self) -> int:
        """How many values the schema does not foresee."""
        return sum(self.taken_as.values())

    def hints(self, records: int) -> list[str]:
        """What to look at."""
        said = [_spelled(self.misspelled)] if self.misspelled else []
        if self.other_decimal_sign:
            said.append(
                f'{self.other_decimal_sign:,} would be numbers with the other decimal sign: --decimal , (in pandas decimal=",")'
            )
        if not said and self.not_foreseen > MANY * records:
            said.append("look at its spelling and type, unless you expect this")
        if self.missing and not self.can_be_missing:
            said.append("without `missing = true` in the schema, no rule can ask for what is missing")
        return said


@dataclass(frozen=True)
class TableCheck:
    """How a table fits its schema: exact counts, **not private**, for the holder of the records only. ``print`` shows them."""

    records: int
    columns: Mapping[str, ColumnCheck]
    labels_missing: int
    labels_not_foreseen: int
    labels_misspelled: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        width = max([len("column"), *(len(_shown(name)) for name in self.columns)])
        lines = [NOT_PRIVATE, "", f"{'column':{width}}  {'missing':>9}  {'not foreseen':>12}  taken as"]
        for name, column in self.columns.items():
            several = len(column.taken_as) > 1
            taken = [WORDS[word] + f" ({n:,})" * several for word, n in column.taken_as.items()]
            row = f"{_shown(name):{width}}  {column.missing:9,}  {column.not_foreseen:12,}  {', '.join(taken)}"
            lines += [row.rstrip(), *(f"{'':{width}}    {hint}" for hint in column.hints(self.records))]
        left_out = self.labels_missing + self.labels_not_foreseen
        lines += [
            "",
            f"{self.records:,} records, of which {left_out:,} are left out of a fit: {self.labels_missing:,} without a label, "
            f"{self.labels_not_foreseen:,} with one that is no class of the schema.",
        ]
        if self.labels_misspelled:
            lines.append(f"Of these labels, {_spelled(self.labels_misspelled)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        columns = {
            name: {
                "missing": c.missing,
                "not foreseen": c.not_foreseen,
                "taken as": dict(c.taken_as),
                "but for case or spaces": dict(c.misspelled),
                "hints": c.hints(self.records),
            }
            for name, c in self.columns.items()
        }
        labels = {
            "missing": self.labels_missing,
            "not foreseen": self.labels_not_foreseen,
            "but for case or spaces": dict(self.labels_misspelled),
        }
        return {"about": NOT_PRIVATE, "records": self.records, "labels": labels, "columns": columns}


def check_table(X: Any, y: Any, schema: Schema) -> TableCheck:
    """Count what a private fit may not tell: values and labels that the schema does not foresee.

    **The result is not private**: exact counts of the records, for the eyes of their holder only. Do not publish it, and do not
    tune the schema to it value by value; that would be a schema made from the records.

    Parameters
    ----------
    X : data frame, mapping of columns, or array
        The records, as for ``fit``.
    y : column of labels
        The labels, as for ``fit``.
    schema : Schema
        What is public about the table.

    Returns
    -------
    TableCheck
        ``records``, ``columns`` (a ``ColumnCheck`` by name) and counts of labels. Values are read as a private
        learner reads them; one without privacy stops at some of them instead.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet import Boolean, Numeric, Schema, check_table
    >>> schema = Schema((Numeric("age", cuts=[40], low=0, high=100), Boolean("smoker")), classes=["no", "yes"])
    >>> X = pd.DataFrame({"age": ["20", "61", "unknown", "130"], "smoker": ["yes", "no", "no", "no"]})
    >>> found = check_table(X, ["no", "Yes", "yes ", "no"], schema)
    >>> found.columns["age"].taken_as
    {'missing': 1, 'clip': 1}
    >>> found.labels_misspelled
    {'yes': 2}
    """
    if not isinstance(schema, Schema):
        raise SchemaError("schema must be a Schema; read one from a file with Schema.load(path)")
    table = as_table(X, schema.names)
    columns = {c.name: _check_column(c, table.column(c.name)) for c in schema.used}
    classes = schema.classes or (0, 1)
    left_out = check_labels(y, classes, len(table))[class_numbers(y, classes, len(table)) < 0].tolist()
    odd = [canonical(label) for label in left_out if not is_missing(label)]
    misspelled = _misspelled(odd, map(canonical, classes))
    return TableCheck(len(table), columns, len(left_out) - len(odd), len(odd), misspelled)


def _check_column(column: Column, values: np.ndarray) -> ColumnCheck:
    bins, places = column.value_bins, column.encode(values).tolist()
    with no_value_shown(f"column {column.name!r} has values that cannot be read"):
        there = [(v, place) for v, place in zip(values.tolist(), places, strict=True) if not is_missing(v)]
        found = [(word, canonical(v)) for v, place in there if (word := column.taken_as(v, place)) is not None]
    taken, odd = Counter(word for word, _ in found), [text for _, text in found]
    listed = sorted(bins.bin_of) if isinstance(bins, TextBins) else TRUTH if isinstance(bins, TruthBins) else ()
    commas = sum(map(_is_number_with_comma, odd)) if type(bins) is NumberBins else 0
    missing = len(places) - len(there)
    return ColumnCheck(missing, dict(taken), _misspelled(odd, listed), commas, column.can_be_missing)


@dataclass(frozen=True)
class Unread:
    """How many values of a column a model cannot read, and how many of them are numbers with the other decimal sign."""

    values: int = 0
    unread: int = 0
    other_decimal_sign: int = 0

    def __add__(self, other: "Unread") -> "Unread":
        return Unread(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def unread(column: Column, values: np.ndarray) -> Unread:
    """Count the values that are there, but are no number, no truth value, or no category that the schema lists.

    Only those are looked at one by one that are in a bin into which such values go.
    """
    known = column.value_bins
    bins = column.encode(values)
    suspect = bins == column.n_bins - 1
    if isinstance(known, TextBins) and getattr(column, "outside", None) != "other":
        suspect |= bins == known.unlisted
    with no_value_shown(f"column {column.name!r} has values that cannot be read"):
        there = (value for value in values[suspect].tolist() if not is_missing(value))
        odd = [value for value in there if not isinstance(value, str) or value.strip()]  # an empty string says nothing
        if isinstance(known, TextBins):
            odd = [value for value in odd if canonical(value) not in known.bin_of and not says_missing(value)]
        if type(known) is not NumberBins:
            return Unread(len(values), len(odd))
        odd = [value for value in odd if np.isnan(as_number(value))]
        return Unread(len(values), len(odd), sum(_is_number_with_comma(canonical(value)) for value in odd))


def _is_number_with_comma(text: str) -> bool:
    return np.isnan(as_number(text)) and bool(np.isfinite(as_number(pointed(text, ","))))


def _misspelled(texts: Sequence[str], listed: Iterable[str]) -> dict[str, int]:
    """How many of these texts are a listed one but for case or spaces, by the listed one."""
    meant = {spelled_alike(text): text for text in listed}
    found = Counter(meant[alike] for text in texts if (alike := spelled_alike(text)) in meant)
    return {text: found[text] for text in sorted(found)}


def _spelled(misspelled: Mapping[str, int]) -> str:
    each = ", ".join(f"{_shown(text)} ({n:,})" for text, n in misspelled.items())
    return f"{sum(misspelled.values()):,} differ from the schema's only by case or spaces: {each}"


def _shown(text: str) -> str:
    """A name as it is; one that could move the cursor, as Python writes it."""
    return text if text.isprintable() else repr(text)

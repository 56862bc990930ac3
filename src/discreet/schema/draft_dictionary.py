"""A schema drafted from a data dictionary: a table with one row for each column, as people write them in spreadsheets."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._utils.errors import SchemaError, no_value_shown
from .._utils.tables import as_table
from . import Label
from .columns import Boolean, Categorical, Numeric, canonical, is_missing
from .columns.base import tidy_label, tidy_labels
from .columns.values import TRUTH, as_number
from .draft import MOST_CLASSES, Draft, Drafted, check_target, cuts_each, even_cuts, log_cuts

# What the columns of a dictionary go by, without spaces and punctuation
HEADERS = {
    "name": "name column columnname variable variablename varname field fieldname attribute feature",
    "type": "type datatype dtype kind columntype variabletype fieldtype",
    "values": "values categories codes levels allowedvalues permittedvalues validvalues options choices coding valuelabels",
    "min": "min minimum low lower lowerbound minvalue",
    "max": "max maximum high upper upperbound maxvalue",
    "label": "label variablelabel varlabel columnlabel fieldlabel title caption displayname longname",
    "description": "description meaning definition comment",
    "missing": "missing nullable canbemissing hasmissing missingallowed",
}
TYPES = {
    "numeric": "numeric number num int integer bigint smallint float double decimal real continuous count amount discrete",
    "text": "categorical category nominal ordinal enum factor string str text char varchar character object code coded",
    "boolean": "boolean bool logical flag binary",
    "date": "date datetime time timestamp year-month",
    "identifier": "id identifier uuid key ignore freetext",
}
_KIND = {word: kind for kind, words in TYPES.items() for word in words.split()}
_RANGE = re.compile(r"\s*(-?[\d.]+)\s*(?:-|–|to|\.\.+)\s*(-?[\d.]+)\s*")
MANY_TIMES = 1000  # the largest number over the smallest, for cuts by orders of magnitude
SHORT = 60  # a description of so many characters is a label


def draft_from_dictionary(
    dictionary: Any, target: str | None = None, n_cuts: int | None = None, source: str = "a data dictionary"
) -> Draft:
    """Draft a schema from a data dictionary, a table with a row for each column. No record is needed at all.

    It needs a column "name" (or "variable", "field", ...) and may have "type", "values" (or "codes": ``1 = yes; 2 = no``), "min",
    "max", "missing", "label" and "description", under these or similar names. A column of whose values too little is said is
    ignored. Labels, short descriptions and the meanings of codes become labels of the schema, which reports show.

    Parameters
    ----------
    dictionary : data frame, or mapping of columns
        The data dictionary.
    target, n_cuts, source
        As in ``draft_schema``.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet import draft_from_dictionary
    >>> dictionary = pd.DataFrame({
    ...     "Variable": ["age", "ward", "ill"], "Type": ["integer", "text", "text"],
    ...     "Min": [0, None, None], "Max": [100, None, None], "Values": [None, "A = surgery; B = children", "no, yes"]})
    >>> for column in draft_from_dictionary(dictionary, target="ill").schema.columns:
    ...     print(column.name, column.tests()[:2])
    age [('<=', 0.0), ('<=', 5.0)]
    ward [('=', 'A'), ('=', 'B')]
    """
    rows = _rows(dictionary)
    check_target(target, list(rows), "the data dictionary")
    kinds = {name: _kind(row) for name, row in rows.items()}
    most = cuts_each(n_cuts, sum(kind == "numeric" for kind in kinds.values()))
    others = {name: row for name, row in rows.items() if name != target}
    labels = tidy_labels({name: _label(row) for name, row in others.items()})
    drafted = [
        _with_words(_column(name, kinds[name], row, most), row, labels.get(name, "")) for name, row in others.items()
    ]
    kind = "a data dictionary"
    if target is None:
        return Draft.of(drafted, None, None, [], source, kind)
    classes = _classes(target, kinds[target], rows[target])
    texts = {canonical(c): c for c in classes}
    class_labels = tidy_labels({v: label for v, label in _values(rows[target])[1].items() if v in texts}, classes)
    return Draft.of(drafted, target, classes, [], source, kind, tidy_label(_label(rows[target])), class_labels)


def _rows(dictionary: Any) -> dict[str, dict[str, Any]]:
    """What is said of each column, under our names."""
    table = as_table(dictionary)
    ours = {header: fact for fact, headers in HEADERS.items() for header in headers.split()}
    columns: dict[str, Any] = {}
    for header in table.names:
        fact = ours.get(re.sub(r"[^a-z]", "", header.lower()))
        if fact and fact not in columns:
            columns[fact] = table.column(header)
    if "name" not in columns:
        raise SchemaError('the data dictionary has no column with the names of the variables; call it "name"')
    rows: dict[str, dict[str, Any]] = {}
    with no_value_shown("the data dictionary cannot be read"):
        for i in range(len(table)):
            row = {fact: None if is_missing(values[i]) else values[i] for fact, values in columns.items()}
            if not (name := canonical(row.pop("name") or "").strip()):
                continue
            if name in rows:
                raise SchemaError(f"the data dictionary names column {name!r} twice; leave one row for each column")
            rows[name] = row
    if not rows:
        raise SchemaError("the data dictionary has no rows; it needs one for each column")
    return rows


def _text(row: Mapping[str, Any], fact: str) -> str:
    return canonical(row[fact]).strip() if row.get(fact) is not None else ""


def _kind(row: Mapping[str, Any]) -> str:
    """The kind of a column, by its type, or else by what is said of its values."""
    words = re.findall("[a-z]+", _text(row, "type").lower().replace("free text", "freetext"))
    kind = next((_KIND[word] for word in words if word in _KIND), None)
    values, labels = _values(row)
    if kind in (None, "text", "numeric") and values and all(v.lower() in TRUTH for v in values):
        return "boolean"
    if kind == "numeric" and labels:
        return "text"  # 1 = male, 2 = female: codes, whatever they are stored as
    return kind or ("text" if values else "numeric" if None not in _bounds(row) else "unknown")


def _values(row: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The values that are listed, and their labels, if each has one (``1 = yes``)."""
    text = _text(row, "values").strip("[]{}()")
    if not text or _RANGE.fullmatch(text):
        return [], {}
    parts = [p.strip() for p in re.split(next((s for s in (r"\n", ";", r"\|") if re.search(s, text)), ","), text)]
    pairs = [re.split(r"\s*[=:]\s*", p, maxsplit=1) for p in parts if p]
    labelled = all(len(pair) == 2 for pair in pairs)
    values = [
        (pair[0] if labelled else part).strip("\"' ") for pair, part in zip(pairs, filter(None, parts), strict=True)
    ]
    labels = {value: pair[1].strip("\"' ") for value, pair in zip(values, pairs, strict=True)} if labelled else {}
    return list(dict.fromkeys(values)), labels


def _bounds(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The smallest and the largest value, if both are numbers; also from values such as ``0-100``."""
    within = _RANGE.fullmatch(_text(row, "values"))
    given = within.groups() if within else (row.get("min"), row.get("max"))
    low, high = (as_number(x) if x is not None else math.nan for x in given)
    return (low, high) if -math.inf < low < high < math.inf else (None, None)


def _column(name: str, kind: str, row: Mapping[str, Any], most: int) -> Drafted:
    said = _text(row, "missing").lower()
    missing = bool(TRUTH.get(said)) or said in ("y", "x")
    values, labels = _values(row)
    low, high = _bounds(row)
    if kind in ("date", "identifier"):
        return Drafted.ignored(name, "dates or times" if kind == "date" else "an identifier, or free text", False)
    if kind == "boolean":
        return Drafted(Boolean(name, missing, labels=_truth_labels(labels)))
    if kind != "numeric":
        if len(values) < 2:
            return Drafted.ignored(name, "nothing is said about its values; give it categories or cuts to use it")
        return Drafted(Categorical(name, missing, categories=tuple(values), labels=tidy_labels(labels, values)))
    if low is not None and high is not None:
        by_magnitude = low > 0 and high / MANY_TIMES >= low
        whole = "int" in _text(row, "type").lower()
        cuts = log_cuts(low, high, most) if by_magnitude else even_cuts(low, high, most, whole)
        cuts = [c for c in cuts if low <= c < high] or [low]
        why = "many orders of magnitude, so the cuts are spread over them" if by_magnitude else ""
        return Drafted(Numeric(name, missing, cuts=tuple(cuts), low=low, high=high), why)
    numbers = sorted({as_number(v) for v in values})
    if len(numbers) < 2 or not all(map(math.isfinite, numbers)):
        return Drafted.ignored(name, "a number, but not from where to where; give it cuts, or min and max")
    return Drafted(Numeric(name, missing, cuts=tuple(numbers[:-1]), low=numbers[0], high=numbers[-1]))


def _truth_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Of ``0 = female; 1 = male``. That yes is true needs no words."""
    said = {str(bool(TRUTH[v.lower()])).lower(): label for v, label in labels.items() if v.lower() in TRUTH}
    return {} if any(label.lower() in TRUTH for label in said.values()) else tidy_labels(said, ("true", "false"))


def _label(row: Mapping[str, Any]) -> str:
    """What people call a column: its label, or a description that is short enough."""
    description = _text(row, "description")
    return _text(row, "label") or (description if len(description) <= SHORT else "")


def _with_words(drafted: Drafted, row: Mapping[str, Any], label: str) -> Drafted:
    """With a label. A description that is none stands above the column in the file; notes have only what is said here."""
    description = _text(row, "description")
    column = replace(drafted.column, label=label) if label else drafted.column
    return drafted._replace(column=column, description="" if label == tidy_label(description) else description)


def _classes(target: str, kind: str, row: Mapping[str, Any]) -> tuple[Label, ...]:
    values, _ = _values(row)
    if not values and kind == "boolean":
        return (0, 1)
    if not 2 <= len(values) <= MOST_CLASSES:
        raise SchemaError(
            f"target {target!r} needs two to {MOST_CLASSES} values in the data dictionary; list them, as in: no, yes"
        )
    whole = all(re.fullmatch(r"-?(0|[1-9]\d{0,17})", v) for v in values)
    return tuple(sorted(map(int, values))) if whole else tuple(values)

"""What a draft is: a schema, and what a person should know when correcting it; and a draft from a data dictionary.

A data dictionary is a table with one row for each column, as people write them in spreadsheets.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np

from .._utils.days import as_day, day_at
from .._utils.errors import SchemaError, no_value_shown
from .._utils.escaping import first_few
from .._utils.tables import as_table
from .._utils.writing import write_whole
from . import Label, Schema
from .columns import Boolean, Categorical, Date, Ignored, Numeric, canonical, is_missing
from .columns.base import Drafted, on_one_line, tidy_label, tidy_labels
from .columns.dates import round_days
from .columns.numeric import MOST_CUTS, even_cuts, log_cuts
from .columns.seen import Profile
from .columns.values import TRUTH, as_number
from .schema import perhaps

N_CUTS = 20  # of a column, where there are few
ALL_CUTS = 240  # of all columns together, so that a draw stays quick (docs/schema.md has seconds)
FEWEST_CUTS = 5
MOST_CLASSES = 20

HEADER = """\
# A draft, made from {source}. Read it, correct it, then use it.
#
# Everything in this file counts as public, and nothing protects it. So it must not have been made from the private
# records, nor from a part of them: a sample of them is private, too. If it was, write this file from a data
# dictionary instead; or put `inferred = true` on its first line, and no model will claim to be private.
"""

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


@dataclass(frozen=True)
class Draft:
    """A schema to be read and corrected by a person.

    ``notes`` has a line for each thing to look at and the columns it is about, with names and types only;
    ``comments``, by column, is what stands above it in the TOML file.
    """

    schema: Schema
    notes: tuple[str, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    source: str = "a public sample"

    @classmethod
    def of(cls, drafted: Sequence[Drafted], notes: list[str], source: str, kind_of_source: str, **target: Any) -> Self:
        """The draft of these columns. A schema goes into every model, so it says of what kind its source is, and not its name."""
        if not drafted:
            raise SchemaError("there is no column but the target; a rule list needs others to tell the classes apart")
        schema = Schema([d.column for d in drafted], source=f"drafted from {kind_of_source}", **target)
        alike: dict[tuple[str, str], list[str]] = {}  # what is said of several columns is said once
        for d in drafted:
            for why in [*[d.why] * d.needs_review, *d.doubts]:
                alike.setdefault((d.column.kind, why), []).append(d.column.name)
        notes = notes + [f"{first_few(names)} ({kind}): {why}" for (kind, why), names in alike.items()]
        if not any(d.column.can_be_used for d in drafted):
            notes.append(
                "every column is ignored, so there is nothing to learn from: give some of them cuts or categories"
            )
        comments = {d.column.name: "; ".join(filter(None, (d.description, d.why, *d.doubts))) for d in drafted}
        return cls(schema, tuple(notes), {name: text for name, text in comments.items() if text}, source)

    def to_toml(self) -> str:
        """The schema as TOML. It says what it was made from, and why columns are what they are."""
        return self.schema.to_toml(HEADER.format(source=on_one_line(self.source)), self.comments)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the TOML to a file."""
        write_whole(path, self.to_toml())


def as_schema(given: Any) -> Schema:
    """The schema of an estimator's parameter: as it is, a draft's, or that of a TOML file.

    >>> as_schema(draft_from_dictionary({"name": ["age"], "min": [0], "max": [99]})).names
    ['age']
    """
    if isinstance(given, Draft):
        return given.schema
    if isinstance(given, str | PathLike):
        try:
            return Schema.load(given)
        except (ValueError, OSError) as error:
            raise SchemaError(f"schema={str(given)!r}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(given, Schema):
        raise SchemaError("schema must be a Schema, a draft of one, or the path of a TOML file")
    return given


def check_target(target: str | None, names: list[str], what: str) -> None:
    """Raise, with a name that was perhaps meant, if the target is not a column."""
    if target is None or target in names:
        return
    if not isinstance(target, str):
        raise SchemaError("target must be the name of a column")
    raise SchemaError(f"target {target!r} is not a column of {what}; {perhaps(target, names, 'it has')}")


def cuts_each(n_cuts: int | None, n_columns: int) -> int:
    """How many cuts a numeric column may have: as the caller says, or fewer the more such columns there are."""
    if n_cuts is None:
        return max(FEWEST_CUTS, min(N_CUTS, ALL_CUTS // max(1, n_columns)))
    if isinstance(n_cuts, bool) or not isinstance(n_cuts, int) or not 1 <= n_cuts <= MOST_CUTS:
        raise SchemaError(f"n_cuts must be None or an integer from 1 to {MOST_CUTS}")
    return n_cuts


def draft_from_dictionary(
    dictionary: Any, target: str | None = None, n_cuts: int | None = None, source: str = "a data dictionary"
) -> Draft:
    """Draft a schema from a data dictionary, a table with a row for each column. No record is needed at all.

    It needs a column "name" (or "variable", "field", ...) and may have "type", "values" (or "codes": ``1 = yes; 2 = no``, or a
    mapping), "min", "max", "missing", "label" and "description", under these or similar names. A column of whose values too
    little is said is ignored. Labels, short descriptions and the meanings of codes become labels of the schema, which reports
    show.

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
    variables = variables_of(dictionary)
    check_target(target, list(variables), "the data dictionary")
    most = cuts_each(n_cuts, sum(variable.kind == "numeric" for variable in variables.values()))
    others = {name: variable for name, variable in variables.items() if name != target}
    labels = tidy_labels({name: variable.label for name, variable in others.items()})
    drafted = []
    for name, variable in others.items():
        found, label = _column(name, variable, most), labels.get(name, "")
        # one that is no label stands above the column in the file; notes have only what is said here
        description = "" if label == tidy_label(variable.description) else variable.description
        drafted.append(found._replace(column=replace(found.column, label=label), description=description))
    about: dict[str, Any] = {}
    if target is not None:
        classes = _classes(target, variables[target])
        about = {"target": target, "classes": classes, **labels_of_target(variables[target], classes)}
    return Draft.of(drafted, [], source, "a data dictionary", **about)


def labels_of_target(said: "Variable", classes: Sequence[Label]) -> dict[str, Any]:
    """The labels of a target, and of its classes."""
    texts = set(map(canonical, classes))
    labels = tidy_labels({value: label for value, label in said.labels.items() if value in texts}, classes)
    return {"target_label": tidy_label(said.label), "class_labels": labels}


def with_labels(drafted: Drafted, said: "Variable", label: str, seen: Profile) -> Drafted:
    """A column as a sample has it, with its label; and as the dictionary lists it, if that lists all that the sample has."""
    column = drafted.column
    known = np.unique(seen.known) if seen.known.dtype != object else seen.known
    values = seen.strings if seen.kind == "strings" else [canonical(v) for v in known.tolist() if said.values]
    if said.values and set(values) <= set(said.values) and len(said.values) > 1:
        column = replace(_column(column.name, said, MOST_CUTS).column, missing=seen.missing or said.missing)
        drafted = Drafted(column)
    return drafted._replace(column=replace(column, label=label))


class Variable(NamedTuple):
    """What is said of one column."""

    kind: str  # one of TYPES, or "unknown"
    type: str
    values: list[str]
    labels: dict[str, str]  # of all values, or of none
    bounds: tuple[float, float] | None
    missing: bool
    label: str  # or a description that is short enough
    description: str


def variables_of(dictionary: Any) -> dict[str, Variable]:
    """What a data dictionary says, by column."""
    table = as_table(dictionary)
    ours = {header: fact for fact, headers in HEADERS.items() for header in headers.split()}
    columns: dict[str, Any] = {}
    for header in table.names:
        fact = ours.get(re.sub(r"[^a-z]", "", header.lower()))
        if fact and fact not in columns:
            columns[fact] = table.column(header)
    if "name" not in columns:
        raise SchemaError('the data dictionary has no column with the names of the variables; call it "name"')
    found: dict[str, Variable] = {}
    with no_value_shown("the data dictionary cannot be read"):
        for i in range(len(table)):
            row = {fact: values[i] for fact, values in columns.items() if not is_missing(values[i])}
            said = dict.fromkeys(HEADERS, "") | {fact: canonical(value).strip() for fact, value in row.items()}
            if not (name := said["name"]):
                continue
            if name in found:
                raise SchemaError(f"the data dictionary names column {name!r} twice; leave one row for each column")
            found[name] = _variable(said, row.get("values"))
    if not found:
        raise SchemaError("the data dictionary has no rows; it needs one for each column")
    return found


def _variable(said: Mapping[str, str], listed: Any) -> Variable:
    """What texts, under our names, say of a column. Its values may also be a mapping, to their labels."""
    values, labels = _values(said["values"].strip("[]{}()"))
    if isinstance(listed, Mapping):
        labels = {canonical(value): str(label) for value, label in listed.items()}
        values = list(labels)
    within = _RANGE.fullmatch(said["values"])  # such as 0-100
    words = re.findall("[a-z]+", said["type"].lower().replace("free text", "freetext"))
    kind = next((_KIND[word] for word in words if word in _KIND), None)
    low, high = map(as_day if kind == "date" else as_number, within.groups() if within else (said["min"], said["max"]))
    bounds = (low, high) if -math.inf < low < high < math.inf else None
    if kind in (None, "text", "numeric") and values and all(v.lower() in TRUTH for v in values):
        kind = "boolean"
    elif kind == "numeric" and labels:
        kind = "text"  # 1 = male, 2 = female: codes, whatever they are stored as
    elif kind is None:
        kind = "text" if values else "numeric" if bounds else "unknown"
    missing = bool(TRUTH.get(said["missing"].lower())) or said["missing"].lower() in ("y", "x")
    description = said["description"]
    label = said["label"] or (description if len(description) <= SHORT else "")
    return Variable(kind, said["type"], values, labels, bounds, missing, label, description)


def _values(text: str) -> tuple[list[str], dict[str, str]]:
    """The values that are listed, and their labels, if each has one (``1 = yes``)."""
    if not text or _RANGE.fullmatch(text):
        return [], {}
    separator = next((s for s in (r"\n", ";", r"\|") if re.search(s, text)), ",")
    parts = [part.strip() for part in re.split(separator, text) if part.strip()]
    pairs = [[x.strip("\"' ") for x in re.split(r"\s*[=:]\s*", part, maxsplit=1)] for part in parts]
    if all(len(pair) == 2 for pair in pairs):
        labels = dict(pairs)
        return list(labels), labels
    return list(dict.fromkeys(part.strip("\"' ") for part in parts)), {}


def _column(name: str, said: Variable, most: int) -> Drafted:
    kind, missing, values = said.kind, said.missing, said.values
    if kind == "date" and said.bounds:
        return Drafted(Date(name, missing, round_days(day_at(said.bounds[0]), day_at(said.bounds[1]), most)))
    if kind in ("date", "identifier"):
        return Drafted(Ignored(name), "dates or times" if kind == "date" else "an identifier, or free text")
    if kind == "boolean":
        return Drafted(Boolean(name, missing, labels=_truth_labels(said.labels)))
    if kind != "numeric":
        if len(values) < 2:
            why = "nothing is said about its values; give it categories or cuts to use it"
            return Drafted(Ignored(name), why, needs_review=True)
        return Drafted(Categorical(name, missing, categories=values, labels=tidy_labels(said.labels, values)))
    why = ""
    if said.bounds:
        low, high = said.bounds
        if low > 0 and high / MANY_TIMES >= low:
            cuts, why = log_cuts(low, high, most), "many orders of magnitude, so the cuts are spread over them"
        else:
            cuts = even_cuts(low, high, most, whole="int" in said.type.lower())
        cuts = [c for c in cuts if low <= c < high] or [low]
    else:
        *cuts, high = sorted({as_number(v) for v in values}) or [math.nan]
        if not cuts or not all(map(math.isfinite, [*cuts, high])):
            why = "a number, but not from where to where; give it cuts, or min and max"
            return Drafted(Ignored(name), why, needs_review=True)
        low = cuts[0]
    return Drafted(Numeric(name, missing, cuts=cuts, low=low, high=high), why)


def _truth_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Of ``0 = female; 1 = male``. That yes is true needs no words."""
    said = {str(bool(TRUTH[v.lower()])).lower(): label for v, label in labels.items() if v.lower() in TRUTH}
    return {} if any(label.lower() in TRUTH for label in said.values()) else tidy_labels(said, ("true", "false"))


def _classes(target: str, said: Variable) -> tuple[Label, ...]:
    values = said.values
    if not values and said.kind == "boolean":
        return (0, 1)
    if not 2 <= len(values) <= MOST_CLASSES:
        raise SchemaError(
            f"target {target!r} needs two to {MOST_CLASSES} values in the data dictionary; list them, as in: no, yes"
        )
    whole = all(re.fullmatch(r"-?(0|[1-9]\d{0,17})", v) for v in values)
    return tuple(sorted(map(int, values))) if whole else tuple(values)

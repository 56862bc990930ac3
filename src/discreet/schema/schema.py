"""What is public about a table: its columns, their categories and cut points, the class names of the target.

A schema is written by a person who knows the data dictionary, as TOML, and never computed from private records:

    [target]
    name = "income"
    classes = ["<=50K", ">50K"]

    [columns.age]
    type = "numeric"
    cuts = [25, 30, 40, 50]

    [columns.workclass]
    type = "categorical"
    missing = true
    groups = { Government = ["Federal-gov", "State-gov", "Local-gov"], Private = ["Private"] }

    [columns.name]
    type = "ignore"

It may say where it came from (``source = "the codebook of 2019"``, at the top), and what people call the target, its classes,
columns and categories (``label`` and ``labels``): labels are shown to people, and change nothing else.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cached_property
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from .._utils.errors import SchemaError, shown
from .._utils.escaping import closest, first_few
from .._utils.writing import write_whole
from .columns import KINDS, Boolean, Column, Ignored, canonical, listed
from .columns.base import LARGEST_WHOLE, Labels, check_distinct, checked_labels, checked_text, on_one_line, require
from .releases import SchemaRelease, checked_releases, read_releases

Label = str | int | float | bool

# tomllib takes minutes to read a.a.a.a...
_TOO_DEEP = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*){64}""")

LONGEST_SOURCE = 1_000

HEADER = """\
# Everything in this file is public. Write it from what is known about the table in general (a data dictionary,
# published statistics), never from the private records themselves.
"""

INFERRED = "# made from records: nothing that is learned with it is proved to be private\ninferred = true"
RELEASED_HEADER = """\
# What is below was found in the records with noise, in part or whole (private_schema). These are the names of the releases and
# what each cost: every model that is learned with this schema counts it.
"""


@dataclass(frozen=True)
class Schema:
    """The public facts about a table, column by column, in the table's order.

    >>> from discreet.schema.columns import Boolean, Numeric
    >>> schema = Schema([Numeric("age", cuts=[25, 45]), Boolean("employed")], target="income", classes=["low", "high"])
    >>> print(schema.to_toml(header=""))
    [target]
    name = "income"
    classes = ["low", "high"]
    <BLANKLINE>
    [columns.age]
    type = "numeric"
    cuts = [25, 45]
    <BLANKLINE>
    [columns.employed]
    type = "boolean"
    <BLANKLINE>
    >>> Schema.from_toml(schema.to_toml()) == schema
    True
    """

    columns: Sequence[Column]
    target: str | None = None
    classes: Sequence[Label] | None = None
    inferred: bool = False  # made from records, so that nothing private may rest on it
    released: Sequence[SchemaRelease] = ()  # what was spent on what of it was found in records with noise
    source: str = ""  # where it came from, as its author says
    target_label: str = ""  # what people call the target
    class_labels: Labels = ()  # and its classes, by their texts

    def __post_init__(self) -> None:
        columns = tuple(self.columns)
        if not columns or not all(isinstance(c, Column) for c in columns):
            *others, last = (kind.__name__ for kind in KINDS.values())
            raise SchemaError(f"a schema needs at least one column, made by {', '.join(others)} or {last}")
        names = [c.name for c in columns]
        if len(set(names)) < len(names):
            raise SchemaError(f"the schema names column {next(n for n in names if names.count(n) > 1)!r} twice")
        both = f"{self.target!r} is both the target and a column; a rule may not use the target"
        require(self.target not in names, both)
        object.__setattr__(self, "columns", columns)
        require(self.target is None or isinstance(self.target, str), "the target's name must be a string")
        if self.classes is not None:
            given = listed("a target's classes", self.classes)
            classes = tuple(c.item() if isinstance(c, np.generic) else c for c in given)
            strings = all(isinstance(c, str) for c in classes)
            numbers = all(isinstance(c, int | float) and abs(c) < LARGEST_WHOLE for c in classes)
            several = len(classes) >= 2 and len(set(map(canonical, classes))) == len(classes)
            require(
                several and (strings or numbers),
                "the target's classes must be two or more, all strings or all numbers (finite ones of at most 300 digits), and "
                "none twice",
            )
            object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "released", checked_releases(self.released))
        checked_text("the schema's source", self.source, LONGEST_SOURCE)
        checked_text("[target]: label", self.target_label)
        object.__setattr__(self, "class_labels", checked_labels("[target]", self.class_labels, self.classes or ()))
        check_distinct("the schema", {c.name: c.called for c in columns})

    def __repr__(self) -> str:
        return f"Schema({len(self.columns)} columns: {first_few(self.names)})"

    @property
    def names(self) -> list[str]:
        """The columns' names, in the table's order."""
        return [c.name for c in self.columns]

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that rules may use."""
        return tuple(c for c in self.columns if c.can_be_used)

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            raise SchemaError(f"the schema has no column {name!r}; {perhaps(name, self.names, 'it has')}")
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def class_called(self, label: Label) -> str:
        """What people call a class: its label, or else its name."""
        return dict(self.class_labels).get(canonical(label)) or str(label)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def exclude(self, names: Iterable[str]) -> "Schema":
        """The same schema with these columns ignored."""
        names = set(listed("exclude", names))
        if not names:
            return self
        for name in sorted(names - set(self.names), key=str):
            ask = perhaps(name, self.names, "there are")
            raise SchemaError(f"exclude names column {name!r}, which is not there; {ask}")
        kept = (Ignored(c.name, label=c.label) if c.name in names else c for c in self.columns)
        return replace(self, columns=tuple(kept))

    @classmethod
    def of_booleans(cls, names: Iterable[str], **target: Any) -> "Schema":
        """The schema of a 0/1 matrix or Boolean frame: each column is one public literal."""
        return cls(tuple(Boolean(name) for name in names), **target)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Schema":
        """Read what ``to_dict`` wrote."""
        require(isinstance(data, Mapping), "a schema must be a table with [target] and [columns.NAME]")
        _refuse_unknown("the schema", data, ("inferred", "source", "released", "target", "columns"))
        target, columns = data.get("target", {}), data.get("columns")
        inferred, released = data.get("inferred", False), data.get("released", {})
        require(isinstance(target, Mapping), "[target] must be a table with name and classes")
        _refuse_unknown("[target]", target, ("name", "classes", "label", "labels"))
        if not isinstance(columns, Mapping) or not columns:
            raise SchemaError("the schema has no columns; describe each as [columns.NAME] with a type")
        # what is not understood here would be promised to be private
        require(isinstance(inferred, bool), "inferred must be true or false")
        described = tuple(_column(name, facts) for name, facts in columns.items())
        return cls(
            *(described, target.get("name"), target.get("classes"), inferred, read_releases(released)),
            *(data.get("source", ""), target.get("label", ""), target.get("labels", ())),
        )

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain tables and lists, as they stand in the TOML file. Defaults are left out."""
        target = {
            "name": self.target,
            "classes": None if self.classes is None else list(self.classes),
            "label": self.target_label or None,
            "labels": dict(self.class_labels) or None,
        }
        data = {
            "inferred": self.inferred,
            "source": self.source,
            "released": {one.name: one.to_dict() for one in self.released},
            "target": {key: value for key, value in target.items() if value is not None},
            "columns": {c.name: {"type": c.kind} | _plain(c.entries()) for c in self.columns},
        }
        return {key: value for key, value in data.items() if value}

    @classmethod
    def from_toml(cls, text: str) -> "Schema":
        """Read a schema from TOML."""
        if _TOO_DEEP.search(text):
            raise SchemaError("the schema has a name of more than 64 parts with dots between them")
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
            raise SchemaError(f"the schema is not valid TOML: {error}") from None
        return cls.from_dict(data)

    def to_toml(self, header: str = HEADER, comments: Mapping[str, str] | None = None) -> str:
        """The schema as TOML, for a person to edit. ``comments`` are put above columns, by their names."""
        data = self.to_dict()
        tables = [INFERRED] * self.inferred + [f"source = {_value(self.source)}"] * bool(self.source)
        if self.released:
            named = (_table(f"released.{_key(name)}", one) for name, one in data["released"].items())
            tables.append(RELEASED_HEADER + "\n\n".join(named))
        tables += [_table("target", data["target"])] if "target" in data else []
        for column in self.columns:
            comment = on_one_line((comments or {}).get(column.name, ""))
            facts = {"type": column.kind} | _plain(column.entries(), dates=date)
            tables.append((f"# {comment}\n" if comment else "") + _table(f"columns.{_key(column.name)}", facts))
        text = "\n\n".join(tables) + "\n"
        return f"{header}\n{text}" if header else text

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Schema":
        """Read a schema from a TOML file."""
        try:
            return cls.from_toml(Path(path).read_text(encoding="utf-8-sig"))  # Windows editors put a mark at the start
        except UnicodeDecodeError:
            raise SchemaError(f"{path} is not text in UTF-8; save it as UTF-8") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the schema to a TOML file."""
        write_whole(path, self.to_toml())


def perhaps(name: object, names: Sequence[str], has: str) -> str:
    """For a message: the column that was perhaps meant, or the first few that there are."""
    meant = closest(str(name), names)
    return f"{has} {first_few(names)}" if meant is None else f"did you mean {meant!r}?"


def check_private_schema(schema: Schema) -> None:
    """Refuse a schema by which an error would depend on a record."""
    if not isinstance(schema, Schema):
        raise SchemaError("schema must be a Schema; read one from a file with Schema.load(path)")
    for column in schema.used:
        if getattr(column, "outside", None) == "error":
            raise SchemaError(
                f'column {column.name!r} says outside = "error", but a private learner may not let an error depend on '
                "a record; say what to take such values for instead"
            )


def sorted_classes(schema: Schema) -> tuple[Label, ...]:
    """The classes in the order of scikit-learn's ``classes_``; 0 and 1 if the schema names none."""
    return tuple(np.unique(np.array(schema.classes or (0, 1))).tolist())


def _column(name: str, facts: object) -> Column:
    if not isinstance(facts, Mapping) or "type" not in facts:
        raise SchemaError(f"column {name!r} needs a type: {', '.join(KINDS)}")
    kind, facts = facts["type"], {k: v for k, v in facts.items() if k != "type"}
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"column {name!r} has an unknown type {shown(kind)}; there are {', '.join(KINDS)}")
    _refuse_unknown(f"column {name!r}", facts, tuple(f.name for f in fields(KINDS[kind]) if f.name != "name"))
    return KINDS[kind](name, **facts)


def _plain(value: Any, dates: type = str) -> Any:
    """Tuples as lists, and integers without ``.0``: people write ``cuts = [25, 45]``. JSON has no dates, TOML has."""
    if isinstance(value, dict):
        return {key: _plain(v, dates) for key, v in value.items()}
    if isinstance(value, tuple):
        return [_plain(v, dates) for v in value]
    if isinstance(value, date):
        return value if dates is date else str(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _table(name: str, facts: Mapping[str, Any]) -> str:
    """A TOML table. Lists stand on one line where they fit, since people like to edit them there."""
    lines = [f"[{name}]"]
    for key, value in sorted(facts.items(), key=lambda item: isinstance(item[1], dict)):  # tables of its own come last
        if isinstance(value, dict):
            lines += ["", _table(f"{name}.{_key(key)}", value)]
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, list):
        items = [_value(x) for x in value]
        line = f"[{', '.join(items)}]"
        if len(line) <= 100:
            return line
        if all(isinstance(x, int | float | date) for x in value):  # twenty cuts are no twenty lines
            lines = wrap(", ".join(items), 96, break_long_words=False, break_on_hyphens=False)
            items = [line.rstrip(",") for line in lines]
        return "[\n" + "".join(f"    {x},\n" for x in items) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _refuse_unknown(where: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in given:
        require(key in known, f"{where} has an unknown entry {key!r}; it may have {', '.join(known)}")

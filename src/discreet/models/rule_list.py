"""A rule list: a frozen value that prints, parses back, goes to JSON and predicts."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..common.errors import RuleError, SchemaError, shown
from ..common.tables import as_table
from ..conditions.rules import Literal, Rule, is_label, schema_of, truth
from ..conditions.text import Reader, write
from ..schema import Label, Schema

MOST_COMBINATIONS = 1 << 20  # of values that `reachable` looks at
FORMAT, VERSION = "discreet rule list", 1


@dataclass(frozen=True)
class RuleList:
    """Rules in order, then a default: the first rule that is true of a record gives its label.

    ``classes`` are the labels in the order of the counts, ``schema`` says what the columns are. Both may be left out: they
    are then what the rules need.

    >>> rules = RuleList.parse('''
    ...     if age <= 25 and priors > 2 then yes
    ...     else if priors > 5 then yes
    ...     else no''')
    >>> rules.predict({"age": [20, 20, 50], "priors": [3, 1, 6]})
    array(['yes', 'no', 'yes'], dtype='<U3')
    >>> RuleList.from_json(rules.to_json()) == rules
    True
    """

    rules: tuple[Rule, ...]
    default: Rule
    classes: tuple[Label, ...] = ()
    schema: Schema | None = field(default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        if not isinstance(self.default, Rule):
            object.__setattr__(self, "default", Rule((), self.default))
        everyone = (*self.rules, self.default)
        if not all(isinstance(r, Rule) and r.label is not None for r in everyone):
            raise RuleError("every rule of a list, and its default, needs a label")
        if self.default.antecedent or not all(r.antecedent for r in self.rules):
            raise RuleError("the default is the one rule of a list that has no literals")
        classes = tuple(c.item() if isinstance(c, np.generic) else c for c in self.classes)
        classes = classes or tuple(dict.fromkeys(r.label for r in reversed(everyone) if r.label is not None))
        if not all(is_label(c) for c in classes) or len(set(classes)) < len(classes):
            raise RuleError("classes must be different texts, finite numbers or Booleans")
        object.__setattr__(self, "classes", classes)
        known = set(classes)
        for rule in everyone:
            if rule.label not in known:  # True and 1 are the same label, as they are for scikit-learn
                raise RuleError("a rule's label is not among the classes")
            if rule.counts is not None and len(rule.counts) != len(classes):
                raise RuleError("a rule's counts must be one for each class")
        if self.schema is None and self.rules:
            object.__setattr__(self, "schema", schema_of(self.rules))
        for literal in self._literals():
            assert self.schema is not None
            truth(self.schema, literal)  # complains about a literal that the schema does not offer

    def __len__(self) -> int:
        """The paper's length: it counts the default."""
        return len(self.rules) + 1

    def __iter__(self) -> Iterator[Rule]:
        return iter((*self.rules, self.default))

    def __str__(self) -> str:
        if not self.rules:
            return f"always {write(self.default.label)}"
        lines = [f"{'else ' if i else ''}if {rule}" for i, rule in enumerate(self.rules)]
        return "\n".join([*lines, f"else {write(self.default.label)}"])

    def _repr_html_(self) -> str:
        from ..report.notebook import short_html

        return short_html(self)

    @classmethod
    def parse(cls, text: str, classes: Iterable[Label] = (), schema: Schema | None = None) -> "RuleList":
        """Parse a list from a string. Line breaks and indentation do not matter."""
        read, default = Reader(text).whole(Reader.rule_list)
        rules = tuple(Rule(tuple(Literal(*x) for x in antecedent), label) for antecedent, label in read)
        return cls(rules, Rule((), default), tuple(classes), schema)

    def without_counts(self) -> "RuleList":
        """The list without its counts."""
        bare = [replace(rule, counts=None) for rule in self]
        return replace(self, rules=tuple(bare[:-1]), default=bare[-1])

    def reachable(self) -> "RuleList":
        """The list without the rules that no record the schema foresees can reach, whatever the table.

        It predicts the same for every record that the schema foresees. For others (a category that is not listed and has no group
        to go to, a missing value where none is said to be) it may not: one of the rules left out, or the condition of the last
        one kept, could have told them apart.

        >>> print(RuleList.parse("if a then 1 else if not a then 0 else if b then 1 else 0").reachable())
        if a then 1
        else 0
        """
        used = self.used_columns
        if self.schema is None or math.prod(self.schema[c].n_bins for c in used) > MOST_COMBINATIONS:
            return self
        alive = np.ones((), bool)  # all combinations of bins, an axis a column
        for name in used:
            alive = np.logical_and.outer(alive, self.schema[name].domain)
        kept = []
        for rule in self.rules:
            true = alive
            for literal in rule.antecedent:
                shape = [-1 if name == literal.column else 1 for name in used]
                true = true & truth(self.schema, literal).reshape(shape)
            alive = alive & ~true
            if true.any():
                kept.append(rule)
            if not alive.any():  # it takes all that is left, and so is the default
                return replace(self, rules=tuple(kept[:-1]), default=replace(kept[-1], antecedent=()))
        return replace(self, rules=tuple(kept))

    def to_json(self, indent: int | None = 1) -> str:
        """The list as JSON that ``from_json`` reads back, here or in a later version."""
        rules = [{"if": [_literal_to_dict(x) for x in r.antecedent], **_outcome(r)} for r in self.rules]
        data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "classes": list(self.classes), "rules": rules}
        schema = None if self.schema is None else _without_infinities(self.schema.to_dict())
        return json.dumps(data | {"default": _outcome(self.default), "schema": schema}, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "RuleList":
        """Read what ``to_json`` wrote."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise RuleError(
                "the model is not valid JSON: the file is cut off, edited by hand, or something else"
            ) from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise RuleError(f"the JSON is not a {FORMAT}")
        if data.get("version") != VERSION:
            raise RuleError(
                f"the model has format version {shown(data.get('version'))}, this discreet reads {VERSION}; update it"
            )
        try:
            schema = None if data["schema"] is None else Schema.from_dict(data["schema"])
            rules = [_rule_from_dict(rule) for rule in data["rules"]]
            default = _rule_from_dict({"if": [], **data["default"]})
            classes = tuple(data["classes"])
        except SchemaError as error:
            raise RuleError(f"the model's schema cannot be read: {error}") from None
        except (KeyError, TypeError, AttributeError):
            raise RuleError("the model's JSON lacks an entry or has one of the wrong type") from None
        return cls(tuple(rules), default, classes, schema)

    def captures(self, X: Any, strict: bool = False) -> np.ndarray:
        """Which rule captures each record: 0 is the first; ``len(rules)`` stands for the default."""
        table = as_table(X, None if self.schema is None else self.schema.names)
        where = np.full(len(table), len(self.rules), dtype=np.intp)
        if self.schema is None:
            return where
        used = self.used_columns
        bins = {name: self.schema[name].encode(table.column(name), strict) for name in used}
        free = np.ones(len(table), bool)
        for i, rule in enumerate(self.rules):
            true = free.copy()
            for literal in rule.antecedent:
                true &= truth(self.schema, literal)[bins[literal.column]]
            where[true] = i
            free &= ~true
        return where

    def predict(self, X: Any, strict: bool = False) -> np.ndarray:
        """The label of each record of a data frame (pandas, polars, pyarrow, ...), a mapping of columns, or an array.

        An array must have the columns of the schema, in its order. With ``strict=True`` a value that the schema does not
        foresee is an error; otherwise it is taken as the schema says.
        """
        kinds = {type(c) for c in self.classes}
        classes = np.array(self.classes, dtype=object if len(kinds) > 1 else None)
        if classes.tolist() != list(
            self.classes
        ):  # NumPy cuts a NUL off the end of a text and rounds some whole numbers
            classes = np.array(self.classes, dtype=object)
        return classes[[self.classes.index(rule.label) for rule in self]][self.captures(X, strict)]

    def predict_proba(self, X: Any, strict: bool = False) -> np.ndarray:
        """The share of each class (in the order of ``classes``) where a record is captured; of a bare list, 0 and 1.

        Where shares are equal, ``predict`` gives the label that the rule has, which need not be the first of them.
        """
        return np.array([self.shares(rule) for rule in self])[self.captures(X, strict)]

    def to_sql(
        self, dialect: str = "duckdb", share_of: Label | None = None, types: Mapping[str, str] | None = None
    ) -> str:
        """The list as one SQL expression, which predicts as ``predict`` does.

        Parameters
        ----------
        dialect : str, default="duckdb"
            "duckdb", "postgresql" or "spark".
        share_of : label, default=None
            A class: the expression then gives its share, as in ``predict_proba``, instead of the label.
        types : mapping, default=None
            What a column is in the engine, where it is not what one would expect: "text", "number" or "boolean". Numeric
            columns are numbers, Boolean ones are Booleans, categories are strings unless the schema lists integers only.
            The engine stops with an error at a column of another type.

        Examples
        --------
        >>> print(RuleList.parse("if age > 30 and job != clerk then yes else no").to_sql("postgresql"))
        CASE
          WHEN "age" > 30::float8 AND NOT "age" = 'NaN'::float8 AND "job" <> 'clerk'::text THEN 'yes'
          ELSE 'no'
        END
        """
        from ..export.sql import to_sql

        return to_sql(self, dialect, share_of, types)

    def to_python(self, name: str = "predict", share_of: Label | None = None) -> str:
        """The list as the source of one Python function, which takes a record and predicts as ``predict`` does.

        It needs nothing but the standard library. With ``share_of``, a class, it gives the share of that class, as in
        ``predict_proba``, instead of the label. A column that the record lacks is a KeyError.

        >>> made = {}
        >>> exec(RuleList.parse("if age > 30 and job != clerk then yes else no").to_python("score"), made)
        >>> made["score"]({"age": 40, "job": "boss"}), made["score"]({"age": 40, "job": None})
        ('yes', 'no')
        """
        from ..export.python_source import to_python

        return to_python(self, name, share_of)

    def shares(self, rule: Rule) -> np.ndarray:
        """The share of each class where this rule of the list captures; without counts, 1 for its label."""
        if rule.counts is not None and sum(c := np.maximum(rule.counts, 0.0)) > 0:
            return c / c.sum()
        return np.array([float(rule.label == c) for c in self.classes])

    @property
    def used_columns(self) -> list[str]:
        """The columns that rules are about, in the order of the rules."""
        return list(dict.fromkeys(literal.column for literal in self._literals()))

    def _literals(self) -> Iterator[Literal]:
        return (literal for rule in self.rules for literal in rule.antecedent)


def _without_infinities(data: Any) -> Any:
    """JSON has no infinity: the open end of a range is null there."""
    if isinstance(data, dict):
        return {key: _without_infinities(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_without_infinities(value) for value in data]
    return None if isinstance(data, float) and math.isinf(data) else data


def _literal_to_dict(literal: Literal) -> dict[str, Any]:
    data: dict[str, Any] = {"column": literal.column, "op": literal.op}
    if literal.value is not None:
        data["value"] = list(literal.value) if isinstance(literal.value, tuple) else literal.value
    return data


def _outcome(rule: Rule) -> dict[str, Any]:
    return {"then": rule.label} if rule.counts is None else {"then": rule.label, "counts": list(rule.counts)}


def _rule_from_dict(data: Mapping[str, Any]) -> Rule:
    antecedent = tuple(Literal(x["column"], x["op"], x.get("value")) for x in data["if"])
    counts = data.get("counts")
    return Rule(antecedent, data["then"], None if counts is None else tuple(counts))

"""Literals, rules and rule lists: frozen values that print, parse back, go to JSON and predict.

    if Prior-Crimes > 0 then True
    else if Juvenile-Felonies <= 3 and Juvenile-Crimes not in [1, 3] then False
    else True

What a literal means for odd values (beyond the bounds, of an unlisted category, missing) is said by the schema, which a
rule list carries with it; so it predicts exactly as it was learned.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .columns import NEGATION, Boolean, Categorical, Column, Numeric, Value, canonical
from .columns.base import LARGEST_WHOLE
from .errors import RuleError, SchemaError, shown
from .rule_text import COMPARISONS, Reader, write, write_number
from .schema import Label, Schema
from .tables import as_table

MOST_COMBINATIONS = 1 << 20  # of values that `reachable` looks at
FORMAT, VERSION = "discreet rule list", 1


@dataclass(frozen=True)
class Literal:
    """One test on one column.

    >>> literal = Literal("age", "<=", 30)
    >>> print(literal, "|", ~literal)
    age <= 30 | age > 30
    >>> Literal.parse("job != clerk")
    Literal(column='job', op='!=', value='clerk')
    """

    column: str
    op: str = "is true"
    value: Value = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise RuleError("a literal's column must be a name")
        op, value = self.op, self.value
        if op not in NEGATION:
            raise RuleError(f"a literal's op must be one of {', '.join(NEGATION)}")
        if op in COMPARISONS:
            object.__setattr__(self, "value", _number(value))
        elif op in ("in", "not in"):
            if not isinstance(value, list | tuple) or len(value) != 2:
                raise RuleError(f"`{op}` takes a range [low, high]")
            low, high = _number(value[0]), _number(value[1])
            if low > high:
                raise RuleError(f"`{op}` takes a range [low, high] with low not above high")
            object.__setattr__(self, "value", (low, high))
        elif op in ("=", "!="):
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise RuleError(f"`{op}` takes a category: a text or a whole number")
            if isinstance(value, int) and abs(value) >= LARGEST_WHOLE:
                raise RuleError(f"`{op}` takes a whole number of at most 300 digits")
        elif value is not None:
            raise RuleError(f"`{op}` takes no value")

    def __invert__(self) -> "Literal":
        return Literal(self.column, NEGATION[self.op], self.value)

    def __str__(self) -> str:
        name = write(self.column, name=True)
        if self.op in ("is true", "is false"):
            return name if self.op == "is true" else f"not {name}"
        if isinstance(self.value, tuple):
            low, high = (write_number(x) for x in self.value)
            return f"{name} {self.op} [{low}, {high}]"
        if self.op in COMPARISONS:
            return f"{name} {self.op} {write_number(self.value)}"
        return f"{name} {self.op}" + ("" if self.value is None else f" {write(self.value)}")

    @classmethod
    def parse(cls, text: str) -> "Literal":
        """Read a literal from its text."""
        return cls(*Reader(text).whole(Reader.literal))


@dataclass(frozen=True)
class Rule:
    """A conjunction of literals, with a label once it stands in a list. Without literals it is true of every record.

    ``counts`` are the class counts (noisy ones, of a private learner) that ``predict_proba`` is computed from.

    >>> print(Rule.parse("age <= 30 and not employed"))
    age <= 30 and not employed
    """

    antecedent: tuple[Literal, ...] = ()
    label: Label | None = None
    counts: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        antecedent = (self.antecedent,) if isinstance(self.antecedent, Literal) else tuple(self.antecedent)
        if not all(isinstance(x, Literal) for x in antecedent):
            raise RuleError("a rule's antecedent must consist of literals")
        object.__setattr__(self, "antecedent", antecedent)
        if isinstance(self.label, np.generic):
            object.__setattr__(self, "label", self.label.item())
        if self.label is not None and not _is_label(self.label):
            raise RuleError("a rule's label must be a text, a finite number or a Boolean")
        if self.counts is not None:
            object.__setattr__(self, "counts", tuple(_number(c) for c in self.counts))

    def __str__(self) -> str:
        condition = " and ".join(str(x) for x in self.antecedent) or "always"
        return condition if self.label is None else f"{condition} then {write(self.label)}"

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Read a rule from its text, with or without ``then LABEL``."""
        antecedent, label = Reader(text).whole(Reader.rule)
        return cls(tuple(Literal(*x) for x in antecedent), label)


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
        if not all(_is_label(c) for c in classes) or len(set(classes)) < len(classes):
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
        from .report.notebook import short_html

        return short_html(self)

    @classmethod
    def parse(cls, text: str, classes: Iterable[Label] = (), schema: Schema | None = None) -> "RuleList":
        """Read a list from its text. Line breaks and indentation do not matter."""
        read, default = Reader(text).whole(Reader.rule_list)
        rules = tuple(Rule(tuple(Literal(*x) for x in antecedent), label) for antecedent, label in read)
        return cls(rules, Rule((), default), tuple(classes), schema)

    def without_counts(self) -> "RuleList":
        """The bare list, as its text has it."""
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
            columns are numbers, Boolean ones are Booleans, categories are texts unless the schema lists whole numbers only.
            The engine stops with an error at a column of another type.

        Examples
        --------
        >>> print(RuleList.parse("if age > 30 and job != clerk then yes else no").to_sql("postgresql"))
        CASE
          WHEN "age" > 30::float8 AND NOT "age" = 'NaN'::float8 AND "job" <> 'clerk'::text THEN 'yes'
          ELSE 'no'
        END
        """
        from .report.sql import to_sql

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
        from .report.python_source import to_python

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


def truth(schema: Schema, literal: Literal) -> np.ndarray:
    """In which bins of its column a literal is true."""
    try:
        return schema[literal.column].where(literal.op, literal.value)
    except SchemaError as error:
        raise RuleError(f"the literal `{literal}` does not fit the schema: {error}") from None


def schema_of(rules: Iterable[Rule]) -> Schema:
    """The smallest schema in which all these rules can be said."""
    facts: dict[str, dict[str, Any]] = {}
    kinds: dict[str, type[Column]] = {}
    for literal in (x for rule in rules for x in rule.antecedent):
        column = facts.setdefault(literal.column, {"missing": False})
        kind: type[Column] | None = None
        if literal.op in ("is missing", "is not missing"):
            column["missing"] = True
        elif literal.op in ("is true", "is false"):
            kind = Boolean
        elif literal.op in ("=", "!="):
            kind = Categorical
            column.setdefault("categories", {}).setdefault(canonical(literal.value), literal.value)
            column["outside"] = "none"
        else:
            kind = Numeric
            if literal.op in ("<=", ">"):
                column.setdefault("cuts", set()).add(literal.value)
            else:
                value = literal.value if isinstance(literal.value, tuple) else (literal.value, math.inf)
                column.setdefault("ranges", set()).add(value)
        if kind is not None and kinds.setdefault(literal.column, kind) is not kind:
            raise RuleError(
                f"column {literal.column!r} is used both as {kind.kind} and as {kinds[literal.column].kind}"
            )
    for column in facts.values():
        column |= {key: sorted(column[key]) for key in ("cuts", "ranges") if key in column}
        column |= {"categories": tuple(column["categories"].values())} if "categories" in column else {}
    # A column that is only asked whether it is missing may be of any type.
    anything = {"categories": ["?"], "outside": "none"}
    return Schema(
        tuple(kinds[n](n, **f) if n in kinds else Categorical(n, **{**f, **anything}) for n, f in facts.items())
    )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not _fits(value):
        raise RuleError("a literal's value, and a count, must be a finite number")
    return float(value) + 0.0  # -0.0 becomes 0.0


def _fits(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_label(value: Any) -> bool:
    if isinstance(value, int | float):
        return math.isfinite(value) if isinstance(value, float) else abs(value) < LARGEST_WHOLE
    return isinstance(value, str)


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

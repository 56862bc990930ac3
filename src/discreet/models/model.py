"""What all kinds of models can do, given only the parts that they divide the records into (conditions/partition.py)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..common.errors import RuleError
from ..common.tables import as_table
from ..conditions.partition import Answer, Partition, columns_used_by, find_answers, has_points, literals_of
from ..conditions.rules import Literal, is_label, truth
from ..schema import Label, Schema


class PartitionModel(ABC):
    """A model: a frozen dataclass with the fields ``classes`` and ``schema``, that says what its parts and answers are.

    A new kind defines ``kind``, ``partitions``, ``limits``, ``answers``, ``__str__``, ``to_json`` and ``from_json``; calls
    ``_check`` when it is made; and has a line in ``models.kinds``.
    """

    kind: ClassVar[str]
    classes: tuple[Label, ...]
    schema: Schema | None

    if TYPE_CHECKING:  # as conditions.partition.Model has them; a kind may have each as a field or as a property

        @property
        def partitions(self) -> tuple[Partition, ...]:
            """One without points, or some with points."""

        @property
        def limits(self) -> tuple[float, ...]:
            """Between which totals the answer changes, ascending. Empty without points."""

        @property
        def answers(self) -> tuple[Answer, ...]:
            """One for each part of the only partition; with points, one more than there are limits."""

    @abstractmethod
    def to_json(self, indent: int | None = 1) -> str:
        """The model as JSON that ``from_json`` reads back, here or in a later version."""

    @classmethod
    @abstractmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""

    @property
    def used_columns(self) -> list[str]:
        """The columns that rules are about, in the order of the rules."""
        return columns_used_by(self)

    def with_schema(self, schema: Schema) -> Self:
        """The same model, with another schema that offers the same literals."""
        return replace(self, schema=schema)  # type: ignore[type-var]  # every kind is a dataclass

    def captures(self, X: Any, strict: bool = False) -> np.ndarray:
        """Which answer each record gets: 0 is the first. Of a list or a tree, which rule or leaf captures it."""
        table = as_table(X, None if self.schema is None else self.schema.names)
        schema = self.schema
        if schema is None:
            return find_answers(self, len(table), lambda _: np.zeros(0, bool))  # there is nothing to ask
        bins = {name: schema[name].encode(table.column(name), strict) for name in self.used_columns}

        def is_true(literal: Literal) -> np.ndarray:
            true: np.ndarray = truth(schema, literal)[bins[literal.column]]
            return true

        return find_answers(self, len(table), is_true)

    def predict(self, X: Any, strict: bool = False) -> np.ndarray:
        """The label of each record of a data frame (pandas, polars, pyarrow, ...), a mapping of columns, or an array.

        An array must have the columns of the schema, in its order. With ``strict=True`` a value that the schema does not
        foresee is an error; otherwise it is taken as the schema says.
        """
        kinds = {type(c) for c in self.classes}
        classes = np.array(self.classes, dtype=object if len(kinds) > 1 else None)
        # NumPy cuts a NUL off the end of a text and rounds some integers
        if classes.tolist() != list(self.classes):
            classes = np.array(self.classes, dtype=object)
        labels = classes[[self.classes.index(answer.label) for answer in self.answers]]
        predicted: np.ndarray = labels[self.captures(X, strict)]
        return predicted

    def predict_proba(self, X: Any, strict: bool = False) -> np.ndarray:
        """The share of each class (in the order of ``classes``) where a record is captured; of a bare list, 0 and 1.

        Where shares are equal, ``predict`` gives the label that the rule has, which need not be the first of them.
        """
        shares = np.array([answer.shares_among(self.classes) for answer in self.answers])
        of_records: np.ndarray = shares[self.captures(X, strict)]
        return of_records

    def to_sql(
        self, dialect: str = "duckdb", share_of: Label | None = None, types: Mapping[str, str] | None = None
    ) -> str:
        """The model as one SQL expression, which predicts as ``predict`` does.

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
        >>> from discreet import RuleList
        >>> print(RuleList.parse("if age > 30 and job != clerk then yes else no").to_sql("postgresql"))
        CASE
          WHEN "age" > 30::float8 AND NOT "age" = 'NaN'::float8 AND "job" <> 'clerk'::text THEN 'yes'
          ELSE 'no'
        END
        """
        from ..export.sql import to_sql

        return to_sql(self, dialect, share_of, types)

    def to_python(self, name: str = "predict", share_of: Label | None = None) -> str:
        """The model as the source of one Python function, which takes a record and predicts as ``predict`` does.

        It needs nothing but the standard library. With ``share_of``, a class, it gives the share of that class, as in
        ``predict_proba``, instead of the label. A column that the record lacks is a KeyError.

        >>> from discreet import RuleList
        >>> made = {}
        >>> exec(RuleList.parse("if age > 30 and job != clerk then yes else no").to_python("score"), made)
        >>> made["score"]({"age": 40, "job": "boss"}), made["score"]({"age": 40, "job": None})
        ('yes', 'no')
        """
        from ..export.python_source import to_python

        return to_python(self, name, share_of)

    def _repr_html_(self) -> str:
        from ..report.notebook import short_html

        return short_html(self)

    def _check(self) -> None:
        """Complain about classes, answers or literals that do not go together. For the end of ``__post_init__``."""
        if not all(is_label(c) for c in self.classes) or len(set(self.classes)) < len(self.classes):
            raise RuleError("classes must be different strings, finite numbers or Booleans")
        known = set(self.classes)
        for answer in self.answers:
            if answer.label not in known:  # True and 1 are the same label, as they are for scikit-learn
                raise RuleError(f"a label of the {self.kind} is not among the classes")
            for numbers, name in ((answer.counts, "counts"), (answer.shares, "shares")):
                if numbers is not None and len(numbers) != len(self.classes):
                    raise RuleError(f"an answer's {name} must be one for each class")
        with_points = [partition.points is not None for partition in self.partitions]
        if not (all(with_points) or with_points == [False]):
            raise RuleError("a model is one partition of the records, or several that all give points")
        places = len(self.limits) + 1 if has_points(self) else len(self.partitions[0].conditions)
        ascending = all(a < b for a, b in pairwise((-math.inf, *self.limits, math.inf)))
        if len(self.answers) != places or not ascending:
            raise RuleError("a model needs an answer for each part, or one more than it has limits, which must ascend")
        for literal in literals_of(self):
            assert self.schema is not None
            truth(self.schema, literal)  # complains about a literal that the schema does not offer


def model_of(given: Any) -> PartitionModel | None:
    """The model that a fitted classifier or a saved model holds, or that is given itself; None if it is something else."""
    model = getattr(given, "model_", getattr(given, "model", given))
    return model if isinstance(model, PartitionModel) else None

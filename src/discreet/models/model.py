"""What all kinds of models can do, given only the parts that they divide the records into (rules/partition.py)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .._utils.errors import RuleError
from .._utils.tables import as_table
from ..rules.partition import (
    Answer,
    Partition,
    columns_used_by,
    find_answers,
    find_totals,
    has_points_by_class,
    shares_of,
    shares_of_totals,
)
from ..rules.rules import Literal, is_label, truth
from ..schema import Label, Schema
from .count_intervals import count_intervals


class PartitionModel(ABC):
    """A model: a frozen dataclass with the fields ``classes`` and ``schema``, that says what its parts and answers are.

    A new kind defines ``kind``, ``partitions``, ``limits``, ``answers``, ``__str__``, ``to_json`` and ``from_json``; calls
    ``_check`` when it is made; and has a line in ``models.kinds``.
    """

    kind: ClassVar[str]
    classes: tuple[Label, ...]
    schema: Schema | None
    class_weight: tuple[float, ...] | None = None

    if TYPE_CHECKING:  # as conditions.partition.Model has them; a kind may have each as a field or as a property

        @property
        def partitions(self) -> tuple[Partition, ...]:
            """One without points, or some with points."""

        @property
        def limits(self) -> tuple[float, ...]:
            """Between which totals the answer changes, ascending. Empty without points."""

        @property
        def answers(self) -> tuple[Answer, ...]:
            """One for each part of the only partition; with points, one more than there are limits, or one for each class."""

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
        return find_answers(self, *self._asked(X, strict))

    def _asked(self, X: Any, strict: bool) -> tuple[int, Callable[[Literal], np.ndarray]]:
        """How many records there are, and of which of them a literal is true."""
        table = as_table(X, None if self.schema is None else self.schema.names)
        schema = self.schema
        if schema is None:
            return len(table), lambda _: np.zeros(0, bool)  # there is nothing to ask
        bins = {name: schema[name].encode(table.column(name), strict) for name in self.used_columns}

        def is_true(literal: Literal) -> np.ndarray:
            true: np.ndarray = truth(schema, literal)[bins[literal.column]]
            return true

        return len(table), is_true

    def count_intervals(self, epsilon: float) -> tuple[tuple[tuple[int, int], ...], ...] | None:
        """From where to where the exact class counts of each rule or leaf are, with 95 %; None without counts.

        ``epsilon`` is that of the noise in each count, which a bare model does not know: a fitted classifier and a
        ``SavedModel`` do, and have a method of this name without it. The intervals cover the noise, exactly, and nothing else.

        >>> from discreet import Rule, RuleList
        >>> rules = RuleList((), Rule((), "yes", (40, 90)), ("no", "yes"))
        >>> rules.count_intervals(epsilon=0.1)
        (((10, 70), (60, 120)),)
        """
        found = [count_intervals(answer, epsilon) for answer in self.answers]
        return None if any(ends is None for ends in found) else tuple(ends for ends in found if ends is not None)

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
        """How likely each class is (in the order of ``classes``) where a record is captured; of a bare list, 0 and 1.

        It is the share of the class by the counts. The label, which was chosen on the records while the counts are noisy, is
        taken to be as frequent as the largest class at least, so that it is the class with the largest share. Not so in models
        with a ``class_weight``: there shares are those of the counts, and ``predict`` is a decision, which may name a rare class.
        With points for each class, 10 points more double the odds.
        """
        if has_points_by_class(self):
            return shares_of_totals(find_totals(self, *self._asked(X, strict)))
        of_records: np.ndarray = self.answer_shares[self.captures(X, strict)]
        return of_records

    @property
    def answer_shares(self) -> np.ndarray:
        """How likely each class is where each answer is given, a row for each: what ``predict_proba`` says of its records."""
        return np.array([shares_of(self, answer) for answer in self.answers])

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
        >>> print(RuleList.parse("if age > 30 and job = clerk then yes else no").to_sql("postgresql"))
        CASE
          WHEN "age" > 30::float8 AND NOT "age" = 'NaN'::float8 AND "job" = 'clerk'::text THEN 'yes'
          ELSE 'no'
        END
        """
        from .export.sql import to_sql

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
        from .export.python_source import to_python

        return to_python(self, name, share_of)

    def to_pmml(self, types: Mapping[str, str] | None = None, as_tree: bool = False) -> str:
        """The model as PMML 4.4, which predicts as ``predict`` and ``predict_proba`` do.

        A rule list is a RuleSetModel of which the first rule that is true decides, a tree a TreeModel, a score card a Scorecard
        (of two classes).

        Parameters
        ----------
        types : mapping, default=None
            What a column is in the records to be scored, where it is not what one would expect: "number" for a Boolean column
            of 1 and 0, "number" or "text" for categories. Numeric columns are numbers, Boolean ones are Booleans, categories
            are strings unless the schema lists integers only.
        as_tree : bool, default=False
            Whether a rule list is a TreeModel, too: some evaluators give no probabilities of rules, all give those of leaves.

        Examples
        --------
        >>> from discreet import RuleList
        >>> written = RuleList.parse("if age > 30 and job = clerk then yes else no").to_pmml()
        >>> print(written[written.index("  <RuleSet>"):written.index("    <ScoreDistribution")])
          <RuleSet>
           <RuleSelectionMethod criterion="firstHit" />
           <SimpleRule id="1" score="yes" confidence="1.0">
            <CompoundPredicate booleanOperator="and">
             <SimplePredicate field="age" operator="greaterThan" value="30.0" />
             <SimplePredicate field="job" operator="equal" value="clerk" />
            </CompoundPredicate>
        """
        from .export.pmml import to_pmml

        return to_pmml(self, types, as_tree)

    def to_onnx(self, types: Mapping[str, str] | None = None, missing: str = "") -> bytes:
        """The model as ONNX, which predicts as ``predict`` and ``predict_proba`` do. Needs ``discreet[onnx]``.

        It has an input for each column that is used, of shape (records, 1), and the outputs ``label`` and ``probabilities``.
        Numeric and Boolean columns are doubles (1 and 0), in which NaN is a missing value; categories are strings.

        Parameters
        ----------
        types : mapping, default=None
            For columns of categories, whether they are "text" or "number". By default they are strings unless the schema lists
            integers only.
        missing : str, default=""
            The string that stands for a missing one, which ONNX does not have.

        Examples
        --------
        >>> from discreet import RuleList
        >>> written = RuleList.parse("if age > 30 and job != clerk then yes else no").to_onnx()
        >>> import numpy as np, onnxruntime
        >>> scorer = onnxruntime.InferenceSession(written)
        >>> ages, jobs = np.array([[40.0], [40.0], [np.nan]]), np.array([["boss"], [""], ["boss"]], dtype=object)
        >>> scorer.run(["label"], {"age": ages, "job": jobs})[0].tolist()
        ['yes', 'no', 'no']
        """
        from .export.onnx_graph import to_onnx

        return to_onnx(self, types, missing)

    def _repr_html_(self) -> str:
        from .display.notebook import short_html

        return short_html(self)

    def _check(self) -> None:
        """Complain about classes, answers or literals that do not go together. For the end of ``__post_init__``."""
        if not all(is_label(c) for c in self.classes) or len(set(self.classes)) < len(self.classes):
            raise RuleError("classes must be different strings, finite numbers or Booleans")
        known, answers, partitions = set(self.classes), self.answers, self.partitions
        for answer in answers:
            if answer.label not in known:  # True and 1 are the same label, as they are for scikit-learn
                raise RuleError(f"a label of the {self.kind} is not among the classes")
            for numbers, name in ((answer.counts, "counts"), (answer.shares, "shares")):
                if numbers is not None and len(numbers) != len(self.classes):
                    raise RuleError(f"an answer's {name} must be one for each class")
        weights = self.class_weight
        if weights is not None and (len(weights) != len(self.classes) or not min(weights) > 0):
            raise RuleError("class_weight must be a number above 0 for each class")
        with_points = [partition.points is not None for partition in partitions]
        if not (all(with_points) or with_points == [False]):
            raise RuleError("a model is one partition of the records, or several that all give points")
        widths = {len(p) if isinstance(p, tuple) else 1 for partition in partitions for p in partition.points or ()}
        by_class = has_points_by_class(self)
        if with_points[0] and widths != {len(self.classes) if by_class else 1}:
            raise RuleError("points must be one number everywhere, or one for each class everywhere")
        places = len(self.limits) + 1 if with_points[0] else len(partitions[0].conditions)
        if by_class:
            places = len(self.classes) if not self.limits else -1
            if tuple(answer.label for answer in answers) != self.classes:
                raise RuleError("with points for each class there is an answer for each class, in order, and no limits")
        ascending = all(a < b for a, b in pairwise((-math.inf, *self.limits, math.inf)))
        if len(answers) != places or not ascending:
            raise RuleError("a model needs an answer for each part, or one more than it has limits, which must ascend")
        literals = (x for partition in partitions for condition in partition.conditions for x in condition)
        for literal in dict.fromkeys(literals):  # leaves below a test share it
            assert self.schema is not None
            truth(self.schema, literal)  # complains about a literal that the schema does not offer


def model_of(given: Any) -> PartitionModel | None:
    """The model that a fitted classifier or a saved model holds, or that is given itself; None if it is something else."""
    model = getattr(given, "model_", getattr(given, "model", given))
    return model if isinstance(model, PartitionModel) else None

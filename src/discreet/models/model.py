"""What all kinds of models can do, given only the parts that they divide the records into (models/partition.py)."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import pairwise
from operator import methodcaller
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .._utils.errors import RuleError, SchemaError, shown
from .._utils.parameters import read_json
from .._utils.tables import as_table
from ..rules.rules import Condition, Literal, Rule, checked_label, checked_number, schema_of, truth, write
from ..schema import Label, Schema
from .partition import LARGEST, TOTAL, Answer, Ends, IsTrue, Partition, Piece, numbers_of, shares_of_totals, written

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1  # of the entries of every kind
TIE = 1e-9  # a share that decides between equals


class Model(ABC):
    """A model: a frozen dataclass with the fields ``classes`` and ``schema``, that says what its parts and answers are.

    Without points there is one partition, and an answer for each of its parts. With points, they are added up in the order of
    the partitions; the first answer is for totals below the first of the ``limits``, the next one for those below the second,
    and the last for all others. With points for each class there are no limits, and an answer for each class: the first whose
    total is the largest.

    A new kind defines ``kind``, ``partitions``, ``limits``, ``answers``, ``_entries`` and ``_fields_in``, and ``lines`` or
    ``__str__`` if it reads better otherwise; calls ``_check`` when it is made; and has a line in ``KINDS`` (models/saved.py).
    How people see it is in models/display/summary.py.
    """

    kind: ClassVar[str]  # "rule list": what people call it
    classes: tuple[Label, ...]  # in the order of counts and shares
    schema: Schema | None  # None if the model uses no column
    class_weight: tuple[float, ...] | None = None  # what a mistake in each class counted; None if all counted the same

    if TYPE_CHECKING:  # a kind may have each as a field or as a property

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
    def _entries(self) -> dict[str, Any]:
        """The fields of this kind that not all kinds have, as JSON or as values with a ``to_dict``."""

    @classmethod
    @abstractmethod
    def _fields_in(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The same fields, read from what ``_entries`` made."""

    def to_json(self, indent: int | None = 1) -> str:
        """The model as JSON that ``from_json`` reads back, here or in a later version."""
        data = {"format": f"discreet {self.kind}", "version": VERSION, "classes": list(self.classes), **self._entries()}
        if self.class_weight is not None:
            data["class_weight"] = list(self.class_weight)
        schema = json.dumps(None if self.schema is None else self.schema.to_dict())
        # JSON has no infinity: the open end of a range is null there
        data["schema"] = json.loads(schema, parse_constant=lambda _: None)
        return json.dumps(data, indent=indent, allow_nan=False, default=methodcaller("to_dict"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        try:
            data = read_json(text)
        except ValueError:
            raise RuleError(
                "the model is not valid JSON: the file is cut off, edited by hand, or something else"
            ) from None
        if not isinstance(data, dict) or data.get("format") != f"discreet {cls.kind}":
            raise RuleError(f"the JSON is not a discreet {cls.kind}")
        if data.get("version") != VERSION:
            raise RuleError(
                f"the model has format version {shown(data.get('version'))}, this discreet reads {VERSION}; update it"
            )
        try:
            found = cls._fields_in(data) | {"classes": tuple(data["classes"])}
            found["schema"] = None if data["schema"] is None else Schema.from_dict(data["schema"])
            if "class_weight" in data and "class_weight" in (field.name for field in fields(cls)):  # type: ignore[arg-type]
                found["class_weight"] = tuple(data["class_weight"])
        except SchemaError as error:
            raise RuleError(f"the model's schema cannot be read: {error}") from None
        except (KeyError, TypeError, AttributeError):
            raise RuleError("the model's JSON lacks an entry or has one of the wrong type") from None
        return cls(**found)

    def __str__(self) -> str:
        return "\n".join(written(line, str, lambda answer: write(answer.label)) for line in self.lines())

    def lines(self) -> Iterator[tuple[Piece, ...]]:
        """The lines that it prints, in pieces: words, conditions and answers."""
        for i, (condition, answer) in enumerate(zip(self.answer_conditions, self.answers, strict=True)):
            if condition:
                yield "else if " if i else "if ", condition, " then ", answer
            else:
                yield "else " if i else "always ", answer

    def merged(self) -> "Model":
        """The model as it is printed for people; see ``RuleList.merged``."""
        return self

    @property
    def used_columns(self) -> list[str]:
        """The columns that rules are about, in the order of the rules."""
        return list(dict.fromkeys(literal.column for literal in self._literals()))

    def _literals(self) -> Iterator[Literal]:
        return (x for partition in self.partitions for condition in partition.conditions for x in condition)

    @property
    def has_points(self) -> bool:
        """Whether the answer depends on a sum of points, and not on one partition alone."""
        return self.partitions[0].points is not None

    @property
    def has_points_by_class(self) -> bool:
        """Whether there is a sum of points for each class."""
        return self.partitions[0].has_points_by_class

    @property
    def answer_conditions(self) -> tuple[Condition, ...]:
        """When each answer is given, in order: the parts themselves, or a literal about the total."""
        if not self.has_points:
            return self.partitions[0].conditions
        if self.has_points_by_class:
            return (*((Literal(LARGEST, "=", str(answer.label)),) for answer in self.answers[:-1]), ())
        return (*((Literal(TOTAL, "<", limit),) for limit in self.limits), ())

    def find_answers(self, n: int, is_true: IsTrue) -> np.ndarray:
        """Which answer each of n records gets, as its number. ``is_true`` says of which records a literal is true."""
        if not self.has_points:
            return self.partitions[0].find(n, is_true)
        total = self._totals(n, is_true)
        return np.searchsorted(self.limits, total, side="right") if total.ndim == 1 else total.argmax(1)

    def _totals(self, n: int, is_true: IsTrue) -> np.ndarray:
        """The total of each of n records; with points for each class, a row for each record."""
        total = np.zeros((n, len(self.classes)) if self.has_points_by_class else n)
        # in this order, which SQL and Python keep: sums of floating-point numbers depend on it
        for partition in self.partitions:
            total += np.array(partition.points, float)[partition.find(n, is_true)]
        return total

    def with_schema(self, schema: Schema) -> Self:
        """The same model, with another schema that offers the same literals."""
        return replace(self, schema=schema)  # type: ignore[type-var]  # every kind is a dataclass

    def captures(self, X: Any, strict: bool = False) -> np.ndarray:
        """Which answer each record gets: 0 is the first. Of a list or a tree, which rule or leaf captures it."""
        return self.find_answers(*self._asked(X, strict))

    def _asked(self, X: Any, strict: bool) -> tuple[int, IsTrue]:
        """How many records there are, and of which of them a literal is true."""
        schema = self.schema
        table = as_table(X, None if schema is None else schema.names)
        if schema is None:
            return len(table), lambda _: np.zeros(0, bool)  # there is nothing to ask
        bins = {name: schema[name].encode(table.column(name), strict) for name in self.used_columns}
        return len(table), lambda literal: truth(schema, literal)[bins[literal.column]]

    def count_intervals(self, epsilon: float) -> tuple[tuple[Ends, ...], ...] | None:
        """From where to where the exact class counts of each rule or leaf are, with 95 %; None without counts.

        ``epsilon`` is that of the noise in each count, which a bare model does not know: a fitted classifier and a
        ``SavedModel`` do, and have a method of this name without it. The intervals cover the noise, exactly, and nothing else.

        >>> from discreet import Rule, RuleList
        >>> rules = RuleList((), Rule((), "yes", (40, 90)), ("no", "yes"))
        >>> rules.count_intervals(epsilon=0.1)
        (((10, 70), (60, 120)),)
        """
        found = [answer.count_intervals(epsilon) for answer in self.answers]
        return None if any(ends is None for ends in found) else tuple(ends for ends in found if ends is not None)

    def predict(self, X: Any, strict: bool = False) -> np.ndarray:
        """The label of each record of a data frame (pandas, polars, pyarrow, ...), a mapping of columns, or an array.

        An array must have the columns of the schema, in its order. With ``strict=True`` a value that the schema does not
        foresee is an error; otherwise it is taken as the schema says.
        """
        classes = np.array(self.classes)
        # NumPy makes one type of several, cuts a NUL off the end of a text and rounds some integers
        if repr(classes.tolist()) != repr(list(self.classes)):
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
        if self.has_points_by_class:
            return shares_of_totals(self._totals(*self._asked(X, strict)))
        of_records: np.ndarray = self.answer_shares[self.captures(X, strict)]
        return of_records

    @property
    def answer_shares(self) -> np.ndarray:
        """How likely each class is where each answer is given, a row for each: what ``predict_proba`` says of its records."""
        return np.array([self.shares_of(answer) for answer in self.answers])

    def shares_of(self, answer: Answer) -> np.ndarray:
        """How likely each class is where the model gives this answer: what ``predict_proba`` says, and why.

        These are the shares that the answer has, or those of its counts (a negative one is taken as 0), or else 1 for the label.
        Unless classes have weights, the label has a billionth more than its equals. With weights, and no count above 0, all
        classes are alike.
        """
        label = self.classes.index(answer.label)
        shares = np.array([float(i == label) for i in range(len(self.classes))])
        if answer.shares is not None:
            shares = np.array(answer.shares)
        elif answer.counts is not None:
            counts = np.maximum(answer.counts, 0.0)
            if self.class_weight is not None:
                return counts / counts.sum() if counts.any() else np.full(len(counts), 1 / len(counts))
            counts[label] = counts.max()  # of this estimate; the counts of the answer stay as they are
            shares = counts / counts.sum() if counts.any() else shares
        if shares[:label].max(initial=-1.0) == shares[label] == shares.max():
            shares = (1.0 - TIE) * shares  # whoever takes the first of the largest shares should find the label
            shares[label] += TIE
        return shares

    def to_sql(
        self, dialect: str = "duckdb", share_of: Label | None = None, types: Mapping[str, str] | None = None
    ) -> str:
        """The model as one SQL expression, which predicts as ``predict`` does.

        Parameters
        ----------
        dialect : str, default="duckdb"
            "duckdb", "postgresql", "spark" or "sqlite" (3.38 or newer).
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

    def to_frame(self) -> "pd.DataFrame":
        """The model as a pandas data frame: a row for each rule or leaf; of a score card, for each value that gives points.

        ``share`` is how likely the label is there, as in ``predict_proba``. A rule is for records that no earlier one is true of.

        >>> from discreet import Literal, Rule, RuleList
        >>> RuleList([Rule((Literal("age", "<=", 25),), "yes", (10, 30))], Rule((), "no", (50, 10)), ("no", "yes")).to_frame()
                rule label  count no  count yes     share
        0  age <= 25   yes      10.0       30.0  0.750000
        1       else    no      50.0       10.0  0.833333
        """
        from .frames import to_frame

        return to_frame(self)

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
        """Complain about classes, answers or literals that do not go together. For the end of ``__post_init__``.

        Where classes or a schema are left out, they are what the answers and literals need.
        """
        if self.class_weight is not None:
            object.__setattr__(self, "class_weight", tuple(map(checked_number, self.class_weight)))
        classes = self.classes or tuple(dict.fromkeys(answer.label for answer in reversed(self.answers)))
        object.__setattr__(self, "classes", tuple(map(checked_label, classes)))
        partitions, literals = self.partitions, tuple(dict.fromkeys(self._literals()))  # leaves below a test share them
        if self.schema is None and literals:
            object.__setattr__(self, "schema", schema_of([Rule(literals)]))
        if len(set(self.classes)) < len(self.classes):
            raise RuleError("classes must be different")
        answers, by_class = self.answers, partitions[0].has_points_by_class
        for answer in answers:
            if answer.label not in self.classes:  # True and 1 are the same label, as they are for scikit-learn
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
        width = len(self.classes) if by_class else 1
        if any(len(numbers_of(points)) != width for partition in partitions for points in partition.points or ()):
            raise RuleError("points must be one number everywhere, or one for each class everywhere")
        if by_class and tuple(answer.label for answer in answers) != self.classes:
            raise RuleError("with points for each class there is an answer for each class, in order, and no limits")
        places = len(self.limits) + 1 if with_points[0] else len(partitions[0].conditions)
        fits = not self.limits if by_class else len(answers) == places
        if not fits or any(a >= b for a, b in pairwise((-math.inf, *self.limits, math.inf))):
            raise RuleError("a model needs an answer for each part, or one more than it has limits, which must ascend")
        for literal in literals:
            assert self.schema is not None
            truth(self.schema, literal)  # complains about a literal that the schema does not offer


def model_of(given: Any) -> Model | None:
    """The model that a fitted classifier or a saved model holds, or that is given itself; None if it is something else."""
    model = getattr(given, "model_", getattr(given, "model", given))
    return model if isinstance(model, Model) else None

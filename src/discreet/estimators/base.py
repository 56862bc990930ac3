"""What the scikit-learn classifiers have in common: they check what they are given, and make models of what was learned."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from pandas.api.types import is_bool_dtype, is_object_dtype
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from .._utils.errors import SchemaError, no_value_shown
from .._utils.parameters import finite_number
from .._utils.tables import (
    Table,
    array_names,
    as_array,
    as_frame,
    as_rows,
    as_table,
    holds_objects,
    renamed,
    unnamed_columns,
)
from ..models.frames import importances_of
from ..models.model import Model
from ..models.rule_list import RuleList
from ..models.saved import SavedModel
from ..private.counts.counts import Patterns
from ..private.counts.patterns import PatternsInProgress
from ..rules.candidates import Candidates, as_rules
from ..rules.rules import Rule, schema_of
from ..schema import Schema
from ..schema.columns import canonical, is_missing
from ..schema.draft import Draft, as_schema
from ..schema.inference import infer_schema
from ..sources.memory import blocks_of, class_numbers
from .parameters import ParameterTable

# How scikit-learn's messages begin that are about an array as a whole. Others may quote a value.
ABOUT_SHAPES = (
    "Found array with",
    "X has ",
    "The feature names should match",
    "Complex data not supported",
)
Counts = tuple[float, ...]
LABELS = "y must hold a label for each record of X: a few classes, all strings or all numbers"


class Learned(NamedTuple):
    """The candidates chosen, in order, and the class counts of each and then of the default.

    Labels are given where they were drawn; else they follow from the counts.
    """

    chosen: list[int]
    counts: list[Counts] | None
    labels: list[int] | None = None


def majority(counts: Counts) -> int:
    """The predicted class; the later one of equals, as in the paper's pred_DP (0 only if c0 > c1)."""
    return max(range(len(counts)), key=lambda c: (counts[c], c))


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What all classifiers have in common: the way from a table to a model, and prediction."""

    _parameters: ClassVar[ParameterTable]
    _kept: ClassVar[str]  # under which name the model is

    schema: Schema | Draft | str | PathLike[str] | None = None
    exclude: Any = ()

    @property
    def _strict(self) -> bool:
        """Whether a value that the schema does not foresee is an error."""
        return self.schema is not None

    @property
    def _is_described(self) -> bool:
        """Whether the columns are known before there is a table."""
        return self.schema is not None

    @property
    def _named_target(self) -> str | None:
        """The target, where no schema names it."""
        return None

    def _check_parameters(self) -> None:
        self._parameters.check(self)

    @property
    def model_(self) -> Model:
        """What was learned, under one name for all kinds of models. There is none before ``fit``."""
        model: Model = getattr(self, self._kept)
        return model

    def released(self) -> SavedModel:
        """What a report shows of the fitted classifier (``report.summary``)."""
        return SavedModel.of(self)

    def count_intervals(self) -> tuple[tuple[tuple[int, int], ...], ...] | None:
        """From where to where the exact class counts of each rule or leaf are, as ``SavedModel.count_intervals`` has it."""
        check_is_fitted(self)
        return self.released().count_intervals()

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much the model depends on each column of ``X``: numbers that add up to 1, or all 0 if it depends on none.

        Of lists and trees: by how much each rule or test lowers the Gini impurity, weighted by the records that reach it, as in
        scikit-learn's trees; a rule of several columns counts for each alike. Of score cards: how far apart the points of each
        column are (between classes, the mean; of several cards, the mean). They follow from the released counts and points
        alone, noise included, and so cost no privacy. Without class counts (``counts_share=0``) lists and trees have none.

        >>> from discreet import GreedyRuleListClassifier
        >>> GreedyRuleListClassifier(max_length=2).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]).feature_importances_
        array([1., 0.])
        """
        check_is_fitted(self)
        found, names = importances_of(self.model_), self._names_by_position(self.n_features_in_, reset=False)
        return np.array([found.get(name, 0.0) for name in names])

    def predict(self, X: Any) -> np.ndarray:
        """The predicted class of each record."""
        check_is_fitted(self)
        return self.model_.predict(self._table(X, reset=False), strict=self._strict)

    def predict_proba(self, X: Any) -> np.ndarray:
        """How likely each class is: its share of the counts where a rule or leaf captures, the label's the largest of them.

        Of a score card it follows from the range that a record's total is in; of more than two classes, from all totals.
        With a ``class_weight`` it is the share of the counts alone: ``predict`` is then a decision, which may name a rare class.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(self._table(X, reset=False), strict=self._strict)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of records whose class is predicted correctly."""
        predicted = self.predict(X)
        with no_value_shown(f"{LABELS}; and sample_weight, if given, a number for each"):
            accuracy: float = accuracy_score(as_array(y), predicted, sample_weight=sample_weight)
            return accuracy

    def __str__(self) -> str:
        return str(self.model_.merged()) if hasattr(self, "model_") else repr(self)

    def _repr_html_inner(self) -> str:
        return self._short_html() or super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(
            **kwargs
        )  # without HTML if scikit-learn's display is set to text
        if "text/html" in bundle and (short := self._short_html()):
            bundle["text/html"] = short
        return bundle

    def _short_html(self) -> str:
        """What a notebook shows of a fitted model; nothing before that, where scikit-learn has its diagram."""
        if not hasattr(self, "model_"):
            return ""
        from ..models.display.notebook import short_html

        return short_html(self.model_, self.released())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # a missing value is a literal of its own
        return tags

    def _table(self, X: Any, reset: bool, least: int = 1) -> Table:
        """X as a table of named columns; scikit-learn's attributes on features are set or checked."""
        X = X.toarray() if issparse(X) else X  # such as encoders of categories give
        frame = as_frame(X)
        if reset:
            self._target = self._given_schema().target if self._is_described else self._named_target
        if frame is not None and getattr(self, "_target", None) in frame.columns:
            frame = frame.drop(self._target)  # it is no feature, though a whole table has it
            X = frame.to_native()
        if frame is None:
            X = self._array(X, reset, least)
            return as_table(X, self._names_by_position(X.shape[1], reset))
        if len(frame) < least:
            raise SchemaError("X has no records")
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset and not hasattr(self, "feature_names_in_"):  # a library that this scikit-learn does not know
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
            self.n_features_in_ = len(frame.columns)
        if hasattr(self, "feature_names_in_"):
            return as_table(X)
        return renamed(as_table(X), self._names_by_position(len(frame.columns), reset))  # learned from an array

    def _array(self, X: Any, reset: bool, least: int) -> np.ndarray:
        """X as an array of numbers. What scikit-learn says of values that are none would show them."""
        if isinstance(X, dict) and not hasattr(X, "shape"):  # some sparse arrays are dicts
            raise SchemaError("X must be a data frame or an array of two dimensions; make a data frame of the mapping")
        if not hasattr(X, "shape") or len(X.shape) == 2:
            try:
                array: np.ndarray = validate_data(
                    self, X, reset=reset, dtype="numeric", ensure_all_finite=False, ensure_min_samples=least
                )
                return array
            except Exception as error:
                first_line = str(error).partition("\n")[0]
                if first_line.startswith(ABOUT_SHAPES):
                    raise type(error)(first_line) from None
                if isinstance(error, TypeError):
                    raise TypeError(
                        "X must hold numbers: float()'s argument must be a string or a real number"
                    ) from None
        raise ValueError("X must be a data frame, or an array of numbers with two dimensions. Reshape your data")

    def _names_by_position(self, n: int, reset: bool) -> list[str]:
        """What the columns of a table without names are called."""
        if hasattr(self, "feature_names_in_"):
            return list(self.feature_names_in_)
        if not self._is_described:
            return array_names(n)
        if reset or not hasattr(self, "_names"):
            self._names: list[str] = self._given_schema().names  # the file may be gone when it predicts
        if len(self._names) != n:
            raise SchemaError(
                f"X has {n} columns without names, but the schema describes {len(self._names)}; give a data frame"
            )
        return self._names

    def _given_schema(self) -> Schema:
        return as_schema(self.schema)

    def _schema_for(self, table: Table) -> Schema:
        """The schema: as given, or as the explicit candidates need it, or as the table looks."""
        if self.schema is not None:
            return self._given_schema().exclude(self.exclude)
        if self.candidates is not None and not isinstance(self.candidates, Candidates):
            return schema_of(as_rules(self.candidates))
        return infer_schema(table, exclude=self.exclude)

    def _labels(self, y: Any, n: int) -> np.ndarray:
        """The number of each record's class; sets ``classes_``, in sorted order as scikit-learn's scorers expect it."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        with no_value_shown("y cannot be read as a column of labels"):
            y = np.asarray(as_array(y))
        if y.dtype == object and y.ndim == 1 and any(is_missing(label) for label in y):
            raise ValueError("y has missing labels (Input y contains NaN); leave those records out")
        with no_value_shown(LABELS):
            y = column_or_1d(y, warn=True)
        if len(y) != n:
            raise ValueError(f"X and y differ in length: X has {n} records, y has {len(y)} labels")
        if y.dtype == object and all(issubclass(type(label), bool | np.bool_) for label in y):
            y = y.astype(bool)
        if y.dtype.kind in "mM":
            raise ValueError("y holds dates or times (Unknown label type); a classifier needs class labels")
        if self.schema is None or self._given_schema().classes is None:
            with no_value_shown(f"Unknown label type: {LABELS}"):
                check_classification_targets(y)
                classes, labels = np.unique(y, return_inverse=True)
            self.classes_ = np.array([_plain(c) for c in classes], dtype=object) if classes.dtype == object else classes
        else:
            self.classes_ = np.unique(np.array(self._given_schema().classes))
            if (self.classes_.dtype.kind == "U") != (y.dtype.kind not in "biuf"):
                raise SchemaError("y and the classes of the schema must be both strings or both numbers")
            labels = class_numbers(y, self.classes_.tolist(), n)
            if (labels < 0).any():
                raise SchemaError(
                    "y has labels that are not among the classes of the schema; add them, or leave them out"
                )
        if len(np.unique(labels)) < 2:
            raise ValueError("y holds records of one class only; a classifier needs at least two")
        return labels

    @abstractmethod
    def _candidates(self, schema: Schema) -> Candidates:
        """What a model can be made of."""

    @property
    def _weights(self) -> tuple[float, ...] | None:
        """The public weights of the classes, as a model has them."""
        return told_weights(getattr(self, "class_weight", None), self.classes_)

    @abstractmethod
    def _set_model(self, candidates: Candidates, learned: Any) -> None:
        """From what a learner returns to a model."""


class Exact(Classifier):
    """From a table to a model without privacy."""

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn a model from records X (a data frame or an array) and their labels y."""
        refuse(unsupported)
        self._check_parameters()
        table = self._table(X, reset=True)
        labels = self._labels(y, len(table))
        candidates = self._candidates(self._schema_for(table))
        self._check(candidates)
        patterns = PatternsInProgress(candidates.columns, n_classes := len(self.classes_))
        for bins, numbers in blocks_of(table, candidates.columns, labels, self._strict):
            patterns.add(bins, numbers)
        del X, y, table, labels
        counts = Patterns(candidates.schema, range(n_classes), patterns.finish())
        self._set_model(candidates, self._learn(candidates, counts))
        return self

    def _check(self, candidates: Candidates) -> None:
        """Refuse, before any record is counted, what takes too long."""

    @abstractmethod
    def _learn(self, candidates: Candidates, counts: Patterns) -> Any:
        """What a learner returns."""


@dataclass(eq=False, repr=False, kw_only=True)
class RuleLists(Classifier):
    """What classifiers have in common whose model is a rule list."""

    max_literals: int = 1
    negations: bool = True
    candidates: Any = None

    _kept = "rule_list_"

    def _candidates(self, schema: Schema) -> Candidates:
        if isinstance(self.candidates, Candidates):
            return self.candidates
        if self.candidates is not None:
            return Candidates.of_rules(schema, self.candidates)
        return Candidates.of_schema(schema, self.max_literals, self.negations)

    def _set_model(self, candidates: Candidates, learned: Any) -> None:
        assert isinstance(learned, Learned)
        classes, antecedents = self.classes_.tolist(), [*(candidates[i].antecedent for i in learned.chosen), ()]
        counts: Sequence[Counts | None] = learned.counts or [None] * len(antecedents)
        labels = learned.labels or [majority(c) for c in learned.counts or ()]
        parts = zip(antecedents, labels, counts, strict=True)
        *rules, default = (Rule(antecedent, classes[label], count) for antecedent, label, count in parts)
        self.rule_list_ = RuleList(tuple(rules), default, tuple(classes), candidates.schema, self._weights)


class Tested(Classifier):
    """What classifiers have in common that choose among tests: these follow from the schema."""

    candidates = None

    def _candidates(self, schema: Schema) -> Candidates:
        return splits_of(schema)


@dataclass(eq=False, repr=False, kw_only=True)
class Limited:
    """The parameters of classifiers that choose among all lists or trees."""

    monotonic_cst: Any = None
    forbid: Any = ()
    time_limit: float | None = None
    verbose: bool = False


@lru_cache(maxsize=32)
def candidates_of(schema: Schema, max_literals: int, negations: bool) -> Candidates:
    """The same object for the same schema, so that ``PrivateCounts`` can keep the counts of its rules from fit to fit."""
    return Candidates.of_schema(schema, max_literals, negations)


@lru_cache(maxsize=32)
def splits_of(schema: Schema) -> Candidates:
    """What a split may ask, likewise."""
    return Candidates.of_tests(schema)


def _plain(label: Any) -> Any:
    """A label without code of its own, which a subclass may have."""
    for kind, plain in ((bool, bool), (str, str.__str__), (int, int.__int__), (float, float.__float__)):
        if issubclass(type(label), kind):
            return plain(label)
    return label


NO_SCHEMA = (
    "without a schema the columns of X are read as true (1) and false (0), and every other value counts as missing. If X holds "
    "numbers or categories, give a schema (see docs/schema.md); if not, schema=Schema.of_booleans(names) says so"
)


def may_be_zero_one(X: Any) -> bool:
    """Whether X holds truth values by its types alone: columns of Booleans or objects, an array of numbers or objects.

    Not of Booleans or integers only: one record that is missing makes objects of Booleans, and floats of integers.
    """
    if issparse(X):
        return X.dtype.kind in "biuf"
    frame = as_frame(X)
    if frame is not None:
        columns = [frame.get_column(name) for name in frame.columns]
        return all(holds_objects(column.to_native()) or str(column.dtype) == "Boolean" for column in columns)
    types = [column.dtype for column in unnamed_columns(X) or ()]
    if all(isinstance(dtype, np.dtype) for dtype in types):
        return as_rows(X).dtype.kind in "biufO"
    return all(is_bool_dtype(dtype) or is_object_dtype(dtype) for dtype in types)


def refuse(unsupported: dict[str, Any]) -> None:
    """Name what fit() does not take."""
    if "sample_weight" in unsupported:
        raise TypeError("sample_weight is not supported: every record counts once; leave it out")
    for name in unsupported:
        raise TypeError(f"fit() has no parameter {name!r}")


def class_weights(given: Mapping[Any, Any] | None, classes: np.ndarray) -> np.ndarray:
    """A weight for each class, the largest 1: multiples of 2^-20, so that sums of counts times weights have no error.

    >>> class_weights({"b": 3}, np.array(["a", "b"])).tolist()
    [0.33333301544189453, 1.0]
    """
    weights = _by_class(given, classes)
    return np.asarray(np.maximum(np.rint(weights / weights.max() * 2.0**20), 1.0) * 2.0**-20)


def told_weights(given: Mapping[Any, Any] | None, classes: np.ndarray) -> tuple[float, ...] | None:
    """The weights as they were given, for the model to tell; None if all classes weigh the same.

    >>> told_weights({"b": 3}, np.array(["a", "b"])), told_weights({"a": 2, "b": 2}, np.array(["a", "b"]))
    ((1.0, 3.0), None)
    """
    weights = tuple(_by_class(given, classes).tolist())
    return weights if len(set(weights)) > 1 else None


def _by_class(given: Mapping[Any, Any] | None, classes: np.ndarray) -> np.ndarray:
    """The weight of each class, 1 where none is given."""
    weights = np.ones(len(classes))
    place = {canonical(c): i for i, c in enumerate(classes.tolist())}
    for label, weight in (given or {}).items():
        if canonical(label) not in place:
            raise ValueError(f"class_weight names {label!r}, which is no class of the target; spell it as there")
        if not finite_number("class_weight", weight) > 0:
            raise ValueError(f"class_weight must hold weights above 0, not {weight!r}")
        weights[place[canonical(label)]] = float(weight)
    return weights

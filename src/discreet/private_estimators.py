"""The private scikit-learn classifiers.

Nothing about a private fit but its result depends on the records: errors, warnings and progress follow from parameters, the
schema, and the names and types of columns. A value or label that the schema does not foresee is taken as it says, or left
out, in silence.
"""

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .candidates import Candidates
from .errors import CandidatesError, PrivacyWarning, SchemaError
from .estimators import _RuleListClassifier, check_min_support, check_whole_number, refuse
from .learners.greedy import greedy
from .learners.guarantees import proved_guarantee
from .privacy.budget import NEEDS_DELTA, PUBLISHED, SMOOTH, GreedyBudget
from .privacy.ledger import Ledger, Reservation, exact
from .privacy.statement import Guarantee, PrivacyStatement
from .schema import Schema
from .sources.memory import check_labels, check_types
from .tables import Table, as_frame, as_objects
from .vault.entropy import Entropy, SeededEntropy, SystemEntropy
from .vault.vault import PublishedDoors, Vault, check_private_schema, sorted_classes

LARGEST_DELTA = 1e-3  # a larger one is no promise to anybody

ASSUMES = (
    "neither the schema nor the parameters were chosen by looking at the records (a grid search does look at them)",
    "a seed was not used and the operating system's random numbers cannot be predicted",
    "nobody measures how long learning took",
    "rounding in the noise that decides between rules, which is never released itself, does not matter "
    "(docs/limitations.md)",
)


class DPGreedyRuleListClassifier(_RuleListClassifier):
    """A rule list learned greedily with one of the paper's six private methods.

    Parameters
    ----------
    mechanism : str, default="sm-laplace"
        "sm-laplace" and "sm-cauchy" (smooth sensitivity), "gl-laplace", "gl-gaussian" and "gl-exponential" (global
        sensitivity), "noisy-counts".
    epsilon : float, default=1.0
        The privacy budget.
    delta : float, default=None
        For "sm-laplace" and "gl-gaussian". None means 1/n^2 as in the paper, which follows the private number of records
        n; nothing is then proved.
    max_length : int, default=5
        The paper's K: the most rules in the list, counting the default.
    min_support : float or int, default=0.05
        For the smooth methods: how many records must be left for another rule; a whole number, or a share of the private
        number of records as in the paper (nothing is then proved).
    confidence : float, default=0.99
        For the smooth methods: the paper's C, how sure the check of the support is to be.
    max_card, negations, schema, candidates, exclude
        As in ``GreedyRuleListClassifier``. Without a schema, X must be Boolean (or an array of 0 and 1), and labels 0 and
        1. Given ``candidates`` may have been mined from the records, so nothing is then proved.
    infer_schema : bool, default=False
        Make the schema from the records. That is not private, and the statement says so.
    ledger : Ledger, default=None
        Where to book the budget. The fit is refused if too little is left.
    random_state : int, default=None
        For experiments only: seeded noise can be repeated, so nothing is proved.

    Attributes
    ----------
    rule_list_ : RuleList
        The model, with noisy class counts.
    privacy_ : PrivacyStatement
        What it promises.
    classes_ : array
        The classes, in the order of ``predict_proba``.

    Examples
    --------
    >>> from discreet import DPGreedyRuleListClassifier
    >>> from discreet.datasets import load_compas
    >>> data = load_compas()
    >>> clf = DPGreedyRuleListClassifier("gl-laplace", epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    >>> print(clf.privacy_.proved)
    epsilon = 0.555556
    """

    def __init__(
        self,
        mechanism: str = "sm-laplace",
        epsilon: float = 1.0,
        delta: float | None = None,
        max_length: int = 5,
        min_support: float = 0.05,
        confidence: float = 0.99,
        max_card: int = 1,
        negations: bool = True,
        schema: Schema | None = None,
        infer_schema: bool = False,
        candidates: Any = None,
        exclude: Any = (),
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.delta = delta
        self.max_length = max_length
        self.min_support = min_support
        self.confidence = confidence
        self.max_card = max_card
        self.negations = negations
        self.schema = schema
        self.infer_schema = infer_schema
        self.candidates = candidates
        self.exclude = exclude
        self.ledger = ledger
        self.random_state = random_state

    _strict = False

    def fit(self, X: Any, y: Any, **unsupported: Any) -> "DPGreedyRuleListClassifier":
        """Learn a rule list from records X (a data frame or an array) and their labels y."""
        refuse(unsupported)
        self._check_parameters()
        table = self._table(X, reset=True)
        schema = self._public_schema(X, y, table)
        candidates = self._candidates(schema)
        check_types(table, schema.used)
        check_labels(y, sorted_classes(schema), len(table))
        return self._learn(candidates, lambda: Vault.from_table(table, y, schema))

    def fit_vault(self, vault: Vault) -> "DPGreedyRuleListClassifier":
        """Learn from a vault that was filled before, ``Vault.from_table(X, y, schema)``: fill once, fit many times."""
        self._check_parameters()
        if not isinstance(vault, Vault):
            raise TypeError("vault must be a Vault; make one with Vault.from_table(X, y, schema)")
        if len(vault.classes) != 2:
            raise SchemaError(_BINARY_ONLY)
        self.classes_ = np.array(vault.classes)
        self.feature_names_in_ = np.array(vault.schema.names, dtype=object)
        self.n_features_in_ = len(vault.schema.names)
        candidates = self._candidates(vault.schema.exclude(self.exclude))
        return self._learn(candidates, lambda: vault)

    def _learn(self, candidates: Candidates, get_vault: Callable[[], Vault]) -> "DPGreedyRuleListClassifier":
        """Price, reserve, and only then touch the records."""
        delta = Fraction(0)
        delta_from_records = self.mechanism in NEEDS_DELTA and self.delta is None
        if self.mechanism in NEEDS_DELTA:
            delta = Fraction(1) if self.delta is None else exact("delta", self.delta)
        budget = GreedyBudget.published(self.mechanism, exact("epsilon", self.epsilon), delta, int(self.max_length))
        statement = self._statement(budget, candidates.schema, len(candidates))
        if statement.proved is None and self.random_state is None:  # a seed says that this is an experiment
            reasons = "; ".join(statement.because)
            warnings.warn(f"no privacy is proved for this fit: {reasons}", PrivacyWarning, stacklevel=3)
        if self.ledger is None:
            reservation = Reservation(budget.epsilon, budget.delta)
        else:
            pair = None if statement.proved is None else (statement.proved.epsilon, statement.proved.delta or 0.0)
            what = f"{type(self).__name__}, {self.mechanism}"
            reservation = self.ledger.reserve(budget.epsilon, budget.delta, what, proved=pair)
        try:
            doors = PublishedDoors(
                get_vault(),
                candidates,
                self.mechanism,
                budget,
                self.min_support,
                self.confidence,
                reservation,
                self._entropy(),
                delta_from_records,
            )
            learned = greedy(doors, int(self.max_length), check_support=self.mechanism in SMOOTH)
        finally:
            reservation.close()
        self._set_model(candidates, learned)
        self.privacy_ = statement
        return self

    def _statement(self, budget: GreedyBudget, schema: Schema, n_candidates: int) -> PrivacyStatement:
        because = []
        if self.random_state is not None:
            because.append("the noise was seeded (random_state), so it can be repeated and taken off")
        if schema.inferred:
            because.append("the schema was made from records (infer_schema)")
        if self.candidates is not None:
            because.append("the candidates were given, and may have been mined from the records")
        if self.mechanism in NEEDS_DELTA and self.delta is None:
            because.append("delta = 1/n^2 follows the private number of records n; give a delta")
        if self.mechanism in SMOOTH and self.min_support < 1:
            because.append("min_support is a share of the private number of records; give a whole number")
        published_delta = (
            (None if self.delta is None else float(budget.delta)) if self.mechanism in NEEDS_DELTA else 0.0
        )
        proved = None
        if not because:
            support = max(1, int(self.min_support))
            proved = proved_guarantee(
                self.mechanism, budget, int(self.max_length), support, float(self.confidence), n_candidates
            )
            if (proved.delta or 0.0) > LARGEST_DELTA:
                because.append(f"the best delta that can be proved, {proved.delta:.1g}, is too large to mean anything")
                proved = None
        return PrivacyStatement(
            self.mechanism, Guarantee(float(budget.epsilon), published_delta), proved, tuple(because), ASSUMES
        )

    def _entropy(self) -> Entropy:
        if self.random_state is None:
            return SystemEntropy()
        if isinstance(self.random_state, np.random.Generator):
            return SeededEntropy(self.random_state)
        if isinstance(self.random_state, int | np.integer):
            return SeededEntropy(int(self.random_state))
        return SeededEntropy(int(check_random_state(self.random_state).randint(2**31)))

    def _check_parameters(self) -> None:
        if self.mechanism not in PUBLISHED:
            raise ValueError(f"mechanism must be one of {', '.join(PUBLISHED)}, not {self.mechanism!r}")
        if not 1e-6 <= _number("epsilon", self.epsilon) <= 1e9:
            raise ValueError(f"epsilon must be above 0 (from 1e-6 to 1e9), not {self.epsilon!r}")
        if self.mechanism not in NEEDS_DELTA and self.delta is not None:
            raise ValueError(f"delta must be None for {self.mechanism}: this mechanism needs no delta, so leave it out")
        if self.delta is not None and not 1e-100 <= _number("delta", self.delta) < 1:
            raise ValueError(f"delta must be above 0 (from 1e-100) and below 1, not {self.delta!r}")
        check_whole_number("max_length", self.max_length, at_least=1)
        check_min_support(self.min_support, least=1)
        confidence = self.confidence
        if not isinstance(confidence, float | np.floating) or not 0.5 < confidence < 1:
            raise ValueError(f"confidence must be above 1/2 and below 1, not {confidence!r}")
        if self.ledger is not None:
            if not isinstance(self.ledger, Ledger):
                raise TypeError("ledger must be a Ledger: Ledger(epsilon=...) or Ledger.open(path)")
            if self.mechanism in NEEDS_DELTA and self.delta is None:
                raise ValueError(
                    "a ledger needs a public delta: 1/n^2 would write the number of records into it. Give delta"
                )

    def _public_schema(self, X: Any, y: Any, table: Table) -> Schema:
        """The schema, and ``classes_``."""
        if self._infers:
            self._labels(y, len(table))  # reads the records, as infer_schema says aloud
            if len(self.classes_) != 2:
                raise ValueError(_BINARY_ONLY)
            schema = self._schema_for(table)
            return Schema(schema.columns, classes=self.classes_.tolist(), inferred=True)
        if self.schema is not None:
            schema = self._given_schema().exclude(self.exclude)
        elif _is_zero_one(X):
            schema = Schema.of_booleans(table.names).exclude(self.exclude)
        else:
            raise SchemaError(
                f"{type(self).__name__} needs a schema: it says what is public about the table (see docs/schema.md). "
                "Without one the columns of X must be of Boolean type (X.astype(bool)), or X an array of whole numbers 0 "
                "and 1. infer_schema=True makes a schema from the records, which is not private"
            )
        check_private_schema(schema)
        self.classes_ = np.array(sorted_classes(schema))
        if len(self.classes_) != 2:
            raise SchemaError(_BINARY_ONLY)
        return schema

    def _table(self, X: Any, reset: bool, least: int = 1) -> Table:
        # an empty table is learned from like any other: an error would say that it is empty
        return super()._table(X, reset, least=0 if reset and not self._infers else 1)

    @property
    def _infers(self) -> bool:
        return self.schema is None and bool(self.infer_schema)

    def _array(self, X: Any, reset: bool, least: int) -> np.ndarray:
        if self._infers:
            return super()._array(X, reset, least)
        # as it is: scikit-learn's conversion would stop at a value that is no number
        if issparse(X):
            raise TypeError(
                "Sparse data was passed for X, but dense data is required: give a data frame or X.toarray()"
            )
        array = as_objects(X)
        if array.ndim != 2:
            raise ValueError("X must be a data frame, or an array with two dimensions. Reshape your data")
        validate_data(self, array, reset=reset, skip_check_array=True)
        return array

    def _candidates(self, schema: Schema) -> Candidates:
        if self.candidates is None:
            return _candidates_of(schema, self.max_card, self.negations)
        candidates = super()._candidates(schema)
        for literal in candidates.literals:
            if schema[literal.column] != candidates.schema[literal.column]:
                raise CandidatesError(
                    f"the candidates describe column {literal.column!r} in another way than the schema"
                )
        return candidates

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return float(value)


_BINARY_ONLY = (
    "Only binary classification is supported. The type of the target is multiclass: the published methods choose between "
    "two classes"
)


@lru_cache(maxsize=32)
def _candidates_of(schema: Schema, max_card: int, negations: bool) -> Candidates:
    """The same object for the same schema, so that a vault can keep the counts of its rules from fit to fit."""
    return Candidates.of_schema(schema, max_card, negations)


def _is_zero_one(X: Any) -> bool:
    """Whether X is Boolean by the type of its columns, or an array of whole numbers. No record is read."""
    frame = as_frame(X)
    if frame is None:
        return as_objects(X).dtype.kind in "biu"
    return all(str(dtype) == "Boolean" for dtype in frame.schema.values())

"""What all private scikit-learn classifiers have in common: everything but how they learn and what that costs.

Nothing about a private fit but its result depends on the records: errors, warnings and progress follow from parameters, the
schema, and the names and types of columns. A value or label that the schema does not foresee is taken as it says, or left
out, in silence.
"""

import copy
import math
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from numbers import Real
from typing import Any, Self

import numpy as np
from pandas.api.types import is_bool_dtype
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..common.errors import CandidatesError, PrivacyWarning, SchemaError, SeededWarning, WeakEpsilonWarning
from ..common.samples import was_sample
from ..common.tables import Table, as_frame, as_rows, holds_objects, unnamed_columns
from ..common.unseen import FRAMES, NOTHING_BOOKED, SEE_LEDGER, call_unseen, unseen
from ..conditions.candidates import Candidates
from ..noise.entropy import Entropy, SeededEntropy, SystemEntropy
from ..privacy.entries import Booked, LedgerSnapshot
from ..privacy.ledger import Ledger, LedgerError, Reservation, exact
from ..privacy.ledger_file import FileLedger
from ..privacy.statement import DRAFTED, INFERRED, SEEDED, Guarantee, PrivacyStatement, neighbours_of
from ..privacy.this_process import columns_of, note_release, other_releases
from ..schema import Schema
from ..sources.engine import EngineTable
from ..sources.memory import check_labels, check_types
from ..sources.plan import NODES, PATTERNS, Plan, plan_counting
from ..vault.at_source import VaultAtSource
from ..vault.vault import Vault, check_private_schema, sorted_classes
from .base import RuleListClassifier, check_whole_number, refuse

SCHEMA_IS_PUBLIC = (
    "neither the schema nor the parameters were chosen by looking at the records (a grid search does look at them)"
)
BUT_FOR_CUTS = f"but for the cut points that are counted above, {SCHEMA_IS_PUBLIC}"
ASSUMES = (
    SCHEMA_IS_PUBLIC,
    "a seed was not used and the operating system's random numbers cannot be predicted",
    "nobody measures how long learning took",
)
WEAKEST = 10  # an epsilon above this is next to no protection
UNCHANGED = "the table did not change while it was learned from: its engine was asked several times"
ROUNDING = (
    "rounding in the noise that decides between rules, which is never released itself, does not matter "
    "(docs/limitations.md)"
)


class PrivateRuleListClassifier(RuleListClassifier, ABC):
    """From a table and a public schema to a vault, a reservation and a source of noise.

    A learner adds its parameters and ``_learn``, with a statement built on ``_reasons_for_no_proof``.
    """

    privacy_: PrivacyStatement
    booked_: Booked | None  # where the model stands in the ledger
    _strict = False
    _counts_nodes = False  # whether the learner can do with counts of candidates, node by node

    @property
    def _binary_only(self) -> bool:
        """Whether the learner is for two classes only."""
        return False

    @abstractmethod
    def _learn(
        self, candidates: Candidates, get_vault: Callable[[], Vault], drafted: bool = False, fill_first: bool = False
    ) -> Self:
        """Price, reserve, and only then get the vault: filling it reads the records.

        See ``_reasons_for_no_proof`` for ``drafted``, ``_reserve`` for ``fill_first``.
        """

    @unseen(SEE_LEDGER)
    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn a rule list from records X (a data frame or an array) and their labels y."""
        refuse(unsupported)
        self._check_parameters()
        table = self._table(X, reset=True)
        schema = self._public_schema(X, y, table)
        candidates = self._candidates(schema)
        check_types(table, schema.used)
        check_labels(y, sorted_classes(schema), len(table))
        return self._learn(candidates, lambda: Vault.from_table(table, y, schema), was_sample(X, y))

    @unseen(SEE_LEDGER)
    def fit_source(
        self,
        table: Any,
        counting: str = "auto",
        max_patterns: int | None = None,
        verbose: bool = False,
        **unsupported: Any,
    ) -> Self:
        """Learn a rule list from an ibis table where it is (DuckDB, PostgreSQL, Spark). The schema names the target.

        The engine counts the records by the bins of the schema's columns; nothing else leaves it (docs/scale.md).

        Parameters
        ----------
        table : ibis.Table
            Such as ``open_table("people.parquet")``, or a table or view of any ibis connection.
        counting : {"auto", "patterns", "nodes"}, default="auto"
            "patterns": the engine is asked once, for the number of records of each pattern (the bins of all columns).
            "nodes", for greedy learners: it is asked once for each rule of the list, for what the candidates need. "auto" takes
            nodes if the schema allows more than ``max_patterns`` patterns and the learner can, and else patterns;
            ``plan_source`` says which.
        max_patterns : int, default=None
            The most counts of each class to hold at a time; a schema that allows more is refused. None means 10 million if the
            learner can do without patterns, and else no limit: there are never more patterns than records.
        verbose : bool, default=False
            Say on stderr what ``plan_source`` says, and on a terminal, while the engine counts, how far it is and for how long.
            Ctrl-C stops the query as well, with or without this.

        Examples
        --------
        >>> import ibis
        >>> from discreet import DPGreedyRuleListClassifier
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> table = ibis.memtable(data.frame)
        >>> clf = DPGreedyRuleListClassifier(epsilon=0.5, schema=data.schema).fit_source(table)
        >>> print(clf.privacy_.proved)
        epsilon = 0.5
        """
        refuse(unsupported)
        candidates, source, plan = self._planned(table, counting, max_patterns, verbose)
        schema, classes = candidates.schema, sorted_classes(candidates.schema)
        if verbose:
            print(f"{source.engine} counts the records {plan}", file=sys.stderr)
        if not plan.by_node:
            filled = cache(lambda: Vault.filled_by(source, schema, classes))
            return self._learn(candidates, filled, was_sample(table), fill_first=True)
        opened = cache(lambda: VaultAtSource.opened(source, schema, classes, candidates, plan.sets))
        self._learn(candidates, opened, was_sample(table), fill_first=True)
        self.privacy_ = replace(self.privacy_, assumes=(*self.privacy_.assumes, UNCHANGED))
        return self

    def plan_source(self, table: Any, counting: str = "auto", max_patterns: int | None = None) -> str:
        """What ``fit_source`` would ask of the engine. It follows from public numbers; no record is read.

        >>> import ibis
        >>> from discreet import DPGreedyRuleListClassifier
        >>> from discreet.datasets import load_adult
        >>> data = load_adult()
        >>> clf = DPGreedyRuleListClassifier(schema=data.schema)
        >>> print(clf.plan_source(ibis.memtable(data.frame)))
        DuckDB counts the records once for each rule of the list, by 3 sets of up to 5 columns: at most 64,188 counts of each
        class at a time
        """
        _, source, plan = self._planned(table, counting, max_patterns)
        return f"{source.engine} counts the records {plan}"

    def _planned(
        self, table: Any, counting: str, max_patterns: int | None, verbose: bool = False
    ) -> tuple[Candidates, EngineTable, Plan]:
        """Everything that can be checked and decided before a record is read."""
        self._check_parameters()
        if self.schema is None:
            raise SchemaError(
                f"{type(self).__name__}.fit_source needs a schema: it says what is public, and the target"
            )
        if max_patterns is not None:
            check_whole_number("max_patterns", max_patterns, at_least=1)
        ways = ("auto", PATTERNS, NODES) if self._counts_nodes else ("auto", PATTERNS)
        if counting not in ways:
            raise ValueError(f"counting must be one of {', '.join(ways)} for {type(self).__name__}, not {counting!r}")
        schema = self._given_schema().exclude(self.exclude)
        check_private_schema(schema)
        classes = sorted_classes(schema)
        self._set_classes(classes, SchemaError)
        self._set_features(schema)
        candidates = self._candidates(schema)
        source = EngineTable(table, schema, classes, verbose)
        return candidates, source, plan_counting(candidates, counting, max_patterns, self._counts_nodes)

    def _set_features(self, schema: Schema) -> None:
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        self.n_features_in_ = len(schema.names)

    @unseen(SEE_LEDGER)
    def fit_vault(self, vault: Vault) -> Self:
        """Learn from a vault that was filled before, ``Vault.from_table(X, y, schema)``: fill once, fit many times."""
        self._check_parameters()
        if not isinstance(vault, Vault):
            raise TypeError("vault must be a Vault; make one with Vault.from_table(X, y, schema)")
        self._set_classes(vault.classes, SchemaError)
        self._set_features(vault.schema)
        candidates = self._candidates(vault.schema.exclude(self.exclude))
        return self._learn(candidates, lambda: vault, vault.drafted)

    def _check_parameters(self) -> None:
        check_budget(self.epsilon, self.ledger)
        check_whole_number("max_length", self.max_length, at_least=1)
        check_whole_number("records_per_person", self.records_per_person, at_least=1)

    @property
    def _record_epsilon(self) -> Fraction:
        """Epsilon for a single record: what is to hold for a person is shared by the person's records."""
        return exact("epsilon", self.epsilon) / int(self.records_per_person)

    def _promise(
        self, mechanism: str, published: Guarantee | None, proved: Guarantee | None, because: list[str], *assumes: str
    ) -> PrivacyStatement:
        """From what holds for a single record to a statement about a person."""
        k = int(self.records_per_person)
        return PrivacyStatement(
            mechanism,
            published and published.for_person(k),
            proved and proved.for_person(k),
            tuple(because),
            (*ASSUMES, *assumes),
            neighbours_of(k),
        )

    def _reserve(
        self, delta: Fraction, statement: PrivacyStatement, schema: Schema, fill: Callable[[], Vault] | None
    ) -> Reservation:
        """Set the budget aside, in the ledger if there is one. Warns of what a user may not have meant.

        With ``fill``, the vault is filled before that: a connection may be lost on the way, and counts that no door has let out
        cost nothing. So that nobody waits for a long query in vain, it is checked before the query that there is budget.

        The statement is about the learning alone. Cut points that the schema says were released, and that the ledger does not
        know of, are booked with it: a ledger never says less than its models' statements.

        To be called by ``_learn`` itself: the warning then points at the line that called ``fit``.
        """
        warn_of("this fit", self.epsilon, self.random_state, statement, inside=3)
        epsilon, k = exact("epsilon", self.epsilon), int(self.records_per_person)
        if self.ledger is None:
            if fill is not None:
                call_unseen(fill, NOTHING_BOOKED)
            note_release(columns_of(schema.names, schema.target), statement, k, schema.released)
            return Reservation(epsilon, delta, records=k)
        what = f"{type(self).__name__}, {statement.mechanism}"
        pair = None if statement.proved is None else (statement.proved.epsilon, statement.proved.delta or 0.0)
        cuts = {name: k * exact("epsilon", e) for name, e in schema.released}
        known: dict[str, Any] = {"because": statement.because, "rests_on": cuts}
        if fill is not None:
            self.ledger.check(epsilon, delta, pair, **known)
            call_unseen(fill, NOTHING_BOOKED)
        reservation: Reservation = self.ledger.reserve(epsilon, delta, what, pair, k, **known)
        return reservation

    def _stated(self, statement: PrivacyStatement, schema: Schema) -> PrivacyStatement:
        """What the model promises: the learning, and the cut points that were computed for it, record by record."""
        k = int(self.records_per_person)
        total = statement.after_cut_points(k * schema.cuts_epsilon)
        if total.cut_points:
            assumes = tuple(BUT_FOR_CUTS if a == SCHEMA_IS_PUBLIC else a for a in total.assumes)
            total = replace(total, assumes=assumes)
        if total.proved is None:
            return total
        columns = columns_of(schema.names, schema.target)
        others = other_releases(columns, statement, k, schema.released, noted=self.ledger is None)
        return replace(total, others=others)

    def _reasons_for_no_proof(self, schema: Schema, drafted: bool = False) -> list[str]:
        """Why nothing is proved about a fit, whatever the mechanism. ``drafted``: a schema was made from the table itself."""
        because = []
        if self.random_state is not None:
            because.append(SEEDED)
        if schema.inferred:
            because.append(INFERRED)
        if drafted:
            because.append(DRAFTED)
        if self.candidates is not None:
            because.append("the candidates were given, and may have been mined from the records")
        return because

    def __str__(self) -> str:
        text = super().__str__()
        if not hasattr(self, "rule_list_") or self.privacy_.proved is not None:
            return text
        return f"{text}\n\n{self.privacy_.no_proof}"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle. A ledger in memory stays behind: two processes would each spend it whole."""
        state = dict(super().__getstate__())
        ledger = state.get("ledger")
        if isinstance(ledger, Ledger) and not isinstance(ledger, FileLedger):
            state["ledger"] = LedgerLeftBehind(ledger.snapshot(state.get("booked_")))
        return state

    def __copy__(self) -> Self:
        return self._with(self.__dict__)  # in this process, where the ledger is

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._with(copy.deepcopy(self.__dict__, memo))

    def _with(self, attributes: dict[str, Any]) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update(attributes)
        return other

    def _entropy(self) -> Entropy:
        return entropy_of(self.random_state)

    def _public_schema(self, X: Any, y: Any, table: Table) -> Schema:
        """The schema, and ``classes_``."""
        if self._infers:
            self._labels(y, len(table))  # reads the records, as infer_schema says aloud
            self._set_classes(self.classes_, ValueError)
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
        self._set_classes(sorted_classes(schema), SchemaError)
        return schema

    def _set_classes(self, classes: Any, error: type[ValueError]) -> None:
        if self._binary_only and len(classes) != 2:
            raise error(
                "Only binary classification is supported. The type of the target is multiclass: the published methods "
                "choose between two classes"
            )
        self.classes_ = np.array(classes)

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
        array = as_rows(X)
        if array.shape == (0,):  # no rows, so nothing says how many columns there are
            array = array.reshape(0, 0 if self.schema is None else len(self._given_schema().names))
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
        tags.classifier_tags.multi_class = not self._binary_only
        tags.classifier_tags.poor_score = True
        return tags


def entropy_of(random_state: Any) -> Entropy:
    """The operating system's randomness, or that of a seed."""
    if random_state is None:
        return SystemEntropy()
    if isinstance(random_state, np.random.Generator):
        return SeededEntropy(random_state)
    if isinstance(random_state, int | np.integer):
        return SeededEntropy(int(random_state))
    return SeededEntropy(int(check_random_state(random_state).randint(2**31)))


class LedgerLeftBehind:
    """What a pickled classifier has instead of a ledger in memory: it says what was spent by then, and lets nothing be spent."""

    def __init__(self, spent: LedgerSnapshot) -> None:
        self._spent = spent

    def snapshot(self, booked: Booked | None = None) -> LedgerSnapshot:
        """What the ledger said when the classifier was pickled."""
        return self._spent


_warned_of_seeds = False


def warn_of(what: str, epsilon: Any, random_state: Any, statement: PrivacyStatement, inside: int = 1) -> None:
    """Warn of what the caller may not have meant, by parameters alone: of a seed once in a process.

    ``inside``: how many calls deep in a function that is ``unseen``. The warning points at the line that called that.
    """
    global _warned_of_seeds
    frames = 1 + inside + FRAMES
    if epsilon > WEAKEST:
        warnings.warn(
            f"epsilon = {epsilon:g} is above {WEAKEST}, which is next to no protection; values from 0.1 to 1 are good "
            "(docs/choose-epsilon.md)",
            WeakEpsilonWarning,
            stacklevel=frames,
        )
    if random_state is None and statement.proved is None:
        reasons = "; ".join(statement.because)
        warnings.warn(f"no privacy is proved for {what}: {reasons}", PrivacyWarning, stacklevel=frames)
    elif random_state is not None and not _warned_of_seeds:
        _warned_of_seeds = True
        warnings.warn(
            f"no privacy is proved for {what}, nor for any other with a random_state: {SEEDED}. Leave random_state out unless "
            "this is an experiment. (This is said once.)",
            SeededWarning,
            stacklevel=frames,
        )


def check_budget(epsilon: Any, ledger: Any) -> None:
    """The parameters epsilon and ledger of everything private."""
    if isinstance(ledger, LedgerLeftBehind):
        raise LedgerError(
            "a ledger in memory stays in the process that made it, and this classifier was sent to another one (n_jobs), or "
            "pickled: each would spend it whole. Use Ledger.open(path), or n_jobs=1"
        )
    if not 1e-6 <= number("epsilon", epsilon) <= 1e9:
        raise ValueError(f"epsilon must be above 0 (from 1e-6 to 1e9), not {epsilon!r}")
    if ledger is not None and not isinstance(ledger, Ledger):
        raise TypeError("ledger must be a Ledger: Ledger(epsilon=...) or Ledger.open(path)")


def number(name: str, value: Any) -> float:
    """A parameter that must be a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return float(value)


@lru_cache(maxsize=32)
def _candidates_of(schema: Schema, max_card: int, negations: bool) -> Candidates:
    """The same object for the same schema, so that a vault can keep the counts of its rules from fit to fit."""
    return Candidates.of_schema(schema, max_card, negations)


def _is_zero_one(X: Any) -> bool:
    """Whether X is Boolean by the type of its columns, or an array of whole numbers. No record is read."""
    frame = as_frame(X)
    if frame is not None:
        columns = (frame.get_column(name) for name in frame.columns)
        return all(not holds_objects(column.to_native()) and str(column.dtype) == "Boolean" for column in columns)
    types = [column.dtype for column in unnamed_columns(X) or ()]
    if all(isinstance(dtype, np.dtype) for dtype in types):
        return as_rows(X).dtype.kind in "biu"
    return all(is_bool_dtype(dtype) for dtype in types)  # what NumPy makes of it would hang on a missing value

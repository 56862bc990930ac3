"""What all private scikit-learn classifiers have in common: everything but how they learn and what that costs.

Nothing about a private fit but its result depends on the records: errors, warnings and progress follow from parameters, the
schema, and the names and types of columns. A value or label that the schema does not foresee is taken as it says, or left
out, in silence.
"""

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from pandas.api.types import is_bool_dtype, is_object_dtype
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from .._utils.errors import CandidatesError, SchemaError
from .._utils.parameters import check_integer
from .._utils.provenance import was_sample
from .._utils.redaction import SEE_LEDGER, count_redacted, redacted
from .._utils.tables import Table, as_frame, as_rows, holds_objects, unnamed_columns
from ..accounting.costs import Cost, for_person
from ..accounting.entries import Booked
from ..accounting.ledger import DetachedLedger, Ledger, Reservation
from ..accounting.statement import Guarantee, PrivacyStatement, neighbours_of
from ..accounting.stored_ledger import StoredLedger
from ..private.noise.entropy import Entropy
from ..private.queries.tuple_vault import TupleVault
from ..private.queries.vault import Vault as AnyVault
from ..private.release import ASSUMES, Release, Terms, release, warn_outside
from ..rules.candidates import Candidates
from ..schema import Schema
from ..schema.schema import check_private_schema, sorted_classes
from ..sources.engine import EngineTable
from ..sources.memory import FileTable, MemoryTable, ReadOnce, Source, check_labels, check_types
from ..sources.plan import NODES, PATTERNS, TUPLES, Needs, Plan, plan_counting
from ..sources.vault import Vault, VaultAtSource
from .base import Classifier, refuse

UNCHANGED = "the table did not change while it was learned from: it was counted several times"
ROUNDING = (
    "rounding in the noise that decides between rules, which is never released itself, does not matter "
    "(docs/limitations.md)"
)


class Priced(NamedTuple):
    """Learning before it happens: what it promises by itself, the delta to reserve, and how it is done once that is paid.

    ``said``: what a user who asked for it is told before it begins. ``prepare``: what can be done with the vault before anything
    is booked; the draw is then given what it returns. ``bar``: what is shown meanwhile.
    """

    statement: PrivacyStatement
    delta: Fraction
    draw: Callable[[Any, Reservation, Entropy], Any]
    said: str = ""
    prepare: Callable[[AnyVault], Any] | None = None
    bar: AbstractContextManager[Any] = nullcontext()


class PrivateClassifier(Classifier, ABC):
    """From a table and a public schema to a release.

    A learner adds its parameters and ``_price``, with a statement built on ``_reasons_for_no_proof``, and the ``_set_model`` that
    takes what its draw returns.
    """

    privacy_: PrivacyStatement
    booked_: Booked | None  # where the model stands in the ledger
    _strict = False

    @property
    def _binary_only(self) -> bool:
        """Whether the learner is for two classes only."""
        return False

    @abstractmethod
    def _price(self, candidates: Candidates, drafted: bool) -> Priced:
        """What learning costs and promises, from public numbers alone. See ``_reasons_for_no_proof`` for ``drafted``."""

    def _needs(self, candidates: Candidates) -> Needs:
        """Which counts would do for the learner, in place of patterns."""
        return Needs()

    def _plan(self, candidates: Candidates) -> Plan:
        """How records are counted that are at hand."""
        needs = replace(self._needs(candidates), nodes=False)
        return plan_counting(candidates, "auto", None, needs, len(self.classes_))

    def _learn(self, candidates: Candidates, fill: Callable[[], AnyVault], drafted: bool) -> Self:
        """Price, fill, reserve, draw, state (private/release.py)."""
        statement, delta, draw, said, prepare, bar = self._price(candidates, drafted)
        if said:
            print(said, file=sys.stderr, flush=True)
        schema, what = candidates.schema, f"{type(self).__name__}, {statement.mechanism}"
        planned = Release(*("this fit", what, self._terms, schema, statement, delta), rests_on=schema.released)
        delta = Fraction(0) if self.ledger is None else self.ledger.delta

        def ready() -> Any:
            vault = fill()
            return vault if prepare is None else count_redacted(lambda: prepare(vault))

        with bar:
            released = release(planned, ready, draw)
        self._set_model(candidates, released.value)
        self.booked_, self.privacy_ = released.booked, released.privacy.at_delta(delta)
        return self

    def _learn_from(
        self,
        open_source: Callable[[], Source],
        candidates: Candidates,
        plan: Plan,
        drafted: bool,
        may_change: bool,
        engine: str = "",
        counted: Callable[[], None] = lambda: None,
    ) -> Self:
        """Count the records of a source as planned, and learn. ``may_change``: it may be another table the next time.

        How they are counted is said on stderr if the classifier is verbose, or an ``engine`` is named.
        """
        schema, classes = candidates.schema, sorted_classes(candidates.schema)

        if engine or getattr(self, "verbose", False):
            counts = f"{engine} counts the records" if engine else "The records are counted"
            print(f"{counts} {plan}", file=sys.stderr, flush=True)

        def count(source: Source) -> AnyVault:
            if plan.way == NODES:
                assert isinstance(source, EngineTable)
                return VaultAtSource.opened(source, schema, classes, candidates, plan.sets)
            if plan.way == TUPLES:
                several: Source | ReadOnce = source
                if plan.keeps_bins and not isinstance(source, MemoryTable) and source.is_read_anew:
                    several = done.enter_context(closing(ReadOnce(source, candidates.columns, len(classes))))
                return TupleVault(schema, classes, several, candidates.columns, plan.together)
            return Vault.filled_by(source, schema, classes)

        def fill() -> AnyVault:
            source = open_source()
            vault = count_redacted(lambda: count(source))
            counted()
            return vault

        with ExitStack() as done:
            self._learn(candidates, fill, drafted)
        if may_change and (plan.way == NODES or plan.passes > 1):
            self.privacy_ = replace(self.privacy_, assumes=(*self.privacy_.assumes, UNCHANGED))
        return self

    @redacted(SEE_LEDGER)
    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn a model from records X (a data frame or an array) and their labels y."""
        refuse(unsupported)
        self._check_parameters()
        table = self._table(X, reset=True)
        schema = self._public_schema(X, y, table)
        candidates = self._candidates(schema)
        check_types(table, schema.used)
        check_labels(y, sorted_classes(schema), len(table))
        plan, classes = self._plan(candidates), sorted_classes(schema)
        return self._learn_from(
            lambda: MemoryTable(table, y, classes), candidates, plan, was_sample(X, y), may_change=False
        )

    @redacted(SEE_LEDGER)
    def fit_file(
        self,
        path: str | PathLike[str],
        delimiter: str | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
        engine: str = "memory",
        counted: Callable[[], None] = lambda: None,
        **unsupported: Any,
    ) -> Self:
        """Learn a model from a CSV, Parquet or Arrow file, read a part at a time: it may be larger than memory.

        The schema names the target. What the strings of a CSV file mean is in docs/command-line.md. The file is read once;
        twice if there are two draws (``joint``, ``stages``) and the schema allows too many patterns to hold. With more draws than
        that its bins are kept in a temporary file meanwhile (docs/scale.md).
        With ``engine="duckdb"`` DuckDB reads a Parquet file; the model and its statement are the same.
        ``counted`` is called when the records are counted, before anything is booked.

        Examples
        --------
        >>> import tempfile
        >>> from discreet import DPOptimalRuleListClassifier
        >>> from discreet.datasets import load_compas
        >>> data = load_compas()
        >>> clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data.frame.to_csv(f"{folder}/compas.csv", index=False)
        ...     print(clf.fit_file(f"{folder}/compas.csv").privacy_.proved)
        epsilon = 1
        """
        refuse(unsupported)
        if engine not in ("memory", "duckdb"):
            raise ValueError(f"engine must be memory or duckdb, not {engine!r}")
        self._check_parameters()
        schema = self._needed_schema("fit_file")
        candidates = self._prepared(schema)
        classes = sorted_classes(schema)

        def open_source() -> Source:
            if engine == "memory":
                return FileTable(Path(path), schema, classes, delimiter, encoding, decimal)
            from ..sources.urls import open_table

            return EngineTable(open_table(path), schema, classes)

        plan = self._plan(candidates)
        return self._learn_from(open_source, candidates, plan, drafted=False, may_change=True, counted=counted)

    def _needed_schema(self, method: str) -> Schema:
        if self.schema is None:
            raise SchemaError(f"{type(self).__name__}.{method} needs a schema: it says what is public, and the target")
        return self._given_schema().exclude(self.exclude)

    @redacted(SEE_LEDGER)
    def fit_source(
        self,
        table: Any,
        counting: str = "auto",
        max_patterns: int | None = None,
        verbose: bool = False,
        **unsupported: Any,
    ) -> Self:
        """Learn a model from an ibis table where it is (DuckDB, PostgreSQL, Spark). The schema names the target.

        The engine counts the records by the bins of the schema's columns; nothing else leaves it (docs/scale.md).

        Parameters
        ----------
        table : ibis.Table
            Such as ``open_table("people.parquet")``, or a table or view of any ibis connection.
        counting : {"auto", "patterns", "nodes", "tuples"}, default="auto"
            "patterns": the engine is asked once, for the number of records of each pattern (the bins of all columns).
            "nodes", for greedy learners: it is asked once for each rule of the list, for what the candidates need. "tuples", for
            lists of up to three single literals a draw and trees of up to depth 3 a stage: once for each draw, for the joint
            counts of every two or three columns. "auto" takes nodes or tuples if the schema allows many patterns and the learner
            can, and else patterns; ``plan_source`` says which.
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
        engine = source.engine if verbose else ""
        return self._learn_from(lambda: source, candidates, plan, was_sample(table), may_change=True, engine=engine)

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
        schema = self._needed_schema("fit_source")
        if max_patterns is not None:
            check_integer("max_patterns", max_patterns, at_least=1)
        candidates = self._prepared(schema)
        needs = self._needs(candidates)
        ways = ["auto", PATTERNS, *[NODES] * needs.nodes, *[TUPLES] * (needs.together > 0)]
        if counting not in ways:
            raise ValueError(
                f"counting must be one of {', '.join(ways)} for {type(self).__name__} with these parameters, not {counting!r}"
            )
        source = EngineTable(table, schema, sorted_classes(schema), verbose)
        return candidates, source, plan_counting(candidates, counting, max_patterns, needs, len(self.classes_))

    def _prepared(self, schema: Schema) -> Candidates:
        """What the model can be made of. Sets the names of classes and features."""
        check_private_schema(schema)
        self._set_classes(sorted_classes(schema), SchemaError)
        self._set_features(schema)
        return self._candidates(schema)

    def promise(self) -> PrivacyStatement:
        """What a fit with the given schema would promise, and its ``costs`` for a ledger, from public numbers alone.

        Whatever such a fit would raise before it reads a record is raised here.

        >>> from discreet import DPOptimalTreeClassifier, Ledger
        >>> from discreet.datasets import load_compas
        >>> clf = DPOptimalTreeClassifier(epsilon=0.5, schema=load_compas().schema)
        >>> print(clf.promise().proved, Ledger(epsilon=3).room_for(clf.promise().costs))
        epsilon = 0.5 6
        """
        self._check_parameters()
        return self._price(self._prepared(self._needed_schema("promise")), drafted=False).statement

    def _set_features(self, schema: Schema) -> None:
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        self.n_features_in_ = len(schema.names)

    @redacted(SEE_LEDGER)
    def fit_vault(self, vault: AnyVault) -> Self:
        """Learn from a vault that was filled before, ``Vault.from_table(X, y, schema)``: fill once, fit many times."""
        self._check_parameters()
        if not isinstance(vault, AnyVault):
            raise TypeError("vault must be a Vault; make one with Vault.from_table(X, y, schema)")
        self._set_classes(vault.classes, SchemaError)
        self._set_features(vault.schema)
        candidates = self._candidates(vault.schema.exclude(self.exclude))
        return self._learn(candidates, lambda: vault, vault.drafted)

    @property
    def _terms(self) -> Terms:
        return Terms(self.epsilon, self.ledger, self.records_per_person, self.random_state)

    def _check_parameters(self) -> None:
        _ = self._terms  # checks what every release has
        super()._check_parameters()

    def _promise(
        self,
        mechanism: str,
        published: Guarantee | None,
        proved: Guarantee | None,
        because: list[str],
        *assumes: str,
        costs: Sequence[Cost] = (),
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
            costs=for_person(costs, k),
        )

    def _reasons_for_no_proof(self, schema: Schema, drafted: bool) -> list[str]:
        """Why nothing is proved about a fit, whatever the mechanism. ``drafted``: a schema was drafted from the very table."""
        mined = ["the candidates were given, and may have been mined from the records"] * (self.candidates is not None)
        return self._terms.reasons_for_no_proof(schema, drafted) + mined

    def __str__(self) -> str:
        text = super().__str__()
        if not hasattr(self, "model_") or self.privacy_.proved is not None:
            return text
        return f"{text}\n\n{self.privacy_.no_proof}"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle. A ledger in memory stays behind: two processes would each spend it whole."""
        state = dict(super().__getstate__())
        ledger = state.get("ledger")
        if isinstance(ledger, Ledger) and not isinstance(ledger, StoredLedger):
            state["ledger"] = DetachedLedger(ledger.snapshot(state.get("booked_")))
        return state

    def __copy__(self) -> Self:
        return self._with(self.__dict__)  # in this process, where the ledger is

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._with(copy.deepcopy(self.__dict__, memo))

    def _with(self, attributes: dict[str, Any]) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update(attributes)
        return other

    def _public_schema(self, X: Any, y: Any, table: Table) -> Schema:
        """The schema, and ``classes_``."""
        if self._infers:
            self._labels(y, len(table))  # reads the records, as infer_schema says aloud
            self._set_classes(self.classes_, ValueError)
            schema = self._schema_for(table)
            return Schema(schema.columns, classes=self.classes_.tolist(), inferred=True)
        if self.schema is not None:
            schema = self._given_schema().exclude(self.exclude)
        elif _may_be_zero_one(X):
            schema = Schema.of_booleans(table.names).exclude(self.exclude)
            warn_outside(NO_SCHEMA)  # whatever X is: one record that is missing would change its type
        else:
            raise SchemaError(
                f"{type(self).__name__} needs a schema: it says what is public about the table (see docs/schema.md). "
                "Without one the columns of X must be of Boolean type (X.astype(bool)), or X an array of 0 and 1; any other "
                "value counts as missing. infer_schema=True makes a schema from the records, which is not private"
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


@lru_cache(maxsize=32)
def _candidates_of(schema: Schema, max_card: int, negations: bool) -> Candidates:
    """The same object for the same schema, so that a vault can keep the counts of its rules from fit to fit."""
    return Candidates.of_schema(schema, max_card, negations)


NO_SCHEMA = (
    "without a schema the columns of X are read as true (1) and false (0), and every other value counts as missing. If X holds "
    "numbers or categories, give a schema (see docs/schema.md); if not, schema=Schema.of_booleans(names) says so"
)


def _may_be_zero_one(X: Any) -> bool:
    """Whether X holds truth values by its types alone: columns of Booleans or objects, an array of numbers or objects.

    Not of Booleans or integers only: one record that is missing makes objects of Booleans, and floats of integers.
    """
    frame = as_frame(X)
    if frame is not None:
        columns = [frame.get_column(name) for name in frame.columns]
        return all(holds_objects(column.to_native()) or str(column.dtype) == "Boolean" for column in columns)
    types = [column.dtype for column in unnamed_columns(X) or ()]
    if all(isinstance(dtype, np.dtype) for dtype in types):
        return as_rows(X).dtype.kind in "biufO"
    return all(is_bool_dtype(dtype) or is_object_dtype(dtype) for dtype in types)

"""What all private scikit-learn classifiers have in common: everything but how they learn and what that costs.

Nothing about a private fit but its result depends on the records: errors, warnings and progress follow from parameters, the
schema, and the names and types of columns. A value or label that the schema does not foresee is taken as it says, or left
out, in silence.
"""

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from .._utils.errors import CandidatesError, SchemaError
from .._utils.parameters import check_integer
from .._utils.provenance import was_sample
from .._utils.redaction import SEE_LEDGER, redacting
from .._utils.tables import Table, as_rows
from ..accounting.costs import Cost, for_person
from ..accounting.entries import Booked
from ..accounting.ledger import Ledger
from ..accounting.statement import ASSUMES, UNCHANGED, Guarantee, PrivacyStatement, neighbours_of
from ..private.counts.counts import Counts
from ..private.release import CountedSource, Released, Terms, release
from ..private.reminders import warn_outside
from ..rules.candidates import Candidates
from ..rules.limits import Limits
from ..schema import Label, Schema
from ..schema.columns import Ignored
from ..schema.draft import Draft
from ..schema.schema import check_private_schema, sorted_classes
from ..sources.engine import EngineTable
from ..sources.memory import FileTable, MemoryTable, check_labels, check_types
from ..sources.plan import MARGINALS, NODES, PATTERNS, Counting, Needs, plan_counting
from .base import NO_SCHEMA, Classifier, Limited, candidates_of, may_be_zero_one, refuse
from .plans import Asked, Bar, FitPlan, Told
from .private_schema import FoundSchema, PrivateSchema, check_whole, find_schema, memory_columns

ROUNDING = (
    "rounding in the noise that decides between rules, which is never released itself, does not matter "
    "(docs/limitations.md)"
)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateClassifier(Classifier, ABC):
    """From a table and a public schema to a release.

    A learner adds its parameters and ``_plan``, with a statement built on ``_reasons_for_no_proof``, and the ``_set_model`` that
    takes what its plan learns.
    """

    schema: Schema | Draft | str | PathLike[str] | PrivateSchema | None = None  # type: ignore[assignment]  # more than others take
    epsilon: float = 1.0
    infer_schema: bool = False
    records_per_person: int = 1
    ledger: Ledger | None = None
    random_state: Any = None

    _strict = False

    @property
    def _binary_only(self) -> bool:
        """Whether the learner is for two classes only."""
        return False

    @abstractmethod
    def _plan(self, asked: Asked) -> FitPlan:
        """What learning costs and promises, from public numbers alone."""

    def _common(self, asked: Asked, statement: PrivacyStatement, delta: Fraction = Fraction(0)) -> dict[str, Any]:
        """What all plans have."""
        return {
            "terms": self._terms,
            "schema": asked.candidates.schema,
            "candidates": asked.candidates,
            "counting": asked.counting,
            "statement": statement,
            "delta": delta,
            "what": f"{type(self).__name__}, {statement.mechanism}",
            "rests_on": asked.candidates.schema.released,
            "bar": Bar(bool(getattr(self, "verbose", False))),
        }

    def _proved(self, asked: Asked, mechanism: Any, budget: Any, limits: Limits | None) -> dict[str, Any]:
        """The same where the mechanism's proof is for any parameters, and nothing was published."""
        because = self._reasons_for_no_proof(asked)
        proved = None if because else mechanism.proved(budget)
        promise = self._promise(mechanism.name, None, proved, because, costs=mechanism.costs(budget))
        return self._common(asked, replace(promise, limits=limits.said if limits else ()))

    def _needs(self, candidates: Candidates) -> Needs:
        """Which counts would do for the learner, in place of patterns."""
        return Needs()

    def _counting(self, candidates: Candidates) -> Counting:
        """How records are counted that are at hand."""
        needs = replace(self._needs(candidates), nodes=False)
        return plan_counting(candidates, "auto", None, needs, len(self.classes_))

    def plan(self) -> FitPlan:
        """What a fit with the given schema would release: which counts it takes, what it costs and promises.

        It follows from public numbers alone. Whatever such a fit would raise before it reads a record is raised here.

        >>> from discreet import DPOptimalTreeClassifier, Ledger
        >>> from discreet.datasets import load_compas
        >>> plan = DPOptimalTreeClassifier(epsilon=0.5, schema=load_compas().schema).plan()
        >>> print(plan.statement.proved, Ledger(epsilon=3).room_for(plan.statement.costs))
        epsilon = 0.5 6
        """
        return self._planned(self._ready("plan"))

    def promise(self) -> PrivacyStatement:
        """What a fit with the given schema would promise, and its ``costs`` for a ledger: ``plan().statement``."""
        return self.plan().statement

    def _announced(self, plan: FitPlan, counts: str = "", may_change: bool = False) -> FitPlan:
        """The plan, once a user who asked is told of it. ``counts`` is what counts the records.

        ``may_change``: the source may be another table the next time that it is counted.
        """
        verbose = getattr(self, "verbose", False)
        if counts or verbose:
            print(f"{counts or 'The records are counted'} {plan.counting}", file=sys.stderr, flush=True)
        if verbose and plan.said:
            print(plan.said, file=sys.stderr, flush=True)
        if not may_change or (plan.counting.way != NODES and plan.counting.passes == 1):
            return plan
        assumes = (*plan.statement.assumes, UNCHANGED)
        return replace(plan, statement=replace(plan.statement, assumes=assumes))

    def _keep(self, plan: FitPlan, released: Released) -> Self:
        """The model, what it promises and where it is booked."""
        self._set_model(plan.candidates, released.value)
        self.privacy_: PrivacyStatement = released.privacy
        self.booked_: Booked | None = released.booked
        return self

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn a model from records X (a data frame or an array) and their labels y."""
        refuse(unsupported)
        with redacting.unless_inside(SEE_LEDGER):
            self._check_parameters()
            self._label_name = getattr(y, "name", None)
            table = self._table(X, reset=True)
            if (how := self._finds) is not None:
                self._find_schema(how, X, y, table)
            schema = self._public_schema(X, y, table)
            check_types(table, schema.used)
            check_labels(y, classes := sorted_classes(schema), len(table))
            plan = self._announced(self._planned(schema, was_sample(X, y)))
            return self._keep(plan, release(plan, MemoryTable(table, y, classes)))

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
        twice if there are two draws (``rules_per_draw``, ``stages``) and the schema allows too many patterns to hold. With more
        draws than that its bins are kept in a temporary file meanwhile (docs/scale.md).
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
        with redacting.unless_inside(SEE_LEDGER):
            schema = self._ready("fit_file")
            plan, classes = self._planned(schema), sorted_classes(schema)
            if engine == "memory":
                source: CountedSource = FileTable(Path(path), schema, classes, delimiter, encoding, decimal)
            else:
                from ..sources.urls import open_table

                source = EngineTable(open_table(path), schema, classes)
            plan = self._announced(plan, may_change=True)
            return self._keep(plan, release(plan, Told(source.count, counted)))

    def _ready(self, method: str) -> Schema:
        """The schema, once the parameters are checked. Sets the names of classes and features."""
        self._check_parameters()
        if self._finds is not None:
            raise SchemaError(
                f'schema="private" is for fit(X, y). For {method}, find the schema first: '
                "private_schema(table, epsilon=..., target=...)"
            )
        if self.schema is None:
            raise SchemaError(f"{type(self).__name__}.{method} needs a schema: it says what is public, and the target")
        schema = self._given_schema().exclude(self.exclude)
        check_private_schema(schema)
        self._set_names(schema, sorted_classes(schema))
        return schema

    def _planned(self, schema: Schema, drafted: bool = False) -> FitPlan:
        candidates = self._candidates(schema)
        return self._plan(Asked(candidates, self._counting(candidates), drafted))

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
        counting : {"auto", "patterns", "nodes", "marginals"}, default="auto"
            "patterns": the engine is asked once, for the number of records of each pattern (the bins of all columns).
            "nodes", for greedy learners: it is asked once for each rule of the list, for what the candidates need.
            "marginals", for lists of up to three single literals a draw and trees of up to depth 3 a stage: once for each draw,
            for the joint counts of every two or three columns. "auto" takes nodes or marginals if the schema allows many
            patterns and the learner can, and else patterns; ``plan_source`` says which.
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
        with redacting.unless_inside(SEE_LEDGER):
            candidates, source, counted = self._of_engine(table, counting, max_patterns, verbose)
            plan = self._plan(Asked(candidates, counted, was_sample(table)))
            plan = self._announced(plan, f"{source.engine} counts the records" if verbose else "", may_change=True)
            return self._keep(plan, release(plan, source))

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
        _, source, counted = self._of_engine(table, counting, max_patterns)
        return f"{source.engine} counts the records {counted}"

    def _of_engine(
        self, table: Any, counting: str, max_patterns: int | None, verbose: bool = False
    ) -> tuple[Candidates, EngineTable, Counting]:
        """Everything that can be checked and decided before a record is read."""
        schema = self._ready("fit_source")
        if max_patterns is not None:
            check_integer("max_patterns", max_patterns, at_least=1)
        candidates = self._candidates(schema)
        needs = self._needs(candidates)
        ways = ["auto", PATTERNS, *[NODES] * needs.nodes, *[MARGINALS] * (needs.together > 0)]
        if counting not in ways:
            raise ValueError(
                f"counting must be one of {', '.join(ways)} for {type(self).__name__} with these parameters, not {counting!r}"
            )
        source = EngineTable(table, schema, sorted_classes(schema), verbose)
        return candidates, source, plan_counting(candidates, counting, max_patterns, needs, len(self.classes_))

    def _set_names(self, schema: Schema, classes: Sequence[Label]) -> None:
        self._set_classes(classes)
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        self.n_features_in_ = len(schema.names)

    def fit_counts(self, counts: Counts) -> Self:
        """Learn from ``PrivateCounts.from_table(X, y, schema)``: count once, fit many times."""
        with redacting.unless_inside(SEE_LEDGER):
            self._check_parameters()
            if not isinstance(counts, Counts):
                raise TypeError("counts must be PrivateCounts: PrivateCounts.from_table(X, y, schema)")
            self._set_names(counts.schema, counts.classes)
            candidates = self._candidates(counts.schema.exclude(self.exclude))
            plan = self._plan(Asked(candidates, drafted=counts.drafted))
            return self._keep(plan, release(plan, Told(lambda counting: counts)))

    @property
    def _terms(self) -> Terms:
        """Of learning alone, without what the schema costs."""
        terms = Terms(self.epsilon, self.ledger, self.records_per_person, self.random_state)
        return terms if self._finds is None else replace(terms, epsilon=terms.price * (1 - self._finds.part))

    @property
    def _finds(self) -> PrivateSchema | None:
        """How a fit finds its schema, if it is to find one."""
        if isinstance(self.schema, PrivateSchema):
            return self.schema
        return PrivateSchema() if isinstance(self.schema, str) and self.schema == "private" else None

    @property
    def _is_described(self) -> bool:
        return super()._is_described and self._finds is None

    @property
    def _named_target(self) -> str | None:
        return self._label_name if self._finds is not None and isinstance(self._label_name, str) else None

    def _given_schema(self) -> Schema:
        return super()._given_schema() if self._finds is None else self.found_schema_.schema

    def _find_schema(self, how: PrivateSchema, X: Any, y: Any, table: Table) -> None:
        """Sets ``found_schema_``. Before it costs something, there must be enough for the fit, too."""
        price = Terms(self.epsilon, self.ledger, self.records_per_person, self.random_state)
        check_whole(price, how, getattr(self, "delta", None) or 0)
        terms = replace(price, epsilon=price.price * how.part)
        public = how.public(table.names).exclude(self.exclude)
        check_types(table, public.used)
        if public.classes is not None:
            self._set_classes(classes := sorted_classes(public))
            check_labels(y, classes, len(table))
        how = replace(how, columns=(*how.columns, *map(Ignored, self.exclude)))
        columns = memory_columns(X, table, y)
        self.found_schema_: FoundSchema = find_schema(
            *(columns, table.names, self._named_target, how, terms, was_sample(X, y))
        )

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

    def _reasons_for_no_proof(self, asked: Asked) -> list[str]:
        """Why nothing is proved about a fit, whatever the mechanism."""
        mined = ["the candidates were given, and may have been mined from the records"] * (self.candidates is not None)
        return self._terms.reasons_for_no_proof(asked.candidates.schema, asked.drafted) + mined

    def __str__(self) -> str:
        text = super().__str__()
        if not hasattr(self, "model_") or self.privacy_.proved is not None:
            return text
        return f"{text}\n\n{self.privacy_.no_proof}"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle. A ledger in memory stays behind: two processes would each spend it whole."""
        state = dict(super().__getstate__())
        if isinstance(ledger := state.get("ledger"), Ledger):
            state["ledger"] = ledger.detached(state.get("booked_"))
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
            self._set_classes(self.classes_)
            schema = self._schema_for(table)
            return Schema(schema.columns, classes=self.classes_.tolist(), inferred=True)
        if self._finds is not None or self.schema is not None:
            schema = self._given_schema().exclude(self.exclude)
        elif may_be_zero_one(X):
            schema = Schema.of_booleans(table.names).exclude(self.exclude)
            warn_outside(NO_SCHEMA)  # whatever X is: one record that is missing would change its type
        else:
            raise SchemaError(
                f"{type(self).__name__} needs a schema: it says what is public about the table (see docs/schema.md). "
                "Without one the columns of X must be of Boolean type (X.astype(bool)), or X an array of 0 and 1, sparse or not; "
                "any other value counts as missing. infer_schema=True makes a schema from the records, which is not private"
            )
        check_private_schema(schema)
        self._set_classes(sorted_classes(schema))
        return schema

    def _set_classes(self, classes: Any) -> None:
        if self._binary_only and len(classes) != 2:
            raise SchemaError(
                "Only binary classification is supported. The type of the target is multiclass: the published methods "
                "choose between two classes; use mechanism mass"
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
        array = as_rows(X)
        if array.shape == (0,):  # no rows, so nothing says how many columns there are
            array = array.reshape(0, len(self._given_schema().names) if self._is_described else 0)
        if array.ndim != 2:
            raise ValueError("X must be a data frame, or an array with two dimensions. Reshape your data")
        validate_data(self, array, reset=reset, skip_check_array=True)
        return array

    def _candidates(self, schema: Schema) -> Candidates:
        if self.candidates is None:
            return candidates_of(schema, self.max_literals, self.negations)
        candidates = super()._candidates(schema)  # type: ignore[safe-super]  # that of lists
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


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateDraws(PrivateClassifier, Limited):
    """Private classifiers that draw a whole model."""

    counts_share: float = 0.1
    class_weight: Any = None
    prior: Any = None

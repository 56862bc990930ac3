"""How good a model is on private records, from one noisy histogram, for one price; and, exactly, on records that may be shown.

What is measured of a model on private records is private only if the model is: an exact list, learned from the same records,
tells neighbouring tables apart before any noise is added. So an evaluation asks for the model's origin, and proves nothing
without one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from .._utils.errors import RuleError, SchemaError
from .._utils.parameters import finite_number
from .._utils.provenance import was_sample
from .._utils.redaction import SEE_LEDGER, redacted
from .._utils.tables import as_table
from ..accounting.costs import DISCRETE_LAPLACE, repeated
from ..accounting.ledger import Ledger
from ..accounting.statement import (
    ASSUMES,
    EVALUATED,
    INFERRED,
    PREPARED,
    SCHEMA_IS_PUBLIC,
    Guarantee,
    PrivacyStatement,
    neighbours_of,
)
from ..models.model import Model, model_of
from ..private.counts.counts import Counts
from ..private.noise.entropy import Integers
from ..private.queries.evaluation import EvaluationQueries, Grouping, epsilon_each
from ..private.release import CountedSource, Plan, Terms, release
from ..schema import Schema, SchemaRelease
from ..schema.columns import Column, canonical
from ..schema.columns.values import NumberBins, TextBins
from ..schema.schema import check_private_schema, sorted_classes
from ..sources.engine import EngineTable, is_engine_table
from ..sources.memory import MemoryTable, check_labels, check_types, class_numbers
from ..sources.plan import Counting
from .evaluated import EvaluationCounts, NoisyEvaluation
from .rates import Named, evaluation_of, in_tuples, rows_of

SAY = "say model_is_public=True if it does not depend on these records"
PUBLIC = "the model does not depend on these records: it was written by hand, or learned from others (model_is_public)"
LEAST_CHANCE = 1e-6  # of what happened: a chance of 0 would make one record's loss infinite

By = str | Sequence[str] | Mapping[str, Sequence[float] | None]


@redacted(SEE_LEDGER)
def noisy_evaluation(
    model: Any,
    X: Any,
    y: Any,
    epsilon: float,
    *,
    by: By = (),
    schema: Schema | None = None,
    reliability: bool = True,
    ledger: Ledger | None = None,
    records_per_person: int = 1,
    random_state: int | None = None,
    model_is_public: bool = False,
) -> NoisyEvaluation:
    """Measure a model on records that are private: confusion matrix, rates by class and by group, and how true its shares are.

    All of it follows from one histogram with noise: how many records of each group and class get each answer of the model. It is
    paid for once. With several columns in ``by`` there is a histogram for each, and each gets an equal part of epsilon.

    What is proved is about these numbers, given the model: an exact list that was learned from the same records would tell
    neighbouring tables apart, whatever the noise. So something is proved only if the model's own statement proves something, or
    if you say that the model does not depend on these records.

    Parameters
    ----------
    model : classifier, SavedModel, RuleList or another model
        A model of this package with a schema. A bare ``RuleList`` does not know where it came from, so nothing is proved then;
        give the classifier or the saved model.
    X, y : records and their labels
        Values and labels that the schema does not foresee are taken as it says, or left out, in silence. X may be an ibis table
        (``open_table``), of which only counts come here; y is then None, and the model's schema names the target.
    epsilon : float
        The price. The noise in each bin is of the size of 1/epsilon records, times the number of columns in ``by``.
    by : str, sequence of str, or mapping, default=()
        Columns whose groups are compared. Groups are the bins that the schema says, never what is found in the records. A mapping
        says at which of the column's cuts the groups of a numeric column end, ``{"age": [30, 50], "sex": None}``.
    schema : Schema, default=None
        What is public about the columns in ``by``, if the model's own schema does not say: columns that the model was not allowed
        to use are ignored in it.
    reliability : bool, default=True
        Also tell the answers of the model apart, to compare predicted with observed shares. Without it there are
        fewer bins, and so a little less noise in everything else.
    ledger : Ledger, default=None
        Where to book it.
    records_per_person : int, default=1
        How many records a person may have among these.
    random_state : int, default=None
        For experiments only: nothing is then proved.
    model_is_public : bool, default=False
        The model does not depend on these records: it was written by hand, or learned from other records. The statement says
        that this was assumed. (Its schema must be public as well: nothing is proved with one that was made from records.)

    Returns
    -------
    NoisyEvaluation

    Examples
    --------
    >>> from discreet import DPOptimalRuleListClassifier, noisy_evaluation
    >>> from discreet.datasets import load_compas
    >>> data = load_compas()
    >>> clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema, exclude=["sex", "race"])
    >>> clf = clf.fit(data.data[:5000], data.target[:5000])
    >>> rest = data.data[5000:], data.target[5000:]
    >>> found = noisy_evaluation(clf, *rest, epsilon=1.0, by="sex", schema=data.schema)
    >>> 0.5 < found.accuracy.low < found.accuracy.high < 0.8
    True
    >>> [group.name for group in found.groups]
    ['Female', 'Male']
    """
    rules = model_of(model)
    if rules is None or rules.schema is None:
        raise RuleError(
            "model must be a rule list or another model with a schema, or a fitted classifier of this package"
        )
    terms = Terms(epsilon, ledger, records_per_person, random_state)
    asked = {by: None} if isinstance(by, str) else by if isinstance(by, Mapping) else dict.fromkeys(by)
    if not all(isinstance(name, str) for name in asked):
        raise TypeError("by must be the name of a column, some of them, or a mapping from names to cuts or None")
    columns = [dividing_column(rules, name, schema) for name in asked]
    groups = [groups_of(column, cuts) for column, cuts in zip(columns, asked.values(), strict=True)]
    divisions = [Grouping(c.name, g.of_bin) for c, g in zip(columns, groups, strict=True)] or [Grouping()]

    whole, counted = _schemas(rules, columns)
    source = _source(X, y, whole, counted)
    groups_schema, drafted = schema if columns else None, was_sample(X, y)
    origin = _origin_of(model, rules, model_is_public)

    by_answer = reliability and any(a.counts is not None or a.shares is not None for a in rules.answers)
    answer, rows = rows_of(rules, by_answer)
    n_classes = len(rules.classes)
    plan = EvaluationPlan(
        terms=terms,
        schema=whole,
        statement=_statement(terms, origin, whole, groups_schema, drafted, divisions),
        counting=Counting.patterns(counted),
        kind="this evaluation",
        what=EVALUATED + (f" by {', '.join(asked)}" if asked else ""),
        rests_on=_not_counted_yet(origin, whole, groups_schema),
        model=rules,
        places=rows[:, None] * n_classes + np.arange(n_classes),
        n_places=len(answer) * n_classes,
        divisions=divisions,
    )
    released = release(plan, source)
    drawn = zip(divisions, released.value, strict=True)
    counts = EvaluationCounts(
        float(epsilon_each(terms.record_price, divisions)),
        by_answer,
        tuple((d.column, in_tuples(bins.reshape(-1, len(answer), n_classes))) for d, bins in drawn),
    )
    named = [Named(c.name, c.called, g.names, g.called) for c, g in zip(columns, groups, strict=True)]
    return evaluation_of(rules, counts, named, released.privacy)


@dataclass(frozen=True, kw_only=True)
class EvaluationPlan(Plan):
    """Histograms of how a model answers: for each division, of the places of records (``private/queries/evaluation.py``)."""

    model: Model
    places: Integers
    n_places: int
    divisions: Sequence[Grouping]

    def queries(self, counts: Counts) -> EvaluationQueries:
        """A histogram for each division."""
        return EvaluationQueries(
            counts, self.model, self.places, self.n_places, self.divisions, noise=self.terms.record_price
        )

    def run(self, queries: EvaluationQueries) -> list[Integers]:
        """All of them."""
        return queries.histograms()


class Origin(NamedTuple):
    """Why nothing may be proved of what builds on a model; or if something may, what that rests on."""

    because: tuple[str, ...]
    assumes: tuple[str, ...] = ()
    is_proved: bool = False  # by the model's own statement


def _origin_of(model: Any, rules: Model, is_public: bool) -> Origin:
    """Of a model, a saved model or a classifier. ``is_public``: the caller vouches for a model that has no statement."""
    if rules.schema is not None and rules.schema.inferred:  # vouching for the rules does not vouch for it
        return Origin((INFERRED,))
    statement = getattr(model, "privacy_", getattr(model, "privacy", None))
    if isinstance(statement, PrivacyStatement) and statement.proved is not None:
        counted = f"what the model itself reveals is counted by its own statement ({statement.proved}), which adds to this one"
        return Origin((), (f"{counted} if it was learned from some of these records",), is_proved=True)
    if is_public:
        return Origin((), (PUBLIC,))
    if isinstance(statement, PrivacyStatement):
        reasons = "; ".join(statement.because)
        return Origin((f"nothing is proved about the model that was measured ({reasons}); {SAY}",))
    if hasattr(model, "model_") or getattr(model, "learner", "unknown") != "unknown":
        return Origin((f"the model that was measured was learned without privacy; {SAY}",))
    known = "give the fitted classifier or its SavedModel, which know"
    return Origin((f"nothing is known about where the {rules.kind} came from that was measured; {known}, or {SAY}",))


def _statement(
    terms: Terms,
    origin: Origin,
    whole: Schema,
    groups_schema: Schema | None,
    drafted: bool,
    divisions: Sequence[Grouping],
) -> PrivacyStatement:
    """What is promised about the evaluation alone."""
    because = tuple(dict.fromkeys((*terms.reasons_for_no_proof(groups_schema, drafted), *origin.because)))
    assumes = (*ASSUMES, *origin.assumes)
    if whole.released:
        counted = "its own statement counts" if origin.is_proved else "this promise counts"
        but = f"apart from the model's schema, which {counted}, nothing was {PREPARED}"
        assumes = tuple(but if a == SCHEMA_IS_PUBLIC else a for a in assumes)
    return PrivacyStatement(
        *(EVALUATED, None, None if because else Guarantee.of(terms.price, 0.0), because, assumes),
        neighbours_of(terms.records),
        costs=repeated(DISCRETE_LAPLACE, epsilon_each(terms.price, divisions), len(divisions)),
    )


def _not_counted_yet(origin: Origin, whole: Schema, groups_schema: Schema | None) -> tuple[SchemaRelease, ...]:
    """What was paid for the schemas, but for what the model's own statement counts."""
    paid = dict.fromkeys((*whole.released, *(() if groups_schema is None else groups_schema.released)))
    return tuple(one for one in paid if not (origin.is_proved and one in whole.released))


def dividing_column(model: Model, name: str, schema: Schema | None) -> Column:
    """The column of this name that divides the records into groups: as the given schema has it, or else that of the model."""
    assert model.schema is not None
    if name in (model.schema.target, None if schema is None else schema.target):
        raise SchemaError(f"{name!r} is the target: its classes are told apart anyway; leave it out of by")
    column = (model.schema if schema is None else schema)[name]
    if name in model.used_columns and column != model.schema[name]:
        raise SchemaError(
            f"the schema describes column {name!r} differently from the model's, which uses it; leave it out of the "
            "schema, or describe it alike"
        )
    return column


def _schemas(rules: Model, dividing: Sequence[Column]) -> tuple[Schema, Schema]:
    """The model's schema with the model's classes; and of that what is counted."""
    assert rules.schema is not None
    classes = set(map(canonical, rules.classes))  # there may be labels of classes that the model does not have
    labels = {text: label for text, label in dict(rules.schema.class_labels).items() if text in classes}
    whole = replace(rules.schema, classes=rules.classes, class_labels=labels)
    # the columns that rules use are enough; with all of them there might be as many patterns as records
    used = [c for c in whole.columns if c.name in rules.used_columns]
    used += [c for c in dividing if c.name not in rules.used_columns]
    counted = replace(whole, columns=tuple(used) or whole.columns)
    check_private_schema(whole)
    check_private_schema(counted)
    return whole, counted


def _source(X: Any, y: Any, whole: Schema, counted: Schema) -> CountedSource:
    """The records, wherever they are."""
    classes = sorted_classes(counted)
    if is_engine_table(X):
        if y is not None:
            raise ValueError("y must be None where X is an ibis table: the model's schema names the column of labels")
        return EngineTable(X, counted, classes)
    table = as_table(X, whole.names)
    check_types(table, counted.used)
    check_labels(y, classes, len(table))
    return MemoryTable(table, y, classes)


def exact_numbers(model: Model, X: Any, y: Any) -> dict[str, Any]:
    """Of records that may be shown: accuracy, ranking, log loss, and each class. Records with other labels are left out."""
    truth = class_numbers(y, model.classes, len(X))
    known = truth >= 0
    predicted = np.array([model.classes.index(label) for label in model.predict(X)])[known]
    truth, chances = truth[known], model.predict_proba(X)[known]
    if not len(truth):
        raise ValueError("no record has a label that is one of the model's classes; is --target the right column?")
    # how well the model ranks each class against all others, of those that can be told apart here
    told = [i for i in range(chances.shape[1]) if 0 < (truth == i).sum() < len(truth)]
    areas = [roc_auc_score(truth == i, chances[:, i]) for i in told]
    by_class = {
        str(c): {
            "records": int((truth == i).sum()),
            "predicted": int((predicted == i).sum()),
            "recall": float((predicted[truth == i] == i).mean()) if (truth == i).any() else None,
        }
        for i, c in enumerate(model.classes)
    }
    return {
        "records": len(truth),
        "left out": int((~known).sum()),
        "accuracy": float((predicted == truth).mean()),
        "most frequent class": float(np.bincount(truth).max() / len(truth)),
        "area under the ROC curve": float(np.mean(areas)) if areas else None,
        "log loss": float(-np.log(np.maximum(chances[np.arange(len(truth)), truth], LEAST_CHANCE)).mean()),
        "classes": by_class,
    }


MISSING = "missing"


class ColumnGroups(NamedTuple):
    """The names of groups, and the number of the group that each bin of a column is in.

    All values that the schema does not foresee are in one group more, which has no name.
    """

    names: tuple[str, ...]
    of_bin: tuple[int, ...]
    called: tuple[str, ...]  # what people call them: by the labels of categories and truth values


def groups_of(column: Column, cuts: Sequence[float] | None = None) -> ColumnGroups:
    """The groups of a column: those that its tests can tell apart or, of numbers, those that only these of its cuts do.

    >>> from discreet.schema.columns import Boolean, Categorical, Numeric
    >>> groups_of(Numeric("age", cuts=[30, 40, 50], missing=True), [40])
    ColumnGroups(names=('<= 40', '> 40', 'missing'), of_bin=(0, 0, 1, 1, 2), called=('<= 40', '> 40', 'missing'))
    >>> groups_of(Categorical("job", categories=["clerk", "boss"], outside="none")).names
    ('clerk', 'boss', 'any other')
    >>> groups_of(Boolean("member", labels={"true": "a member"}))
    ColumnGroups(names=('false', 'true'), of_bin=(0, 1, 2), called=('false', 'a member'))
    """
    if not column.can_be_used:
        raise SchemaError(
            f"column {column.name!r} is ignored, or excluded, so the schema does not say which groups it has; give another "
            "schema that describes it, as schema= (--schema)"
        )
    bins, n_values = column.value_bins, column.n_bins - 1
    names: dict[int, str] = {}  # of bins, in the order in which they are shown
    labels: dict[int, str] = {}
    if isinstance(bins, NumberBins) and (cuts is None or type(bins) is NumberBins):
        names = _names_of_numbers(column, bins, cuts)
    elif cuts is not None:
        raise SchemaError(f"column {column.name!r} is {column.kind}: only groups of numbers can have cuts")
    else:
        texts: dict[int, list[str]] = {}
        for text, place in (bins.bin_of if isinstance(bins, TextBins) else {"false": 0, "true": 1}).items():
            texts.setdefault(place, []).append(text)
        names = {place: ", ".join(some) for place, some in texts.items()}
        labels = {place: ", ".join(column.value_label(text) or text for text in some) for place, some in texts.items()}
        names |= {place: "any other" for place in range(n_values) if place not in names}
    names[n_values] = MISSING
    # bins that no cut divides are one group, by its name
    foreseen = [place for place in names if column.domain[place]]
    group_of = {p: p if cuts is None or p == n_values else names[p] for p in foreseen}
    number = {group: i for i, group in enumerate(dict.fromkeys(group_of.values()))}
    of_bin = tuple(number[group_of[p]] if p in group_of else len(number) for p in range(column.n_bins))
    first = {of_bin[place]: place for place in reversed(foreseen)}
    shown = [first[i] for i in range(len(number))]
    return ColumnGroups(tuple(names[p] for p in shown), of_bin, tuple(labels.get(p, names[p]) for p in shown))


def _names_of_numbers(column: Column, bins: NumberBins, cuts: Sequence[float] | None) -> dict[int, str]:
    """From where to where each bin goes; with some of the cuts only, the group that it is in."""
    ends: list[tuple[str, float] | None] = list(bins.ends)
    if cuts is not None:
        wanted = [("<=", finite_number(f"a cut of column {column.name!r}", cut)) for cut in cuts]
        for _, cut in (end for end in wanted if end not in ends):
            near = sorted((edge for sign, edge in bins.ends if sign == "<="), key=lambda edge: abs(edge - cut))[:2]
            hint = f"; near it are {' and '.join(f'{edge:g}' for edge in sorted(near))}" if len(near) == 2 else ""
            raise SchemaError(
                f"column {column.name!r} has no cut {cut:g} in the schema, so groups cannot end there{hint}"
            )
        ends = [end if end in wanted else None for end in ends]
    names = {}
    for place in range(len(ends) + 1):
        below = next((end for end in reversed(ends[:place]) if end is not None), None)
        above = next((end for end in ends[place:] if end is not None), None)
        low = "" if below is None else f"{'>' if below[0] == '<=' else '>='} {_said(bins.as_value(below[1]))}"
        high = "" if above is None else f"{above[0]} {_said(bins.as_value(above[1]))}"
        names[bins.first + place] = " and ".join(filter(None, (low, high))) or f"any {bins.types[0]}"
    return names


def _said(end: float | date) -> str:
    return end.isoformat() if isinstance(end, date) else f"{end:g}"

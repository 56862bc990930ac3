"""The accuracy of a model on private records, with noise and a price; and what every such measurement has in common.

What is measured of a model on private records is private only if the model is: an exact list, learned from the same records,
tells neighbouring tables apart before any noise is added. So a measurement asks for the model's origin, and proves nothing
without one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.errors import RuleError
from .._utils.provenance import was_sample
from .._utils.redaction import SEE_LEDGER, redacted
from .._utils.tables import as_table
from ..accounting.costs import DISCRETE_LAPLACE, repeated
from ..accounting.ledger import Ledger
from ..accounting.statement import (
    ASSUMES,
    DRAFTED,
    INFERRED,
    MEASURED,
    PREPARED,
    SCHEMA_IS_PUBLIC,
    SEEDED,
    Guarantee,
    PrivacyStatement,
    neighbours_of,
)
from ..models.model import Model, model_of
from ..private.counts.counts import Counts
from ..private.noise.entropy import Integers
from ..private.noise.sums import LEVEL
from ..private.queries.evaluation import EvaluationQueries, Grouping, epsilon_each
from ..private.release import CountedSource, Plan, Terms, release
from ..schema import Schema
from ..schema.columns import canonical
from ..schema.schema import check_private_schema, sorted_classes
from ..sources.engine import EngineTable, is_engine_table
from ..sources.memory import MemoryTable, check_labels, check_types
from ..sources.plan import Counting
from .evaluated import COUNTS_COVER

SAY = "say model_is_public=True if it does not depend on these records"
PUBLIC = "the model does not depend on these records: it was written by hand, or learned from others (model_is_public)"


def model_to_measure(model: Any) -> Model:
    """The model, if it can be measured."""
    rules = model_of(model)
    if rules is None or rules.schema is None:
        raise RuleError(
            "model must be a rule list or another model with a schema, or a fitted classifier of this package"
        )
    return rules


@dataclass(frozen=True, kw_only=True)
class MeasurementPlan(Plan):
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


def measure(
    model: Any,
    X: Any,
    y: Any,
    terms: Terms,
    model_is_public: bool,
    mechanism: str,  # for the statement
    places: Integers,
    n_places: int,
    divisions: Sequence[Grouping] = (Grouping(),),
    groups_schema: Schema | None = None,
) -> tuple[list[Integers], float, PrivacyStatement]:
    """The noisy histograms, the epsilon of the noise in each of their bins, and what is promised.

    ``groups_schema`` describes the columns that divide the records. None is the model's own.
    """
    rules = model_to_measure(model)
    assert rules.schema is not None
    named = set(map(canonical, rules.classes))  # there may be labels of classes that the model does not have
    class_labels = {text: label for text, label in dict(rules.schema.class_labels).items() if text in named}
    whole_schema = replace(rules.schema, classes=rules.classes, class_labels=class_labels)
    dividing = [d.column for d in divisions if d.column is not None]
    groups, of_groups = groups_schema or whole_schema, groups_schema if dividing else None
    # the columns that rules use are enough; with all of them there might be as many patterns as records
    used = [c for c in whole_schema.columns if c.name in rules.used_columns]
    used += [groups[name] for name in dividing if name not in rules.used_columns]
    schema = replace(whole_schema, columns=tuple(used) or whole_schema.columns)
    check_private_schema(whole_schema)
    check_private_schema(schema)
    if is_engine_table(X):
        if y is not None:
            raise ValueError("y must be None where X is an ibis table: the model's schema names the column of labels")
        source: CountedSource = EngineTable(X, schema, sorted_classes(schema))
    else:
        table = as_table(X, whole_schema.names)
        check_types(table, schema.used)
        check_labels(y, rules.classes, len(table))
        source = MemoryTable(table, y, sorted_classes(schema))
    origin = origin_of(model, rules, model_is_public)
    because = tuple(dict.fromkeys((*terms.reasons_for_no_proof(of_groups, was_sample(X, y)), *origin.because)))
    proved = None if because else Guarantee.of(terms.price, 0.0)
    assumes = (*ASSUMES, *origin.assumes)
    # of a model without a statement of its own, nobody has counted the schema yet
    counted_before = whole_schema.released if origin.kind == "proved" else ()
    if whole_schema.released:
        counted = "its own statement counts" if counted_before else "is counted above"
        but = f"apart from the model's schema, which {counted}, nothing was {PREPARED}"
        assumes = tuple(but if a == SCHEMA_IS_PUBLIC else a for a in assumes)
    resting = dict.fromkeys((*whole_schema.released, *(() if of_groups is None else of_groups.released)))
    costs = repeated(DISCRETE_LAPLACE, epsilon_each(terms.price, divisions), len(divisions))
    neighbours = neighbours_of(int(terms.records_per_person))
    statement = PrivacyStatement(mechanism, None, proved, because, assumes, neighbours, costs=costs)
    plan = MeasurementPlan(
        terms=terms,
        schema=whole_schema,
        statement=statement,
        counting=Counting.patterns(schema),
        kind=mechanism.replace("noisy", "this"),
        what=mechanism + (f" by {', '.join(dividing)}" if dividing else ""),
        rests_on=tuple(paid for paid in resting if paid not in counted_before),
        model=rules,
        places=places,
        n_places=n_places,
        divisions=divisions,
    )
    released = release(plan, source)
    return released.value, float(epsilon_each(terms.record_price, divisions)), released.privacy


@dataclass(frozen=True)
class Origin:
    """``kind``: "proved", "seeded", "inferred", "unproved" (private, but nothing is proved), "exact", "unknown" or "public".

    ``because`` says why nothing may be proved of what builds on the model, and is empty if something may; ``assumes`` is what
    that then rests on.
    """

    kind: str
    because: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()


def origin_of(model: Any, rules: Model, is_public: bool = False) -> Origin:
    """Of a model, a saved model or a classifier. ``is_public``: the caller vouches for a model that has no statement.

    >>> from discreet import RuleList
    >>> origin_of(rules := RuleList.parse("if age <= 30 then yes else no"), rules).kind
    'unknown'
    >>> origin_of(rules, rules, is_public=True).kind
    'public'
    """
    if rules.schema is not None and rules.schema.inferred:  # vouching for the rules does not vouch for it
        return Origin("inferred", (INFERRED,))
    statement = getattr(model, "privacy_", getattr(model, "privacy", None))
    if isinstance(statement, PrivacyStatement) and statement.proved is not None:
        counted = f"what the model itself reveals is counted by its own statement ({statement.proved}), which adds to this one"
        return Origin("proved", (), (f"{counted} if it was learned from some of these records",))
    if is_public:
        return Origin("public", (), (PUBLIC,))
    if isinstance(statement, PrivacyStatement):
        of_records = {INFERRED, DRAFTED} & set(statement.because)
        kind = "seeded" if SEEDED in statement.because else "inferred" if of_records else "unproved"
        reasons = "; ".join(statement.because)
        return Origin(kind, (f"nothing is proved about the model that was measured ({reasons}); {SAY}",))
    learner = getattr(model, "learner", "unknown")  # of saved models
    if hasattr(model, "model_") or learner != "unknown":
        return Origin("exact", (f"the model that was measured was learned without privacy; {SAY}",))
    known = "give the fitted classifier or its SavedModel, which know"
    because = f"nothing is known about where the {rules.kind} came from that was measured; {known}, or {SAY}"
    return Origin("unknown", (because,))


@dataclass(frozen=True)
class NoisyAccuracy:
    """A share of records that are classified correctly. With the noise taken into account it lies from ``low`` to ``high``.

    The interval covers the noise alone (95 %), not the choice of the records: on others like them the accuracy may well lie
    outside of it, the more so the fewer they are.
    """

    accuracy: float
    low: float
    high: float
    privacy: PrivacyStatement

    def __str__(self) -> str:
        interval = f"from {self.low:.3f} to {self.high:.3f}; at {100 * LEVEL:g} % this covers {COUNTS_COVER}"
        found = f"accuracy {self.accuracy:.3f} ({interval})"
        return f"{found}; {self.privacy.proved or 'not private: ' + '; '.join(self.privacy.because)}"


@redacted(SEE_LEDGER)
def noisy_accuracy(
    model: Any,
    X: Any,
    y: Any,
    epsilon: float,
    ledger: Ledger | None = None,
    records_per_person: int = 1,
    random_state: int | None = None,
    model_is_public: bool = False,
) -> NoisyAccuracy:
    """Measure a model on records that are private, and pay for it.

    What is proved is about the accuracy, given the model: an exact list that was learned from the same records would tell
    neighbouring tables apart, whatever the noise. So something is proved only if the model's own statement proves something, or
    if you say that the model does not depend on these records.

    Parameters
    ----------
    model : classifier, SavedModel or RuleList
        A rule list of this package, fitted with a schema. A bare ``RuleList`` does not know where it came from, so nothing is
        proved then; give the classifier or the saved model.
    X, y : records and their labels
        Values and labels that the schema does not foresee are taken as it says, or left out, in silence. X may be an ibis table
        (``open_table``), of which only counts come here; y is then None, and the model's schema names the target.
    epsilon : float
        The price. The noise is of the size of 1/epsilon records.
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
    NoisyAccuracy

    Examples
    --------
    >>> from discreet import DPOptimalRuleListClassifier, noisy_accuracy
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit(data.data[:5000], data.target[:5000])
    >>> found = noisy_accuracy(clf, data.data[5000:], data.target[5000:], epsilon=0.1)
    >>> 0.5 < found.accuracy < 0.8
    True
    """
    rules = model_to_measure(model)
    terms = Terms(epsilon, ledger, records_per_person, random_state)
    (found,), each, privacy = measure(model, X, y, terms, model_is_public, MEASURED, right_or_wrong(rules), 2)
    right, wrong = found[0].tolist()
    far = math.ceil(math.log(4.0 / (1.0 - LEVEL)) / each)  # neither count is further off than this, at 95 %

    def share(a: float, b: float) -> float:
        a, b = max(a, 0.0), max(b, 0.0)
        return a / (a + b) if a + b > 0 else 0.5

    low, high = share(right - far, wrong + far), share(right + far, wrong - far)
    return NoisyAccuracy(float(np.clip(share(right, wrong), low, high)), low, high, privacy)


def right_or_wrong(model: Model) -> Integers:
    """The place of each answer and class: 0 where the answer is right, 1 where it is wrong."""
    return np.array([[int(answer.label != c) for c in model.classes] for answer in model.answers], np.int64)

"""The accuracy of a model on private records, with noise and a price."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..common.errors import RuleError
from ..common.samples import was_sample
from ..common.tables import as_table
from ..common.unseen import SEE_LEDGER, unseen
from ..models.model import model_of
from ..noise.entropy import Entropy
from ..privacy.ledger import Ledger, Reservation
from ..privacy.release import ASSUMES, SCHEMA_IS_PUBLIC, Release, Terms, release
from ..privacy.statement import MEASURED, Guarantee, PrivacyStatement, neighbours_of
from ..sources.engine import EngineTable, is_engine_table
from ..sources.memory import check_labels, check_types
from ..vault.accuracy import correct_and_wrong
from ..vault.vault import Vault, check_private_schema, sorted_classes
from .origin import origin_of

CONFIDENCE = 0.95
COVERS = "the noise alone, not the choice of the records"


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
        interval = f"from {self.low:.3f} to {self.high:.3f}; at {100 * CONFIDENCE:g} % this covers {COVERS}"
        found = f"accuracy {self.accuracy:.3f} ({interval})"
        return f"{found}; {self.privacy.proved or 'not private: ' + '; '.join(self.privacy.because)}"


@unseen(SEE_LEDGER)
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
    rules = model_of(model)
    if rules is None or rules.schema is None:
        raise RuleError(
            "model must be a rule list or another model with a schema, or a fitted classifier of this package"
        )
    terms = Terms(epsilon, ledger, records_per_person, random_state)
    whole_schema = replace(rules.schema, classes=rules.classes)
    check_private_schema(whole_schema)
    # the columns that rules use are enough; with all of them there might be as many patterns as records
    used = tuple(c for c in whole_schema.columns if c.name in rules.used_columns)
    schema = replace(whole_schema, columns=used or whole_schema.columns)
    if in_engine := is_engine_table(X):
        if y is not None:
            raise ValueError("y must be None where X is an ibis table: the model's schema names the column of labels")
        source = EngineTable(X, schema, sorted_classes(schema))

        def fill() -> Vault:
            return Vault.filled_by(source, schema, sorted_classes(schema))
    else:
        table = as_table(X, whole_schema.names)
        check_types(table, schema.used)
        check_labels(y, rules.classes, len(table))

        def fill() -> Vault:
            return Vault.from_table(table, y, schema)

    origin = origin_of(model, rules, model_is_public)
    because = (*terms.reasons_for_no_proof(None, was_sample(X, y)), *origin.because)
    proved = None if because else Guarantee(float(terms.price), 0.0)
    assumes = (*ASSUMES, *origin.assumes)
    if whole_schema.released:
        counted = "that its own statement counts" if origin.counts_cuts else "that are counted above"
        but = f"but for the cut points of the model's schema {counted}, {SCHEMA_IS_PUBLIC}"
        assumes = tuple(but if a == SCHEMA_IS_PUBLIC else a for a in assumes)
    neighbours = neighbours_of(int(records_per_person))
    statement = PrivacyStatement(MEASURED, None, proved, because, assumes, neighbours)
    # of a model without a statement of its own, nobody has counted the cut points yet
    cuts = () if origin.counts_cuts else whole_schema.released
    planned = Release("this accuracy", MEASURED, terms, whole_schema, statement, rests_on=cuts, fill_first=in_engine)

    def draw(vault: Vault, reservation: Reservation, entropy: Entropy) -> tuple[int, int]:
        return correct_and_wrong(vault, rules, terms.record_price, reservation, entropy)

    released = release(planned, fill, draw)
    return NoisyAccuracy(*_with_interval(*released.value, float(terms.record_price)), released.privacy)


def _with_interval(correct: int, wrong: int, epsilon: float) -> tuple[float, float, float]:
    """The accuracy, and how far off the noise may have brought it: neither count is further off than this, at 95 %."""
    far = math.ceil(math.log(4.0 / (1.0 - CONFIDENCE)) / epsilon)

    def share(a: float, b: float) -> float:
        a, b = max(a, 0.0), max(b, 0.0)
        return a / (a + b) if a + b > 0 else 0.5

    low, high = share(correct - far, wrong + far), share(correct + far, wrong - far)
    return float(np.clip(share(correct, wrong), low, high)), low, high

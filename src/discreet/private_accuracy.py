"""The accuracy of a model on private records, with noise and a price."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .errors import RuleError
from .estimators import check_whole_number
from .privacy.ledger import Ledger, exact, reserve
from .privacy.statement import INFERRED, MEASURED, SEEDED, Guarantee, PrivacyStatement, neighbours_of
from .private_base import ASSUMES, check_budget, entropy_of
from .rules import RuleList
from .sources.engine import EngineTable, is_engine_table
from .sources.memory import check_labels, check_types
from .tables import as_table
from .vault.accuracy import correct_and_wrong
from .vault.vault import Vault, check_private_schema, sorted_classes

SURE = 0.95


@dataclass(frozen=True)
class NoisyAccuracy:
    """A share of records that are classified correctly. With the noise taken into account it lies from ``low`` to ``high``.

    The interval is about these records (95 %), not about others like them, of which a test of few records says little.
    """

    accuracy: float
    low: float
    high: float
    privacy: PrivacyStatement

    def __str__(self) -> str:
        found = f"accuracy {self.accuracy:.3f} (from {self.low:.3f} to {self.high:.3f}, 95 %)"
        return f"{found}; {self.privacy.proved or 'not private'}"


def noisy_accuracy(
    model: Any,
    X: Any,
    y: Any,
    epsilon: float,
    ledger: Ledger | None = None,
    records_per_person: int = 1,
    random_state: int | None = None,
) -> NoisyAccuracy:
    """Measure a model on records that are private, and pay for it.

    Parameters
    ----------
    model : RuleList, SavedModel or classifier
        A rule list of this package, fitted with a schema.
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
    rules = getattr(model, "rule_list_", getattr(model, "rule_list", model))
    if not isinstance(rules, RuleList) or rules.schema is None:
        raise RuleError("model must be a rule list with a schema, or a fitted classifier of this package")
    check_budget(epsilon, ledger)
    check_whole_number("records_per_person", records_per_person, at_least=1)
    whole_schema = replace(rules.schema, classes=rules.classes)
    check_private_schema(whole_schema)
    # the columns that rules use are enough; with all of them there might be as many patterns as records
    used = tuple(c for c in whole_schema.columns if c.name in rules.used_columns)
    schema = replace(whole_schema, columns=used or whole_schema.columns)
    source = None  # what does not fit is refused before anything is booked
    if is_engine_table(X):
        if y is not None:
            raise ValueError("y must be None where X is an ibis table: the model's schema names the column of labels")
        source = EngineTable(X, schema, sorted_classes(schema))
    else:
        table = as_table(X, whole_schema.names)
        check_types(table, schema.used)
        check_labels(y, rules.classes, len(table))
    because = (SEEDED,) * (random_state is not None) + (INFERRED,) * schema.inferred
    whole = exact("epsilon", epsilon)
    proved = None if because else Guarantee(float(whole), 0.0)
    statement = PrivacyStatement(MEASURED, None, proved, because, ASSUMES, neighbours_of(records_per_person))
    pair = None if proved is None else (proved.epsilon, 0.0)
    price, entropy = whole / records_per_person, entropy_of(random_state)
    vault = None
    if source is not None:  # before the budget is reserved: a connection may be lost on the way
        if ledger is not None:
            ledger.check(whole, exact("delta", 0), pair, because=because)
        vault = Vault.filled_by(source, schema, sorted_classes(schema))
    with reserve(ledger, whole, exact("delta", 0), MEASURED, pair, records_per_person, because=because) as reservation:
        vault = vault or Vault.from_table(table, y, schema)
        correct, wrong = correct_and_wrong(vault, rules, price, reservation, entropy)
    return NoisyAccuracy(*_with_interval(correct, wrong, float(price)), statement)


def _with_interval(correct: int, wrong: int, epsilon: float) -> tuple[float, float, float]:
    """The accuracy, and how far off the noise may have brought it: neither count is further off than this, at 95 %."""
    far = math.ceil(math.log(4.0 / (1.0 - SURE)) / epsilon)

    def share(a: float, b: float) -> float:
        a, b = max(a, 0.0), max(b, 0.0)
        return a / (a + b) if a + b > 0 else 0.5

    low, high = share(correct - far, wrong + far), share(correct + far, wrong - far)
    return float(np.clip(share(correct, wrong), low, high)), low, high

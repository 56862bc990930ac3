"""The accuracy of a model on private records, with noise and a price."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.unseen import SEE_LEDGER, unseen
from ..accounting.ledger import Ledger
from ..accounting.statement import MEASURED, PrivacyStatement
from ..models.model import Model
from ..private.noise.entropy import Integers
from ..private.release import Terms
from .measuring import Measurement, measure, model_to_measure

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
    rules = model_to_measure(model)
    terms = Terms(epsilon, ledger, records_per_person, random_state)
    planned = Measurement("this accuracy", MEASURED, MEASURED, right_or_wrong(rules), 2)
    (found,), each, privacy = measure(planned, model, X, y, terms, model_is_public)
    correct, wrong = found[0].tolist()
    return NoisyAccuracy(*_with_interval(correct, wrong, each), privacy)


def right_or_wrong(model: Model) -> Integers:
    """The place of each answer and class: 0 where the answer is right, 1 where it is wrong."""
    return np.array([[int(answer.label != c) for c in model.classes] for answer in model.answers], np.int64)


def _with_interval(correct: int, wrong: int, epsilon: float) -> tuple[float, float, float]:
    """The accuracy, and how far off the noise may have brought it: neither count is further off than this, at 95 %."""
    far = math.ceil(math.log(4.0 / (1.0 - CONFIDENCE)) / epsilon)

    def share(a: float, b: float) -> float:
        a, b = max(a, 0.0), max(b, 0.0)
        return a / (a + b) if a + b > 0 else 0.5

    low, high = share(correct - far, wrong + far), share(correct + far, wrong - far)
    return float(np.clip(share(correct, wrong), low, high)), low, high
